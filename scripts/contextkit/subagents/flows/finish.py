"""The end of a subagent's work: store the payload, write the verdict, and return a receipt."""

from __future__ import annotations

import os

from contextkit.base import addresses, ledger, names, redaction, sessions
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.reviews.documents import verdicts
from contextkit.reviews.documents.verdicts import Verdict
from contextkit.subagents.documents import registry


class Report(Record):
    """What a subagent hands in; if `text` is empty, no payload is stored."""

    agent: str
    status: str
    summary: str
    text: str = ""
    id: str = ""
    session: str = ""
    type: str = ""
    model: str = ""
    files_changed: tuple[str, ...] = ()
    tokens: int = 0


class Finished(Record):
    """The receipt (or, without a text, the verdict's line), and notes."""

    receipt: str
    notes: tuple[str, ...] = ()


def finish(layout: Layout, report: Report, now: int) -> Finished:
    """Store the text, then write the verdict that names it, then record the gaps in its row.

    Raises ContextError before anything is written for an invalid name, status or session.
    """
    allowed = layout.limits.secrets_allow
    summary, secrets = redaction.redacted(names.one_line(report.summary), allowed)
    verdict = Verdict(
        agent=report.agent,
        status=report.status.upper(),
        summary=summary,
        type=report.type or "verdict",
        model=report.model,
        tokens_spent=report.tokens,
        files_changed=report.files_changed,
        timestamp=names.iso(now),
    )
    row_id = _row_id(layout, report)
    notes = [f"summary: a {secret.kind} was redacted" for secret in secrets]
    receipt = ""
    session, made_up = sessions.current(layout, report.session, now)
    if made_up:
        notes.append(f"no session is named: using {session} from now on")
    if report.text.strip():
        from contextkit.base import tokens
        from contextkit.payloads.flows import storing

        sessions.check(session)
        output = storing.Output(
            topic=report.agent,
            source=report.agent,
            content=report.text,
            tokens=tokens.estimate(report.text),
        )
        storing.check(output)
        stored = storing.store(layout, session, output, now)
        notes += stored.notes
        receipt = stored.receipt
        verdict = verdict.replace(detail_path=layout.shown(stored.path))
    verdicts.save(layout, verdict.replace(session_id=session))
    for ref in addresses.named_in(layout, report.text):
        ledger.note(layout, ledger.ACKNOWLEDGED, ref, session=session, agent=report.agent)
    notes += _close(layout, row_id, report, verdict, now)
    return Finished(receipt=receipt or verdicts.table([dict(vars(verdict))]), notes=tuple(notes))


def _row_id(layout: Layout, report: Report) -> str:
    """Return the row that a report belongs to: by its id, the environment, or the agent's name."""
    try:
        rows = registry.rows(layout)
    except ContextError:
        return report.id  # reported when the row is changed: the report must be stored all the same
    if report.id:
        return str(registry.find(rows, report.id)["id"])
    known = [row["id"] for row in rows]
    named = os.environ.get("CONTEXT_SUBAGENT_ID", "")
    if named in known:
        return named
    same = [row["id"] for row in rows if row.get("slug") == report.agent
            and row.get("status") in registry.ACTIVE]  # fmt: skip
    return same[0] if len(same) == 1 else ""


def _close(layout: Layout, row_id: str, report: Report, verdict: Verdict, now: int) -> list[str]:
    """Write gaps and the end into the row; a failure to do so is only reported."""
    gaps = registry.gaps_in(report.text)
    if not row_id:
        return [f"no row of {report.agent} is known: its Capsule Gap is not kept"] if gaps else []
    from contextkit.subagents.flows import watch

    try:
        row = registry.find(registry.rows(layout), row_id)
        gaps = [*registry.gaps_in(watch.log_text(layout, row)), *gaps]
        new = registry.note_gaps(layout, row_id, list(dict.fromkeys(gaps)), now)
        changes: dict[str, object] = {"verdict": verdict.status, "detail": verdict.detail_path}
        if row.get("status") == "awaiting_manual_launch":  # nothing else will record its end
            changes |= {"status": "finished", "finished_at": names.compact(now)}
        registry.update(layout, row_id, **changes)
    except (ContextError, OSError) as error:
        return [f"the registry could not be written: {error}"]
    return [f"Capsule Gap: {gap}" for gap in new]


def check(report: Report) -> None:
    """Raise ContextError for what cannot be handed in, before any text is read."""
    if not names.one_line(report.summary):
        raise bad_input("summary: say in one line what was concluded")
    Verdict(agent=report.agent, status=report.status.upper(), summary=report.summary)

"""The course of a subagent after its launch, in its row: its state, its report, its end.

A look writes the state shown by its files (`background.py`) into its row, once. For an agent that
handed in no report, the table of verdicts says how it ended, so that a failed agent has a line
there. The review run that it worked for, if any, learns of its end.
"""

from __future__ import annotations

import errno
import os

from contextkit.base import addresses, files, git, ledger, names, redaction, sessions, stores
from contextkit.base.errors import ContextError, bad_input, remark
from contextkit.base.formats import build_known
from contextkit.base.layout import Layout
from contextkit.base.markdown import BULLETS, heading
from contextkit.base.type_names import Any
from contextkit.reviews.documents import verdicts
from contextkit.reviews.documents.verdicts import Verdict
from contextkit.subagents.documents import registry
from contextkit.subagents.flows import background

_PROSE = 40  # words from which on an output is more than the last lines of a log
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)  # nothing can be written, but much can be read
_UNREAD = "unread"  # the key of a row whose end was recorded by an unattended look


# What a look at a subagent found: its new status, `gap` or `end`; and a sentence.
News = tuple[str, str]


def refresh(
    layout: Layout, now: int, identity: str = "", unattended: bool = False
) -> tuple[list[registry.Row], list[News]]:
    """Record the state of each running subagent; return all updated rows, and the news.

    `identity` is an id, a slug or `latest`, and limits the look to that one; ContextError if there
    is none. Whatever an `unattended` look finds is news again for the next look by a person.
    """
    rows = _rows(layout, identity)
    identity = identity and rows[0]["id"]  # keep the same one even if a newer one has its slug
    by_id: dict[str, dict[str, Any]] = {}
    news: list[News] = []
    for row in rows:
        if row.get("status") in registry.ACTIVE:
            if changes := background.changes(layout, row, now):
                by_id[row["id"]] = changes | ({_UNREAD: True} if unattended else {})
            news += _collected(layout, row, now)
        elif row.get(_UNREAD) and not unattended:
            by_id[row["id"]] = {}
            news += _of_gaps(row, registry.gaps_of(row))
    if not (by_id or news):
        return rows, []
    try:
        ended = _note(layout, by_id, unattended) if by_id else []
    except OSError as error:
        if error.errno not in _FULL:
            raise
        problem = f"not recorded ({error.strerror}): make room, and look again"
        rows = [row | by_id.get(row["id"], {}) for row in rows]
        return rows, [("end", problem)]
    for row in ended:
        try:
            take_over(layout, row, now)
        except (ContextError, OSError) as error:  # a look never fails because of it
            news.append(("end", f"{row['id']}: its end could not be noted: {error}"))
    rows = _rows(layout, identity)
    return rows, [*(_news(layout, row) for row in rows if row["id"] in by_id), *news]


def _rows(layout: Layout, identity: str) -> list[registry.Row]:
    rows = registry.rows(layout)
    return [registry.find(rows, identity)] if identity else rows


def _note(layout: Layout, by_id: dict[str, dict[str, Any]], unattended: bool) -> list[registry.Row]:
    """Write changes into the rows that are still active; return the rows that ended by that."""
    ended = []

    def edit(rows: list[Any]) -> None:
        for row in rows:
            changes = by_id.get(str(row.get("id"))) if isinstance(row, dict) else None
            if changes is None:
                continue
            if row.get("status") in registry.ACTIVE:
                row.update(changes)
                if row["status"] not in registry.ACTIVE:
                    ended.append(dict(row))
            elif not unattended:
                row.pop(_UNREAD, None)

    registry.change(layout, edit)
    return ended


def _news(layout: Layout, row: registry.Row) -> News:
    """A row's new status, its missing files, and where its report is, else its last words."""
    status, code = str(row.get("status")), row.get("exit_code")
    line = f"{row['id']}: {status} (exit {code})" if code else f"{row['id']}: {status}"
    if status == "failed" and code is None:
        line = f"{row['id']}: gone without an exit status: failed"
    if missing := _sources(row, "missing"):
        line += f"; it left no {missing}"
    if status == "finished" and background.left_undone(row):
        line += f", but its verdict is {row['verdict']}"
    elif status not in ("failed", "timed_out"):
        if detail := row.get("detail"):
            line += f": {row.get('verdict')}, in {layout.found(str(detail))}"
        return status, line
    words = background.last_words(layout, row)
    return status, f"{line}: {words}" if words else line


def _collected(layout: Layout, row: registry.Row, now: int) -> list[News]:
    """Add the gaps that a subagent has named so far to its row; return the new ones."""
    if not background.folder_of(layout, row):
        return []
    named, old = registry.gaps_in(background.log_text(layout, row)), registry.gaps_of(row)
    try:
        new = [gap for gap in named if gap not in old]
        return _of_gaps(row, registry.note_gaps(layout, row["id"], new, now))
    except OSError as error:
        if error.errno not in _FULL:
            raise
        return []


def _of_gaps(row: registry.Row, gaps: list[str]) -> list[News]:
    return [("gap", f"{row['id']}: Capsule Gap: {gap}") for gap in gaps]


def abort(layout: Layout, identity: str, reason: str, now: int, at_once: bool = False) -> str:
    """End a subagent, maybe `at_once`, and return its id. Raises ContextError if it has ended."""
    ((row,), _) = refresh(layout, now, identity)
    identity = row["id"]
    if row.get("status") not in registry.ACTIVE:
        raise ContextError(f"{identity} is {row.get('status')}: there is nothing to abort")
    folder = background.folder_of(layout, row)
    if not folder and row["status"] != "awaiting_manual_launch" and not at_once:
        raise ContextError(
            f"{identity} was not started by contextkit: end it yourself, then record it: force=1"
        )
    if folder:
        background.stop(folder, 0 if at_once else background.GRACE)
    reason = redaction.redacted(reason, layout.limits.secrets_allow)[0]  # a row is committed
    word, at = names.slug(reason) or "manual", names.compact(now)
    fields = {"aborted_reason": names.one_line(reason) or word, "aborted_at": at, "finished_at": at}
    registry.update(layout, identity, status=f"aborted_{word}", **fields)
    ledger.note(layout, ledger.ENDED, f"subagent:{identity}")
    return identity


def cleanup(layout: Layout, identity: str, force: bool, reason: str, now: int) -> str:
    """Remove a subagent's sandbox and run folder; its row stays as `cleaned`.

    Raises ContextError while it runs, and for work that would be lost, unless `force` is set. Of
    two calls at once, the second finds it cleaned.
    """
    from contextkit.subagents.flows import launch

    identity = str(_rows(layout, identity)[0]["id"])
    with files.locked(layout.lock(os.path.join(layout.state, "cleanup", identity))):
        ((row,), _) = refresh(layout, now, identity)
        kind, status = str(row.get("type")), row.get("status")
        if status == "cleaned":
            return identity
        if status in ("running", "pending_launch") and not force:
            mend = f"subagent_abort id={identity} to end it first"
            raise ContextError(f"{identity} is {status}: {mend}")
        place = layout.join(str(row.get("path") or "."))
        folder = background.folder_of(layout, row)
        apart = kind != "here" and os.path.isdir(place)
        if apart:
            _refuse_to_lose(layout, identity, kind, place, force)
        if status in registry.ACTIVE:
            abort(layout, identity, reason, now, at_once=not folder)
        if apart:
            launch.discard_sandbox(layout, kind, identity)
        if folder:
            import shutil

            _keep_log(layout, row, now)
            shutil.rmtree(folder)
        registry.update(layout, identity, status="cleaned")
        ledger.note(layout, ledger.REMOVED, f"subagent:{identity}")
    return identity


def _keep_log(layout: Layout, row: registry.Row, now: int) -> None:
    """Store the log of a subagent as a payload if its verdict names it."""
    agent, log = str(row.get("slug") or row["id"]), row.get("log_path")
    entry = verdicts.load(layout, agent)
    path = background.place_of(layout, log)
    text = files.read(path) if path else ""
    if not entry or not text.strip() or entry.get("detail_path") != log:
        return
    stored = _stored(layout, str(row.get("session") or ""), agent, text, "", now)
    fields = {**entry, "detail_path": layout.shown(stored.path)}
    verdicts.save(layout, build_known(Verdict, fields, "verdict"))


def _refuse_to_lose(layout: Layout, identity: str, kind: str, place: str, force: bool) -> None:
    """Raise ContextError for a folder that is not ours, or work that would be lost with it."""
    from contextkit.subagents.flows import launch

    shown = layout.shown(place)
    if kind not in registry.KINDS or not launch.is_ours(layout, identity, place):
        raise bad_input(f"{identity}: {shown} is not a contextkit sandbox: left alone")
    work = [] if force else launch.work_in(layout, kind, identity)
    if work:
        merge = f"merge {registry.branch_of(identity)}"
        takes = merge if kind == "worktree" else f"pull --no-rebase {shown}"
        raise ContextError(
            f"{identity}: {shown} holds {' and '.join(work)}:"
            f" take that over first: git {takes}; or drop it: force=1"
        )


# What a typed word stands for; nothing but CLEAN is read as CLEAN.
_ALIKE = {
    "done completed finished success successful succeeded ok": "COMPLETE",
    "issues attention problems findings": "NEEDS_ATTENTION",
    "fail failure crashed aborted": "FAILED",
    "incomplete inprogress wip unfinished": "PARTIAL",
    "stuck waiting": "BLOCKED",
}


def finish(
    layout: Layout, fields: dict[str, Any], text: str, now: int, identity: str, session: str
) -> str:
    """Store the text, if any, then the verdict that names it, then record the gaps in its row.

    `fields` are those of the verdict. Return the receipt, or the verdict's line. Raises
    ContextError before it writes.
    """
    from contextkit.payloads.documents import receipts

    status = names.meant_word(fields["status"].upper(), verdicts.STATUSES, _ALIKE, "status")
    verdict = Verdict(**{**fields, "status": status})
    allowed, agent = layout.limits.secrets_allow, verdict.agent
    summary, secrets = redaction.redacted(names.one_line(verdict.summary), allowed)
    if not summary:
        raise bad_input("summary: say in one line what was concluded")
    row_id = _row_id(layout, identity, agent)
    remark(*(f"summary: a {secret.kind} was redacted" for secret in secrets))
    receipt = path = ""
    left = receipts.left_by(layout, row_id or identity)
    in_file = files.read(left) if left else ""
    text = text if text.strip() else in_file
    session, made_up = sessions.current(layout, session, now)
    if made_up:
        remark(f"no session is named: using {session} from now on")
    if text.strip():
        sessions.check(session)
        stored = _stored(layout, session, agent, text, summary, now)
        receipt, path = stored.receipt, layout.shown(stored.path)
        if left and text == in_file:
            os.unlink(left)
    verdict = verdict.replace(
        summary=summary, detail_path=path, timestamp=names.iso(now), session_id=session
    )
    verdicts.save(layout, verdict)
    for ref in addresses.named_in(layout, text):
        ledger.note(layout, ledger.ACKNOWLEDGED, ref, session=session, agent=agent)
    _close(layout, row_id, verdict, text, now)
    return receipt or verdicts.table([dict(vars(verdict))])


def _stored(layout: Layout, session: str, agent: str, text: str, summary: str, now: int) -> Any:
    """Store a report; `summary` is what its author says in one line, '' for nothing."""
    from contextkit.payloads.flows import storing

    output = storing.reported(agent, agent, text, key=summary)
    return storing.store(layout, sessions.current(layout, session, now)[0], output, now)


def _row_id(layout: Layout, identity: str, agent: str) -> str:
    """The row that a report belongs to: by its id, the environment, or the agent's name."""
    try:
        rows = registry.rows(layout)
    except ContextError:
        return identity  # reported when the row is changed: the report must be stored all the same
    if identity:
        return str(registry.find(rows, identity)["id"])
    named = os.environ.get("CONTEXT_SUBAGENT_ID", "")
    if named in [row["id"] for row in rows]:
        return named
    same = [row["id"] for row in rows if row.get("slug") == agent
            and row.get("status") in registry.ACTIVE]  # fmt: skip
    return same[0] if len(same) == 1 else ""


def _close(layout: Layout, row_id: str, verdict: Verdict, text: str, now: int) -> None:
    """Write gaps, the end and the verdict into the row; a failure is only reported."""
    gaps = registry.gaps_in(text)
    if not row_id:
        if gaps:
            remark(f"no row of {verdict.agent} exists: its Capsule Gap is not kept")
        return
    try:
        row = registry.find(registry.rows(layout), row_id)
        gaps = [*registry.gaps_in(background.log_text(layout, row)), *gaps]
        new = registry.note_gaps(layout, row_id, list(dict.fromkeys(gaps)), now)
        changes = {"verdict": verdict.status, "detail": verdict.detail_path}
        if row.get("status") == "awaiting_manual_launch":  # nothing else will record its end
            changes |= {"status": "finished", "finished_at": names.compact(now)}
        registry.update(layout, row_id, **changes)
        remark(*(f"Capsule Gap: {gap}" for gap in new))
    except (ContextError, OSError) as error:
        remark(f"the registry could not be written: {error}")


def take_over(layout: Layout, row: registry.Row, now: int) -> None:
    """Harvest an ended subagent's deliverables, and record its verdict.

    An agent of a review run that left no file of its own is an ERROR immediately.
    """
    from contextkit.reviews.flows import agent_files, workers

    _harvest(layout, row)
    pair = workers.of_row(layout, row)
    if not pair:
        _alone(layout, row, now)
        return
    run, agent = pair
    asked, reading = workers.read_one(layout, run, agent)
    if reading.validation in ("missing", "partial"):
        agent_files.keep(layout, asked, [agent_files.verdict(reading, run.id)], now)
        registry.update(layout, row["id"], verdict=reading.status)
    workers.notify(layout, run.id, now)


def _harvest(layout: Layout, row: registry.Row) -> None:
    """Copy each promised file out of a sandbox, never over another; record what is missing."""
    items = registry.promised(row)
    for item in (item for item in items if item.get("status") != "harvested"):
        item["status"] = "missing"
        if source := background.made(layout, row, item):
            target = _taken_over(layout, source, str(item["source"]))
            item |= {"status": "harvested", "target": layout.shown(target)}
    if items:  # what is no promise stays as others wrote it
        pairs = zip(row["deliverables"], items, strict=True)
        listed = [new if isinstance(old, dict) else old for old, new in pairs]
        registry.update(layout, row["id"], deliverables=listed)


def _taken_over(layout: Layout, source: str, name: str) -> str:
    """Where a deliverable is in the repository: where it was committed, or a copy of it."""
    target = files.inside(layout.root, layout.join(name), "deliverables")
    folder, file = os.path.split(source)
    that = ("--", f":(literal){file}")
    try:
        edits = git.run(folder, "status", "--porcelain", *that)
        if git.run(folder, "ls-files", *that) and not edits:
            return source  # committed: a copy would be in the way of the merge
    except ContextError:
        pass  # git cannot tell
    data = files.read_bytes(source)
    if os.path.isfile(target) and files.read_bytes(target) == data:
        return target
    return files.create(target, data)


def _alone(layout: Layout, row: registry.Row, now: int) -> None:
    """Write the verdict of a subagent that ended without handing in a report."""
    from contextkit.payloads.documents import receipts

    agent = str(row.get("slug") or row["id"])
    if row.get("verdict") or row.get("status") not in ("finished", "failed", "timed_out"):
        return
    try:
        earlier = verdicts.load(layout, agent)
        if earlier and names.moment(str(earlier.get("timestamp"))) >= background.started(row):
            return  # it wrote one itself
        words = background.last_words(layout, row)
        status, summary = _judged(row, words)
        left = receipts.left_by(layout, str(row["id"]))
        log = background.place_of(layout, row.get("log_path"))
        printed = files.read(log) if log and row.get("status") == "finished" else ""
        own, path = _handed_in(layout, row, left, printed, now)
        path = path or _kept_by_hook(layout, row)
        if left:
            summary = own or summary
        elif row.get("status") == "finished" and (path or _is_report(printed)):
            status, summary = "PARTIAL", f"taken from its output: {own or words}".rstrip(": ")
        elif words:
            summary = f"{summary}: {words}"
        verdict = Verdict(
            agent=agent, status=status, summary=summary, type="implementation",
            detail_path=path or str(row.get("log_path") or ""), timestamp=names.iso(now),
            flags=("ended",),
        )  # fmt: skip
        verdicts.save(layout, verdict)
        registry.update(layout, row["id"], verdict=status, detail=verdict.detail_path)
    except ContextError:
        return  # a name that no verdict can have


def _handed_in(
    layout: Layout, row: registry.Row, left: str, printed: str, now: int
) -> tuple[str, str]:
    """Store what an agent left in its file, or printed at length: its summary and path, or ''."""
    from contextkit.base import tokens
    from contextkit.text import authored

    text = files.read(left) if left else printed
    if tokens.estimate(text) <= (0 if left else layout.limits.payload_budget):
        return "", ""
    session, agent = str(row.get("session") or ""), str(row.get("slug") or row["id"])
    stored = _stored(layout, session, agent, text, printed if left else "", now)
    if left:
        os.unlink(left)
    statements = authored.answer(printed) if left and printed.strip() else authored.read(text)
    return names.one_line(statements.lead(2)), layout.shown(stored.path)


def _kept_by_hook(layout: Layout, row: registry.Row) -> str:
    """The payload that a hook stored of a launched agent's last message; '' if there is none."""
    from contextkit.hosts.documents import seen_agents

    ids = filter(sessions.is_name, stores.names_in(layout.hooks))
    payloads = (seen_agents.load(layout, session, row["id"]).stored for session in ids)
    return next(filter(None, payloads), "")


def _is_report(printed: str) -> bool:
    """Whether a subagent printed prose or Markdown rather than the lines of a log."""
    lines = list(filter(str.strip, printed.split("\n")))
    marked = any(line.startswith(BULLETS) or heading(line)[0] for line in lines)
    return len(lines) > 1 and (marked or sum(line.count(" ") for line in lines) > _PROSE)


def _judged(row: registry.Row, words: str) -> tuple[str, str]:
    """The status of a subagent without a report, and what to say about it."""
    status, code = row.get("status"), row.get("exit_code")
    if status == "timed_out":
        return "FAILED", "its time was up"
    if status == "failed":
        return "FAILED", "gone without an exit status" if code is None else f"exit {code}"
    if words:
        return "NEEDS_ATTENTION", "handed in no report, its log ends"
    if left := _sources(row, "harvested"):
        return "NEEDS_ATTENTION", f"handed in no report, but left {left}"
    return "ERROR", "exit 0 without a report or a line of output"


def _sources(row: registry.Row, state: str) -> str:
    promised = (item for item in registry.promised(row) if item.get("status") == state)
    return ", ".join(names.one_line(str(item.get("source"))) for item in promised)

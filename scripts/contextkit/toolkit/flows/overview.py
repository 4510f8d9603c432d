"""All systems at once: settings in force, documented files, a line of status each."""

from __future__ import annotations

import os

from contextkit.base import copies, files, git, names, settings, templates, tokens, version
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout, Places, toolkit
from contextkit.base.limits import Limits
from contextkit.capsules.documents import folders, reminders
from contextkit.capsules.documents import store as capsules
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.handoffs.documents import state as handoff_state
from contextkit.memory.flows import recovery, upkeep
from contextkit.payloads.documents import store as payloads
from contextkit.reviews.documents import processes, verdicts
from contextkit.subagents.documents import registry
from contextkit.subagents.flows import watch

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def settings_in_force(layout: Layout) -> list[tuple[str, object, str]]:
    """Every setting: its name, its value, and `default` or the file that sets it."""
    rows: list[tuple[str, object, str]] = [("root", layout.root, "this call")]
    for record in (layout.limits, layout.places):
        kind = Limits if record is layout.limits else Places
        for name in kind.fields():
            source = settings.FILE if name in layout.settings else "default"
            rows.append((name, getattr(record, name), source))
    for process in processes.load_all(layout):
        source = settings.FILE if processes.is_set(layout, process.name) else "default"
        for name, value in vars(process).items():
            if name != "name" and value not in ("", (), 0):
                rows.append((f"processes.{process.name}.{name}", value, source))
    return rows


def initialise(layout: Layout, dry_run: bool) -> list[tuple[str, str]]:
    """Make each documented file that is missing; (path, `made` | `refreshed` | `kept`) of each.

    A copy of ours that nobody edited is refreshed; what a host wrote is never touched.
    """
    template = copies.sealed(capsules.template_document(layout.limits.capsule_max_tokens))
    scope = copies.sealed(files.read(toolkit("templates", "subagent_scope_template.md")))
    manual = copies.sealed(files.read(toolkit("manuals", "subagent-session-orchestration.md")))
    steps = []
    for path, text, is_copy in (
        (layout.capsule_template, template, True),
        (layout.store("scope_template"), scope, True),
        (layout.store("orchestration"), manual, True),
        (layout.reminders, templates.render("reminder_inbox.md"), False),
        (layout.handoff_template, copies.sealed(handoffs.template_document(layout), "# "), True),
        *(
            (os.path.join(layout.payloads, name), text, bool(text))
            for name, text in payloads.store_documents().items()
        ),
    ):
        real = files.inside(layout.root, path, layout.shown(path))
        there = files.read_if_there(real)
        stale = is_copy and there not in (None, text) and copies.is_ours(there or "")
        state = "made" if there is None else "refreshed" if stale else "kept"
        steps.append((layout.shown(path), real, text, state))
    if not dry_run:
        for _, real, text, state in steps:
            if state == "refreshed":
                files.write(real, text)
            elif state == "made":
                _make(real, text)
        reminders.keep_mergeable(layout, os.path.realpath(layout.reminders))
        payloads.document_store(layout)
    return [(shown, state) for shown, _, _, state in steps]


def _make(path: str, text: str) -> None:
    try:
        files.create(path, text, exact=True)
    except FileExistsError:
        pass  # another process made it just now: an inbox may hold a reminder already


def status(layout: Layout) -> list[tuple[str, str]]:
    """(system, what is stored or open) of each; what cannot be read is said, not left out."""
    return [
        (system, _said(report, layout))
        for system, report in (
            ("capsules", _capsules),
            ("reminders", _reminders),
            ("payloads", _payloads),
            ("handoffs", _handoffs),
            ("memory", _memory),
            ("verdicts", _verdicts),
            ("subagents", _subagents),
            ("hosts", _hosts),
            ("version", _version),
        )
    ]


def _said(report: Callable[[Layout], str], layout: Layout) -> str:
    try:
        return report(layout)
    except ContextError as error:
        return str(error)
    except OSError as error:
        return f"{error.filename}: cannot be read: {error.strerror}"


def _capsules(layout: Layout) -> str:
    head = git.head(layout.repository) if layout.repository else git.Head()
    found = folders.paths(folders.folder(layout, head.branch)) if head.branch else []
    where = f"on {head.branch}" if head.branch else "no branch is checked out"
    if not found:
        return f"none {where}" if head.branch else where
    newest = files.read(found[-1])
    state = "a stub" if capsules.unfinished(newest) else "finished"
    return (
        f"{len(found)} {where}; newest {os.path.basename(found[-1])}:"
        f" {state}, ~{tokens.estimate(newest)} tokens"
    )


def _reminders(layout: Layout) -> str:
    found = reminders.load_all(layout).whole().documents
    still_open = sum(not reminder.done for reminder in found)
    return f"{still_open} open, {len(found) - still_open} done"


def _payloads(layout: Layout) -> str:
    found = payloads.sessions_in(layout)
    entries = [entry for session in found for entry in payloads.entries(layout, session)]
    stored = sum(entry["tokens"] for entry in entries)
    return f"{len(entries)} in {len(found)} sessions; ~{stored} tokens stored"


def _handoffs(layout: Layout) -> str:
    state, said = handoff_state.current(layout)
    found, _ = handoffs.read(layout, handoff_state.retained(layout, state))
    waiting = sum(not handoff.consumed for handoff in found.values())
    size = sum(handoffs.measure(handoff) for handoff in found.values())
    active = f"{state.active} is active" if state.active else "no agent is active"
    doubt = f"; {len(said)} to mend or look at" if said else ""
    return f"{active}; {len(found)} kept (~{size} tokens), {waiting} not consumed{doubt}"


def _memory(layout: Layout) -> str:
    found = upkeep.listed(layout)
    if not found:
        return "nothing stored"
    stored = sum(tokens.estimate(files.read(one.path)) for one in found)
    tasks = {one.task for one in found}
    said = f"{len(found)} documents of {len(tasks)} tasks, ~{stored} tokens stored"
    known = recovery.load(layout, "", names.now())
    if known.checkpoint is None:
        return f"{said}; no checkpoint"
    stale = ", stale" if known.stale else ""
    phase = known.phase or known.checkpoint.phase
    age = f"its checkpoint {known.age // 3600} h old{stale}"
    return f"{said}; {known.task} is in {phase}, {age}"


def _verdicts(layout: Layout) -> str:
    found = verdicts.load_all(layout).documents
    urgent = len(verdicts.needs_attention(found))
    return f"{verdicts.counts(found)}; {urgent} to look at"


def _subagents(layout: Layout) -> str:
    rows = registry.rows(layout)
    states = [watch.status_now(layout, row) for row in rows]
    running = sum(state in registry.ACTIVE for state in states)
    dead = sum(state in ("failed", "timed_out") for state in states)
    head = git.head(layout.repository) if layout.repository else git.Head()
    newest = os.path.basename(capsules.latest(layout, head.branch)) if head.branch else ""
    gaps = len(registry.open_gaps(layout, head.branch, newest[:16])) if head.branch else 0
    return f"{running} of {len(rows)} still open, {dead} failed; {gaps} capsule gaps"


def _hosts(layout: Layout) -> str:
    """Which hosts have our hooks here, and what went wrong in them."""
    from contextkit.hosts.documents import diagnostics
    from contextkit.hosts.documents.contracts import HOSTS
    from contextkit.hosts.flows import trials

    found = [host.title for host in HOSTS.values() if trials.installed(layout, host)]
    count = len(diagnostics.lines(layout.hooks))
    said = f"hooks of {' and '.join(found)}" if found else "not adopted: no hooks are installed"
    return f"{said}; {count} failures noted" + (": make doctor shows them" if count else "")


def _version(layout: Layout) -> str:
    return f"contextkit {version.VERSION}"

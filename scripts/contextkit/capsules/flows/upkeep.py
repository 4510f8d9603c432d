"""What happens to a capsule after it was written.

check    everything that is wrong with it, as far as text and repository tell
seal     the commit and digests of what it refers to, into its front matter
redact   its secrets out of it
listed   the capsules of a branch, or of all
"""

from __future__ import annotations

from contextkit.base import files, names, redaction, tokens
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.capsules.documents import check as capsule_check
from contextkit.capsules.documents import folders as branch_folders
from contextkit.capsules.documents import reminders
from contextkit.capsules.documents import store as capsules
from contextkit.capsules.documents.check import ERROR, WARNING, Lint
from contextkit.capsules.documents.reminders import Reminder
from contextkit.capsules.flows import cited, drift


class Row(Record):
    """A capsule in a list; `state` is stub, finished or unreadable. The id is its path."""

    id: str
    branch: str
    created_at: str
    tokens: int
    state: str
    workstream: str = ""
    primary_objective: str = ""


def check(layout: Layout, path: str) -> list[Lint]:
    """Every finding on the capsule at `path`, in order of lines."""
    text = files.read(path).replace("\r\n", "\n").removeprefix("\ufeff")
    found = capsule_check.findings(text, layout.limits)
    try:
        capsule, body = capsules.parse(text)
    except ContextError:
        return found  # without front matter there is nothing to compare with
    offset = text.count("\n") - body.count("\n")
    found += _references(layout, body, offset)
    found += [
        Lint(severity=WARNING, line=0, what=f"stale: {reason}", mend="write a new one")
        for reason in drift.staleness(layout, path)
    ]
    if not capsule.mini:
        found += _reminders(layout, body, layout.shown(path))
    return sorted(found, key=lambda finding: finding.line)


def _references(layout: Layout, body: str, offset: int) -> list[Lint]:
    return [
        Lint(
            severity=ERROR,
            line=offset + mention.line,
            what=mention.problem,
            mend="correct it, or say (new) or (gone) behind it"
            if mention.kind == "path"
            else "correct it",
        )
        for mention in cited.find(layout, body)
        if mention.problem
    ]


def _reminders(layout: Layout, body: str, shown: str) -> list[Lint]:
    """The open reminders: each is to be taken in or dismissed, and then marked."""
    still_open = [r for r in reminders.load_all(layout).whole().documents if not r.done]
    found = [_reminder(reminder, body, shown) for reminder in still_open]
    most = layout.limits.capsule_prompt_reminders
    if len(found) > most:
        what = f"{len(found) - most} older reminders are open too"
        found = [
            *found[-most:],
            Lint(severity=WARNING, line=0, what=what, mend="make reminders"),
        ]
    return found


def _reminder(reminder: Reminder, body: str, shown: str) -> Lint:
    told = names.one_line(reminder.topic or tokens.clip(reminder.note, 12))
    if reminder.id in body:
        what = f"the reminder {reminder.id} ({told}) is still open"
        mend = f"make reminder_done id={reminder.id} into={shown}"
    else:
        what = f"the reminder {reminder.id} ({told}) is not in it"
        mend = f"take it in, or make reminder_done id={reminder.id} into=dropped"
    return Lint(severity=WARNING, line=0, what=what, mend=mend)


def seal(layout: Layout, path: str) -> bool:
    """Record digests and commit in the capsule at `path`; whether that changed the file."""
    with files.locked(layout.lock(path)):
        text = files.read(path)
        sealed = drift.seal(layout, text)
        if sealed != text:
            files.write(path, sealed)
        return sealed != text


def redact(layout: Layout, path: str) -> int:
    """Replace the secrets in the capsule at `path`; how many there were."""
    with files.locked(layout.lock(path)):
        text, secrets = redaction.redacted(files.read(path), layout.limits.secrets_allow)
        if secrets:
            files.write(path, text)
        return len(secrets)


def listed(layout: Layout, branch: str = "", workstream: str = "") -> list[Row]:
    """The capsules of a branch, or of all without one, stubs included, oldest first."""
    chosen_ones = (
        [branch_folders.folder(layout, branch)] if branch else branch_folders.all_of(layout)
    )
    rows = [one for folder in chosen_ones for one in rows_in(layout, folder)]
    return [one for one in rows if workstream in ("", one.workstream)]


def rows_in(layout: Layout, folder: str) -> list[Row]:
    """The capsules of one folder, oldest first."""
    return [row(layout, path) for path in branch_folders.paths(folder)]


def row(layout: Layout, path: str) -> Row:
    """What a list says of the capsule at `path`."""
    shown = layout.shown(path)
    try:
        text = files.read(path).replace("\r\n", "\n")
        capsule, body = capsules.parse(text, shown)
    except ContextError:
        return Row(id=shown, branch="", created_at="", tokens=0, state="unreadable")
    return Row(
        id=shown,
        branch=capsule.branch,
        created_at=capsule.created_at,
        tokens=tokens.estimate(body),
        state="stub" if capsules.unfinished(text) else "finished",
        workstream=capsule.workstream,
        primary_objective=capsule.primary_objective,
    )

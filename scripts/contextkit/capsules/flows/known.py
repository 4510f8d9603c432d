"""What the stores know that the next capsule must not lose: quotes for the capture prompt.

The capsule that it replaces and what has happened since; the open task with its findings; the
decisions of the branch's last handoff; the findings of reviews that somebody dismissed.
"""

from __future__ import annotations

import os

from contextkit.base import files, git, names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.capsules.documents import items
from contextkit.capsules.documents import store as capsules
from contextkit.capsules.flows import given

_MOST_GAPS = 10
_MOST = 5  # findings, decisions, or dismissals that are quoted
_DISMISSED = "*.dismissed.json"


class Quote(Record):
    """Lines to quote under a title; `path` is the document that they are from, if it is one."""

    title: str
    lines: tuple[str, ...]
    path: str = ""


def quotes(layout: Layout, branch: str, workstream: str, now: int) -> tuple[list[Quote], list[str]]:
    """What there is to quote, as lines in the order of weight, and what could not be read."""
    found, said = [], []
    for look in (_capsule, _task, _decisions, _dismissals, _gaps):
        try:
            found += look(layout, branch, workstream, now)
        except (ContextError, OSError) as error:
            said.append(f"left out: {error}")
    return [one for one in found if one.lines], said


def _capsule(layout: Layout, branch: str, workstream: str, now: int) -> list[Quote]:
    path, _ = given.newest(layout, branch, workstream)
    if not path:
        return []
    before = given.at(layout, path, branch)
    title = f"From `{before.path}`, the capsule that this one replaces"
    return [
        Quote(
            title=f"{title}: decisions, threads and preferences that are still open",
            lines=tuple(names.one_line(one.bare) for one in items.carried(before.whole, "")),
            path=before.path,
        ),
        Quote(title=f"What has changed since `{before.path}`", lines=before.news),
    ]


def _task(layout: Layout, branch: str, workstream: str, now: int) -> list[Quote]:
    if not os.path.isdir(layout.memory):
        return []
    from contextkit.memory.flows import recovery

    found = recovery.load(layout, "", now, _MOST)
    if found.empty or not found.task:
        return []
    lines = [f"Next: {found.state.next_action}"] if found.state.next_action else []
    lines += [f"Open: {step}" for step in (*found.state.in_progress, *found.state.pending)]
    lines += [f"{one.agent} ({one.status}): {one.summary}" for one in found.findings[:_MOST]]
    phase = f", in {found.phase}" if found.phase else ""
    return [_quote(f"The open task `{found.task}`{phase}, and what was found", lines)]


def _decisions(layout: Layout, branch: str, workstream: str, now: int) -> list[Quote]:
    if not os.path.isdir(layout.handoffs):
        return []
    from contextkit.handoffs.documents import artifacts

    own = [one for _, one in artifacts.load_all(layout) if one.branch == branch]
    last = max(own, key=lambda one: (one.timestamp, one.sequence), default=None)
    if last is None:
        return []
    rejected = [f"Rejected: {one}" for one in last.rejected]
    blocked = [f"Blocked: {one}" for one in last.blockers]
    title = f"Decisions of the last handoff, {last.from_agent} to {last.to_agent}"
    return [_quote(title, [*last.decisions, *blocked, *rejected])]


def _dismissals(layout: Layout, branch: str, workstream: str, now: int) -> list[Quote]:
    if layout.repository is None:
        return []
    asked = ("ls-files", "-co", "--exclude-standard", "-z", "--", _DISMISSED)
    there = [name for name in git.output(layout.root, *asked).split("\0") if name]
    if not there:
        return []
    from contextkit.reviews.documents import dismissals

    found = [one for name in there for one in dismissals.parse(files.read(layout.join(name)), name)]
    newest = sorted(found, key=lambda one: one.at, reverse=True)[:_MOST]
    return [_quote("Dismissed findings", [f"{one.title}: {one.reason}" for one in newest])]


def _gaps(layout: Layout, branch: str, workstream: str, now: int) -> list[Quote]:
    title = "Capsule gaps: what subagents missed in the last capsule"
    return [_quote(title, gaps(layout, branch)[-_MOST_GAPS:])]


def gaps(layout: Layout, branch: str) -> list[str]:
    """The gaps reported by subagents of a branch that no newer capsule can contain yet."""
    if not branch or not os.path.exists(layout.registry):
        return []
    from contextkit.subagents.documents import registry

    newest = os.path.basename(capsules.latest(layout, branch))
    return registry.open_gaps(layout, branch, newest[:16])


def _quote(title: str, lines: list[str]) -> Quote:
    return Quote(title=title, lines=tuple(map(names.one_line, lines)))

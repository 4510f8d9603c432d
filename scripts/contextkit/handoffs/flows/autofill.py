"""What is known about the work without anybody saying it: branch, files, story, open verdicts."""

from __future__ import annotations

import os

from contextkit.base import git, names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.handoffs.documents import fitting
from contextkit.handoffs.flows import work_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.handoffs.documents.fields import Fields

_SENTENCES = 2  # of a next_action, from which on it is said


def fill(layout: Layout, fields: Fields) -> tuple[Fields, tuple[str, ...]]:
    """`fields` with what can be known added: branch, files, story, blockers; what to say of it.

    What was said by hand wins, also an empty list.
    """
    filled = {name: value for name, value in fields.items() if value != ""}
    said: list[str] = []
    # git looks at the work tree while the rest is found out: its answer is read last.
    looking = work_files.looking(layout) if "files_modified" not in filled else None
    if "branch" not in filled:
        filled["branch"], doubt = _branch(layout)
        said += doubt
    if filled.get("story_path"):
        filled, doubt = _from_story(layout, filled)
        said += doubt
    if "blockers" not in filled:
        waiting = _open_verdicts(layout)
        filled["blockers"] = _at_most(waiting, layout.limits.handoff_blockers)
    action = names.one_line(filled.get("next_action", ""))
    if fitting.sentences(action, _SENTENCES) != action:
        said.append(f"next_action: has more than {_SENTENCES} sentences")
    if looking:
        filled["files_modified"] = _at_most(looking.seen(), layout.limits.handoff_files)
    return filled, tuple(said)


def _at_most(found: tuple[str, ...], most: int) -> tuple[str, ...]:
    """What was found, as far as it fits; what nobody said by hand is no reason to warn."""
    if len(found) <= most:
        return found
    return (*found[: most - 1], f"(+{len(found) - most + 1} more)")


def _branch(layout: Layout) -> tuple[str, list[str]]:
    """The branch, or the commit of a detached HEAD, or nothing; and what to warn of."""
    if layout.repository is None:
        return "", ["branch: not in a git repository: left empty"]
    head = git.head(layout.repository)
    if head.branch:
        return head.branch, []
    short = head.commit[:12]
    return f"{short} (detached)", [f"branch: HEAD is detached at {short}: the commit is stored"]


def _from_story(layout: Layout, fields: Fields) -> tuple[Fields, list[str]]:
    """The story's path relative to the root, and what its file says where nothing was said."""
    typed = fields["story_path"]
    there = _story_file(layout, typed)
    if not there:
        shown = names.one_line(typed)
        return fields, [f"story_path: there is no file {shown[:200]!r} in the repository"]
    from contextkit.handoffs.documents import stories

    story = stories.load(there) or stories.Story()
    said = {"story_id": story.id, "story_status": story.status, "current_task": story.task}
    found = {name: text for name, text in said.items() if text}
    return {**found, **fields, "story_path": layout.shown(there)}, []


def _story_file(layout: Layout, typed: str) -> str:
    """The file that a typed path means, from the current directory or else from the root."""
    for start in (layout.here, layout.root):
        path = os.path.join(start, typed)
        try:
            if "\0" not in path and os.path.isfile(path):
                return layout.typed(path, "story_path")
        except (ContextError, OSError, ValueError):
            continue
    return ""


def verdict_agents(layout: Layout) -> frozenset[str]:
    """The agents that have a verdict now: whether they stop the work is asked of it each time."""
    from contextkit.reviews.documents import verdicts

    try:
        return frozenset(str(v["agent"]) for v in verdicts.load_all(layout).documents)
    except (ContextError, OSError):
        return frozenset()


def _open_verdicts(layout: Layout) -> tuple[str, ...]:
    """A line of each verdict that somebody has to look at, with where its full text is."""
    from contextkit.reviews.documents import verdicts

    try:
        found = verdicts.needs_attention(verdicts.load_all(layout).documents)
    except (ContextError, OSError):
        return ()
    rows = []
    for entry in found:
        detail = entry.get("detail_path")
        where = f" ({detail})" if isinstance(detail, str) and detail else ""
        rows.append(
            names.one_line(f"{entry['agent']} {entry['status']}: {entry['summary']}{where}")
        )
    return tuple(rows)

"""What a session did since its last switch, for an artifact that nobody writes by hand.

Read from what it has stored (findings, the plan of its task, its capsule) and from the end of
the host's transcript. git is not asked: this is on the way of a hook.
"""

from __future__ import annotations

import os

from contextkit.base import names
from contextkit.base.layout import Layout
from contextkit.handoffs.documents import stories

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from contextkit.handoffs.documents.fields import Fields

_MOST_DECISIONS = 3  # of the transcript: what was said last
_MOST_STORIES = 2_000  # files below `docs` that are looked at for the id of a story
_MARKS = ".,;:!?()[]{}<>\"'`"


def since(layout: Layout, moment: str, transcript: str) -> Fields:
    """The fields that follow from the work since `moment` (ISO, UTC; empty: all of it)."""
    found = _from_findings(layout, moment)
    files, decisions = list(found["files_modified"]), list(found["decisions"])
    known = bool(files)
    if transcript and os.path.isfile(transcript):
        from contextkit.memory.flows import transcripts

        told = transcripts.catch_up(
            transcript, moment, root=layout.root, allowed=layout.limits.secrets_allow
        )
        known = known or bool(told.host)
        files += [f"{path} (modified)" for path in told.edited]
        decisions += told.decisions[-_MOST_DECISIONS:]
    filled: Fields = {"decisions": tuple(dict.fromkeys(decisions))}
    if known:
        filled["files_modified"] = tuple(dict.fromkeys(files))
    task = _current_step(layout)
    if task:
        filled["current_task"] = task
    return {name: value for name, value in filled.items() if value or name == "files_modified"}


def _from_findings(layout: Layout, moment: str) -> Fields:
    """What the findings since `moment` concluded, and the files that they name."""
    if not os.path.isdir(layout.memory):
        return {"decisions": (), "files_modified": ()}
    from contextkit.memory.documents import findings, store

    fresh = [
        finding
        for _, finding in findings.load_all(layout)
        if (store.utc(finding.timestamp) or finding.timestamp) >= moment
    ]
    return {
        "decisions": tuple(names.one_line(f"{one.agent}: {one.summary}") for one in fresh),
        "files_modified": tuple(note.path for one in fresh for note in one.files),
    }


def _current_step(layout: Layout) -> str:
    """The step that the plan of the current task says is in progress, else its objective."""
    if not os.path.isdir(layout.memory):
        return ""
    from contextkit.base.errors import ContextError
    from contextkit.memory.documents import plans, store

    task = store.current_task(layout)
    try:
        plan = plans.load(plans.path_of(layout, task)) if task else None
    except ContextError:
        return ""
    if plan is None:
        return ""
    return names.one_line(next(iter(plan.in_progress), plan.objective))


def story_named(layout: Layout, text: str) -> str:
    """The path of the story that a prompt names, by its path or its id; empty if it names none."""
    words = [word.strip(_MARKS) for word in text.split()]
    for word in words:
        if word.endswith(".md") and stories.load(os.path.join(layout.root, word)):
            return word
    ids = [word for word in words if _is_id(word)]
    for path in _below_docs(layout) if ids else ():
        story = stories.load(path) if any(one in os.path.basename(path) for one in ids) else None
        if story and story.id in ids:
            return layout.shown(path)
    return ""


def _is_id(word: str) -> bool:
    """`4.2` or `PROJ-12`: what stories are called, and little else."""
    head, dot, tail = word.partition(".")
    if dot and head.isdecimal() and tail.replace(".", "").isdecimal():
        return True
    head, dash, tail = word.partition("-")
    return bool(dash) and head.isalpha() and head.isupper() and tail.isdecimal()


def _below_docs(layout: Layout) -> Iterator[str]:
    seen = 0
    for folder, inside, files in os.walk(os.path.join(layout.root, "docs")):
        inside.sort()
        for name in sorted(files):
            seen += 1
            if seen > _MOST_STORIES:
                return
            if name.endswith(".md"):
                yield os.path.join(folder, name)

"""Fill in what can be known about the work without anybody saying it."""

from __future__ import annotations

import os

from contextkit.base import git, markdown, names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any, Iterator
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.handoffs.flows import work

_NOT_KNOWN = "(not known: git did not answer)"
EDITED = "edited"  # a field with the files that a session edited, for where git does not answer


def fill(
    layout: Layout, fields: handoffs.Fields, since: str = ""
) -> tuple[handoffs.Fields, tuple[str, ...]]:
    """Return `fields` with branch, files and story filled in, and messages.

    Files are those changed `since` a moment (ISO, UTC). What was typed takes precedence.
    """
    filled = {name: value for name, value in fields.items() if value != ""}
    messages: list[str] = []
    # git inspects the work tree in the meantime; its output is read last.
    looking = work.looking(layout, since) if "files_modified" not in filled else None
    if "branch" not in filled:
        filled["branch"], doubt = _branch(layout)
        messages += doubt
    if filled.get("story_path"):
        filled, doubt = _from_story(layout, filled)
        messages += doubt
    action = names.one_line(filled.get("next_action", ""))
    if handoffs.sentences(action) != action:
        messages.append("next_action: has more than two sentences")
    if looking:
        files = _files(layout, looking.seen(), filled.get(EDITED, ()))
        left = len(files) - layout.limits.handoff_files + 1  # nobody typed them: no warning
        filled["files_modified"] = (*files[:-left], f"(+{left} more)") if left > 1 else files
    return filled, tuple(messages)


def _files(
    layout: Layout, changed: dict[str, str] | None, edited: tuple[str, ...]
) -> tuple[str, ...]:
    """What git saw, and what a session edited that git does not see but that exists."""
    seen = changed or {}
    paths = {entry: entry.rpartition(" (")[0] or entry for entry in edited}
    unseen = [entry for entry, path in paths.items()
              if path not in seen and os.path.isfile(layout.join(path))]  # fmt: skip
    if changed is None and not unseen:
        return (_NOT_KNOWN,)
    return (*(f"{path} ({state})" for path, state in seen.items()), *unseen)


def _branch(layout: Layout) -> tuple[str, list[str]]:
    """The branch, the commit of a detached HEAD, or '', and warnings."""
    if layout.repository is None:
        return "", ["branch: not in a git repository: left empty"]
    head = git.head(layout.repository)
    if head.branch:
        return head.branch, []
    short = head.commit[:12]
    return f"{short} (detached)", [f"branch: HEAD is detached at {short}: the commit is stored"]


def _from_story(layout: Layout, fields: handoffs.Fields) -> tuple[handoffs.Fields, list[str]]:
    """Make the story's path relative to the root, and add missing fields from its file."""
    typed = fields["story_path"]
    there = _story_file(layout, typed)
    if not there:
        shown = names.one_line(typed)
        return fields, [f"story_path: there is no file {shown[:200]!r} in the repository"]
    return {**(load_story(there) or {}), **fields, "story_path": layout.shown(there)}, []


# What a session did since its last switch, from its stores and its transcript


_MOST_DECISIONS = 3  # from the transcript, which tells the newest first


def since(layout: Layout, moment: str, transcript: str) -> handoffs.Fields:
    """Return the fields implied by the work since `moment` (ISO, UTC; '' for all of it).

    They come from the session's findings, the plan of its task and the end of the transcript.
    """
    fresh = _findings(layout, moment)
    decisions = [names.one_line(f"{finding.agent}: {finding.summary}") for finding in fresh]
    edited = [note.path for finding in fresh for note in finding.files]
    if transcript and os.path.isfile(transcript):
        from contextkit.memory.flows import transcripts

        caught = transcripts.catch_up(transcript, moment, layout.root, layout.limits)
        edited += [f"{path} (modified)" for path in caught.edited]
        decisions += reversed(caught.decisions[:_MOST_DECISIONS])
    filled: handoffs.Fields = {"decisions": tuple(dict.fromkeys(decisions))}
    filled[EDITED] = tuple(dict.fromkeys(edited))
    filled["current_task"] = current_step(layout)
    return {name: value for name, value in filled.items() if value}


def _findings(layout: Layout, moment: str) -> list[Any]:
    """The findings since `moment`."""
    if not os.path.isdir(layout.memory):
        return []
    from contextkit.memory.documents import findings, store

    return [finding for _, finding in findings.load_all(layout)
            if (store.utc(finding.timestamp) or finding.timestamp) >= moment]  # fmt: skip


def current_step(layout: Layout) -> str:
    """The step in progress in the plan of the current task, or else the plan's objective."""
    if not os.path.isdir(layout.memory):
        return ""
    from contextkit.memory.documents import plans, store

    task = store.current_task(layout)
    if not task:
        return ""
    plan = plans.of_task(layout, task)
    return names.one_line(next(iter(plan.in_progress), plan.objective))


# The story: read from a file of the host repository, never written


_MOST_STORIES = 2_000  # files below `docs` to search for a story id
_MARKS = ".,;:!?()[]{}<>\"'`"
_MOST_STORY_BYTES = 262_144  # bytes of a story to read
_KEYS = {"id": "story_id", "story_id": "story_id", "story": "story_id", "status": "story_status",
         "story_status": "story_status", "task": "current_task",
         "current_task": "current_task"}  # fmt: skip


def _story_file(layout: Layout, typed: str) -> str:
    """Resolve a typed path from the current directory or else the root; '' if there is no file."""
    for start in (layout.here, layout.root):
        path = os.path.join(start, typed)
        try:
            if "\0" not in path and os.path.isfile(path):
                return layout.typed(path, "story_path")
        except (ContextError, OSError, ValueError):
            continue
    return ""


def story_named(layout: Layout, text: str) -> str:
    """Return the path of the story that a prompt names by path or id, or ''."""
    words = [word.strip(_MARKS) for word in text.split()]
    for word in words:
        if word.endswith(".md") and load_story(os.path.join(layout.root, word)) is not None:
            return word
    ids = [word for word in words if _is_id(word)]
    for path in _below_docs(layout) if ids else ():
        name = os.path.basename(path)
        story = load_story(path) if any(map(name.__contains__, ids)) else None
        if story and story.get("story_id") in ids:
            return layout.shown(path)
    return ""


def _is_id(word: str) -> bool:
    """Whether a word looks like a story id: `4.2` or `PROJ-12`."""
    head, dot, tail = word.partition(".")
    if dot and head.isdecimal() and tail.replace(".", "").isdecimal():
        return True
    head, dash, tail = word.partition("-")
    is_key = head.isalpha() and head.isupper()
    return bool(dash) and is_key and tail.isdecimal()


def _below_docs(layout: Layout) -> Iterator[str]:
    seen = 0
    for folder, inside, there in os.walk(os.path.join(layout.root, "docs")):
        inside.sort()
        for name in sorted(there):
            seen += 1
            if seen > _MOST_STORIES:
                return
            if name.endswith(".md"):
                yield os.path.join(folder, name)


def load_story(path: str) -> handoffs.Fields | None:
    """Load a story from a file, or return None if the file cannot be read."""
    try:
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            return parse_story(file.read(_MOST_STORY_BYTES).decode("utf-8", "replace"))
    except (OSError, ValueError):
        return None


def parse_story(text: str) -> handoffs.Fields:
    """The fields that a story says, each as it is said first; front matter wins over headings.

    The values come from the front matter (`id: 1.2`, `status: Draft`) or from headings and lines
    (`# Story 1.2: Login`, `## Status`, `**Status:** Draft`, `- [ ] the next task`).
    """
    story: dict[str, str] = {}
    for field, value in (*_front_matter(text), *_headings(text)):
        value = names.one_line(value.strip().strip("*`\"'"))
        if value:
            story.setdefault(field, value)
    return story


def _front_matter(text: str) -> Iterator[tuple[str, str]]:
    first, *lines = text.removeprefix("\ufeff").split("\n")
    if first.rstrip() == "---":
        end = markdown.front_matter([first, *lines])  # a file cut short may have no end
        for line in lines[: end - 1] if end else lines:
            yield from _named(line)


def _headings(text: str) -> Iterator[tuple[str, str]]:
    waiting = ""  # the field named by the heading above
    for _, line in markdown.outside_fences(text.replace("\r\n", "\n")):
        bare = line.strip()
        order, title = markdown.heading(line)
        item = bare.removeprefix(markdown.mark_of(bare))
        if order:
            about = title.lower()
            waiting = "current_task" if "task" in about else ""
            waiting = "story_status" if about == "status" else waiting
            if about.startswith("story "):
                yield "story_id", title[6:].partition(":")[0]
        elif bare and waiting == "story_status":
            yield waiting, item
            waiting = ""
        elif item.startswith("[ ] ") and waiting == "current_task":
            yield waiting, item[4:]
        elif bare.startswith("**"):
            yield from _named(bare)


def _named(line: str) -> Iterator[tuple[str, str]]:
    """Parse `status: Draft`, `**Status:** Draft` or `**Status**: Draft`."""
    label, colon, rest = line.partition(":")
    field = _KEYS.get(label.strip("* ").lower().replace(" ", "_"))
    if colon and field:
        yield field, rest

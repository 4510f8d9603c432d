"""What can be known about the work without being told.

Handoffs and checkpoints start with it, so it runs git at most twice and writes no file.
(`changes.py` reports differences in more detail, but takes ten times as long.)
"""

from __future__ import annotations

import os
import time

from contextkit.base import addresses, formats, git, markdown, names, sessions, stores
from contextkit.base.errors import ContextError, remark
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any, Iterator

Fields = dict[str, Any]  # the values of a handoff by name
EDITED = "edited"  # a field with the files that a session edited, in case git does not answer
_NO_ANSWER = "(not known: git did not answer)"
_NO_REPOSITORY = "(not known: this is not a git repository)"
# Refs that a branch may have started from; the first that exists is used.
_BASES = ("remotes/origin/HEAD", "remotes/origin/main", "remotes/origin/master",
          "heads/main", "heads/master")  # fmt: skip
_STATES = {"A": "created", "?": "created", "D": "deleted"}
_MOST_COMMITS = 200
_AT_ONCE = 2  # seconds within which adopt wrote all its files


def seen(layout: Layout, since: str = "", head: str = "") -> dict[str, str] | None:
    """What happened to each file since a moment, newest first, without contextkit's own.

    `since` is ISO, UTC; '' means uncommitted changes and all commits of the branch, or session.
    `head` is the commit of that moment, to tell apart commits of the same second. None if git had
    no answer or ran out of time.
    """
    if layout.repository is None:
        return {}
    top, moment = layout.repository.top, names.moment(since)
    where = git.all_but(top, layout.ours)
    status = git.query(
        top, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--", *where
    )
    log = _commits(layout, where, moment, head)  # git works on both at the same time
    open_ones = _states(status.output().split("\0"))
    changed = {path: (_changed(top, path), state) for path, state in open_ones.items()}
    recent = {path: change for path, change in changed.items() if change[0] >= moment}
    committed = _net(log.output() if log else "")
    recent |= {path: change for path, change in committed.items() if path not in changed}
    if log and log.failed and head:  # it may be gone, after a rebase
        return seen(layout, since)
    if status.failed or (log and log.failed):
        return None
    adopted, order = _adopted(layout), sorted(recent.items(), key=lambda item: -item[1][0])
    states = {layout.shown(os.path.join(top, path)): state for path, (_, state) in order}
    return {path: state for path, state in states.items() if path not in adopted}


def _changed(top: str, path: str) -> int:
    """When a file was changed or moved by the tool's clock; of one that is gone, its folder."""
    place = os.path.join(top, path)
    while not os.path.lexists(place):
        place = os.path.dirname(place)
    status, now = os.lstat(place), time.time()
    moved = status.st_ctime if status.st_ctime <= now else 0.0  # in the future it says nothing
    return round(names.now() - max(0.0, now - max(status.st_mtime, moved)))


def _commits(layout: Layout, where: tuple[str, ...], since: int, taken: str) -> git.query | None:
    """The commits made here since a moment, when HEAD was `taken` ('' if unknown).

    On the default branch, those of the session, or of a day if its start is unknown. None if there
    cannot be any. Commits of others, pulled or merged, are left out.
    """
    assert layout.repository
    repository = layout.repository
    head = git.head(repository).commit
    commits = (git.commit_of(repository, f"refs/{name}") for name in _BASES)
    base = next((commit for commit in commits if commit), "")
    of_branch = f"{base}..HEAD" if base not in ("", head) else ""
    if not since and not of_branch:
        since = sessions.began(layout, sessions.find_current(layout))
        since = since or names.now() - names.seconds(layout.limits.payload_idle)
    first = since if taken else since + 1  # leaves out commits just before
    committers = git.movers(repository, first, taken) if since else None
    if committers is not None:
        of_branch = ""
    if not head or committers == set():
        return None
    after = (f"--since={first}",) if since else ()
    return git.query(
        repository.top, "log", f"-{_MOST_COMMITS}", "--no-show-signature", "--no-merges",
        "--format=%x01%ct", "--name-status", "-z", "--no-renames", "--no-ext-diff", "-O/dev/null",
        "--no-mailmap", "--fixed-strings", *(f"--committer=<{who}>" for who in committers or ()),
        *after, of_branch or "HEAD", *([f"^{taken}"] if taken else ()), "--", *where,
    )  # fmt: skip


def _net(log: str) -> dict[str, tuple[int, str]]:
    """The last commit time of each path and what became of it, newest first."""
    steps: dict[str, tuple[int, str, str]] = {}  # when it was last changed, how last, how first
    when, letter = 0, ""
    for word in (word.lstrip("\n") for word in log.split("\0")):
        if word.startswith("\x01"):
            when = int(word[1:])
        elif not letter:
            letter = word[:1]
        else:
            newest, last, _ = steps.get(word, (when, letter, ""))
            steps[word], letter = (newest, last, letter), ""
    return {path: (newest, "created" if first == "A" else _STATES.get(last, "modified"))
            for path, (newest, last, first) in steps.items()
            if (first, last) != ("A", "D")}  # fmt: skip


def _adopted(layout: Layout) -> frozenset[str]:
    """The files that adopt wrote here, unchanged since, relative to the root."""
    places = (".contextkit/adopted.json", "tools/contextkit/.adopted.json")
    files = set[str]()
    for path in filter(os.path.isfile, map(layout.join, places)):
        from contextkit.hosts.documents import vendored

        try:
            record = vendored.load(path)
        except ContextError:
            continue
        until = stores.modified(path) + _AT_ONCE
        named = (*record.files, *record.made, layout.shown(path))
        files |= {file for file in named if stores.modified(layout.join(file)) <= until}
    return frozenset(files)


def _states(words: list[str]) -> dict[str, str]:
    """What happened to each path, from the two letters before it in `git status`."""
    states: dict[str, str] = {}
    for letters, path in ((word[:2], word[3:]) for word in words if len(word) > 3):
        if letters == "AD":  # added and removed again
            continue
        if "U" in letters or path in states:  # a conflict, or removed from the index only
            states[path] = "modified"
        else:  # the work tree takes precedence over the index
            states[path] = next((_STATES[x] for x in reversed(letters) if x in _STATES), "modified")
    return states


def fill(layout: Layout, fields: Fields, since: str = "", head: str = "") -> Fields:
    """`fields`, with the branch, the files changed since a moment (see `seen`), and the story."""
    filled = {name: value for name, value in fields.items() if value != ""}
    if "branch" not in filled:
        there = git.head(layout.repository)
        short = there.commit[:12]
        filled["branch"] = there.branch or (f"{short} (detached)" if layout.repository else "")
        if layout.repository is None:
            remark("branch: not in a git repository: left empty")
        elif not there.branch:
            remark(f"branch: HEAD is detached at {short}: the commit is stored")
    if filled.get("story_path"):
        filled = _with_story(layout, filled)
    if "files_modified" not in filled:  # what git sees, and what a session edited unseen by git
        changed = seen(layout, since, head)
        paths = {entry: entry.rpartition(" (")[0] or entry for entry in filled.get(EDITED, ())}
        unseen = [entry for entry, path in paths.items()
                  if path not in (changed or {}) and os.path.isfile(layout.join(path))]  # fmt: skip
        told = (names.one_line(f"{path} ({state})") for path, state in (changed or {}).items())
        # An empty list says that nothing was changed, so what cannot be known has a line.
        lacks = _NO_REPOSITORY if layout.repository is None else _NO_ANSWER * (changed is None)
        files = tuple(filter(None, (*told, *unseen, lacks)))
        left = len(files) - layout.limits.handoff_files + 1  # they were not typed: no warning
        filled["files_modified"] = (*files[:-left], f"(+{left} more)") if left > 1 else files
    return filled


def _with_story(layout: Layout, fields: Fields) -> Fields:
    """Make the story's path relative to the root, and add missing fields from its file.

    A typed path begins in the current directory, or else in the root.
    """
    typed = fields["story_path"]
    for start in (layout.here, layout.root):
        path = os.path.join(start, typed)
        try:
            if "\0" not in path and os.path.isfile(path):
                there = layout.typed(path, "story_path")
                return {**(load_story(there) or {}), **fields, "story_path": layout.shown(there)}
        except (ContextError, OSError, ValueError):
            continue
    shown = names.one_line(typed)
    remark(f"story_path: there is no file {shown[:200]!r} in the repository")
    return fields


_MOST_DECISIONS = 3  # from the transcript, the newest first


def since(layout: Layout, moment: str, transcript: str) -> Fields:
    """The fields implied by the session's work since `moment` (ISO, UTC; '' for all of it)."""
    fresh: list[Any] = []
    if os.path.isdir(layout.memory):
        from contextkit.memory.documents import findings, store

        loaded = findings.load_all(layout).documents
        fresh = [f for f in loaded if (store.utc(f.timestamp) or f.timestamp) >= moment]
    decisions = [names.one_line(f"{finding.agent}: {finding.summary}") for finding in fresh]
    edited = [note.path for finding in fresh for note in finding.files]
    if transcript and os.path.isfile(transcript):
        from contextkit.memory.flows import transcripts

        caught = transcripts.catch_up(transcript, moment, layout.root, layout.limits)
        edited += [f"{path} (modified)" for path in caught.edited]
        decisions += reversed(caught.decisions[:_MOST_DECISIONS])
    filled = {"decisions": tuple(dict.fromkeys(decisions)), EDITED: tuple(dict.fromkeys(edited)),
              "current_task": current_step(layout)}  # fmt: skip
    return {name: value for name, value in filled.items() if value}


def current_step(layout: Layout) -> str:
    """The step in progress in the plan of the current task, or else the plan's objective."""
    if os.path.isdir(layout.memory):
        from contextkit.memory.documents import plans, store

        if task := store.current_task(layout):
            plan = plans.of_task(layout, task)
            return names.one_line(next(iter(plan.in_progress), plan.objective))
    return ""


_MOST_STORIES = 2_000  # below `docs` to search for a story id
_MARKS = ".,;:!?()[]{}<>\"'`"
_MOST_STORY_BYTES = 262_144  # bytes of a story to read
_KEYS = {"id": "story_id", "story_id": "story_id", "story": "story_id", "status": "story_status",
         "story_status": "story_status", "task": "current_task",
         "current_task": "current_task"}  # fmt: skip


def story_named(layout: Layout, text: str) -> str:
    """The path of the story that a prompt names by path or id, or ''."""
    words = [word.strip(_MARKS) for word in text.split()]
    for word in words:
        if word.endswith(".md") and load_story(os.path.join(layout.root, word)) is not None:
            return word
    ids = [word for word in words if _is_id(word)]
    files = addresses.walked(layout.join("docs"), ".md") if ids else ()
    for _, file in zip(range(_MOST_STORIES), files, strict=False):
        story = load_story(file.path) if any(map(file.name.__contains__, ids)) else None
        if story and story.get("story_id") in ids:
            return layout.shown(file.path)
    return ""


def _is_id(word: str) -> bool:
    """Whether a word looks like a story id: `4.2` or `PROJ-12`."""
    if "." in word:
        return word.replace(".", "").isdecimal() and word[0] != "."
    head, _, tail = word.partition("-")
    return head.isalpha() and head.isupper() and tail.isdecimal()


def load_story(path: str) -> Fields | None:
    """Load a story from a file, or return None if the file cannot be read."""
    text = formats.beginning(path, _MOST_STORY_BYTES).decode("utf-8", "replace")
    return parse_story(text) if os.path.isfile(path) else None


def parse_story(text: str) -> Fields:
    """The fields stated in a story, each at its first mention; front matter comes first.

    From front matter (`id: 1.2`) or from headings and lines (`# Story 1.2: Login`, `## Status`,
    `**Status:** Draft`, `- [ ] the next task`).
    """
    story: dict[str, str] = {}
    for field, value in _said(text):
        value = names.one_line(value.strip().strip("*`\"'"))
        if value:
            story.setdefault(field, value)
    return story


def _said(text: str) -> Iterator[tuple[str, str]]:
    """Each field of a story with its value: from front matter, then from headings and lines."""
    first, *lines = text.removeprefix("\ufeff").split("\n")
    if first.rstrip() == "---":
        end = markdown.front_matter([first, *lines])  # a file cut short may have no end
        for line in lines[: end - 1] if end else lines:
            yield from _named(line)
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

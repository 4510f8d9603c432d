"""The store of external memory: the folders, names, times and vocabulary that its documents share.

    <memory>/research_plans/{task}.md
    <memory>/findings/{agent}_{ts}.md           merged_{ts}.md
    <memory>/checkpoints/cp_{phase}_{ts}.json
    <memory>/context_snapshots/snap_{ts}.md
    <memory>/archive/{task}/…                   finished tasks, in the same folders

`{ts}` is UTC, as in `20251023T180500`; a second file in the same second gets the suffix `_2`.
"""

from __future__ import annotations

import os

from contextkit.base import files, names, sessions, shelf, stores
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Declaration
from contextkit.base.type_names import Any, Callable, Generic, T

PLANS, FINDINGS, CHECKPOINTS, SNAPSHOTS = KINDS = (
    "research_plans",
    "findings",
    "checkpoints",
    "context_snapshots",
)
PHASES = ("exploration", "planning", "implementation", "review")
_SESSIONS, _NOBODY = "sessions", "-"
STATES = ("phase", "agents")  # recorded state of a task beside its documents
_PHASES_ALIKE = {
    "explore exploring research researching discovery investigation investigate analysis":
        "exploration",
    "plan design designing architecture": "planning",
    "coding code implement implementing build building development developing dev fix fixing":
        "implementation",
    "reviewing test testing qa verify verification validation": "review",
}  # fmt: skip
MERGED = "merged"  # name prefix of merged files; no agent may be called this
_LONGEST = 100  # characters of an id, at most
_STAMP = len("20251023T180500")
# Names that some file systems treat as devices, with any extension.
_DEVICES = frozenset(
    ["con", "prn", "aux", "nul", *(f"{d}{n}" for d in ("com", "lpt") for n in range(1, 10))]
)


def check_task(task: str) -> str:
    """`task` if it is valid as a task id and file name. Raises ContextError otherwise."""
    if not names.safe(task) or len(task) > _LONGEST or _is_device(task):
        allowed = f"1 to {_LONGEST} of A-Z a-z 0-9 . _ -, neither . nor - first"
        raise bad_input(f"task: {task[:60]!r} must be {allowed}, and not a device such as nul")
    return task


def check_agent(agent: str) -> str:
    """An agent's name for use in a file name, odd characters as `-`. Raises ContextError."""
    made = names.dashed(agent)
    fine = 0 < len(agent) <= _LONGEST and agent.isprintable() and agent == agent.strip()
    is_hidden = made[:1] in (".", "-") or _is_device(made)
    if not fine or is_hidden or not {"/", "\\"}.isdisjoint(agent):
        begin = f"begin it with A-Z a-z 0-9 or _, without slashes, up to {_LONGEST} characters"
        raise bad_input(f"agent: {agent[:60]!r} cannot be the name of a file: {begin}")
    if made.lower() == MERGED:
        raise bad_input(f"agent: {MERGED!r} is the name of merged findings: choose another")
    return made


def _is_device(name: str) -> bool:
    return name.partition(".")[0].lower() in _DEVICES


def meant_phase(phase: str, field: str = "phase") -> str:
    """The phase that a typed word stands for. Raises ContextError if that is not clear."""
    return check_phase(names.meant_word(phase, PHASES, _PHASES_ALIKE, field), field)


def check_phase(phase: str, field: str = "phase") -> str:
    """`phase` if it is one of the four phases. Raises ContextError otherwise."""
    if phase not in PHASES:
        raise bad_input(f"{field}={phase[:60]}: must be one of {', '.join(PHASES)}")
    return phase


def check_tokens(typed: str) -> int:
    """The number of tokens in a text like `~150,000`. Raises ContextError for any other."""
    count = names.count(typed)
    if count is None:
        raise bad_input(f"tokens={typed[:40]}: must be a whole number")
    return count


def stamp(moment: int) -> str:
    """Format a time for a file name, as in `20251023T180500`."""
    return names.stamp(moment)[:-1]


def split_name(name: str) -> tuple[str, str, int]:
    """Split a file name into (subject, time or '', number within that second), from the right."""
    dot = name.rfind(".")
    stem = name[:dot] if dot > 0 else name
    of, _, last = stem.rpartition("_")
    number = 1
    if len(last) != _STAMP and names.is_whole(last):
        number = int(last[:9])
        of, _, last = of.rpartition("_")
    if not of or len(last) != _STAMP or names.shape(last) != "00000000T000000":
        return stem, "", 1
    return of, last, number


def utc(timestamp: str) -> str:
    """Normalize a timestamp to the form `2025-01-04T12:00:00Z`, for comparing; '' if invalid."""
    if names.shape(timestamp) == "0000-00-00T00:00:00Z":
        return timestamp
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(timestamp.strip())
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (ValueError, OverflowError):
        return ""


def folder(layout: Layout, kind: str) -> str:
    """Create the folder of a kind of document, hidden from git. Refuses symbolic links."""
    files.store(layout.memory)
    made = layout.memory_folder(kind)
    files.make_folder(made)
    return made


def paths(place: str, suffix: str, has: Callable[[str], bool] | None = None) -> list[str]:
    """The documents in a folder whose names it `has`, oldest first; [] if it is missing."""
    file_names = filter(has, stores.files_in(place, suffix))
    by_time = sorted(file_names, key=lambda name: (*split_name(name)[1:], name))
    return [f"{place}/{name}" for name in by_time]


class Kept(Declaration, Generic[T]):
    """The documents of one kind on disk: `save`, `load` and `load_all`."""

    kind: str
    parse: Callable[[str], T]
    render: Callable[[T], str]
    named: str  # its name before the time, with fields of the document
    graded: str = ""  # the field with its status, phase or reason
    stem: str = ""  # the field with the stem of its file
    dated: bool = False  # its time counts before that in its name
    has: Callable[[str], bool] | None = None  # whether a file of this name is one of these

    def of(self, document: T) -> str:
        """The task that a document belongs to, by id or in words."""
        words = (getattr(document, name, "") for name in ("task_id", "description", "task"))
        return next(filter(None, words), "")

    def state(self, document: T) -> str:
        """Its status, phase or reason; '' if it has none."""
        return getattr(document, self.graded, "")

    def save(self, layout: Layout, document: T, moment: int) -> str:
        """Save a new document as `{named}_{ts}`, never overwriting one; return its path."""
        place = folder(layout, self.kind)
        named = names.dashed(self.named.format(**vars(document)))
        for stem in files.numbered(f"{named}_{stamp(moment)}", mark="_"):
            name = stem + suffix(self.kind)
            path = os.path.join(place, name)
            # merged findings may cite one that is in the archive
            archives = (layout.memory_archive(task, self.kind) for task in archived(layout))
            if any(os.path.lexists(os.path.join(at, name)) for at in (place, *archives)):
                continue
            try:
                made: Any = document
                text = self.render(made.replace(**{self.stem: stem}) if self.stem else made)
                files.create(path, text, exact=True)
                shelf.stored(layout, path, text, agent=getattr(document, "agent", ""))
                break
            except FileExistsError:
                continue  # another process created it first
        return path

    def load(self, path: str) -> T:
        """Load one document. Raises ContextError, naming the path, if the file is another."""
        try:
            return self.parse(files.read(path))
        except ContextError as error:
            reason = str(error).removeprefix(f"{path}: ")
            raise type(error)(f"{path}: {reason}", error.status) from None

    def load_all(self, layout: Layout, task: str = "", place: str = "") -> stores.Loaded[T]:
        """(path, document) pairs of one task or all, oldest first; `place` may be an archive."""
        place = place or layout.memory_folder(self.kind)
        loaded = layout.load(paths(place, suffix(self.kind), self.has), self.load)
        mine = [pair for pair in loaded if task in ("", self.of(pair[1]))]
        if self.dated:
            mine.sort(key=lambda pair: str(getattr(pair[1], "timestamp", "")))  # stable: by name
        return stores.Loaded(mine, loaded.broken)


def suffix(kind: str) -> str:
    """The suffix of the files of a kind."""
    return ".json" if kind == CHECKPOINTS else ".md"


def archived(layout: Layout) -> list[str]:
    """The ids of tasks that have something in the archive."""
    return list(filter(names.safe, stores.names_in(layout.store("archived"))))


# State beside the documents: the current task of each session, and the phase of each task
#
#     .contextkit/memory/current             the task that was written about last, by anybody
#     .contextkit/memory/sessions/<session>  the task of a session; `-` for those that nobody named


def current_task(layout: Layout) -> str:
    """The task of this session: its own, or one that belongs to no other; '' if unknown."""
    tasks = candidates(layout)
    return tasks[0] if len(tasks) == 1 else ""


def candidates(layout: Layout, starts: bool = False) -> list[str]:
    """The tasks that may be this session's: its own, or nobody's; if it `starts`, anybody's."""
    own = _owner(layout)
    owners = task_owners(layout)
    if own in owners:
        return [owners[own]]
    shared = _task_in(layout.memory_state("current"))
    others = {task for owner, task in owners.items() if owner != _NOBODY}
    if own == _NOBODY or starts:
        tasks = [shared, *sorted(others)] if starts and own != _NOBODY else [shared]
    else:
        tasks = [owners.get(_NOBODY, ""), "" if shared in others else shared]
    return [task for task in dict.fromkeys(tasks) if task]


def task_owners(layout: Layout) -> dict[str, str]:
    """The task that each session worked on last."""
    place = layout.memory_state(_SESSIONS)
    there = stores.names_in(place)
    owners = [name for name in there if name == _NOBODY or sessions.is_name(name)]
    tasks = {name: _task_in(os.path.join(place, name)) for name in owners}
    return {name: task for name, task in tasks.items() if task}


def own_task(layout: Layout, session: str) -> str:
    """The task that a session itself worked on last, or ''."""
    return _task_in(layout.memory_state(f"{_SESSIONS}/{_owner(layout, session)}"))


def _owner(layout: Layout, session: str = "") -> str:
    return sessions.key(session or sessions.find_current(layout)) or _NOBODY


def _task_in(path: str) -> str:
    task = files.first_line(path)
    return task if names.safe(task) else ""


def current_phase(layout: Layout, task: str) -> str:
    """The recorded phase of a task, or ''."""
    phase = files.first_line(layout.memory_state(f"{task}.phase"))
    return phase if phase in PHASES else ""


def record(layout: Layout, task: str, phase: str = "") -> None:
    """Make `task` the current one of this session, and `phase` its phase if given."""
    own = f"{_SESSIONS}/{_owner(layout)}"
    for name, text in (("current", task), (own, task), (f"{task}.phase", phase)):
        path = layout.memory_state(name)
        if text and files.first_line(path) != text:
            files.write(path, text + "\n")


def take_up(layout: Layout, task: str) -> None:
    """Make `task` that of this session, if the session has a name and the store is writable."""
    own = _owner(layout)
    path = layout.memory_state(f"{_SESSIONS}/{own}")
    if own != _NOBODY and files.first_line(path) != task:
        try:
            files.write(path, task + "\n", derived=True)
        except (OSError, ContextError):
            return


def forget(layout: Layout, task: str) -> None:
    """Remove the recorded state of an archived task, also as the current one of sessions."""
    stale = [f"{task}.{kind}" for kind in STATES]
    stale += [f"{_SESSIONS}/{owner}" for owner, of in task_owners(layout).items() if of == task]
    stale += ["current"] if _task_in(layout.memory_state("current")) == task else []
    for name in stale:
        files.discard(layout.memory_state(name))

"""What is known about the work without anybody saying it.

fill          branch, files, story and open verdicts, for whoever writes an artifact by hand
since         what a session did since its last switch, for an artifact that nobody writes: from
              its findings, the plan of its task and the end of the host's transcript. git is not
              asked: this is on the way of a hook
story_named   the story that a prompt names

    work = autofill.looking(layout)           git is asked, and works while this process goes on
    work.seen()                               `src/app.py (modified)` of each file

Two questions to git at most, and no file is written: `fill` is on the way of every hand-over.
(`changes.py` tells more of a difference, and takes ten times as long.)
"""

from __future__ import annotations

import os

from contextkit.base import git, names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.handoffs.documents import fitting

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from contextkit.base.git import Repository, asked
    from contextkit.handoffs.documents.fields import Fields


_SENTENCES = 2  # of a next_action, from which on it is said


def fill(layout: Layout, fields: Fields) -> tuple[Fields, tuple[str, ...]]:
    """`fields` with what can be known added: branch, files, story, blockers; what to say of it.

    What was said by hand wins, also an empty list.
    """
    filled = {name: value for name, value in fields.items() if value != ""}
    said: list[str] = []
    # git looks at the work tree while the rest is found out: its answer is read last.
    work = looking(layout) if "files_modified" not in filled else None
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
    if work:
        filled["files_modified"] = _at_most(work.seen(), layout.limits.handoff_files)
    return filled, tuple(said)


def _at_most(found: tuple[str, ...], most: int) -> tuple[str, ...]:
    """What was found, as far as it fits; what nobody said by hand is not a reason to warn."""
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


# The files that were worked on: asked of git


# What a branch may have been made from, the first that exists.
_BASES = ("remotes/origin/HEAD", "remotes/origin/main", "remotes/origin/master",
          "heads/main", "heads/master")  # fmt: skip
NOT_KNOWN = "(not known: git was not asked)"
_STATES = {"A": "created", "?": "created", "D": "deleted"}


class looking:
    """Git at work on what differs in a work tree, our own documents left out."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._status = self._diff = None
        if layout.repository:
            where = git.all_but(layout.repository.top, layout.ours)
            self._status = _uncommitted(layout.repository, where)
            self._diff = _of_branch(layout.repository, where)

    def seen(self) -> tuple[str, ...]:
        """A line of each file, first what is not committed; paths are relative to the root.

        Where git could not be asked, as in a hook, one line says that: it is not the same as none.
        """
        words = self._status.output().split("\0") if self._status else []
        found = _states([(word[:2], word[3:]) for word in words if len(word) > 3])
        words = self._diff.output().split("\0") if self._diff else []
        for letter, path in zip(words[::2], words[1::2], strict=False):
            found.setdefault(path, _STATES.get(letter[:1], "modified"))
        if self._status and self._status.failed:
            return (NOT_KNOWN,)
        return tuple(f"{self._shown(path)} ({state})" for path, state in found.items())

    def _shown(self, path: str) -> str:
        repository = self._layout.repository
        if repository and repository.top != self._layout.root:  # git's are relative to its top
            path = self._layout.shown(os.path.join(repository.top, path))
        return names.one_line(path)


def _uncommitted(repository: Repository, where: tuple[str, ...]) -> asked:
    return git.asked(
        repository.top, "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames",
        "--", *where,
    )  # fmt: skip


def _of_branch(repository: Repository, where: tuple[str, ...]) -> asked | None:
    """What differs from where the branch began; None where there is nothing to ask."""
    head = git.head(repository).commit
    commits = (git.commit_of(repository, f"refs/{name}") for name in _BASES)
    base = next((commit for commit in commits if commit), "")
    if not head or base in ("", head):
        return None
    return git.asked(
        repository.top, "diff", "--merge-base", "--name-status", "-z", "--no-renames",
        "--no-ext-diff", "-O/dev/null", base, "--", *where,
    )  # fmt: skip


def _states(rows: list[tuple[str, str]]) -> dict[str, str]:
    """What happened to each path, from the two letters that `git status` has for it."""
    found: dict[str, str] = {}
    for letters, path in rows:
        if letters == "AD":  # added and gone again
            continue
        if "U" in letters or path in found:  # a conflict; taken out of the index, but still there
            found[path] = "modified"
        else:  # what the work tree says comes before what the index says
            found[path] = next((_STATES[x] for x in reversed(letters) if x in _STATES), "modified")
    return found


# What a session did since its last switch: asked of its stores and its transcript


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
    from contextkit.handoffs.documents import stories

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

"""The files worked on, according to git.

    looking = work.looking(layout, since)    start git; it runs while this process goes on
    looking.seen()                           {"src/app.py": "modified"}

Handoffs and checkpoints start with it, so it runs git at most twice and writes no file.
(`changes.py` reports differences in more detail, but takes ten times as long.)
"""

from __future__ import annotations

import os
import time

from contextkit.base import git, names, sessions
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout

# Refs that a branch may have started from; the first that exists is used.
_BASES = ("remotes/origin/HEAD", "remotes/origin/main", "remotes/origin/master",
          "heads/main", "heads/master")  # fmt: skip
_STATES = {"A": "created", "?": "created", "D": "deleted"}
_MOST_COMMITS = 200
_AT_ONCE = 2  # seconds within which adopt has written its files


class looking:
    """git, listing in the background what has changed since a moment, without contextkit's files.

    `since` is ISO, UTC; without it, everything that is not committed and all of the branch, or of
    the session where there is none.
    """

    def __init__(self, layout: Layout, since: str = "") -> None:
        self._layout = layout
        self._since = names.moment(since)
        self._status = self._log = None
        if layout.repository:
            where = git.all_but(layout.repository.top, layout.ours)
            self._status = git.query(
                layout.repository.top, "status", "--porcelain=v1", "-z", "--untracked-files=all",
                "--no-renames", "--", *where,
            )  # fmt: skip
            self._log = _commits(layout, where, self._since)

    def seen(self) -> dict[str, str] | None:
        """What happened to each file, newest first; paths are relative to the root.

        None if git could not be run, or had no time in a hook: that is different from no files.
        """
        words = self._status.output().split("\0") if self._status else []
        open_ones = _states([(word[:2], word[3:]) for word in words if len(word) > 3])
        changed = {path: (self._changed(path), state) for path, state in open_ones.items()}
        recent = {path: change for path, change in changed.items() if change[0] >= self._since}
        committed = _net(self._log.output() if self._log else "")
        recent |= {path: change for path, change in committed.items() if path not in changed}
        if self._status and self._status.failed:
            return None
        adopted = _adopted(self._layout)
        order = sorted(recent.items(), key=lambda item: -item[1][0])
        shown = ((self._shown(path), state) for path, (_, state) in order)
        return {path: state for path, state in shown if path not in adopted}

    def _changed(self, path: str) -> int:
        """When a file was changed by the tool's clock; of one that is gone, when its folder was."""
        assert self._layout.repository
        place = os.path.join(self._layout.repository.top, path)
        while not os.path.lexists(place):
            place = os.path.dirname(place)
        return round(names.now() - max(0.0, time.time() - os.lstat(place).st_mtime))

    def _shown(self, path: str) -> str:
        repository = self._layout.repository
        if repository and repository.top != self._layout.root:  # git's are relative to its top
            path = self._layout.shown(os.path.join(repository.top, path))
        return names.one_line(path)


def _commits(layout: Layout, where: tuple[str, ...], since: int) -> git.query | None:
    """The commits of those who work here since a moment; without one, those of the branch.

    Where there is no branch to compare, as on the default one, those of the session, or of a day if
    nobody knows when it began. None if there cannot be any. Others' commits, pulled or merged, are
    left out; a merge itself is not looked at.
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
    committers = git.movers(repository, since) if since else None
    if committers is not None:
        of_branch = ""
    nothing_to_compare = not (since or of_branch)
    if not head or committers == set() or nothing_to_compare:
        return None
    after = (f"--since={since + 1}",) if since else ()  # not what was committed just before
    return git.query(
        repository.top, "log", f"-{_MOST_COMMITS}", "--no-show-signature", "--no-merges",
        "--format=%x01%ct", "--name-status", "-z", "--no-renames", "--no-ext-diff", "-O/dev/null",
        "--no-mailmap", "--fixed-strings", *(f"--committer=<{who}>" for who in committers or ()),
        *after, of_branch or "HEAD", "--", *where,
    )  # fmt: skip


def _net(log: str) -> dict[str, tuple[int, str]]:
    """When each path was last committed and what became of it, newest first."""
    steps: dict[str, list[tuple[int, str]]] = {}
    when, letter = 0, ""
    for word in (word.lstrip("\n") for word in log.split("\0")):
        if word.startswith("\x01"):
            when = int(word[1:])
        elif not letter:
            letter = word[:1]
        else:
            steps.setdefault(word, []).append((when, letter))
            letter = ""
    net = {}
    for path, history in steps.items():
        (newest, last), (_, first) = history[0], history[-1]
        if (first, last) != ("A", "D"):
            net[path] = newest, "created" if first == "A" else _STATES.get(last, "modified")
    return net


def _adopted(layout: Layout) -> frozenset[str]:
    """The files that adopt wrote here and nobody has touched since, relative to the root."""
    places = (".contextkit/adopted.json", "tools/contextkit/.adopted.json")
    there = [path for path in map(layout.join, places) if os.path.isfile(path)]
    files = set()
    for path in there:
        from contextkit.hosts.documents import vendored

        try:
            record = vendored.load(path)
        except ContextError:
            continue
        until = os.stat(path).st_mtime + _AT_ONCE
        files |= {file for file in (*record.files, *record.made, layout.shown(path))
                  if os.path.isfile(layout.join(file))
                  and os.stat(layout.join(file)).st_mtime <= until}  # fmt: skip
    return frozenset(files)


def _states(rows: list[tuple[str, str]]) -> dict[str, str]:
    """What happened to each path, from the two letters of `git status`."""
    states: dict[str, str] = {}
    for letters, path in rows:
        if letters == "AD":  # added and removed again
            continue
        if "U" in letters or path in states:  # a conflict, or removed from the index only
            states[path] = "modified"
        else:  # the work tree takes precedence over the index
            states[path] = next((_STATES[x] for x in reversed(letters) if x in _STATES), "modified")
    return states

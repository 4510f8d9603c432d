"""Where the user stands: what commands and paths need to work from there, and who has the rest.

A user stands in the current directory, or after `make -C` where make was called.
"""

from __future__ import annotations

import os

from contextkit.base import git, names, outgoing
from contextkit.base.commands import Arguments, Option
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any, Iterable, Iterator, Mapping

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # that make reads by itself
_MOST_READ = 50_000  # characters of an answer to look for paths in
_PLACE = ":0123456789-"  # a line, after a path
_NAMES = ("ref", "run", "agent", "id")  # options that name one document
# The kinds of document that each program is about, by what is said if there is none.
_KINDS: dict[str, dict[str, tuple[str, ...]]] = {
    "capsule": {"nothing": ("capsule",)}, "handoff": {"nothing": ("handoff",)},
    "payload_store": {"nothing": ("payload",)}, "remember_later": {"nothing": ("reminder",)},
    "verdict": {"nothing": ("run", "verdict")},
    "context": {"nothing": ("",), "no task": ("plan", "checkpoint"), "no handoff": ("handoff",)},
}  # fmt: skip

printed: list[str] = []  # what was printed
away: Layout | None = None  # set if the user does not stand in the root
by_make = False  # the call comes from make, or from `contextkit TARGET` in its place


def begin(program: str) -> str:
    """Forget the last call; return the name of what the user called now: a target or `program`."""
    global by_make, away
    by_make, away, outgoing.call = "CONTEXTKIT_GIVEN" in os.environ, None, ""
    printed.clear()
    goals = os.environ.get("CONTEXTKIT_GOALS", "").split() if by_make else []
    return goals[0] if len(goals) == 1 else program


def take(layout: Layout, options: Iterable[Option], args: Arguments) -> None:
    """Note where the user stands and how our targets are called from there.

    The paths in lists, which documents hold, become relative to the root. Not needed for a script
    that is called in the root.
    """
    global away
    for option in options:
        if option.kind == "paths":
            items = vars(args)[option.name]
            setattr(args, option.name, tuple(_from_root(layout, item) for item in items))
    read = os.environ.get("CONTEXTKIT_MAKEFILES", "Makefile").split() if by_make else []
    is_default = not by_make or any(name in _MAKEFILES for name in read)
    makefile = "" if is_default else _first_file(read)
    stands = _place(layout)
    is_away = stands != layout.root
    away = layout if is_away and not vars(args).get("worktree") else None
    if not is_away and not makefile:
        return
    is_adopted = not by_make and _has_makefile(layout.root) and not _has_makefile(stands)
    folder = layout.root if is_adopted else layout.here if by_make else stands
    at = "" if folder == stands else f" -sC {names.word(os.path.relpath(folder, stands))}"
    outgoing.call = f"make{at}" + (f" -f {names.word(makefile)}" if makefile else "")


def _first_file(words: list[str]) -> str:
    """The first file in a list of paths as words; a path with blanks is several."""
    paths = (" ".join(words[:end]) for end in range(1, len(words) + 1))
    return next(filter(os.path.isfile, paths), "")


def _from_root(layout: Layout, item: str) -> str:
    """An item of a list of paths: what was typed here is relative to the root, as is the rest."""
    path = names.path_of(item)
    bases = (layout.here, layout.root, _place(layout)) if path and "\0" not in path else ()
    places = [os.path.normpath(os.path.join(base, path)) for base in bases]
    near = [place for place in places if os.path.isdir(os.path.dirname(place))]
    there = [*filter(os.path.lexists, places), *(near if names.is_path(item) else ())]
    is_ours = there and there[0].startswith(f"{layout.root}/")
    return item.replace(path, layout.shown(there[0]), 1) if is_ours else item


def _place(layout: Layout) -> str:
    """The folder where the user stands."""
    called_in = os.environ.get("PWD", "") if by_make else ""
    real = os.path.realpath(called_in) if called_in.startswith("/") else ""
    return real if f"{real}/".startswith(f"{layout.root}/") else os.path.realpath(layout.here)


def _has_makefile(folder: str) -> bool:
    return any(os.path.isfile(os.path.join(folder, name)) for name in _MAKEFILES)


def reached(path: str) -> str:
    """A path as typed, or as we printed it; see `Layout.reached`."""
    return away.reached(path) if away else path


def where() -> str:
    """What paths are relative to, if some that were printed are only found from the root; else ''.

    Nothing if the root was printed too.
    """
    text, layout = "\n".join(printed)[:_MOST_READ], away
    if layout is None or layout.root in text:
        return ""
    from contextkit.base import addresses

    stands = _place(layout)
    for word in addresses.words_in(text):
        path = word.rpartition("=")[2].rstrip(_PLACE) if "/" in word else ""
        is_there = path and os.path.lexists(layout.join(path))
        if is_there and not os.path.lexists(os.path.join(stands, path)):
            return f"paths are relative to {layout.root}"
    return ""


def worktrees(layout: Layout) -> Iterator[tuple[str, Layout]]:
    """The other worktrees of the repository, each with its branch or else its path."""
    repository = layout.repository
    if repository and os.path.isdir(os.path.join(repository.common, "worktrees")):
        for top, branch in git.worktrees(repository).items():
            if os.path.realpath(top) != layout.root:
                try:
                    yield branch or top, Layout(top)
                except ContextError:
                    continue  # its settings are refused: it says so itself


def elsewhere(layout: Layout, program: str, typed: Mapping[str, Any], status: int = 1) -> str:
    """Which worktree has what a program did not find here: the document that was named, or any.

    Empty if none has it, if nothing was named and every kind is here, or after bad input.
    """
    named = next((str(typed[name]) for name in _NAMES if typed.get(name)), "")
    named = named.rpartition("@stored:")[2].strip()
    groups = _KINDS.get(program, {}) if named or status == 1 else {}
    is_any = named in ("", "latest")
    for branch, other in worktrees(layout) if groups else ():
        for lacking, kinds in groups.items():
            if is_any and any(_has(layout, kind) for kind in kinds):
                continue
            if any(_has(other, kind, "" if is_any else named) for kind in kinds):
                what = f"{lacking} is stored here, but" if is_any else "it is"
                return f"{what} on {names.one_line(branch)}: add root={names.word(other.root)}"
    return ""


def _has(layout: Layout, kind: str, named: str = "") -> bool:
    """Whether there is a document of a kind, or the one named by its address or part of it."""
    from contextkit.base import addresses

    try:
        if named:
            return bool(addresses.find(layout, named, kind))
        return next(addresses.listed(layout, kind), None) is not None
    except ContextError:
        return False

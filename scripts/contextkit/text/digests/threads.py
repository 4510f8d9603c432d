"""A dump of threads (Go, Java, gdb): how many are in which state, and where in the user's code."""

from __future__ import annotations

from contextkit.base.type_names import Iterator
from contextkit.text.digests.lines import Lines
from contextkit.text.digests.reading import Unit
from contextkit.text.patterns import Pattern

_HEAD = Pattern(
    r"goroutine \d+ [^\[]{0,80}\[(?P<go>[^\],]+)[^\]]*\]:$|\"(?P<name>[^\"]+)\" .*\b[nt]id=0x"
    r"|(?P<gdb>Thread \d+) \((?:Thread|LWP) .*\):$"
)
_BEGINS = ("g", '"', "T")  # with which one does
_STATE = Pattern(r"\s+java\.lang\.Thread\.State: (\w+)")
_FRAME = Pattern(
    r"\t(?P<go>\S+\.go:\d+)\b|\s+at (?P<java>[\w.$<>]+)\((?P<file>[\w$]+\.\w+:\d+)\)"
    r"|#\d+ .{0,40}? in (?P<gdb>\S+) \(.*\) at (?P<at>\S+:\d+)$"
)
_THEIRS = Pattern(
    r"/usr/|/src/(?:runtime|sync|net|internal|os|io|time|syscall|testing|context|bufio)/|/pkg/mod/"
    r"|(?:java|javax|jdk|sun|kotlin|scala)\.|\.\./|\./"
)
_FEW = 3  # threads that are no dump
_NAMED = 4  # names of threads in one place


def units(text: Lines) -> tuple[list[Unit], set[int]]:
    """A statement for each place and state, most threads first; the lines of the dump, from 0."""
    heads = [at for at, line in enumerate(text.all) if line[:1] in _BEGINS and _HEAD.match(line)]
    if len(heads) < _FEW:
        return [], set()
    told: set[int] = set()
    places: dict[str, list[tuple[int, str]]] = {}
    for at in heads:
        block = list(_block(text, at))
        told.update(block)
        name, said = _thread(text, block)
        places.setdefault(said, []).append((at, name))
    order = sorted(places.items(), key=lambda one: (not one[0].endswith(")"), -len(one[1])))
    return [_unit(said, threads) for said, threads in order], told


def _block(text: Lines, at: int) -> Iterator[int]:
    """The lines of the thread that begins at a line."""
    yield at
    for number in text.below(at):
        if not text.all[number].strip():
            return
        yield number


def _thread(text: Lines, block: list[int]) -> tuple[str, str]:
    """The name of a thread, if it has one, and its state and place."""
    lines = [text.all[number] for number in block]
    head = _HEAD.match(lines[0])
    assert head
    states = (found[1] for line in lines[1:3] if (found := _STATE.match(line)))
    state = head["go"] or next(states, "")
    where = next(_own(lines), "in libraries")
    return head["name"] or "", f"{state} {where}".strip()


def _own(lines: list[str]) -> Iterator[str]:
    """The frames in the user's own code, the innermost first, each with its place."""
    for number, line in enumerate(lines):
        if not (found := _FRAME.match(line)):
            continue
        name, place = found["java"] or found["gdb"] or "", found["file"] or found["at"]
        if found["go"]:
            name, place = lines[number - 1].rpartition("(")[0], found["go"]
        if name and not (_THEIRS.search(place) or _THEIRS.match(name)):
            yield f"{name} ({place})"


def _unit(said: str, threads: list[tuple[int, str]]) -> Unit:
    names = [name for _, name in threads if name]
    shown = ", ".join(names) if 0 < len(names) <= _NAMED else str(len(threads))
    rank, weight = (3, 2.0) if said.endswith(")") else (0, 0.5)
    return Unit(threads[0][0] + 1, "threads", f"{shown}: {said}", weight, rank, "threads",
                derived=True, times=len(threads))  # fmt: skip

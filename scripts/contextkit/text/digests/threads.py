"""A dump of threads (Go, Java, Python, gdb): how many are in which state, and where they wait."""

from __future__ import annotations

from contextkit.base.type_names import Iterator
from contextkit.text.digests.lines import Lines
from contextkit.text.digests.reading import Unit
from contextkit.text.patterns import Pattern

_HEAD = Pattern(
    r"goroutine \d+ [^\[]{0,80}\[(?P<go>[^\],]+)[^\]]*\]:$|\"(?P<name>[^\"]+)\" .*\b[nt]id=0x"
    r"|(?P<gdb>Thread \d+) \((?:Thread|LWP) .*\):$"
    r"|Thread (?:\d+|0x[\da-f]+) \((?:most recent call first|(?P<py>[^)]+))\):?"
    r" *(?:\"(?P<called>[^\"]+)\")?$"
)
_BEGINS = ("g", '"', "T")  # with which one does
_STATE = Pattern(r"\s+java\.lang\.Thread\.State: (\w+)")
_FRAME = Pattern(
    r"\t(?P<go>\S+\.go:\d+)\b|\s+at (?P<java>[\w.$<>]+)\((?P<file>[\w$]+\.\w+:\d+)\)"
    r"|\s+(?P<py>[\w.<>]+) \((?P<line>[^()\s]+\.py:\d+)\)$"
    r"|\s+File \"(?P<path>[^\"]+)\", line (?P<number>\d+) in (?P<called>\S+)$"
    r"|#\d+ +(?:0x[\da-f]+ in )?(?P<gdb>\S+) \(.*\) at (?P<at>\S+:\d+)$"
)
_THEIRS = Pattern(
    r"/usr/|/src/(?:runtime|sync|net|internal|os|io|time|syscall|testing|context|bufio)/|/pkg/mod/"
    r"|/lib/python\d|(?:java|javax|jdk|sun|kotlin|scala)\.|\.\./|\./"
    r"|^(?:threading|queue|selectors|socket|ssl|subprocess|asyncio/.*|concurrent/.*"
    r"|multiprocessing/.*|<frozen.*)\.py:"
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
        name, state = _thread(text, block)
        places.setdefault(state, []).append((at, name))
    order = sorted(places.items(), key=lambda one: (not one[0].endswith(")"), -len(one[1])))
    return [_unit(state, threads) for state, threads in order], told


def _block(text: Lines, at: int) -> Iterator[int]:
    """The lines of the thread that begins at a line."""
    yield at
    for number in text.below(at):
        line = text.all[number]
        if not line.strip() or (line[0] in _BEGINS and _HEAD.match(line)):
            return
        yield number


def _thread(text: Lines, block: list[int]) -> tuple[str, str]:
    """The name of a thread, if it has one, and its state and place."""
    lines = [text.all[number] for number in block]
    head = _HEAD.match(lines[0])
    assert head
    states = (match[1] for line in lines[1:3] if (match := _STATE.match(line)))
    state = head["go"] or next(states, "") or (head["py"] or "").partition(",")[0]
    where = next(_own(lines), "in libraries")
    name = head["name"] or head["called"] or ""
    return name, f"{state} {where}".strip()


def _own(lines: list[str]) -> Iterator[str]:
    """The frames in the user's own code, the innermost first, each with its place."""
    for number, line in enumerate(lines):
        if not (frame := _FRAME.match(line)):
            continue
        name = frame["java"] or frame["gdb"] or frame["py"] or frame["called"] or ""
        place = frame["file"] or frame["at"] or frame["line"] or ""
        if frame["path"]:
            place = f"{frame['path']}:{frame['number']}"
        elif frame["go"]:
            name, place = lines[number - 1].rpartition("(")[0], frame["go"]
        if name and not (_THEIRS.search(place) or _THEIRS.match(name)):
            yield f"{name} ({place})"


def _unit(said: str, threads: list[tuple[int, str]]) -> Unit:
    names = [name for _, name in threads if name]
    shown = ", ".join(names) if 0 < len(names) <= _NAMED else str(len(threads))
    rank, weight = (3, 2.0) if said.endswith(")") else (0, 0.5)
    return Unit(threads[0][0] + 1, "threads", f"{shown}: {said}", weight, rank, "threads",
                derived=True, times=len(threads))  # fmt: skip

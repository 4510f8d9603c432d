"""A stack trace: what was raised, where, and through which calls."""

from __future__ import annotations

from contextkit.text.digests.reading import Pattern, Unit, clause

_RAISED = Pattern(
    r"^(?:[\w.$]*(?:Error|Exception|Warning|Exit|Interrupt|Panic|Fault)\b(?::.*)?"
    r"|Exception in thread .*|Caused by: .*|panic: .*|thread '.*' panicked at .*|fatal error: .*"
    r"|Uncaught .*|Unhandled .*)$"
)
_FRAME = Pattern(
    r'^\s*(?:File "[^"]+", line \d+.*|at [\w.$<>\[\] /@-]+ ?\(.*\)|at \S+:\d+(?::\d+)?'
    r"|\d+: +0x\w+ .*|\d+: [\w:<>]+$|\S+\.\w+:\d+ \+0x\w+|\S+\.(?:rb|go|rs|php):\d+.*|#\d+ .*)$"
)
_THEIRS = Pattern(
    r"site-packages|node_modules|/usr/lib|\bjava\.|\bsun\.|node:internal|<frozen|/rustc/"
)
_SIGNS = ("Traceback", "Error", "Exception", "panic", "Caused by", "Uncaught", "Unhandled")
_LINKS = Pattern(r"^(?:During handling|The above exception)")


def confidence(text: str) -> int:
    """By the share of lines that are frames."""
    if not any(mark in text[:20_000] for mark in _SIGNS):
        return 0
    lines = [line for line in text[:20_000].split("\n") if line.strip()]
    frames = sum(bool(_FRAME.match(line)) for line in lines)
    if not frames or frames * 4 < len(lines):
        return 0
    return 90 if any(_RAISED.match(line.strip()) for line in lines) else 0


def units(text: str) -> list[Unit]:
    """Each error with its innermost frame of the user's own code, then the other frames."""
    found: list[Unit] = []
    frames: list[tuple[int, str]] = []
    before = False  # in Python's traces, the frames come before the error
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        bare = line.strip()
        if _FRAME.match(line):
            code = lines[number].strip() if number < len(lines) and bare.startswith("File ") else ""
            plain = code and not _FRAME.match(lines[number]) and not _RAISED.match(code)
            frames.append((number, f"{bare}: {code}" if plain else bare))
        elif bare.startswith("Traceback "):
            before = True
            found += _of(frames, not before)
            frames = []
        elif _RAISED.match(bare):
            if not before:
                found += _of(frames, False)
                frames = []
            said = clause(bare, 400) or bare[:400]
            found.append(Unit(number, "raised", said, 3.0, 1, "errors", key=True))
            if before:
                found += _of(frames, True)
                frames = []
        elif _LINKS.match(bare):
            found.append(Unit(number, "then", bare, 0.8))
    return found + _of(frames, before)


def _of(frames: list[tuple[int, str]], innermost_last: bool) -> list[Unit]:
    """The innermost frame of the user's own code is required; optional: the outermost, the rest."""
    if not frames:
        return []
    inward = frames[::-1] if innermost_last else frames
    own = next((frame for frame in inward if not _THEIRS.search(frame[1])), inward[0])
    units = [Unit(own[0], "at", clause(own[1], 240) or own[1][:240], 2.0, 2, "frames")]
    for depth, (number, said) in enumerate(inward):
        if number != own[0]:
            weight = 0.3 if _THEIRS.search(said) else 1.0 / (1 + depth / 4)
            units.append(Unit(number, "through", clause(said, 200) or said[:200], weight))
    return units

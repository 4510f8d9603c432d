"""make bench what=run: what our wrapper takes of its own once a command has ended, for 1 MB.

Each text comes slowly, in two seconds, quickly, in a fifth of a second, and at once. `wall` is from
the command's last act to the end of the wrapper, `CPU` the time after that act on all cores, where
a second process helps to read, and `whole` the time on them in all; medians, in milliseconds,
beside a bare start of the same minute. `over` is a wall above the limit; it says nothing of ours on
a machine with more to do than it has cores: that is `busy`.
"""

from __future__ import annotations

import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from measure import BARE, QUIET
from payload_cases import reports
from places import SCRIPTS, prepare

ROUNDS = int(os.environ.get("ROUNDS", "7"))
SIZE = 1 << 20
SLOWLY, QUICKLY, PIECES = 2.0, 0.2, 64
LIMIT = 100  # ms of wall after the end
# What prints the text in pieces; it notes when it ends, and what was spent until then.
EMITTER = """\
import os, sys, time
text = open(sys.argv[1], "rb").read()
pieces, pause = int(sys.argv[2]), float(sys.argv[3])
step = len(text) // pieces + 1
for at in range(0, len(text), step):
    time.sleep(pause)
    part = memoryview(text)[at : at + step]
    while part:
        part = part[os.write(1, part) :]
used = os.times()
parent = open(f"/proc/{os.getppid()}/schedstat").read().split()[0]
with open(sys.argv[4], "w") as file:
    file.write(f'[{time.monotonic()}, {used.user + used.system}, {int(parent) / 1e9}]')
os._exit(1)
"""


def _words(chance: random.Random, count: int) -> list[str]:
    parts = "ca re to li men dis pro ver ent ing sta ble un ma po se".split()
    return ["".join(chance.choices(parts, k=chance.randrange(2, 5))) for _ in range(count)]


def log() -> Iterator[str]:
    """A log of a service, of which nearly no two lines differ in numbers only."""
    chance = random.Random(1)
    words = _words(chance, 3000)
    for number in range(SIZE):
        level = chance.choices(("INFO", "DEBUG", "WARNING", "ERROR"), (80, 15, 4, 1))[0]
        said = " ".join(chance.choices(words, k=chance.randrange(4, 9)))
        yield (
            f"2026-01-02 10:{number // 600 % 60:02}:{number // 10 % 60:02},{number % 10}00 {level}"
            f" [worker-{number % 7}] {chance.choice(words)}: {said} {number * 37 % 9001} in"
            f" {chance.randrange(900)} ms"
        )


def tests() -> Iterator[str]:
    """A run of pytest with 900 failures, each with its source and its values."""
    chance = random.Random(2)
    words = _words(chance, 900)
    yield "============================= test session starts =============================="
    yield "collected 4200 items\n"
    for number in range(60):
        yield f"tests/test_{words[number]}.py {'.' * 55}{'F' * 15} [{number * 100 // 60:3}%]"
    yield "\n=================================== FAILURES ==================================="
    names = [f"test_{chance.choice(words)}_{chance.choice(words)}_{n}" for n in range(900)]
    for number, name in enumerate(names):
        said, other = " ".join(chance.choices(words, k=5)), " ".join(chance.choices(words, k=6))
        yield f"{'_' * 30} {name} {'_' * 30}\n\n    def {name}() -> None:"
        yield f'        {said.split()[0]} = load("{words[number % 60]}", {number})'
        for word in said.split()[1:]:
            yield f"        {word}_{number} = {word}.{chance.choice(words)}({number % 83}, key)"
        yield f"        wanted = '{other}'\n>       assert {said.split()[0]}.name == wanted"
        yield f"E       AssertionError: assert '{said}' == '{other}'\nE         "
        yield f"E         - {other}\nE         + {said}\n"
        yield f"tests/test_{words[number % 60]}.py:{number + 11}: AssertionError"
        yield "----------------------------- Captured stdout call -----------------------------"
        for _ in range(4):
            yield f"{' '.join(chance.choices(words, k=6))} {chance.randrange(9000)}"
    yield "=========================== short test summary info ============================"
    for number, name in enumerate(names):
        test = f"tests/test_{words[number % 60]}.py::{name}"
        yield f"FAILED {test} - AssertionError: assert '{name}..."
    yield "====================== 900 failed, 3300 passed in 92.17s ======================="


def errors() -> Iterator[str]:
    """The errors of a compiler, each with the source below it."""
    chance = random.Random(3)
    words = _words(chance, 2000)
    for number in range(SIZE):
        name, other = chance.choice(words), chance.choice(words)
        file = f"src/{chance.choice(words)}/{chance.choice(words)}.c"
        place = f"{file}:{number % 977 + 1}:{9 + number % 20}"
        yield f"{place}: error: '{name}_{other}' undeclared (first use in this function)"
        yield f"  {number % 977 + 1} |     {name} = {name}_{other}({chance.choice(words)});"
        yield f"      |     {' ' * len(name)}   ^{'~' * len(name)}"


def build() -> Iterator[str]:
    """The steps of a build, with warnings and one error."""
    chance = random.Random(4)
    words = _words(chance, 2000)
    for number in range(SIZE):
        name = f"{chance.choice(words)}_{chance.choice(words)}"
        yield f"gcc -Wall -O2 -Iinclude -c src/{name}.c -o build/{name}.o"
        if number % 50 == 7:
            yield f"src/{name}.c:{number % 700}:9: warning: unused variable '{name}' [-Wunused]"
        if number == 3000:
            yield f"src/{name}.c:17:3: error: '{name}' undeclared (first use in this function)"


def prose() -> Iterator[str]:
    """What no tool prints: reports."""
    yield from reports(SIZE).split("\n")


CASES: dict[str, Callable[[], Iterator[str]]] = {
    "log": log,
    "pytest": tests,
    "compiler": errors,
    "build": build,
    "prose": prose,
}


def text_of(lines: Iterator[str]) -> str:
    """About 1 MB of the lines: all of them, or the first."""
    found, size = [], 0
    for line in lines:
        found.append(line)
        size += len(line) + 1
        if size > SIZE:
            break
    return "\n".join(found) + "\n"


def once(command: list[str], report: Path) -> tuple[float, float, float]:
    """Milliseconds after the end of the command that the wrapper ran: wall, its CPU, and in all."""
    process = os.posix_spawn(command[0], command, os.environ, file_actions=QUIET)
    _, _, used = os.wait4(process, 0)
    after = time.monotonic()
    ended, of_command, before = json.loads(report.read_text("utf-8"))
    whole = used.ru_utime + used.ru_stime - of_command
    return (after - ended) * 1000, max(0.0, whole - before) * 1000, whole * 1000


def bare() -> float:
    process = os.posix_spawn(BARE[0], BARE, os.environ, file_actions=QUIET)
    _, _, used = os.wait4(process, 0)
    return (used.ru_utime + used.ru_stime) * 1000


def verdict(wall: float) -> str:
    """Whether a wall is over its limit, as far as this machine can tell now."""
    is_busy = os.getloadavg()[0] > (os.cpu_count() or 1)
    return ("busy" if is_busy else "over") * (wall > LIMIT)


def main() -> int:
    names = sys.argv[1:] or list(CASES)
    print(f"{'1 MB, ms after the end':<24}{'wall':>8}{'CPU':>8}{'whole':>8}{'bare':>8}")
    verdicts = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        folder = Path(made).resolve()
        os.chdir(folder)
        prepare()
        emitter, report = folder / "emitter.py", folder / "report.json"
        emitter.write_text(EMITTER, encoding="utf-8")
        paces = {
            "slowly": (PIECES, SLOWLY / PIECES),
            "quickly": (PIECES, QUICKLY / PIECES),
            "at once": (1, 0.1),
        }
        for name in names:
            path = folder / f"{name}.txt"
            path.write_text(text_of(CASES[name]()), encoding="utf-8")
            for pace, (pieces, pause) in paces.items():
                command = [sys.executable, "-S", str(SCRIPTS / "run.py"), f"--root={folder}", "--",
                           sys.executable, "-S", str(emitter), str(path), str(pieces), str(pause),
                           str(report)]  # fmt: skip
                once(command, report)
                rounds = [(*once(command, report), bare()) for _ in range(ROUNDS)]
                wall, after, whole, start = map(statistics.median, zip(*rounds, strict=True))
                verdicts.append(verdict(wall))
                row = f"{name + ', ' + pace:<24}{wall:>8.0f}{after:>8.0f}{whole:>8.0f}{start:>8.1f}"
                print(f"{row}  {verdicts[-1]}".rstrip(), flush=True)
        os.chdir("/")
    if "busy" in verdicts:
        print("busy: the machine had more to do than it has cores; try again on an idle one")
    return 1 if "over" in verdicts else 0


if __name__ == "__main__":
    raise SystemExit(main())

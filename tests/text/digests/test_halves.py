"""A long output is read by two processes, where that is possible, and told as one reads it."""

from __future__ import annotations

import itertools
import subprocess
import sys

import pytest
from conftest import SCRIPTS

READ = """\
import os, sys
from contextkit.text.digests import engine, lines, pieces
{before}
texts = ["".join(f"2026-01-02 10:00:0{{n % 9}} ERROR {{name}}: slow\\n" for n in range(3)) + "ok\\n"
         for name in {names}]
text = "".join(f"src/{{n % 97}}.c:7: error: {{text}}" for n, text in enumerate(texts))
forked, fork = [], os.fork
os.fork = lambda: forked.append(fork()) or forked[-1]
print(engine.ParsedText(text, status=1).digest(300), sum(map(len, texts)))
print(len(forked), file=sys.stderr)
"""
NAMES = ["".join(three) for three in itertools.product("abcdefghijklmno", repeat=3)]


def read(before: str = "") -> tuple[str, int]:
    """The digest of a long output, and how many processes were started for it."""
    done = subprocess.run(
        [sys.executable, "-c", READ.format(before=before, names=NAMES)],
        env={"PYTHONPATH": str(SCRIPTS)}, capture_output=True, encoding="utf-8", timeout=60,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    return done.stdout, int(done.stderr)


def test_two_processes_tell_what_one_does() -> None:
    alone, by_none = read("pieces._cores = lambda: 1")
    together, by_another = read("pieces._cores = lambda: 2")
    assert (alone, by_none, by_another) == (together, 0, 1)


@pytest.mark.parametrize(
    "trouble",
    [
        "os.kill(os.getpid(), 9)",  # killed, before it tells anything
        "os.write(a[0], pieces.marshal.dumps([{}] * 9)[:-1]); os._exit(0)",  # or in the middle
    ],
)
def test_what_another_process_does_not_tell_is_read_here(trouble: str) -> None:
    before = f"pieces._cores = lambda: 2\ndef breaks(*a):\n    {trouble}\npieces._tell = breaks"
    assert read(before)[0] == read("pieces._cores = lambda: 1")[0]


def test_a_process_that_cannot_start_another_reads_alone() -> None:
    fails = "def fails(): raise BlockingIOError(11, 'Resource temporarily unavailable')"
    before = f"pieces._cores = lambda: 2\n{fails}\nos.fork = fails"
    assert read(before)[0] == read("pieces._cores = lambda: 1")[0]


def test_a_process_with_threads_is_not_forked() -> None:
    assert read("import threading; pieces._cores = lambda: 2")[1] == 0


def test_where_nobody_waits_for_children_a_long_output_is_told_all_the_same() -> None:
    before = "import signal, time\npieces._cores = lambda: 2\n"
    before += "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\nown = pieces.Piece.found\n"
    before += "pieces.Piece.found = lambda piece: time.sleep(0.01) or own(piece)\n"
    assert read(before)[0] == read("pieces._cores = lambda: 1")[0]

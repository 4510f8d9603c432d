"""expressions.py: what `re` made of an expression is kept for others, and means the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SCRIPTS, each
from contextkit.base import expressions

SOURCE = r"(?P<sign>[-+])?(?:Ä|\w{2,3}+)(?<!xx)\d*"
PROGRAM = """\
import re, sys
from contextkit import leave
from contextkit.base import expressions
expressions._PLACE = sys.argv[1]
count = 0
compile = re._compiler.compile
def counted(*arguments):
    global count
    count += 1
    return compile(*arguments)
re._compiler.compile = counted
print(expressions.compiled(sys.argv[2], re.I).sub("_", "+äÄ12 xx9"), count, flush=True)
leave(0)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this test's expressions are kept, and nothing yet."""
    monkeypatch.setattr(expressions, "_PLACE", str(tmp_path / "expressions.codes"))
    monkeypatch.setattr(expressions, "_new", [])
    return tmp_path / "expressions.codes"


def process(place: Path, source: str = SOURCE, **variables: str) -> str:
    """What a process prints: the text with its matches replaced, and how often `re` was asked."""
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS), **variables}
    environment.setdefault("PYTHONDONTWRITEBYTECODE", "")
    command = [sys.executable, "-c", PROGRAM, str(place), source]
    done = subprocess.run(
        command, env=environment, check=True, capture_output=True, encoding="utf-8"
    )
    assert not done.stderr
    return done.stdout


def test_the_second_process_compiles_nothing_and_finds_the_same(place: Path) -> None:
    assert process(place).split() == ["__", "_", "1"]
    assert process(place).split() == ["__", "_", "0"]
    assert process(place, r"\d").split()[-1] == "1"
    assert process(place).split()[-1] == process(place, r"\d").split()[-1] == "0"


def test_all_of_ours_mean_what_re_makes_of_them(place: Path) -> None:
    expressions.compile_all()
    expressions._new.clear()
    for pattern in expressions.MADE:
        source, flags = pattern._source, pattern._flags
        assert expressions.compiled(source, flags) == re.compile(source, flags)
    assert len(expressions.MADE) > 300 and not expressions._new


@each("kept", [b"", b"\x00", b"junk" * 99, b"i\x01\x00\x00\x00", b"{0"])
def test_a_file_that_is_none_of_ours_is_made_again(place: Path, kept: bytes) -> None:
    place.write_bytes(kept)
    assert process(place).split()[-1] == "1"
    assert process(place).split()[-1] == "0"


def test_codes_that_are_none_are_compiled_anew(place: Path) -> None:
    import marshal

    place.write_bytes(marshal.dumps({(SOURCE, int(re.I)): (2, b"\xff" * 8, 0, {}, (None,))}))
    assert process(place).split()[-1] == "1"


def test_nothing_is_written_where_python_writes_no_byte_code(place: Path) -> None:
    process(place, PYTHONDONTWRITEBYTECODE="1")
    assert not place.exists()
    process(place.parent / "missing" / place.name)
    assert not (place.parent / "missing").exists()


def test_the_name_of_the_file_is_that_of_this_python() -> None:
    name = os.path.basename(expressions._PLACE)
    assert name == f"expressions.{sys.implementation.cache_tag}.{sys.hexversion:x}.codes"

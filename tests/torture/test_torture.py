"""A small part of `make torture`, and that it would see what it looks for."""

from __future__ import annotations

import functools
import importlib
import os
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import calls
import damage
import power
import pytest
import slow
import strangers
import torture
from conftest import LONG, rounds
from contextkit.base import files
from scenes import Base, Command, run

FEW = {"kills": 2, "races": 1, "disk": 2, "power": 1, "reviews": 10, "arguments": 3, "secrets": 1,
       "machines": 1, "strangers": 1, "time": 1}  # fmt: skip
TRACED = pytest.mark.skipif(bool(calls.here()), reason=calls.here() or "strace is there")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    return Base(tmp_path_factory.mktemp("torture") / "base")


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A folder of the trial's own."""
    made = tmp_path / "place"
    made.mkdir()
    yield made


def every(step: int, calls_of: Callable[..., list[list[str]]], *about: Any) -> list[list[str]]:
    return calls_of(*about)[::step]


@pytest.mark.parametrize("kind", torture.KINDS)
def test_a_few_of_each_kind_hold(
    kind: str, base: Base, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slow, "SIZE", 30_000)  # characters; `make torture what=time` takes 1 MB
    monkeypatch.setattr(strangers, "HOSTS", strangers.HOSTS[: rounds(1, 2)])
    for calls_of in (strangers._looked, strangers._opened):
        some = functools.partial(every, rounds(4, 1), calls_of)
        monkeypatch.setattr(strangers, calls_of.__name__, some)
    if torture.module(kind).missing().startswith("skipped"):
        pytest.skip(torture.module(kind).missing())
    fallen = []
    for number in range(FEW[kind] * rounds(1, 20)):
        folder = place / str(number)
        folder.mkdir()
        draw = random.Random(f"7 {kind} {number}")
        done, defects = torture.module(kind).trial(base, folder, draw)
        fallen += [f"{done}: {defect}" for defect in defects]
    assert fallen == []


def test_a_trial_is_the_same_each_time_and_is_told_how_to_repeat(
    base: Base, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torture, "_base", base)
    monkeypatch.setattr(torture, "_place", place)
    first, again = (torture.attempt(("reviews", 3, 5)) for _ in range(2))
    assert first.done == again.done and first.defects == []
    row = torture.Row("reviews")
    torture._count(row, torture.Outcome("reviews", 5, "what was done", ["fell"], 0.1), 3, 1)
    assert row.fallen == 1 and "make torture what=reviews seed=3 only=5" in row.lines[0]
    assert torture.table([row]).splitlines()[1].split() == ["reviews", "1", "1", "0"]


@pytest.mark.skipif(not LONG, reason="takes as long as all other kinds; a clone is tried above")
def test_a_hostile_remote_gets_nothing(base: Base, place: Path) -> None:
    folder = place / str(strangers.CLONES)
    folder.mkdir()
    done, defects = strangers.trial(base, folder, random.Random("7"))
    assert done.startswith("a remote: ") and defects == []


# It sees what it looks for


def test_what_a_stranger_does_is_seen(tmp_path: Path) -> None:
    for name in ("clone", "outside", "tmp"):
        (tmp_path / name).mkdir()
    log = "\n".join((
        '7 execve("/usr/bin/git", ["git", "status"], 0x1 /* 2 vars */) = 0',
        f'7 execve("{tmp_path}/clone/hook.sh", ["hook.sh"], 0x1 /* 2 vars */) = 0',
        '7 execve("/usr/bin/ssh", ["ssh", "x"], 0x1 /* 2 vars */) = 0',
        '7 execve("/usr/bin/curl", ["curl"], 0x1 /* 2 vars */) = -1 ENOENT (No such file)',
        '7 connect(3<TCP:[1]>, {sa_family=AF_INET, sin_port=htons(80)}, 16) = 0',
        f'7 openat(AT_FDCWD, "a", O_WRONLY|O_CREAT, 0666) = 3<{tmp_path}/clone/a>',
        f'7 openat(AT_FDCWD, "a", O_RDONLY) = 3<{tmp_path}/outside/a>',
        f'7 openat(AT_FDCWD, "a", O_WRONLY|O_CREAT, 0666) = 3<{tmp_path}/outside/a>',
    ))  # fmt: skip
    said = list(strangers._judged(log, tmp_path))
    assert [line.partition(":")[0] for line in said] == [
        "started", "started", "connected", "written",
    ]  # fmt: skip
    before = strangers._around(tmp_path)
    (tmp_path / "outside/new").write_text("x", encoding="utf-8")
    said = strangers._changed(before, strangers._around(tmp_path))
    assert said == [f"changed outside: {tmp_path}/outside/new"]


def test_a_document_that_is_torn_or_gone_is_seen(base: Base, place: Path) -> None:
    folder = base.copy(place / "work")
    before = damage.words(folder)
    assert damage.torn(folder) == [] and damage.lost(before, damage.words(folder), ()) == []
    (folder / ".clavain/verdicts/fd-kept.json").write_text("{", encoding="utf-8")
    (payload,) = (folder / "shared/payloads/s2").glob("*.md")
    payload.unlink()
    said = damage.torn(folder)
    assert any("fd-kept" in one for one in said) and any("listed and gone" in one for one in said)
    assert damage.lost(before, damage.words(folder), ("kept-payload",)) == ["lost: kept-verdict"]


def test_a_traceback_and_silence_are_seen() -> None:
    import subprocess

    command = Command("x", ("x.py",))
    trace = "Traceback (most recent call last)\nKeyError: 1"
    ends = [(1, trace), (1, ""), (-9, "killed"), (0, ""), (1, "x: a sentence")]
    seen = [damage.unexplained(command, subprocess.CompletedProcess([], *e[:1], "", e[1]))
            for e in ends]  # fmt: skip
    assert [bool(one) for one in seen] == [True, True, True, False, False]
    bare = subprocess.CompletedProcess([], 1, "", "a.md: No such file or directory")
    assert damage.only_a_path(command, bare)


@TRACED
def test_a_name_that_the_disk_may_not_have_is_seen(base: Base, place: Path) -> None:
    (command,) = [one for one in base.writers() if one.name == "memory_checkpoint"]
    folder = base.copy(place / "work")
    traced, _ = calls.trace(command, folder)
    assert power.unsynced(traced, folder) == []
    without = [call for call in traced if call.name != "fsync"]
    said = power.unsynced(without, folder)
    assert any("its folder was not synced" in one for one in said)
    assert any("its bytes were not synced" in one for one in said)


@TRACED
def test_a_command_is_killed_stopped_and_refused_where_it_was_told(base: Base, place: Path) -> None:
    (command,) = [one for one in base.writers() if one.name == "remember_later"]
    traced, _ = calls.trace(command, base.copy(place / "traced"))
    (rename,) = [call for call in traced if call.name == "rename" and "later.md" in call.text]
    folder = base.copy(place / "work")
    assert calls.killed_at(command, folder, rename).returncode == -9
    assert not damage.words(folder)["new-reminder"] and len(damage.drafts(folder)) == 1
    done = calls.failing_at(command, folder, rename, "ENOSPC", on=False)
    assert done.returncode == 1 and "No space left" in done.stderr
    stopped = calls.Stopped(command, folder, rename)
    assert stopped.reached() and damage.words(folder)["new-reminder"] == 1
    assert stopped.go_on().returncode == 0


def test_closed_streams_are_no_reason_for_a_traceback(base: Base, place: Path) -> None:
    folder = base.copy(place / "work")
    words = (
        ("subagent_monitor", "subagent_manager.py monitor --iterations=1"),
        (
            "handoff_switch",
            "handoff.py switch --to=qa",
        ),
    )
    more = [Command(name, tuple(line.split())) for name, line in words]
    said = []
    for command in (*base.readers()[:: rounds(2, 1)], *more):
        done = run(command, folder, before=("sh", "-c", '"$@" <&- >&-', "sh"))
        said += damage.unexplained(command, done)
        nothing = command.name == "verdict_attention"  # has nothing to print here
        if command.reads and not nothing and done.returncode != 1:
            said.append(f"{command.name} ended with {done.returncode}")
    assert said == []


def test_every_writer_does_what_it_says(base: Base, place: Path) -> None:
    names = {command.name for command in (*base.writers(), *base.readers())}
    import races

    assert {name for pair in races._MET for name in pair} <= names
    command = base.writers()[0]
    folder = base.copy(place / "work")
    assert run(command, folder).returncode == 0 and damage.words(folder)[command.stores] == 1
    assert not [path for path in os.listdir(folder) if files.is_draft(path)]


def test_a_reader_and_an_expression_that_are_slow_are_seen(
    base: Base, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slow, "MOST", 0.3)
    slow_one = re.compile(r"(?:a+)+:$")
    assert slow.judged_alone("contextkit.base.makefiles.none", slow_one, "a" * 25)
    assert not slow.judged_alone("contextkit.base.makefiles.none", re.compile("a+"), "a" * 40_000)
    assert len(slow.expressions()) > 50
    spent = iter([0.0, 1.0, 0.0, 9.0, 0.0, 9.0])
    monkeypatch.setattr(slow, "_spent", lambda: next(spent))
    monkeypatch.setattr(slow, "run", lambda *_, **__: None)
    monkeypatch.setattr(slow, "_usuals", {})
    _, defects = slow.trial(base, place, _Fixed())
    assert "9.00 s of" in defects[0] and "1.00 s of a normal text" in defects[0]


class _Fixed(random.Random):
    """Always the last of what may be drawn: a reader, not an expression."""

    def randrange(self, *bounds: Any) -> int:
        return int(bounds[-1]) - 1

    def choice(self, seq: Any) -> Any:
        return seq[-1]


def repeated(pattern: Any) -> Iterator[Any]:
    """What an expression repeats without giving back, at any depth."""
    for code, given in pattern if hasattr(pattern, "data") else ():
        parts = given if isinstance(given, (tuple, list)) else [given]
        if str(code) == "POSSESSIVE_REPEAT":
            yield from parts[2:]
        for part in parts:
            for inner in part if isinstance(part, list) else [part]:
                yield from repeated(inner)


def test_only_single_characters_are_repeated_without_giving_back() -> None:
    """Python 3.11.2, of Debian 12, does not match what it should of a group that is."""
    parse = importlib.import_module("re._parser").parse
    groups = [
        (name, rule.pattern)
        for name, rule in slow.expressions()
        for part in repeated(parse(rule.pattern, rule.flags))
        if len(part) > 1 or str(part[0][0]) not in ("IN", "LITERAL", "NOT_LITERAL", "ANY")
    ]
    assert not groups

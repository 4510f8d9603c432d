"""The inbox under many real processes: none waits for ever, loses or tears an entry."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

from conftest import Script, rounds, start
from contextkit.base.layout import Layout
from contextkit.capsules.documents import reminders
from contextkit.capsules.documents.reminders import Reminder

INBOX = Path("parallelus/manuals/capsules/remember-later.md")


def long(number: int) -> str:
    """A note of which every line tells its number, so that a torn entry shows."""
    return "\n".join(f"note {number} line {line}" for line in range(30))


def adding(number: int) -> subprocess.Popen[str]:
    return start("remember_later.py", f"--message={long(number)}", "--topic=ux", "--tags=a b")


def finished(processes: list[subprocess.Popen[str]]) -> None:
    for process in processes:
        _, errors = process.communicate(timeout=300)
        assert (process.returncode, errors) == (0, "")


def listed() -> tuple[Reminder, ...]:
    """The reminders of the inbox, none torn, each with an id of its own."""
    found = tuple(reminders.load_all(Layout(), str(INBOX)).whole().documents)
    assert all(r.note == long(int(r.note.split()[1])) for r in found)
    assert {(r.topic, r.tags) for r in found} == {("ux", ("a", "b"))}
    assert len({r.id for r in found}) == len(found)
    return found


def numbers(found: tuple[Reminder, ...]) -> list[int]:
    return sorted(int(r.note.split()[1]) for r in found)


def test_adds_at_once_make_an_entry_each(repo: Path) -> None:
    many = rounds(20, 60)
    finished([adding(number) for number in range(many)])
    assert numbers(listed()) == list(range(many))


def test_adds_racing_with_marks_all_count(repo: Path, run: Script) -> None:
    marks = rounds(4, 10)
    for number in range(marks):
        run("remember_later", f"--message={long(number)}", "--topic=ux", "--tags=a b")
    processes = []
    for number, reminder in enumerate(listed()):
        processes += [adding(marks + 4 * number + n) for n in range(4)]
        processes.append(start("remember_later.py", "done", reminder.id, f"--into=plan {number}"))
    finished(processes)
    found = listed()
    assert numbers(found) == list(range(5 * marks))
    assert [r.done.partition(" → ")[2] for r in found[:marks]] == [
        f"plan {n}" for n in range(marks)
    ]
    assert not any(r.done for r in found[marks:])


def test_adds_killed_at_any_moment_keep_every_entry_that_was_confirmed(repo: Path) -> None:
    chance = random.Random(11)
    began = time.monotonic()
    finished([adding(0)])
    usual = time.monotonic() - began
    confirmed = ["0"]
    last = rounds(20, 60)
    for number in range(1, last, 2):
        pair = [adding(number), adding(number + 1)]
        time.sleep(chance.uniform(0.1, 2) * usual)
        for process in pair:
            process.kill()
        outputs = [process.communicate()[0] for process in pair]
        through = [str(number + n) for n, out in enumerate(outputs) if out.endswith("UTC\n")]
        usual *= 0.8 if through else 1.25  # so that about half of them get through
        confirmed += through
        found = numbers(listed())
        assert set(map(int, confirmed)) <= set(found)
    assert 1 < len(confirmed) <= last, "the kills came all too early or all too late"
    assert INBOX.read_text(encoding="utf-8").count("\n## ") == len(found) == len(set(found))
    finished([adding(last + 1)])  # no lock was left behind
    assert last + 1 in numbers(listed())

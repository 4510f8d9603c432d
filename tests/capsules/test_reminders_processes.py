"""The inbox under many real processes: none waits for ever, loses or tears an entry."""

from __future__ import annotations

import random
import subprocess
import time
from pathlib import Path

from conftest import Script, start
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


def test_sixty_adds_at_once_make_sixty_entries(repo: Path) -> None:
    finished([adding(number) for number in range(60)])
    assert numbers(listed()) == list(range(60))


def test_forty_adds_racing_with_ten_marks_all_count(repo: Path, run: Script) -> None:
    for number in range(10):
        run("remember_later", f"--message={long(number)}", "--topic=ux", "--tags=a b")
    processes = []
    for number, reminder in enumerate(listed()):
        processes += [adding(10 + 4 * number + n) for n in range(4)]
        processes.append(start("remember_later.py", "done", reminder.id, f"--into=plan {number}"))
    finished(processes)
    found = listed()
    assert numbers(found) == list(range(50))
    assert [r.done.partition(" → ")[2] for r in found[:10]] == [f"plan {n}" for n in range(10)]
    assert not any(r.done for r in found[10:])


def test_adds_killed_at_any_moment_keep_every_entry_that_was_confirmed(repo: Path) -> None:
    chance = random.Random(11)
    began = time.monotonic()
    finished([adding(0)])
    usual = time.monotonic() - began
    confirmed = ["0"]
    for number in range(1, 61, 2):
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
    assert 1 < len(confirmed) < 61, "the kills came all too early or all too late"
    assert INBOX.read_text(encoding="utf-8").count("\n## ") == len(found) == len(set(found))
    finished([adding(61)])  # no lock was left behind
    assert 61 in numbers(listed())

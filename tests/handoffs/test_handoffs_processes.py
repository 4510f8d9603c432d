"""Handing over in many real processes at once, and when killed at any moment."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import yaml
from conftest import MANY, ended, forked, rounds, start
from contextkit.base import names
from contextkit.base.errors import remarks
from contextkit.base.layout import Layout
from contextkit.handoffs.documents import state as handoff_state
from contextkit.handoffs.flows import switch

AGENTS = ("sm", "dev", "qa", "pm")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
STORE = Path(".aios/handoffs")


def over(layout: Layout, giver: str, to: str, action: str = "go on") -> str:
    fields = {"from_agent": giver, "to_agent": to, "next_action": action, "files_modified": ()}
    return switch.hand_over(layout, fields, names.now(), no_story=True)


def stored() -> list[dict[str, object]]:
    """All artifacts, each complete, in the order they were written."""
    found = []
    for path in STORE.glob("handoff-*.yaml"):
        handoff = yaml.load(path.read_bytes(), LOADER)["handoff"]
        assert path.name.startswith(f"handoff-{handoff['from_agent']}-to-{handoff['to_agent']}-")
        found.append({"name": path.name, **handoff})
    return sorted(found, key=lambda handoff: int(handoff["sequence"]))


def test_two_switches_at_once_are_two_artifacts_or_one_clean_refusal(layout: Layout) -> None:
    for turn in range(5):
        handoff_state.reset(layout)
        switch.switch(layout, {"to_agent": "sm"}, names.now())

        def switching(to: str, action: str = f"turn {turn}") -> Callable[[], object]:
            fields = {"to_agent": to, "next_action": action}
            return lambda: switch.switch(layout, fields, names.now())

        assert ended([forked(switching(to)) for to in ("dev", "qa")]) == [0, 0]
        last = stored()[-2:]
        assert [handoff["next_action"] for handoff in last] == [f"turn {turn}"] * 2
        assert last[0]["from_agent"] == "sm" and last[1]["from_agent"] == last[0]["to_agent"]
        remarks.clear()
        state = handoff_state.current(layout)
        assert state.active == last[1]["to_agent"] and not remarks


def test_many_at_once_in_one_second_keep_the_last_three(layout: Layout) -> None:
    def one(number: int) -> Callable[[], object]:
        giver, to = AGENTS[number % 4], AGENTS[(number + 1) % 4]
        return lambda: over(layout, giver, to)

    assert ended([forked(one(number)) for number in range(MANY)]) == [0] * MANY
    found = stored()
    assert [handoff["sequence"] for handoff in found] == [MANY - 2, MANY - 1, MANY]
    state = handoff_state.current(layout)
    assert (state.active, state.sequence) == (found[-1]["to_agent"], MANY) and not remarks
    assert len(state.switches) == MANY and not list(STORE.glob("*.tmp"))


def test_killed_at_any_moment_the_artifacts_win(layout: Layout) -> None:
    """Everything confirmed is there and complete, and the next handoff continues from it."""
    chance = random.Random(7)
    over(layout, "sm", "dev")
    began = time.monotonic()
    assert ended([forked(lambda: over(layout, "dev", "qa"))]) == [0]
    usual = time.monotonic() - began
    confirmed = 0
    for turn in range(rounds(20, 40)):
        read, write = os.pipe()

        def one(turn: int = turn, write: int = write) -> None:
            to = AGENTS[turn % 4]
            giver = AGENTS[(turn + 1) % 4]
            os.write(write, over(layout, giver, to, f"turn {turn}").encode())

        process = forked(one)
        time.sleep(chance.uniform(0.1, 2) * usual)
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        os.close(write)
        with os.fdopen(read) as pipe:
            path = pipe.read()
        found = stored()
        assert len({handoff["sequence"] for handoff in found}) == len(found)
        usual *= 0.9 if path else 1.1  # so that about half of them finish
        if path:
            confirmed += 1
            assert found[-1]["next_action"] == f"turn {turn}"
        remarks.clear()
        state = handoff_state.current(layout)
        assert state.active == found[-1]["to_agent"]
        assert list(state.order) == [handoff["name"] for handoff in found]
        if remarks:
            assert remarks == [f"the artifacts say that {state.active} is active: taken from them"]
    assert 0 < confirmed < rounds(20, 40), "the kills came all too early or all too late"
    assert over(layout, "pm", "ux") and len(stored()) == 3
    assert handoff_state.current(layout).active == "ux"


def test_between_artifact_and_state_every_step_can_be_the_last(layout: Layout) -> None:
    """Each call that changes the disk fails once; the next handoff continues from what is there."""
    for agent, to in (("sm", "dev"), ("dev", "qa"), ("qa", "pm")):
        over(layout, agent, to)
    for step in ("link", "unlink", "replace"):
        before = len(stored())

        def one(step: str = step) -> None:
            def gone(*_: object, **__: object) -> None:
                os._exit(9)

            setattr(os, step, gone)
            over(layout, "pm", "ux")

        assert ended([forked(one)]) == [9]
        remarks.clear()
        state = handoff_state.current(layout)
        assert bool(remarks) == (step != "link")  # before that there is nothing to repair
        assert state.active in ("pm", "ux") and abs(len(stored()) - before) <= 1
        assert over(layout, "ux", "pm") and len(stored()) == 3
        assert handoff_state.current(layout).active == "pm"


def test_real_processes_through_the_script(repo: Path) -> None:
    began = [
        start("handoff.py", "write", f"--from={AGENTS[n % 4]}", f"--to={AGENTS[(n + 1) % 4]}",
              "--next-action=go", "--no-story")
        for n in range(6)
    ]  # fmt: skip
    said = [process.communicate(timeout=300)[0] for process in began]
    assert [process.returncode for process in began] == [0] * 6
    assert all(line.startswith(f"{STORE}/handoff-") for line in said) and len(stored()) == 3

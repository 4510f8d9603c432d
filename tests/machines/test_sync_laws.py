"""Laws of pushing and pulling, whatever the order, wherever a process is killed."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from simulated_machines import Machine, killed_at

# A failing history takes minutes to shrink, and is read as well without.
NO_SHRINKING = (Phase.explicit, Phase.reuse, Phase.generate)
COUNT = 5
ACTIONS = ("store", "conclude", "find_out", "remember", "take_up", "launch", "happen", "push",
           "pull", "push", "pull")  # fmt: skip
STEPS = st.tuples(
    st.integers(0, COUNT - 1),
    st.sampled_from(ACTIONS),
    st.integers(0, 2),
    st.one_of(st.just(0), st.integers(1, 25)),
    st.booleans(),
)


class World:
    """Five machines whose clocks are days apart, and what they were told."""

    def __init__(self, folder: Path) -> None:
        remote = f"file://{folder}/remote"
        self.machines = [Machine(folder / f"m{n}", remote, days=n - 2) for n in range(COUNT)]
        self.number = itertools.count()
        self.payloads: set[str] = set()
        self.notes: set[str] = set()
        self.events: list[str] = []
        self.rows: list[str] = []

    def act(self, which: int, action: str, key: int, kill: int, after: bool) -> None:
        machine, number = self.machines[which], next(self.number)
        if action == "store":
            self.payloads.add(machine.store(f"s-{key}", f"topic {number}", f"text {number}\n"))
        elif action == "conclude":
            machine.conclude(f"agent-{key}", f"summary {number}")
        elif action == "find_out":
            machine.find_out(f"ui{key}", f"# Finding {number}\n")
        elif action == "remember":
            note = f"note {number}"
            machine.remember(note)
            self.notes.add(note)
        elif action == "take_up":
            inbox = machine.contents()["inbox"]
            for identity, _, _ in sorted(inbox, key=lambda one: one[:2])[:1]:
                machine.take_up(identity)
        elif action == "launch":
            machine.launch(f"run-{number}")
            self.rows.append(f"run-{number}")
        elif action == "happen":
            machine.happen(f"note:{number}")
            self.events.append(f"note:{number}")
        elif action in ("push", "pull"):
            with killed_at(kill, after):
                getattr(machine, action)()

    def settle(self) -> None:
        """Everybody pushes and pulls until nobody has news: twice is enough for any history."""
        for _ in range(3):
            for machine in self.machines:
                machine.push()
            for machine in self.machines:
                machine.pull()


@settings(max_examples=25, phases=NO_SHRINKING, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(STEPS, max_size=30))
def test_any_order_of_pushes_pulls_and_kills_ends_in_the_same_set(
    steps: list[tuple[int, str, int, int, bool]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        for step in steps:
            world.act(*step)
        world.settle()
        all_there = [machine.contents() for machine in world.machines]
        for there in all_there[1:]:
            assert there == all_there[0]
        told = all_there[0]
        stored = {Path(name).name for name in told if name.startswith("shared/payloads/")}
        assert stored == world.payloads, "nothing lost, nothing doubled"
        assert {note for _, note, _ in told["inbox"]} == world.notes
        noted = [ref for ref in told["events"] if ref.startswith("note:")]
        assert noted == sorted(world.events)
        assert told["rows"] == sorted(world.rows)
        before = [machine.files() for machine in world.machines]
        for machine in world.machines:
            assert not machine.push().rows, "who has no news sends none"
        for machine in world.machines:
            assert not machine.pull().rows, "pulling twice changes nothing"
        assert [machine.files() for machine in world.machines] == before


@pytest.mark.parametrize("action", ["push", "pull"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_at_every_step_the_next_call_completes(
    sealed: Path, action: str, after: bool
) -> None:
    for step in range(1, 60):
        folder = sealed / f"{step}"
        one, other = (Machine(folder / name, f"file://{folder}/remote") for name in "ab")
        one.store("s-1", "auth", "text\n")
        one.remember("a note")
        one.conclude("ui", "fine")
        one.find_out("ui", "# one\n")
        other.find_out("ui", "# other\n")
        other.remember("another note")
        whole = False
        if action == "push":
            with killed_at(step, after):
                one.push()
                whole = True
        else:
            one.push()
            with killed_at(step, after):
                other.pull()
                whole = True
        for _ in range(2):
            for machine in (one, other):
                machine.push()
            for machine in (one, other):
                machine.pull()
        assert one.contents() == other.contents()
        name = ".temp/memory/findings/ui_20261122T100000.md"
        assert one.contents()[name] == {b"# one\n", b"# other\n"}
        assert (one.root / name).read_text(encoding="utf-8") == "# one\n", "ours stays in place"
        if whole:
            return
    raise AssertionError("the last step was never reached")

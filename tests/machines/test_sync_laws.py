"""Laws of pushing and pulling, whatever the order, wherever a process is killed.

A few histories and every fourth step in `make test`, all steps in `make test_long`; `make torture
what=machines` draws as many histories as wanted, over git too.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from conftest import LONG, rounds
from five_machines import ACTIONS, COUNT, LAST_KILL, Step, World
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from simulated_machines import Machine, killed_at

# A failing history takes minutes to shrink, and is read as well without.
NO_SHRINKING = (Phase.explicit, Phase.generate)
STEPS = st.tuples(
    st.integers(0, COUNT - 1),
    st.sampled_from(ACTIONS),
    st.integers(0, 2),
    st.one_of(st.just(0), st.integers(1, LAST_KILL)),
    st.booleans(),
)


@settings(
    max_examples=rounds(2, 100),
    derandomize=not LONG,
    phases=NO_SHRINKING,
    suppress_health_check=list(HealthCheck),
)
@given(steps=st.lists(STEPS, min_size=15, max_size=30))
def test_any_order_of_pushes_pulls_and_kills_ends_in_the_same_set(steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        for step in steps:
            world.act(*step)
        world.settle()
        assert list(world.defects()) == []


def test_the_laws_see_what_is_lost_and_what_is_doubled(sealed: Path) -> None:
    world = World(sealed)
    for machine in world.machines[:2]:
        world.payloads.add(machine.store("s-1", "auth", "text\n"))
        machine.remember("not told to the world")
    world.settle()
    assert list(world.defects()) == ["reminders lost or doubled: ['not told to the world']"]
    for path in (world.machines[3].root / "shared/payloads/s-1").glob("*auth*.md"):
        path.unlink()
    assert "machine 3 does not have what machine 0 has" in list(world.defects())


@pytest.mark.parametrize("action", ["push", "pull"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_killed_at_a_step_the_next_call_completes(sealed: Path, action: str, after: bool) -> None:
    for step in range(1 + after, 60, rounds(7, 1)):
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

"""Five machines store, push and pull in any order and are killed at any step; then all settle.

The remote is a folder or a bare git repository. Nothing is lost, doubled or overwritten. Every
third trial has a hostile machine instead, which changes nothing of what is ours.
"""

from __future__ import annotations

import random
from pathlib import Path

from five_machines import ACTIONS, COUNT, LAST_KILL, Step, World
from git_servers import bare
from hostile_histories import Siege
from scenes import Base

_LONGEST = 40  # steps of a history


def missing() -> str:
    """Nothing is needed."""
    return ""


def trial(base: Base, place: Path, draw: random.Random) -> tuple[str, list[str]]:
    """One history: how long it is and over what, and the defects."""
    if not draw.randrange(3):
        return besieged(place, draw)
    over = draw.choice(("folder", "git"))
    world = World(place, str(bare(place / "hub.git")) if over == "git" else "")
    steps = [drawn(draw) for _ in range(draw.randint(5, _LONGEST))]
    for step in steps:
        world.act(*step)
    world.settle()
    kills = sum(bool(kill) for _, action, _, kill, _ in steps if action in ("push", "pull"))
    return f"{len(steps)} steps over a {over}, {kills} to be killed", list(world.defects())


def besieged(place: Path, draw: random.Random) -> tuple[str, list[str]]:
    siege = Siege(place, draw)
    for _ in range(draw.randint(3, 12)):
        siege.step()
    return f"hostile: {', '.join(siege.told)}", siege.defects


def drawn(draw: random.Random) -> Step:
    kill = draw.choice((0, draw.randint(1, LAST_KILL)))
    return (draw.randrange(COUNT), draw.choice(ACTIONS), draw.randrange(3), kill,
            draw.random() < 0.5)  # fmt: skip

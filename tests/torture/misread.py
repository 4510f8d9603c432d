"""Reviews in which a person reads a serious severity: none comes out clean."""

from __future__ import annotations

import random
from pathlib import Path

import review_mutants
from scenes import Base


def missing() -> str:
    """Nothing is needed."""
    return ""


def trial(base: Base, place: Path, draw: random.Random) -> tuple[str, list[str]]:
    """Ten mutants: how the first was made, and those that came out clean."""
    made = list(review_mutants.mutants(draw.randrange(1 << 30), 10))
    said = [f"{name}: {defect}" for name, text in made if (defect := review_mutants.judge(text))]
    return f"mutants, the first: {made[0][0]}", said

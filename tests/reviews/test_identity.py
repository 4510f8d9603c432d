"""synthesis.py: a finding is known again when it moves, and not when it is about something else."""

from __future__ import annotations

from conftest import each
from contextkit.reviews.flows.synthesis import identity

TITLE = "`load()` trusts the token"
KNOWN = identity("plan.md", TITLE, "src/app.py")


@each(
    ("target", "title", "place"),
    [
        ("plan.md", TITLE, "./src/app.py"),
        ("plan.md", "**load()** trusts the  Token.", "src/app.py"),
    ],
)
def test_a_finding_keeps_its_identity_when_it_moves_or_is_dressed_up(
    target: str, title: str, place: str
) -> None:
    assert identity(target, title, place) == KNOWN


@each(
    ("target", "title", "place"),
    [
        ("other.md", TITLE, "src/app.py"),
        ("plan.md", "`load()` trusts the user", "src/app.py"),
        ("plan.md", TITLE, "src/other.py"),
        ("plan.md", TITLE, ""),
    ],
)
def test_another_finding_has_another_identity(target: str, title: str, place: str) -> None:
    assert identity(target, title, place) != KNOWN


def test_an_identity_is_short_and_plain() -> None:
    assert KNOWN.startswith("f-") and len(KNOWN) == 14
    assert identity("", "\ud800 �", "a:b").startswith("f-")

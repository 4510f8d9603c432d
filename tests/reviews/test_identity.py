"""synthesis.py: a finding is known again when it moves, and not when it is about something else."""

from __future__ import annotations

from conftest import each
from contextkit.reviews.flows.synthesis import file_of, identity

TITLE = "`load()` trusts the token"
KNOWN = identity("plan.md", TITLE, "src/app.py:42")


@each(
    ("target", "title", "place"),
    [
        ("plan.md", TITLE, "src/app.py:97"),
        ("plan.md", TITLE, "src/app.py:40-45"),
        ("plan.md", TITLE, "./src/app.py#L42"),
        ("plan.md", "**load()** trusts the  Token.", "src/app.py:42"),
    ],
)
def test_a_finding_keeps_its_identity_when_it_moves_or_is_dressed_up(
    target: str, title: str, place: str
) -> None:
    assert identity(target, title, place) == KNOWN


@each(
    ("target", "title", "place"),
    [
        ("other.md", TITLE, "src/app.py:42"),
        ("plan.md", "`load()` trusts the user", "src/app.py:42"),
        ("plan.md", TITLE, "src/other.py:42"),
        ("plan.md", TITLE, ""),
    ],
)
def test_another_finding_has_another_identity(target: str, title: str, place: str) -> None:
    assert identity(target, title, place) != KNOWN


def test_an_identity_is_short_and_plain() -> None:
    assert KNOWN.startswith("f-") and len(KNOWN) == 14
    assert identity("", "\ud800 �", "a:b:1") == identity("", "\ud800 �", "a:b:7,9")


def test_the_file_of_a_place_is_its_path() -> None:
    assert file_of("src/app.py:42:7") == "src/app.py"
    assert file_of("src/app.py") == "src/app.py"

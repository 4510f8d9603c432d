"""reading.py: the figures of the design, word for word."""

from __future__ import annotations

from conftest import each
from contextkit.memory.commands import reading


@each(
    ("counts", "tokens"),
    [
        ({"words": 1000}, (1300, 1300)),
        ({"code_lines": 100}, (1000, 1000)),
        ({"file_reads": 3}, (1500, 6000)),
        ({"responses": 2}, (2000, 6000)),
        ({"file_reads": 3, "responses": 2}, (3500, 12_000)),
        ({"words": 1}, (2, 2)),
        ({}, (0, 0)),
    ],
)
def test_what_is_planned_adds_up(counts: dict[str, int], tokens: tuple[int, int]) -> None:
    assert reading.planned(counts) == tokens

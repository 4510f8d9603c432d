"""Reviews in many styles and languages: `=== name` and a review, in one file for each kind."""

from __future__ import annotations

from pathlib import Path

# A person may read these either way: a verdict in words that the wide reading does not know.
DOUBTED = ("Japanese", "conditions", "downgraded")


def clean() -> dict[str, str]:
    """Reviews in which nothing serious stands, by name."""
    return _styles("clean_reviews.md")


def serious() -> dict[str, str]:
    """Reviews with a serious finding in an odd place and a verdict that denies it, by name."""
    return _styles("serious_reviews.md")


def _styles(name: str) -> dict[str, str]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    parts = (part.partition("\n") for part in text.split("=== ")[1:])
    return {title: review for title, _, review in parts}

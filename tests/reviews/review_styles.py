"""Reviews in many styles and languages: `=== name` and a review, in one file for each kind."""

from __future__ import annotations

from pathlib import Path

from contextkit.reviews.documents.index import Terms


def clean() -> dict[str, str]:
    """Reviews in which nothing serious stands, by name."""
    return _styles("clean_reviews.md")


def by_contract() -> dict[str, tuple[str, Terms]]:
    """Clean reviews of three files with the contract of the run that asked for them, by name."""
    first, again = Terms(files=3), Terms(files=3, open=("P0-1", "P1-2"))
    return {name: (text, again if name == "a second look" else first)
            for name, text in _styles("contract_reviews.md").items()}  # fmt: skip


def serious() -> dict[str, str]:
    """Reviews with a serious finding in an odd place and a verdict that denies it, by name."""
    return _styles("serious_reviews.md")


def _styles(name: str) -> dict[str, str]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    parts = (part.partition("\n") for part in text.split("=== ")[1:])
    return {title: review for title, _, review in parts}


def tools(file: str = "tool_reviews.md") -> list[tuple[str, str, list[dict[str, str]]]]:
    """Reviews in the shapes of tools: name, text, and the serious findings a person reads in it."""
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    found = []
    for part in text.split("\n=== ")[1:]:
        head, _, rest = part.partition("\n")
        said, _, body = f"\n{rest}".partition("\n---8<---\n")
        rows = [row.split("~") for row in said.split("\n") if row.strip()]
        keys = ("severity", "title", "place", "body")
        serious = [dict(zip(keys, map(str.strip, row), strict=False)) for row in rows]
        found.append((head, body, serious))
    return found

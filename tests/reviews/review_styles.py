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
    safe = "### Findings Index\nVerdict: safe\n\n"
    return {name: safe + text for name, text in _styles("serious_reviews.md").items()}


def _styles(name: str) -> dict[str, str]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    parts = (part.partition("\n") for part in text.split("=== ")[1:])
    return {title: review for title, _, review in parts}


def tools(file: str = "tool_reviews.md") -> list[tuple[str, str, list[dict[str, str]]]]:
    """Reviews in the shapes of tools: name, text, and the serious findings a person reads in it.

    One text may stand for many: for each set of lines `> x`, `>> y` below the findings, `@1@` in it
    becomes x, and `@2@` y.
    """
    text = Path(__file__).with_name(file).read_text(encoding="utf-8")
    reviews = []
    for part in text.split("\n=== ")[1:]:
        name, _, rest = part.partition("\n")
        head, _, body = f"\n{rest}".partition("\n---8<---\n")
        for number, (findings, fillings) in enumerate(_variants(head.split("\n")), 1):
            filled = body
            for mark, filling in fillings.items():
                filled = filled.replace(f"@{len(mark)}@", filling)
            reviews.append((f"{name} {number}" if fillings else name, filled, findings))
    return reviews


def _variants(lines: list[str]) -> list[tuple[list[dict[str, str]], dict[str, str]]]:
    """The findings of each review that a text stands for, and what fills it, by `>`, `>>` …"""
    variants: list[tuple[list[dict[str, str]], dict[str, str]]] = [([], {})]
    for line in filter(str.strip, lines):
        mark, _, filling = line.partition(" ")
        if mark.strip(">"):
            if variants[-1][1]:
                variants.append(([], {}))
            fields = map(str.strip, line.split("~"))
            keys = ("severity", "title", "place", "body")
            variants[-1][0].append(dict(zip(keys, fields, strict=False)))
        else:
            variants[-1][1][mark] = filling
    return variants

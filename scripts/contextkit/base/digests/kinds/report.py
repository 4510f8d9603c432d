"""A report in Markdown: its recommendations, decisions, warnings, and measurements."""

from __future__ import annotations

import functools
import re

from contextkit.base.digests import reading, weighing
from contextkit.base.digests.reading import Block, Pattern, Unit

_FORM = Pattern(r"^(?:#{1,6} \S|[-*+] \S|\d{1,3}\. \S|\|.*\|\s*$|> \S)", re.M)
_HEADS = Pattern(r"^#{1,6} \S", re.M)
_PRIORITY = Pattern(r"(?<![\w-])(P[0-3])(?![\w.])")
_URGENT = 1.5  # how much more an item of the highest priority weighs
_ASPECT = 44  # characters shown of a heading
_NUMBER = Pattern(r"^(?:[\dA-Z]{1,2}(?:\.\d+)*[.):]\s+|\d+(?:\.\d+)*\s+)")


def is_it(text: str) -> int:
    """By its headings, lists, and tables."""
    sample = text[:20_000]
    heads = len(_HEADS.findall(sample))
    form = len(_FORM.findall(sample))
    lines = sample.count("\n") + 1
    if heads and form > 2:
        return 50 if form * 12 > lines else 30
    return 20 if form * 3 > lines and form > 2 else 0


def units(text: str) -> list[Unit]:
    """Sentences, items, and rows, each under its heading."""
    found: list[Unit] = []
    levels: list[str] = []
    for block in reading.blocks(text):
        if block.kind != "code":
            more = of_block(block)
            found += more
            levels += [_priority(block)] * len(more)
    top = min(filter(None, levels), default="")
    return [
        unit._replace(group=top, weight=unit.weight * _URGENT) if top and level == top else unit
        for unit, level in zip(found, levels, strict=True)
    ]


def _priority(block: Block) -> str:
    """The priority that an item or row begins with, or its heading has: `P0`; empty for none.

    What is left out of a text's highest priority is counted.
    """
    if block.kind not in ("item", "row"):
        return ""
    stated = _PRIORITY.search(block.text[:60]) or _PRIORITY.search(" ".join(block.titles[-1:]))
    return stated[1] if stated else ""


def of_block(block: Block) -> list[Unit]:
    """The units of a block; none for a label, a lead-in, or a list of sources."""
    weight, key = weighing.of_titles(block.titles)
    if not weight:
        return []
    if weighing.is_key(_label(block.text[:60])):
        weight, key = max(weight, 2.0), True
    aspect = aspect_of(block.titles)
    found = []
    said = reading.plain(block.text)
    parts = [said] if block.kind == "row" else list(reading.sentences(said))
    for index, part in enumerate(parts):
        shown = reading.clause(part)
        if weighing.is_label(shown) or shown.endswith((":", "：")) or len(shown.encode()) < 12:
            continue
        if block.kind == "item" and not index and block.lead:
            shown = _led(block.lead, shown)
        found.append(Unit(block.line, aspect, shown, weight * weighing.of_sentence(shown), key=key))
    return found


def _label(beginning: str) -> str:
    """The label of a block: the words before a colon, or the bold words at its start."""
    label, colon, _ = beginning.replace("：", ":").partition(":")
    return label if colon or beginning[:2] == "**" else ""


def _led(lead: str, item: str) -> str:
    """An item with the words that lead into it, if it would mean something else without them."""
    lead = lead.rstrip(":： ")
    if weighing.is_key(lead) and not weighing.NEGATING.search(lead):
        return item  # `Key findings:` says nothing of each
    if len(lead) < 60 or weighing.NEGATING.search(lead):
        last = list(reading.sentences(lead))[-1]
        return f"{last}: {item}" if len(last) < 160 else item
    return item


@functools.cache
def aspect_of(titles: tuple[str, ...]) -> str:
    """The heading, plus the one above it that reverses its meaning, if any."""
    if not titles:
        return ""
    shown = [_short(titles[-1])]
    for title in reversed(titles[1:-1]):
        if weighing.NEGATING.search(title):
            shown.insert(0, _short(title))
            break
    return " / ".join(shown)


def _short(title: str) -> str:
    title = _NUMBER.sub("", title)
    before, opening, _ = title.partition(" (")
    title = before if opening and len(title) > _ASPECT else title
    if len(title) <= _ASPECT:
        return title
    blank = title.rfind(" ", _ASPECT // 2, _ASPECT)
    return title[: blank if blank > 0 else _ASPECT].rstrip(" ,;:—-")

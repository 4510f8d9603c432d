"""A report in Markdown: its recommendations, decisions, warnings, and measurements."""

from __future__ import annotations

import functools
import re

from contextkit.base.digests import reading, weighing
from contextkit.base.digests.reading import Block, Pattern, Unit

_FORM = Pattern(r"^(?:#{1,6} \S|[-*+] \S|\d{1,3}\. \S|\|.*\|\s*$|> \S)", re.M)
_HEADS = Pattern(r"^#{1,6} \S", re.M)
_PRIORITY = Pattern(r"\W*(P[0-3])(?![\w.])")  # as the first words of an item
_COUNTED = Pattern(r"^(?:Priority |R)?\d+(?:\.\d+)*[a-z]?[.):]\s+", re.I)
_OF_ROW = Pattern(r"(?:^| - |, )(?:(?:Priority|Prio|Severity): )?\W?(P[0-3])(?= - |,|$)", re.I)
_NUMBERED = Pattern(r"(?:Priority |[A-Z]{0,2})\d+(?:\.\d+)*[a-z]?[.):]? ?\W*\s\w", re.I)
_URGENT = 1.5  # how much more an item of the highest priority weighs
_LINKING = Pattern(r"(?:^| - |, )(?:URL|Link|Source|Quelle|Fuente|Fonte): ", re.I)
_LINKED = 0.4  # how much a row of a list of sources weighs
_ADVICE = 5  # the rank of recommendations
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
    """Recommendations by their headings, then sentences, items, and rows, each under its heading.

    What is left out of a text's highest priority is counted.
    """
    found: list[Unit] = []
    levels: list[str] = []
    titles: tuple[str, ...] = ()
    for block in reading.blocks(text):
        advice = _advice(block, titles)
        titles = block.titles
        if advice:
            found.append(advice)
            levels.append("")
        if block.kind != "code" and not (advice and advice.text == reading.plain(block.text)):
            found += of_block(block)
            levels += [_priority(block), *[""] * len(found)][: len(found) - len(levels)]
    top = min(filter(None, levels), default="")
    if not top:
        return found
    return [
        unit._replace(group=top, weight=unit.weight * _URGENT) if level == top else unit
        for unit, level in zip(found, levels, strict=True)
    ]


def statements(text: str) -> list[Unit]:
    """Sentences, items, and rows, each under its heading."""
    blocks = (block for block in reading.blocks(text) if block.kind != "code")
    return [unit for block in blocks for unit in of_block(block)]


def _advice(block: Block, before: tuple[str, ...]) -> Unit | None:
    """The recommendation or decision that a block begins: a numbered heading, or bold words alone.

    `before` are the headings of the block before it.
    """
    if block.kind == "text" and block.text[:2] == block.text[-2:] == "**":
        above, title = block.titles, reading.plain(block.text)
    elif block.titles != before:
        above, title = block.titles[:-1], "".join(block.titles[-1:])
    else:
        return None
    if not any(map(weighing.is_advice, above[-2:])) or not _NUMBERED.match(title):
        return None
    title = _COUNTED.sub("", title).partition(" (")[0]
    return Unit(block.line, aspect_of(above[-1:]), title, 2.0, _ADVICE, "recommendations")


def _priority(block: Block) -> str:
    """The priority that an item begins with, or that is a cell of a row: `P0`; empty for none."""
    stated = None
    if block.kind == "item":
        stated = _PRIORITY.match(block.text[:20])
    elif block.kind == "row":
        stated = _OF_ROW.search(block.text)
    return stated[1] if stated else ""


def of_block(block: Block) -> list[Unit]:
    """The units of a block; none for a label, a lead-in, or a list of sources."""
    weight, key = weighing.of_titles(block.titles)
    if not weight:
        return []
    if weighing.is_key(_label(block.text[:60])):
        weight, key = max(weight, 2.0), True
    if block.kind == "row" and _LINKING.search(block.text):
        weight *= _LINKED
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

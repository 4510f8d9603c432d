"""A report in Markdown: its recommendations, decisions, warnings, and measurements."""

from __future__ import annotations

import functools
import re

from contextkit.base.expressions import Pattern
from contextkit.text import authored, objects
from contextkit.text.digests import parts, reading, weighing
from contextkit.text.digests.reading import Block, Unit
from contextkit.text.words import TEXTS

_FORM = Pattern(r"^(?:#{1,6} \S|[-*+] \S|\d{1,3}\. \S|\|.*\|\s*$|> \S|\*\*\w)", re.M)
_TOP = Pattern(r"^# \S.*\n(?!\n)", re.M)  # no blank line below
_COMMENTS = 3  # headings of the first level up to which they are not taken for comments
_PLACED = Pattern(r"^[\w./-]+\.\w{1,5}:\d+:\d+: ", re.M)  # a message of a compiler
_FENCED = Pattern(r"^```.*?^```", re.M | re.S)
_HEADS = Pattern(r"^#{1,6} \S", re.M)
_TITLES, _DIGITS = Pattern(r"^#{1,6} .*$", re.M), Pattern(r"\d+")
_NUMBERED = Pattern(r"^[-*+] \[?\d{4,}\D", re.M)  # the time of an entry of a log
_STACKED = Pattern(r"^(#{1,6}) .*\n(?=\1 )", re.M)  # one above the other
_APART = Pattern(r"(?<=\n\n)#{2,6} \S.*\n(?!#)")  # below a blank line, above text
_LISTS = Pattern(r"^[-*+] \S.*\n\w[^.:\n]*:?\n(?=[-*+] )", re.M)  # one below the other
_TAP = Pattern(r"^(?:not )?ok \d", re.M)  # its comments look like headings
_PRIORITY = Pattern(r"(?<![\w-])(P[0-3])(?!\w)")
_RATED = Pattern(r"\b(?:[Pp]riorit\w+|[Ss]everity): (P[0-3])(?!\w)")  # a cell of a row
_URGENT = 1.5  # factor for an item of the highest priority
_NEXT = 2.0  # weight of `Next step: …`, `Blocked: …`, wherever they stand
_ASPECT = 44  # characters shown of a heading
_ANSWERING = TEXTS.any_of("answering")  # a heading that answers the one above it
_NUMBER = Pattern(r"^(?:[\dA-Z]{1,2}(?:\.\d+)*[.):]\s+|\d+(?:\.\d+)*\s+)")


def confidence(text: str) -> int:
    """The confidence by its headings, lists, and tables."""
    sample = _FENCED.sub("", text[:20_000])
    heads = len(_HEADS.findall(sample))
    form = len(_FORM.findall(sample))
    if len(reading.COMMITS.findall(sample)) * 2 > form or len(_NUMBERED.findall(sample)) * 2 > form:
        return 0
    if len(_STACKED.findall(sample)) * 3 > heads:
        return 0  # a compiler's messages
    if heads == form and len(_TOP.findall(sample)) > max(_COMMENTS, heads - 2):
        return 0  # comments in a settings file, or between commands
    titles = _TITLES.findall(sample)
    are_alike = len({_DIGITS.sub("", title) for title in titles}) == 1 < len(titles) == form
    if are_alike and (len({*titles}) > 1 or titles[0][1] == " "):
        return 0  # headings printed between the runs of a tool
    if len(_PLACED.findall(sample)) > heads:
        return 0  # the packages of `go vet`
    if not heads and _LISTS.search(sample):
        return 0  # a tool's groups of items
    lines = sample.count("\n") + 1
    if not heads:  # some tools begin their lines like that
        form -= sample.count("\n> ") + sample.count("\n|") + sample.count("\n+ ")
    if objects.is_data(sample) and (objects.tree(text) or len(_APART.findall(sample)) < 2):
        return 0
    if heads and form > 2 and not _TAP.search(sample):
        return 50 if form * 12 > lines else 30
    return 20 if form * 3 > lines and form > (2 if heads else 4) else 0


def units(text: str) -> list[Unit]:
    """Sentences, items, and rows by heading; those of the highest priority first."""
    blocks: list[tuple[tuple[str, ...], list[Unit]]] = []  # by their headings
    levels: list[str] = []  # the priority stated for each unit
    for block in reading.blocks(text):
        if block.kind == "code":
            continue
        own = [_weighed(unit) for unit in of_block(block)]
        levels += ["" if at else _priority(block) for at in range(len(own))]
        blocks.append((block.titles, own))
    told = parts.weighed(blocks)
    top = min(filter(None, levels), default="")
    return [
        unit._replace(group=unit.group or top, weight=unit.weight * _URGENT, rank=unit.rank or 2)
        if top and level == top
        else unit
        for unit, level in zip(told, levels, strict=True)
    ]


def _weighed(unit: Unit) -> Unit:
    """The unit, with more weight if it says what comes next."""
    label = _label(unit.text)
    is_next = bool(label) and authored.role_of(label) in ("decision", "open")
    return unit._replace(weight=max(unit.weight, _NEXT), key=True) if is_next else unit


def statements(text: str) -> list[Unit]:
    """Sentences, items, and rows, each under its heading."""
    blocks = (block for block in reading.blocks(text) if block.kind != "code")
    return [unit for block in blocks for unit in of_block(block)]


def _priority(block: Block) -> str:
    """The priority of an item or row, `P0` or '': its first word, its rating, or its heading's.

    Units of a text's highest priority are counted if they are left out.
    """
    if block.kind not in ("item", "row"):
        return ""
    row = block.kind == "row"
    stated = _PRIORITY.match(block.text) or _RATED.search(block.text) if row else None
    stated = stated or (None if row else _PRIORITY.search(block.text[:60]))
    if not stated:
        stated = _PRIORITY.search(" ".join(block.titles[-1:]))
    return stated[1] if stated else ""


def of_block(block: Block) -> list[Unit]:
    """The units of a block; none for a label, a lead-in, or a list of sources."""
    weight, key = weighing.of_titles(block.titles)
    if not weight or weighing.only_refers(block.lead):
        return []
    if weighing.is_key(_label(block.text[:60])):
        weight, key = max(weight, 2.0), True
    aspect = aspect_of(block.titles)
    units = []
    for index, shown in enumerate(block.statements()):
        decisive = weighing.of_statement(shown)
        if not decisive:
            continue
        is_item = block.kind == "item" and not index
        if is_item and block.lead:
            shown = _led(block.lead, shown)
            decisive = weighing.of_sentence(shown)
        units.append(Unit(block.line, aspect, shown, weight * decisive, key=key, is_item=is_item))
    return units


def _label(beginning: str) -> str:
    """The label of a block: the words before a colon, or the bold words at its start."""
    label, colon, _ = beginning.replace("：", ":").partition(":")
    return label if colon or beginning[:2] == "**" else ""


def _led(lead: str, item: str) -> str:
    """An item with its lead-in, if it would mean something else without it."""
    lead = lead.rstrip(":： ")
    if weighing.is_key(lead) and not weighing.NEGATING.search(lead):
        return item  # `Key findings:` adds nothing
    if len(lead) < 60 or weighing.NEGATING.search(lead):
        last = list(reading.sentences(lead))[-1]
        return f"{last}: {item}" if len(last) < 160 else item
    return item


@functools.cache
def aspect_of(titles: tuple[str, ...]) -> str:
    """The heading, plus the one above if this one answers it or means the reverse without it.

    A label in front of it, such as `R2:`, stays.
    """
    if not titles:
        return ""
    title = _short(titles[-1])
    above = [other for other in titles[1:-1] if weighing.NEGATING.search(other)]
    above = above or list(titles[1:-1] if _ANSWERING.match(title) else ())
    return f"{_short(above[-1])} / {title}" if above else title


def _short(title: str) -> str:
    is_labeled = title[:1].isalpha() and reading.LABELED.match(title)
    title = title if is_labeled else _NUMBER.sub("", title)
    before, opening, _ = title.partition(" (")
    title = before if opening and len(title) > _ASPECT else title
    if len(title) <= _ASPECT:
        return title
    blank = title.rfind(" ", _ASPECT // 2, _ASPECT)
    return title[: blank if blank > 0 else _ASPECT].rstrip(" ,;:—-")

"""Trim a capsule's body to a number of tokens, dropping the least important items first.

The order is the seed's: newest, blocking, and high-severity items first, stable background last.
Whole items are dropped: background before intent, old before new, urgent ones at the very end.
"""

from __future__ import annotations

from contextkit.base import names, tokens
from contextkit.base.type_names import Sequence
from contextkit.capsules.documents import items as parts
from contextkit.capsules.documents.items import Item
from contextkit.text import fitting
from contextkit.text.fitting import Part

# What is dropped first. Unlisted sections come between background and open items.
_BACKGROUND = (
    "Consistency Checklist",
    "Knowledge Base",
    "Transcript Highlights",
    "Key Decisions & Rationale",
)
_OPEN = (
    "Exploratory Threads & User Preferences",
    "Active Workstreams",
    "Pending Actions",
    "Risks & Watchpoints",
)
_INTENT = ("", "Mission Snapshot")
_ORDER = {name: at for at, name in enumerate((*_BACKGROUND, "another", *_OPEN, *_INTENT))}
_URGENT = (
    "block", "p0", "p1", "critical", "severe", "severity: high", "high-severity", "high severity",
    "urgent", "must not", "data loss", "security",
)  # fmt: skip


def _weight(item: Item) -> tuple[bool, int, str, int]:
    """The lower, the sooner it is dropped."""
    lower = item.text.lower()
    urgent = item.section in _INTENT or any(word in lower for word in _URGENT)
    return urgent, _ORDER.get(item.section, len(_BACKGROUND)), _newest(item.text), -item.at


def trimmed(body: str, max_tokens: int, tokenizer: str = tokens.DEFAULT) -> tuple[str, list[str]]:
    """`body` within `max_tokens` of the reader's tokenizer, and a description of what was removed.

    A body that fits is returned unchanged.
    """
    if tokens.within(body, max_tokens, tokenizer):
        return body, []
    items = parts.items(body)
    order = {item.at: step for step, item in enumerate(sorted(items, key=_weight), start=1)}
    texts = fitting.fit(
        [Part(item.text, ((order[item.at], 0),)) for item in items],
        lambda texts: tokens.within(_joined(items, texts), max_tokens, tokenizer),
    )
    gone = [item for item, text in zip(items, texts, strict=True) if not text]
    if len(gone) < len(items):
        return _joined(items, texts), _losses(items, gone)
    urgent = max(items, key=_weight)  # not even this one fits: its beginning stays
    text = _joined([urgent], [urgent.text]).rstrip("\n")
    cut = fitting.beginning(text, lambda text: tokens.within(f"{text}\n", max_tokens, tokenizer))
    gone.remove(urgent)
    return f"{cut}\n", [*_losses(items, gone), "the rest was cut"]


def _newest(text: str) -> str:
    """The latest date in an item, with its time if one follows; '' if it has none."""
    words = text.replace("T", " ").replace("(", " ").split()
    days = [word[:10] for word in words]
    times = zip(days, [*words[1:], ""], strict=False)
    return max((f"{d} {t}" for d, t in times if names.shape(d) == "0000-00-00"), default="")


def _joined(items: list[Item], texts: Sequence[str]) -> str:
    """The body of the items with these texts, under the headings of their sections."""
    lines: list[str] = []
    section = ""
    for item, text in zip(items, texts, strict=True):
        if not text:
            continue
        if item.section != section:
            section = item.section
            lines += ["", f"# {section}"] if lines else [f"# {section}"]
        lines.append(text)
    return "\n".join(lines) + "\n" if lines else ""


def _losses(items: list[Item], gone: list[Item]) -> list[str]:
    """A line for each section that lost something, in the order of the body."""
    of: dict[str, list[int]] = {}
    for item in items:
        of.setdefault(item.section, [0, 0])[1] += 1
    for item in gone:
        of[item.section][0] += 1
    return [
        f"{section or 'the beginning'}: {lost} of {count} items"
        for section, (lost, count) in of.items()
        if lost
    ]

"""The items of a capsule's sections: which carry over to the next, and which a subagent gets.

An item is a list item with all that is indented below it, or a paragraph.
"""

from __future__ import annotations

from contextkit.base import markdown, names, tokens
from contextkit.base.records import Record
from contextkit.base.type_names import Iterable, Sequence
from contextkit.capsules.documents.store import CHECKLIST, HIGHLIGHTS, THREADS
from contextkit.text import fitting, sections

MISSION, DECISIONS, RISKS = "Mission Snapshot", "Key Decisions & Rationale", "Risks & Watchpoints"
CARRIED = "(carried)"
_CLOSED = ("closed", "resolved", "dropped", "done", "superseded", "no longer", "[x]")
_ALIKE = 0.5  # share of an item's words that another must have to be the same item
QUESTION_TOKENS = 120  # for an agent that only answers a question
_SHORT = 3  # letters of a word that says nothing


class Item(Record):
    """An item in a section; `at` counts items, `line` lines of the body, from 1."""

    section: str
    text: str
    at: int
    line: int

    @property
    def listed(self) -> bool:
        return bool(markdown.mark_of(self.text))

    @property
    def bare(self) -> str:
        """Its first line without its mark and the note that it was carried over."""
        first = self.text.partition("\n")[0]
        return first.removeprefix(markdown.mark_of(first)).replace(CARRIED, "").strip()

    @property
    def closed(self) -> bool:
        """Whether it is marked as closed."""
        return self.bare.strip("*_~ ").lower().startswith(_CLOSED) or "(closed)" in self.text


def _words(text: str) -> frozenset[str]:
    """The longer words of a text, and those in its paths, in lower case."""
    plain = "".join(c if c.isalnum() else " " for c in text.lower())
    return frozenset(word for word in plain.split() if len(word) > _SHORT)


def items(body: str) -> list[Item]:
    """The items of a body, and the paragraphs between them."""
    lines = body.split("\n")
    body_items: list[Item] = []
    for section, first, end in sections_of(lines):
        own = lines[first:end]
        for item in sections.items(own, grouped=False):
            text = "\n".join(own[item.first : item.end]).rstrip()
            at = first + item.first + 1
            body_items.append(Item(section=section, text=text, at=len(body_items), line=at))
    return body_items


def sections_of(lines: list[str]) -> list[tuple[str, int, int]]:
    """(title, line below its heading, line after its last) of each section; the first has none."""
    heads = markdown.sections(lines, 1)
    first = ("", 0, heads[0][1] if heads else len(lines))
    return [first, *((title, at + 1, end) for title, at, end in heads)]


def carried(before: str, after: str) -> list[Item]:
    """The open decisions, threads and preferences of the body `before` that `after` leaves out.

    An item is in `after` if some item there has half of its words. Closed ones are left out.
    """
    new = [_words(item.bare) for item in items(after)]
    own = (item for item in items(before) if item.section in (DECISIONS, THREADS))
    still_open = [(item, words) for item in own if not item.closed and (words := _words(item.bare))]
    return [item for item, words in still_open
            if all(len(words & other) < _ALIKE * len(words) for other in new)]  # fmt: skip


def with_carried(body: str, more: Iterable[Item]) -> str:
    """`body` with these items, marked as carried, at the end of their sections, made if needed."""
    for section in (THREADS, DECISIONS):
        texts = []
        for item in (item for item in more if item.section == section):
            first, newline, rest = item.text.partition("\n")
            first = "- " + first.removeprefix(markdown.mark_of(first))
            texts.append((first if CARRIED in first else f"{first} {CARRIED}") + newline + rest)
        if not texts:
            continue
        lines = body.rstrip("\n").split("\n")
        ends = [first for title, first, _ in sections_of(lines) if title == section]
        ends += [it.line + it.text.count("\n") for it in items(body) if it.section == section]
        if not ends:
            lines += ["", f"# {section}"]
            ends = [len(lines)]
        body = "\n".join([*lines[: ends[-1]], *texts, *lines[ends[-1] :]]) + "\n"
    return body


def for_subagent(body: str) -> str:
    """`body` without the checklist and the owners, which only concern the main agent."""
    lines = body.split("\n")
    checklists = [span for span in sections_of(lines) if span[0] == CHECKLIST]
    coded = markdown.in_fences(lines)
    kept = []
    for at, line in enumerate(lines):
        if any(first - 1 <= at < end for _, first, end in checklists):
            continue
        short = line if coded[at] else _without_owner(line)
        if short.strip(" -*+_") or not line.strip(" -*+_"):
            kept.append(short)
    return "\n".join(kept).rstrip("\n") + "\n" if kept != lines else body


def _without_owner(line: str) -> str:
    """A line without `owner: …`, which ends at the next `;`, `,` or `)`."""
    at = line.lower().find("owner:")
    if at < 0:
        return line
    end = min((e for e in (line.find(mark, at) for mark in ";,)") if e >= 0), default=len(line))
    head, rest = line[:at].rstrip("*_; ,"), line[end:]
    if head.endswith("("):  # `(owner: Ada, trigger: tests pass)`
        rest = rest.lstrip(";, ")
        return head[:-1].rstrip() + rest[1:] if rest[:1] == ")" else head + rest
    return head + rest


def excerpt(body: str, task: str, room: int = QUESTION_TOKENS) -> str:
    """The mission, decisions, risks and preferences that touch the words of `task`, in `room`."""
    asked = _words(task)
    own = []
    for item in (item for item in items(body) if not item.closed):
        is_preference = item.section == THREADS and "preference" in item.bare[:20].lower()
        touches = not asked or not asked.isdisjoint(_words(item.bare))
        matters = touches and (is_preference or item.section in (DECISIONS, RISKS))
        own += [item] if matters or item.section == MISSION else []
    own.sort(key=lambda item: (item.section != MISSION, -len(_words(item.bare) & asked)))
    lines = [f"- {item.bare}" for item in own]
    count = fitting.leading(lines, room)
    return "\n".join(lines[:count] or [tokens.clip(line, room) for line in lines[:1]])


# Under a cap, whole items are dropped in the seed's order: newest, blocking, and high-severity ones
# stay longest; background goes before intent, old before new, urgent ones last of all.


# What is dropped first. Unlisted sections come between background and open items.
_BACKGROUND = (CHECKLIST, "Knowledge Base", HIGHLIGHTS, DECISIONS)
_OPEN = (THREADS, "Active Workstreams", "Pending Actions", RISKS)
_INTENT = ("", MISSION)
_ORDER = {name: at for at, name in enumerate((*_BACKGROUND, "another", *_OPEN, *_INTENT))}
_URGENT = (
    "block", "p0", "p1", "critical", "severe", "severity: high", "high-severity", "high severity",
    "urgent", "must not", "data loss", "security",
)  # fmt: skip


def _weight(item: Item) -> tuple[bool, int, str, int]:
    """The rank of an item: the lower it is, the sooner the item is dropped.

    Its latest date counts, with the time if one follows.
    """
    lower = item.text.lower()
    urgent = item.section in _INTENT or any(word in lower for word in _URGENT)
    words = item.text.replace("T", " ").replace("(", " ").split()
    times = zip((word[:10] for word in words), [*words[1:], ""], strict=False)
    newest = max((f"{d} {t}" for d, t in times if names.shape(d) == "0000-00-00"), default="")
    return urgent, _ORDER.get(item.section, len(_BACKGROUND)), newest, -item.at


def trimmed(body: str, max_tokens: int, tokenizer: str = tokens.DEFAULT) -> tuple[str, list[str]]:
    """`body` within `max_tokens` of the reader's tokenizer, and a line about each removed part."""
    if tokens.within(body, max_tokens, tokenizer):
        return body, []
    whole = items(body)
    order = {item.at: step for step, item in enumerate(sorted(whole, key=_weight), start=1)}
    texts = fitting.fit(
        [fitting.Part(item.text, ((order[item.at], 0),)) for item in whole],
        lambda texts: tokens.within(_joined(whole, texts), max_tokens, tokenizer),
    )
    gone = [item for item, text in zip(whole, texts, strict=True) if not text]
    if len(gone) < len(whole):
        return _joined(whole, texts), _losses(whole, gone)
    urgent = max(whole, key=_weight)  # even this one does not fit whole: keep its beginning
    text = _joined([urgent], [urgent.text]).rstrip("\n")
    cut = fitting.beginning(text, lambda text: tokens.within(f"{text}\n", max_tokens, tokenizer))
    gone.remove(urgent)
    return f"{cut}\n", [*_losses(whole, gone), "the rest was cut"]


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
    whole, lost = ([item.section for item in each] for each in (items, gone))
    parts = (section for section in dict.fromkeys(whole) if section in lost)
    return [f"{section or 'the beginning'}: {lost.count(section)} of {whole.count(section)} items"
            for section in parts]  # fmt: skip

"""What a long Markdown report says, in a few lines, by rule: the same text, the same lines.

Used for whatever the author of a report did not say in so many words: its summary, up to seven
rows of aspect and finding, its key findings, its stated confidence. Nothing is invented: every
sentence stands in the text (without its Markdown marks, and cut with `…` where it is endless).
"""

from __future__ import annotations

from contextkit.base import markdown
from contextkit.base.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SUMMARY = ("executive summary", "summary", "tl;dr", "tldr", "abstract", "overview", "resumo",
            "zusammenfassung", "in short", "resumen", "résumé", "要約", "概要", "摘要",
            "conclusion", "conclusions")  # fmt: skip
_KEY = ("key finding", "key findings", "main findings", "key takeaways", "bottom line")
_DECIDES = ("recommend", "conclusion", "verdict", "decision", "key finding", "result", "answer",
            "next step", "risk", "outcome", "priorit", "root cause", "fix")  # fmt: skip
_SKIPPED = ("source", "reference", "table of contents", "contents", "appendix", "code example",
            "bibliography", "further reading", "links", "metadata", "changelog")  # fmt: skip
_LABELS = ("source", "sources", "date", "author", "researcher", "status", "confidence level",
           "story", "wave", "research block", "research date", "research scope", "generated",
           "reference", "references", "confidence", "tokens", "agent", "model")  # fmt: skip
_ABBREVIATIONS = ("e.g", "i.e", "etc", "vs", "cf", "dr", "mr", "approx", "resp")
_LONGEST = 400  # characters of a sentence
_LONGEST_SUMMARY = 600  # characters of three sentences; two where three are longer
_LONGEST_KEY = 240  # characters of key findings: one sentence where two are longer
_LONGEST_ASPECT = 48  # characters; a longer title loses what it says in parentheses
_SHORTEST = 25  # bytes: below it a "sentence" says nothing on its own
_FEWEST = 4  # words, in the same sense
_FEWEST_LEAD_IN = 7  # words of what ends in a colon, in the same sense
_ENOUGH = 5  # rows that decide: then none that only describes is added


class Section(Record):
    """A heading and the text directly below it, without code."""

    level: int
    title: str
    text: str = ""


class Row(Record):
    aspect: str
    finding: str


def sections(text: str) -> list[Section]:
    """The sections of a Markdown text, in order; what stands before a heading has level 0.

    A text that is nothing but code is read as if it were prose.
    """
    text = _body(text)
    found = _sections(markdown.outside_fences(text))
    if any(section.text.strip() for section in found):
        return found
    return _sections(enumerate(text.split("\n"), start=1))


def _sections(lines: Iterable[tuple[int, str]]) -> list[Section]:
    found: list[tuple[int, str, list[str]]] = [(0, "", [])]
    before = 0
    for number, line in lines:
        if number > before + 1:
            found[-1][2].append("")  # a code block ends the paragraph
        before = number
        stripped = line.strip()
        if stripped[:1] == "#" and stripped.lstrip("#")[:1] == " ":
            level = len(stripped) - len(stripped.lstrip("#"))
            found.append((level, plain(stripped.strip("# ")), []))
        else:
            found[-1][2].append(line)
    return [
        Section(level=level, title=title, text="\n".join(inside)) for level, title, inside in found
    ]


def _body(text: str) -> str:
    """`text` without a byte-order mark and front matter."""
    text = text.removeprefix("\ufeff")
    if text.startswith("---\n") and "\n---\n" in text[:4096]:
        return text.partition("\n---\n")[2]
    return text


def _paragraphs(text: str) -> Iterator[str]:
    """Paragraphs and list items as plain text; of a table the rows below its head, `cell: cell`."""
    parts: list[str] = []
    in_table = False
    for line in text.split("\n"):
        item = line.strip().lstrip("> ")
        if item.startswith("|"):
            cells = [plain(cell) for cell in item.strip("|").split("|")]
            if in_table and not set("".join(cells)) <= set("-: "):
                parts.append(": ".join(cell for cell in cells if cell))
            item, in_table = "", True
        else:
            in_table = False
        blank = not item or set(item) <= set("-=*_ ") or item.startswith(("<!--", "!["))
        marker = 0 if blank else _marker(item)
        if not (parts or marker) and line.startswith(("    ", "\t")):
            continue  # an indented line that continues nothing is code
        if parts and (blank or marker or item.startswith("**")):
            yield plain(" ".join(parts))
            parts = []
        if not blank:
            parts.append(item[marker:])
    if parts:
        yield plain(" ".join(parts))


def _marker(item: str) -> int:
    """How long the bullet or number of a list item is; 0 for a line that is none."""
    if item[:2] in ("- ", "* ", "+ "):
        return 2
    digits = len(item) - len(item.lstrip("0123456789"))
    return digits + 2 if 0 < digits < 4 and item[digits : digits + 2] in (". ", ") ") else 0


def plain(text: str) -> str:
    """`text` without Markdown's marks: bold, code ticks, links (their text stays)."""
    if "](" in text:
        text = _unlinked(text)
    if "`" in text or "**" in text:
        spans = text.split("`")  # every other one is code
        text = "".join(s if i % 2 else s.replace("**", "") for i, s in enumerate(spans))
    return " ".join(text.split())


def _unlinked(text: str) -> str:
    first, *rest = text.split("](")
    kept = [first]
    for piece in rest:
        label, closing = kept[-1].rfind("["), piece.find(")")
        before = kept[-1][:label] if label >= 0 else "x"
        if closing >= 0 and not before[-1:].isalnum():  # a[0](b) is code
            kept[-1] = before.removesuffix("!") + kept[-1][label + 1 :]
            kept.append(piece[closing + 1 :])
        else:
            kept.append("](" + piece)
    return "".join(kept)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a paragraph; a full stop ends one only before a blank and a new start."""
    start = 0
    for index, char in enumerate(text):
        if char not in ".!?。！？":
            continue
        if char in ".!?":
            if text[index + 1 : index + 2] != " " or text[index + 2 : index + 3].islower():
                continue
            word = text[max(start, text.rfind(" ", start, index) + 1) : index].lower().lstrip("(")
            if word in _ABBREVIATIONS or (word.isdigit() and index - start < 4):  # an item's number
                continue
        if said := text[start : index + 1].strip():
            yield said
        start = index + 1
    if said := text[start:].strip():
        yield said


def _said(section: Section) -> Iterator[str]:
    """The sentences of a section, but for labels such as `Date: x`; endless ones are cut."""
    for paragraph in _paragraphs(section.text):
        for sentence in sentences(paragraph):
            head, colon, rest = sentence.partition(":")
            bare = not rest and head.count(" ") + 1 < _FEWEST_LEAD_IN
            if not colon or not (bare or head.lower() in _LABELS):
                yield _cut(sentence)


def _cut(sentence: str) -> str:
    if len(sentence) <= _LONGEST:
        return sentence
    blank = sentence.rfind(" ", 0, _LONGEST)
    return sentence[: blank if blank > 0 else _LONGEST - 1] + "…"


def _first(section: Section) -> str:
    """The first sentence of a section that says something."""
    for sentence in _said(section):
        words = sentence.count(" ") + 1
        if len(sentence.encode()) >= _SHORTEST and (words >= _FEWEST or not sentence.isascii()):
            return sentence.rstrip(":")
    return ""


def summary(found: list[Section]) -> str:
    """Two to three sentences: of the text's own summary, else of its first prose."""
    said = _leading(found)
    whole = [sentence + "." * sentence[-1].isalnum() for sentence in said]
    return " ".join(whole if len(whole) > 1 else said)


def _leading(found: list[Section]) -> list[str]:
    own = [section for name in _SUMMARY for section in found if _bare(section.title) == name]
    others = [section for section in found if not _bare(section.title).startswith(_SKIPPED)]
    said: list[str] = []
    for section in [*own, *others]:
        for sentence in _said(section):
            if sentence not in said and not sentence.endswith(":"):
                said.append(sentence)
            if len(said) == 3:
                break
        if len(said) > 1:
            break
    return said[:2] if sum(map(len, said)) > _LONGEST_SUMMARY else said


def _bare(title: str) -> str:
    return title.lower().lstrip("0123456789.) ").rstrip(".: ")


def rows(found: list[Section], most: int) -> list[Row]:
    """Up to `most` sections with what each says first; those that decide something come before
    those that only describe, and all stand in the order of the text.
    """
    deciding: list[tuple[int, Row]] = []
    describing: list[tuple[int, Row]] = []
    titles: set[str] = set()
    top = 1 if sum(section.level == 1 for section in found) > 1 else 2  # one is the text's title
    decided = 99  # the level of the heading that decides; what is below it does too
    for index, section in enumerate(found):
        title = _bare(section.title)
        if section.level <= decided:
            decides = any(f" {word}" in f" {title}" for word in _DECIDES)
            decided = section.level if decides else 99
        skipped = section.level < top or title in titles or title in _SUMMARY
        finding = "" if skipped or title.startswith(_SKIPPED) else _first(section)
        titles.add(title)
        if finding:
            row = Row(aspect=_aspect(section.title), finding=finding)
            (describing if decided == 99 else deciding).append((index, row))
    chosen = (deciding if len(deciding) >= _ENOUGH else [*deciding, *describing])[:most]
    if not chosen and (said := summary(found)):
        return [Row(aspect="Content", finding=said)]
    return [row for _, row in sorted(chosen, key=lambda one: one[0])]


def _aspect(title: str) -> str:
    before, opening, _ = title.partition(" (")
    return _cut(before if opening and len(title) > _LONGEST_ASPECT else title) or "Content"


def key_findings(found: list[Section]) -> str:
    """One or two sentences: those the text itself calls key, else the first of its summary."""
    said = _called_key(found) or _leading(found)[:1]
    return " ".join(said if sum(map(len, said)) <= _LONGEST_KEY else said[:1])


def _called_key(found: list[Section]) -> list[str]:
    """Two sentences below `## Key findings`, or behind `Key findings:`."""
    for section in found:
        if _bare(section.title) in _KEY:
            said = _said(section)
            return [sentence for sentence, _ in zip(said, range(2), strict=False)]
        if not any(
            line.lstrip(" \t*>-").lower().startswith(_KEY) for line in section.text.split("\n")
        ):
            continue
        paragraphs = _paragraphs(section.text)
        for paragraph in paragraphs:
            label, colon, rest = paragraph.partition(":")
            if colon and label.lower().strip() in _KEY:
                items = [rest.strip()] if rest.strip() else list(paragraphs)[:2]
                each = [list(sentences(item))[: 2 if rest.strip() else 1] for item in items]
                return [_cut(sentence) for few in each for sentence in few]
    return []


def confidence(text: str) -> str:
    """`High`, `Medium` or `Low` if a line of the text's beginning states it as such; else empty."""
    for line in text.split("\n", 60)[:60]:
        label, colon, rest = plain(line[:200].lstrip("#-* ")).partition(":")
        if colon and label.lower() in ("confidence", "confidence level", "overall confidence"):
            word = rest.strip().partition(" ")[0].strip("*.,;").capitalize()
            if word in ("High", "Medium", "Low"):
                return word
    return ""

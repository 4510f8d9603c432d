"""What the author of a text says about it: its own Summary, Conclusion, Recommendation, Verdict …

A section is known by its heading or label, in the languages that the digests know. Statements come
in order of their value to a reader: verdicts, summaries, decisions, open questions.
"""

from __future__ import annotations

import functools
import itertools
import re

from contextkit.base.expressions import Pattern
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Iterator
from contextkit.text.digests import reading, weighing
from contextkit.text.digests.reading import Block
from contextkit.text.words import TEXTS

_ROLES = ("verdict", "summary", "cause", "decision", "open", "risk", "confidence")
_CORE = ("verdict", "summary", "cause", "advice")
_ORDER = (*_CORE, "detail", "decision", "open", "risk", "confidence")  # in which statements come
_WORDS = {word: role for role in reversed(_ROLES) for word in TEXTS.phrases[f"role {role}"]}
_ALONE = frozenset("open offen abierto aberto ouvert aperto öppet otwarte открыто".split())
_QUALIFYING = frozenset(TEXTS.words["qualifying"])
_LABELS = Pattern(r"^\*{0,2}([^\W\d][^:：*.!?]{2,28}?)\*{0,2}\s*[:：]\*{0,2}\s+(?=\S)")
_CUTS = Pattern(r"(?: [—–-] |[:：(（]).*", re.S)
_NUMBER = Pattern(r"^(?:(?:\d+|[A-Z])(?:\.\d+)*[.):]?\s+)?[^\w]*")
_PERSON = Pattern(
    r"\b(?:humans?|people|person|owner|operator|user|you|mensch\w*|humain|humano|persona)\b", re.I
)
_LEVEL = Pattern(
    r"\b(high|medium|moderate|low|hoch|mittel|niedrig|alta|media|baja|baixa|média|élevée?|moyenne"
    r"|faible|bassa|hoog|gemiddeld|laag|hög|medel|låg|wysoka|średnia|niska)\b"
    r"|(высок|средн|низк|高|中|低|높|중간|낮|yüksek|orta|düşük)", re.I
)  # fmt: skip
_LEVELS = {
    "High": "high hoch alta élevé élevée hoog hög wysoka высок 高 높 yüksek",
    "Medium": "medium moderate mittel media média moyenne gemiddeld medel średnia средн 中 중간"
    " orta",
    "Low": "low niedrig baja baixa faible bassa laag låg niska низк 低 낮 düşük",
}
_LONG_TITLE = 8  # words
_DEEPEST = 3  # headings above a statement up to which its section speaks for the whole text
_ASPECT = 44  # characters of a heading


class Statement(NamedTuple):
    """A sentence, item or row of the author; `line` is from 1.

    `role` is that of its section, `advice` for a decision in a summary, or `detail` for anything
    deeper.
    """

    line: int
    aspect: str
    text: str
    role: str

    @property
    def asks(self) -> bool:
        """Whether it leaves something to others: an open question, or a task for a person."""
        return self.role == "open" or bool(_PERSON.search(self.aspect))


class Authored(NamedTuple):
    """The author's statements, the most valuable first, and the stated confidence, or ''."""

    statements: tuple[Statement, ...] = ()
    confidence: str = ""

    @property
    def core(self) -> tuple[Statement, ...]:
        """The statements that sum up the whole; the others are added if there is room."""
        return tuple(s for s in self.statements if s.role in _CORE)

    @property
    def sums_up(self) -> bool:
        """Whether there is a summary of the whole."""
        return bool(self.of_role("summary"))

    def of_role(self, role: str) -> list[str]:
        """The texts of the statements with this role."""
        return [statement.text for statement in self.statements if statement.role == role]

    def lead(self, most: int = 3) -> str:
        """The first statements as up to `most` sentences."""
        texts = self.of_role("summary") or [statement.text for statement in self.statements]
        return " ".join(text if text[-1] in ".!?。！？…" else text + "." for text in texts[:most])


@functools.cache
def role_of(title: str) -> str:
    """The role that a heading or label announces, one of `_ROLES`; '' for any other."""
    bare = _CUTS.sub("", _NUMBER.sub("", title.replace("*", "").replace("`", ""))).strip().lower()
    if bare in _WORDS:
        return _WORDS[bare]
    words = bare.split()
    first = " ".join(words[:2])  # `Root cause of the leak`, `To do by a human`
    if " " in first and first in _WORDS and len(words) < _LONG_TITLE:
        return _WORDS[first]
    if len(words) > 4:
        return ""
    announcing = [word for word in words if word in _WORDS and word not in _ALONE]
    others = [word for word in words if word not in _WORDS and word not in _QUALIFYING]
    return _WORDS[announcing[0]] if announcing and len(others) <= (words[0] in announcing) else ""


def read(text: str) -> Authored:
    """What the author of a report says about it; empty if nothing."""
    part = reading.part(text)
    blocks = (block for block in reading.blocks(part) if block.kind != "code")
    statements = [statement for block in blocks for statement in _of_block(block)]
    if not any(statement.role == "verdict" for statement in statements):
        statements += _verdicts(part)
    if isinstance(part, reading.Part):
        statements = [s._replace(line=part.numbers[s.line - 1]) for s in statements]
    return _ordered([*_few_alike(statements)])


def _few_alike(statements: list[Statement]) -> Iterator[Statement]:
    """The statements, with many that differ only in numbers joined, except in a summary."""
    alike = itertools.groupby(statements, key=lambda each: (each.role, reading.form(each.text)))
    for (role, _), same in alike:
        first, *others = same
        if len(others) < reading.ITEMS - 1 or role in _CORE:
            yield from (first, *others)
        else:
            yield first._replace(text=reading.times([first.text, *(each.text for each in others)]))


def _verdicts(text: str) -> list[Statement]:
    """The lines `Verdict: …` that are part of another block, such as an index of findings."""
    labeled = ((number, line, _LABELS.match(line.lstrip("-*> ")))
             for number, line in enumerate(text.split("\n"), start=1) if ":" in line)  # fmt: skip
    return [
        Statement(number, reading.plain(label[1]), verdict, "verdict")
        for number, line, label in labeled
        if label and role_of(label[1]) == "verdict"
        and (verdict := reading.plain(line.lstrip("-*> ")[label.end():]))
    ][:1]  # fmt: skip


def answer(text: str) -> Authored:
    """All statements of an answer, under its own headings and labels; `@stored: …` lines go."""
    rows = ["" if row.lstrip("`- ")[:8] == "@stored:" else row for row in text.split("\n")]
    for at, row in enumerate(rows):
        label = _LABELS.match(row)
        if label and role_of(label[1]):
            rows[at] = f"\n{row}"  # a paragraph of its own
    statements = []
    for block in reading.blocks("\n".join(rows)):
        if block.kind == "code":
            code = " ".join(block.text.split())
            statements.append(Statement(block.line, "Code", code, "summary"))
            continue
        aspect, role = _section(block.titles, 6)
        aspect = aspect or (_shown(block.titles[-1]) if block.titles else "")
        statements += _statements(block, aspect, role or "summary")
    return _ordered(statements, in_order=True)


def _of_block(block: Block) -> list[Statement]:
    aspect, role = _section(block.titles, _DEEPEST)
    if role:
        below = block.kind == "row" or not role_of(block.titles[-1])
        return _statements(block, aspect, "detail" if role == "summary" and below else role)
    label = _LABELS.match(block.text)
    role = role_of(label[1]) if label else ""
    if role == "summary" and weighing.is_label(reading.plain(block.text)):
        return []  # `Status: done`
    deepest = _DEEPEST if role in ("verdict", "confidence") else 2  # deeper is about one finding
    return _statements(block, "", "") if role and len(block.titles) < deepest else []


def _section(titles: tuple[str, ...], deepest: int) -> tuple[str, str]:
    """The heading shown for text under `titles` and its role; the outermost one decides."""
    for depth, title in enumerate(titles[:deepest]):
        role = role_of(title)
        if role and (depth < 2 or role in ("summary", "verdict")):
            below = titles[depth + 1 :]
            return _shown(below[-1] if below else title), role
    return "", ""


def _statements(block: Block, aspect: str, role: str) -> list[Statement]:
    """The statements of a block; its label, if it has one, counts more than its heading."""
    text = block.text
    if text[:2] == text[-2:] == "**" and text.count("**") == 2:
        text = text[2:-2]
    label = _LABELS.match(text)
    if label and (named := role_of(label[1])):
        role = "advice" if (role, named) == ("summary", "decision") else named
        stated = text[label.end() :]
        if text[:2] == "**" and stated.count("**") % 2:  # `**State: done.** …`
            stated = stated.replace("**", "", 1)
        block = block._replace(text=stated)
        aspect = reading.plain(label[1])
    sentences = [sentence for sentence in block.statements() if any(map(str.isalnum, sentence))]
    return [Statement(block.line, aspect, sentence, role) for sentence in sentences]


def _shown(title: str) -> str:
    title = _NUMBER.sub("", title)
    return title if len(title) <= _ASPECT else _CUTS.sub("", title)[:_ASPECT].strip()


def _ordered(statements: list[Statement], in_order: bool = False) -> Authored:
    """The statements without repetitions, and the confidence; a mere level is no statement."""
    stated = {s: confidence(s.text) for s in statements if s.role == "confidence"}
    levels = [s for s, level in stated.items() if level and len(s.text.split()) < 3]
    seen = {statement.text: statement for statement in statements if statement not in levels}
    kept = sorted(seen.values(), key=lambda statement: statement.line)
    if not in_order:
        kept.sort(key=lambda statement: _ORDER.index(statement.role))
    return Authored(tuple(kept), next(filter(None, stated.values()), ""))


def confidence(text: str) -> str:
    """The level that the beginning of a text states: `High`, `Medium`, `Low`; or ''."""
    match = _LEVEL.search(text[:60])
    word = (match[1] or match[2]).lower() if match else ""
    return next((level for level, words in _LEVELS.items() if word in words.split()), "")

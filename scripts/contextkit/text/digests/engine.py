"""engine.digest: summarize a long text in few tokens, facts first, depending on its kind.

    digest = engine.digest(text, cap=220)
    digest.kind   report, review, log, diff, json, xml, table, listing, help, code, trace, plain
    digest.rows        (aspect, finding, line), in the text's order

Each kind is a module of `kinds/` with `confidence(text) -> int` (0 to 100: how sure it is that the
text is of this kind) and `units(text) -> list[Unit]`. Units are chosen greedily: first those with a
rank, then those with the most value per token, where the value is how decisive a unit is times the
facts that no chosen unit carries yet. The same text and cap give the same digest.
"""

from __future__ import annotations

import bisect
import functools
import itertools
import math
from collections import Counter

from contextkit.base import tokens
from contextkit.base.expressions import Pattern
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Callable, Sequence
from contextkit.text import facts, fitting
from contextkit.text.digests import kinds, reading, weighing
from contextkit.text.digests.kinds import binary
from contextkit.text.digests.reading import Unit

# `make bench what=receipts` (reports) and `what=outputs` (tools) measure what these numbers keep.
_ROW = 4  # tokens that each row costs beside its text
_DENSE = 0.55  # exponent of the tokens by which a line's rare words are divided
_MOSTLY = 0.5  # share of a failure's words that must be new, or it is a repetition
_NEW = 0.1  # share of a line's words, weighted by rarity, that must be new
_TASTE = 0.5  # exponent of a unit's decisiveness, relative to its facts
_BARE, _KEY = 0.12, 0.4  # facts that a unit without any counts as; that a key unit adds
_WORD = Pattern(r"\d+|[^\W\d_][^\W_]+")  # the words by which statements are compared
_SAYS_MORE = Pattern(r"\d|\S\s+\S+\s+\S")  # more than a title of two words
_COMMITS = Pattern(  # of `git log` and `git show`
    r"(?:\* +)?commit [0-9a-f]{7,40}\b|diff --git |\* +(?=[a-f]*\d)[0-9a-f]{7,40} "
)
_NAME, _NAMES = 40, 8  # characters of a short name, and names listed after `+n more`
_REPORT = 50  # confidence in a report below which its headings may be comments in code
_ENOUGH = 2.2  # times the cap: the units chosen before they are measured
_UNCUT = 2  # ranked units that are never cut to make room
_NEXT, _CUT = 4, 2  # units tried for the room left at the end, and those that may be cut
OPENED = 60  # lines that are opened at a time
_SLIGHT = 1e-5  # weight up to which a unit waits for all that have a rank
_FAILED = "failed"  # the group of what failed
_UNITS = 2000  # units that are weighed at most
_SHORT = 12  # least characters of a cut unit
_HALF_LINE = 48  # bytes from which on a beginning says something without a fact
_MOST = 0.3  # least share of a unit that is cut


class Row(NamedTuple):
    """A row of a digest; `line` is its position in the text, from 1."""

    aspect: str
    finding: str
    line: int


class Digest(NamedTuple):
    """The summary of a text, with rows in the text's order.

    `key` is the most important unit, preferably one that the text itself calls key. `rest` is the
    line of the first unit that did not fit and `last` that of the last one; 0 if there is none.
    `stretch` has the lines to open first: those that hold most of what is left out.
    """

    kind: str
    rows: tuple[Row, ...]
    key: str
    rest: int
    last: int = 0
    at: int = 0  # the line of `key`
    stretch: tuple[int, int] = (0, 0)

    @property
    def summary(self) -> str:
        """The whole digest as lines."""
        lines = [f"{row.aspect}: {row.finding}" if row.aspect else row.finding for row in self.rows]
        return "\n".join([self.key, *lines] if self.key else lines)


def digest(
    text: str,
    cap: int,
    *,
    tokenizer: str = tokens.DEFAULT,
    most_rows: int = 7,
    status: int | None = None,
) -> Digest:
    """Summarize `text` within `cap` tokens of the reader's tokenizer."""
    return ParsedText(text, tokenizer, status).digest(cap, most_rows)


def _document(text: str) -> str:
    """`report`, `review` or `binary` if the text as a whole is one, judging by its beginning."""
    head = text[:200].lstrip()
    if head.startswith(("commit ", "diff --", "* ")) and _COMMITS.match(
        head
    ):  # whatever its changes quote
        return ""
    names = ("binary", "report", "review")
    sure = {name: kinds.confidence(name, text) for name in names}
    best = max(sure, key=lambda name: sure[name])
    other = "table" if text.lstrip()[:1] == "|" else "code" if sure["report"] < _REPORT else ""
    if best == "report" and other and kinds.confidence(other, text):
        return ""
    return best if sure[best] else ""


_ALONE = 8  # characters of a statement that another text may hold by chance


class ParsedText:
    """A text, read and weighed, to be summarized once or several times.

    `status` is the exit status of its writer, where that is known. `is_output`: it was printed by a
    tool, so that everything in it is counted; it is no report or review.
    """

    def __init__(
        self, text: str, tokenizer: str = tokens.DEFAULT, status: int | None = None
    ) -> None:
        text, self.encoding = binary.decoded(text)
        self._text = text if self.encoding == "binary" else reading.readable(text)
        self.tokenizer = tokenizer
        self.kind = _document(self._text)
        units: list[Unit] = []
        if self.kind:
            part = self._part
            units = [unit for unit in kinds.module(self.kind).units(part) if unit.weight > 0]
            if isinstance(part, reading.Part):
                units = [unit._replace(line=part.numbers[unit.line - 1]) for unit in units]
        self.is_output = not units
        if self.is_output:
            from contextkit.text.digests import outputs

            self.kind, units = outputs.units(self._text, status)
        if self.encoding and self.kind != "binary":
            units.insert(0, Unit(1, "Encoding", self.encoding, 2.0, 1, derived=True))
        units = _once(_bounded(units))
        self._weighed = (
            _WeighedByWords(units, tokenizer)
            if self.is_output
            else _Weighed(units, tokenizer, self.facts)
        )

    @functools.cached_property
    def _part(self) -> str:
        return reading.part(self._text)

    @functools.cached_property
    def facts(self) -> list[facts.Fact]:
        """The facts of the text, or of the part of it that is read."""
        return [] if self.kind == "binary" else facts.find(self._part)

    @property
    def partly(self) -> bool:
        """Whether only a part of the text, which is very long, is searched for facts."""
        return isinstance(self._part, reading.Part)

    def digest(
        self,
        cap: int,
        most_rows: int = 7,
        size: Callable[[Digest], int] | None = None,
        first: int = 1,
        keyed: bool = True,
        elsewhere: str = "",
    ) -> Digest:
        """The digest within `cap` tokens, without statements that `elsewhere` has.

        `size` counts the tokens of a digest as it will be shown, by default as its summary. `first`
        is the number of the text's first line in the reader's file. Unless `keyed`, there is no key
        finding, only rows.
        """

        weighed, partly = self._weighed, not self.is_output and self.partly
        count = size or (lambda digest: tokens.size(digest.summary, self.tokenizer))

        units = [  # what is said elsewhere stands for none that is left out
            unit._replace(times=0) if len(unit.text) >= _ALONE and unit.text in elsewhere else unit
            for unit in weighed.units
        ]

        def made(told: dict[int, str]) -> Digest:
            main = _key(weighed.units, list(told)) if keyed else -1
            return _digest(self.kind, units, told, most_rows, partly, first, main)

        chosen, others = (
            [index for index in order if units[index].times]
            for order in _in_order_of_value(weighed, cap)
        )
        return made(_fitting(weighed, chosen, others, lambda told: count(made(told)) <= cap))

    def facts_kept(self, text: str) -> str:
        """`12/87`, or `12/87+` if the text is so long that not all of it was searched for facts."""
        return f"{facts.kept(self.facts, text)}/{len(self.facts)}{'+' * self.partly}"

    def lead(self, most: int = 3, cap: int = 100) -> str:
        """The most decisive parts of the text in up to `most` sentences, in the text's order."""
        units, (chosen, _) = self._weighed.units, _in_order_of_value(self._weighed, cap)
        texts = [units[index].text for index in chosen]
        first = sorted(chosen[: max(1, fitting.leading(texts, cap, self.tokenizer))])
        sentences = [
            sentence for index in first for sentence in reading.sentences(units[index].text)
        ]
        whole = [
            sentence if sentence[-1] in ".!?。！？…" else sentence + "."
            for sentence in sentences[:most]
        ]
        return " ".join(whole)


def _bounded(units: list[Unit]) -> list[Unit]:
    """At most a few thousand units; one without a text counts those of its group left out."""
    if len(units) <= _UNITS:
        return units
    order = sorted(range(len(units)), key=lambda i: (not units[i].rank, units[i].rank, i))
    kept = [units[i] for i in sorted(order[:_UNITS])]
    rest: dict[str, Unit] = {}
    for unit in (units[i] for i in order[_UNITS:]):
        if unit.group in rest:
            unit = rest[unit.group]._replace(times=rest[unit.group].times + unit.times)
        if unit.group:
            rest[unit.group] = unit._replace(text="", short="")
    return [*kept, *rest.values()]


def _once(units: list[Unit]) -> list[Unit]:
    """The units without repetitions; all ranked ones stay, since they are counted."""
    seen: set[str] = set()
    kept = []
    for unit in units:
        statement = f"{unit.aspect}: {unit.text}" if unit.derived else unit.text
        if unit.rank or statement not in seen:
            kept.append(unit)
        seen.add(statement)
    return kept


class _Weighed:
    """The units with their facts and costs."""

    share = 0.55  # of the cap for units with a rank
    briefest = 1 << 30  # characters to which those may be cut to make room

    def __init__(
        self, units: list[Unit], tokenizer: str, all_facts: list[facts.Fact] | None = None
    ) -> None:
        self.units = units
        self.facts = self._facts(all_facts or [])
        sizes = tokens.estimates([unit.text for unit in units], tokenizer)
        self.costs = [size + _ROW for size in sizes]
        self.brief = [
            min(cost, tokens.estimate(unit.text[: self.briefest], tokenizer) + _ROW)
            if len(unit.text) > self.briefest
            else cost
            for unit, cost in zip(units, self.costs, strict=True)
        ]
        aspects = list({unit.aspect for unit in units})
        by_aspect = dict(zip(aspects, tokens.estimates(aspects, tokenizer), strict=True))
        self.aspects = [by_aspect[unit.aspect] for unit in units]

    def _facts(self, all_facts: list[facts.Fact]) -> list[frozenset[tuple[str, str]]]:
        return facts.carried([unit.text for unit in self.units], all_facts)

    def new(self, index: int, covered: set[tuple[str, str]]) -> float:
        """The share of a unit that is not covered yet."""
        return 1.0

    def worth(self, index: int, covered: set[tuple[str, str]], aspects: set[str]) -> float:
        """The value per token that a unit adds to the facts and aspects already covered."""
        unit = self.units[index]
        new = len(self.facts[index] - covered)
        cost = self.costs[index] + (0 if unit.aspect in aspects else self.aspects[index])
        worth = new + (_BARE + _KEY * unit.key) * min(1.0, cost / 25)
        return float(unit.weight**_TASTE) * worth / (cost + 2)


class _WeighedByWords(_Weighed):
    """The same for a tool's output, where rare words count in place of facts."""

    share, briefest = 0.85, 130

    def _facts(self, all_facts: list[facts.Fact]) -> list[frozenset[tuple[str, str]]]:
        words = [
            frozenset(_WORD.findall(f"{unit.aspect} {unit.text}".lower())) for unit in self.units
        ]
        count = sum(unit.times for unit in self.units)
        often = Counter[str]()
        for unit, these in zip(self.units, words, strict=True):
            often.update(dict.fromkeys(these, unit.times))
        self._rarity = {word: math.log(1 + count / n) for word, n in often.items()}
        self._whole = [math.fsum(map(self._rarity.__getitem__, these)) for these in words]
        return [frozenset(("word", word) for word in these) for these in words]

    def new(self, index: int, covered: set[tuple[str, str]]) -> float:
        """The share of its words that is new, weighted by rarity."""
        words = (word for _, word in self.facts[index] - covered)
        new = math.fsum(map(self._rarity.__getitem__, words))  # the same in any order
        return new / (self._whole[index] or 1.0)

    def worth(self, index: int, covered: set[tuple[str, str]], aspects: set[str]) -> float:
        """The new rare words per token, favoring longer statements a little; 0 if few are new."""
        unit, share = self.units[index], self.new(index, covered)
        if share < _NEW and not unit.derived:
            return 0.0
        new = max(share, _NEW) * self._whole[index]
        return float(unit.weight * (new + _BARE) / (self.costs[index] + 2) ** _DENSE)


def _in_order_of_value(weighed: _Weighed, cap: int) -> tuple[list[int], list[int]]:
    """The units worth showing, more than will fit, and the next best ones."""
    choice = _Choice(weighed)
    choice.ranked(cap)
    while choice.spent < _ENOUGH * cap and (index := choice.best()) is not None:
        choice.take(index)
    least = _SLIGHT if choice.left else -1
    chosen, others = (
        [index for index in order if weighed.units[index].weight > least]
        for order in (choice.chosen, choice.order[:_NEXT] + choice.left[:_NEXT])
    )
    return chosen, others


def _fitting(
    weighed: _Weighed, chosen: list[int], others: list[int], fits: Callable[[dict[int, str]], bool]
) -> dict[int, str]:
    """The texts of as many units as fit, by index, in order of value; the last may be cut."""
    units = weighed.units
    tried: dict[tuple[tuple[int, str], ...], bool] = {}

    def fit(parts: list[tuple[int, fitting.Part]]) -> dict[int, str]:
        def told(texts: Sequence[str]) -> dict[int, str]:
            by_index: dict[int, str] = {}
            for (index, _), text in zip(parts, texts, strict=True):
                if len(text) > len(by_index.get(index, "")):
                    by_index[index] = text
            return by_index

        def all_fit(texts: Sequence[str]) -> bool:
            by_index = told(texts)
            key = tuple(by_index.items())
            if key not in tried:
                tried[key] = fits(by_index)
            return tried[key]

        return told(fitting.fit([part for _, part in parts], all_fit))

    def whole(index: int, step: int) -> tuple[int, fitting.Part]:
        return index, fitting.Part(units[index].text, ((step, 0),))

    first = fit(_parts(weighed, chosen))
    kept = [(index, fitting.Part(text)) for index, text in first.items()]
    left = [index for index in [*chosen, *others] if index not in first]
    group = next((units[index].group for index in left if units[index].group), "")
    left = [index for index in left if units[index].group in ("", group)][:_NEXT]  # graver first
    cut = [index for index in left if not units[index].group] or left  # others: whole or counted
    alone = len(kept) < 2
    return fit([
        *kept,
        *(whole(index, 1) for index in left),
        *((index, _cuttable(units[index].text, between_words, alone))
          for between_words in (False, True) for index in cut[:_CUT]),
    ])  # fmt: skip


def _parts(weighed: _Weighed, chosen: list[int]) -> list[tuple[int, fitting.Part]]:
    """The units as parts to fit: the last go first, and long ones are cut before ranked ones go."""
    units, brief = weighed.units, weighed.briefest
    free = sum(not units[index].rank for index in chosen)
    parts: list[tuple[int, fitting.Part]] = []
    for step, index in zip(range(len(chosen), 0, -1), chosen, strict=True):
        is_long = len(parts) >= _UNCUT and units[index].rank > 0
        cuts = ((free + 1, 2 * brief), (free + 2, brief)) if is_long else ()
        part = fitting.Part(units[index].text, (*cuts, (step + 2 * (step > free), 0)))
        part.clip = reading.both_ends
        parts.append((index, part))
    return parts


def _cuttable(text: str, between_words: bool, alone: bool) -> fitting.Part:
    """A unit that may be cut after a clause or word if that is meaningful, or if it is `alone`."""

    def speaking(text: str, width: int) -> str:
        beginning = reading.beginning(text, width)
        return beginning if alone or _speaks_for_itself(beginning) else ""

    least = _least(text, between_words)
    ends = [end for end in reading.ends(text, between_words) if least <= end]
    return fitting.Part(text, ((1, 0),), clip=speaking, widths=ends)


class _Choice:
    """The state of the greedy choice: the chosen units, and the others by last known value."""

    def __init__(self, weighed: _Weighed) -> None:
        self.weighed = weighed
        self.chosen: list[int] = []
        self.covered: set[tuple[str, str]] = set()
        self.aspects: set[str] = set()
        self.spent = 0
        self.order: list[int] = []
        self.left: list[int] = []  # ranked units beyond their share
        self.last: dict[int, float] = {}

    def take(self, index: int, cost: int = 0) -> None:
        aspect = self.weighed.units[index].aspect
        self.spent += cost or self.weighed.costs[index]
        self.spent += 0 if aspect in self.aspects else self.weighed.aspects[index]
        self.chosen.append(index)
        self.covered |= self.weighed.facts[index]
        self.aspects.add(aspect)

    def worth(self, index: int) -> float:
        return self.weighed.worth(index, self.covered, self.aspects)

    def ranked(self, cap: int) -> None:
        """Take the ranked units within their share; the others are chosen by value."""
        units = self.weighed.units
        for rank, index in self._by_rank():
            share = self.weighed.share
            if rank == 1 and len(self.chosen) < 2:
                share = 1.0
            if self.spent + self.weighed.brief[index] <= cap * share:
                self.take(index, self.weighed.brief[index])
            else:
                self.left.append(index)
        free = [index for index, unit in enumerate(units) if unit.text and not unit.rank]
        self.last = {index: self.worth(index) for index in free}
        self.order = sorted(free, key=lambda index: (-self.last[index], index))

    def _by_rank(self) -> list[tuple[int, int]]:
        """The ranked units; those that mostly repeat the ones before them come last."""
        told: set[tuple[str, str]] = set()
        first, last = list[tuple[int, int]](), list[tuple[int, int]]()
        units = self.weighed.units
        for rank, index in sorted((unit.rank, at) for at, unit in enumerate(units) if unit.text):
            if rank > 1 and self.weighed.new(index, told) < _MOSTLY:
                last.append((rank, index))
            elif rank:
                first.append((rank, index))
                told |= self.weighed.facts[index]
        return first + last

    def best(self) -> int | None:
        """The most valuable unit now. Values only fall as units are taken: few are recomputed."""
        while self.order:
            index = self.order.pop(0)
            now = self.worth(index)
            if now <= 0:
                continue
            if now >= self.last[index]:
                return index
            self.last[index] = now
            place = (-now, index)
            at = bisect.bisect_left(self.order, place, key=lambda i: (-self.last[i], i))
            if at == 0:
                return index
            self.order.insert(at, index)
        return None


def _speaks_for_itself(beginning: str) -> bool:
    """Whether the beginning of a unit is meaningful: it has a fact, or is half a line long."""
    return len(beginning.encode()) > _HALF_LINE or bool(facts.find(beginning))


def _least(text: str, between_words: bool) -> int:
    """The least number of characters to keep of a unit; a `not` or `if` in a clause stays."""
    least = max(_SHORT, round(_MOST * len(text)))
    for match in weighing.NEGATING.finditer(text) if between_words else ():
        least = max(least, match.end())
    return least


def _digest(
    kind: str,
    all_units: list[Unit],
    told: dict[int, str],
    most_rows: int,
    partly: bool,
    first: int,
    main: int,
) -> Digest:
    """The digest: the units in the text's order, grouped by heading, and counts of the others."""
    units = _in_order([
        all_units[i] if all_units[i].text == told[i] else all_units[i]._replace(text=told[i])
        for i in sorted(told) if i != main
    ])  # fmt: skip
    aspects = {unit.aspect for unit in units if unit.aspect}
    missing = [u for i, u in enumerate(all_units)
               if i not in told and u.times and aspects.isdisjoint((u.text, u.short))]  # fmt: skip
    units = [unit for unit in units if unit.text not in aspects]  # a name may be an aspect, too
    key = told[main] if main >= 0 else ""
    rows: list[Row] = []
    for unit in units:
        if rows and rows[-1].aspect == unit.aspect:
            finding = rows[-1].finding
            finding = (
                f"{finding.removesuffix('.')}; {unit.text}"
                if unit.group == _FAILED
                else reading.joined(finding, unit.text)
            )
            rows[-1] = Row(unit.aspect, finding, rows[-1].line)
        else:
            rows.append(Row(unit.aspect, unit.text, unit.line))
    groups = _more(missing, partly, first)
    left = Counter(unit.aspect for unit in missing if unit.is_item and not unit.group)
    for aspect in left.keys() & {unit.aspect for unit in units if unit.is_item}:
        at = max(at for at, row in enumerate(rows) if row.aspect == aspect)
        finding = f"{rows[at].finding} (+{left[aspect]} {'or ' * partly}more)"
        rows[at] = rows[at]._replace(finding=finding)
    counts = _counts(groups)
    rows = [*_few(rows, most_rows - len(counts)), *counts]
    at = all_units[main].line if main >= 0 else 0
    failed = [unit for unit in units if unit.group == _FAILED]  # their blocks are not shown
    lines = [unit.line for unit in missing if unit.line]
    rest, last = min(lines, default=0), max(lines, default=0)
    stretch = _stretch(sorted((unit.line, unit.weight) for unit in missing + failed))
    return Digest(kind, tuple(rows), key, rest, last, at, stretch)


def _stretch(weights: list[tuple[int, float]]) -> tuple[int, int]:
    """The first and last line of the stretch that lacks most; `weights`: what each line lacks."""
    best, whole, first = (0.0, 0, 0), 0.0, 0
    for line, weight in weights:
        whole += weight
        while line - weights[first][0] >= OPENED:
            whole -= weights[first][1]
            first += 1
        if whole > best[0]:
            best = whole, weights[first][0], line
    return best[1:]


def _in_order(units: list[Unit]) -> list[Unit]:
    """The units in the text's order, but those of a severity stay together, below graver ones."""
    units.sort(key=lambda unit: unit.line)
    begins: dict[str, tuple[int, int]] = {}
    for unit in sorted(units, key=lambda unit: unit.rank):
        if unit.rank and unit.group and unit.aspect not in begins:
            first = max([unit.line, *(line for line, _ in begins.values())])
            begins[unit.aspect] = first, len(begins)
    return sorted(units, key=lambda u: begins[u.aspect] if u.rank and u.group else (u.line, 0))


def _key(units: list[Unit], chosen: list[int]) -> int:
    """The index of the key finding: one that the text calls key, otherwise the first one chosen."""
    if len(chosen) < 2:
        return -1
    free = [i for i in chosen if units[i].aspect != "size"]
    telling = [i for i in free if _SAYS_MORE.search(units[i].text)]
    return next((i for i in chosen if units[i].key), (telling or free or chosen)[0])


def _few(rows: list[Row], most: int) -> list[Row]:
    """At most `most` rows: the shortest neighbors are joined, and each keeps its aspect."""
    while len(rows) > max(1, most):
        sizes = [len(a.finding) + len(b.finding) for a, b in itertools.pairwise(rows)]
        at = sizes.index(min(sizes))
        row, other = rows[at], rows[at + 1]
        if row.aspect and not other.aspect:  # so that the next text does not seem to be about it
            row = row._replace(aspect="", finding=f"{row.aspect}: {row.finding}")
        text = f"{other.aspect}: {other.finding}" if other.aspect else other.finding
        rows[at : at + 2] = [row._replace(finding=reading.joined(row.finding, text))]
    return rows


def _more(missing: list[Unit], partly: bool, top: int) -> dict[str, tuple[str, int]]:
    """`+n more` for each group of units that are left out but must be mentioned, with their names.

    Each has the line of its first unit. If only a part of the text was read: `+n or more`.
    """
    groups: dict[str, list[Unit]] = {}
    for unit in missing:
        if unit.group:
            groups.setdefault(unit.group, []).append(unit)
    by_group = {}
    for group, units in groups.items():
        names = [unit.short for unit in units if 0 < len(unit.short) <= _NAME]
        is_apt = group == _FAILED or _FAILED not in groups  # rather another failure than names
        listed = is_apt and len(set(names)) == len(units) <= _NAMES
        count, first = sum(unit.times for unit in units), min(unit.line for unit in units)
        text = f"+{count} {'or ' * partly}more" + (f": {', '.join(names)}" if listed else "")
        if group == reading.FAILING:
            text = (
                f"+{count} line{'s' * (count != 1)} with failure words, first at {top + first - 1}"
            )
        by_group[group] = (text, first)
    return by_group


def _counts(groups: dict[str, tuple[str, int]]) -> list[Row]:
    """The row that counts the groups of which nothing is shown."""
    if not groups:
        return []
    line = min(line for _, line in groups.values())
    if len(groups) == 1:
        group, (text, _) = next(iter(groups.items()))
        return [Row(group, text, line)]
    return [Row("more", "; ".join(f"{group} {text}" for group, (text, _) in groups.items()), line)]

"""engine.tell: summarize a long text in few tokens, facts first, depending on its kind.

    digest = engine.tell(text, cap=220)
    digest.kind        report, review, log, diff, json, table, code, trace, plain
    digest.rows        (aspect, finding, line), in the text's order
    digest.kept        of `digest.total` hard facts of the text

Each kind is a module of `kinds/` with `is_it(text) -> int` (0 to 100: how sure) and `units(text) ->
list[Unit]`. Units are chosen greedily: first those with a rank, then those with the most value per
token, where the value is how decisive a unit is times the facts that no chosen unit carries yet.
The same text and cap give the same digest.
"""

from __future__ import annotations

import bisect
import functools
import importlib
import itertools
import os

from contextkit.base import facts, tokens
from contextkit.base.digests import encodings, reading
from contextkit.base.digests.reading import Unit
from contextkit.base.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import ModuleType

_SHARE, _LESS = 0.55, 0.2  # shares of the cap for units with a rank, and with a rank above 4
_ROW = 4  # extra tokens per row
_TASTE = 0.5  # weight of a unit's decisiveness relative to its facts
_BARE, _KEY = 0.12, 0.4  # facts that a unit without any counts as, and those that a key unit adds
_NAME, _NAMES = 24, 8  # characters of a short name, and names listed after `+n more`
_TRIES = 48  # units tried for the remaining room
_CUTS, _SHORT = (0.8, 0.6, 0.4, 0.2), 12  # shares of a unit to try, and minimum characters
_FEW = 3  # with fewer units than this, one may be cut between any two words


class Row(NamedTuple):
    """A row of a digest; `line` is its position in the text, from 1."""

    aspect: str
    finding: str
    line: int


class Digest(NamedTuple):
    """The summary of a text, with rows in the text's order; `left` counts the units left out.

    `key` is the most important unit, preferably one that the text itself calls key. `rest` is the
    line of the first unit that did not fit and `last` that of the last one; 0 if there is none.
    """

    kind: str
    rows: tuple[Row, ...]
    key: str
    kept: int
    total: int
    left: int
    rest: int
    last: int = 0
    at: int = 0  # the line of `key`

    @property
    def summary(self) -> str:
        """The whole digest as lines."""
        said = [f"{row.aspect}: {row.finding}" if row.aspect else row.finding for row in self.rows]
        return "\n".join([self.key, *said] if self.key else said)

    @property
    def facts_kept(self) -> str:
        """The kept facts in the form used in documents: `12/87`."""
        return f"{self.kept}/{self.total}"


@functools.cache
def kinds() -> dict[str, ModuleType]:
    """Every module of `kinds/` by name."""
    folder = os.path.join(os.path.dirname(__file__), "kinds")
    found = sorted(name[:-3] for name in os.listdir(folder) if name.endswith(".py"))
    package = f"{__package__}.kinds."
    return {name: importlib.import_module(package + name) for name in found if name[0] != "_"}


def kind_of(text: str) -> str:
    """The kind of the text, judging by its beginning and end; `plain` if no kind is sure."""
    sure = {name: module.is_it(text) for name, module in kinds().items()}
    return max(sure, key=lambda name: (sure[name], name))


def tell(text: str, cap: int, *, tokenizer: str = tokens.DEFAULT, most_rows: int = 7) -> Digest:
    """Summarize `text` within `cap` tokens of the reader's tokenizer."""
    return Told(text, tokenizer).digest(cap, most_rows)


class Told:
    """A parsed text, to be summarized once or several times."""

    def __init__(self, text: str, tokenizer: str = tokens.DEFAULT) -> None:
        text, self.encoding = encodings.decoded(text)
        said = reading.part(text)
        self.kind = kind_of(said)
        self.facts = [] if self.kind == "binary" else facts.find(said)
        self.tokenizer = tokenizer
        self.partly = said is not text
        units = [unit for unit in kinds()[self.kind].units(said) if unit.weight > 0]
        if not units and self.kind != "plain":
            units = kinds()["plain"].units(said)
        if self.encoding and self.kind != "binary":
            units.insert(0, Unit(1, "Encoding", self.encoding, 2.0, 1, derived=True))
        units = _once(units)
        if isinstance(said, reading.Part):
            units = [unit._replace(line=said.numbers[unit.line - 1]) for unit in units]
        self._weighed = _Weighed(units, self.facts, tokenizer)

    def digest(
        self, cap: int, most_rows: int = 7, fits: Callable[[Digest], bool] | None = None
    ) -> Digest:
        """The digest within `cap` tokens.

        If `fits` is given, it decides whether a digest, as it will be shown, fits; `cap` is then an
        approximation of its limit.
        """

        def made(chosen: Sequence[int], cut: dict[int, str]) -> Digest:
            units = self._weighed.units
            for index, text in cut.items():
                units = [*units[:index], units[index]._replace(text=text), *units[index + 1 :]]
            return _digest(self.kind, units, list(chosen), most_rows)

        def within(digest: Digest) -> bool:
            return fits(digest) if fits else tokens.within(digest.summary, cap, self.tokenizer)

        found = _chosen(self._weighed, cap, within, made)
        return found._replace(kept=self.kept(found.summary), total=len(self.facts))

    def _about(self, cap: int, digest: Digest) -> bool:
        return tokens.estimate(digest.summary, self.tokenizer) <= cap

    def kept(self, said: str) -> int:
        """The number of facts of the text that `said` carries."""
        return facts.kept(self.facts, said)

    def facts_kept(self, said: str) -> str:
        """`12/87`, or `12/87+` if the text is so long that not all of it was searched for facts."""
        return f"{self.kept(said)}/{len(self.facts)}{'+' * self.partly}"

    def lead(self, most: int = 3, cap: int = 100) -> str:
        """The most decisive parts of the text in up to `most` sentences, in the text's order."""
        about = functools.partial(self._about, cap)
        digest = self.digest(cap, most, about)
        found = [(digest.at, digest.key)] if digest.key else []
        found += [(row.line, row.finding) for row in digest.rows if row.finding[:1] != "+"]
        found.sort(key=lambda one: one[0])
        said = [one for _, text in found for one in reading.sentences(text)]
        whole = [one if one[-1] in ".!?。！？…" else one + "." for one in said[:most]]
        return " ".join(whole)


def _once(units: list[Unit]) -> list[Unit]:
    """The units without repetitions; ranked ones all stay, since they are counted."""
    seen: set[str] = set()
    kept = []
    for unit in units:
        if unit.rank or unit.text not in seen:
            kept.append(unit)
        seen.add(unit.text)
    return kept


class _Weighed:
    """The units with their facts and costs."""

    def __init__(self, units: list[Unit], all_facts: list[facts.Fact], tokenizer: str) -> None:
        self.units = units
        known = {(kind, value) for kind, value, _ in all_facts}
        self.facts = [carried(unit.text, known) for unit in units]
        self.costs = [tokens.estimate(unit.text, tokenizer) + _ROW for unit in units]
        aspects = {unit.aspect for unit in units}
        sizes = {aspect: tokens.estimate(aspect, tokenizer) for aspect in aspects}
        self.aspects = [sizes[unit.aspect] for unit in units]

    def worth(self, index: int, told: set[tuple[str, str]], aspects: set[str]) -> float:
        """The value per token that a unit adds when `told` and `aspects` are already covered."""
        unit = self.units[index]
        new = len(self.facts[index] - told)
        cost = self.costs[index] + (0 if unit.aspect in aspects else self.aspects[index])
        worth = new + (_BARE + _KEY * unit.key) * min(1.0, cost / 25)
        return float(unit.weight**_TASTE) * worth / (cost + 2)


def carried(said: str, known: set[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    """The facts of `said` that are also facts of the whole text."""
    return frozenset((kind, value) for kind, value, _ in facts.find(said)) & known


def _chosen(
    weighed: _Weighed,
    cap: int,
    within: Callable[[Digest], bool],
    made: Callable[[Sequence[int], dict[int, str]], Digest],
) -> Digest:
    """Choose units in order of value and return the digest with as many as fit."""
    choice = _Choice(weighed)
    choice.ranked(cap)
    while choice.spent < 2.2 * cap and (index := choice.best()) is not None:
        choice.take(index)  # more than will fit, which is measured below
    costs = [cost + aspect for cost, aspect in zip(weighed.costs, weighed.aspects, strict=True)]
    texts = [unit.text for unit in weighed.units]
    return _fitted(choice.chosen, choice.order, costs, texts, within, made)


class _Choice:
    """The state of the greedy choice: the chosen units, and the last known value of the others."""

    def __init__(self, weighed: _Weighed) -> None:
        self.weighed = weighed
        self.chosen: list[int] = []
        self.told: set[tuple[str, str]] = set()
        self.aspects: set[str] = set()
        self.spent = 0
        self.order: list[int] = []
        self.last: dict[int, float] = {}

    def take(self, index: int) -> None:
        aspect = self.weighed.units[index].aspect
        self.spent += self.weighed.costs[index]
        self.spent += 0 if aspect in self.aspects else self.weighed.aspects[index]
        self.chosen.append(index)
        self.told |= self.weighed.facts[index]
        self.aspects.add(aspect)

    def worth(self, index: int) -> float:
        return self.weighed.worth(index, self.told, self.aspects)

    def ranked(self, cap: int) -> None:
        """Take the ranked units within their share; the others are chosen by value."""
        units = self.weighed.units
        ranks = [(unit.rank, index) for index, unit in enumerate(units) if unit.rank]
        for rank, index in sorted(ranks):
            share = 1.0 if rank == 1 and len(self.chosen) < 2 else _SHARE if rank < 5 else _LESS
            if self.spent + self.weighed.costs[index] <= cap * share:
                self.take(index)
        free = [index for index, unit in enumerate(units) if not unit.rank]
        self.last = {index: self.worth(index) for index in free}
        self.order = sorted(free, key=lambda index: (-self.last[index], index))

    def best(self) -> int | None:
        """The unit of most value now. Values only fall as units are taken; few are recomputed."""
        while self.order:
            index = self.order.pop(0)
            now = self.worth(index)
            if now >= self.last[index]:
                return index
            self.last[index] = now
            place = (-now, index)
            at = bisect.bisect_left(self.order, place, key=lambda i: (-self.last[i], i))
            if at == 0:
                return index
            self.order.insert(at, index)
        return None


def _fitted(
    chosen: list[int],
    others: list[int],
    costs: list[int],
    texts: list[str],
    within: Callable[[Digest], bool],
    made: Callable[[Sequence[int], dict[int, str]], Digest],
) -> Digest:
    """As many of `chosen` as fit, in order, then smaller units in the remaining room.

    Finally, part of the first unit that did not fit is added if there is room for it.
    """
    low, high = 0, len(chosen)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if within(made(chosen[:middle], {})) else (low, middle - 1)
    kept = chosen[:low]
    room = costs[chosen[low]] if low < len(chosen) else 0  # it did not fit, so nothing larger does
    for index in (chosen[low + 1 :] + others)[:_TRIES]:
        if costs[index] > room:
            continue
        if within(made([*kept, index], {})):
            kept.append(index)
            room -= costs[index]
        else:
            room = min(room, costs[index] - 1)
    for index in chosen[low : low + 1]:
        for share in _CUTS:
            part = reading.clause(texts[index], int(share * len(texts[index])), len(kept) < _FEW)
            if len(part) < _SHORT:
                continue
            digest = made([*kept, index], {index: part})
            if within(digest):
                return digest
    return made(kept, {})


def _digest(kind: str, all_units: list[Unit], chosen: list[int], most_rows: int) -> Digest:
    """The units in the text's order, grouped by heading, with those left out counted."""
    told = set(chosen)
    main = _key(all_units, chosen)
    order = sorted(told - {main}, key=lambda i: (all_units[i].line, i))
    units = [all_units[i] for i in order]
    key = all_units[main].text if main >= 0 else ""
    missing = [unit for i, unit in enumerate(all_units) if i not in told]
    rows: list[Row] = []
    for number, unit in enumerate(units):
        if rows and rows[-1].aspect == unit.aspect:
            more = _without_lead(unit.text, units[number - 1].text)
            rows[-1] = rows[-1]._replace(finding=_joined(rows[-1].finding, more))
        else:
            rows.append(Row(unit.aspect, unit.text, unit.line))
    counts = _more(missing)
    rows = [*_few(rows, most_rows - len(counts)), *counts]
    lines = [unit.line for unit in missing if unit.line]
    first, last = min(lines, default=0), max(lines, default=0)
    at = all_units[main].line if main >= 0 else 0
    return Digest(kind, tuple(rows), key, 0, 0, len(missing), first, last, at)


def _key(units: list[Unit], chosen: list[int]) -> int:
    """The index of the key finding: one that the text calls key, otherwise the first one chosen."""
    if len(chosen) < 2:
        return -1
    return next((i for i in chosen if units[i].key), chosen[0])


def _without_lead(said: str, before: str) -> str:
    """An item without the words that lead into it, if the item before it has the same ones."""
    lead = said[: said.find(": ") + 2]
    while (longer := said.find(": ", len(lead))) > 0 and before.startswith(said[: longer + 2]):
        lead = said[: longer + 2]
    return said[len(lead) :] if len(lead) > _SHORT and before.startswith(lead) else said


def _joined(one: str, other: str) -> str:
    return f"{one} {other}" if one[-1] in ".!?。！？:：;" else f"{one}; {other}"


def _few(rows: list[Row], most: int) -> list[Row]:
    """At most `most` rows: the shortest neighbors are joined."""
    while len(rows) > max(1, most):
        sizes = [len(a.finding) + len(b.finding) for a, b in itertools.pairwise(rows)]
        at = sizes.index(min(sizes))
        one, other = rows[at], rows[at + 1]
        said = f"{other.aspect}: {other.finding}" if other.aspect else other.finding
        rows[at : at + 2] = [one._replace(finding=_joined(one.finding, said))]
    return rows


def _more(missing: list[Unit]) -> list[Row]:
    """`+n more` for each group whose left-out units must be mentioned, with their short names."""
    groups: dict[str, list[Unit]] = {}
    for unit in missing:
        if unit.group:
            groups.setdefault(unit.group, []).append(unit)
    if not groups:
        return []
    said = {}
    for group, units in groups.items():
        names = [unit.short for unit in units if 0 < len(unit.short) <= _NAME]
        listed = len(names) == len(units) <= _NAMES
        said[group] = f"+{len(units)} more" + (f": {', '.join(names)}" if listed else "")
    line = min(unit.line for units in groups.values() for unit in units)
    if len(said) == 1:
        return [Row(*next(iter(said.items())), line)]
    return [Row("more", "; ".join(f"{group} {text}" for group, text in said.items()), line)]

"""What the report draws, as numbers: lengths are tokens, places along a picture are percent.

    spent     what agents wrote that replaced nothing in a context, and what came in instead
    days      the same by day, and the net so far
    kinds     what was opened again, by kind of text
    flow      from who wrote to who got it
    timeline  sessions, and what happened in them

The template makes shapes of them (`templates/report.html.j2`).
"""

from __future__ import annotations

from collections import Counter, defaultdict

from contextkit.base import ledger, names
from contextkit.base.type_names import Any, Iterable, Iterator
from contextkit.history.flows.delivery import HANDED, Delivery

Facts = dict[str, Any]

KEPT_OUT = ("payload", "finding", "verdict")  # a caller gets less in place of their text
ON_DISK, AGAIN, ASKED, SESSIONS, SUBAGENTS = (
    "on disk only", "opened again", "second turns", "sessions", "subagents",
)  # fmt: skip
_COLORS = {ON_DISK: "rest", AGAIN: "shown", ASKED: "asked"}
_OTHERS = ("others", "other agents")
_LAST = (ON_DISK, *_OTHERS)  # below all others, whatever their size
_DAYS = 30  # with any activity
_BARS, _ABOVE, _DATES = 118, 110, 6  # pixels of the bars and above them; dates that are written
_ENDS = 6  # names on either side of the flow; the rest is one more
_NAME = 24  # characters of a name
_TALL, _THIN, _LABEL, _APART = 240, 1.5, 22, 10  # pixels: the flow, a band at least, names
_SESSIONS = 12  # newest sessions that are drawn
_AXIS, _ROW = 16, 42  # pixels of the times, and of a session
_IDLE, _GAP = 1800, 2.5  # seconds without an event that are not drawn; percent in their place
_LABELS = 24  # percent between two times that are written
_MARKS = {("stored", "handoff"): "handoff", ("stored", "snapshot"): "saved"}


def spent(documents: Iterable[Delivery], card: int) -> dict[str, int]:
    """Return what stayed out of contexts and what it cost; `net` is the difference."""
    there = [item for item in documents if item.kind in KEPT_OUT]
    sums = {name: sum(getattr(item, name) for item in there) for name in ("stored", *_COSTS)}
    sums |= {"receipts": sums.pop("handed") - sums["asked"], "card": card}
    costs = sum(sums.values()) - sums["stored"]
    return {**sums, "net": sums["stored"] - costs, "costs": costs, "documents": len(there)}


_COSTS = ("handed", "asked", "shown")
_COST_OF = {**dict.fromkeys(HANDED, "receipts"), ledger.ASKED: "asked", ledger.SHOWN: "shown"}


def days(documents: dict[str, Delivery], events: Iterable[ledger.Event]) -> Facts:
    """Return `rows`, one for each day with activity; `net` is the sum so far, without the card."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    there = {ref: item for ref, item in documents.items() if item.kind in KEPT_OUT}
    for item in there.values():
        sums[item.at[:10]]["stored"] += item.stored
    for event in events:
        if event["event"] in _COST_OF and event["ref"] in there:
            sums[event["at"][:10]][_COST_OF[event["event"]]] += event.get("tokens", 0)
    rows, net = [], 0
    for day, row in sorted(sums.items()):
        costs = {name: row[name] for name in ("receipts", "asked", "shown")}
        net += row["stored"] - sum(costs.values())
        rows.append({"day": day, "stored": row["stored"], **costs, "net": net})
    return _drawn(rows[-_DAYS:])


def _drawn(rows: list[Facts]) -> Facts:
    """Place each day: `left` in percent, `high` on a curve of 100, bars by `scale` from `base`."""
    up = max((row["stored"] for row in rows), default=0)
    down = max((row["receipts"] + row["asked"] + row["shown"] for row in rows), default=0)
    scale = _BARS / max(1, up + down)
    nets = [0, *(row["net"] for row in rows)]
    low, tall = min(nets), max(1, max(nets) - min(nets))
    step, every = 100 / max(1, len(rows)), -(-len(rows) // _DATES)
    wide = min(step * 0.7, 8.0)
    for number, row in enumerate(rows):
        row["left"] = number * step + (step - wide) / 2
        row["high"] = 100 - (row["net"] - low) * 100 / tall
        row["label"] = "" if number % every else row["day"][5:]
    return {"rows": rows, "count": len(rows), "wide": wide, "scale": scale, "net": nets[-1],
            "zero": 100 + low * 100 / tall, "base": round(_ABOVE + up * scale)}  # fmt: skip


def kinds(documents: Iterable[Delivery]) -> list[Facts]:
    """Return how often each kind of text was opened again, the most often opened first."""
    groups: dict[str, list[Delivery]] = defaultdict(list)
    for item in documents:
        if item.kind in KEPT_OUT:
            groups[item.text or item.kind].append(item)
    rows = [
        {"kind": kind, "documents": len(group), "opened": sum(item.opened for item in group),
         "stored": sum(item.stored for item in group), "shown": sum(item.shown for item in group)}
        for kind, group in groups.items()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: (-row["opened"] / row["documents"], row["kind"]))


def flow(documents: dict[str, Delivery], events: Iterable[ledger.Event]) -> Facts:
    """Return `writers`, `readers` and the `bands` between them, each with its place in pixels."""
    received: dict[str, Counter[str]] = defaultdict(Counter)
    for event in events:
        if event["ref"] in documents and event["event"] in _COST_OF:
            received[event["ref"]][_reader(event)] += event.get("tokens", 0)
    sums: Counter[tuple[str, str]] = Counter()
    for ref, item in documents.items():
        left = max(0, item.stored - received[ref].total())
        for reader, count in (*received[ref].items(), (ON_DISK, left)):
            sums[item.agent or "the main agent", reader] += count
    return _placed(_grouped(+sums))


def _reader(event: ledger.Event) -> str:
    if event["event"] in (ledger.SHOWN, ledger.ASKED):
        return AGAIN if event["event"] == ledger.SHOWN else ASKED
    kind, _, name = event.get("to", "").partition(":")
    return SUBAGENTS if kind == "subagent" else name if kind == "agent" else SESSIONS


def _grouped(sums: Counter[tuple[str, str]]) -> Counter[tuple[str, str]]:
    """Put all but the largest names of either side into one each."""
    largest = []
    for side, rest in enumerate(_OTHERS):
        whole: Counter[str] = Counter()
        for pair, count in sums.items():
            whole[pair[side]] += count
        kept = {name for name, _ in whole.most_common(_ENDS)}
        largest.append((kept if len(whole) > _ENDS + 1 else set(whole), rest))
    grouped: Counter[tuple[str, str]] = Counter()
    for pair, count in sums.items():
        writer, reader = (
            n if n in kept else rest for n, (kept, rest) in zip(pair, largest, strict=True)
        )
        grouped[writer, reader] += count
    return grouped


def _placed(sums: Counter[tuple[str, str]]) -> Facts:
    """Stack both sides, and lead each band from where it leaves one to where it meets the other."""
    scale = _TALL / max(1, sums.total())
    thick = {pair: max(_THIN, count * scale) for pair, count in sums.items()}
    writers, readers = (_stacked(sums, thick, side) for side in (0, 1))
    next_left, next_right = ({n: e["top"] for n, e in ends.items()} for ends in (writers, readers))
    bands = []
    for writer, reader in sorted(sums, key=lambda pair: (next_left[pair[0]], next_right[pair[1]])):
        bands.append(
            {"writer": writer, "reader": reader, "tokens": sums[writer, reader],
             "thick": thick[writer, reader], "left": next_left[writer], "right": next_right[reader],
             "color": readers[reader]["color"]}
        )  # fmt: skip
        next_left[writer] += thick[writer, reader]
        next_right[reader] += thick[writer, reader]
    tall = max([*next_left.values(), *next_right.values()], default=0.0) + _LABEL
    return {"writers": list(writers.values()), "readers": list(readers.values()),
            "bands": bands, "tall": round(tall)}  # fmt: skip


def _stacked(
    sums: Counter[tuple[str, str]], thick: dict[tuple[str, str], float], side: int
) -> dict[str, Facts]:
    """Place the names of a side below each other, the largest first."""
    tokens: Counter[str] = Counter()
    heights: dict[str, float] = defaultdict(float)
    for pair, count in sums.items():
        tokens[pair[side]] += count
        heights[pair[side]] += thick[pair]
    ends, top = {}, 0.0
    for name in sorted(tokens, key=lambda name: (name in _LAST, -tokens[name])):
        ends[name] = {"name": names.clipped(name, _NAME), "tokens": tokens[name], "top": top,
                       "height": heights[name], "color": _COLORS.get(name, "receipts")}  # fmt: skip
        top += max(heights[name], _LABEL) + _APART
    return ends


def timeline(events: Iterable[ledger.Event]) -> Facts:
    """Return `rows` (sessions, and their subagents below them), `times` and `left_out` sessions."""
    spans: dict[str, list[int]] = {}
    inside: dict[str, str] = {}
    marks: dict[str, list[tuple[str, int, str]]] = defaultdict(list)
    for event in events:
        moment, session, who = (
            names.moment(event["at"]),
            event.get("session", ""),
            event.get("by", ""),
        )
        if event["event"] == ledger.DIED:
            marks[session].append(("died", spans.get(session, [moment])[-1], session))
            continue
        for name in filter(None, (session, who)):
            spans.setdefault(name, [moment, moment])[1] = moment
        if who:
            inside[who] = session
        mark = _MARKS.get((event["event"], event["ref"].partition(":")[0]))
        if mark and session:
            marks[session].append((mark, moment, event["ref"]))
    sessions = [name for name in spans if name not in inside]
    chosen = sessions[-_SESSIONS:]
    place = _Places([spans[name] for name in chosen])
    rows = [
        {**place.bar(name, spans[name]), "top": _AXIS + _ROW * number,
         "inside": [place.bar(below.removeprefix("subagent:"), spans[below])
                    for below, session in inside.items() if session == name],
         "marks": [{"mark": mark, "at": place.of(moment), "ref": ref, "time": names.iso(moment)}
                   for mark, moment, ref in marks[name]]}
        for number, name in enumerate(chosen)
    ]  # fmt: skip
    return {"rows": rows, "times": list(place.times()), "tall": _AXIS + _ROW * len(rows),
            "left_out": len(sessions) - len(chosen)}  # fmt: skip


class _Places:
    """Where a moment is along the picture: hours in which nothing happened are left out."""

    def __init__(self, spans: Iterable[list[int]]) -> None:
        self.stretches: list[list[int]] = []
        for first, last in sorted(spans):
            if self.stretches and first - self.stretches[-1][1] <= _IDLE:
                self.stretches[-1][1] = max(last, self.stretches[-1][1])
            else:
                self.stretches.append([first, last])
        self.gap = min(_GAP, 50 / max(1, len(self.stretches)))
        seconds = sum(last - first for first, last in self.stretches)
        self.scale = (100 - self.gap * (len(self.stretches) - 1)) / max(1, seconds)

    def of(self, moment: int) -> float:
        """The percent at which a moment is drawn."""
        at = 0.0
        for first, last in self.stretches:
            if moment <= last:
                return at + max(0, moment - first) * self.scale
            at += (last - first) * self.scale + self.gap
        return 100.0

    def bar(self, name: str, span: list[int]) -> Facts:
        first, last = span
        return {"name": names.clipped(name, _NAME), "begin": self.of(first), "end": self.of(last),
                "began": names.iso(first), "ended": names.iso(last)}  # fmt: skip

    def times(self) -> Iterator[Facts]:
        """The beginning of each stretch that is far enough from the one before to be written."""
        written = -float(_LABELS)
        for first, _ in self.stretches:
            at = self.of(first)
            labeled = at - written >= _LABELS and at <= 100 - _LABELS
            written = at if labeled else written
            yield {"at": at, "label": names.iso(first)[5:16].replace("T", " ") if labeled else ""}

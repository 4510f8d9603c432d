"""The report page: one file, no requests, no script but its own. It answers three questions.

What needs me, does it help, where did it go. `templates/report.html.j2` draws it; `page` makes
every text safe for HTML before the template sees it, and the page's content security policy names
its script and style by their digests, so text from agents stays data.
"""

from __future__ import annotations

import base64
import html
import json
import os
from collections import Counter, defaultdict

from contextkit.base import addresses, git, ledger, markdown, names, redaction, tables, templates
from contextkit.base.errors import ContextError
from contextkit.base.formats import beginning
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any, Iterable, Iterator, Sequence
from contextkit.base.version import VERSION
from contextkit.capsules.documents import store as capsules
from contextkit.capsules.flows import given
from contextkit.evaluation.documents import marks
from contextkit.history.flows import overview, traces
from contextkit.history.flows.traces import HANDED, KEPT_OUT, Delivery

Facts = dict[str, Any]

MOST_ITEMS = 10_000  # newest documents on the page
_MOST = 200  # rows of any other list
_EXAMPLES = 5  # documents listed below a task
_HEAD = 2_000  # bytes of a document that are searched for its title
_WHAT = 100  # characters of a title
_TITLES = ("summary", "next_action", "primary_objective", "target", "context_summary")


def facts(layout: Layout) -> Facts:
    """Everything that the page says. What cannot be read is left out: doctor names it."""
    events = list(ledger.read(layout))
    documents = traces.of_documents(events)
    items = _items(layout, documents)
    status = overview.status(layout, documents.values())
    return {
        "version": VERSION,
        "root": _clean(layout, os.path.basename(layout.root)),
        "made": names.iso(names.now()),
        "needs": _needs(layout, status),
        "spent": {
            name: value for name, value in status[-1].items() if name not in ("id", "status")
        },
        "days": days(documents, events),
        "kinds": kinds(documents.values()),
        "evaluation": [
            {**row, "said": _ARMS.get(row["arm"], row["arm"])}
            for row in marks.load(layout)
            if row["kind"] == marks.ALL
        ],
        "flow": flow(documents, events),
        "timeline": timeline(events),
        "sessions": traces.sessions(events, True)[-_MOST:],
        "items": items[:MOST_ITEMS],
        "left_out": max(0, len(items) - MOST_ITEMS),
        "machines": _machines(items),
    }


def _clean(layout: Layout, text: str) -> str:
    """A line of text without secrets, cut to the width of a row."""
    text = redaction.redacted(names.one_line(text[: _WHAT * 8]), layout.limits.secrets_allow)[0]
    return names.clipped(text, _WHAT)


def _needs(layout: Layout, status: list[Facts]) -> list[Facts]:
    """The tasks: `id`, `said`, `command`, and `which` documents each is about.

    A system's documents are those of its first row.
    """
    which: dict[object, Any] = {row["id"]: row.get("which", ()) for row in status}
    rows = overview.to_do(status)
    try:
        which["capsules"] = _stale(layout)
    except (ContextError, OSError):
        pass
    if which["capsules"] and not any(row["id"] == "capsules" for row in rows):
        stale = {"id": "capsules", "said": "the newest capsule is stale"}
        rows.append({**stale, "command": "capsule_prompt"})
    return [
        {**row, "said": _clean(layout, str(row["said"])), "command": f"make {row['command']}",
         "which": [_about(layout, **fields) for fields in which.pop(row["id"], ())[:_EXAMPLES]]}
        for row in rows
    ]  # fmt: skip


def _about(layout: Layout, ref: str, why: str, target: str = "context_show") -> Facts:
    """A document that needs something, why, and the command that opens it."""
    command = names.call(target, ref=ref) if ref else "make context_doctor"
    return {"what": _clean(layout, ref or "a hook"), "why": _clean(layout, why), "open": command}


def _stale(layout: Layout) -> list[Facts]:
    """Why the newest capsule of the branch is not up to date."""
    branch = git.head(layout.repository).branch
    path = capsules.latest(layout, branch) if branch else ""
    reasons = given.staleness(layout, path, ask_git=False) if path else ()
    about = {"ref": addresses.of(layout, path, "capsule"), "target": "context_why"}
    return [{**about, "why": reason} for reason in reasons]


_ARMS = {
    "receipt": "our receipts", "opened": "receipts, and one part opened",
    "cut": "head and tail, as many tokens", "whole": "the whole texts",
    "nothing": "nothing: guesses", "with": "another program",
}  # fmt: skip


def _items(layout: Layout, documents: dict[str, Delivery]) -> list[list[object]]:
    """[address, kind, time, tokens, state, title, maybe machine] of all documents, by time."""
    rows: list[list[object]] = []
    elsewhere = addresses.elsewhere(layout)
    for address in addresses.listed(layout):
        seen, entry = documents.get(address.ref), address.fields
        named = _title(address.path) if entry is None else entry.get("note") or entry.get("slug")
        at = (seen.at if seen else "") or addresses.time_of(address.ref)
        size, state = (seen.stored, _state(seen)) if seen else (0, "from before")
        row = [address.ref, address.kind, at, size, state, named or ""]
        rows.append([*row, elsewhere[address.ref]] if address.ref in elsewhere else row)
    rows.sort(key=lambda row: (str(row[2]), str(row[0])), reverse=True)
    for row in rows[:MOST_ITEMS]:
        row[5:] = [_clean(layout, str(text)) for text in row[5:]]
    return rows


def _state(seen: Delivery) -> str:
    if seen.consumed:
        return "consumed"
    if seen.gone:
        return "ended"
    return "opened" if seen.opened else "delivered" if seen.delivered else "new"


def _title(path: str) -> str:
    """A title for a document: its first heading, else what its first fields say."""
    title = ""
    for line in beginning(path, _HEAD).decode("utf-8", "replace").split("\n"):
        bare = line.strip()
        level, heading = markdown.heading(line)
        if level == 1:
            return heading
        name, colon, value = bare.strip('",').partition(":")
        if colon and name.strip('"') in _TITLES:
            title = title or value.strip(' "')
    return title


def _machines(items: list[list[object]]) -> list[list[object]]:
    """[name, documents, tokens] of each other machine with documents stored here."""
    by_machine: dict[str, list[int]] = defaultdict(list)
    for item in items:
        for machine in item[6:]:
            by_machine[str(machine)].append(int(str(item[3])))
    return [[name, len(sizes), sum(sizes)] for name, sizes in sorted(by_machine.items())]


def page(facts: Facts) -> str:
    """The HTML page of these facts: one file that requests nothing, one script of ours."""
    # Escape whatever could end the block of data, or a line of it.
    named = {name: facts[name] for name in ("items", "left_out", "machines")}
    data = json.dumps(named, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        data = data.replace(char, f"\\u{ord(char):04x}")
    safe = _safe({name: value for name, value in facts.items() if name != "items"})
    counts = {name: len(facts[name]) for name in ("kinds", "evaluation")}
    whole = templates.render("report.html", **safe, tables=_tables(safe), data=data, counts=counts)
    for name in ("script", "style"):
        inside = whole.partition(f"<{name}>")[2].partition(f"</{name}>")[0]
        digest = base64.b64encode(bytes.fromhex(names.sha256(inside.encode("utf-8")))).decode()
        whole = whole.replace(f"{{{{{name}_hash}}}}", f"sha256-{digest}", 1)
    return whole.encode("utf-8", "replace").decode("utf-8")


def _safe(value: Any) -> Any:
    """The same data with every text escaped for HTML, wherever the template puts it."""
    if isinstance(value, str):
        return html.escape(value.encode("utf-8", "replace").decode("utf-8"))
    if isinstance(value, dict):
        return {name: _safe(inner) for name, inner in value.items()}
    return [_safe(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _tables(safe: Facts) -> dict[str, str]:
    """The table behind each picture, as HTML."""
    drawn = safe["timeline"]["rows"]
    marks = [{"session": row["name"], **part} for row in drawn for part in row["marks"]]
    pictures = {
        "days": ("Tokens by day: kept out of contexts, what went in instead, and the net so far",
                 "day stored receipts asked shown net", safe["days"]["rows"]),
        "kinds": ("What was opened again, by kind of text",
                  "kind documents opened stored shown", safe["kinds"]),
        "evaluation": ("Questions answered from each kind of material; shares in percent",
                       "arm documents questions right low high wrong tokens", safe["evaluation"]),
        "bands": ("From who wrote to who got it", "writer reader tokens", safe["flow"]["bands"]),
        "sessions": ("Sessions; numbers are tokens, open counts documents",
                     "session host started ended stored injected shown saved open",
                     safe["sessions"]),
        "inside": ("Subagents of the sessions that are drawn", "name began ended",
                   [part for row in drawn for part in row["inside"]]),
        "marks": ("Handoffs, compactions and crashes", "session mark time ref", marks),
        "machines": ("Stored on other machines", "machine documents tokens", safe["machines"]),
    }  # fmt: skip
    return {name: _table(caption, heads.split(), rows)
            for name, (caption, heads, rows) in pictures.items()}  # fmt: skip


def _table(caption: str, heads: Sequence[str], rows: Iterable[Any]) -> str:
    """The rows are lists, or have fields with the names of the heads."""
    values = [row if isinstance(row, list) else [row[head] for head in heads] for row in rows]
    cells = [
        [{"text": v if isinstance(v, str) else f"{v:,}", "number": not isinstance(v, str)}
         for v in row]
        for row in values
    ]  # fmt: skip
    return templates.render("report_table.html", caption=caption, heads=heads, rows=cells)


def text(facts: Facts) -> str:
    """The facts for a terminal."""
    spent = facts["spent"]
    lines = [f"{facts['root']}, {facts['made']}", "", "What needs me"]
    for row in facts["needs"]:
        lines += [f"  {row['id']}: {row['said']}: {row['command']}"]
        lines += [f"    {each['what']}  {each['why'][:60]}" for each in row["which"]]
    lines += [] if facts["needs"] else ["  nothing"]
    lines += ["", "Does it help (tokens)"]
    lines += [f"{spent[name]:>10,}  {label}" for name, label in _SPENT]
    for row in facts["evaluation"]:
        lines += [f"{row['right']:>9}%  answered from {row['said']} ({row['low']}-{row['high']} %)"]
    heads = ("kind of text", "documents", "opened again", "stored", "shown")
    kinds = [tuple(map(str, row.values())) for row in facts["kinds"]]
    lines += ["", tables.table(heads, kinds)] if kinds else []
    bands = [(f"{b['tokens']:,}", b["writer"], b["reader"]) for b in facts["flow"]["bands"]]
    lines += ["", "Where did it go"]
    lines += [tables.table(("tokens", "from", "to"), bands)] if bands else ["  nowhere yet"]
    machines = [tuple(map(str, row)) for row in facts["machines"]]
    lines += ["", tables.table(("stored on", "documents", "tokens"), machines)] if machines else []
    return "\n".join(
        names.brief(line, names.PRINTED) for part in lines for line in part.split("\n")
    )


_SPENT = (
    ("stored", "written, and kept out of contexts"), ("receipts", "went in as receipts"),
    ("asked", "second turns of authors"), ("shown", "opened again"),
    ("card", "card and skill in each request"), ("net", "net"),
)  # fmt: skip


# The pictures, as numbers: lengths are tokens, places along a picture are percent. The template
# makes shapes of them.


ON_DISK, AGAIN, ASKED, SESSIONS, SUBAGENTS = (
    "on disk only", "opened again", "second turns", "sessions", "subagents",
)  # fmt: skip
_COLORS = {ON_DISK: "rest", AGAIN: "shown", ASKED: "asked"}
_OTHERS = ("others", "other agents")
_LAST = (ON_DISK, *_OTHERS)  # below all others, whatever their size
_DAYS = 30  # days with any activity
_BARS, _ABOVE, _DATES = 118, 110, 6  # pixels of the bars and above them; dates that are shown
_ENDS = 6  # names on either side of the flow; the rest is one more
_NAME = 24  # characters of a name
_TALL, _THIN, _LABEL, _APART = 240, 1.5, 22, 10  # pixels: the flow, the thinnest band, names
_SESSIONS = 12  # newest sessions that are drawn
_AXIS, _ROW = 16, 42  # pixels of the times, and of a session
_IDLE, _GAP = 1800, 2.5  # seconds without an event that are left out; percent drawn in their place
_LABELS = 24  # percent between two times that are shown
_MARKS = {("stored", "handoff"): "handoff", ("stored", "snapshot"): "saved"}


_COST_OF = {**dict.fromkeys(HANDED, "receipts"), ledger.ASKED: "asked", ledger.SHOWN: "shown"}


def days(documents: dict[str, Delivery], events: Iterable[ledger.Event]) -> Facts:
    """`rows`, one for each day with activity; `net` is the sum so far, without the card."""
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
    """How often texts of each kind were opened again, the most often opened first."""
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
    """`writers`, `readers` and the `bands` between them, each with its place in pixels."""
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
    """Combine all but the largest names of either side into one."""
    for side, rest in enumerate(_OTHERS):
        whole, grouped = Counter[str](), Counter[tuple[str, str]]()
        for pair, count in sums.items():
            whole[pair[side]] += count
        kept = dict(whole.most_common(_ENDS)) if len(whole) > _ENDS + 1 else whole
        for pair, count in sums.items():
            name = pair[side] if pair[side] in kept else rest
            grouped[(pair[0], name) if side else (name, pair[1])] += count
        sums = grouped
    return sums


def _placed(sums: Counter[tuple[str, str]]) -> Facts:
    """Stack both sides, and give each band its ends on both of them."""
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
    """`rows` (sessions, and their subagents below them), `times` and `left_out` sessions."""
    spans: dict[str, list[int]] = {}
    inside: dict[str, str] = {}
    marks: dict[str, list[tuple[str, int, str]]] = defaultdict(list)
    for event in events:
        moment, session = names.moment(event["at"]), event.get("session", "")
        who = event.get("by", "")
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
    """The place of a moment along the picture, which leaves out hours without events."""

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
        """The beginnings of stretches, as far as there is room to show them."""
        written = -float(_LABELS)
        for first, _ in self.stretches:
            at = self.of(first)
            labeled = at - written >= _LABELS and at <= 100 - _LABELS
            written = at if labeled else written
            yield {"at": at, "label": names.iso(first)[5:16].replace("T", " ") if labeled else ""}

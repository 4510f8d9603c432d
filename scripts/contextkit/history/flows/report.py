"""The report page: one file, no requests, no script but its own.

    facts(layout) -> what the page says, as plain data     page(facts) -> HTML     text(facts)

The page is `templates/report.html`. Its script inserts the data as text, never as HTML, and its
content security policy names the script and style by their digests, so text from agents stays data.
"""

from __future__ import annotations

import os

from contextkit.base import (
    addresses,
    files,
    ledger,
    names,
    origins,
    redaction,
    stores,
    version,
)
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any
from contextkit.base.version import toolkit
from contextkit.history.flows import delivery, standing

Facts = dict[str, Any]

MOST_ITEMS = 10_000  # newest documents on the page
_MOST = 200  # rows of any other list
_RUNS = 20  # review runs shown
_DAYS = 30  # with any activity
_HEAD = 2_000  # bytes of a document that are searched for its title
_WHAT = 100  # characters of a title
_BARS = ("stored", "injected")  # what a day's bars show
_PLACES = {"script_hash": b"<script>", "style_hash": b"<style>"}


def facts(layout: Layout) -> Facts:
    """Return everything that the page says. What cannot be read is left out: doctor names it."""
    events = list(ledger.read(layout))
    known = delivery.of_documents(events)
    items = _items(layout, known)
    systems = [{"system": s, **vars(t)} for s, t in delivery.by_system(known.values()).items()]
    found: Facts = {
        "version": version.VERSION,
        "root": _clean(layout, os.path.basename(layout.root)),
        "made": names.iso(names.now()),
        "systems": systems,
        **_by_day(events),
        "sessions": [vars(one) for one in delivery.sessions(events, True)][-_MOST:],
        "bars": _bars(layout, events),
        "items": items[:MOST_ITEMS],
        "left_out": max(0, len(items) - MOST_ITEMS),
        "machines": _machines(items),
        "severities": [],
    }
    for name, part in (
        ("failed", _failed), ("stale", _stale), ("open", _open), ("chain", _chain), ("runs", _runs),
        ("tasks", _tasks),
    ):  # fmt: skip
        try:
            found[name] = part(layout)
        except (ContextError, OSError):
            found[name] = []
    from contextkit.reviews.documents import vocabulary

    found["severities"] = list(vocabulary.SEVERITIES)
    whole = {name: sum(one[name] for one in systems) for name in ("stored", "injected", "saved")}
    net = max(0, whole["saved"] - standing.cost(layout))
    found["cards"] = [
        ["tokens stored", whole["stored"]], ["tokens handed over", whole["injected"]],
        ["tokens saved", net], ["documents", len(items)],
        ["sessions", len(found["sessions"])], ["open", len(found["open"])],
        ["stale", len(found["stale"])], ["failed", len(found["failed"])],
    ]  # fmt: skip
    return found


def _clean(layout: Layout, text: str, most: int = _WHAT) -> str:
    """Return a line of text without secrets, cut to the width of a row."""
    text = redaction.redacted(names.one_line(text[: most * 8]), layout.limits.secrets_allow)[0]
    return names.clipped(text, most)


def _items(layout: Layout, known: dict[str, delivery.Delivery]) -> list[list[object]]:
    """Return [address, kind, time, tokens, state, title] of every document, newest first.

    A document from another machine has the machine's name as a seventh field.
    """
    rows: list[list[object]] = []
    elsewhere = origins.elsewhere(layout)
    entries: dict[str, str] = {}
    for store in stores.with_documents():
        if store.is_file:
            entries |= _entries(layout, store.kind)
    for one in addresses.listed(layout):
        seen = known.get(one.ref)
        what = entries[one.ref] if one.ref in entries else _what(one.path)
        at = (seen.at if seen else "") or addresses.time_of(one.ref)
        state = _state(seen) if seen else "from before"
        machine = [elsewhere[one.ref]] if one.ref in elsewhere else []
        rows.append([one.ref, one.kind, at, seen.stored if seen else 0, state, what, *machine])
    rows.sort(key=lambda row: (str(row[2]), str(row[0])), reverse=True)
    for row in rows[:MOST_ITEMS]:
        row[5:] = [_clean(layout, str(text)) for text in row[5:]]
    return rows


def _machines(items: list[list[object]]) -> list[list[object]]:
    """Return [name, documents, tokens] of each other machine with documents stored here."""
    found: dict[str, list[list[object]]] = {}
    for item in items:
        if len(item) > 6:
            found.setdefault(str(item[6]), []).append(item)
    return [
        [name, len(some), sum(int(str(item[3])) for item in some)]
        for name, some in sorted(found.items())
    ]


def _entries(layout: Layout, kind: str) -> dict[str, str]:
    """Return the text of each entry of a single-file store, by address."""
    try:
        loaded = stores.module(stores.named(kind)).load_all(layout).documents
    except (ContextError, OSError):
        return {}
    pairs = [
        (e.get("id"), e.get("slug")) if isinstance(e, dict) else (e.id, e.note) for e in loaded
    ]
    return {f"{kind}:{identity}": str(what or "") for identity, what in pairs}


def _state(seen: delivery.Delivery) -> str:
    if seen.consumed:
        return "consumed"
    if seen.gone:
        return "ended"
    return "opened" if seen.opened else "delivered" if seen.delivered else "new"


def _what(path: str) -> str:
    """Return a title for a document: its first heading, else what its first fields say."""
    try:
        with open(path, "rb") as file:
            text = file.read(_HEAD).decode("utf-8", "replace")
    except OSError:
        return ""
    said = ""
    for line in text.split("\n"):
        bare = line.strip()
        if bare.startswith("# "):
            return bare[2:]
        name, colon, value = bare.strip('",').partition(":")
        if colon and name.strip('"') in ("summary", "next_action", "primary_objective", "target",
                                         "context_summary"):  # fmt: skip
            said = said or value.strip(' "')
    return said


def _by_day(events: list[ledger.Event]) -> Facts:
    """Return the tokens by day and system, of the last days with any activity."""
    place = {ledger.STORED: "stored", ledger.INJECTED: "injected", ledger.RENDERED: "injected",
             ledger.SHOWN: "shown"}  # fmt: skip
    systems = {store.kind: store.system or store.label for store in stores.with_documents()}
    sums: dict[tuple[str, str], dict[str, int]] = {}
    for one in events:
        if one["event"] in place and one.get("tokens"):
            kind = one["ref"].partition(":")[0]
            key = one["at"][:10], systems.get(kind, "verdicts")
            row = sums.setdefault(key, {"stored": 0, "injected": 0, "shown": 0})
            row[place[one["event"]]] += one["tokens"]
    last = sorted({day for day, _ in sums})[-_DAYS:]
    rows = [
        {"day": day, "system": s, **row} for (day, s), row in sorted(sums.items()) if day in last
    ]
    days = [
        {"day": day, **{n: sum(r[n] for (d, _), r in sums.items() if d == day) for n in _BARS}}
        for day in last
    ]
    return {"by_day": rows[-_MOST:], "days": days}


def _bars(layout: Layout, events: list[ledger.Event]) -> list[Facts]:
    """Return when sessions and their subagents were active, in seconds since 1970."""
    spans: dict[str, list[int]] = {}
    inside: dict[str, str] = {}
    for one in events:
        moment = names.moment(one["at"])
        session = one.get("session", "")
        who = one.get("by", "")
        for name in filter(None, (session, who)):
            span = spans.setdefault(name, [moment, moment])
            span[1] = max(span[1], moment)
        if who:
            inside[who] = session
    tops = [name for name in spans if name not in inside][-20:]
    rows = []
    for top in tops:
        below = [name for name, session in inside.items() if session == top][:10]
        rows += [(top, False), *((name, True) for name in below)]
    return [
        {
            "name": _clean(layout, name, 60),
            "inside": deep,
            "from": spans[name][0],
            "to": spans[name][1],
        }
        for name, deep in rows
    ]


def _row(layout: Layout, what: str, why: str, command: str) -> Facts:
    return {"what": _clean(layout, what), "why": _clean(layout, why), "open": command}


def _call(target: str, **named: str) -> str:
    """Return a command that can be pasted into a shell, whatever the document's name."""
    import shlex

    return " ".join(["make", target, *(f"{n}={shlex.quote(v)}" for n, v in named.items())])


def _failed(layout: Layout) -> list[Facts]:
    from contextkit.hosts.documents import diagnostics
    from contextkit.reviews.documents import verdicts
    from contextkit.subagents.documents import registry
    from contextkit.subagents.flows import watch

    rows = []
    for row in registry.load_all(layout).documents[-_MOST:]:
        status = watch.status_now(layout, row)
        if status in ("failed", "timed_out"):
            ref = f"subagent:{row['id']}"
            rows.append(_row(layout, ref, status, _call("context_show", ref=ref)))
    for entry in verdicts.load_all(layout).documents:
        if entry["status"] in ("ERROR", "FAILED", "BLOCKED"):
            ref = f"verdict:{_stem(entry['agent'])}"
            why = f"{entry['status']} {entry['summary']}"
            rows.append(_row(layout, ref, why, _call("context_show", ref=ref)))
    for line in diagnostics.lines(layout.hooks)[-20:]:
        rows.append(_row(layout, "a hook", line, "make doctor"))
    return rows[:_MOST]


def _stem(agent: str) -> str:
    from contextkit.reviews.documents import verdicts

    try:
        return verdicts.encode(agent)
    except ContextError:
        return names.dashed(agent)


def _stale(layout: Layout) -> list[Facts]:
    """Return the newest capsule of each branch if something it names has changed."""
    from contextkit.capsules.documents import store as capsules
    from contextkit.capsules.flows import drift

    newest = {one.capsule.branch: one for one in capsules.load_all(layout).documents[-_MOST:]}
    rows = []
    for one in newest.values():
        for reason in drift.staleness(layout, one.path, ask_git=False):
            ref = addresses.of(layout, one.path, "capsule")
            rows.append(_row(layout, ref, reason, _call("context_why", ref=ref)))
    return rows[:_MOST]


def _open(layout: Layout) -> list[Facts]:
    """Return the reminders and handoffs that nobody has taken up."""
    from contextkit.capsules.documents import reminders
    from contextkit.handoffs.documents import artifacts as handoffs

    rows = []
    for one in reminders.load_all(layout).documents:
        if not one.done:
            done = _call("reminder_done", id=one.id)
            rows.append(_row(layout, f"reminder:{one.id}", one.note, done))
    for path, found in handoffs.load_all(layout):
        if not found.consumed:
            ref = addresses.of(layout, path, "handoff")
            rows.append(_row(layout, ref, found.next_action, _call("context_show", ref=ref)))
    return rows[:_MOST]


def _chain(layout: Layout) -> list[Facts]:
    """Return handoffs and capsules in one list, newest first, each with what changed since."""
    from contextkit.capsules.documents import store as capsules
    from contextkit.capsules.flows import drift
    from contextkit.handoffs.documents import artifacts as handoffs

    rows: list[tuple[str, str, str, list[str]]] = []
    for path, found in handoffs.load_all(layout):
        what = f"{found.from_agent} → {found.to_agent}: {found.next_action}"
        rows.append((found.timestamp, addresses.of(layout, path, "handoff"), what, []))
    for path, one in capsules.load_all(layout)[-_MOST:]:
        changed = drift.staleness(layout, path, ask_git=False)
        what = f"{one.capsule.branch}: {one.capsule.primary_objective}"
        rows.append((one.capsule.created_at, addresses.of(layout, path, "capsule"), what, changed))
    rows.sort(key=lambda row: row[:2], reverse=True)
    return [
        {
            "ref": ref,
            "at": at,
            "what": _clean(layout, what),
            "drift": _clean(layout, "; ".join(drift)),
        }
        for at, ref, what, drift in rows[:_MOST]
    ]


def _runs(layout: Layout) -> list[Facts]:
    """Return the newest review runs: agents by severity, and the findings themselves."""
    from contextkit.reviews.documents import runs, verdicts, vocabulary
    from contextkit.reviews.flows import agent_files, drill_down

    found = []
    now = names.now()
    for run in runs.load_all(layout).documents[: -_RUNS - 1 : -1]:
        about = agent_files.of_run(layout, run)
        try:
            shown, _ = drill_down.of_run(
                run.id, agent_files.read(layout, about), vocabulary.SEVERITIES
            )
        except (ContextError, OSError):
            shown = []
        agents = []
        for agent in run.roster:
            mine = [one.severity for one in shown if one.agent == agent]
            entry = verdicts.load(layout, agent, about.store) or {}
            counts = [mine.count(severity) for severity in vocabulary.SEVERITIES]
            status = _clean(layout, str(entry.get("status", "waiting")), 40)
            agents.append({"agent": _clean(layout, agent), "status": status, "counts": counts})
        findings = [
            {"ref": f"review:{run.id}/{one.agent}/{one.id}", "severity": one.severity,
             "agent": _clean(layout, one.agent), "title": _clean(layout, one.title),
             "text": _clean(layout, one.text, 600)}
            for one in shown[:_MOST]
        ]  # fmt: skip
        found.append(
            {"run": run.id, "process": _clean(layout, run.process), "started": run.started_at,
             "target": _clean(layout, run.target), "state": runs.state(layout, run, now),
             "agents": agents, "findings": findings}
        )  # fmt: skip
    return found


def _tasks(layout: Layout) -> list[Facts]:
    from contextkit.memory.documents import store as memory
    from contextkit.memory.flows import agents

    plans = [one.ref.partition(":")[2] for one in addresses.listed(layout, "plan", False)]
    current = memory.current_task(layout)
    tasks = dict.fromkeys([*([current] if current else []), *plans])
    rows = []
    for task in list(tasks)[:50]:
        try:
            there = agents.attendance(layout, task)
        except (ContextError, OSError):
            continue
        said = f"{len(there.returned)} back, {len(there.running)} at work"
        missing = f"; missing: {', '.join(there.missing)}" if there.missing else ""
        phase = memory.current_phase(layout, task) or "unknown"
        rows.append({"task": task, "phase": phase, "agents": _clean(layout, said + missing)})
    return rows


def page(found: Facts) -> str:
    """Return the HTML page of these facts: one file that requests nothing, one script of ours."""
    import json

    frame = files.read(toolkit("templates", "report.html"))
    # Escape whatever could end the block of data, or a line of it.
    data = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        data = data.replace(char, f"\\u{ord(char):04x}")
    data = data.encode("utf-8", "replace").decode("utf-8")
    for name, opening in _PLACES.items():
        frame = frame.replace("{{" + name + "}}", _digest(frame, opening.decode()))
    head, _, tail = frame.partition("{{data}}")
    return head + data + tail


def _digest(frame: str, opening: str) -> str:
    """Return the digest of a tag's content, in the form that a policy uses."""
    import base64

    inside = frame.partition(opening)[2].partition(opening.replace("<", "</"))[0]
    digest = bytes.fromhex(names.sha256(inside.encode("utf-8")))
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def text(found: Facts) -> str:
    """Return the same numbers for a terminal."""
    from contextkit.base import tables

    lines = [f"{found['root']}, {found['made']}"]
    lines += ["", *(f"{value:>10,}  {name}" for name, value in found["cards"])]
    heads = ("system", "there", "not delivered", "not opened", "stored", "handed", "saved")
    keys = ("system", "documents", "never_delivered", "never_opened", "stored", "injected", "saved")
    rows = [tuple(str(row[key]) for key in keys) for row in found["systems"]]
    lines += ["", tables.table(heads, rows)] if rows else []
    if found["machines"]:
        machines = [tuple(map(str, row)) for row in found["machines"]]
        lines += ["", tables.table(("stored on", "documents", "tokens"), machines)]
    for name in ("failed", "stale", "open"):
        some = found[name]
        lines += [
            "",
            f"{name} ({len(some)})",
            *(f"  {r['what']}  {r['why'][:60]}" for r in some[:10]),
        ]
        lines += [f"  and {len(some) - 10} more"] if len(some) > 10 else []
    for run in found["runs"][:5]:
        counts = [
            sum(agent["counts"][i] for agent in run["agents"])
            for i in range(len(found["severities"]))
        ]
        said = ", ".join(f"{n} {s}" for n, s in zip(counts, found["severities"], strict=True) if n)
        lines += ["", f"run:{run['run']} {run['state']}: {said or 'no findings'}"]
    return "\n".join(names.spoken(line) for one in lines for line in one.split("\n"))

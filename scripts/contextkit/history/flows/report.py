"""The report page: one file, no requests, no script but its own. It answers three questions.

    facts(layout) -> what it says, as plain data     page(facts) -> HTML     text(facts)

What needs me, does it help, where did it go. `templates/report.html.j2` draws it; `page` makes
every text safe for HTML before the template sees it, and the page's content security policy names
its script and style by their digests, so text from agents stays data.
"""

from __future__ import annotations

import base64
import html
import json
import os
import shlex

from contextkit.base import (
    addresses,
    git,
    ledger,
    names,
    redaction,
    stores,
    tables,
    templates,
    version,
)
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any, Iterator, Sequence
from contextkit.history.flows import delivery, overview, pictures

Facts = dict[str, Any]

MOST_ITEMS = 10_000  # newest documents on the page
_MOST = 200  # rows of any other list
_EXAMPLES = 5  # documents named below what needs doing
_HEAD = 2_000  # bytes of a document that are searched for its title
_WHAT = 100  # characters of a title
_TITLES = ("summary", "next_action", "primary_objective", "target", "context_summary")


def facts(layout: Layout) -> Facts:
    """Return everything that the page says. What cannot be read is left out: doctor names it."""
    events = list(ledger.read(layout))
    documents = delivery.of_documents(events)
    items = _items(layout, documents)
    return {
        "version": version.VERSION,
        "root": _clean(layout, os.path.basename(layout.root)),
        "made": names.iso(names.now()),
        "needs": _needs(layout),
        "spent": pictures.spent(documents.values(), overview.standing_cost(layout)),
        "days": pictures.days(documents, events),
        "kinds": pictures.kinds(documents.values()),
        "evaluation": _evaluation(layout),
        "flow": pictures.flow(documents, events),
        "timeline": pictures.timeline(events),
        "sessions": delivery.sessions(events, True)[-_MOST:],
        "items": items[:MOST_ITEMS],
        "left_out": max(0, len(items) - MOST_ITEMS),
        "machines": _machines(items),
    }


def _clean(layout: Layout, text: str) -> str:
    """Return a line of text without secrets, cut to the width of a row."""
    text = redaction.redacted(names.one_line(text[: _WHAT * 8]), layout.limits.secrets_allow)[0]
    return names.clipped(text, _WHAT)


# What needs me


def _needs(layout: Layout) -> list[Facts]:
    """Return what needs doing: `id`, `said`, `command`, and `which` documents it is about."""
    which: dict[str, list[Facts]] = {}
    for part in (_stale, _waiting, _verdicts, _failed):
        try:
            for system, what, why, command in part(layout):
                row = {"what": _clean(layout, what), "why": _clean(layout, why), "open": command}
                which.setdefault(system, []).append(row)
        except (ContextError, OSError):
            continue
    rows = overview.to_do(overview.status(layout))
    if "capsules" in which and not any(row["id"] == "capsules" for row in rows):
        stale = {"id": "capsules", "said": "the newest capsule is stale"}
        rows.append({**stale, "command": "capsule_prompt"})
    return [
        {**row, "said": _clean(layout, str(row["said"])), "command": f"make {row['command']}",
         "which": which.get(str(row["id"]), [])[:_EXAMPLES]}
        for row in rows
    ]  # fmt: skip


_Row = tuple[str, str, str, str]  # a system, a document of it, what it says, the command for it


def _call(target: str, **named: str) -> str:
    """Return a command that can be pasted into a shell, whatever the document's name."""
    return " ".join(["make", target, *(f"{n}={shlex.quote(v)}" for n, v in named.items())])


def _show(system: str, ref: str, why: str) -> _Row:
    return system, ref, why, _call("context_show", ref=ref)


def _stale(layout: Layout) -> Iterator[_Row]:
    """Why the newest capsule of the branch is not up to date."""
    from contextkit.capsules.documents import store as capsules
    from contextkit.capsules.flows import drift

    branch = git.head(layout.repository).branch
    path = capsules.latest(layout, branch) if branch else ""
    for reason in drift.staleness(layout, path, ask_git=False) if path else ():
        ref = addresses.of(layout, path, "capsule")
        yield "capsules", ref, reason, _call("context_why", ref=ref)


def _waiting(layout: Layout) -> Iterator[_Row]:
    from contextkit.handoffs.documents import artifacts

    for path, handoff in artifacts.load_all(layout):
        if not handoff.consumed:
            yield _show("handoffs", addresses.of(layout, path, "handoff"), handoff.next_action)


def _verdicts(layout: Layout) -> Iterator[_Row]:
    from contextkit.reviews.documents import verdicts

    for entry in verdicts.needs_attention(verdicts.load_all(layout).documents):
        ref = f"verdict:{verdicts.encode(entry['agent'])}"
        yield _show("verdicts", ref, f"{entry['status']} {entry['summary']}")


def _failed(layout: Layout) -> Iterator[_Row]:
    from contextkit.hosts.flows import runner
    from contextkit.subagents.documents import registry
    from contextkit.subagents.flows import watch

    for row in registry.load_all(layout).documents[-_MOST:]:
        status = watch.status_now(layout, row)
        if status in ("failed", "timed_out"):
            yield _show("subagents", f"subagent:{row['id']}", status)
    for line in runner.noted(layout.hooks)[-_EXAMPLES:]:
        yield "hosts", "a hook", line, "make doctor"


def _evaluation(layout: Layout) -> list[Facts]:
    """Return the rows of the last evaluation for all kinds of text; none if there was none."""
    from contextkit.evaluation.documents import score

    rows = [row for row in score.load(layout) if row["kind"] == score.ALL]
    return [{**row, "said": _ARMS.get(row["arm"], row["arm"])} for row in rows]


_ARMS = {
    "receipt": "our receipts", "opened": "receipts, and one part opened",
    "cut": "head and tail, as many tokens", "whole": "the whole texts",
    "nothing": "nothing: guesses", "with": "another program",
}  # fmt: skip


# All documents


def _items(layout: Layout, documents: dict[str, delivery.Delivery]) -> list[list[object]]:
    """Return [address, kind, time, tokens, state, title] of every document, newest first.

    A document from another machine has the machine's name as a seventh field.
    """
    rows: list[list[object]] = []
    elsewhere = addresses.elsewhere(layout)
    entries: dict[str, str] = {}
    for store in stores.with_documents():
        if store.is_file:
            entries |= _entries(layout, store)
    for address in addresses.listed(layout):
        seen = documents.get(address.ref)
        what = entries[address.ref] if address.ref in entries else _title(address.path)
        at = (seen.at if seen else "") or addresses.time_of(address.ref)
        state = _state(seen) if seen else "from before"
        machine = [elsewhere[address.ref]] if address.ref in elsewhere else []
        rows.append(
            [address.ref, address.kind, at, seen.stored if seen else 0, state, what, *machine]
        )
    rows.sort(key=lambda row: (str(row[2]), str(row[0])), reverse=True)
    for row in rows[:MOST_ITEMS]:
        row[5:] = [_clean(layout, str(text)) for text in row[5:]]
    return rows


def _entries(layout: Layout, store: stores.Store) -> dict[str, str]:
    """Return the text of each entry of a single-file store, by address."""
    try:
        entries = list(addresses.entries(layout, store))
    except (ContextError, OSError):
        return {}
    return {ref: str(fields.get("note") or fields.get("slug") or "") for ref, _, fields in entries}


def _state(seen: delivery.Delivery) -> str:
    if seen.consumed:
        return "consumed"
    if seen.gone:
        return "ended"
    return "opened" if seen.opened else "delivered" if seen.delivered else "new"


def _title(path: str) -> str:
    """Return a title for a document: its first heading, else what its first fields say."""
    try:
        with open(path, "rb") as file:
            text = file.read(_HEAD).decode("utf-8", "replace")
    except OSError:
        return ""
    title = ""
    for line in text.split("\n"):
        bare = line.strip()
        if bare.startswith("# "):
            return bare[2:]
        name, colon, value = bare.strip('",').partition(":")
        if colon and name.strip('"') in _TITLES:
            title = title or value.strip(' "')
    return title


def _machines(items: list[list[object]]) -> list[list[object]]:
    """Return [name, documents, tokens] of each other machine with documents stored here."""
    by_machine: dict[str, list[int]] = {}
    for item in items:
        if len(item) > 6:
            by_machine.setdefault(str(item[6]), []).append(int(str(item[3])))
    return [[name, len(sizes), sum(sizes)] for name, sizes in sorted(by_machine.items())]


# The page


def page(facts: Facts) -> str:
    """Return the HTML page of these facts: one file that requests nothing, one script of ours."""
    # Escape whatever could end the block of data, or a line of it.
    named = {name: facts[name] for name in ("items", "left_out", "machines")}
    data = json.dumps(named, ensure_ascii=False, separators=(",", ":"))
    for char in "<>&\u2028\u2029":
        data = data.replace(char, f"\\u{ord(char):04x}")
    safe = _safe({name: value for name, value in facts.items() if name != "items"})
    counts = {name: len(facts[name]) for name in ("kinds", "evaluation")}
    whole = templates.render("report.html", **safe, tables=_tables(safe), data=data, counts=counts)
    for name in ("script", "style"):
        whole = whole.replace(f"{{{{{name}_hash}}}}", _digest(whole, name), 1)
    return whole.encode("utf-8", "replace").decode("utf-8")


def _safe(value: Any) -> Any:
    """Return the same data with every text escaped for HTML, wherever the template puts it."""
    if isinstance(value, str):
        return html.escape(value.encode("utf-8", "replace").decode("utf-8"))
    if isinstance(value, dict):
        return {name: _safe(inner) for name, inner in value.items()}
    return [_safe(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def _digest(whole: str, tag: str) -> str:
    """Return the digest of a tag's content, in the form that a policy uses."""
    inside = whole.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
    digest = bytes.fromhex(names.sha256(inside.encode("utf-8")))
    return f"sha256-{base64.b64encode(digest).decode('ascii')}"


def _tables(safe: Facts) -> dict[str, str]:
    """Return the table behind each picture, as HTML."""
    columns = {
        "days": ("day stored receipts asked shown net",
                 "Tokens by day: kept out of contexts, what came in instead, and the net so far"),
        "kinds": ("kind documents opened stored shown", "What was opened again, by kind of text"),
        "evaluation": ("arm documents questions right low high wrong tokens",
                       "Questions answered from each kind of material; shares in percent"),
        "bands": ("writer reader tokens", "From who wrote to who got it"),
        "sessions": ("session host started ended stored injected shown saved open",
                     "Sessions; numbers are tokens, open counts documents"),
        "inside": ("name began ended", "Subagents of the sessions that are drawn"),
        "marks": ("session mark time ref", "Handoffs, compactions and crashes"),
    }  # fmt: skip
    drawn = safe["timeline"]["rows"]
    rows = {
        **safe, "days": safe["days"]["rows"], "bands": safe["flow"]["bands"],
        "inside": [one for row in drawn for one in row["inside"]],
        "marks": [{"session": row["name"], **one} for row in drawn for one in row["marks"]],
    }  # fmt: skip
    by_picture = {
        name: _table(
            caption, keys.split(), [[row[key] for key in keys.split()] for row in rows[name]]
        )
        for name, (keys, caption) in columns.items()
    }
    by_picture["machines"] = _table(
        "Stored on other machines", ("machine", "documents", "tokens"), safe["machines"]
    )
    return by_picture


def _table(caption: str, heads: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    cells = [
        [{"text": one if isinstance(one, str) else f"{one:,}", "number": not isinstance(one, str)}
         for one in row]
        for row in rows
    ]  # fmt: skip
    return templates.render("report_table.html", caption=caption, heads=heads, rows=cells)


def text(facts: Facts) -> str:
    """Return the same for a terminal."""
    spent = facts["spent"]
    lines = [f"{facts['root']}, {facts['made']}", "", "What needs me"]
    for row in facts["needs"]:
        lines += [f"  {row['id']}: {row['said']}: {row['command']}"]
        lines += [f"    {one['what']}  {one['why'][:60]}" for one in row["which"]]
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
    return "\n".join(names.spoken(line) for one in lines for line in one.split("\n"))


_SPENT = (
    ("stored", "written, and kept out of contexts"), ("receipts", "came in as receipts"),
    ("asked", "second turns of authors"), ("shown", "opened again"),
    ("card", "card and skill in each request"), ("net", "net"),
)  # fmt: skip

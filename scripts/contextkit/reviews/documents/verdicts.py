"""Verdicts: what each reviewer concluded, in one line, and where the rest is.

    <verdicts>/<agent>.json      one file per agent, so that no two share one; never in git

Other programs also read and write this folder (the shell library that this replaces, people by
hand), so an entry is kept as the JSON object that was read; a file that cannot be read is an ERROR.
manuals/verdicts.md describes the format.
"""

from __future__ import annotations

import os

from contextkit.base import files, formats, names, stores
from contextkit.base.errors import ContextError, NewerFormat, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.stores import Loaded
from contextkit.base.type_names import Any, Callable

Entry = dict[str, Any]  # a verdict as read; `agent` and `status` are always text

# In the order in which the old library counts them.
STATUSES = ("CLEAN", "NEEDS_ATTENTION", "BLOCKED", "ERROR", "COMPLETE", "PARTIAL", "FAILED")
_RANKS = {"P0": 0, "P1": 1, "P2": 3, "P3": 4}
LEGACY_ATTENTION = ("NEEDS_ATTENTION", "FAILED")
SKIPPED = "SKIPPED_SHIP_CLASS"  # set for a reviewer by a gate in callers of the old library
FORMAT = 1  # of the document; one without a format field has this one
_OPTIONAL = ("phase", "flags", "findings", "run", "sha256")
_TRIES = 20  # to write while other processes clean
_LINE = 160  # characters in a row
_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_BEGINS = _SAFE - frozenset(".-")  # characters with which a file name may begin
_LONGEST_NAME = 200  # bytes of an encoded name, so that name and suffix fit a file system


class Verdict(Record):
    """The fields that are written: the old library's keys first and in their order, then ours."""

    type: str = "verdict"
    status: str
    model: str = ""
    tokens_spent: int = 0
    files_changed: tuple[object, ...] = ()
    findings_count: int = 0
    summary: str
    detail_path: str = ""
    timestamp: str = ""
    session_id: str = ""
    phase: str = ""
    flags: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()  # the ids worth opening, most severe first
    run: str = ""  # the review run that it belongs to
    sha256: str = ""  # of the file at detail_path when it was read
    agent: str

    def check(self) -> None:
        encode(self.agent)
        if self.status not in (*STATUSES, SKIPPED):
            raise bad_input(f"status={self.status}: must be one of {', '.join(STATUSES)}")


def understood(status: str, summary: str) -> tuple[str, str]:
    """A storable status and summary for any given status.

    An unknown one becomes NEEDS_ATTENTION, quoted: it must not leave the last CLEAN behind.
    """
    if status in (*STATUSES, SKIPPED):
        return status, summary
    return "NEEDS_ATTENTION", f"{names.one_line(status)[:40]}: {summary}"


def encode(agent: str) -> str:
    """An agent's name as a reversible file name, `x%3Areview%3Afd-x`. Raises ContextError."""
    wrong = agent.strip() in ("", ".", "..") or "/" in agent or not agent.isprintable()
    made = "".join(
        char
        if char in (_SAFE if index else _BEGINS)
        else "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace"))
        for index, char in enumerate(agent)
    )
    if wrong or len(made) > _LONGEST_NAME:
        raise bad_input(f"agent: {agent[:60]!r} cannot be the name of a verdict")
    return made


def decode(stem: str) -> str:
    """Decode an agent's name from a file name; an unencoded name is returned unchanged."""
    if "%" not in stem:
        return stem
    first, *parts = stem.encode("utf-8", "replace").split(b"%")
    try:
        return (first + b"".join(bytes([int(p[:2], 16)]) + p[2:] for p in parts)).decode("utf-8")
    except ValueError:
        return stem


def render(verdict: Verdict) -> str:
    """Render a verdict as JSON, leaving out empty optional keys."""
    values = vars(verdict).items()
    fields = {name: value for name, value in values if value or name not in _OPTIONAL}
    return formats.to_json({**fields, "format": FORMAT}) + "\n"


def parse(data: bytes, stem: str) -> Entry:
    """Parse the entry in `<stem>.json`; an unreadable one is an ERROR. Never raises."""
    try:
        entry = formats.from_json(data.decode("utf-8"), stem)
    except (ContextError, UnicodeDecodeError):
        return unreadable(stem, "is not valid JSON")
    if not isinstance(entry, dict):
        return unreadable(stem, "is not a JSON object")
    if entry.get("format", FORMAT) != FORMAT:
        from contextkit.base import version

        try:
            version.refuse_newer(entry["format"], str(FORMAT))
        except NewerFormat as error:
            return unreadable(stem, f"was {error}")
    status = entry.get("status")
    if not isinstance(status, str) or not status.strip():
        return unreadable(stem, "has no status")
    summary = entry.get("summary") or entry.get("reason")
    entry["summary"] = summary if isinstance(summary, str) else ""
    if not status.isalnum():  # not a single word: underscores are usual, tabs are not
        entry["status"] = names.one_line(status)
    named = entry.get("agent")
    entry["agent"] = named if isinstance(named, str) and named.strip() else decode(stem)
    return entry


def unreadable(stem: str, reason: str) -> Entry:
    """The entry for a file that cannot be read: a visible error, not a missing line."""
    return {"agent": decode(stem), "status": "ERROR", "summary": f"verdict file {reason}",
            "broken": reason}  # fmt: skip


def save(layout: Layout, verdict: Verdict, run_store: str = "", tokens: int = 0) -> str:
    """Write one verdict, replacing the agent's previous one; return its path.

    Secrets in the summary are redacted, not refused: hooks write here. A copy goes to `run_store`,
    the folder of a run's own verdicts. One that was derived from an agent's file is not synced at
    once: the next ingest recreates it. `tokens` is the size of the text that it summarizes, if no
    other store has counted it.
    """
    from contextkit.base import addresses, ledger, redaction

    summary, _ = redaction.redacted(verdict.summary, layout.limits.secrets_allow)
    text, path = render(verdict.replace(summary=summary)), ""
    detail = addresses.of(layout, layout.join(verdict.detail_path)) if verdict.detail_path else ""
    sources = (detail, f"run:{verdict.run}" if verdict.run else "")
    for store in filter(None, (run_store, layout.verdicts)):
        path = os.path.join(files.store(store), encode(verdict.agent) + ".json")
        if os.path.islink(path):
            raise ContextError(f"{layout.shown(path)}: is a symbolic link: refused")
        _write(path, text, bool(verdict.sha256))
        ledger.note(
            layout, ledger.STORED, addresses.of(layout, path, "verdict"), tokens=tokens,
            sources=sources, session=verdict.session_id, agent=verdict.agent,
        )  # fmt: skip
        tokens = 0  # counted once, not again for the copy
    return path


def _write(path: str, text: str, derived: bool) -> None:
    for left in reversed(range(_TRIES)):
        try:
            files.write(path, text, derived)
            break
        except FileNotFoundError:
            if not left:
                raise
            files.store(os.path.dirname(path))  # cleaned up in the meantime: try again
    files.store(os.path.dirname(path))  # perhaps made anew just now, without its ignore rules
    if derived:
        files.owed(path)


def load(layout: Layout, agent: str, store: str = "") -> Entry | None:
    """Load the verdict of one agent; None if there is none.

    `store`, here and below, is the folder of a run's own verdicts, by default the flat one.
    """
    path = os.path.join(store or layout.verdicts, encode(agent) + ".json")
    if not os.path.lexists(path):
        return None
    return parse(files.read_bytes(path), encode(agent))


def report(layout: Layout, entry: Entry) -> str:
    """The path of an agent's report, relative to the root; '' if there is none where one may be."""
    path = str(entry.get("detail_path") or "")
    is_default = os.path.dirname(layout.join(path)) == layout.verdicts
    return "" if is_default and not os.path.lexists(layout.join(path)) else path


def load_all(layout: Layout, store: str = "") -> Loaded[Entry]:
    """Every verdict in the store, by agent; an unreadable one is an ERROR, and `broken`.

    Another machine's verdict, kept next to ours, is listed as well: both must be seen.
    """
    store = store or layout.verdicts
    listing = [name for name in listed(layout, store) if _is_verdict(name) and name[0] != "."]
    if not listing:
        return Loaded()
    at = os.open(store, os.O_RDONLY)
    try:
        read = [(os.path.join(store, name), load_file(name, at)) for name in listing]
    finally:
        os.close(at)
    read = [(p, e) for p, e in read if "broken" not in e or os.path.lexists(p)]  # else just removed
    broken = [layout.broken(p, str(e["broken"])) for p, e in read if "broken" in e]
    return Loaded(sorted(read, key=lambda pair: pair[1]["agent"]), broken)


def listed(layout: Layout, store: str) -> list[str]:
    """The names in a folder of ours, sorted; none without it. Raises ContextError for a file."""
    files.proved(os.path.join(store, ""))
    try:
        return sorted(os.listdir(store))
    except FileNotFoundError:
        return []
    except NotADirectoryError:
        raise ContextError(f"{layout.shown(store)}: a file is in the way of the store") from None


def _is_verdict(name: str) -> bool:
    return name.endswith(".json") or f".json{stores.MARK}" in name


def load_file(path: str, at: int | None = None) -> Entry:
    """Like `parse`, from disk (`at` is an open folder): a thousand files take about 15 ms."""
    stem = os.path.basename(path).rpartition(".json")[0]
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=at)
        try:
            data = os.read(descriptor, 65_536)
            while len(data) % 65_536 == 0 and (more := os.read(descriptor, 65_536)):
                data += more
        finally:
            os.close(descriptor)
    except OSError as error:
        return unreadable(stem, f"cannot be read ({error.strerror})")
    return parse(data, stem)


def table(entries: list[Entry], legacy: bool = False) -> str:
    """One row per agent, `STATUS⇥AGENT⇥SUMMARY`: always three columns on one line.

    Rows have at most 160 characters; `legacy` rows have the full summary.
    """
    cells = ((entry["status"], entry["agent"], entry["summary"]) for entry in entries)
    rows = ("\t".join(map(names.one_line, row)) for row in cells)
    return "\n".join(rows if legacy else (names.clipped(row, _LINE) for row in rows))


def counts(entries: list[Entry], legacy: bool = False) -> str:
    """`3 CLEAN, 1 NEEDS_ATTENTION`, known statuses first or alone (`legacy`), or `0 verdicts`."""
    by_status: dict[str, int] = dict.fromkeys(STATUSES, 0)
    for entry in entries:
        by_status[entry["status"]] = by_status.get(entry["status"], 0) + 1
    shown = STATUSES if legacy else by_status
    return ", ".join(f"{by_status[s]} {s}" for s in shown if by_status[s]) or "0 verdicts"


def needs_attention(entries: list[Entry], legacy: bool = False) -> list[Entry]:
    """The entries that need attention, also unknown ones; or the old library's set."""
    if legacy:
        return [entry for entry in entries if entry["status"] in LEGACY_ATTENTION]
    fine = ("CLEAN", "COMPLETE")
    return [e for e in entries if e["status"] not in fine and not e["status"].startswith("SKIPPED")]


def blocking(entries: list[Entry]) -> list[Entry]:
    """Those that must be looked at; a run's research with gaps has passed."""
    asked = needs_attention(entries)
    return [entry for entry in asked if not (entry["status"] == "PARTIAL" and entry.get("run"))]


def worst_first(entries: list[Entry]) -> list[Entry]:
    """The entries by the worst severity that they name; one that names none is after P0 and P1."""

    def rank(entry: Entry) -> int:
        named = f"{entry.get('findings')} {entry['summary']}".upper()
        return next((rank for name, rank in _RANKS.items() if name in named), 2)

    return sorted(entries, key=rank)


def attention_rows(entries: list[Entry], with_ids: bool = False) -> str:
    """`AGENT⇥FINDINGS_COUNT⇥DETAIL_PATH` for each, plus the finding ids if known."""
    rows = []
    for entry in entries:
        shown = (("agent", ""), ("findings_count", 0), ("detail_path", ""))
        cells = [entry.get(key, default) for key, default in shown]
        ids = entry.get("findings") if with_ids else None
        cells += [" ".join(map(str, ids))] if isinstance(ids, list) and ids else []
        rows.append("\t".join(names.one_line(str(cell)) for cell in cells))
    return "\n".join(rows)


def tokens(entries: list[Entry]) -> tuple[int, list[str]]:
    """The tokens spent by all agents, and the agents whose count is unreadable."""
    total, odd = 0, []
    for entry in entries:
        spent = entry.get("tokens_spent", 0)
        is_whole = type(spent) is float and 0 <= spent < 1e15 and spent == int(spent)
        if is_whole or (type(spent) is int and spent >= 0):
            total += int(spent)
        else:
            odd.append(entry["agent"])
    return total, odd


def broken(entries: list[Entry]) -> list[str]:
    """A sentence for each file that could not be read."""
    return [f"{entry['agent']}: {entry['summary']}" for entry in entries if "broken" in entry]


def clean(
    layout: Layout, keep: Callable[[Entry], bool] | None = None, store: str = ""
) -> list[str]:
    """Remove drafts and all verdicts that `keep(entry)` rejects, but no `.md`; their names."""
    store = store or layout.verdicts
    removed = []
    for name in listed(layout, store):
        path = os.path.join(store, name)
        verdict = _is_verdict(name) and not os.path.isdir(path)
        draft = name.startswith(".") and name.endswith(".tmp")
        try:
            stays = verdict and keep and keep(load_file(path))
            if (draft or verdict) and not stays:
                os.unlink(path)
                removed.append(name)
        except FileNotFoundError:
            continue  # another process removed it, or finished writing it
    return removed

"""Verdicts: what each reviewer concluded in one line, and where the rest is.

    <verdicts>/<agent>.json      one file an agent, so that no two share one; never in git

Other programs read the folder too, and write to it (the shell library that this replaces, files
made by hand): an entry is therefore the JSON object as it stands; what cannot be read is an ERROR.
The format is told in manuals/verdicts.md.
"""

from __future__ import annotations

import os

from contextkit.base import files, formats, names, stores
from contextkit.base.errors import ContextError, NewerFormat, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.stores import Loaded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Entry = dict[str, Any]  # a verdict as it was read; `agent` and `status` are always text

# In the order in which the old library counts them.
STATUSES = ("CLEAN", "NEEDS_ATTENTION", "BLOCKED", "ERROR", "COMPLETE", "PARTIAL", "FAILED")
ATTENTION = ("NEEDS_ATTENTION", "BLOCKED", "ERROR", "PARTIAL", "FAILED")
LEGACY_ATTENTION = ("NEEDS_ATTENTION", "FAILED")
SKIPPED = "SKIPPED_SHIP_CLASS"  # a gate of the old library's callers says so of a reviewer
FORMAT = 1  # of the document; one without it is of this
_TRIES = 20  # of a write beside others that clean
_LINE = 160  # characters of a row
_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_LONGEST_NAME = 200  # bytes of an encoded name, so that it fits a file system with its suffix


class Verdict(Record):
    """What is written; the keys of the old library first and in their order, then ours."""

    agent: str
    status: str
    summary: str
    type: str = "verdict"
    model: str = ""
    tokens_spent: int = 0
    files_changed: tuple[object, ...] = ()
    findings_count: int = 0
    detail_path: str = ""
    timestamp: str = ""
    session_id: str = ""
    phase: str = ""
    flags: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()  # the ids worth opening, most severe first
    run: str = ""  # the review run that it belongs to
    sha256: str = ""  # of the file at detail_path when it was read

    def check(self) -> None:
        encode(self.agent)
        if self.status not in (*STATUSES, SKIPPED):
            raise bad_input(f"status={self.status}: must be one of {', '.join(STATUSES)}")


def understood(status: str, summary: str) -> tuple[str, str]:
    """A status and a summary that can be stored, whatever was said for a status.

    One that is not known is NEEDS_ATTENTION, with what was said: a caller that is not understood
    must not leave its last CLEAN behind.
    """
    if status in (*STATUSES, SKIPPED):
        return status, summary
    return "NEEDS_ATTENTION", f"{names.one_line(status)[:40]}: {summary}"


def encode(agent: str) -> str:
    """An agent's name as a file name that gives it back; raises ContextError where none can.

    `interflux:review:fd-x` is `interflux%3Areview%3Afd-x`; ordinary names stay as they are.
    """
    wrong = not agent.strip() or "/" in agent or not agent.isprintable() or agent in (".", "..")
    made = "".join(
        char if char in _SAFE and (index or char.isalnum() or char == "_") else _percent(char)
        for index, char in enumerate(agent)
    )
    if wrong or len(made) > _LONGEST_NAME:
        raise bad_input(f"agent: {agent[:60]!r} cannot be the name of a verdict")
    return made


def _percent(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "replace"))


def decode(stem: str) -> str:
    """The agent's name in a file name; one that is not encoded stands for itself."""
    if "%" not in stem:
        return stem
    first, *parts = stem.encode("utf-8", "replace").split(b"%")
    try:
        return (first + b"".join(bytes([int(p[:2], 16)]) + p[2:] for p in parts)).decode("utf-8")
    except ValueError:
        return stem


def folder(layout: Layout) -> str:
    """The store of the flat verdicts."""
    return layout.verdicts


def render(verdict: Verdict) -> str:
    """The JSON of a verdict; empty optional keys are left out."""
    values = {name: value for name, value in vars(verdict).items() if name not in ("agent",)}
    order = ("type", "status", "model", "tokens_spent", "files_changed", "findings_count",
             "summary", "detail_path", "timestamp", "session_id")  # fmt: skip
    fields = {name: values[name] for name in order}
    optional = ("phase", "flags", "findings", "run", "sha256")
    fields |= {name: values[name] for name in optional if values[name]}
    return formats.to_json({**fields, "agent": verdict.agent, "format": FORMAT}) + "\n"


def parse(data: bytes, stem: str) -> Entry:
    """The entry in a file named `<stem>.json`; one that cannot be read is an ERROR that says why.

    Never raises: a crashed reviewer must not hide the others.
    """
    try:
        found = formats.from_json(data.decode("utf-8"), stem)
    except (ContextError, UnicodeDecodeError):
        return unreadable(stem, "is not valid JSON")
    if not isinstance(found, dict):
        return unreadable(stem, "is not a JSON object")
    if found.get("format", FORMAT) != FORMAT:
        from contextkit.base import version

        try:
            version.refuse_newer(found["format"], str(FORMAT))
        except NewerFormat as error:
            return unreadable(stem, f"was {error}")
    status = found.get("status")
    if not isinstance(status, str) or not status.strip():
        return unreadable(stem, "has no status")
    said = found.get("summary") or found.get("reason")
    found["summary"] = said if isinstance(said, str) else ""
    if not status.isalnum():  # not one word of letters: an underscore is usual, a tab is not
        found["status"] = names.one_line(status)
    named = found.get("agent")
    found["agent"] = named if isinstance(named, str) and named.strip() else decode(stem)
    return found


def unreadable(stem: str, reason: str) -> Entry:
    """The entry of a file that cannot be read: an error that is seen, not a missing line."""
    return {
        "agent": decode(stem),
        "status": "ERROR",
        "summary": f"verdict file {reason}",
        "broken": reason,
    }


def save(
    layout: Layout, verdict: Verdict, store: str = "", derived: bool = False, tokens: int = 0
) -> str:
    """Write one verdict, replacing the agent's last one whole; returns its path.

    A secret in its summary is redacted: hooks write here, and a verdict must not be lost.
    `store` is the folder of a run's own verdicts, here and below; by default the flat one. One that
    is `derived` from an agent's file is not waited for: after a power cut it may be an ERROR
    that cannot be read, never another verdict, and the next ingest makes it again. `tokens` are
    those of the text that it stands for, where no other store has counted them.
    """
    from contextkit.base import redaction

    store = files.store(store or folder(layout))
    path = os.path.join(store, encode(verdict.agent) + ".json")
    if os.path.islink(path):
        raise ContextError(f"{layout.shown(path)}: is a symbolic link: refused")
    summary, _ = redaction.redacted(verdict.summary, layout.limits.secrets_allow)
    text = render(verdict.replace(summary=summary))
    for _ in range(_TRIES):
        try:
            files.write(path, text, derived)
            break
        except FileNotFoundError:
            files.store(store)  # cleaned up in the middle of it: once more
    else:
        files.write(path, text, derived)
    _note(layout, path, verdict, tokens)
    return path


def _note(layout: Layout, path: str, verdict: Verdict, tokens: int) -> None:
    """Note in the ledger that there is a verdict, and of which document and run."""
    from contextkit.base import addresses, ledger

    detail = addresses.of(layout, layout.join(verdict.detail_path)) if verdict.detail_path else ""
    sources = (detail, f"run:{verdict.run}" if verdict.run else "")
    ref, whose = addresses.of(layout, path, "verdict"), verdict.session_id
    ledger.note(
        layout, ledger.STORED, ref, tokens=tokens, sources=sources, session=whose,
        agent=verdict.agent,
    )  # fmt: skip


def merge(ours: bytes, theirs: bytes) -> bytes:
    """Of two verdicts of one agent the later by its own time; one that can be read, if one can."""

    def rank(data: bytes) -> tuple[bool, str, bytes]:
        entry = parse(data, "verdict")
        return "broken" not in entry, str(entry.get("timestamp") or ""), data

    return max(ours, theirs, key=rank)


def load(layout: Layout, agent: str, store: str = "") -> Entry | None:
    """The verdict of one agent; None when there is none."""
    path = os.path.join(store or folder(layout), encode(agent) + ".json")
    if not os.path.lexists(path):
        return None
    return parse(files.read_bytes(path), encode(agent))


def load_all(layout: Layout, store: str = "") -> Loaded[Entry]:
    """Every verdict of the store, by agent; none where there is no store.

    One that cannot be read is an ERROR among them and is told in `broken` too.
    """
    store = store or folder(layout)
    try:
        found = sorted(n for n in os.listdir(store) if n.endswith(".json") and n[0] != ".")
    except FileNotFoundError:
        return Loaded()
    except NotADirectoryError:
        raise ContextError(f"{layout.shown(store)}: a file is in the way of the store") from None
    at = os.open(store, os.O_RDONLY)
    read = []
    try:
        for name in found:
            path = os.path.join(store, name)
            if os.path.lexists(path):  # else it was cleaned up just now
                read.append((path, _read(name, name[:-5], at)))
    finally:
        os.close(at)
    broken = [stores.broken(layout, p, str(e["broken"])) for p, e in read if "broken" in e]
    return Loaded(sorted(read, key=lambda pair: pair[1]["agent"]), broken)


def _read(path: str, stem: str, at: int | None = None) -> Entry:
    """As `parse`, from disk (`at` is an open folder): a thousand in some fifteen milliseconds."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK, dir_fd=at)
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
    """One row per agent, `STATUS⇥AGENT⇥SUMMARY`, three columns and one line whatever was written.

    At most 160 characters; `legacy` rows are as long as their summary.
    """
    return "\n".join(_row(entry, len(entry["summary"]) if legacy else 0) for entry in entries)


def _row(entry: Entry, more: int) -> str:
    row = "\t".join(names.one_line(entry[name]) for name in ("status", "agent", "summary"))
    return row if len(row) <= _LINE + more else names.clipped(row, _LINE)


def counts(entries: list[Entry], legacy: bool = False) -> str:
    """`3 CLEAN, 1 NEEDS_ATTENTION`: known statuses in their order, then others; or `0 verdicts`.

    `legacy` counts the known ones alone.
    """
    by_status: dict[str, int] = dict.fromkeys(STATUSES, 0)
    for entry in entries:
        if legacy and entry["status"] not in STATUSES:
            continue
        by_status[entry["status"]] = by_status.get(entry["status"], 0) + 1
    return ", ".join(f"{n} {status}" for status, n in by_status.items() if n) or "0 verdicts"


def needs_attention(entries: list[Entry], legacy: bool = False) -> list[Entry]:
    """Those that somebody has to look at; a status that is not known is one of them.

    `legacy` is the old library's set, without crashed, blocked and partial reviewers.
    """
    if legacy:
        return [entry for entry in entries if entry["status"] in LEGACY_ATTENTION]
    fine = ("CLEAN", "COMPLETE")
    return [e for e in entries if e["status"] not in fine and not e["status"].startswith("SKIPPED")]


def attention_rows(entries: list[Entry], with_ids: bool = False) -> str:
    """`AGENT⇥FINDINGS_COUNT⇥DETAIL_PATH` of each, and the ids of findings where they are known."""
    rows = []
    for entry in entries:
        cells = [
            entry.get("agent", ""),
            entry.get("findings_count", 0),
            entry.get("detail_path", ""),
        ]
        ids = entry.get("findings")
        if with_ids and isinstance(ids, list) and ids:
            cells.append(" ".join(map(str, ids)))
        rows.append("\t".join(names.one_line(str(cell)) for cell in cells))
    return "\n".join(rows)


def tokens(entries: list[Entry]) -> tuple[int, list[str]]:
    """The tokens spent by all agents, and whose number could not be counted."""
    total, odd = 0, []
    for entry in entries:
        spent = entry.get("tokens_spent", 0)
        if type(spent) is int and spent >= 0:
            total += spent
        elif type(spent) is float and spent >= 0 and spent == int(spent) and spent < 1e15:
            total += int(spent)
        else:
            odd.append(entry["agent"])
    return total, odd


def broken(entries: list[Entry]) -> list[str]:
    """A sentence for each file that could not be read."""
    return [f"{entry['agent']}: {entry['summary']}" for entry in entries if "broken" in entry]


def clean(layout: Layout, keep: object = None, store: str = "") -> list[str]:
    """Remove the verdicts (but those for which `keep(entry)` holds) and unfinished drafts.

    What agents wrote (`.md`) is never touched. Returns the names of what was removed.
    """
    store = store or folder(layout)
    removed = []
    try:
        found = sorted(os.listdir(store))
    except FileNotFoundError:
        return []
    for name in found:
        path = os.path.join(store, name)
        verdict = name.endswith(".json") and not os.path.isdir(path)
        draft = name.startswith(".") and name.endswith(".tmp")
        try:
            if draft or (verdict and not (callable(keep) and keep(_read(path, name[:-5])))):
                os.unlink(path)
                removed.append(name)
        except FileNotFoundError:
            continue  # somebody else cleaned it, or finished writing
    return removed

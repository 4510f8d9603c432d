"""Open any document by its address."""

from __future__ import annotations

from contextkit.base import addresses, files, formats, ledger
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Any
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.flows import retrieval


class Opened(Record):
    """An opened document: address, file relative to the root, and its text or a part of it."""

    ref: str
    kind: str
    path: str
    text: str


def document(layout: Layout, ref: str, part: str = "") -> Opened:
    """The document at an address; `part` is a heading in it, or a part of a payload.

    Raises ContextError if there is no such document or part; for a part, it names those that exist.
    """
    kind, name = addresses.parts(ref.strip())
    if kind == "review":
        opened = _review(layout, name)
    elif kind == "session":
        opened = _session(layout, name)
    else:
        address = addresses.find(layout, ref)
        shown = layout.shown(address.path)
        opened = Opened(ref=address.ref, kind=address.kind, path=shown, text=whole(address))
    if not part:
        return opened
    if opened.kind == "payload":
        parts = payloads.load(layout.join(opened.path), opened.path).parts | {"file": opened.text}
        if part in parts:
            return opened.replace(text=parts[part])
    return opened.replace(text=retrieval.section(opened.text, part, "part").text)


def whole(address: addresses.Address) -> str:
    """The whole of a document, whatever kind of file holds it."""
    if address.fields is not None:
        return entry_text(address.fields)
    return files.read_bytes(address.path).decode("utf-8", "replace")


def entry_text(fields: dict[str, Any]) -> str:
    """A reminder or a subagent's row as text: one field per line."""
    lines = [
        f"{name}: {value if isinstance(value, str) else formats.to_json(value).strip()}"
        for name, value in fields.items() if value not in ("", (), [])
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _review(layout: Layout, name: str) -> Opened:
    """A finding, `run/agent/id`, or the whole file of an agent, `run/agent`."""
    from contextkit.reviews.documents import runs
    from contextkit.reviews.flows import agent_files, drill_down

    run, _, rest = name.partition("/")
    about = agent_files.of_run(layout, runs.load(layout, run))
    agent, _, finding = rest.rpartition("/") if rest not in about.roster else (rest, "", "")
    if agent not in about.roster:
        raise ContextError(
            f"review:{name}: the agents asked were {', '.join(about.roster)}: run/agent/id"
        )
    path = agent_files.agent_file(about.folder, agent)
    text = files.read_bytes(path).decode("utf-8", "replace")
    if finding:
        text, ids = drill_down.shown(text, finding, 100_000)
        if not text:
            raise ContextError(
                f"review:{name}: there is no {finding!r}; available: {', '.join(ids)}"
            )
    ref = "/".join(filter(None, (f"review:{about.run_id}", agent, finding)))
    return Opened(ref=ref, kind="review", path=layout.shown(path), text=text)


def _session(layout: Layout, name: str) -> Opened:
    """What is known of a session: its events, one per line."""
    events = [event for event in ledger.read(layout) if event.get("session") == name]
    if not events:
        raise ContextError(
            f"session:{name}: nothing is known about it: see make context_sessions all=1"
        )
    text = "".join(f"{event['at']}  {event['event']:<12}  {event['ref']}\n" for event in events)
    return Opened(ref=f"session:{name}", kind="session", path="", text=text)

"""Machines in one process: a root each, one remote, and a kill at any change of a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from contextkit.base import files, names
from contextkit.base.layout import Layout
from contextkit.base.stores import MARK
from contextkit.capsules.documents import reminders
from contextkit.machines.documents import knowledge
from contextkit.machines.flows import pull, push
from contextkit.machines.flows.shares import Choice, Report
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.documents.store import Payload
from contextkit.payloads.flows import retention
from contextkit.reviews.documents import verdicts
from contextkit.reviews.documents.verdicts import Verdict
from contextkit.subagents.documents import registry

DAY = 86_400
EVERYTHING = Choice()


class Killed(BaseException):
    """The process ends here, and nothing is cleaned up that a kill would not clean up."""


@contextmanager
def killed_at(step: int, after: bool = False) -> Iterator[None]:
    """End the block at its `step`th change of a name on the disk, before or right after it."""
    count = 0
    with pytest.MonkeyPatch.context() as patch:
        for name in ("replace", "link", "unlink", "rename", "rmdir"):
            original = getattr(os, name)

            def change(*given: Any, original: Callable[..., Any] = original, **more: Any) -> Any:
                nonlocal count
                count += 1
                if count == step and not after:
                    raise Killed
                done = original(*given, **more)
                if count == step:
                    raise Killed
                return done

            patch.setattr(os, name, change)
        try:
            yield
        except Killed:
            pass


class Machine:
    """A root with stores, and a clock that is `days` away from the others'."""

    def __init__(self, root: Path, remote: str, days: int = 0) -> None:
        root.mkdir(parents=True)
        self.root, self.remote, self.days = root, remote, days
        self.moment = names.moment("2026-11-22T10:00:00Z")

    @property
    def layout(self) -> Layout:
        return Layout(str(self.root))

    @property
    def known_as(self) -> knowledge.Machine:
        machine = knowledge.identity(self.layout)
        assert machine is not None
        return machine

    @property
    def id(self) -> str:
        return self.known_as.id

    @contextmanager
    def clock(self) -> Iterator[int]:
        """The time as this machine has it, a second later than the last time."""
        self.moment += 1
        now = self.moment + self.days * DAY
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("CONTEXT_NOW", names.iso(now))
            yield now

    def store(self, session: str, topic: str, text: str) -> str:
        """Store a payload; its id."""
        with self.clock() as now, retention.session_lock(self.layout, session):
            payload = Payload(
                topic=topic, source="x", created_at=names.iso(now), tokens=3, summary="s",
                content=text,
            )  # fmt: skip
            return os.path.basename(payloads.save(self.layout, session, payload, now))

    def end(self, session: str) -> None:
        with self.clock() as now:
            retention.end(self.layout, session, now)

    def conclude(self, agent: str, summary: str) -> None:
        with self.clock() as now:
            verdict = Verdict(
                agent=agent, status="CLEAN", summary=summary, timestamp=names.iso(now)
            )
            verdicts.save(self.layout, verdict)

    def find_out(self, name: str, text: str) -> Path:
        """A finding, or another text of one: a document without a rule for merging."""
        path = self.root / ".temp/memory/findings" / f"{name}_20261122T100000.md"
        files.write(str(path), text)
        return path

    def remember(self, note: str) -> str:
        with self.clock() as now:
            made = reminders.make(note, "", "", (), now)
            return reminders.save(self.layout, self.layout.reminders, made).id

    def take_up(self, identity: str) -> None:
        with self.clock() as now:
            reminders.finish(self.layout, self.layout.reminders, [identity], "PLAN.md", now)

    def launch(self, identity: str) -> None:
        registry.add(
            self.layout, identity, lambda taken: {"id": taken, "status": "awaiting_manual_launch"}
        )

    def happen(self, ref: str) -> None:
        """A line of the ledger."""
        path = self.root / ".contextkit/ledger/2026-11.jsonl"
        path.parent.mkdir(parents=True, exist_ok=True)
        event = {"v": 1, "at": "2026-11-22T10:00:00Z", "event": "stored", "ref": ref}
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(event, separators=(",", ":")) + "\n")

    def push(self, **options: Any) -> Report:
        with self.clock():
            return push.push(self.layout, self.remote, EVERYTHING, **options)

    def pull(self, **options: Any) -> Report:
        with self.clock():
            return pull.pull(self.layout, self.remote, EVERYTHING, **options)

    # What there is

    def files(self) -> dict[str, bytes]:
        """Every document, and what is kept beside one; no state of the toolkit's own."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            ledger = name.startswith(".contextkit/ledger/")
            if path.is_file() and (ledger or not name.startswith((".contextkit/", ".git/"))):
                if (
                    path.name not in (".gitignore", ".gitattributes", "cleanup.log")
                    and path.suffix != ".tmp"
                ):
                    found[name] = path.read_bytes()
        return found

    def contents(self) -> dict[str, Any]:
        """What a person would say is here, however it came: the same on all machines."""
        found: dict[str, Any] = {}
        for name, data in self.files().items():
            plain, _, mark = name.partition(MARK)
            if name.endswith(("manifest.json", "remember-later.md", "registry.json", ".jsonl")):
                continue
            found.setdefault(plain, set()).add(data)
            assert mark or MARK not in name
        inbox = reminders.load_all(self.layout).documents
        found["inbox"] = {(r.id, r.note, frozenset(r.done.split("\n"))) for r in inbox}
        assert len(found["inbox"]) == len(inbox)
        rows = registry.rows(self.layout)
        found["rows"] = sorted(row["id"].partition("@")[0] for row in rows)
        found["events"] = sorted(event["ref"] for event in self.events())
        for session in payloads.sessions_in(self.layout):
            listed = payloads.entries(self.layout, session)
            found[f"listed {session}"] = sorted(entry["id"] for entry in listed)
        return found

    def events(self) -> list[dict[str, Any]]:
        ledger = self.root / ".contextkit/ledger/2026-11.jsonl"
        text = ledger.read_text(encoding="utf-8") if ledger.is_file() else ""
        return [json.loads(line) for line in text.splitlines()]


Two = tuple[Machine, Machine]

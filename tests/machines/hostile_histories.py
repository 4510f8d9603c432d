"""Two honest machines and a hostile one on a remote: whatever it sends, nothing of ours changes."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from contextkit.base import stores
from contextkit.base.errors import ContextError
from contextkit.machines.flows import shares
from hostile_machine import TAG, attack
from simulated_machines import Machine

LONGEST = 20.0  # seconds that a pull may take, whatever was sent
SHARED = ("remember-later.md", "registry.json", ".jsonl", "manifest.json")


class Siege:
    """A history: honest work, then a hostile push, then a pull; `defects` are what then fell."""

    def __init__(self, folder: Path, draw: random.Random) -> None:
        remote = f"file://{folder}/remote"
        self.victim, self.friend = (Machine(folder / name, remote) for name in ("ours", "friend"))
        self.outside = folder
        self.draw = draw
        self.own: dict[str, bytes] = {}  # what the victim itself wrote last
        self.defects: list[str] = []
        self.told: list[str] = []
        self.number = 0

    def step(self) -> None:
        self.number += 1
        self._work()
        self.told.append(attack(self.draw, self.victim, self._sendable(), self.number))
        before, began = self.victim.files(), time.monotonic()
        for action in (self.victim.pull, self.victim.push, self.victim.pull):
            try:
                action()
            except ContextError as error:
                self._check_text(str(error))
        if time.monotonic() - began > LONGEST:
            self.defects.append(f"{self.told[-1]}: took longer than {LONGEST} seconds")
        self.defects += [f"{self.told[-1]}: {what}" for what in self._changed(before)]

    def _work(self) -> None:
        """The victim writes, the friend too; what the friend wrote may be taken."""
        before = self.victim.files()
        key = self.draw.randrange(3)
        actions: list[Callable[[], object]] = [
            lambda: self.victim.store(f"s-{key}", "auth", f"text {self.number}\n"),
            lambda: self.victim.conclude(f"agent-{key}", f"summary {self.number}"),
            lambda: self.victim.find_out(f"ui{key}", f"- **Task ID:** login {self.number}\n"),
            lambda: self.victim.remember(f"note {self.number}"),
            lambda: self.victim.launch(f"run-{self.number}"),
            lambda: self.victim.happen(f"note:{self.number}"),
        ]
        for action in self.draw.sample(actions, 3):
            action()
        after = self.victim.files()
        self.own |= {name: data for name, data in after.items() if before.get(name) != data}
        self.friend.conclude(f"friend-{key}", f"summary {self.number}")
        try:
            self.friend.push()
            self.victim.push()
        except ContextError as error:
            self._check_text(str(error))

    def _sendable(self) -> dict[str, bytes]:
        return {name: Path(path).read_bytes() for name, path in shares.local(self.victim.layout)}

    def _changed(self, before: dict[str, bytes]) -> Iterator[str]:
        """What of the victim's is not as it was; files that many write have more lines at most."""
        after = self.victim.files()
        for name, data in before.items():
            now = after.get(name)
            if name.endswith(SHARED):
                if missing := self._entries(data) - self._entries(now or b""):
                    yield f"{name} has lost {missing}"
            elif name in self.own and now != self.own[name]:
                yield f"{name} was changed"
            elif now is None and stores.MARK not in name:
                if not name.startswith(("shared/payloads/", ".clavain/verdicts/friend")):
                    yield f"{name} is gone"
        for name in after:
            self._check_text(name)
        strays = {path.name for path in self.outside.iterdir()} - {"ours", "friend", "remote"}
        if strays or list(self.victim.root.rglob("evil*")):
            yield f"strays: {strays or list(self.victim.root.rglob('evil*'))}"

    @staticmethod
    def _entries(data: bytes) -> set[str]:
        text = data.decode("utf-8", "replace")
        if text.startswith(("[", "{\n")):
            found = json.loads(text)
            rows = found if isinstance(found, list) else found.get("payloads", found)
            return {json.dumps(row, sort_keys=True) for row in rows if "machine" not in row}
        return {line for line in text.splitlines() if '"machine":' not in line}

    def _check_text(self, text: str) -> None:
        if TAG in text or not text.replace("\n", "").isprintable():
            self.defects.append(f"{self.told[-1]}: says {text!r}")

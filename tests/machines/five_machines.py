"""Five machines, one remote, and the laws of sharing: what must hold after any history of pushes,
pulls and kills. `make test` tries a few histories, `make torture what=machines` many."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from simulated_machines import Machine, killed_at

COUNT = 5
ACTIONS = ("store", "conclude", "find_out", "remember", "take_up", "launch", "happen", "push",
           "pull", "push", "pull")  # fmt: skip
LAST_KILL = 40  # a push or pull that changes more names than this is not killed after them

# machine, action, key, kill at this change (0: never), right after it
Step = tuple[int, str, int, int, bool]


class World:
    """Five machines whose clocks are days apart, and what they were told."""

    def __init__(self, folder: Path, remote: str = "") -> None:
        remote = remote or f"file://{folder}/remote"
        self.machines = [Machine(folder / f"m{n}", remote, days=n - 2) for n in range(COUNT)]
        self.number = itertools.count()
        self.payloads: set[str] = set()
        self.notes: set[str] = set()
        self.events: list[str] = []
        self.rows: list[str] = []
        self.texts: dict[tuple[int, str], bytes] = {}  # what a machine itself wrote last
        self.replaced: set[tuple[int, bytes]] = set()  # another's text, by who wrote over it

    def act(self, which: int, action: str, key: int, kill: int, after: bool) -> None:
        machine, number = self.machines[which], next(self.number)
        if action == "store":
            self.payloads.add(machine.store(f"s-{key}", f"topic {number}", f"text {number}\n"))
        elif action == "conclude":
            self.write(which, f".clavain/verdicts/agent-{key}.json",
                       lambda: machine.conclude(f"agent-{key}", f"summary {number}"))  # fmt: skip
        elif action == "find_out":
            self.write(which, f".temp/memory/findings/ui{key}_20261122T100000.md",
                       lambda: machine.find_out(f"ui{key}", f"# Finding {number}\n"))  # fmt: skip
        elif action == "remember":
            note = f"note {number}"
            machine.remember(note)
            self.notes.add(note)
        elif action == "take_up":
            inbox = machine.contents()["inbox"]
            for identity, _, _ in sorted(inbox, key=lambda one: one[:2])[:1]:
                machine.take_up(identity)
        elif action == "launch":
            machine.launch(f"run-{number}")
            self.rows.append(f"run-{number}")
        elif action == "happen":
            machine.happen(f"note:{number}")
            self.events.append(f"note:{number}")
        elif action in ("push", "pull"):
            with killed_at(kill, after):
                getattr(machine, action)()

    def write(self, which: int, name: str, action: Callable[[], object]) -> None:
        """Have a machine write a document for which no two texts are merged."""
        path = self.machines[which].root / name
        before = path.read_bytes() if path.exists() else None
        action()
        if before is not None and before != self.texts.get((which, name)):
            self.replaced.add((which, before))
        self.texts[which, name] = path.read_bytes()

    def settle(self) -> None:
        """Everybody pushes and pulls until nobody has news: three rounds do for any history."""
        for _ in range(3):
            for machine in self.machines:
                machine.push()
            for machine in self.machines:
                machine.pull()

    def defects(self) -> Iterator[str]:
        """What does not hold once all have settled; nothing where all is well."""
        all_there = [machine.contents() for machine in self.machines]
        told = all_there[0]
        kept = {name for _, name in self.texts}
        for number, there in enumerate(all_there):
            if any(there.get(one) != told.get(one) for one in {*there, *told} - kept):
                yield f"machine {number} does not have what machine 0 has"
            for name in sorted(kept):
                yield from self._unfit(number, name, there.get(name, set()))
        yield from self._lost(told)
        yield from self._restless()

    def _lost(self, told: dict[str, Any]) -> Iterator[str]:
        stored = {Path(name).name for name in told if name.startswith("shared/payloads/")}
        if stored != self.payloads:
            yield f"payloads lost or doubled: {sorted(stored ^ self.payloads)}"
        notes = {note for _, note, _ in told["inbox"]}
        if notes != self.notes:
            yield f"reminders lost or doubled: {sorted(notes ^ self.notes)}"
        if [ref for ref in told["events"] if ref.startswith("note:")] != sorted(self.events):
            yield "events lost or doubled"
        if told["rows"] != sorted(self.rows):
            yield "subagents lost or doubled"

    def _restless(self) -> Iterator[str]:
        before = [machine.files() for machine in self.machines]
        if any([machine.push().rows for machine in self.machines]):
            yield "a machine without news sends something"
        if any([machine.pull().rows for machine in self.machines]):
            yield "pulling twice changes something"
        if [machine.files() for machine in self.machines] != before:
            yield "pushing and pulling without news changes files"

    def _unfit(self, number: int, name: str, there: set[bytes]) -> Iterator[str]:
        """What does not hold of one document on one machine, which has the texts `there` of it."""
        texts = {which: text for (which, of), text in self.texts.items() if of == name}
        if number in texts and (self.machines[number].root / name).read_bytes() != texts[number]:
            yield f"machine {number}: its own {name} was changed"
        if lost := [text for text in texts.values()
                    if text not in there and (number, text) not in self.replaced]:  # fmt: skip
            yield f"machine {number}: has not got {lost[0]!r} of {name}"
        if old := there - {*texts.values()}:
            yield f"machine {number}: still has {old.pop()!r} of {name}"

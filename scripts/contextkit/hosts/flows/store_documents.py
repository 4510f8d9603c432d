"""The flow of reading every document of every store, to find those that cannot be read.

UNREADABLE    a line a store; a new system adds its own
"""

from __future__ import annotations

import os

from contextkit.base import files, names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.capsules.documents import reminders
from contextkit.capsules.documents import store as capsules
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.memory.documents import checkpoints, findings, merged, plans, snapshots
from contextkit.payloads.documents import store as payloads
from contextkit.reviews.documents import runs, verdicts
from contextkit.subagents.documents import registry

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Finding(Record):
    """What is wrong, in which area, and how to mend it; a `note` is nothing to worry about."""

    area: str
    problem: str
    mend: str
    note: bool = False


def _capsules(layout: Layout) -> Iterator[str]:
    for path in walk(layout.capsules):
        name = os.path.basename(path)
        if names.shape(name)[:16] == "00000000T000000Z" and name.endswith(".md"):
            capsules.parse(files.read(path), layout.shown(path))
            yield path


def _reminders(layout: Layout) -> Iterator[str]:
    yield from map(str, reminders.load_all(layout.reminders))


def _payloads(layout: Layout) -> Iterator[str]:
    for session in payloads.sessions_in(layout):
        payloads.load_all(layout, session)
        for path in payloads.documents(layout, session):
            payloads.load(path, layout.shown(path))
            yield path


def _verdicts(layout: Layout) -> Iterator[str]:
    broken = verdicts.broken(verdicts.load_all(layout))
    if broken:
        raise ContextError("; ".join(broken))
    yield from ()


def _handoffs(layout: Layout) -> Iterator[str]:
    for name in handoffs.listed(layout):
        handoffs.load(layout, name)
        yield name


def _memory(layout: Layout) -> Iterator[str]:
    broken: list[str] = []
    for load_all in (plans.load_all, findings.load_all, merged.load_all,
                     checkpoints.load_all, snapshots.load_all):  # fmt: skip
        load_all(layout, broken=broken)
    if broken:
        raise ContextError("; ".join(broken))
    yield from ()


def _runs(layout: Layout) -> Iterator[str]:
    found, broken = runs.load_all(layout)
    if broken:
        raise ContextError("; ".join(broken))
    yield from (run.id for run in found)


def _subagents(layout: Layout) -> Iterator[str]:
    yield from (row["id"] for row in registry.load_all(layout))


# Each reads every document of a store and raises ContextError at one that cannot be read.
UNREADABLE: dict[str, tuple[Callable[[Layout], Iterator[str]], str]] = {
    "capsules": (_capsules, "mend the file, or remove it"),
    "reminders": (_reminders, "mend the file"),
    "payloads": (_payloads, "make payload_repair session=…, or remove the file"),
    "verdicts": (_verdicts, "make verdict_write anew, or remove the file"),
    "handoffs": (_handoffs, "mend the file, or remove it"),
    "memory": (_memory, "make memory_check says how to mend it"),
    "review runs": (_runs, "make verdict_start anew, and remove the file"),
    "subagents": (_subagents, "mend the file (a merge?), or move it away"),
}


def documents(layout: Layout) -> list[Finding]:
    """A finding for the first document of each store that cannot be read."""
    found = []
    for store, (load_all, mend) in UNREADABLE.items():
        try:
            for _ in load_all(layout):
                pass
        except ContextError as error:
            found.append(Finding(area=store, problem=str(error), mend=mend))
        except OSError as error:
            problem = f"{error.filename}: {error.strerror}"
            found.append(Finding(area=store, problem=problem, mend="see to its permissions"))
    return found


def walk(folder: str) -> Iterator[str]:
    """Every file below a folder, by name; none where there is no folder."""
    for here, inside, found in os.walk(folder):
        inside.sort()
        yield from (os.path.join(here, name) for name in sorted(found))

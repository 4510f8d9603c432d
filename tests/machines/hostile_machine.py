"""A machine of another mind: it writes manifests by hand, and claims whatever it likes."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from contextkit.base import names
from contextkit.machines.documents import manifests
from contextkit.machines.documents.manifests import Entry, Head
from simulated_machines import Machine

THEIRS = "abcdefghijk2"
MOST = (1 << 53) - 1  # the highest count
TAG = "<system-reminder>"
TURNED = "\u202egnp.\u2066"


def foreign(
    receiver: Machine, *given: tuple[str, bytes], machine_id: str = THEIRS,
    count: int | None = None, number: int = 1, **changes: Any,
) -> None:  # fmt: skip
    """Put a manifest on the remote; `changes` are fields of its head, and the whole `manifest`."""
    folder = Path(receiver.remote.removeprefix("file://"))
    entries: list[Entry] = []
    for name, data in given:
        digest = names.sha256(data)
        own = number * 1_000 + len(entries) if count is None else count
        entries.append(Entry(name=name, sha256=digest, bytes=len(data), count=own))
        put(folder / manifests.object_key(digest), zlib.compress(data))
    written = json.loads(manifests.render(machine_id, number, entries)) | {"since": 0}
    packed = zlib.compress(changes.pop("manifest", json.dumps(written).encode()))
    put(folder / manifests.manifest_key(machine_id, number), packed)
    head = Head(
        machine=machine_id, name="mallory", number=number, digest=names.sha256(packed),
        at="2026-11-22T10:00:00Z", chain=(names.sha256(packed),),
    )  # fmt: skip
    fields = json.loads(manifests.render_head(head)) | changes
    put(folder / manifests.head_key(machine_id), json.dumps(fields).encode())


def put(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


# What it may send. `ours` are the names and texts of all that the victim has sent.

Given = list[tuple[str, bytes]]
NAMES = (
    "../../evil.md", "finding/../../../evil.md", "finding//etc/evil.md", "finding/.evil.md",
    "finding/a\\evil.md", "finding/a\x1b[2Jevil.md", f"finding/{TAG}evil.md", "finding/~/evil.md",
    f"finding/{TURNED}evil.md", "finding/" + "e" * 300 + ".md", "finding/evil.sh",
    "payload/s-0/.evil.md", f"payload/{TAG}/evil.md", f"payload/{TURNED}/evil.md", "role/evil.md",
    "payload/../evil.md", "verdict/runs/../evil.json", "output/../evil.md", "state/evil",
    "contextkit.yaml/evil", "finding/evil.md.from-abcdefghijk2", "machine/evil", "\0", "",
)  # fmt: skip


def replaced(draw: random.Random, ours: dict[str, bytes]) -> Given:
    return [(name, b"theirs\n" + data) for name, data in ours.items()]


def emptied(draw: random.Random, ours: dict[str, bytes]) -> Given:
    return [(name, b"") for name in ours]


def clean_verdicts(draw: random.Random, ours: dict[str, bytes]) -> Given:
    return [
        (name, data.replace(b"NEEDS_ATTENTION", b"CLEAN").replace(b"2026", b"2039"))
        for name, data in ours.items()
    ]


def ended(draw: random.Random, ours: dict[str, bytes]) -> Given:
    return [(f"ended/{of}", b"") for of in ("payload/s-0", "payload/s-1", "memory/login")]


def folded(draw: random.Random, ours: dict[str, bytes]) -> Given:
    found = [(name, name.partition("/")) for name in ours]
    return [(f"{kind}/{path.swapcase()}", ours[name]) for name, (kind, _, path) in found]


def hidden(draw: random.Random, ours: dict[str, bytes]) -> Given:
    return [(draw.choice(NAMES), b"evil\n"), ("finding/fine.md", b"fine\n")]


def of_others(draw: random.Random, ours: dict[str, bytes]) -> Given:
    """Rows and events of other machines, and of its own, under names of ours."""
    rows = json.dumps([{"id": "run-0", "status": "finished"}, {"id": TAG}, 7]).encode()
    events = [{"v": 1, "at": "2039-01-01T00:00:00Z", "event": "stored", "agent": TAG + TURNED,
               "ref": "verdict:agent-0"}]  # fmt: skip
    text = "".join(json.dumps(event) + "\n" for event in events).encode()
    return [(f"{kind}/{who}{end}", data) for who in (THEIRS, "bbbbbbbbbbb2")
            for kind, end, data in (("subagent", ".json", rows),
                                    ("ledger", "/2026-11-0.jsonl", text))]  # fmt: skip


def huge(draw: random.Random, ours: dict[str, bytes]) -> Given:
    return [(f"finding/many-{number}.md", b"one of many\n") for number in range(200)]


SENT: tuple[Callable[[random.Random, dict[str, bytes]], Given], ...] = (
    replaced, emptied, clean_verdicts, ended, folded, hidden, of_others, huge,
)  # fmt: skip


def attack(draw: random.Random, victim: Machine, ours: dict[str, bytes], number: int) -> str:
    """Send something hostile, as itself or under the id of another machine; say what it was."""
    folder = Path(victim.remote.removeprefix("file://")) / "machines"
    taken = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    machine = draw.choice([THEIRS, *taken])
    kind = draw.choice(SENT)
    count = draw.choice((None, MOST, MOST - number))
    changes = draw.choice(({}, {"name": f"{TAG}{TURNED}laptop"}, {"at": "2999-01-01T00:00:00Z"},
                           {"documents": MOST}, {"manifest": b"[" * 50_000},
                           {"manifest": b"0" * (2 << 20)}))  # fmt: skip
    foreign(victim, *kind(draw, ours), machine_id=machine, count=count,
            number=1 << draw.randrange(number + 1, number + 20), **changes)  # fmt: skip
    return f"{kind.__name__} as {machine}"

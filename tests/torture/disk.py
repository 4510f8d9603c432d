"""A call fails, as on a full, broken or read-only disk, once or from then on.

What was there stays whole, what was acknowledged is kept, the failure is said in a sentence, a
text that could not be stored is on stdout, and a command that only reads does not fail at all.
"""

from __future__ import annotations

import random
from pathlib import Path

import calls
import damage
from scenes import Base

_HANDS_BACK = ("payload_store", "payload_store, no session", "subagent_finish")


def missing() -> str:
    """No call can be made to fail without strace."""
    reason = calls.here()
    return f"skipped: {reason}" if reason else ""


def trial(base: Base, place: Path, draw: random.Random) -> tuple[str, list[str]]:
    """One failing call: what was done, and the defects."""
    command = draw.choice(base.writers() if draw.random() < 0.7 else base.readers())
    folder = base.copy(place / "work")
    traced, usual = calls.usual(base, command, place)
    found = calls.may_fail(traced)
    if not found:
        return f"{command.name}: writes nothing", []
    call, error = draw.choice(found), draw.choice(calls.ERRORS)
    on = draw.random() < 0.5 and call.name not in ("write", "openat")  # said and read, too
    before = damage.words(folder)
    done = calls.failing_at(command, folder, call, error, on)
    after = damage.words(folder)
    said = damage.torn(folder) + damage.lost(before, after, command.removes)
    said += damage.unexplained(command, done)
    if command.stores and done.returncode == 0 and not after[command.stores]:
        said.append(f"acknowledged and lost: {command.stores}")
    if command.name in _HANDS_BACK and done.returncode and (command.text or "") not in done.stdout:
        said.append("not stored, and the text is not on stdout")
    if command.reads and command.name != "doctor" and done.returncode != usual.returncode:
        said.append(f"a reading command ended with {done.returncode}: {done.stderr.strip()[:200]}")
    return f"{command.name}, {error} at {call}{' and later ones' if on else ''}", said

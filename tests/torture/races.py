"""One command is stopped at one of its system calls, another runs, and the first goes on.

Both find what they wanted done, or wait, or say what happened. Nothing acknowledged is lost.
"""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import calls
import damage
from scenes import Base, Command, environment

_WAITS = 0.6  # seconds that the other one gets before the first goes on: it may wait for its lock

# Those that met on purpose; all others are drawn.
_MET = (
    ("payload_end purge=1", "payload_store"), ("payload_end purge=1", "payload_list all=1"),
    ("payload_end purge=1", "payload_show"), ("payload_end purge=1", "payload_end purge=1"),
    ("payload_end", "payload_show"), ("payload_end", "payload_end"),
    ("session_end", "payload_show"), ("session_end", "session_end"),
    ("payload_sweep", "payload_sweep"), ("payload_sweep", "payload_store"),
    ("payload_sweep", "payload_store, no session"), ("payload_store", "payload_store"),
    ("verdict_clean", "verdict_write"), ("verdict_clean", "verdict_ingest"),
    ("verdict_clean", "verdict_clean"), ("verdict_clean", "verdict_table"),
    ("verdict_write", "verdict_write"), ("verdict_ingest", "verdict_ingest"),
    ("verdict_start", "verdict_start"), ("verdict_synthesize", "verdict_synthesize"),
    ("capsule_prune", "capsule_prune"), ("capsule_prune", "capsule_list"),
    ("capsule_save", "capsule_save"), ("capsule_save", "capsule_prune"),
    ("subagent_cleanup", "subagent_cleanup"), ("subagent_cleanup", "subagent_status"),
    ("subagent_launch", "subagent_launch"), ("subagent_abort", "subagent_abort"),
    ("memory_archive", "memory_plan"), ("memory_archive", "memory_archive"),
    ("memory_archive", "memory_finding"), ("memory_archive", "memory_recover"),
    ("memory_merge", "memory_finding"), ("memory_merge", "memory_merge"),
    ("memory_clean", "memory_clean"), ("memory_clean", "memory_checkpoint"),
    ("remember_later", "remember_later"), ("remember_later", "reminder_done"),
    ("reminder_done", "reminder_done"), ("handoff", "handoff"), ("handoff", "handoff_switch"),
    ("handoff", "handoff_consume"), ("handoff_switch", "handoff_show"),
    ("context_init", "context_init"), ("context_init", "payload_store"),
)  # fmt: skip


def missing() -> str:
    """Nothing can be stopped without strace."""
    reason = calls.here()
    return f"skipped: {reason}" if reason else ""


def trial(base: Base, place: Path, draw: random.Random) -> tuple[str, list[str]]:
    """One meeting of two: what was done, and the defects."""
    known = {command.name: command for command in (*base.writers(), *base.readers())}
    if draw.random() < 0.8:
        pair = list(draw.choice(_MET))
        draw.shuffle(pair)
        first, second = (known[name] for name in pair)
    else:
        first, second = draw.choice(base.writers()), draw.choice(list(known.values()))
    folder = base.copy(place / "work")
    traced, _ = calls.usual(base, first, place)
    found = calls.points(traced)
    if not found:
        return f"{first.name}: changes nothing", []
    call = draw.choice(found)
    before = damage.words(folder)
    done = _met(first, second, folder, call)
    if not done:
        return f"{first.name}: never came to {call}", []
    removes = (*first.removes, *second.removes)
    said = damage.torn(folder)
    after = damage.words(folder)
    said += damage.lost(before, after, removes)
    for command, ended in zip((first, second), done, strict=True):
        said += damage.unexplained(command, ended) + damage.only_a_path(command, ended)
        taken = _takes_away(second if command is first else first, command.stores)
        if command.stores and ended.returncode == 0 and not taken and not after[command.stores]:
            said.append(f"acknowledged and lost: {command.stores}")
    where = f"stopped after {call}, beside {second.name}"
    return f"{first.name} {where}", said


def _takes_away(other: Command, word: str) -> bool:
    """Whether it is the purpose of the other one to remove what this one stores."""
    return other.name == "verdict_clean" and word == "new-verdict"


def _met(
    first: Command, second: Command, folder: Path, call: calls.Call
) -> list[subprocess.CompletedProcess[str]]:
    """How both ended; nothing where the first was never stopped."""
    stopped = calls.Stopped(first, folder, call)
    if not stopped.reached():
        stopped.go_on()
        return []
    other = subprocess.Popen(
        second.line(), cwd=folder, env=environment(folder.parent), stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="surrogateescape",
    )  # fmt: skip
    try:
        out, err = other.communicate(second.text or "", timeout=_WAITS)
        done = stopped.go_on()
    except subprocess.TimeoutExpired:
        done = stopped.go_on()
        try:
            out, err = other.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            other.kill()
            out, err = other.communicate()
            err += "\nit did not end within 30 seconds"
    return [done, subprocess.CompletedProcess([], other.returncode, out, err)]

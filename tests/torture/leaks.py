"""Planted secrets through every command that stores: none is printed, nor injected later.

A text that is stored whole (a payload, a report) keeps what is in it; what travels on does not.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
from pathlib import Path

import planted
from scenes import REVIEW, Base, Command, run

# {} is where the text goes; the second part is what is piped in.
_STORE = "payload_store.py store --source=a --force"
_HANDOFF = "handoff.py write --from=dev --to=qa --no-story"
_FINDING = "external_memory.py finding --task=t1 --agent=a --status=completed"
_FINISH = "subagent_manager.py finish --agent=a --status=COMPLETE"
_FIELDS = {
    "remember_later": ("remember_later.py add --message={}", ""),
    "remember_later next_step=": ("remember_later.py add --message=m --next-step={}", ""),
    "payload_store": (f"{_STORE} --topic=t", "{}"),
    "payload_store summary=": (f"{_STORE} --topic=t --summary={{}}", "word"),
    "payload_store topic=": (f"{_STORE} --topic={{}}", "word"),
    "handoff": (f"{_HANDOFF} --next-action={{}}", ""),
    "handoff decision=": (f"{_HANDOFF} --next-action=n --decision={{}}", ""),
    "handoff_switch": ("handoff.py switch --from=dev --to=qa --no-story --next-action={}", ""),
    "memory_plan": ("external_memory.py plan --task=t1 --objective={}", ""),
    "memory_finding": (f"{_FINDING} --summary={{}}", ""),
    "memory_finding file=": (f"{_FINDING} --file=-", "## Summary\n\n{}\n"),
    "memory_checkpoint": (
        "external_memory.py checkpoint --task=t1 --phase=review --summary={} --next-action=n", "",
    ),
    "memory_snapshot": ("external_memory.py snapshot --task=t1 --summary=s --important={}", ""),
    "verdict_write": ("verdict.py write --agent=a --status=BLOCKED --summary={}", ""),
    "verdict_ingest": ("verdict.py ingest --dir=out", ""),
    "subagent_finish": (f"{_FINISH} --summary={{}}", "word"),
    "subagent_finish report": (f"{_FINISH} --summary=s", "{}"),
    "capsule_save": ("capsule.py save", "capsule"),
}  # fmt: skip
# What a later agent is given.
_INJECTED = (
    "capsule_prompt.py", "remember_later.py list", "handoff.py context --to=qa", "handoff.py show",
    "external_memory.py recover --task=t1", "external_memory.py recover --task=t1 --prompt",
    "verdict.py table", "verdict.py attention", "capsule.py show", "context.py status",
    "subagent_manager.py prompt --slug=x --capsule=latest", "payload_store.py list --all",
)  # fmt: skip
_EVENTS = ("SessionStart", "UserPromptSubmit")


def missing() -> str:
    """Nothing is needed."""
    return ""


def trial(base: Base, place: Path, draw: random.Random) -> tuple[str, list[str]]:
    """One secret through one command, then everything that quotes from the stores."""
    kinds = planted.secrets(draw.randrange(1 << 30))
    kind = draw.choice(sorted(kinds))
    context = draw.choice(sorted(kinds[kind]))
    text = kinds[kind][context]
    name = draw.choice(sorted(_FIELDS))
    line, piped = _FIELDS[name]
    folder = base.copy(place / "work")
    if name == "verdict_ingest":
        review = REVIEW.format(severity="P1", title=text.replace("\n", " "), verdict="risky")
        (folder / "out" / "fd-a.md").write_text(review, encoding="utf-8")
    if name == "capsule_save":
        piped = base.capsule(text.replace("<", "("), "2025-10-23T18:05:00Z")
    words = [word.replace("{}", text) for word in line.split()]
    done = run(Command(name, tuple(words), piped.replace("{}", text)), folder)
    parts = _telling(text)
    said = _left(name, done, parts, whole="storing failed" in done.stderr)
    for call in _INJECTED:
        said += _left(call, run(Command(call, tuple(call.split())), folder), parts)
    for event in _EVENTS:
        said += _left(f"hook {event}", _hook(event, folder), parts)
    return f"{kind} in {context}, by {name}", said


def _telling(text: str) -> list[str]:
    """The random runs of a text, none of which may be printed."""
    runs = re.findall(r"[A-Za-z0-9+/_-]{16,}", text)
    return [run for run in runs if re.search(r"\d", run) and re.search(r"[A-Za-z]", run)]


def _left(
    name: str, done: subprocess.CompletedProcess[str], parts: list[str], whole: bool = False
) -> list[str]:
    """The secrets in what was printed."""
    printed = done.stderr if whole else done.stdout + done.stderr
    return [f"{name} prints {part[:6]}… of it" for part in parts if part in printed]


def _hook(event: str, folder: Path) -> subprocess.CompletedProcess[str]:
    given = {"hook_event_name": event, "session_id": "s9", "cwd": str(folder), "source": "compact",
             "prompt": "@qa go on"}  # fmt: skip
    command = Command(event, ("host_hook.py", event), json.dumps(given))
    return run(command, folder)

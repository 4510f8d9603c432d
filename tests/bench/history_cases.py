"""Searching 10,000 documents with nothing new, and the way of one among 10,000 events."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

from measure import Case
from places import script

_DOCUMENTS, _EVENTS, _LEVELS = 10_000, 10_000, 12
_CAPSULE = "capsule:feature/bench/202510{day:02}T000000Z"
_LINE = '{{"v":1,"at":"{at}","event":"{event}","ref":"{ref}","tokens":100,"session":"s-1"{more}}}\n'


def history_cases(folder: Path) -> list[Case]:
    """The index is made before; `at` of the events is of this month, so that none is too old."""
    findings = folder / ".temp" / "memory" / "findings"
    findings.mkdir(parents=True)
    for number in range(_DOCUMENTS):
        text = f"# Finding\n\nword{number % 97} in src/file{number}.py:42 and the cache\n" * 5
        name = f"ui_20251022T{_clock(number).replace(':', '')}.md"
        (findings / name).write_text(text, encoding="utf-8")
    search = script("context.py", "search", "word3")
    subprocess.run(search, check=True, stdout=subprocess.DEVNULL)
    _events(folder)
    why = script("context.py", "why", _CAPSULE.format(day=1))
    return [
        Case("context_search, 10,000 documents", search, 10),
        Case("context_why, 10,000 events", why, 8),
    ]


def _clock(second: int) -> str:
    return f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}"


def _events(folder: Path) -> None:
    """Capsules of which each subagent got one and left the next; then what others stored."""
    month = time.strftime("%Y-%m", time.gmtime())
    lines: list[str] = []

    def note(event: str, ref: str, more: str = "") -> None:
        at = f"{month}-01T{_clock(len(lines))}Z"
        lines.append(_LINE.format(at=at, event=event, ref=ref, more=more))

    for level in range(_LEVELS):
        ref = _CAPSULE.format(day=level + 1)
        note("stored", ref, f',"by":"subagent:a-{level - 1}"' if level else "")
        note("injected", ref, f',"to":"subagent:a-{level}"')
    while len(lines) < _EVENTS:
        number = len(lines)
        event = "stored" if number % 2 else "shown"
        ref = f"payload:s-{number % 50}/20251022-000000-topic-{number // 2}"
        note(event, ref, f',"agent":"a{number % 7}","from":["finding:ui_{number}"]')
    ledger = folder / ".contextkit" / "ledger"
    ledger.mkdir(parents=True, exist_ok=True)
    (ledger / f"{month}.jsonl").write_text("".join(lines), encoding="utf-8")

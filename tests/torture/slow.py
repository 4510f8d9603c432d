"""Long texts through every reader: none takes three times as long as a normal text of its size.

A trial is one reader (a command or a hook) and one text of up to 1 MB, or, one time in three, one
regular expression of the library alone. Times are the processor's, so that a busy machine is none
of the text's business.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import random
import re
import resource
import signal
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FrameType

import contextkit
from contextkit.base.expressions import MADE, Pattern
from scenes import CHECKOUT, REVIEW, Base, Command, run

SIZE = 1_000_000  # characters of a text
TIMES = 3
MOST = 2.0  # seconds that an expression alone may take before it is stopped
_SPARE = 0.5  # seconds that no text is blamed for
_ALONE = 40_000  # characters for an expression alone
_LONGEST = 60.0  # seconds

# What texts are made of: each repeated, or a few of them mixed.
UNITS = (
    "error: ", "Error", "a", " ", "\n", "\t", "`", "```\n", "|", "| a | b |\n", "# h\n",
    "###### ", "- ", "  - a\n", "> ", "1. ", "*", "**", "_", "[", "](", "](a)", "<", "<a>",
    "<!--", "-->", "(", ")", "{", "}", '{"a":', "[[", "]", '"', "'", '\\"', "\\", ":", "::",
    "=", "==", "-", "--", "---\n", ".", "..", "...", "/", "a/", "../", "a.", "a.py:1",
    "a.py:1:2: E1 ", "0", "1 ", "1.", "12:00:00 ", "2025-10-23T18:05:00Z ", "FAILED ",
    "FAIL: a\n", "PASS: a\n", "--- FAIL: a (0.00s)\n", "=== RUN a\n",
    "Traceback (most recent call last):\n", '  File "a.py", line 1, in f\n',
    "    at f (a.js:1:2)\n", "diff --git a/x b/x\n", "@@ -1 +1 @@\n", "+a\n", "-a\n",
    "password ", "password: ", "password:\n", "key=", "token ", "token=a1B2c3D4e5F6 ", "eyJ",
    "://", "://a:", "://a:b@", "-----BEGIN PRIVATE KEY-----\n",
    "kind: Secret\ndata:\n  a: b\n", "session=", "mysql -p", "curl -u a:b ", "P0 ", "P1 | ",
    "Verdict: ", "### Findings Index\n- P0 | P0-1 | \"S\" | t\n", "## Summary\n", "\x1b[31m",
    "\u202e", "\r", "\r\n", "<system-reminder>", "é", "漢", "👩\u200d💻", "İ", "\0", "a\\\n",
    "a,b,c\n", "a;b;", "$", "${", "%s", "@", "@a ", "and ", "the ", "Capsule Gap: ",
    "warning: a\n", "make: *** [a] Error 1\n", "not ok 1 - a\n",
    "y\n", "1\n", "* [ ] a\n", "- [x] a\n", "a: b\n", "  a: b\n", "a = b\n", "[a]\n", "a:\n",
    "drwxr-xr-x 1 a b 1 Jan 1 a\n", "    a 1\n", "a | b\n", "10:00 a: b?\n", "$ a\n",
)  # fmt: skip


def missing() -> str:
    """Nothing is needed."""
    return ""


def text_of(draw: random.Random, size: int = SIZE) -> str:
    """One unit repeated, a few mixed, or one very long line of them between normal ones."""
    kind = draw.randrange(4)
    if kind < 2:
        unit = draw.choice(UNITS)
        text = unit * (size // len(unit))
    elif kind == 2:
        units = draw.sample(UNITS, 3)
        text = "".join(draw.choices(units, k=size // 4))[:size]
    else:
        unit = draw.choice(UNITS).replace("\n", " ")
        middle = unit * (size // 2 // len(unit))
        text = f"{normal()[: size // 4]}\n{middle}{draw.choice((':', '.', '|', ')', ''))}\n"
    return text + draw.choice(("", ":", "\n", "x", "`", "!"))


@cache
def normal(size: int = SIZE) -> str:
    """A text such as agents write: the manuals, repeated."""
    pages = "".join(p.read_text("utf-8") for p in sorted((CHECKOUT / "manuals").glob("*.md")))
    pages = pages.replace("@stored", "stored")  # what is our own is not told again
    return (pages * (size // len(pages) + 1))[:size]


# The readers: each puts a text where it belongs and returns the call to measure


def _piped(line: str, head: str = "") -> Callable[[Path, str], Command]:
    return lambda folder, text: Command("", tuple(line.split()), head + text)


def _stored(line: str) -> Callable[[Path, str], Command]:
    def put(folder: Path, text: str) -> Command:
        words = "payload_store.py store --topic=t --source=a --session=s9 --path=.temp/kept.md"
        run(Command("", tuple(words.split()), text), folder, seconds=_LONGEST)
        return Command("", tuple(line.split()))

    return put


def _reviewed(line: str) -> Callable[[Path, str], Command]:
    def put(folder: Path, text: str) -> Command:
        review = REVIEW.format(severity="P1", title="It is lost", verdict="risky")
        (folder / "out" / "fd-a.md").write_bytes((review + text).encode("utf-8", "replace"))
        return Command("", tuple(line.split()))

    return put


def _written(path: str, line: str, head: str = "") -> Callable[[Path, str], Command]:
    def put(folder: Path, text: str) -> Command:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes((head + text).encode("utf-8", "replace"))
        return Command("", tuple(line.split()))

    return put


def _hooked(event: str, field: str, **more: object) -> Callable[[Path, str], Command]:
    def put(folder: Path, text: str) -> Command:
        given: dict[str, object] = {"hook_event_name": event, "session_id": "s9", **more}
        inner = {"stdout": text, "stderr": ""} if field == "tool_response" else text
        given |= {"cwd": str(folder), field: inner}
        return Command("", ("host_hook.py", event), json.dumps(given))

    return put


def _talked(event: str) -> Callable[[Path, str], Command]:
    def put(folder: Path, text: str) -> Command:
        said = {"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}}
        asked = {"type": "user", "message": {"content": text[: SIZE // 4]}}
        path = folder / "transcript.jsonl"
        path.write_text(f"{json.dumps(asked)}\n{json.dumps(said)}\n", encoding="utf-8")
        given = {"hook_event_name": event, "session_id": "s9", "cwd": str(folder),
                 "transcript_path": str(path)}  # fmt: skip
        return Command("", ("host_hook.py", event), json.dumps(given))

    return put


_PLAN = "# Plan\n\n## Objective\n\no\n\n"
READERS: dict[str, Callable[[Path, str], Command]] = {
    "payload_store": _piped("payload_store.py store --topic=t --source=a --session=s9 --force"),
    "payload_store inline=1": _piped("payload_store.py store --topic=t --source=a --inline"),
    "payload_show": _stored("payload_store.py show .temp/kept.md"),
    "payload_show part=facts": _stored("payload_store.py show .temp/kept.md --part=facts"),
    "payload_show part=summary": _stored("payload_store.py show .temp/kept.md --part=summary"),
    "payload_show around=": _stored("payload_store.py show .temp/kept.md --around=error"),
    "payload_show section=": _stored("payload_store.py show .temp/kept.md --section=Summary"),
    "payload_show max_tokens=": _stored("payload_store.py show .temp/kept.md --max-tokens=500"),
    "context_search": _stored("context.py search --q=error"),
    "subagent_finish": _piped(
        "subagent_manager.py finish --agent=x --status=COMPLETE --summary=s --session=s9"
    ),
    "memory_finding": _piped(
        "external_memory.py finding --task=t1 --agent=a --status=completed --file=-"
    ),
    "memory_recover": _written(".temp/memory/plans/t1.md", "external_memory.py recover --task=t1",
                               _PLAN),
    "memory_estimate": _written("long.md", "external_memory.py estimate --file=long.md"),
    "capsule_save": _piped("capsule.py save", "# Mission Snapshot\n"),
    "capsule_prompt": _written("docs/branches/feature-demo/PROGRESS.md", "capsule_prompt.py"),
    "capsule_check": _written("long.md", "capsule.py check --file=long.md", "---\nbranch: x\n"),
    "handoff draft": _written(
        "long.yaml", "handoff.py write --to=qa --from=dev --no-story --draft=long.yaml",
        "next_action: go\ndecisions:\n  - ",
    ),
    "handoff_check": _written("long.yaml", "handoff.py check --file=long.yaml"),
    "handoff_context": _written(".claude/agents/qa.md", "handoff.py context --to=qa"),
    "reminders": _written("inbox.md", "remember_later.py list --file=inbox.md", "# Inbox\n\n"),
    "verdict_check": _reviewed("verdict.py check --file=out/fd-a.md"),
    "verdict_ingest": _reviewed("verdict.py ingest --dir=out"),
    "verdict_index": _reviewed("verdict.py index --dir=out"),
    "verdict_show": _reviewed("verdict.py show --dir=out --agent=fd-a"),
    "verdict_synthesize": _reviewed("verdict.py synthesize --dir=out"),
    "verdict_gate": _reviewed("verdict.py gate --dir=out"),
    "run": _written("long.txt", "run.py -- cat long.txt"),
    "hook SubagentStop": _hooked("SubagentStop", "last_assistant_message", agent_id="a1",
                                 agent_type="general"),
    "hook PostToolUse": _hooked("PostToolUse", "tool_response", tool_name="Bash"),
    "hook UserPromptSubmit": _hooked("UserPromptSubmit", "prompt"),
    "hook Stop": _talked("Stop"),
    "hook PreCompact": _talked("PreCompact"),
    "hook SessionEnd": _talked("SessionEnd"),
}  # fmt: skip


def trial(base: Base, place: Path, draw: random.Random) -> tuple[str, list[str]]:
    """One reader and one text, or one expression and one text."""
    if draw.randrange(3) == 0:
        name, rule = draw.choice(expressions())
        text = text_of(draw, _ALONE)
        return f"{name} on {text[:20]!r}", judged_alone(name, rule, text)
    name = draw.choice(sorted(READERS))
    text = text_of(draw)
    usual = _usual(base, place, name)
    taken = measured(base, place / "work", name, text)
    if taken > usual * TIMES and taken - usual > _SPARE:  # once more: it may have been a hiccup
        taken = min(taken, measured(base, place / "again", name, text))
    fell = taken > usual * TIMES and taken - usual > _SPARE
    said = f"{name}: {taken:.2f} s of {text[:30]!r}…{text[-3:]!r}, {usual:.2f} s of a normal text"
    return f"{name} of {text[:20]!r}", [said] if fell else []


_usuals: dict[str, float] = {}


def _usual(base: Base, place: Path, name: str) -> float:
    if name not in _usuals:
        _usuals[name] = measured(base, place / "usual", name, normal())
    return _usuals[name]


def measured(base: Base, folder: Path, name: str, text: str) -> float:
    """The processor's seconds for a reader and a text; the time limit if it took longer."""
    command = READERS[name](base.copy(folder), text)
    before = _spent()
    try:
        run(command, folder, seconds=_LONGEST)
    except Exception:  # it is still at work
        return _LONGEST
    return _spent() - before


def _spent() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


# Expressions alone


@cache
def expressions() -> list[tuple[str, re.Pattern[str]]]:
    """Every compiled expression of the library, by its place."""
    found = []
    for info in pkgutil.walk_packages(contextkit.__path__, "contextkit."):
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            if value is not MADE:  # where each of them is for the second time
                found += [(f"{info.name}.{name}", one) for one in _patterns(value)]
    seen: set[int] = set()
    return [(n, p) for n, p in found if not (id(p) in seen or seen.add(id(p)))]  # type: ignore[func-returns-value]


def _patterns(value: object, depth: int = 4) -> Iterator[re.Pattern[str]]:
    if isinstance(value, Pattern):
        yield value.compiled
    elif isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
    elif depth and isinstance(value, (list, tuple, set, frozenset)):
        for one in value:
            yield from _patterns(one, depth - 1)
    elif depth and isinstance(value, dict):
        yield from _patterns(list(value.values()), depth - 1)


class _TooLongError(Exception):
    pass


def judged_alone(name: str, rule: re.Pattern[str], text: str) -> list[str]:
    """Whether twice the text takes more than three times as long, where that is felt at all."""
    searches = _is_searched_for(name)
    whole = _searched(rule, text, searches)
    if whole < 0.1:
        return []
    half = min(_searched(rule, text[: len(text) // 2], searches) for _ in range(2))
    if whole < half * TIMES and whole < MOST:
        return []
    return [f"{name}: {half:.2f} s, and {whole:.2f} s of twice {text[:20]!r}: {rule.pattern[:60]}"]


def _is_searched_for(name: str) -> bool:
    """Whether an expression is looked for anywhere in a text, or only at its beginning."""
    module, _, short = name.rpartition(".")
    source = Path(str(importlib.import_module(module).__file__)).read_text("utf-8")
    used = set(re.findall(rf"\b{re.escape(short)}\.(\w+)", source))
    return not used or bool(used - {"match", "fullmatch"})


def _searched(rule: re.Pattern[str], text: str, searches: bool) -> float:
    """The seconds for all matches in a text, or for one at its beginning; at most MOST."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise _TooLongError

    before = time.process_time()
    old = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, MOST * 2)
    try:
        for _ in rule.finditer(text) if searches else ():
            pass
        rule.match(text)
    except _TooLongError:
        return MOST
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
    return time.process_time() - before

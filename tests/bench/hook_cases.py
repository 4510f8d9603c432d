"""Every event of a host through its launcher."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from capsule_cases import capsule_cases
from handoff_cases import handoff_cases
from measure import Case
from memory_cases import memory_cases
from payload_cases import FIVE_THOUSAND_TOKENS, fill, reports
from places import CHECKOUT, SCRIPTS
from review_cases import run_of_one

DIGEST = 6  # of a report, a review, the end of a transcript, what is stored of a task


def _saved(row: Case) -> None:
    """Do what `row` does, as other rows find it done in every round."""
    with open(row.stdin, encoding="utf-8") as file:
        subprocess.run(row.command, stdin=file, check=True, stdout=subprocess.DEVNULL)


def _sent_back(row: Case, forget: Callable[[], object]) -> None:
    forget()
    _saved(row)


def _commands(folder: Path, sample: dict[str, Any]) -> list[Case]:
    """A command that the hook leaves alone, one that it wraps, and the wrapper around one."""
    found = [Case("run.py around a command", [str(SCRIPTS / "run.sh"), "true"], 2.5)]
    for what, command, limit in (("left alone", "cat a.txt", 1.8), ("wrapped", "pytest -q", 3)):
        given = folder / f"{what.replace(' ', '-')}-PreToolUse.json"
        given.write_text(json.dumps({**sample, "tool_input": {"command": command}}), "utf-8")
        call = [str(SCRIPTS / "hook.sh"), "PreToolUse", "--host=claude"]
        found.append(Case(f"PreToolUse, {what}", call, limit, stdin=str(given)))
    return found


def hook_cases(folder: Path) -> list[Case]:
    """Every event of a host through its launcher: with nothing to do, and with something."""

    launcher = str(SCRIPTS / "hook.sh")
    samples = json.loads((CHECKOUT / "templates" / "hosts" / "claude.json").read_text("utf-8"))
    hooks = folder / ".contextkit" / "hooks"
    idle = folder / "idle"  # where nothing is stored
    subprocess.run(["git", "init", "-q", str(idle)], check=True)
    found = []
    for event, sample in samples.items():
        short = {**sample, "cwd": str(idle), "session_id": "idle", "last_assistant_message": "ok"}
        short |= {"agent_id": "", "tool_name": "Bash", "tool_response": {"stdout": "ok"}}
        given = folder / f"idle-{event}.json"
        given.write_text(json.dumps(short), encoding="utf-8")
        if event not in (
            "PreCompact",
            "PostCompact",
            "PreToolUse",
        ):  # there is always something to do
            found.append(Case(f"{event}, nothing to do", [launcher, event, "--host=claude"], 1.8,
                              stdin=str(given)))  # fmt: skip

    found += _commands(folder, {**samples["PreToolUse"], "cwd": str(idle), "session_id": "idle"})

    def busy(
        event: str,
        name: str,
        session: str,
        prepare: Callable[[], object],
        limit: float = 3,
        **more: Any,
    ) -> None:
        given = folder / f"{len(found)}-{event}.json"
        changes = {"cwd": str(folder), "session_id": session, **more}
        given.write_text(json.dumps(samples[event] | changes), encoding="utf-8")
        found.append(Case(f"{event}, {name}", [launcher, event, "--host=claude"], limit,
                          stdin=str(given), prepare=prepare))  # fmt: skip

    def again(session: str) -> Callable[[], object]:
        """The session as it was before it ended."""

        def back() -> None:
            ended = list((folder / ".contextkit" / "ended").glob(f"{session}@*"))
            if ended:
                ended[0].rename(folder / "shared" / "payloads" / session)

        return back

    def nothing() -> None:
        pass

    fill(folder, "other", 10)
    busy("SessionStart", "reminders open", "new", nothing)
    forget = partial(shutil.rmtree, hooks / "busy", ignore_errors=True)
    busy("SubagentStart", "noted", "busy", forget)
    busy("SubagentStop", "stored, a verdict", "busy", forget, DIGEST)
    busy("SubagentStop", "answered", "busy", partial(_sent_back, found[-1], forget), DIGEST,
         stop_hook_active=True, last_assistant_message="src/app.py:42 takes 52 ms.")  # fmt: skip
    busy("SubagentStop", "in front, 7,000 tokens", "busy", forget, DIGEST, background_tasks=[],
         last_assistant_message=reports(FIVE_THOUSAND_TOKENS * 7 // 5))  # fmt: skip
    busy("PostToolUse", "a receipt", "busy", forget, DIGEST)
    long = [{"type": "text", "text": reports(FIVE_THOUSAND_TOKENS * 7 // 5)}]
    response = {**samples["PostToolUse"]["tool_response"], "content": long}
    busy("PostToolUse", "7,000 tokens", "busy", forget, DIGEST, tool_response=response)
    capsule_cases(folder)
    busy("SubagentStart", "with a capsule", "busy", forget)
    run_of_one(folder)
    busy("SubagentStop", "judged", "judged", forget, DIGEST, agent_type="fd-0", agent_id="j",
         last_assistant_message="Findings written.")  # fmt: skip
    busy("SubagentStop", "sent back", "back", partial(shutil.rmtree, hooks / "back", True),
         agent_type="fd-1", agent_id="b", last_assistant_message="Done.")  # fmt: skip
    memory_cases(folder)
    transcript = folder / "full.jsonl"
    line = {"type": "assistant", "uuid": "u", "sessionId": "s",
            "message": {"usage": {"input_tokens": 150_000}, "content": "x" * 2000}}  # fmt: skip
    transcript.write_text((json.dumps(line) + "\n") * 1000, encoding="utf-8")
    full: dict[str, Any] = {"transcript_path": str(transcript)}
    store = folder / ".temp" / "memory" / "context_snapshots"
    marks = folder / ".contextkit" / "memory" / "saves"

    def unsaved() -> None:
        shutil.rmtree(store, ignore_errors=True)
        shutil.rmtree(marks, ignore_errors=True)

    busy("Stop", "a snapshot", "full", unsaved, DIGEST, **full)
    busy("Stop", "saved already", "full", partial(_saved, found[-1]), **full)
    busy("PreCompact", "a snapshot", "compact", unsaved, DIGEST, **full)
    busy("PostCompact", "a summary", "done", unsaved)
    busy("SessionStart", "recovered", "new", nothing, DIGEST, source="compact")
    handoffs = handoff_cases(folder)
    again_sm = handoffs[0].prepare or nothing
    busy("UserPromptSubmit", "a switch", "switch", again_sm, prompt="@dev Build it.")
    for count in (10, 10_000):
        fill(folder, f"s{count}", count)
        busy("SessionEnd", f"{count:,} payloads", f"s{count}", again(f"s{count}"))
    found[-1].limit = None  # it may take 200 ms: tests/hosts/test_hook_events.py
    return found

"""What a session opened again by its host's own tools, read from its transcript at its end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from contextkit.base import ledger
from contextkit.base.layout import Layout

from hooks import fire

REPORT = "# Report\n\n## Summary\n\nThe parser reads twice.\n\n" + "It reads again here.\n" * 900


def stored(layout: Layout) -> str:
    fire("SubagentStop", agent_id="a1", agent_type="Explore", last_assistant_message=REPORT)
    (path,) = Path(layout.payloads).glob("s-1/*.md")
    return layout.shown(str(path))


def claude(call: str, result: str, path: str, name: str = "Read") -> list[dict[str, Any]]:
    used = {"type": "tool_use", "id": call, "name": name, "input": {"file_path": path}}
    given = {"type": "tool_result", "tool_use_id": call, "content": [{"text": result}]}
    return [{"type": "assistant", "uuid": "1", "message": {"content": [used]}},
            {"type": "user", "uuid": "2", "message": {"content": [given]}}]  # fmt: skip


def end(tmp_path: Path, lines: list[dict[str, Any]]) -> list[tuple[str, int]]:
    """What the ledger says was opened, after the end of a session with this transcript."""
    path = tmp_path / "transcript.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    fire("SessionEnd", reason="other", transcript_path=str(path))
    shown = [one for one in ledger.read(Layout()) if one["event"] == ledger.SHOWN]
    return [(one["ref"], one["tokens"]) for one in shown]


def test_what_read_opened_is_noted_once(layout: Layout, tmp_path: Path) -> None:
    path = stored(layout)
    lines = claude("toolu_1", "The parser reads twice. " * 9, f"/somewhere/{path}")
    lines += lines[1:]  # as a host may say it again
    lines += claude("toolu_2", "nothing of ours", "/somewhere/src/app.py")
    ((ref, size),) = end(tmp_path, lines)
    assert ref == f"payload:s-1/{Path(path).stem}" and 20 < size < 80
    fire("SubagentStop", agent_id="a2", agent_type="Explore", last_assistant_message=REPORT + "!")
    assert len(end(tmp_path, lines)) == 1, "the session was resumed, and ended again"


def test_what_codex_opened_in_a_shell_is_noted(layout: Layout, tmp_path: Path) -> None:
    path = stored(layout)
    lines: list[dict[str, Any]] = [
        {"type": "response_item", "payload": {"type": "function_call", "call_id": "call_1",
                                              "arguments": json.dumps({"cmd": f"cat {path}"})}},
        {"type": "response_item", "payload": {"type": "function_call_output", "call_id": "call_1",
                                              "output": "The parser reads twice. " * 9}},
    ]  # fmt: skip
    ((_, size),) = end(tmp_path, lines)
    assert 20 < size < 80


def test_a_transcript_that_is_no_transcript_is_nothing(layout: Layout, tmp_path: Path) -> None:
    stored(layout)
    assert end(tmp_path, [{"message": {"content": f"{layout.shown(layout.payloads)}/s-1/x.md"}},
                          {"payload": []}, {"message": []}]) == []  # fmt: skip
    fire("SessionEnd", reason="other", transcript_path="/none")

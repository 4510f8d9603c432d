"""context_window.py: the tokens of a Claude Code session, from the end of its transcript."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import SCRIPTS, each
from contextkit.base import formats
from contextkit.base.errors import ContextError
from contextkit.memory.documents import context_window
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


def reply(tokens: int, **changes: Any) -> str:
    """A transcript line with a reply of the model whose input was `tokens` in all."""
    usage = {
        "input_tokens": 4,
        "cache_creation_input_tokens": 1000,
        "cache_read_input_tokens": tokens - 1004,
        "output_tokens": 77,
    }
    message = {"role": "assistant", "model": "m", "content": [], "usage": usage}
    event = {"type": "assistant", "isSidechain": False, "uuid": "u", "sessionId": "s"}
    return json.dumps(event | {"message": message} | changes)


def prompt(text: str = "go on", **changes: Any) -> str:
    event = {"type": "user", "isSidechain": False, "uuid": "u", "sessionId": "s"}
    return json.dumps(event | {"message": {"role": "user", "content": text}} | changes)


def count(path: Path, *lines: str, end: str = "\n") -> int:
    path.write_text("\n".join(lines) + end, encoding="utf-8")
    return context_window.usage(str(path))[0]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


def test_the_last_reply_of_the_main_chain_counts(file: Path) -> None:
    aside = reply(9_000, isSidechain=True)
    assert count(file, prompt(), reply(50_000), reply(120_000), prompt(), aside) == 120_000


def test_cached_and_fresh_tokens_are_added_and_output_is_not(file: Path) -> None:
    usage = {"input_tokens": 1, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300}
    assert count(file, reply(0, message={"usage": {**usage, "output_tokens": 4000}})) == 321


@pytest.mark.parametrize(
    "usage", [{"input_tokens": 5}, {"input_tokens": 5, "cache_read_input_tokens": None},
              {"input_tokens": 5, "cache_read_input_tokens": "many"}]
)  # fmt: skip
def test_missing_fields_are_nothing(file: Path, usage: dict[str, object]) -> None:
    assert count(file, reply(0, message={"usage": usage})) == 5


def test_a_reply_that_the_host_made_up_is_passed_over(file: Path) -> None:
    made_up = reply(0, message={"model": "<synthetic>", "usage": {"input_tokens": 0}})
    assert count(file, reply(80_000), made_up) == 80_000


def test_a_tool_result_with_a_usage_of_its_own_is_no_reply(file: Path) -> None:
    result = prompt("done", toolUseResult={"usage": {"input_tokens": 7}})
    assert count(file, reply(80_000), result) == 80_000


@each("cut", [1, 40, 150, 250])
def test_a_line_written_by_half_is_passed_over(file: Path, cut: int) -> None:
    assert count(file, reply(80_000), reply(90_000)[:-cut], end="") == 80_000


def test_the_last_line_may_lack_its_end(file: Path) -> None:
    assert count(file, reply(80_000), reply(90_000), end="") == 90_000


def test_after_a_compaction_what_was_kept_is_estimated(file: Path) -> None:
    boundary = prompt(type="system", subtype="compact_boundary")
    summary = prompt("The user wants small commits. " * 40, isCompactSummary=True)
    assert 200 < count(file, reply(160_000), boundary, summary) < 400
    assert count(file, reply(160_000), boundary, summary, reply(30_000)) == 30_000


def test_before_any_reply_there_is_nothing(file: Path) -> None:
    assert count(file, prompt()) == 0
    assert count(file, json.dumps({"type": "summary", "summary": "x", "leafUuid": "u"})) == 0
    assert count(file, "", end="") == 0


def test_only_the_end_of_a_big_file_is_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open(file, "wb") as made:
        made.truncate(200 << 20)  # nothing on disk, and nothing that could be parsed
        made.seek(0, 2)
        made.write(("\n" + reply(123_456) + "\n" + prompt("x" * 300_000) + "\n").encode())
    sizes: list[int] = []
    tail = formats.tail

    def counted(path: str, most: int) -> bytes:
        sizes.append(most)
        return tail(path, most)

    monkeypatch.setattr(formats, "tail", counted)
    assert context_window.usage(str(file))[0] == 123_456
    assert sum(sizes) < 1 << 20


def test_the_search_has_an_end(file: Path) -> None:
    with open(file, "wb") as made:
        made.write((reply(5000) + "\n").encode())
        made.truncate(80 << 20)
    with pytest.raises(ContextError, match="no reply in its last 32 MB: give tokens=N"):
        context_window.usage(str(file))[0]


@each(
    ("text", "said"),
    [
        ('{"timestamp":"t","type":"session_meta","payload":{"id":"x"}}\n', "a rollout without"),
        ('{\n  "sessionId": "s",\n  "messages": []\n}\n', "not a transcript"),
        ("just a text\n", "not a transcript"),
        ("[1, 2]\n", "not a transcript"),
        (reply(9000, isSidechain=True) + "\n", "holds a subagent's lines only"),
    ],
)
def test_others_are_refused_with_what_to_give_instead(file: Path, text: str, said: str) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ContextError, match=said) as refused:
        context_window.usage(str(file))[0]
    assert refused.value.status == 2 and "give tokens=N" in str(refused.value)


@each("path", ["", "missing.jsonl", "/dev/zero", "."])
def test_what_is_no_file_is_refused(path: str) -> None:
    with pytest.raises(ContextError, match="give tokens=N"):
        context_window.usage(path)[0]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary())
def test_whatever_a_file_holds_there_is_a_count_or_a_sentence(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    try:
        assert context_window.usage(str(file))[0] >= 0
    except ContextError:
        pass


def test_json_is_not_imported_on_the_way(file: Path) -> None:
    count(file, reply(80_000), reply(90_000)[:-9], end="")
    program = (
        "import sys; from contextkit.memory.documents import context_window\n"
        "print(context_window.usage(sys.argv[1])[0], 'json' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, str(file)],
        env={"PYTHONPATH": str(SCRIPTS)}, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("80000 False\n", "")

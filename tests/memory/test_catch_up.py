"""transcripts.catch_up: what a session did since the last save, from recorded transcripts.

The transcripts are in the formats of Claude Code 2.1.330 and codex-cli 0.169.0. `{SECRET}` in them
stands for a key that is filled in here, so that the repository contains none.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from conftest import each, rounds
from contextkit.base import tokens
from contextkit.base.settings import Limits
from contextkit.memory.flows import recovery, transcripts
from contextkit.memory.flows.transcripts import CaughtUp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

RECORDED = Path(__file__).parent / "transcripts"
SECRET = "sk-ant-" + "api03-" + "Zx9Qw3Er5Ty7Ui1Op2As4Df6Gh8Jk0LzXc"
HOSTS = ("claude_code", "codex")
LAST = "Now wire it into the screen,\nand *do not* touch `src/service.py`."


@pytest.fixture(params=HOSTS)
def transcript(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return recorded(request.param, tmp_path)


def recorded(host: str, folder: Path, before: str = "") -> str:
    text = (RECORDED / f"{host}.jsonl").read_text(encoding="utf-8").replace("{SECRET}", SECRET)
    path = folder / f"{host}.jsonl"
    path.write_text(before + text, encoding="utf-8")
    return str(path)


def test_what_the_user_asked_is_there_word_for_word(transcript: str) -> None:
    caught = transcripts.catch_up(transcript)
    assert LAST in caught.requests
    assert "> Now wire it into the screen,\n> and *do not* touch `src/service.py`." in caught.text
    assert caught.requests[0].startswith("Add a cache")
    for words in (
        "environment_context",
        "AGENTS.md",
        "Set model",
        "subagent_notification",
        "task tools",
    ):
        assert words not in caught.text


def test_what_claude_code_queued_and_a_command_of_the_users_own_count_as_asked(
    tmp_path: Path,
) -> None:
    caught = transcripts.catch_up(recorded("claude_code", tmp_path))
    assert caught.requests[-1] == "and add a line to CHANGELOG.md"
    assert "/review src/cache.py only" in caught.requests
    assert not any("reviewer" in text for text in caught.requests)  # a subagent's prompt


def test_files_that_were_edited_and_not_those_where_it_failed(transcript: str) -> None:
    assert set(transcripts.catch_up(transcript).edited) == {"src/cache.py", "src/screen.py"}


def test_edited_files_without_room_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(recorded("claude_code", tmp_path))
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    edit = "".join(line for line in lines if "toolu_03" in line)  # the call and its result
    more = [
        edit.replace("src/cache.py", f"src/part{n}.py").replace("toolu_03", f"more_{n}")
        for n in range(300)
    ]
    path.write_text("".join([*lines, *more]), encoding="utf-8")
    monkeypatch.setattr(transcripts, "MOST_TOKENS", 200)
    told = transcripts.catch_up(str(path))
    (line,) = [line for line in told.text.split("\n") if line.startswith("Files edited: ")]
    shown = line.count("src/")
    assert 0 < shown < len(told.edited)
    assert line.endswith(f" (+{len(told.edited) - shown} more)")


def test_a_command_that_failed_and_passed_later_is_not_told(transcript: str) -> None:
    failed = transcripts.catch_up(transcript).failed
    assert any("exit 6: curl: (6) Could not resolve host" in line for line in failed)
    assert not any("pytest" in line for line in failed)


def test_what_the_user_refused_is_told_with_the_reason(tmp_path: Path) -> None:
    failed = transcripts.catch_up(recorded("claude_code", tmp_path)).failed
    assert (
        failed[0] == "`git push --force origin main` (refused by the user: Never push from here.)"
    )


def test_decisions_open_steps_what_was_running_and_what_was_said_last(transcript: str) -> None:
    caught = transcripts.catch_up(transcript)
    lru = "We go with an LRU of 128 entries instead of a plain dict."
    assert lru in caught.decisions
    assert caught.running == ("`make test`",)
    assert caught.open_steps[0] == "Use it in the screen (in progress)"
    assert not any("Write the cache" in step for step in caught.open_steps)
    assert caught.last_said.startswith("The screen reads through the cache now.")


def test_what_the_user_chose_is_a_decision(tmp_path: Path) -> None:
    decisions = transcripts.catch_up(recorded("claude_code", tmp_path)).decisions
    assert decisions[0] == '"How long may an entry live?"="5 minutes"'


def test_nothing_before_the_last_save_is_told(transcript: str) -> None:
    caught = transcripts.catch_up(transcript, since="2026-11-22T05:11:05Z")
    assert caught.requests[0] == LAST
    assert caught.failed == ()
    assert "src/cache.py" not in caught.edited
    assert transcripts.catch_up(transcript, since="2026-11-22T06:00:00Z").text == ""


def test_secrets_are_taken_out_of_everything(transcript: str) -> None:
    caught = transcripts.catch_up(transcript)
    assert SECRET[:20] not in json.dumps(vars(caught))
    assert "(redacted anthropic-key)" in caught.text


@each("tokenizer", tokens.TOKENIZERS)
@each("most", [60, 120, 250, 400, 800])
def test_the_text_holds_its_tokens(
    transcript: str, most: int, tokenizer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcripts, "MOST_TOKENS", most)
    caught = transcripts.catch_up(transcript, limits=Limits(tokenizer=tokenizer))
    assert tokens.within(caught.text, most, tokenizer)
    if most >= 250 or (most >= 120 and tokenizer == tokens.DEFAULT):
        assert "Now wire it into the screen" in caught.text or "CHANGELOG" in caught.text


def test_a_request_that_is_too_long_is_cut_and_says_so(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_text(asked("Look at this: " + "word " * 5_000), encoding="utf-8")
    caught = transcripts.catch_up(str(path))
    assert caught.text.endswith("…")
    assert tokens.within(caught.text, transcripts.MOST_TOKENS)
    assert tokens.estimate(caught.text) > 250


def asked(text: str, at: str = "2026-11-22T05:00:00.000Z") -> str:
    message = {"role": "user", "content": text}
    line = {"type": "user", "sessionId": "s", "uuid": "u", "cwd": "/x", "timestamp": at}
    return json.dumps(line | {"message": message}) + "\n"


def test_at_most_the_last_two_megabytes_are_read(
    transcript: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert transcripts.read(transcript, 10).events == []
    early = asked("An early wish") + asked("x" * (transcripts.MOST + 10))
    with open(transcript, "r+", encoding="utf-8") as file:
        old = file.read()
        file.seek(0)
        file.write(early + old)
    caught = transcripts.catch_up(transcript)
    assert "An early wish" not in caught.text
    assert LAST in caught.requests


@settings(max_examples=rounds(8, 400), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(
        st.one_of(
            st.text(),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.text(),
                lambda inner: st.lists(inner) | st.dictionaries(
                    st.sampled_from(["type", "message", "content", "payload", "timestamp", "role",
                                     "name", "input", "sessionId", "arguments", "output"]), inner),
            ).map(json.dumps),
        )
    )
)  # fmt: skip
def test_no_transcript_makes_it_fail(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8", errors="replace")
    assert isinstance(transcripts.catch_up(str(path)), CaughtUp)


@pytest.mark.parametrize("name", ["", "nothing.jsonl"])
def test_what_is_no_file_tells_nothing(tmp_path: Path, name: str) -> None:
    assert transcripts.catch_up(str(tmp_path / name)).text == ""


def test_the_newest_transcript_of_a_folder_is_found_where_each_host_keeps_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "my_project"
    root.mkdir()
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    assert recovery.newest(str(root)) == ""
    name = "".join(char if char.isalnum() else "-" for char in str(root))
    theirs = kept(tmp_path / "claude/projects" / name / "old.jsonl", str(root), 1_000)
    other = tmp_path / "codex/sessions/2026/11/22"
    kept(other / "rollout-1-other.jsonl", "/somewhere/else", 3_000)
    rollout = other / "rollout-1-mine.jsonl"
    meta = {"type": "session_meta", "payload": {"id": "mine", "cwd": str(root)}}
    rollout.write_text(json.dumps(meta) + "\n", encoding="utf-8")
    os.utime(rollout, (2_000, 2_000))
    assert recovery.newest(str(root)) == str(rollout)
    assert recovery.newest(str(root), without="mine") == theirs


def kept(path: Path, folder: str, moment: int) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(asked("go on").replace('"/x"', json.dumps(folder)), encoding="utf-8")
    os.utime(path, (moment, moment))
    return str(path)


@each("odd", [["a"], {"a": 1}, 3, True])
def test_lines_with_values_of_other_types_are_passed_over(odd: object, tmp_path: Path) -> None:
    named: list[dict[str, object]] = [
        {"sessionId": "s", "cwd": "/a", "type": "user", "message": {"content": "Count them."}},
        {"sessionId": odd, "cwd": odd, "type": odd, "attachment": odd, "message": odd},
    ]
    rollout: list[dict[str, object]] = [
        {"type": "session_meta", "payload": {"id": "s", "cwd": "/a"}},
        {"type": "turn_context", "payload": {"id": odd, "cwd": odd}},
        {"type": "event_msg", "payload": {"type": odd, "message": odd}},
        {"type": "event_msg", "payload": {"type": "user_message", "message": "Count them."}},
    ]
    for lines in (named, rollout):
        path = tmp_path / "t.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        read = transcripts.read(str(path))
        assert (read.folder, read.session) == ("/a", "s")
        assert [event.text for event in read.events] == ["Count them."]

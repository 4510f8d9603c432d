"""ledger.py: one line per event, whatever happens around it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SCRIPTS, rounds
from contextkit.base import files, ledger, sessions
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from hypothesis import given
from hypothesis import strategies as st

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
WRITER = """
import sys
from contextkit.base import ledger
from contextkit.base.layout import Layout
layout = Layout(sys.argv[1])
for number in range(int(sys.argv[3])):
    ledger.note(layout, "stored", f"payload:{sys.argv[2]}/{number}", sources=["plan:x"] * 3)
"""


@pytest.fixture
def layout(repo: Path) -> Layout:
    return Layout()


def the_file(layout: Layout) -> Path:
    (found,) = Path(layout.ledger).iterdir()
    return found


def test_an_event_is_a_line_of_json(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSION_ID", "s-42")
    monkeypatch.setenv("CONTEXT_AGENT", "measure")
    monkeypatch.setenv("CONTEXT_SUBAGENT_ID", "20251023-180500-measure")
    monkeypatch.setenv("CLAUDECODE", "1")
    monkeypatch.setattr(sys, "argv", ["scripts/payload_store.py", "store"])
    ledger.note(
        layout, "injected", "capsule:x", tokens=492, to="subagent:a", sources=["plan:t", ""]
    )
    assert the_file(layout).name == "2025-10.jsonl"
    line = json.loads(the_file(layout).read_text(encoding="utf-8"))
    assert line.pop("version")
    assert line == {
        "v": 1, "at": "2025-10-23T18:05:00Z", "event": "injected", "ref": "capsule:x",
        "tokens": 492, "session": "s-42", "agent": "measure",
        "by": "subagent:20251023-180500-measure", "to": "subagent:a", "from": ["plan:t"],
        "host": "claude", "program": "payload_store",
    }  # fmt: skip
    assert [one["ref"] for one in ledger.read(layout)] == ["capsule:x"]


def test_git_does_not_see_it(layout: Layout) -> None:
    ledger.note(layout, "stored", "plan:t")
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=layout.root, capture_output=True, check=True
    )
    assert status.stdout == b""


@given(st.lists(st.text(max_size=3000), max_size=60), st.text(max_size=6000))
def test_a_line_is_whole_and_short_whatever_is_in_it(sources: list[str], text: str) -> None:
    layout = Layout()
    told = {"to": text, "session": text, "agent": text}
    ledger.note(layout, "stored", f"plan:{text}", tokens=1, sources=sources, **told)
    line = the_file(layout).read_bytes().split(b"\n")[-2]
    assert len(line) < 4000
    assert json.loads(line)["tokens"] == 1


def test_a_torn_line_takes_no_other_with_it(layout: Layout) -> None:
    ledger.note(layout, "stored", "plan:a")
    with the_file(layout).open("ab") as file:
        file.write(b'{"v":1,"at":"2025-10-23T18:05:00Z","event":"sto')
    ledger.note(layout, "stored", "plan:b")
    assert [one["ref"] for one in ledger.read(layout)] == ["plan:a", "plan:b"]


@pytest.mark.parametrize(
    "line",
    [
        b"", b"\xff\xfe\n", b"{}\n", b"[]\n", b'{"v":1}\n', 
        b'{"v":2,"at":"9","event":"x","ref":"y"}\n',
        b'{"v":1,"at":1,"event":"stored","ref":"plan:x"}\n', b'{"v":1' + b"[" * 100_000 + b"}\n",
    ],
)  # fmt: skip
def test_what_is_no_event_is_passed_over(layout: Layout, line: bytes) -> None:
    ledger.note(layout, "stored", "plan:a")
    with the_file(layout).open("ab") as file:
        file.write(line)
    ledger.note(layout, "stored", "plan:b")
    assert [one["ref"] for one in ledger.read(layout)] == ["plan:a", "plan:b"]


def test_a_field_of_the_wrong_type_is_left_out(layout: Layout) -> None:
    files.make_folder(layout.ledger)
    odd = {"v": 1, "at": "2025-10-23T18:05:00Z", "event": "stored", "ref": "plan:x"}
    odd |= {"tokens": "many", "session": 4, "from": [1, "plan:y"]}
    Path(layout.ledger, "2025-10.jsonl").write_bytes(
        json.dumps(odd, separators=(",", ":")).encode()
    )
    (found,) = ledger.read(layout)
    assert found["from"] == ["plan:y"]
    assert not {"tokens", "session"} & found.keys()


def test_many_writers_lose_nothing(layout: Layout) -> None:
    many = rounds(12, 40)
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, layout.root, f"w{number}", "10"], env=environment
        )
        for number in range(many)
    ]
    assert [writer.wait() for writer in writers] == [0] * many
    refs = [one["ref"] for one in ledger.read(layout)]
    assert sorted(refs) == sorted(f"payload:w{w}/{n}" for w in range(many) for n in range(10))


def test_a_killed_writer_loses_nothing_of_others(layout: Layout) -> None:
    environment = {**os.environ, "PYTHONPATH": str(SCRIPTS)}
    endless = [sys.executable, "-c", WRITER, layout.root, "killed", "1000000"]
    writer = subprocess.Popen(endless, env=environment)
    folder = Path(layout.ledger)
    while not (folder.is_dir() and any(one.stat().st_size for one in folder.iterdir())):
        assert writer.poll() is None
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    ledger.note(layout, "stored", "plan:after")
    refs = [one["ref"] for one in ledger.read(layout)]
    assert refs == [*(f"payload:killed/{n}" for n in range(len(refs) - 1)), "plan:after"]


@pytest.mark.parametrize("in_the_way", [".contextkit", ".contextkit/ledger"])
def test_a_ledger_that_cannot_be_written_stops_nothing(repo: Path, in_the_way: str) -> None:
    layout = Layout()
    (repo / in_the_way).parent.mkdir(exist_ok=True)
    (repo / in_the_way).write_text("a file", encoding="utf-8")
    ledger.note(layout, "stored", "plan:a")
    assert list(ledger.read(layout)) == []


def test_a_link_is_not_followed(layout: Layout, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("", encoding="utf-8")
    files.make_folder(layout.ledger)
    Path(layout.ledger, "2025-10.jsonl").symlink_to(outside)
    ledger.note(layout, "stored", "plan:a")
    assert outside.read_text(encoding="utf-8") == ""


def test_a_full_disk_stops_nothing(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    ledger.note(layout, "stored", "plan:a")


def test_secrets_are_never_in_it(layout: Layout) -> None:
    ledger.note(
        layout, "stored", f"verdict:{TOKEN}", agent=f"token={TOKEN}", to=f"agent:{TOKEN}",
        session=TOKEN, sources=[f"payload:{TOKEN}"],
    )  # fmt: skip
    assert TOKEN not in the_file(layout).read_text(encoding="utf-8")


def test_ordinary_names_stay_as_they_are(layout: Layout) -> None:
    refs = [
        "payload:3f0c1e7a-6c1d-4b5e-9a3d-1a2b3c4d5e6f/20261122-043007-a-rather-long-topic-of-a-text",
        "finding:research-agent_20261122T043007", "run:20261122T043007Z-0a1b2c",
        "capsule:feature/PROJ-1234-migrate-the-store/20261122T043007Z",
        "review:20261122T043007Z-0a1b2c/fd-architecture/P0-1",
        "handoff:handoff-architect-to-developer-20261122T043007Z",
    ]  # fmt: skip
    for ref in refs:
        ledger.note(layout, "stored", ref)
    assert [one["ref"] for one in ledger.read(layout)] == refs


def test_old_months_go_and_old_events_are_not_read(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    for now in ("2025-06-30T00:00:00Z", "2025-07-01T00:00:00Z", "2025-10-01T00:00:00Z"):
        monkeypatch.setenv("CONTEXT_NOW", now)
        ledger.note(layout, "stored", f"plan:{now[:7]}")
    assert [one["ref"] for one in ledger.read(layout)] == ["plan:2025-10"]
    ledger.sweep(layout, 1759276800)
    assert sorted(os.listdir(layout.ledger)) == ["2025-07.jsonl", "2025-10.jsonl"]


def test_what_no_address_was_found_for_is_not_noted(layout: Layout) -> None:
    ledger.note(layout, "stored", "")
    assert not Path(layout.ledger).exists()


def test_reading_where_there_is_no_ledger_gives_nothing(layout: Layout) -> None:
    assert list(ledger.read(layout)) == []
    ledger.sweep(layout, 0)
    assert not os.path.exists(layout.state)


def test_a_broken_session_pointer_stops_nothing(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Layout) -> str:
        raise ContextError("no session")

    monkeypatch.setattr(sessions, "find_current", broken)
    ledger.note(layout, "stored", "plan:a")


def test_two_torn_lines_that_fit_together_are_no_event(layout: Layout) -> None:
    ledger.note(layout, "stored", "plan:a")
    (month,) = Path(layout.ledger).iterdir()
    torn = month.read_text(encoding="utf-8")[:-2]
    two = f'{torn},"x":[{{}}\n{{"v":1}}]}}\n'
    month.write_text(f"{torn}}}\n{two}{torn}}}\n", encoding="utf-8")
    assert [one["ref"] for one in ledger.read(layout)] == ["plan:a", "plan:a"]

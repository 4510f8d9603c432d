"""context_eval: scripted models in place of the user's own."""

from __future__ import annotations

import concurrent.futures
import json
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import CHECKOUT, Script, each, until
from contextkit.base import tokens
from contextkit.base.layout import Layout
from contextkit.evaluation.flows import trial

SCRIPTED = Path(__file__).with_name("scripted.py")
FILLER = "Nothing of this matters to anybody who reads it, now or later on. " * 9
NAMES = "alpha beta gamma delta epsilon zeta".split()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two long texts with six numbers each, three of them where a receipt looks."""
    made = tmp_path / "texts"
    made.mkdir()
    for start in (1000, 2000):
        facts = [f"The {name} is {start + at}." for at, name in enumerate(NAMES)]
        text = "# Report\n\n## Summary\n\n" + " ".join(facts[:3]) + "\n\n## Rest\n\n"
        text += "".join(f"{FILLER}\n\n{fact}\n\n{FILLER}\n\n" for fact in facts[3:])
        (made / f"{start}.md").write_text(text, encoding="utf-8")
    (made / "short.md").write_text("The omega is 1.", encoding="utf-8")
    (made / "binary").write_bytes(b"\xff\xfe\x00")
    return made


def model(kind: str, *more: object) -> str:
    return shlex.join([sys.executable, "-S", "-E", str(SCRIPTED), kind, *map(str, more)])


def evaluated(run: Script, folder: Path, kind: str, *options: str) -> dict[str, dict[str, Any]]:
    """The rows of all kinds, by arm."""
    words = (f"--cmd={model(kind)}", f"--folder={folder}", "--yes", "--json", *options)
    assert run("evaluate", "model", *words) == 0, run.err
    return {row["arm"]: row for row in json.loads(run.out) if row["kind"] == "all"}


def test_a_perfect_reader_knows_what_it_was_given(folder: Path, run: Script) -> None:
    rows = evaluated(run, folder, "perfect")
    assert list(rows) == ["receipt", "opened", "cut", "whole", "nothing"]
    keys = set("id arm kind documents questions right wrong tokens low high".split())
    assert all(set(row) == keys for row in rows.values())
    assert (rows["whole"]["right"], rows["whole"]["questions"]) == (100.0, 12)
    assert (rows["nothing"]["right"], rows["nothing"]["tokens"]) == (0.0, 0)
    assert rows["receipt"]["right"] >= 50 and not any(row["wrong"] for row in rows.values())
    assert rows["receipt"]["tokens"] <= 300 < rows["whole"]["tokens"]
    assert abs(rows["cut"]["tokens"] - rows["receipt"]["tokens"]) <= 60
    assert "2 texts, at most 16 calls, ~" in run.err
    page = Path(".contextkit/evaluation.md").read_text(encoding="utf-8")
    assert "| whole | all | 2 | 12 | 100.0 | 100.0 to 100.0 | 0 |" in page


def test_one_that_says_unknown_has_nothing_right_and_nothing_wrong(
    folder: Path, run: Script
) -> None:
    for row in evaluated(run, folder, "knows_nothing", "-n=1").values():
        assert (row["right"], row["wrong"]) == (0.0, 0)


def test_what_is_invented_is_wrong(folder: Path, run: Script) -> None:
    for row in evaluated(run, folder, "inventor", "-n=1").values():
        assert (row["right"], row["wrong"]) == (0.0, 6)


def test_a_reader_may_open_one_part(folder: Path, run: Script) -> None:
    rows = evaluated(run, folder, "opener", "-n=1")
    assert rows["opened"]["tokens"] > rows["receipt"]["tokens"]
    assert rows["opened"]["right"] >= rows["receipt"]["right"]


def test_another_compressor_is_one_row_more(folder: Path, run: Script) -> None:
    rows = evaluated(run, folder, "perfect", "-n=1", "--with=head -c 300")
    assert rows["with"]["questions"] == 6 and rows["with"]["tokens"] < 120
    assert "with" not in evaluated(run, folder, "perfect", "-n=1", "--with=exit 1")


@each(
    ("command", "why"),
    [
        (model("talker"), "2 with no usable form"),
        ("exit 3", "2 with exit status 3"),
        ("sleep 60", "2 with no answer in 1 s"),
        (model("dies_marking"), "2 with exit status 3"),
    ],
)
def test_calls_that_give_nothing_usable_are_counted(
    folder: Path, run: Script, command: str, why: str
) -> None:
    words = (f"--cmd={command}", f"--folder={folder}", "--yes", "--timeout=1")
    assert run("evaluate", "model", *words) == 1
    assert run.out == "" and "no text could be evaluated: " in run.err and why in run.err
    assert "2 texts left out" in run.err


def test_a_command_that_fails_is_shown_by_what_it_said(folder: Path, run: Script) -> None:
    command = "echo 'no key: log in' >&2; echo more >&2; exit 3"
    assert run("evaluate", "model", f"--cmd={command}", f"--folder={folder}", "--yes") == 1
    assert "(2 with exit status 3); it said 'no key: log in'; 2 texts left out" in run.err


@pytest.mark.parametrize(
    ("command", "began"),
    [("echo; echo 'You are not logged in.'; echo Bye", "'You are not logged in.'"),
     ("true", "'nothing'"), ("printf '\\033[2J%0200d' 7", "' [2J000")],
)  # fmt: skip
def test_an_answer_without_a_usable_form_is_shown_by_its_first_line(
    folder: Path, run: Script, command: str, began: str
) -> None:
    assert run("evaluate", "model", f"--cmd={command}", f"--folder={folder}", "--yes") == 1
    assert f"; one without a usable form began {began}" in run.err and "\033" not in run.err


def test_it_goes_on_where_it_was(folder: Path, run: Script, tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    words = (f"--cmd={model('perfect', calls)}", f"--folder={folder}", "--yes")
    assert run("evaluate", "model", *words, "-n=1") == 0
    first = run.out
    assert "7 calls, 0 failed" in first
    assert run("evaluate", "model", *words, "-n=1") == 0
    assert run.out == first.replace("7 calls", "0 calls")
    assert run("evaluate", "model", *words) == 0
    assert "6 calls, 0 failed" in run.out  # without material, both texts are asked the same
    assert len(calls.read_text(encoding="utf-8").splitlines()) == 13


def test_without_a_terminal_it_starts_only_when_told_to(folder: Path, run: Script) -> None:
    assert run("evaluate", "model", "--cmd=false", f"--folder={folder}") == 1
    assert "2 texts, at most 16 calls, ~" in run.err and "yes=1 starts" in run.err


def test_nothing_secret_is_sent(folder: Path, run: Script, tmp_path: Path) -> None:
    secret = "ghp_" + "Zk3LmN0pQr5StUv7WxYz" + "AbCdEfGh1234abcd"[:16]
    text = (folder / "1000.md").read_text(encoding="utf-8")
    (folder / "1000.md").write_text(f"{text}\nGITHUB_TOKEN={secret}\n", encoding="utf-8")
    calls = tmp_path / "calls"
    words = (f"--cmd={model('perfect', calls)}", f"--folder={folder}", "--yes")
    assert run("evaluate", "model", *words, "-n=1") == 0
    sent = calls.read_text(encoding="utf-8")
    assert secret not in sent and "REDACTED" in sent.upper()


def test_what_is_stored_here_is_tried(repo: Path, folder: Path, run: Script) -> None:
    text = (folder / "1000.md").read_text(encoding="utf-8")
    run("payload_store", "store", "--topic=numbers", "--source=a", "--session=s", stdin=text)
    assert run("evaluate", "model", f"--cmd={model('perfect')}", "--yes", "--json") == 0
    rows = json.loads(run.out)
    assert {row["documents"] for row in rows} == {1} and {row["kind"] for row in rows} == {"all"}


def test_a_stored_handoff_is_tried_with_its_story(repo: Path, run: Script) -> None:
    (repo / "story.md").write_text("# Story 1.2: Cart\n\n" + "It keeps its items. " * 300, "utf-8")
    words = ("--from=sm", "--to=dev", "--next-action=go on", "--story-path=story.md")
    assert run("handoff", "write", *words) == 0
    (sample,) = trial.stored(Layout())
    assert sample.name.startswith("handoff:handoff-sm-to-dev-") and sample.kind == "handoff"
    assert "story_id" in sample.handed_over and "It keeps its items." in sample.whole


def test_nothing_to_try_is_said(repo: Path, run: Script) -> None:
    assert run("evaluate", "model", "--cmd=false", "--yes") == 1
    assert "no text above 500 tokens is stored here: folder=DIR names others" in run.err
    assert run("evaluate", "model", "--cmd=false", "--folder=nowhere", "--yes") == 2


def test_an_interrupt_ends_it_and_its_calls(folder: Path, repo: Path, tmp_path: Path) -> None:
    mark = tmp_path / "called"
    command = f"touch {shlex.quote(str(mark))}; sleep 600"
    process = subprocess.Popen(
        [sys.executable, CHECKOUT / "scripts" / "evaluate.py", f"--cmd={command}",
         f"--folder={folder}", "--yes"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=repo,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a shell job ignores it
    )  # fmt: skip
    until(lambda: mark.exists() or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode != 0


def test_an_interrupt_is_heard_while_calls_go_on() -> None:
    """Even where the main thread does not wake of it, as when it was just about to wait."""
    go_on = threading.Event()

    def call() -> None:
        time.sleep(0.1)  # by then, the main thread waits
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        go_on.wait(30)

    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        future = pool.submit(call)
        with pytest.raises(KeyboardInterrupt):
            list(trial.ended([future]))
        assert not future.done()
        go_on.set()


def test_head_and_tail_hold_their_size() -> None:
    text = "\n".join(f"line {n} of the text" for n in range(2000))
    cut = trial.head_and_tail(text, 200)
    assert cut.startswith("line 0 ") and cut.endswith("line 1999 of the text")
    assert 150 <= tokens.estimate(cut) <= 210
    assert trial.head_and_tail("short", 200) == "short"

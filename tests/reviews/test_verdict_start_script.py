"""verdict.py start, contract, wait and diff as their users call them, and with real processes."""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path

import pytest
from conftest import Script, git, start
from contextkit.base.layout import Layout
from contextkit.reviews.documents import runs
from contextkit.reviews.flows import start as starting
from signing import sign

DONE = "### Findings Index\nVerdict: safe\n\n### Summary\nFine.\n<!-- flux-drive:complete -->\n"
CURRENT = Path(".clavain/reviews/current")


@pytest.fixture
def branch(repo: Path) -> Path:
    """A branch with one untracked file since main."""
    git("branch", "main")
    Path("new.py").write_text("new\n", encoding="utf-8")
    return repo


def begin(run: Script, *more: str) -> str:
    """The id of a run that was started just now."""
    assert run("verdict", "start", "--process=review", "--agents=a b", "--json", *more) == 0
    found: str = json.loads(run.out)["run"]
    return found


def write(name: str, text: str = DONE) -> None:
    (CURRENT / name).write_text(text, encoding="utf-8")


# start


def test_start_prints_the_run_and_how_each_agent_is_launched(branch: Path, run: Script) -> None:
    assert run("verdict", "start", "--process=review", "--agents=fd-x, interflux:y") == 0
    identity = runs.load(Layout(), "latest").id
    assert run.out.splitlines() == [
        f"run {identity}",
        "output_dir .clavain/reviews/current",
        "input .clavain/reviews/current/input/changes.diff",
        "",
        "Claude Code, all in one message:",
        '  Agent(subagent_type="fd-x", description="fd-x", run_in_background=true,'
        ' prompt="Read .clavain/reviews/current/prompts/fd-x.md and do what it says.")',
        '  Agent(subagent_type="interflux:y", description="interflux:y", run_in_background=true,'
        ' prompt="Read .clavain/reviews/current/prompts/interflux%3Ay.md and do what it says.")',
        '  (where no agent has such a type: subagent_type="general-purpose")',
        "or Codex, in the root:",
        "  for p in fd-x.md 'interflux%3Ay.md'; do"
        " codex exec - < '.clavain/reviews/current/prompts'/\"$p\" > /dev/null & done",
        "",
        f"then: make verdict_wait run={identity}",
    ]


def test_the_launch_lines_work_where_they_are_printed(
    branch: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(".claude/agents").mkdir(parents=True)
    Path(".claude/agents/a.md").write_text("You are a.\n", encoding="utf-8")
    Path("below").mkdir()
    monkeypatch.chdir("below")
    assert run("verdict", "start", "--process=review", "--agents=a") == 0
    prompts = f"{branch}/{CURRENT}/prompts"
    assert f"Read {prompts}/a.md and do" in run.out and f"< '{prompts}'/\"$p\"" in run.out
    assert "general-purpose" not in run.out  # its type is known
    launched = [line for line in run.out.splitlines() if line.startswith("  ")]
    identity = runs.load(Layout(), "latest").id
    (branch / CURRENT / "a.md").write_text("nothing", encoding="utf-8")
    assert run("verdict", "retry", f"--run={identity}", "--agent=a") == 0
    assert [line for line in run.out.splitlines() if line.startswith("  ")] == launched
    assert run.out.splitlines()[-1] == f"then: make verdict_wait run={identity}"


def test_start_for_programs(branch: Path, run: Script) -> None:
    identity = begin(run)
    found = json.loads(run.out)
    assert found["run"] == identity and found["output_dir"] == str(CURRENT)
    assert found["agents"] == [
        {"agent": a, "path": f"{CURRENT}/{a}.md", "prompt": f"{CURRENT}/prompts/{a}.md"}
        for a in ("a", "b")
    ]
    assert json.loads((CURRENT / "run.json").read_text(encoding="utf-8")) == found


def test_starts_at_once_never_share_a_folder(branch: Path) -> None:
    started = [start("verdict.py", "start", "--process=review", "--json") for _ in range(4)]
    said = [process.communicate() for process in started]
    assert [process.returncode for process in started] == [0] * 4, said
    folders = sorted(json.loads(out)["output_dir"] for out, _ in said)
    assert folders == [str(CURRENT), *(f"{CURRENT}-{n}" for n in (2, 3, 4))]
    known = runs.load_all(Layout()).whole().documents
    assert len({one.id for one in known}) == 4


def test_a_start_killed_at_any_moment_is_taken_over_by_the_next(branch: Path) -> None:
    first = starting.start(Layout(), 1_761_242_700, "review", agents=("old",))
    Path(first.output_dir, "old.md").write_text(DONE, encoding="utf-8")
    for moment in range(12):
        child = os.fork()
        if not child:
            try:
                starting.start(Layout(), 1_761_242_800, "review", agents=("a",))
            finally:
                os._exit(0)
        time.sleep(moment * 0.004)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    known = runs.load_all(Layout()).whole().documents
    last = starting.start(Layout(), 1_761_252_800, "review", agents=("a",))
    folder = Path(last.output_dir)
    assert folder == CURRENT and not list(folder.glob("*.md"))
    assert runs.load(Layout(), last.id) == last
    kept = Path(runs.load(Layout(), first.id).output_dir, "old.md")
    assert kept.read_text(encoding="utf-8") == DONE  # not lost by any of them
    assert git("status", "--porcelain") == "?? new.py\n"
    for one in known:  # each that was finished is whole
        assert Path(runs.load(Layout(), one.id).input).is_file()


# contract


def test_the_contract_of_an_agent_of_a_run(branch: Path, run: Script) -> None:
    identity = begin(run)
    assert run("verdict", "contract", f"--run={identity}", "--agent=a") == 0
    assert f"Write ALL findings to `{branch}/{CURRENT}/a.md`." in run.out
    assert f"<!-- run-uuid: {identity} -->" in run.out
    prompt = (CURRENT / "prompts/a.md").read_text(encoding="utf-8")
    assert prompt.endswith(run.out)
    assert run("verdict", "contract", "--run=latest", "--agent=bb") == 2
    assert "did not ask 'bb' (did you mean 'b'?)" in run.err


def test_a_contract_without_a_run(
    branch: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("sub").mkdir()
    monkeypatch.chdir("sub")
    assert run("verdict", "contract", "--output-dir=out", "--agent=fd", "--mode=research") == 0
    assert f"`{branch}/sub/out/fd.md`" in run.out and "### Sources" in run.out
    assert "run-uuid" not in run.out
    for wrong in (
        ["--agent=x"],
        ["--agent=x", "--output-dir=out", "--run=latest"],
        ["--agent=x", "--output-dir=../../out"],
        ["--agent=../x", "--output-dir=out"],
        ["--agent=x", "--output-dir=out", "--mode=rhyme"],
    ):
        assert run("verdict", "contract", *wrong) == 2 and run.out == ""


# wait


def test_wait_tells_each_agent_and_ends_with_the_last(branch: Path, run: Script) -> None:
    identity = begin(run)
    waiting = start("verdict.py", "wait", f"--run={identity}", "--timeout=10m")
    assert waiting.stderr and "[0/2 | 0s] waiting up to 600s for a, b" in waiting.stderr.readline()
    write("b.md")
    assert "[1/2 | " in waiting.stderr.readline()
    write("a.md.partial")
    os.rename(CURRENT / "a.md.partial", CURRENT / "a.md")
    assert waiting.stderr.readline().endswith("s] a\n")
    out, _ = waiting.communicate()
    assert waiting.returncode == 0
    assert out == f"done\ta\t{CURRENT}/a.md\ndone\tb\t{CURRENT}/b.md\n"
    assert runs.load(Layout(), "latest").missed == ()


def test_wait_that_times_out_classifies_and_writes_stubs_when_asked(
    branch: Path, run: Script
) -> None:
    identity = begin(run)
    write("b.md.partial", "half")
    assert run("verdict", "wait", f"--run={identity}", "--timeout=0") == 3
    assert run.out == f"missing\ta\t{CURRENT}/a.md\npartial\tb\t{CURRENT}/b.md\n"
    assert not list(CURRENT.glob("*.md"))
    assert run("verdict", "wait", f"--run={identity}", "--timeout=0", "--stub", "--json") == 3
    assert [(one["id"], one["state"]) for one in json.loads(run.out)] == [
        ("a", "missing"), ("b", "partial"),
    ]  # fmt: skip
    assert run("verdict", "ingest", f"--run={identity}", "--json") == 0
    found = json.loads(run.out)["agents"]
    assert [(one["agent"], one["status"], one["validation"]) for one in found] == [
        ("a", "ERROR", "error"), ("b", "ERROR", "error"),
    ]  # fmt: skip
    assert runs.load(Layout(), "latest").missed == ("a", "b")
    assert run("verdict", "gate", f"--run={identity}") == 1 and run.out.startswith("FAIL")


def test_a_wait_takes_a_duration_or_a_name_of_the_process(branch: Path, run: Script) -> None:
    identity = begin(run)
    write("a.md")
    write("b.md")
    for given, seconds in (("", 300), ("remote", 600), ("5m", 300), ("7", 7)):
        assert run("verdict", "wait", f"--run={identity}", f"--timeout={given}") == 0
        assert f"waiting up to {seconds}s" in run.err
    assert run("verdict", "wait", f"--run={identity}", "--timeout=soon") == 2
    assert "write 90s, 5m or local, remote" in run.err
    assert run("verdict", "wait", "--run=nothing") == 1


# diff


def test_the_diff_goes_to_stdout_and_the_list_of_files_to_stderr(branch: Path, run: Script) -> None:
    Path("latin").write_bytes(b"caf\xc3\xa9\n")
    Path("image").write_bytes(bytes(99))
    assert run("verdict", "diff") == 0
    assert run.out.startswith("diff --git a/image b/image\n") and run.out.endswith("+new\n")
    assert run.out.count("diff --git") == 3 and "\0" not in run.out
    assert [line.split() for line in run.err.splitlines()] == [
        ["verdict:", "state", "lines", "path"],
        ["verdict:", "created", "binary", "image"],
        ["verdict:", "created", "+1", "-0", "latin"],
        ["verdict:", "created", "+1", "-0", "new.py"],
        ["verdict:", *f"3 files, 2 lines since main ({git('rev-parse', 'HEAD')[:12]})".split()],
    ]
    assert run("verdict", "diff", "--stat") == 0
    assert [line.split()[-1] for line in run.out.splitlines()] == [
        "path", "image", "latin", "new.py",
    ]  # fmt: skip


def test_the_diff_comes_out_byte_for_byte(branch: Path) -> None:
    Path("new.py").write_bytes(b"caf\xe9\r\n")
    done = start("verdict.py", "diff")
    assert done.stdout
    assert done.stdout.buffer.read().endswith(b"+caf\xe9\r\n")  # type: ignore[attr-defined]
    done.communicate()
    assert done.returncode == 0


def test_an_empty_diff_is_an_error(branch: Path, run: Script) -> None:
    os.unlink("new.py")
    assert run("verdict", "diff") == 1 and run.out == "" and "nothing differs" in run.err
    assert run("verdict", "diff", "--base=HEAD~9") == 2 and "no commit" in run.err


def test_the_diff_of_a_subfolder_is_the_diff_of_the_branch(
    branch: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("sub").mkdir()
    monkeypatch.chdir("sub")
    assert run("verdict", "diff", "--json") == 0
    assert [(one["id"], one["state"]) for one in json.loads(run.out)] == [("new.py", "created")]


# the gate of a run over a branch


def test_the_gate_names_the_files_that_made_it_stale(branch: Path, run: Script) -> None:
    for number in range(7):
        Path(f"f{number}.py").write_text("one\n", encoding="utf-8")
    identity = begin(run)
    for agent in ("a", "b"):
        write(f"{agent}.md")
    sign(CURRENT)
    assert run("verdict", "ingest", f"--run={identity}") == 0
    assert run("verdict", "gate", f"--run={identity}") == 0
    Path("new.py").write_text("newer\n", encoding="utf-8")
    assert run("verdict", "gate", f"--run={identity}") == 1
    assert run.out.splitlines()[1] == "stale\t-\tedited since it was reviewed: new.py"
    git("add", "-A")
    git("commit", "-q", "-m", "all")
    assert run("verdict", "gate", f"--run={identity}") == 1
    assert run.out.splitlines()[1] == "stale\t-\tedited since it was reviewed: new.py"
    for number in range(7):
        Path(f"f{number}.py").unlink()
    assert run("verdict", "gate", f"--run={identity}") == 1
    said = "edited since it was reviewed: f0.py, f1.py, f2.py, f3.py, f4.py and 3 more"
    assert run.out.splitlines()[1] == f"stale\t-\t{said}"


def test_what_the_toolkit_writes_itself_is_no_work(branch: Path, run: Script) -> None:
    identity = begin(run)
    for agent in ("a", "b"):
        write(f"{agent}.md")
    sign(CURRENT)
    assert run("verdict", "ingest", f"--run={identity}") == 0
    assert run("remember_later", "--message=later") == 0
    assert run("capsule_prompt", "--stub") == 0
    assert run("context", "init") == 0
    assert run("subagent_manager", "launch", "--slug=x", "--capsule=none") == 0
    assert run("payload_store", "store", "--topic=t", "--source=dev", "--force", stdin="w") == 0
    assert run("external_memory", "plan", "--task=t") == 0
    assert run("verdict", "gate", f"--run={identity}") == 0, run.out
    assert run("verdict", "diff", "--stat", "--json") == 0
    assert [row["path"] for row in json.loads(run.out)] == ["new.py"]

"""capsule_prompt.py as its users call it; the cases "cp" of the checklist, one by one."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import frontmatter
import pytest
from conftest import NOW, SCRIPTS, Script, each, git, start
from test_capsules import HEADINGS, KEYS
from test_capture_prompts import INBOX, NOTEBOOKS, put, remind

STAMP = "20251023T180500Z"
CAPSULES = INBOX.parent
TARGET = CAPSULES / f"feature/demo/{STAMP}.md"


def tree() -> set[str]:
    """Every file below the current directory, git's own left out."""
    return {str(p) for p in Path().rglob("*") if p.is_file() and p.parts[0] != ".git"}


def target(text: str) -> Path:
    (found,) = re.findall(r"^Target file: (.*)$", text, re.M)
    return Path(found)


def lived_in(repo: Path) -> None:
    """A repository with something of everything that a prompt quotes."""
    git("commit", "-q", "--allow-empty", "-m", "Move the parser behind its tests")
    put(
        NOTEBOOKS / "PLAN.md",
        "# Branch Plan — feature/demo\n\n## Objectives\n- One parser\n\n## Checklist\n"
        "- [x] tests\n- [ ] parser\n\n## Next Actions\n- Ask Grace about the old format\n",
    )
    put(
        NOTEBOOKS / "PROGRESS.md",
        "# Branch Progress — feature/demo\n\n## 2025-10-22 16:00:00 UTC\n- **Summary:** begun\n\n"
        "## 2025-10-23 17:30:00 UTC\n- **Summary:** moved the parser\n\n"
        "```py\nparse(text)\n```\n\n## 2025-10-21 09:00:00 UTC\n- **Summary:** read the code\n",
    )
    remind("Outline onboarding UX spike\nwith the mock-ups", topic="ux", next_step="Review mockups")


@pytest.mark.golden
def test_the_whole_prompt(repo: Path, run: Script, golden: Callable[[str, str], None]) -> None:
    lived_in(repo)
    assert run("capsule_prompt", "--session=20251023-171812-1-bc1df3") == 0
    golden("capsule_prompt.txt", run.out)
    assert run.err == ""


@pytest.mark.golden
def test_the_whole_miniature_prompt(
    repo: Path, run: Script, golden: Callable[[str, str], None]
) -> None:
    assert run("capsule_prompt", "--mini") == 0
    golden("capsule_prompt_mini.txt", run.out)


@pytest.mark.golden
def test_the_whole_stub(repo: Path, run: Script, golden: Callable[[str, str], None]) -> None:
    lived_in(repo)
    assert run("capsule_prompt", "--stub") == 0
    golden("capsule_stub.md", TARGET.read_text(encoding="utf-8"))


def test_header_prompt_and_no_file_written(repo: Path, run: Script) -> None:
    assert run("capsule_prompt") == 0
    assert run.out.split("\n")[:4] == [
        "Context capsule prompt",
        "Copy the block below into the main agent's session.",
        f"Target file: {TARGET}",
        "",
    ]
    assert run.out.split("\n")[4].startswith("You are the main agent for branch `feature/demo`.")
    assert tree() == set()


def test_without_a_session_a_placeholder_is_visible(repo: Path, run: Script) -> None:
    run("capsule_prompt", "--session= ")
    assert "<fill in the latest session marker>" in run.out
    assert "Session marker:" not in run.out


@pytest.mark.parametrize("option", ["--session", "--session-marker"])
def test_a_session_is_in_prompt_and_header(repo: Path, run: Script, option: str) -> None:
    assert run("capsule_prompt", f"{option}=S1") == 0
    assert "source_session: S1\n" in run.out
    assert run.out.partition("\n\n")[0].endswith("\nSession marker: S1")


@pytest.mark.parametrize("option", ["--stub", "--write-stub", "--stub=1", "--stub=yes"])
def test_a_stub_is_made_with_its_folders(repo: Path, run: Script, option: str) -> None:
    assert run("capsule_prompt", option) == 0
    head, _, prompt = run.out.partition("\n\n")
    assert head.endswith(f"Target file: {TARGET}\nCapsule stub created.")
    assert prompt.startswith("You are the main agent")
    assert tree() == {str(TARGET)}


@pytest.mark.parametrize("option", ["--stub=0", "--stub=no", "--stub="])
def test_no_is_no(repo: Path, run: Script, option: str) -> None:
    assert run("capsule_prompt", option) == 0
    assert tree() == set()


def test_a_second_stub_on_one_file_leaves_its_bytes(repo: Path, run: Script) -> None:
    assert run("capsule_prompt", "--stub", "--file=c.md") == 0
    before = Path("c.md").read_bytes(), Path("c.md").stat().st_ino
    assert run("capsule_prompt", "--stub", "--file=c.md", "--session=other") == 0
    assert (Path("c.md").read_bytes(), Path("c.md").stat().st_ino) == before
    assert "Capsule stub created." not in run.out and "You are the main agent" in run.out
    assert run.err == "capsule_prompt: c.md already exists; left unchanged\n"


def test_the_stub_is_front_matter_and_nine_sections(repo: Path, run: Script) -> None:
    run("capsule_prompt", "--stub", "--session=a: b", "--branch=feature/a+b@x#1")
    path = CAPSULES / f"feature/a-b-x-1/{STAMP}.md"
    lines = path.read_text(encoding="utf-8").split("\n")
    assert (lines[0], lines[7]) == ("---", "---")
    assert [line.partition(": ")[0] for line in lines[1:7]] == KEYS
    assert [line[2:] for line in lines if line.startswith("# ")] == HEADINGS
    assert frontmatter.load(str(path)).metadata == {
        "branch": "feature/a+b@x#1",
        "source_session": "a: b",
        "created_at": NOW,
        "primary_objective": "<the objective in one sentence>",
        "token_budget": 1200,
        "version": "0.1",
    }


def test_neither_notebook_is_there(repo: Path, run: Script) -> None:
    assert run("capsule_prompt") == 0
    assert run.out.count("(no file detected)") == 2


def test_outside_git_a_branch_is_needed_and_enough(sealed: Path, run: Script) -> None:
    assert run("capsule_prompt", "--stub") == 2
    assert (run.out, tree()) == ("", set())
    assert run.err == "capsule_prompt: branch: this is not a git repository: give branch=NAME\n"
    assert run("capsule_prompt", "--stub", "--branch=feature/demo") == 0
    assert tree() == {str(TARGET)}


def test_a_sub_directory_makes_no_difference_but_for_what_is_typed(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    lived_in(repo)
    Path("sub/dir").mkdir(parents=True)
    run("capsule_prompt")
    expected = run.out
    monkeypatch.chdir("sub/dir")
    assert run("capsule_prompt") == 0
    assert run.out == expected
    assert run("capsule_prompt", "--stub", "--file=here.md") == 0
    assert target(run.out) == Path("sub/dir/here.md")
    assert tree() == {"here.md"}


def test_the_root_can_be_given(repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = repo.parent / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setenv("CONTEXT_ROOT", str(elsewhere))
    assert run("capsule_prompt", "--stub") == 0
    assert (elsewhere / TARGET).is_file() and tree() == set()
    assert "first commit" in run.out


def test_a_budget_is_in_front_matter_requirement_and_gate(repo: Path, run: Script) -> None:
    assert run("capsule_prompt", "--tokens=800") == 0
    assert "token_budget: 800\n" in run.out
    assert "- Budget: 800 tokens, about 3,000 characters" in run.out
    gate = run.out.partition("# Quality gate")[2].partition("# Outline")[0]
    assert "fits in 800 tokens" in gate and "1200" not in run.out


def test_the_budget_of_the_settings_counts_where_none_is_given(repo: Path, run: Script) -> None:
    put(Path("contextkit.yaml"), "capsule_max_tokens: 900\n")
    run("capsule_prompt")
    assert "token_budget: 900\n" in run.out


@each("given", ["abc", "0", "-5", "1.5", "٣", " "])
def test_a_budget_that_is_no_number_is_refused(repo: Path, run: Script, given: str) -> None:
    assert run("capsule_prompt", "--stub", f"--tokens={given}") == 2
    assert (run.out, tree()) == ("", set())
    assert run.err == f"capsule_prompt: tokens={given}: must be a whole number from 1\n"


def test_the_version_is_in_prompt_and_stub(repo: Path, run: Script) -> None:
    run("capsule_prompt", "--stub", "--version=0.2")
    assert 'version: "0.2"\n' in run.out
    assert frontmatter.load(str(TARGET))["version"] == "0.2"


def test_a_version_that_could_not_be_saved_is_refused(repo: Path, run: Script) -> None:
    assert run("capsule_prompt", "--stub", "--version=2.0") == 2
    assert run.out == "" and tree() == set()
    assert "front matter: written by a newer contextkit (format 2.0, this one reads 1)" in run.err


def test_a_reminder_is_quoted_once(repo: Path, run: Script) -> None:
    remind("Outline onboarding UX spike")
    run("capsule_prompt")
    assert run.out.count("Outline onboarding UX spike") == 1
    assert f"`make reminder_done id=<its id> into={TARGET}`" in run.out


@pytest.mark.parametrize("text", ["", "# Remember later\n\nNotes that should reappear.\n", None])
def test_without_an_entry_nothing_is_quoted(repo: Path, run: Script, text: str | None) -> None:
    if text is not None:
        put(INBOX, text)
    assert run("capsule_prompt") == 0
    assert f"`{INBOX}` (0 open)" in run.out
    assert "Open reminders" not in run.out and "reminder_done" not in run.out
    assert "should reappear" not in run.out


def test_another_inbox_is_used_and_named(repo: Path, run: Script) -> None:
    remind("in the usual one")
    put(Path("other.md"), "## 2025-10-22 10:00:00 UTC\n- **Note:** in the other one\n")
    assert run("capsule_prompt", "--reminders=other.md") == 0
    assert "`other.md` (1 open)" in run.out
    assert "in the other one" in run.out and "in the usual one" not in run.out


def test_one_time_is_in_prompt_stub_and_file_name(repo: Path, run: Script) -> None:
    run("capsule_prompt", "--stub")
    (said,) = re.findall(r'^created_at: "(.*)"$', run.out, re.M)
    stub = target(run.out)
    assert frontmatter.load(str(stub))["created_at"] == said == NOW
    assert stub.stem == said.replace("-", "").replace(":", "")


@pytest.mark.parametrize(
    ("file", "complaint"),
    [
        ("docs", "file: docs is a folder: name a file in it"),
        (".", "lies outside"),
        ("../outside.md", "lies outside"),
        ("/outside.md", "lies outside"),
        ("linked/c.md", "lies outside"),
        ("dangling.md", "lies outside"),
        ("-", "file: name the file"),
    ],
)
@pytest.mark.parametrize("stub", ["--stub", "--stub=0"])
def test_a_file_where_none_can_be_is_refused(
    repo: Path, run: Script, file: str, complaint: str, stub: str
) -> None:
    Path("docs").mkdir()
    (repo.parent / "elsewhere").mkdir()
    Path("linked").symlink_to(repo.parent / "elsewhere")
    Path("dangling.md").symlink_to(repo.parent / "elsewhere/gone.md")
    assert run("capsule_prompt", stub, f"--file={file}") == 2
    assert run.out == "" and complaint in run.err
    assert tree() == set() and not list((repo.parent / "elsewhere").iterdir())


def test_a_link_that_stays_inside_is_followed(repo: Path, run: Script) -> None:
    Path("real").mkdir()
    Path("linked").symlink_to("real")
    assert run("capsule_prompt", "--stub", "--capsule-path=linked/c.md") == 0
    assert target(run.out) == Path("real/c.md") and Path("real/c.md").is_file()


def test_a_file_in_the_way_of_a_folder_is_said(repo: Path, run: Script) -> None:
    put(Path("parallelus"), "a file")
    assert run("capsule_prompt", "--stub") == 1
    assert run.out == "" and "a file is in the way of this folder" in run.err


def test_stubs_of_one_second_each_have_a_file_of_their_own(repo: Path) -> None:
    running = [start("capsule_prompt.py", "--stub") for _ in range(10)]
    found = set()
    for process in running:
        out, err = process.communicate(timeout=300)
        assert (process.returncode, err) == (0, "")
        assert "\nCapsule stub created.\n" in out
        (said,) = re.findall(r'^created_at: "(.*)"$', out, re.M)
        assert frontmatter.load(str(target(out)))["created_at"] == said
        assert f"file={target(out)}`" in out
        found.add(str(target(out)))
    assert len(found) == 10 and found == tree()


def test_a_reader_that_stops_early_is_no_error(repo: Path) -> None:
    lived_in(repo)
    with subprocess.Popen(
        [sys.executable, str(SCRIPTS / "capsule_prompt.py")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout and process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_an_ascii_terminal_gets_utf_8(repo: Path) -> None:
    put(NOTEBOOKS / "PLAN.md", "## Über\n≈ 字\n")
    process = start("capsule_prompt.py", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    out, err = process.communicate(timeout=300)
    assert (process.returncode, err) == (0, "")
    assert "## Über\n≈ 字\n" in out

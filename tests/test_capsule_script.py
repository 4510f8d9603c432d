"""capsule.py save: an agent's reply on standard input, checked and kept."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import capsule
import pytest
from conftest import NOW, Script
from contextkit import tokens
from contextkit.capsules import SECTIONS
from test_capsule_prompt_script import CAPSULES, STAMP, TARGET, target, tree
from test_capsules import finished


def kept() -> set[str]:
    """The files written, but for locks."""
    return {path for path in tree() if not path.startswith(".contextkit/")}


def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


def test_a_reply_is_kept_under_its_branch_and_time(repo: Path, run: Script) -> None:
    assert run("capsule", "save", stdin=finished()) == 0
    assert run.out == f"{TARGET}\n"
    assert text_of(TARGET) == finished()
    size = tokens.estimate(finished())
    assert run.err == f"capsule: ~{size} tokens of 1200\n"
    assert kept() == {str(TARGET)}


def test_the_place_is_the_one_that_the_prompt_named(repo: Path, run: Script) -> None:
    run("capsule_prompt", "--stub", "--branch=feature/a+b", "--session=S1")
    named = target(run.out)
    reply = re.sub(r"<[^<>\n]+>", "done", text_of(named))
    assert f'created_at: "{NOW}"' in reply
    assert run("capsule", "save", stdin=reply) == 0
    assert run.out == f"{named}\n"
    assert text_of(named) == reply and kept() == {str(named)}


@pytest.mark.parametrize(
    "wrap", ["```markdown\n{}```\n", "\ufeff{}", "\n{}\n\n", "````\n{}\n````", "\ufeff```md\n{}```"]
)
def test_fence_mark_and_line_ends_are_taken_off(repo: Path, run: Script, wrap: str) -> None:
    for reply in (wrap.format(finished()), wrap.format(finished()).replace("\n", "\r\n")):
        assert run("capsule", "save", "--overwrite", stdin=reply) == 0
        assert text_of(TARGET) == finished()


@pytest.mark.parametrize(
    ("reply", "complaint"),
    [
        ("", "standard input is empty"),
        (" \n\n", "standard input is empty"),
        ("```\n```", "standard input is empty"),
        ("Here it is:\n" + finished(), "no front matter: the first line must be `---`"),
        (finished().replace("\n---\n", "\n", 1), "the front matter has no closing `---`"),
        (finished().replace("source_session: S1\n", ""), "source_session is missing"),
        (finished().replace(f"# {SECTIONS[5]}", "#"), f"the section `# {SECTIONS[5]}` is missing"),
        (finished().replace("- [ ] done (", "- [ ] <action> ("), "the placeholder <action> is"),
        (finished().replace("1200", "100"), "more than its budget of 100: shorten it"),
        (finished().replace('"0.1"', '"7.0"'), "newer than this tool"),
    ],
)
def test_a_reply_that_is_no_finished_capsule_is_refused(
    repo: Path, run: Script, reply: str, complaint: str
) -> None:
    assert run("capsule", "save", stdin=reply) == 2
    assert run.out == "" and complaint in run.err
    assert tree() == set()


def test_every_problem_is_named_with_its_line(repo: Path, run: Script) -> None:
    reply = finished().replace("# Knowledge Base\n", "# Knowledge\n<action> and <risk>\n")
    line = reply.split("\n").index("<action> and <risk>") + 1
    assert run("capsule", "save", stdin=reply) == 2
    assert run.err.splitlines() == [
        "capsule: reply: the section `# Knowledge Base` is missing",
        f"capsule: reply:{line}: the placeholder <action> is still there",
        f"capsule: reply:{line}: the placeholder <risk> is still there",
        "capsule: nothing was written",
    ]


def test_a_capsule_a_little_above_its_budget_is_kept_with_a_warning(
    repo: Path, run: Script
) -> None:
    size = tokens.estimate(finished())
    reply = finished().replace("1200", str(size - 20))
    assert run("capsule", "save", stdin=reply) == 0
    assert run.err.rstrip().endswith(f"of {size - 20}: above the budget")
    assert kept() == {str(TARGET)}


def test_a_capsule_of_another_branch_is_refused_where_one_is_named(repo: Path, run: Script) -> None:
    assert run("capsule", "save", "--branch=feature/other", stdin=finished()) == 2
    assert run.out == "" and tree() == set()
    assert run.err == "capsule: branch=feature/other: the capsule says 'feature/demo'\n"
    assert run("capsule", "save", "--branch=feature/demo", stdin=finished()) == 0


def test_the_same_reply_again_changes_nothing(repo: Path, run: Script) -> None:
    run("capsule", "save", stdin=finished())
    before = TARGET.stat().st_ino
    assert run("capsule", "save", stdin=f"```\n{finished()}```") == 0
    assert run.out == f"{TARGET}\n" and TARGET.stat().st_ino == before
    assert kept() == {str(TARGET)}


def test_another_finished_capsule_is_left_and_the_new_one_numbered(repo: Path, run: Script) -> None:
    run("capsule", "save", stdin=finished(said="first"))
    beside = CAPSULES / f"feature/demo/{STAMP}-2.md"
    for _ in range(2):
        assert run("capsule", "save", stdin=finished(said="second")) == 0
        assert run.out == f"{beside}\n"
        assert f"{TARGET} is there already and no stub: saved beside it" in run.err
    assert text_of(TARGET) == finished(said="first")
    assert text_of(beside) == finished(said="second")
    assert kept() == {str(TARGET), str(beside)}


def test_overwrite_replaces_a_finished_capsule(repo: Path, run: Script) -> None:
    run("capsule", "save", stdin=finished(said="first"))
    assert run("capsule", "save", "--overwrite=1", stdin=finished(said="second")) == 0
    assert run.out == f"{TARGET}\n" and text_of(TARGET) == finished(said="second")
    assert kept() == {str(TARGET)}


def test_a_file_can_be_named(repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("sub").mkdir()
    monkeypatch.chdir("sub")
    assert run("capsule", "save", "--file=deep/er/c.md", stdin=finished()) == 0
    assert run.out == "sub/deep/er/c.md\n" and text_of(Path("deep/er/c.md")) == finished()


@pytest.mark.parametrize(
    ("file", "complaint"),
    [("docs", "is a folder"), ("../c.md", "lies outside"), ("-", "file: name the file")],
)
def test_a_file_where_none_can_be_is_refused(
    repo: Path, run: Script, file: str, complaint: str
) -> None:
    Path("docs").mkdir()
    assert run("capsule", "save", f"--file={file}", stdin=finished()) == 2
    assert run.out == "" and complaint in run.err
    assert tree() == set()


def test_a_file_that_is_no_capsule_is_left(repo: Path, run: Script) -> None:
    Path("notes.md").write_text("ask <who>\n", encoding="utf-8")
    assert run("capsule", "save", "--file=notes.md", stdin=finished()) == 0
    assert run.out == "notes-2.md\n" and text_of(Path("notes.md")) == "ask <who>\n"


def test_input_that_is_not_utf_8_is_refused(repo: Path, run: Script) -> None:
    path = Path("reply")
    path.write_bytes(b"---\n\xff")
    with path.open(encoding="utf-8") as file, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", file)
        assert capsule.main(["save"]) == 2
    assert tree() == {"reply"}


def test_without_a_pipe_it_says_how_to_call_it(
    repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert capsule.main(["save"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and "pipe the agent's reply in" in said.err

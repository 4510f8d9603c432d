"""capsule.py save: an agent's reply on standard input, checked and kept."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import capsule
import planted
import pytest
from conftest import NOW, Script, each, git, trusted
from contextkit.base import tokens
from contextkit.base.layout import Layout
from contextkit.capsules.documents.store import SECTIONS
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
    assert run("capsule", "check", "--seal") == 0
    run("capsule", "list")
    assert f"  ~{size} " in run.out
    run("context", "status", "--all")
    assert f": finished, ~{size} tokens" in run.out


def test_the_place_is_the_one_that_the_prompt_named(repo: Path, run: Script) -> None:
    run("capsule_prompt", "--stub", "--branch=feature/a+b", "--session=S1")
    named = target(run.out)
    reply = re.sub(r"<[^<>\n]+>", "done", text_of(named))
    assert f'created_at: "{NOW}"' in reply
    assert run("capsule", "save", stdin=reply) == 0
    assert run.out == f"{named}\n"
    assert text_of(named) == reply and kept() == {str(named)}


@each(
    ("reply", "complaint"),
    [
        ("", "standard input is empty"),
        (" \n\n", "standard input is empty"),
        ("```\n```", "standard input is empty"),
        ("Here it is: nothing.\n", "no front matter: the first line must be `---`"),
        (finished().replace("\n---\n", "\n", 1), "the front matter has no closing `---`"),
        (finished().replace("source_session: S1\n", ""), "source_session is missing"),
        (finished().replace(f"# {SECTIONS[5]}", "#"), f"the section `# {SECTIONS[5]}` is missing"),
        (finished().replace("- [ ] done (", "- [ ] <action> ("), "the placeholder <action> is"),
        (finished().replace("1200", "100"), "more than its budget of 100: shorten it"),
        (
            finished().replace('"0.1"', '"7.0"'),
            "newer contextkit (format 7.0, this one reads 1): upgrade with `make upgrade`",
        ),
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


def test_a_line_is_that_of_the_reply_with_what_stands_above_the_capsule(
    repo: Path, run: Script
) -> None:
    reply = "Here it is:\n\n" + finished().replace("done (", "<action> (", 1)
    line = next(at for at, text in enumerate(reply.split("\n"), 1) if "<action>" in text)
    assert run("capsule", "save", stdin=reply) == 2
    assert f"reply:{line}: the placeholder <action> is still there" in run.err


def test_a_capsule_of_another_branch_is_kept_with_a_word(repo: Path, run: Script) -> None:
    assert run("capsule", "save", stdin=finished()) == 0 and "this is" not in run.err
    git("checkout", "-qb", "feature/tax")
    assert run("capsule", "save", stdin=finished()) == 0
    assert "the capsule is of feature/demo; this is feature/tax" in run.err
    assert run("capsule", "save", "--branch=feature/demo", stdin=finished()) == 0
    assert "this is" not in run.err


def test_a_capsule_a_little_above_its_budget_is_kept_with_a_warning(
    repo: Path, run: Script
) -> None:
    size = tokens.estimate(finished())
    reply = finished().replace("1200", str(size - 20))
    assert run("capsule", "save", stdin=reply) == 0
    assert run.err.rstrip().endswith(f"of {size - 20}: above the budget")
    assert kept() == {str(TARGET)}


def test_what_a_kept_capsule_lacks_all_the_same_is_told(repo: Path, run: Script) -> None:
    reply = finished().partition("# Consistency Checklist")[0]
    assert run("capsule", "save", stdin=reply) == 0 and run.out == f"{TARGET}\n"
    assert "capsule: reply: the section `# Consistency Checklist` is missing\n" in run.err


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


@pytest.mark.parametrize("frame", ["{}", "```markdown\n{}```", "```\n{}```\n\nTell me if it fits!"])
def test_friendly_sentences_around_a_capsule_are_not_part_of_it(
    repo: Path, run: Script, frame: str
) -> None:
    reply = "Sure! Here is the capsule:\n\n" + frame.format(finished())
    assert run("capsule", "save", stdin=reply) == 0
    assert text_of(TARGET) == finished()


def test_a_reply_that_refers_to_what_does_not_exist_is_refused(repo: Path, run: Script) -> None:
    knows = "# Knowledge Base\n- `src/gone.py:7` as of (0a1b2c3)\n"
    reply = finished().replace("# Knowledge Base\n", knows)
    assert run("capsule", "save", stdin=reply) == 2
    assert "there is no src/gone.py here" in run.err and "no commit 0a1b2c3 here" in run.err
    assert tree() == set()


def test_another_finished_capsule_is_left_and_the_new_one_numbered(repo: Path, run: Script) -> None:
    run("capsule", "save", stdin=finished(said="first"))
    beside = CAPSULES / f"feature/demo/{STAMP}-2.md"
    for _ in range(2):
        assert run("capsule", "save", stdin=finished(said="second")) == 0
        assert run.out == f"{beside}\n"
        assert f"{TARGET} already exists and is not a stub: saved next to it" in run.err
    assert text_of(TARGET) == finished(said="first")
    assert text_of(beside) == finished(said="second")
    assert kept() == {str(TARGET), str(beside)}


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


# Secrets

TOKEN = planted.secrets()["github-classic"][".env"].partition("=")[2]


def leaky() -> str:
    return finished().replace("**Current status:** done", f"**Current status:** {TOKEN}")


def test_a_reply_with_a_secret_is_refused_by_kind_and_line(repo: Path, run: Script) -> None:
    line = leaky().split("\n").index(f"- **Current status:** {TOKEN}") + 1
    assert run("capsule", "save", stdin=leaky()) == 2
    assert run.out == "" and tree() == set() and TOKEN[4:12] not in run.err
    assert f"reply:{line}: looks like a secret (github-token)" in run.err


def test_redact_takes_it_out_and_the_allow_list_lets_it_in(repo: Path, run: Script) -> None:
    assert run("capsule", "save", "--redact", stdin=leaky()) == 0
    assert "**Current status:** (redacted github-token)" in text_of(TARGET)
    assert run.err.startswith("capsule: redacted: 1 github-token\n")
    trusted("secrets_allow:\n  - github-token\n")
    assert run("capsule", "save", "--overwrite", stdin=leaky()) == 0
    assert text_of(TARGET) == leaky()


def test_show_and_check_never_print_a_secret(repo: Path, run: Script) -> None:
    TARGET.parent.mkdir(parents=True)
    TARGET.write_text(leaky(), encoding="utf-8")
    for call in (["show"], ["show", "--json"], ["check"], ["check", "--json"], ["list"]):
        run("capsule", *call)
        assert TOKEN[4:12] not in run.out + run.err
    assert run("capsule", "check", "--seal") == 1 and "not sealed" in run.err
    assert text_of(TARGET) == leaky()
    assert run("capsule", "check", "--redact") == 0
    assert text_of(TARGET) == leaky().replace(TOKEN, "(redacted github-token)")


def test_a_reminder_with_a_secret_is_refused_or_redacted(repo: Path, run: Script) -> None:
    for option in ("--message", "--topic", "--next-step", "--tag"):
        given = ["--message=x"] if option != "--message" else []
        assert run("remember_later", *given, f"{option}={TOKEN}") == 2
        assert run.out == "" and TOKEN[4:12] not in run.err and tree() == set()
    assert run("remember_later", f"--message={TOKEN}", "--redact") == 0
    run("remember_later", "list")
    assert "(redacted github-token)" in run.out


def test_what_the_prompt_quotes_carries_no_secret(repo: Path, run: Script) -> None:
    notebook = Path("docs/branches/feature-demo/PLAN.md")
    notebook.parent.mkdir(parents=True)
    notebook.write_text(f"## 2025-10-20 10:00:00 UTC\n- uses {TOKEN}\n", encoding="utf-8")
    git("commit", "-q", "--allow-empty", "-m", f"Rotate {TOKEN}")
    assert run("capsule_prompt") == 0
    assert TOKEN[4:12] not in run.out and run.out.count("(redacted github-token)") == 2


# Latest, list, show, check, prune


def test_the_whole_life_of_a_capsule(repo: Path, run: Script) -> None:
    assert run("capsule", "latest") == 1 and "no finished capsule of feature/demo" in run.err
    assert run("capsule", "list") == 0 and run.out == "No capsules of feature/demo.\n"
    run("capsule_prompt", "--stub", "--workstream=ui")
    assert "workstream: ui" in text_of(TARGET) or 'workstream: "ui"' in text_of(TARGET)
    reply = re.sub(r"<[^<>\n]+>", "done", text_of(TARGET))
    assert run("capsule", "save", stdin=reply) == 0
    for call in (["latest"], ["latest", "--workstream=ui"], ["latest", "--branch=feature/demo"]):
        assert run("capsule", *call) == 0 and run.out == f"{TARGET}\n"
    assert run("capsule", "latest", "--workstream=db") == 1
    run("capsule", "list", "--json")
    (row,) = json.loads(run.out)
    assert row["id"] == str(TARGET) and row["state"] == "finished" and row["workstream"] == "ui"
    run("capsule", "list", "--all")
    assert run.out.splitlines()[1].split()[:2] == [str(TARGET), "finished"]
    assert run("capsule", "check", "--seal") == 0
    assert run.out == "" and run.err == f"capsule: {TARGET} is sealed\n"
    assert run("capsule", "check", "--seal") == 0 and run.err.endswith("is sealed already\n")
    assert run("capsule", "prune") == 0 and run.out == "" and TARGET.exists()


def test_show_gives_the_body_and_says_what_changed(repo: Path, run: Script) -> None:
    Path("app.py").write_text("x = 1\n", encoding="utf-8")
    reply = finished().replace("Files and documents: done", "Files and documents: app.py")
    run("capsule", "save", stdin=reply)
    run("capsule", "check", "--seal")
    body = reply.split("\n---\n", 1)[1]
    assert run("capsule", "show", f"--file={TARGET}") == 0
    assert run.out == body and run.err == "capsule: fresh: 1 of 1 references\n"
    Path("app.py").write_text("x = 2\n", encoding="utf-8")
    run("capsule", "show")
    assert run.out == body and run.err.splitlines() == [
        "capsule: stale: Changed since it was sealed: app.py (changed)",
        "capsule: changed: app.py",
        "capsule: fresh: 0 of 1 references",
    ]
    run("capsule", "show", "--max-tokens=100", "--json")
    shown = json.loads(run.out)
    assert tokens.size(shown["body"]) <= 100 and shown["trimmed"]
    assert shown["references"] == [{"path": "app.py", "state": "changed"}]
    run("capsule", "show", "--max-tokens=100")
    assert "capsule: trimmed: Knowledge Base: 2 of 2 items" in run.err.splitlines()


def test_a_stub_is_not_shown(repo: Path, run: Script) -> None:
    run("capsule_prompt", "--stub")
    assert run("capsule", "show", f"--file={TARGET}") == 2 and "is a stub" in run.err
    assert run("capsule", "check", f"--file={TARGET}") == 1 and "error: the placeholder" in run.out
    assert run("capsule", "check", "--file=gone.md") == 2 and run.out == ""


def test_prune_tells_what_went_and_a_dry_run_that_nothing_did(repo: Path, run: Script) -> None:
    for said in ("first", "second"):
        run("capsule", "save", stdin=finished(said=said))
    assert run("capsule", "prune", "--keep=1", "--dry-run") == 0
    assert run.out == f"{TARGET}  superseded\n" and TARGET.exists()
    run("capsule", "prune", "--keep=1", "--json")
    assert json.loads(run.out) == [{"id": str(TARGET), "why": "superseded"}]
    assert not TARGET.exists() and (CAPSULES / f"feature/demo/{STAMP}-2.md").exists()


def test_gaps_that_subagents_reported_are_in_the_next_prompt(
    repo: Path, layout: Layout, run: Script
) -> None:
    row = {
        "id": "20251023-180600-ui",
        "source_branch": "feature/demo",
        "launched_at": "20251023-180600",
        "capsule_gaps": ["which database is meant?"],
    }
    registry = Path(layout.join(layout.places.registry))
    registry.parent.mkdir(parents=True)
    registry.write_text(json.dumps([row]), encoding="utf-8")
    run("capsule_prompt")
    assert "which database is meant? (20251023-180600-ui)" in run.out
    run("capsule_prompt", "--branch=feature/other")
    assert "which database" not in run.out


@pytest.mark.parametrize(
    "link", ["parallelus/manuals/capsules", "parallelus/manuals/capsules/feature"]
)
def test_a_store_that_is_a_link_out_of_the_root_is_neither_read_nor_pruned(
    repo: Path, run: Script, tmp_path: Path, link: str
) -> None:
    outside = tmp_path / "outside"
    TARGET.parent.mkdir(parents=True)
    TARGET.write_text(finished(), encoding="utf-8")
    os.rename(link, outside)
    os.symlink(outside, link)
    before = sorted(outside.rglob("*"))
    for call in (("list",), ("latest",), ("show",), ("check",)):
        assert run("capsule", *call) != 0 and "lies outside" in run.err
    run("capsule", "prune", "--keep=1", "--older-than=1h")
    assert sorted(outside.rglob("*")) == before


def test_a_file_outside_the_repository_is_checked_and_never_changed(
    repo: Path, run: Script, tmp_path: Path
) -> None:
    outside = tmp_path / "capsule.md"
    text = finished().replace("token_budget: 1200", "token_budget: many")
    outside.write_text(text, encoding="utf-8")
    assert run("capsule", "check", f"--file={outside}") == 1
    number = text.split("\n").index("token_budget: many") + 1
    assert f"capsule.md:{number}: error: " in run.out
    outside.write_text(finished() + "\n- the digest 3f2a91c7d0 stands\n", encoding="utf-8")
    assert run("capsule", "check", f"--file={outside}") == 0, run.out
    assert "3f2a91c7d0" not in run.out
    for how in ("--seal", "--redact"):
        assert run("capsule", "check", f"--file={outside}", how) == 2

"""make adopt and unadopt: what goes into a host, what never does, and how all of it comes out."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from checkouts import READY, REAL_PYTHON, executable, make
from conftest import CHECKOUT, Script, each, git
from contextkit.base import makefiles, names, tokens, version
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.settings import Limits, Places
from contextkit.base.version import VERSION
from contextkit.hosts.documents import vendored
from contextkit.hosts.flows import adoption, changes, doctor
from contextkit.hosts.flows.changes import Plan
from growth import looks
from hypothesis import given
from hypothesis import strategies as st

BOTH = ("claude", "codex")
FOLDER = "tools/contextkit"
SMALL = {
    "Makefile": (b"ours:\n", False),
    "scripts/hook.sh": (b"#!/bin/sh\n", True),
    "scripts/contextkit/names.py": (b"x = 1\n", False),
}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[bytes, bool]]:
    """A toolkit of three files, so that a test is about the host."""
    found = dict(SMALL)
    monkeypatch.setattr(vendored, "toolkit_files", lambda: dict(found))
    return found


@pytest.fixture
def host(repo: Path) -> Path:
    """A repository with a Makefile, settings and instructions of its own."""
    (repo / "Makefile").write_text("all:\n\techo mine", encoding="utf-8")
    (repo / ".claude").mkdir()
    text = '{\n    "model": "opus",\n    "hooks": {\n        "Stop": []\n    }\n}'
    (repo / ".claude" / "settings.json").write_text(text, encoding="utf-8")
    (repo / "AGENTS.md").write_bytes(b"# Rules\r\n\r\nBe kind.\r\n")
    (repo / "docs").mkdir()
    (repo / "docs" / "PLAN.md").write_text("# Plan\n", encoding="utf-8")
    return repo


def tree(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file but git's: its content and its mode; folders too."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if ".git" not in path.relative_to(folder).parts[:1]:
            data = path.read_bytes() if path.is_file() else b""
            found[str(path.relative_to(folder))] = (data, path.stat().st_mode)
    return found


def adopt(into: Path, *names: str, folder: str = FOLDER, link: bool = False) -> Plan:
    plan = adoption.adopt(str(into), folder, names or BOTH, link, copy=not link)
    changes.carry_out(plan)
    return plan


def unadopt(into: Path, *names: str, link: bool = False) -> Plan:
    plan = adoption.unadopt(str(into), FOLDER, names, link)
    changes.carry_out(plan)
    return plan


def settings(folder: Path, name: str = ".claude/settings.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / name).read_text(encoding="utf-8"))
    return found


# In and out again


def test_adopt_then_unadopt_gives_everything_back_to_the_byte(small: Any, host: Path) -> None:
    before = tree(host)
    adopt(host)
    assert {FOLDER + "/Makefile", "contextkit.yaml", ".codex/hooks.json"} <= set(tree(host))
    unadopt(host)
    assert tree(host) == before


makefile_texts = st.lists(st.sampled_from(["", "all:", "\techo hi", "include x.mk", "# \u00e4"]))
texts = st.builds(
    lambda lines, end, last: (end.join(lines) + end * (last and bool(lines))).encode(),
    makefile_texts, st.sampled_from(["\n", "\r\n"]), st.booleans(),
)  # fmt: skip
configs = st.sampled_from(
    [b"{}", b"{ }\n", b'{"hooks": {"Stop": [ ]}}', b'{\r\n\t"hooks": {}\r\n}', b"", b"\n",
     b'{\n "a": 1e5,\n "hooks": {"Stop": [{"hooks": []}]}\n}\n']
)  # fmt: skip


@given(
    files=st.fixed_dictionaries(
        {},
        optional={
            "Makefile": texts, "GNUmakefile": texts, "AGENTS.md": texts, "CLAUDE.md": texts,
            ".claude/settings.json": configs, ".codex/hooks.json": configs,
            "contextkit.yaml": st.just(b"# mine\n"), ".agents/skills/contextkit/SKILL.md": texts,
        },
    )
)  # fmt: skip
def test_whatever_a_host_has_comes_back_to_the_byte(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes]
) -> None:
    folder = tmp_path_factory.mktemp("host")
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    before = tree(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vendored, "toolkit_files", lambda: {"Makefile": (b"ours:\n", False)})
        adopt(folder)
        once = tree(folder)
        assert adoption.adopt(str(folder), FOLDER, BOTH).changes == ()
        assert adopt(folder).changes == () and tree(folder) == once
        unadopt(folder)
    assert tree(folder) == before


def test_a_folder_whose_name_begins_like_our_state_is_a_copy_in_git(small: Any, host: Path) -> None:
    adopt(host, folder=".contextkit-copy")
    assert not (host / ".contextkit-copy" / ".gitignore").exists()
    git("add", "-A")
    assert ".contextkit-copy/.adopted.json" in git("status", "--short")


def test_a_folder_that_a_newer_toolkit_lacks_goes_with_its_byte_code(
    small: dict[str, tuple[bytes, bool]], host: Path
) -> None:
    small["scripts/contextkit/old/flows/x.py"] = (b"x = 1\n", False)
    adopt(host)
    old = host / FOLDER / "scripts" / "contextkit" / "old"
    for folder in (old, old / "flows"):
        (folder / "__pycache__").mkdir()
        (folder / "__pycache__" / "x.cpython-311.pyc").touch()
    del small["scripts/contextkit/old/flows/x.py"]
    adopt(host)
    assert not old.exists() and (old.parent / "names.py").exists()


def test_what_was_written_since_stays(small: Any, host: Path) -> None:
    adopt(host)
    with (host / "CLAUDE.md").open("a", encoding="utf-8") as file:
        file.write("mine\n")
    (host / "shared" / "payloads").mkdir(parents=True)
    (host / "shared" / "payloads" / "README.md").write_text("documents", encoding="utf-8")
    unadopt(host)
    assert (host / "CLAUDE.md").read_text(encoding="utf-8") == "mine\n"
    assert (host / "shared" / "payloads" / "README.md").exists()


def test_one_host_can_be_taken_out_alone(small: Any, host: Path) -> None:
    adopt(host)
    unadopt(host, "codex")
    assert not (host / ".codex").exists() or not list((host / ".codex").iterdir())
    assert not (host / ".agents" / "skills" / "contextkit" / "SKILL.md").exists()
    assert (host / ".claude" / "skills" / "contextkit" / "SKILL.md").exists()
    assert "contextkit" not in (host / "AGENTS.md").read_text(encoding="utf-8")
    unadopt(host, "claude")
    assert (host / "AGENTS.md").read_bytes() == b"# Rules\r\n\r\nBe kind.\r\n"
    assert not (host / "tools").exists()


def test_taking_out_what_is_not_in_is_said(host: Path) -> None:
    with pytest.raises(ContextError, match="was not adopted here"):
        adoption.unadopt(str(host), FOLDER, (), False)


@pytest.mark.parametrize(
    "change",
    [
        {"files": {"../x": ["0"]}},
        {"made": ["/tmp/x/"]},
        {"texts": {".claude/settings.json": ["{}"]}},
        {"version": 2},
    ],
)
def test_a_record_that_leads_somewhere_else_is_refused(
    small: Any, host: Path, run: Script, change: dict[str, object]
) -> None:
    adopt(host)
    record = host / FOLDER / vendored.RECORD
    found = json.loads(record.read_text(encoding="utf-8"))
    record.write_text(json.dumps(found | change), encoding="utf-8")
    before = tree(host)
    for command in ("adopt", "unadopt"):
        assert run("adopt", command, f"--into={host}") in (1, 2)
    assert tree(host) == before


# Upgrades


def test_an_upgrade_replaces_ours_keeps_edits_aside_and_removes_what_is_no_more(
    small: Any, host: Path
) -> None:
    adopt(host)
    names = host / FOLDER / "scripts" / "contextkit" / "names.py"
    names.write_text("x = 'mine'\n", encoding="utf-8")
    small["scripts/contextkit/names.py"] = (b"x = 2\n", False)
    small["Makefile"] = (b"newer:\n", False)
    del small["scripts/hook.sh"]
    small["scripts/new.py"] = (b"", False)
    plan = adopt(host)
    assert names.read_text(encoding="utf-8") == "x = 2\n"
    assert names.with_name("names.py.edited").read_text(encoding="utf-8") == "x = 'mine'\n"
    assert any("names.py: was edited: your text is kept" in note for note in plan.notes)
    assert (host / FOLDER / "Makefile").read_bytes() == b"newer:\n"
    assert not (host / FOLDER / "scripts" / "hook.sh").exists()
    assert (host / FOLDER / "scripts" / "new.py").exists()
    unadopt(host)
    assert names.with_name("names.py.edited").exists() and not names.exists()


def test_a_copy_somewhere_else_is_found_again(small: Any, host: Path, run: Script) -> None:
    """By the Makefile's line: neither a second copy nor one that is left over."""
    before = tree(host)
    assert run("adopt", "--into=.", "--copy", "--dir=vendor/ck") == 0
    small["scripts/contextkit/names.py"] = (b"x = 2\n", False)
    assert run("adopt", "--into=.", "--copy") == 0 and "contextkit's own: 1 changed" in run.out
    assert run("adopt", "unadopt", "--into=.") == 0
    assert tree(host) == before


def test_a_copy_that_is_run_itself_is_the_one_that_is_meant(
    small: Any, host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adopt(host, folder="vendor/ck")
    (host / "Makefile").unlink()
    assert adoption.record_of(str(host)).folder == FOLDER
    monkeypatch.setattr(version, "TOOLKIT", str(host / "vendor" / "ck"))
    assert adoption.record_of(str(host)).folder == "vendor/ck"
    assert adoption.record_of(str(host / "vendor")).folder == FOLDER  # it was adopted for another


def test_an_upgrade_keeps_the_hosts_that_were_chosen(small: Any, host: Path, run: Script) -> None:
    assert run("adopt", f"--into={host}", "--copy", "--hosts=claude") == 0
    assert run("adopt", f"--into={host}", "--copy") == 0
    assert run.out == f"note: {FOLDER}: already has this version, {VERSION}\nnothing to do\n"
    assert not (host / ".codex").exists()


def test_a_skill_that_a_host_has_already_is_never_touched(small: Any, host: Path) -> None:
    skill = host / ".claude" / "skills" / "contextkit" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("mine", encoding="utf-8")
    plan = adopt(host)
    assert skill.read_text(encoding="utf-8") == "mine"
    assert (
        ".claude/skills/contextkit/SKILL.md: exists and is not contextkit's: left alone"
        in plan.notes
    )
    unadopt(host)
    assert skill.read_text(encoding="utf-8") == "mine"


def test_a_skill_that_was_edited_stays_and_is_said(small: Any, host: Path) -> None:
    adopt(host)
    skill = host / ".claude" / "skills" / "contextkit" / "SKILL.md"
    skill.write_text("mine", encoding="utf-8")
    for _ in range(2):
        plan = adopt(host)
        assert skill.read_text(encoding="utf-8") == "mine"
        assert not skill.with_name("SKILL.md.edited").exists()
        assert any("contextkit/SKILL.md: was edited: kept" in note for note in plan.notes)
    unadopt(host)
    assert skill.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("there", "said"),
    [
        ("0.1.0", f"0.1.0 becomes {VERSION}"),
        (VERSION, f"already has this version, {VERSION}"),
        ("99.0.0", f"has a newer version, 99.0.0: this replaces it with {VERSION}"),
        ("", f"a copy from before versions were recorded becomes {VERSION}"),
    ],
)
def test_adopting_over_a_copy_says_which_version_was_there(
    small: Any, host: Path, there: str, said: str
) -> None:
    adopt(host)
    record = host / FOLDER / vendored.RECORD
    found = json.loads(record.read_text(encoding="utf-8"))
    assert found["toolkit"] == VERSION
    record.write_text(json.dumps(found | {"toolkit": there}), encoding="utf-8")
    assert f"{FOLDER}: {said}" in adopt(host).notes
    assert json.loads(record.read_text(encoding="utf-8"))["toolkit"] == VERSION


def test_a_record_of_a_newer_format_asks_for_an_upgrade(
    small: Any, host: Path, run: Script
) -> None:
    adopt(host)
    record = host / FOLDER / vendored.RECORD
    found = json.loads(record.read_text(encoding="utf-8"))
    record.write_text(json.dumps(found | {"version": 2}), encoding="utf-8")
    assert run("adopt", f"--into={host}", "--copy") == 1
    assert "written by a newer contextkit (format 2, this one reads 1): upgrade" in run.err


def test_a_host_that_edited_its_settings_keeps_them(small: Any, host: Path) -> None:
    adopt(host)
    (host / "contextkit.yaml").write_text("payload_budget: 700\n", encoding="utf-8")
    plan = adopt(host)
    assert "contextkit.yaml: is yours: left alone" in plan.notes
    unadopt(host)
    assert (host / "contextkit.yaml").read_text(encoding="utf-8") == "payload_budget: 700\n"


def test_what_a_killed_run_had_begun_to_write_goes_with_the_next(small: Any, host: Path) -> None:
    before = tree(host)
    adopt(host)
    for name in (".Makefile.0123456789ab.tmp", f"{FOLDER}/scripts/.hook.sh.0123456789ab.tmp"):
        (host / name).touch()
    (host / ".mine.txt.0123456789ab.tmp").touch()
    (host / FOLDER / "scripts" / "hook.sh").chmod(0o644)
    assert adopt(host).changes == ()
    assert os.access(host / FOLDER / "scripts" / "hook.sh", os.X_OK)
    unadopt(host)
    (host / ".mine.txt.0123456789ab.tmp").unlink()
    assert tree(host) == before


def test_folders_are_looked_through_for_drafts_once_not_for_each_file(
    small: Any, host: Path
) -> None:
    small.update({f"scripts/part{number}.py": (b"", False) for number in range(30)})
    adopt(host)
    plan = adoption.adopt(str(host), FOLDER, BOTH, copy=True)
    assert looks(lambda: changes.carry_out(plan)) < 20


@pytest.mark.parametrize("again", ["adopt", "unadopt"])
def test_a_crash_anywhere_is_completed_by_the_next_run(
    small: Any, host: Path, again: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both ways, and in the middle of an upgrade; nothing is kept aside as if it were edited."""
    from contextkit.base import files

    before = tree(host)
    adopt(host)
    small["Makefile"] = (b"newer:\n", False)
    if again == "unadopt":
        adopt(host)
    after = tree(host)
    write, discard = files.write, files.discard
    for crash in range(60):
        left = [crash]

        def dying(*arguments: Any, left: list[int] = left, **more: Any) -> Any:
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            return write(*arguments, **more)

        def dying_discard(path: str, left: list[int] = left) -> None:
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            discard(path)

        monkeypatch.setattr(files, "write", dying)
        monkeypatch.setattr(files, "discard", dying_discard)
        try:
            adopt(host) if again == "adopt" else unadopt(host)
            break
        except KeyboardInterrupt:
            continue
    assert crash
    if again == "unadopt":
        assert tree(host) == before
    else:
        assert tree(host).keys() == after.keys()
        assert (host / FOLDER / "Makefile").read_bytes() == b"newer:\n"


# Odd hosts


@pytest.mark.parametrize("name", ["GNUmakefile", "makefile", "Makefile"])
def test_the_makefile_that_make_reads_gets_the_line(small: Any, repo: Path, name: str) -> None:
    (repo / name).write_text("all:\n", encoding="utf-8")
    (repo / "Makefile").touch()
    adopt(repo)
    assert f"include {FOLDER}/Makefile" in (repo / name).read_text(encoding="utf-8")
    others = {"GNUmakefile", "makefile", "Makefile"} - {name}
    assert all("contextkit" not in (repo / other).read_text(encoding="utf-8")
               for other in others if (repo / other).exists())  # fmt: skip


def test_a_makefile_that_includes_us_already_stays_as_it_is(small: Any, repo: Path) -> None:
    (repo / "Makefile").write_text("-include tools/contextkit/Makefile\n", encoding="utf-8")
    plan = adopt(repo)
    assert "Makefile: includes tools/contextkit/Makefile already" in plan.notes
    assert (repo / "Makefile").read_text(encoding="utf-8") == "-include tools/contextkit/Makefile\n"


def test_a_makefile_in_another_encoding_keeps_its_bytes(small: Any, repo: Path) -> None:
    (repo / "Makefile").write_bytes(b"# caf\xe9\nall:\n")
    adopt(repo)
    assert (repo / "Makefile").read_bytes().startswith(b"# caf\xe9\nall:\n\n# >>> contextkit")


def test_claude_reads_what_its_file_imports(small: Any, repo: Path) -> None:
    (repo / "CLAUDE.md").write_text("@AGENTS.md\n", encoding="utf-8")
    adopt(repo)
    assert (repo / "CLAUDE.md").read_text(encoding="utf-8") == "@AGENTS.md\n"
    assert (repo / "AGENTS.md").read_text(encoding="utf-8").count("## Carrying context") == 1


def test_two_names_of_one_file_get_one_paragraph(small: Any, repo: Path) -> None:
    (repo / "AGENTS.md").write_text("# Rules\n", encoding="utf-8")
    (repo / "CLAUDE.md").symlink_to("AGENTS.md")
    adopt(repo)
    assert (repo / "CLAUDE.md").is_symlink()
    assert (repo / "AGENTS.md").read_text(encoding="utf-8").count("## Carrying context") == 1
    unadopt(repo)
    assert (repo / "CLAUDE.md").is_symlink()
    assert (repo / "AGENTS.md").read_text(encoding="utf-8") == "# Rules\n"


def test_settings_behind_a_link_are_written_where_they_are(small: Any, repo: Path) -> None:
    (repo / "config").mkdir()
    (repo / "config" / "claude.json").write_text("{}", encoding="utf-8")
    (repo / ".claude").mkdir()
    (repo / ".claude" / "settings.json").symlink_to("../config/claude.json")
    adopt(repo)
    assert (repo / ".claude" / "settings.json").is_symlink()
    assert "SessionStart" in settings(repo, "config/claude.json")["hooks"]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda host: (host / ".claude" / "settings.json").write_text('{ // mine\n}'), "comment"),
        (lambda host: (host / ".claude" / "settings.json").write_text("[]"), "JSON object"),
        (lambda host: (host / ".claude" / "settings.json").write_bytes(b"{\xff}"), "UTF-8"),
        (lambda host: (host / "Makefile").unlink() or (host / "Makefile").mkdir(), "a folder"),
        (lambda host: (host / "CLAUDE.md").symlink_to("/etc/hostname"), "outside"),
        (lambda host: (host / FOLDER).mkdir(parents=True) or (host / FOLDER / "x").touch(),
         "was not added by adopt"),
    ],
    ids=["comment", "list", "encoding", "folder", "link out", "something else is there"],
)  # fmt: skip
def test_what_cannot_be_done_is_refused_and_nothing_is_written(
    small: Any, host: Path, run: Script, spoil: Any, said: str
) -> None:
    spoil(host)
    before = tree(host)
    assert run("adopt", f"--into={host}", "--copy") == 2
    assert said in run.err and run.out == ""
    assert tree(host) == before


@each(
    ("arguments", "said"),
    [
        (["--into=/no/such/folder"], "is not a folder"),
        ([f"--into={CHECKOUT}"], "this checkout itself"),
        ([f"--into={CHECKOUT / 'scripts'}"], "this checkout itself"),
        (["--into=.", "--dir=my tools"], "no spaces"),
        (["--into=.", "--dir=../x"], "relative path"),
        (["--into=.", "--dir=/x"], "relative path"),
        (["--into=.", "--dir=.git/x"], "git does not see"),
        (["--into=.", "--dir=.contextkit"], "git does not see"),
        (["--into=.", "--hosts=emacs"], "some of claude codex"),
        ([], "into"),
    ],
)
def test_a_bad_argument_is_refused(
    repo: Path, run: Script, arguments: list[str], said: str
) -> None:
    assert run("adopt", *arguments) == 2
    assert said in run.err


def test_a_folder_below_a_repositorys_root_is_told_where_documents_go(
    small: Any, repo: Path
) -> None:
    (repo / "app").mkdir()
    plan = adopt(repo / "app")
    assert any("belong to the repository's root, .." in note for note in plan.notes)
    assert not (repo / "app" / "contextkit.yaml").exists()


def test_a_line_of_the_users_between_our_marks_is_named_when_it_is_replaced(
    small: Any, host: Path, run: Script
) -> None:
    assert run("adopt", "--into=.", "--copy") == 0
    page = host / "AGENTS.md"
    ours = page.read_text(encoding="utf-8")
    page.write_text(ours.replace("<!-- <<<", "Mine: never push.\n<!-- <<<"), encoding="utf-8")
    assert run("adopt", "--into=.", "--copy") == 0
    assert "note: AGENTS.md: contextkit owns the part between its marks" in run.out
    assert 'replaced "Mine: never push."' in run.out
    assert page.read_text(encoding="utf-8") == ours
    assert run("adopt", "--into=.", "--copy") == 0 and "marks" not in run.out


def test_in_a_folder_below_a_repositorys_root_commands_are_called_there(
    small: Any, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (app := repo / "apps" / "web").mkdir(parents=True)
    adopt(app)
    monkeypatch.chdir(app)
    for path in ("AGENTS.md", "CLAUDE.md", ".claude/skills/contextkit/SKILL.md"):
        assert "variable=…` from `apps/web` of the repository." in (app / path).read_text("utf-8")
    assert not [f for f in doctor.adopted_files(Layout(), ()) if "older version" in f.problem]


def test_a_folder_without_git_is_fine(small: Any, tmp_path: Path) -> None:
    (tmp_path / "my project").mkdir()
    plan = adopt(tmp_path / "my project")
    assert any("not a git repository" in note for note in plan.notes)
    assert (tmp_path / "my project" / "Makefile").exists()


def test_who_runs_no_hooks_in_a_subfolder_is_said_with_the_way_out(small: Any, host: Path) -> None:
    notes = adopt(host).notes
    assert any("Claude Code started in a subfolder" in n and "the plugin" in n for n in notes)
    assert not any("Codex started in a subfolder" in note for note in notes)


def test_the_roots_own_gitignore_is_never_touched(small: Any, host: Path) -> None:
    adopt(host)
    assert not (host / ".gitignore").exists()


# What is shown


def test_a_dry_run_shows_the_diff_and_writes_nothing(small: Any, host: Path, run: Script) -> None:
    before = tree(host)
    assert run("adopt", f"--into={host}", "--copy", "--dry-run") == 0
    assert "+include tools/contextkit/Makefile\n" in run.out
    assert "files of contextkit's own: 7 new" in run.out
    assert tree(host) == before
    assert run("adopt", f"--into={host}", "--copy") == 0
    assert run("adopt", "unadopt", f"--into={host}", "--dry-run") == 0
    assert "-include tools/contextkit/Makefile\n" in run.out


def test_without_a_terminal_nobody_is_asked(small: Any, host: Path, run: Script) -> None:
    assert run("adopt", f"--into={host}", "--copy", stdin="n\n") == 0
    assert (host / FOLDER).is_dir()


# link=1


def test_a_link_writes_an_absolute_path_into_the_local_settings_alone(
    small: Any, host: Path
) -> None:
    before = tree(host)
    plan = adopt(host, link=True)
    local = (host / ".claude" / "settings.local.json").read_text(encoding="utf-8")
    assert f"{CHECKOUT}/scripts/hook.sh" in local
    new = set(tree(host)) - set(before)
    assert new == {".claude/settings.local.json", ".contextkit", ".contextkit/.gitignore",
                   ".contextkit/adopted.json"}  # fmt: skip
    assert any("codex: has no settings that stay" in note for note in plan.notes)
    assert any("make sure that git ignores it" in note for note in plan.notes)
    unadopt(host, link=True)
    assert tree(host) == before


def test_a_link_offers_rules_for_commands_as_they_are_called_there(host: Path, run: Script) -> None:
    assert run("adopt", f"--into={host}", "--hosts=claude", "--link") == 0
    assert "add to permissions.allow in .claude/settings.local.json:" in " ".join(run.out.split())
    assert f'"Bash({names.word(f"{CHECKOUT}/bin/contextkit")} payload_show:*)",' in run.out


def test_a_link_beside_a_copy_is_refused(small: Any, host: Path) -> None:
    adopt(host)
    with pytest.raises(ContextError, match="already has our hooks"):
        adopt(host, link=True)


# What is in it


def test_the_skill_is_valid_short_and_names_the_pages_of_the_guide() -> None:
    """By the Agent Skills specification: https://agentskills.io."""
    text = adoption.skill("tools/contextkit/guide.md")
    _, head, _ = text.split("---\n", 2)
    fields = yaml.safe_load(head)
    assert set(fields) == {"name", "description"} and fields["name"] == adoption.SKILL
    assert "Use it " in fields["description"]
    assert tokens.cautious(head) <= 60 and tokens.cautious(text) < 350
    lines = adoption.guide().splitlines()
    rows = re.findall(r"^\| (\w+) \| (\d+)-(\d+) \|", text, re.M)
    assert len(rows) == 5
    for name, first, last in rows:
        page = lines[int(first) - 1 : int(last)]
        assert page[0].startswith(f"# {name}: ")
        assert not any(line.startswith("# ") for line in page[1:])
        assert tokens.cautious("\n".join(page)) < 700
    assert int(rows[-1][2]) == len(lines)


@each("text", [adoption.guide(), adoption.guide("contextkit")])
def test_the_guide_names_targets_that_exist(text: str) -> None:
    called = re.findall(r"(?:make -s|contextkit) ([a-z_]+)\b", text)
    assert len(set(called)) > 25 and set(called) <= known()


def known() -> set[str]:
    return {target.name for target in makefiles.targets()}


def test_the_skill_names_the_three_reasons_to_save() -> None:
    page = adoption.guide().partition("# Memory")[2]
    for reason in ("save progress", "complex\ndecision", "unsure what to do next"):
        assert reason in page


def test_the_card_is_short_and_names_the_commands_of_a_day() -> None:
    card = adoption.card("tools/contextkit/guide.md")
    assert tokens.cautious(card) <= 200
    named = {name for name in re.findall(r"`([a-z_]+)[ `]", card) if "_" in name}
    assert len(named) == 12 and named <= known()


def test_every_setting_stands_in_the_file_as_a_comment(repo: Path) -> None:
    text = adoption.all_settings()
    assert all(not line or line.startswith("#") for line in text.splitlines())
    opened = "\n".join(line[2:] for line in text.splitlines() if ": " in line and " `" not in line)
    found = yaml.safe_load(opened)
    made = {**vars(Limits()), **vars(Places())}
    assert {k: tuple(v) if isinstance(v, list) else v for k, v in found.items()} == made


def test_the_copy_holds_what_runs_and_no_tests() -> None:
    found = vendored.toolkit_files()
    assert {
        "Makefile",
        "LICENSE",
        "requirements.lock",
        ".gitignore",
        "scripts/hook.sh",
        "templates/payload.md.j2",
        "scripts/contextkit/compiled/payload_md.py",
    } <= set(found)
    assert not [path for path in found if path.startswith(("tests", ".git/", ".ci", ".venv"))]
    assert found["scripts/hook.sh"][1] and not found["LICENSE"][1]


def test_every_link_of_a_page_in_the_copy_leads_somewhere() -> None:
    found = vendored.toolkit_files()
    pages = {path: data.decode() for path, (data, _) in found.items() if path.endswith(".md")}
    assert len(pages) > 20
    for path, text in pages.items():
        for target in re.findall(r"(?:\]\(|src(?:set)?=\")([^)#:\"]+)(?:#[^)]*)?[)\"]", text):
            place = os.path.normpath(os.path.join(os.path.dirname(path), target))
            assert place in found, f"{path}: {target}"


# The real thing


def test_a_checkout_gives_what_git_tracks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vendored, "_tracked", lambda: {"LICENSE"})
    assert list(vendored.toolkit_files()) == ["LICENSE"]


def test_the_copy_works_for_its_host(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the host's own make, and from a hook with nothing set up."""
    monkeypatch.setattr(vendored, "_tracked", lambda: None)  # a module may not be committed yet
    git("add", "-A")
    git("commit", "-qm", "before")
    adopt(host)
    git("add", "-A")
    said = git("status", "--short").split()
    assert f"{FOLDER}/scripts/contextkit/compiled/payload_md.py" in said
    hook = host / FOLDER / "scripts" / "hook.sh"
    report = "# Report\n\n" + "It takes 52 ms. " * 300
    given = json.dumps({"session_id": "s", "agent_id": "a", "last_assistant_message": report})
    done = subprocess.run([hook, "SubagentStop", "--host=claude"], input=given, encoding="utf-8",
                          capture_output=True)  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list((host / "shared" / "payloads" / "s").glob("*.md"))
    assert make("-s", "all", cwd=host).stdout.endswith("mine\n")
    assert "payload_store" in make("-s", "context_help", cwd=host).stdout
    venv = host / FOLDER / ".venv"
    executable(venv / "bin" / "python", REAL_PYTHON)
    (venv / "contextkit.mk").write_text(READY, encoding="utf-8")
    assert make("-s", "unadopt", "into=.", cwd=host).stdout
    (host / "shared").rename(host.parent / "shared")
    git("reset", "-q")
    assert git("status", "--short") == ""
    assert not (host / "tools").exists()


def test_several_at_once_wait_for_each_other(host: Path) -> None:
    command = [sys.executable, str(CHECKOUT / "scripts" / "adopt.py"), "adopt", "."]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(4)
    ]
    said = [(*process.communicate(), process.returncode) for process in running]
    assert [status for _, _, status in said] == [0] * 4
    commit = b"adopt: commit all of it, or clones will not have it\n"
    assert sorted(error for _, error, _ in said) == [b"", b"", b"", commit]
    assert sum(b"nothing to do" in out for out, _, _ in said) == 3
    assert (host / "Makefile").read_text(encoding="utf-8").count("include ") == 1


def test_a_copy_that_stored_nothing_takes_itself_out(
    host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vendored, "_tracked", lambda: None)
    adopt(host)
    script = host / FOLDER / "scripts" / "adopt.py"
    done = subprocess.run([sys.executable, script, "unadopt", "."], encoding="utf-8",
                          capture_output=True)  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert not (host / "tools").exists()


def test_adopting_offers_rules_for_what_only_reads_and_writes_none(host: Path, run: Script) -> None:
    assert run("adopt", f"--into={host}", "--hosts=claude") == 0
    rules = re.findall(r'"Bash\(make -s (\w+):\*\)",', run.out)
    assert "payload_show" in rules and "payload_store" not in rules and len(rules) < 12
    assert "Bash(" not in (host / ".claude" / "settings.json").read_text("utf-8")
    known = Path(__file__).parents[2].joinpath("Makefile").read_text("utf-8")
    assert all(f"contextkit.{name} " in known for name in rules)

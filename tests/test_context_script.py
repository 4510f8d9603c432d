"""context.py: documented files, settings in force, a line of status a system, help."""

from __future__ import annotations

import json
from pathlib import Path

import memory_stores
import pytest
from conftest import Script, each, trusted
from contextkit.base import makefiles, stores
from contextkit.base.layout import Layout
from contextkit.base.makefiles import targets
from contextkit.base.settings import Limits
from contextkit.base.version import VERSION
from test_capsule_prompt_script import STAMP, TARGET, tree
from test_capsules import finished
from test_capture_prompts import INBOX, TEMPLATE, put, remind

DOCUMENTS = [
    str(TEMPLATE),
    "parallelus/manuals/templates/subagent_scope_template.md",
    "parallelus/manuals/subagent-session-orchestration.md",
    ".aios-core/development/templates/agent-handoff-tmpl.yaml",
    "shared/payloads/README.md",
    str(INBOX),
    "shared/payloads/.gitkeep",
]
ATTRIBUTES = str(INBOX.with_name(".gitattributes"))


def states(out: str) -> dict[str, str]:
    return dict(line.split(": ") for line in out.splitlines())


def test_init_makes_what_is_documented_and_a_second_time_nothing(repo: Path, run: Script) -> None:
    assert run("context", "init") == 0
    assert states(run.out) == dict.fromkeys(DOCUMENTS, "made")
    stored = {path for path in tree() if not path.startswith(".contextkit/")}
    assert stored == {*DOCUMENTS, ATTRIBUTES, "shared/payloads/.gitignore"}
    before = {path: (Path(path).read_bytes(), Path(path).stat().st_ino) for path in tree()}
    assert run("context", "init") == 0
    assert states(run.out) == dict.fromkeys(DOCUMENTS, "kept")
    assert {path: (Path(path).read_bytes(), Path(path).stat().st_ino) for path in tree()} == before


def test_dry_run_only_says_what_would_be_done(repo: Path, run: Script) -> None:
    assert run("context", "init", "--dry-run") == 0
    assert run.out == "".join(f"{path}: would be made\n" for path in DOCUMENTS)
    assert tree() == set()


def test_an_unedited_copy_of_an_older_version_is_refreshed(repo: Path, run: Script) -> None:
    run("context", "init")
    current = TEMPLATE.read_bytes()
    put(TEMPLATE, stores.sealed_copy("# As it was a year ago\n"))
    assert run("context", "init", "--dry-run") == 0
    assert states(run.out)[str(TEMPLATE)] == "would be refreshed"
    assert TEMPLATE.read_bytes() != current
    assert run("context", "init") == 0
    assert states(run.out)[str(TEMPLATE)] == "refreshed"
    assert TEMPLATE.read_bytes() == current


@pytest.mark.parametrize("edit", ["mine\n", "", None])
def test_what_somebody_edited_is_never_touched(repo: Path, run: Script, edit: str | None) -> None:
    run("context", "init")
    text = TEMPLATE.read_text(encoding="utf-8")
    put(TEMPLATE, text.replace("# Knowledge Base", "# What we know") if edit is None else edit)
    remind("a note")
    before = TEMPLATE.read_bytes(), INBOX.read_bytes()
    assert run("context", "init") == 0
    assert states(run.out) == dict.fromkeys(DOCUMENTS, "kept")
    assert (TEMPLATE.read_bytes(), INBOX.read_bytes()) == before


def test_init_writes_nothing_where_one_of_its_files_cannot_be(repo: Path, run: Script) -> None:
    INBOX.mkdir(parents=True)
    assert run("context", "init") == 1
    assert run.out == "" and "Is a directory" in run.err
    assert tree() == set()


def test_init_follows_no_link_out_of_the_root(repo: Path, run: Script) -> None:
    (repo.parent / "outside").mkdir()
    Path("parallelus").symlink_to(repo.parent / "outside")
    assert run("context", "init") == 2
    assert "lies outside" in run.err and not list((repo.parent / "outside").iterdir())


def test_a_prompt_after_init_is_the_same_but_for_the_templates_note(
    repo: Path, run: Script
) -> None:
    run("capsule_prompt")
    before = run.out
    run("context", "init")
    run("capsule_prompt")
    assert run.out == before.replace(", contextkit's own until that file holds one", "")


def test_config_names_every_setting_and_where_it_comes_from(repo: Path, run: Script) -> None:
    trusted(
        "capsule_max_tokens: 800\ncapsules: notes/capsules\n"
        "handoff_profiles:\n- a/{agent}.md\n- b.md\n",
    )
    assert run("context", "config") == 0
    heads, *rows = (line.split(None, 2) for line in run.out.splitlines())
    assert heads == ["setting", "from", "value"]
    found = {name: (value, source) for name, source, value in rows if name != "root"}
    assert found["capsule_max_tokens"] == ("800", "contextkit.yaml")
    assert found["capsules"] == ("notes/capsules", "contextkit.yaml")
    assert found["handoff_profiles"] == ("a/{agent}.md, b.md", "contextkit.yaml")
    assert found["capsule_mini_tokens"] == ("300", "default")
    assert found["reminders"] == (str(INBOX), "default")
    assert set(Limits.fields()) < set(found)
    assert run("context", "config", "--json") == 0
    listed = {row["id"]: row for row in json.loads(run.out)}
    assert listed["root"]["value"] == str(repo.resolve())
    assert listed["capsule_max_tokens"] == {
        "id": "capsule_max_tokens",
        "value": 800,
        "from": "contextkit.yaml",
    }
    assert listed["handoff_profiles"]["value"] == ["a/{agent}.md", "b.md"]
    assert {row["id"]: row["from"] for row in json.loads(run.out)}.keys() == {"root", *found}


def test_a_setting_that_is_not_known_is_refused(repo: Path, run: Script) -> None:
    put(Path("contextkit.yaml"), "capsule_max_token: 800\n")
    assert run("context", "config") == 2
    assert run.out == "" and "did you mean 'capsule_max_tokens'?" in run.err


def test_status_says_that_nothing_is_there(repo: Path, run: Script) -> None:
    assert run("context", "status", "--all") == 0
    assert run.out == (
        "system     status\ncapsules   none on feature/demo\nreminders  0 open, 0 done\n"
        "payloads   0 in 0 sessions; ~0 tokens stored\n"
        "handoffs   no agent is active; 0 kept (~0 tokens), 0 not consumed\n"
        "memory     nothing stored\n"
        "verdicts   0 verdicts; 0 to look at\n"
        "subagents  0 of 0 still open, 0 failed; 0 capsule gaps\n"
        "hosts      not adopted: no hooks are installed; 0 failures noted\n"
        f"version    contextkit {VERSION}\n"
        "net        ~0 tokens stayed out of contexts, of ~0 written\n"
    )
    assert tree() == set()


def test_status_names_the_newest_capsule_and_whether_it_is_finished(
    repo: Path, run: Script
) -> None:
    remind("one", "two")
    run("remember_later", "done", f"--id={_first_id()}")
    run("capsule", "save", stdin=finished())
    run("context", "status", "--all")
    assert f"capsules   1 on feature/demo; newest {STAMP}.md: finished, ~" in run.out
    assert "reminders  1 open, 1 done" in run.out
    run("capsule_prompt", "--stub")
    run("context", "status", "--all")
    assert f"capsules   2 on feature/demo; newest {STAMP}-2.md: a stub, ~" in run.out
    run("context", "status", "--json")
    assert [row["id"] for row in json.loads(run.out)] == [
        "capsules",
        "reminders",
        "payloads",
        "handoffs",
        "memory",
        "verdicts",
        "subagents",
        "hosts",
        "version",
        "net",
    ]
    rows = {row.pop("id"): row for row in json.loads(run.out)}
    assert rows["capsules"].pop("delivery")["never_opened"] == 1
    assert all(row.pop("status") for row in rows.values())
    newest = rows["capsules"].pop("newest")
    assert newest.endswith(f"{STAMP}-2.md") and rows["capsules"].pop("tokens") > 100
    assert rows["capsules"] == {
        "branch": "feature/demo", "count": 2, "state": "stub", "stub": True,
        "to_write": newest,
    }  # fmt: skip
    assert rows["reminders"] == {"open": 1, "done": 1}
    assert rows["payloads"] == {"count": 0, "sessions": 0, "tokens": 0, "broken": ""}
    assert rows["verdicts"] == {"count": 0, "to_look_at": 0, "runs": 0, "statuses": {}}
    assert rows["hosts"] == {"hosts": [], "failures": 0}
    assert rows["version"] == {"version": VERSION}


def _first_id() -> str:
    return INBOX.read_text(encoding="utf-8").partition("<!-- ")[2].partition(" -->")[0]


def test_status_says_what_cannot_be_read(repo: Path, run: Script) -> None:
    put(INBOX, "")
    INBOX.write_bytes(b"## \xff")
    TARGET.parent.mkdir(parents=True)
    TARGET.write_bytes(b"---\n\xff")
    for words in (("--all",), ()):
        assert run("context", "status", *words) == 0
        _, capsules, reminders, *_ = run.out.splitlines()
        assert capsules.startswith("capsules ") and f"{STAMP}.md: not UTF-8" in capsules
        assert reminders.startswith("reminders ") and "remember-later.md: not UTF-8" in reminders
    assert reminders.endswith("  make context_doctor")


def test_status_names_a_broken_manifest_and_counts_what_can_be_read(
    repo: Path, run: Script
) -> None:
    put(Path("shared/payloads/other/manifest.json"), '{"bad')
    run("payload_store", "--topic=t", "--source=s", "--force", stdin="It takes 52 ms.\n")
    run("context", "status")
    row = next(line for line in run.out.splitlines() if line.startswith("payloads "))
    assert "other/manifest.json: not valid JSON" in row and row.endswith("  make context_doctor")
    assert "\nstored: 1 payload (" in run.out


def test_status_is_two_lines_when_nothing_needs_doing(repo: Path, run: Script) -> None:
    nothing = f"contextkit {VERSION}: nothing needs doing\nstored: {{}} (all=1 shows each system)\n"
    assert run("context", "status") == 0
    assert run.out == nothing.format("nothing yet")
    remind("one", "two")
    run("capsule", "save", stdin=finished())
    run("context", "status")
    assert run.out == nothing.format("1 capsule, 2 open notes")


def test_status_names_what_needs_doing_with_its_command(repo: Path, run: Script) -> None:
    run("capsule_prompt", "--stub")
    run("verdict", "write", "--agent=a", "--status=NEEDS_ATTENTION", "--summary=x")
    run("context", "status")
    head, *rows, blank, state, stored = run.out.splitlines()
    assert head.split() == ["system", "what", "command"] and blank == ""
    assert state == f"contextkit {VERSION}: 2 to do" and stored.startswith("stored: 1 capsule,")
    assert [row.split()[0] for row in rows] == ["capsules", "verdicts"]
    (stub,) = Path("parallelus/manuals/capsules/feature/demo").iterdir()
    assert rows[0].endswith(f"  make capsule_prompt file={stub}")
    assert run("capsule_prompt", f"--file={stub}") == 0 and f"Target file: {stub}\n" in run.out
    assert rows[1].endswith("  make verdict_table view=attention")


def test_status_names_a_review_run_until_it_is_judged(repo: Path, run: Script) -> None:
    Path("new.py").write_text("new\n", encoding="utf-8")
    assert run("verdict", "start", "--process=review", "--agents=a", "--base=HEAD") == 0
    run("context", "status")
    assert "verdicts  runs not judged: 1  make verdict_runs\n" in run.out
    assert run("verdict", "end", "latest") == 0
    run("context", "status")
    assert "not judged" not in run.out


def test_status_outside_git_says_that_there_is_no_branch(sealed: Path, run: Script) -> None:
    assert run("context", "status", "--all") == 0
    assert "capsules   no branch is checked out\n" in run.out


def test_help_lists_every_target_with_its_variables(sealed: Path, run: Script) -> None:
    assert run("context", "help", "--all") == 0
    rest = run.out
    assert max(map(len, run.out.splitlines())) < 80
    said: dict[str, list[str]] = {}
    for line in rest.splitlines():
        name, words = line[:20].strip(), line[20:].split()
        if name and line[:2] == "  ":
            said[name] = words
        elif said and not name:
            said[next(reversed(said))] += words
    for target in targets():
        command = makefiles.command_of(target)
        if command and command.now:
            assert target.name not in said
            continue
        given = [f"{name}=" for name in target.variables if name not in ("root", "json")]
        assert said[target.name] == [*target.help.split(), *given]


def test_help_in_a_host_leaves_out_the_targets_of_the_checkout(sealed: Path, run: Script) -> None:
    assert run("context", "help", "--host") == 0
    assert "capsule_prompt" in run.out and "Checkout" not in run.out
    assert "  lint " not in run.out


def test_a_command_that_is_not_there_is_a_mistake(sealed: Path, run: Script) -> None:
    assert run("context", "initialise") == 2
    assert run.out == "" and "init" in run.err


def test_status_says_where_the_newest_task_stands(layout: Layout, run: Script) -> None:
    memory_stores.full(layout)
    run("context", "status", "--json")
    said = {row["id"]: row["status"] for row in json.loads(run.out)}["memory"]
    assert said.startswith("9 documents of 2 tasks, ~") and "tokens stored; station is in" in said
    assert "in implementation, its checkpoint 0 h old" in said


OLD = (
    ("external_memory", "init"), ("handoff", "reset"),
    ("payload_store", "sweep"),
)  # fmt: skip


@each(("script", "command"), OLD)
def test_an_old_name_works_for_a_release_and_says_the_new_one(
    repo: Path, run: Script, script: str, command: str
) -> None:
    assert run(script, command) in (0, 1)
    assert "an old name, gone in the next release: now `make " in run.err


def test_the_new_names_do_what_the_old_ones_did(repo: Path, run: Script) -> None:
    run("handoff", "switch", "qa", "--no-story", "--next-action=x")
    assert run("handoff", "switch", "none") == 0
    assert run("context", "sessions") == 0
    assert "\nthis shell: " in run.out
    run("payload_store", "store", "--topic=t", "--source=a", "--session=s", stdin="word " * 900)
    (repo / "shared" / "payloads" / "s" / "manifest.json").unlink()
    run("doctor", "--mend")
    assert (repo / "shared" / "payloads" / "s" / "manifest.json").exists()

"""subagent_manager.py as its users call it; what it starts are real processes."""

from __future__ import annotations

import errno
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import SCRIPTS, Script, each, git, start, trusted, until
from contextkit.base import files, names, tokens
from contextkit.base.layout import Layout
from contextkit.capsules.documents import store as capsules
from contextkit.payloads.documents import receipts
from contextkit.subagents.documents import registry
from contextkit.subagents.flows import background, lifecycle
from contextkit.subagents.flows import launch as launching

REGISTRY = Path("parallelus/manuals/subagent-registry.json")
CAPSULES = Path("parallelus/manuals/capsules")
RUNS = Path(".contextkit/subagents")
BODY = "\n\n".join(f"# {section}\n- Something about it." for section in capsules.SECTIONS)


def a_capsule(body: str = BODY, created: str = "2025-10-23T18:00:00Z", commit: bool = True) -> Path:
    """A finished capsule of `feature/demo`, committed."""
    head = capsules.blank("feature/demo", "s-1", 0, 1200)
    head = head.replace(created_at=created, primary_objective="Try it")
    stub = capsules.outline(head, "p", "q")
    stamp = created.replace("-", "").replace(":", "")
    path = CAPSULES / "feature" / "demo" / f"{stamp}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{capsules.front_matter(stub)}{body}\n", encoding="utf-8")
    if commit:
        git("add", str(path))
        git("commit", "-qm", "capsule")
    return path


def a_scope(text: str = "# Task\nDo it.\n", name: str = "scope.md") -> str:
    Path(name).write_text(text, encoding="utf-8")
    git("add", name)
    git("commit", "-qm", "scope")
    return f"--scope={name}"


def rows() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(REGISTRY.read_text(encoding="utf-8"))
    return found


class Manager:
    """`launch("--slug=x")` gives the id; `said` is stderr."""

    def __init__(self, run: Script) -> None:
        self.run = run

    def __call__(
        self, command: str, *options: str, status: int = 0, stdin: str | None = None
    ) -> str:
        assert self.run("subagent_manager", command, *options, stdin=stdin) == status, self.said
        return self.run.out

    @property
    def said(self) -> str:
        return self.run.err

    def launch(self, command: str = "cat", *options: str) -> str:
        slug = () if any(o.startswith("--slug") for o in options) else ("--slug=x",)
        return self("launch", f"--cmd={command}", *slug, *options).strip()

    def prompt(self, *options: str, status: int = 0) -> str:
        return self("prompt", "--slug=x", *options, status=status)

    def status(self, *options: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self("status", "--json", *options))
        return found

    def ended(self, identity: str) -> dict[str, Any]:
        until(lambda: self.status(f"--id={identity}")[0]["status"] not in registry.ACTIVE)
        return next(row for row in rows() if row["id"] == identity)

    def log(self, identity: str) -> str:
        return (RUNS / identity / "agent.log").read_text(encoding="utf-8")


@pytest.fixture
def manager(repo: Path, run: Script) -> Manager:
    return Manager(run)


# A launch


def test_a_launch_prints_the_id_and_the_row_has_the_originals_fields_first(
    manager: Manager,
) -> None:
    capsule = a_capsule()
    identity = manager.launch("cat", "--slug=Try it!", "--timeout=5m")
    assert identity == "20251023-180500-try-it"
    (row,) = rows()
    assert list(row)[:14] == [
        *("id", "type", "slug", "path", "scope_path", "prompt_path", "log_path"),
        *("progress_path", "launcher", "status", "launched_at", "window_title"),
        *("launcher_kind", "launcher_handle"),
    ]
    assert row["status"] in ("running", "finished") and row["launched_at"] == "20251023-180500"
    assert row["timeout_seconds"] == 300 and row["source_branch"] == "feature/demo"
    assert row["capsule"] == str(capsule) and row["capsule_trimmed"] is False
    assert row["capsule_sha256"] == names.sha256(capsule.read_bytes())
    assert row["capsule_created_at"] == "2025-10-23T18:00:00Z"
    assert row["capsule_tokens"] == tokens.estimate(BODY + "\n")
    assert row["head"] == row["source_commit"] == git("rev-parse", "HEAD").strip()
    assert not any(os.path.isabs(str(value)) for value in row.values())
    done = manager.ended(identity)
    assert (done["status"], done["exit_code"]) == ("finished", 0)
    prompt = (RUNS / identity / "prompt.md").read_text(encoding="utf-8")
    assert manager.log(identity) == prompt and BODY in prompt
    assert (RUNS / identity / "capsule.md").read_text(encoding="utf-8") == BODY + "\n"
    # its launcher may still be making a store, whose ignore rule is a draft for a moment
    until(lambda: git("status", "--porcelain", "--untracked-files=all") == "")


def test_what_is_printed_beforehand_is_what_the_agent_gets(manager: Manager) -> None:
    a_capsule()
    scope = a_scope()
    printed = manager.prompt(scope, "--role=reviewer", "--capsule=latest")
    assert not REGISTRY.exists() and not RUNS.exists()
    identity = manager.launch("cat", scope, "--role=reviewer", "--capsule=latest")
    manager.ended(identity)
    assert manager.log(identity) == printed


def test_the_agents_environment(manager: Manager, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "CONTEXTKIT_X", "GIT_DIR"):
        monkeypatch.setenv(name, "leaked" if name != "GIT_DIR" else ".git")
    monkeypatch.setenv("SESSION_ID", "s-42")
    monkeypatch.setenv("KEPT", "yes")
    identity = manager.launch("env", "--capsule=none")
    manager.ended(identity)
    found = dict(line.partition("=")[::2] for line in manager.log(identity).splitlines())
    assert "leaked" not in found.values() and "GIT_DIR" not in found
    assert found["CONTEXT_ROOT"] == os.getcwd() and found["SESSION_ID"] == "s-42"
    assert found["CONTEXT_AGENT"] == "x" and found["CONTEXT_SUBAGENT_ID"] == identity
    assert found["KEPT"] == "yes"


def test_without_a_command_the_row_waits_and_finish_closes_it(manager: Manager) -> None:
    identity = manager("launch", "--slug=x", "--capsule=none").strip()
    assert f"start your agent with .contextkit/subagents/{identity}/prompt.md" in manager.said
    assert rows()[0]["status"] == "awaiting_manual_launch" == manager.status()[0]["status"]
    manager("finish", "--agent=x", "--status=CLEAN", "--summary=ok")
    assert rows()[0]["status"] == "finished"


def test_a_command_of_the_settings_is_used(manager: Manager) -> None:
    trusted("subagent_command: echo from settings\n")
    identity = manager("launch", "--slug=x", "--capsule=none").strip()
    manager.ended(identity)
    assert manager.log(identity) == "from settings\n"


@each(
    ("options", "complaint"),
    [
        (["--slug=…"], "no letter or digit"),
        (["--type=vm"], "must be one of here, throwaway, worktree"),
        (["--timeout=soon"], "is not a duration"),
        (["--role=reviewr"], "did you mean 'reviewer'"),
        (["--role=../../etc/passwd"], "there is no role"),
        (["--scope=none.md"], "scope: "),
        (["--scope=../x.md"], "x.md: cannot be read: No such file"),
        (["--scope=../"], "lies outside"),
        (["--scope=empty.md"], "is empty"),
        (["--capsule=none.md"], "is not a file"),
        (["--capsule=latest"], "there is none on feature/demo"),
        (["--capsule=stub.md"], "is a stub"),
        (["--capsule=empty.md"], "no front matter"),
    ],
)
def test_what_cannot_be_launched_is_refused_and_nothing_is_written(
    manager: Manager, options: list[str], complaint: str
) -> None:
    Path("empty.md").write_text("\n", encoding="utf-8")
    blank = capsules.blank("b", "", 0, 1)
    Path("stub.md").write_text(capsules.outline(blank, "p", "q"), encoding="utf-8")
    given = options if options[0].startswith("--slug") else ["--slug=x", *options]
    manager("launch", "--cmd=touch started", *given, status=2)
    assert complaint in manager.said
    assert not REGISTRY.exists() and not RUNS.exists() and not Path("started").exists()


def test_a_launch_that_does_not_come_about_leaves_no_row(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path(".contextkit").mkdir()
    Path(".contextkit/sandboxes").write_text("in the way", encoding="utf-8")
    manager("launch", "--slug=x", "--cmd=true", "--type=worktree", "--capsule=none", status=1)
    assert rows() == [] and list(RUNS.glob("*")) == []
    assert git("branch", "--format=%(refname)").split() == ["refs/heads/feature/demo"]


def test_a_failed_launch_says_why_also_where_it_cannot_be_undone(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "prompt.md")

    Path(".contextkit").mkdir()
    Path(".contextkit/sandboxes").write_text("in the way", encoding="utf-8")
    monkeypatch.setattr("shutil.rmtree", refuse)
    manager("launch", "--slug=x", "--cmd=true", "--type=worktree", "--capsule=none", status=1)
    assert "sandboxes" in manager.said and rows() == []


def test_without_a_commit_there_is_no_sandbox(sealed: Path, run: Script) -> None:
    for init in ((), ("init", "-q")):
        if init:
            git(*init)
        for kind in ("throwaway", "worktree"):
            call = ("launch", "--slug=x", "--cmd=true", f"--type={kind}", "--capsule=none")
            assert run("subagent_manager", *call) == 2
            assert "needs a git repository with a commit" in run.err
    assert not REGISTRY.exists() and not RUNS.exists()


def test_outside_git_it_starts_here(sealed: Path, run: Script) -> None:
    manager = Manager(run)
    assert manager.ended(manager.launch("pwd", "--capsule=none"))["status"] == "finished"
    assert "head" in rows()[0]


@pytest.mark.parametrize(
    "link", [".contextkit", ".contextkit/subagents", ".contextkit/sandboxes", "parallelus/manuals"]
)
def test_no_link_leads_out_of_the_root(manager: Manager, tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    Path(link).parent.mkdir(exist_ok=True)
    Path(link).symlink_to(outside)
    assert manager.run("subagent_manager", "launch", "--slug=x", "--cmd=true", "--type=worktree",
                        "--capsule=none") in (1, 2)  # fmt: skip
    assert list(outside.iterdir()) == []
    (outside / "20251023-180500-x").mkdir()
    (outside / "20251023-180500-x" / "alive").touch()
    if link != "parallelus/manuals":
        row = {"id": "20251023-180500-x", "type": "here", "path": ".", "status": "running"}
        REGISTRY.parent.mkdir(parents=True, exist_ok=True)
        REGISTRY.write_text(json.dumps([row]), encoding="utf-8")
        manager.run("subagent_manager", "cleanup", "20251023-180500-x", "--force")
    assert (outside / "20251023-180500-x" / "alive").exists()


# Which capsule


def test_the_newest_fresh_capsule_is_taken_unless_told_otherwise(manager: Manager) -> None:
    a_capsule("# Old\n" + BODY)
    newest = a_capsule("# New\n" + BODY, "2025-10-23T18:01:00Z")
    assert "# New" in manager.prompt() and str(newest) in manager.prompt()
    assert "# New" in manager.prompt("--capsule=latest")
    old = CAPSULES / "feature/demo/20251023T180000Z.md"
    assert "# Old" in manager.prompt(f"--capsule={old}")
    assert "Context Capsule" not in manager.prompt("--capsule=none")


def test_a_workstream_has_its_own_newest_capsule(manager: Manager) -> None:
    one = a_capsule("# One\n" + BODY, commit=False)
    text = one.read_text(encoding="utf-8")
    one.write_text(text.replace("\n---\n", "\nworkstream: ui\n---\n", 1), encoding="utf-8")
    a_capsule("# Two\n" + BODY, "2025-10-23T18:01:00Z")
    assert "# One" in manager.prompt("--workstream=ui") and "# Two" in manager.prompt()
    manager("prompt", "--slug=x", "--workstream=db", "--capsule=latest", status=2)


@pytest.mark.parametrize("role", ["reviewer", "auditor", "senior_architect"])
def test_who_judges_gets_no_capsule_unless_asked(manager: Manager, role: str) -> None:
    folder = Path("parallelus/engine/prompts/agent_roles")
    folder.mkdir(parents=True)
    (folder / "senior_architect.md").write_text("Judge it.\n", encoding="utf-8")
    a_capsule()
    prompt = manager.prompt(f"--role={role}")
    assert "Context Capsule" not in prompt and "You read, you do not change" in prompt
    assert "Context Capsule" in manager.prompt(f"--role={role}", "--capsule=latest")
    assert manager.said == ""


def test_without_a_capsule_it_starts_and_says_how_to_make_one(manager: Manager) -> None:
    manager.launch("true")
    assert "no capsule on feature/demo: make one with `make capsule_prompt`" in manager.said


def test_at_a_terminal_it_offers_the_prompt_instead(repo: Path) -> None:
    ours, theirs = pty.openpty()
    call = [
        sys.executable,
        str(SCRIPTS / "subagent_manager.py"),
        "launch",
        "--slug=x",
        "--cmd=true",
    ]
    with subprocess.Popen(call, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE) as process:
        os.close(theirs)
        said = b""
        while b"[y/N]" not in said:
            said += os.read(ours, 1000)
        os.write(ours, b"y\n")
        out, _ = process.communicate(timeout=300)
    assert process.returncode == 1 and not REGISTRY.exists()
    assert out.startswith(b"You are the main agent for branch `feature/demo`.")
    os.close(ours)


def test_a_clone_or_worktree_needs_capsule_and_scope_in_git(manager: Manager) -> None:
    capsule = a_capsule(commit=False)
    Path("my scope.md").write_text("Do it.\n", encoding="utf-8")
    options = ("--slug=x", "--cmd=true", "--scope=my scope.md")
    command = f"git add {capsule} 'my scope.md' && git commit"
    for kind in ("throwaway", "worktree"):
        manager("launch", *options, f"--type={kind}", status=1)
        assert command in manager.said and not REGISTRY.exists()
    manager("launch", *options)
    assert command in manager.said and len(rows()) == 1
    git("add", ".")
    git("commit", "-qm", "all")
    manager("launch", *options, "--type=worktree")
    assert "git add" not in manager.said
    with capsule.open("a", encoding="utf-8") as file:
        file.write("changed\n")
    manager("launch", *options, "--type=worktree", "--capsule=latest", status=1)
    assert "not committed" in manager.said


def test_the_command_that_commits_a_scope_works_in_a_folder_below(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("below").mkdir()
    monkeypatch.chdir("below")
    Path("my scope.md").write_text("# Task\n", encoding="utf-8")
    identity = manager("launch", "--slug=x", "--capsule=none", "--scope=my scope.md").strip()
    command = manager.said.partition("my scope.md: ")[2].split("\n")[0]
    subprocess.run(["sh", "-c", command], check=True)
    assert git("status", "--porcelain") == ""
    assert f"with {Path.cwd().parent}/.contextkit/subagents/{identity}/prompt.md" in manager.said


# How long


def test_a_large_capsule_is_warned_of_and_a_larger_prompt_refused(manager: Manager) -> None:
    a_capsule(BODY + "\nword" * 6000)
    manager("launch", "--slug=x", "--cmd=true", status=1)
    assert "above subagent_prompt_ceiling (5000)" in manager.said and not REGISTRY.exists()
    a_capsule(BODY + "\nword" * 2550, "2025-10-23T18:02:00Z")
    prompt = manager.prompt()
    assert "above 80 % of the ceiling (5000)" in manager.said
    assert tokens.estimate(prompt) <= 5000
    manager.launch("true", "--max-tokens=500")
    assert "above" not in manager.said
    (row,) = rows()
    assert row["capsule_trimmed"] is True and row["capsule_tokens"] <= 500
    copy = (RUNS / row["id"] / "capsule.md").read_text(encoding="utf-8")
    assert copy.count("word") == 2550


@pytest.mark.parametrize("where", ["capsule", "scope"])
def test_a_secret_is_refused_or_redacted_and_never_shown(manager: Manager, where: str) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    a_capsule(f"{BODY}\n- token {secret}" if where == "capsule" else BODY)
    scope = a_scope(f"# Task\nUse {secret}\n" if where == "scope" else "# Task\n")
    manager("launch", "--slug=x", "--cmd=cat", scope, status=2)
    assert secret not in manager.said and where in manager.said and not REGISTRY.exists()
    prompt = manager.prompt(scope, "--redact")
    assert secret not in prompt and "(redacted" in prompt


# Sandboxes


def test_a_worktree_has_its_branch_and_a_clone_its_own_repository(manager: Manager) -> None:
    a_capsule()
    looks = (
        "git status --porcelain; git branch --show-current; cat .contextkit/subagents/*/capsule.md"
    )
    for kind, branch in (("worktree", "subagent/20251023-180500-x"), ("throwaway", "feature/demo")):
        identity = manager.launch(looks, f"--type={kind}")
        row = manager.ended(identity)
        assert row["path"] == f".contextkit/sandboxes/{identity}"
        assert manager.log(identity) == f"{branch}\n{BODY}\n"
    assert "Do not merge" in (RUNS / "20251023-180500-x" / "prompt.md").read_text("utf-8")
    changed = git("status", "--porcelain", "--untracked-files=all")
    assert changed == ""


@pytest.mark.parametrize("kind", ["worktree", "throwaway"])
def test_cleanup_drops_no_work_unless_told(manager: Manager, kind: str) -> None:
    work = "echo x > new; git add new; git commit -qm work; echo y > other"
    identity = manager.launch(work, f"--type={kind}", "--capsule=none")
    row = manager.ended(identity)
    sandbox = Path(row["path"])
    assert manager.log(identity) == "" and (sandbox / "other").exists()
    manager("cleanup", identity, status=1)
    own = " but its own" if kind == "worktree" else ""
    assert f"1 changed file (other) and commits on no branch{own} (" in manager.said
    (sandbox / "other").unlink()
    manager("cleanup", identity, status=1)
    assert "changed file" not in manager.said and (sandbox / "new").exists()
    git("fetch", "-q", str(sandbox), "HEAD:refs/heads/taken-over")
    assert manager("cleanup", identity) == f"{identity}\n"
    assert not sandbox.exists() and not (RUNS / identity).exists()
    assert rows()[0]["status"] == "cleaned" and manager.status() == []
    assert [one["status"] for one in manager.status("--all")] == ["cleaned"]
    assert git("branch", "--list", "subagent/*") == ""
    assert manager("cleanup", identity) == f"{identity}\n"


def test_cleanup_keeps_the_log_that_a_verdict_names(manager: Manager) -> None:
    identity = manager.launch("echo no disk; exit 3", "--capsule=none")
    manager.ended(identity)
    manager("cleanup", identity)
    assert not (RUNS / identity).exists()
    assert manager.run("verdict", "show", "x") == 0 and "no disk" in manager.run.out
    assert manager.run("verdict", "table") == 0
    assert manager.run.out == "FAILED\tx\texit 3: no disk\n"


def test_force_drops_it_though_it_runs(manager: Manager) -> None:
    identity = manager.launch("echo x > new; sleep 60", "--type=worktree", "--capsule=none")
    manager("cleanup", identity, status=1)
    assert "subagent_abort" in manager.said
    manager("cleanup", identity, "--force", "--reason=not needed")
    assert not Path(".contextkit/sandboxes", identity).exists()
    assert rows()[0]["aborted_reason"] == "not needed" and rows()[0]["status"] == "cleaned"


def test_cleanup_removes_only_what_is_ours(manager: Manager) -> None:
    Path("precious").mkdir()
    Path("precious/file").touch()
    REGISTRY.parent.mkdir(parents=True)
    for row in (
        {"id": "a", "type": "throwaway", "path": "precious", "status": "finished"},
        {"id": "b", "type": "throwaway", "path": ".contextkit/sandboxes/b", "status": "finished"},
        {"id": "..", "type": "worktree", "path": "precious", "status": "running"},
    ):
        REGISTRY.write_text(json.dumps([row]), encoding="utf-8")
        Path(".contextkit/sandboxes/b").mkdir(parents=True, exist_ok=True)
        manager("cleanup", str(row["id"]), "--force", status=2)
        assert "is not a contextkit sandbox" in manager.said
    assert Path("precious/file").exists() and Path(".contextkit/sandboxes/b").is_dir()


@pytest.mark.parametrize("left", ["no checkout", "no commit", "not even a repository"])
def test_what_a_killed_launcher_left_half_made_can_be_cleaned_up(
    manager: Manager, left: str
) -> None:
    identity = manager.launch("true", "--type=worktree", "--capsule=none")
    manager.ended(identity)
    sandbox = Path(".contextkit/sandboxes", identity)
    if left == "no checkout":
        shutil.rmtree(sandbox / ".contextkit")
    else:
        (sandbox / ".git").write_text("gitdir: /nowhere\n", encoding="utf-8")
    if left == "not even a repository":
        (sandbox / ".git").unlink()
        git("worktree", "prune")
    if left != "no checkout":
        manager("cleanup", identity, status=1)
    manager("cleanup", identity, "--force")
    assert not sandbox.exists() and git("worktree", "list").count("\n") == 1


# Watching


def test_the_table_has_the_originals_nine_columns_first(manager: Manager) -> None:
    a_capsule()
    identity = manager.launch("echo $$; sleep 60")
    head, row = manager("status").splitlines()
    columns = "ID Type Slug Status Deliverables Run_Time Log_Age Handle Last_Log_(UTC) Capsule"
    for name in columns.split():
        head = head.replace(name.replace("_", " "), name)
    assert head.split() == [*columns.split(), "Staleness"]
    cells = row.split()
    assert cells[:5] == [identity, "here", "x", "running", "-"]
    assert cells[5] == "0:00" and cells[6] == "0:00" and cells[7].startswith("pid:")
    assert cells[-3:] == ["[exec]", "feature/demo/20251023T180000Z", "fresh"]
    assert manager.status()[0]["handle"] == cells[7]


def test_a_capsule_that_is_not_what_was_given_is_said(manager: Manager) -> None:
    capsule = a_capsule()
    manager.launch("sleep 60")
    with capsule.open("a", encoding="utf-8") as file:
        file.write("more\n")
    assert manager.status()[0]["staleness"] == "changed"
    capsule.unlink()
    assert manager.status()[0]["staleness"] == "missing"


def test_a_capsule_of_another_branch_is_called_fresh_only_there(manager: Manager) -> None:
    a_capsule()
    git("checkout", "-qb", "feature/tax")
    manager.launch("sleep 60")
    assert manager.status()[0]["staleness"] == "fresh on feature/demo"


def test_a_killed_agent_is_seen_and_said(manager: Manager) -> None:
    identity = manager.launch("echo up; sleep 60", "--capsule=none")
    until(lambda: manager.log(identity))
    os.killpg(rows()[0]["launcher_handle"]["pid"], signal.SIGKILL)
    until(lambda: not background.is_alive(str(RUNS / identity)))
    manager("status")
    assert f"{identity}: gone without an exit status: failed" in manager.said
    assert rows()[0]["status"] == "failed" and rows()[0]["exit_code"] is None


def test_a_timeout_is_recorded(manager: Manager) -> None:
    row = manager.ended(manager.launch("sleep 60", "--timeout=1", "--capsule=none"))
    assert row["status"] == "timed_out" and row["finished_at"]


def test_abort_ends_it_and_says_why(manager: Manager) -> None:
    identity = manager.launch("echo up; sleep 60", "--capsule=none")
    until(lambda: manager.log(identity))
    assert manager("abort", identity, "--reason=Took too long") == f"{identity}\n"
    (row,) = rows()
    assert row["status"] == "aborted_took-too-long" and row["aborted_reason"] == "Took too long"
    assert not background.is_alive(str(RUNS / identity))
    manager("abort", identity, status=1)
    assert "nothing to abort" in manager.said


def test_what_another_program_started_is_not_said_to_be_ended(manager: Manager) -> None:
    REGISTRY.parent.mkdir(parents=True)
    REGISTRY.write_text('[{"id": "a", "status": "running"}]', encoding="utf-8")
    manager("abort", "a", status=1)
    assert "was not started by contextkit" in manager.said and rows()[0]["status"] == "running"
    manager("abort", "a", "--force")
    assert rows()[0]["status"] == "aborted_manual"


def test_status_of_a_registry_of_others(manager: Manager) -> None:
    REGISTRY.parent.mkdir(parents=True)
    Path("sandbox").mkdir()
    Path("sandbox/done.md").touch()
    foreign = {
        "id": "20251009-000000-x", "type": "throwaway", "status": "running", "path": "sandbox",
        "launched_at": "20251023-180000", "log_path": "../../etc/passwd", "slug": None,
        "launcher_handle": {"pane_id": "%1 2"}, "capsule": 7,
        "deliverables": [{"source": "done.md"}, {"source": "../../x"}, {"status": "harvested"}, 3],
    }  # fmt: skip
    REGISTRY.write_text(json.dumps([foreign, {"id": 3}, "x"]), encoding="utf-8")
    (shown,) = manager.status()
    assert shown["deliverables"] == "2/4" and shown["run_time"] == 300
    assert (shown["log_age"], shown["last_log"], shown["handle"]) == (None, "-", "pane:%1_2")
    assert json.loads(REGISTRY.read_text(encoding="utf-8")) == [foreign, {"id": 3}, "x"]


def test_what_others_list_as_deliverables_stays_as_they_wrote_it(manager: Manager) -> None:
    REGISTRY.parent.mkdir(parents=True)
    listed = ["a.md", 3, {"source": "b.md"}]
    row = {"id": "a", "slug": "x", "status": "finished", "path": ".", "deliverables": listed}
    REGISTRY.write_text(json.dumps([row]), encoding="utf-8")
    lifecycle.take_over(Layout(), row, names.now())
    assert rows()[0]["deliverables"] == ["a.md", 3, {"source": "b.md", "status": "missing"}]


def test_without_any_row_it_says_so(manager: Manager) -> None:
    assert manager("status") == "No subagents.\n" and manager.status() == []
    manager("status", "--id=nobody", status=2)
    assert not REGISTRY.exists()


def test_the_monitor_waits_for_the_end(
    manager: Manager, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    end, sleep = tmp_path / "end", time.sleep
    identity = manager.launch(f"until [ -e {end} ]; do sleep 0.02; done", "--capsule=none")

    def let_it_end(_: float) -> None:
        monkeypatch.setattr(time, "sleep", sleep)
        end.touch()
        until(lambda: (RUNS / identity / "exit").exists())

    monkeypatch.setattr(time, "sleep", let_it_end)
    out = manager("monitor", "--interval=1").splitlines()
    assert out[0] == "--- 2025-10-23 18:05:00 UTC ---" and out[1].startswith("ID ")
    assert out[-1] == "No running subagents detected. Exiting monitor loop."
    assert out.count(out[0]) == 2 and "!" not in "".join(out)


def test_the_monitor_notices_an_end_before_its_next_look(
    manager: Manager, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleep, end = time.sleep, tmp_path / "end"
    identity = manager.launch(f"until [ -e {end} ]; do sleep 0.02; done", "--capsule=none")
    slept: list[float] = []

    def pass_time(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) == 3:
            monkeypatch.setattr(time, "sleep", sleep)
            end.touch()
            until(lambda: (RUNS / identity / "exit").exists())
            monkeypatch.setattr(time, "sleep", pass_time)

    monkeypatch.setattr(time, "sleep", pass_time)
    manager("monitor", "--interval=30")
    assert sum(slept[2:]) <= 2  # seconds from the end until it is noticed


def test_the_monitor_marks_rows_and_ends_with_1(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = manager.launch("printf 'one\\ntwo \\033[31m\\n'; sleep 60", "--capsule=none")
    until(lambda: manager.log(identity))
    for minutes, sign in ((1, ""), (4, "! "), (11, "^! ")):
        for log in (RUNS / identity).glob("*.*"):
            os.utime(log, (names.moment("20251023-180500"),) * 2)
        monkeypatch.setenv("CONTEXT_NOW", f"2025-10-23T18:{5 + minutes:02}:00Z")
        out = manager("monitor", "--iterations=1", status=1 if sign else 0)
        assert out.splitlines()[2].startswith(sign + identity)
        assert ("requires manual attention" in manager.said) == bool(sign)
    assert "reason: runtime, log); its last line: two [31m" in manager.said
    assert f"Outstanding subagents: {identity}" in manager.said
    for name in ("agent.log", "progress.md"):
        (RUNS / identity / name).unlink()
    out = manager("monitor", "--iterations=1", "--runtime-threshold=9999", status=1)
    assert out.splitlines()[2].startswith(f"? {identity}")
    (shown,) = json.loads(manager("monitor", "--iterations=1", "--json", status=1))
    assert shown["alerts"] == ["stale", "runtime"]


def test_the_monitor_gives_up_after_three_looks_with_an_alert(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[float] = []
    monkeypatch.setattr(time, "sleep", looks.append)
    manager.launch("sleep 60", "--capsule=none")
    monkeypatch.setenv("CONTEXT_NOW", "2025-10-23T19:05:00Z")
    manager("monitor", "--interval=7", status=1)
    assert sum(looks) == 14 and manager.said.count("requires manual attention") == 1


def test_the_monitor_says_who_died_whoever_noted_it_first(manager: Manager) -> None:
    identity = manager.launch("echo Capsule Gap: the port; exit 7", "--capsule=none")
    until(lambda: rows()[0]["status"] == "failed")  # the shell's own look, which nobody reads
    manager("monitor", "--iterations=1", status=1)
    assert f"{identity}: failed (exit 7)" in manager.said
    assert f"{identity}: Capsule Gap: the port" in manager.said
    manager("monitor", "--iterations=1")
    assert "failed" not in manager.said and "unread" not in rows()[0]


def test_a_look_at_the_latest_keeps_to_it_when_a_newer_one_is_started(
    manager: Manager, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = manager.launch("exit 7", "--capsule=none")
    until(lambda: rows()[0]["status"] == "failed")
    change = registry.change

    def overtaken(*arguments: Any) -> Any:
        monkeypatch.setattr(registry, "change", change)
        registry.add(layout, "newer", lambda new: {"id": new, "slug": "x", "status": "running"})
        return change(*arguments)

    monkeypatch.setattr(registry, "change", overtaken)
    manager("status", "--id=latest")
    assert f"{identity}: failed (exit 7)" in manager.said


def test_an_end_without_a_result_is_said_with_the_last_words(manager: Manager) -> None:
    dead = manager.launch("echo no key; exit 7", "--capsule=none")
    silent = manager.launch("true", "--capsule=none", "--slug=silent")
    until(lambda: {row["status"] for row in rows()} == {"failed", "finished"})
    until(lambda: all(row.get("verdict") for row in rows()))
    manager("status")
    assert f"{dead}: failed (exit 7): no key" in manager.said
    assert f"{silent}: finished, but its verdict is ERROR" in manager.said


def test_an_end_with_a_report_says_where_it_is(manager: Manager) -> None:
    short = manager.launch("echo it is safe", "--capsule=none")
    report = ".contextkit/reports/$CONTEXT_SUBAGENT_ID.md"
    left = f"mkdir -p .contextkit/reports; echo '# R' > {report}; echo ok"
    long = manager.launch(left, "--slug=long", "--capsule=none")
    until(lambda: all(row.get("verdict") for row in rows()))
    manager("monitor", "--iterations=1")
    log, report = (row["detail"] for row in rows())
    assert f"{short}: finished: NEEDS_ATTENTION, in {log}" in manager.said
    assert f"{long}: finished: NEEDS_ATTENTION, in {report}" in manager.said
    assert Path(log).is_file() and "# R" in Path(report).read_text(encoding="utf-8")


def test_a_launch_leaves_an_end_that_was_recorded_before_it_returns(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = launching._note

    def slow(*arguments: Any) -> None:
        note(*arguments)
        until(lambda: rows()[0]["status"] == "failed")  # the shell's own look is faster

    monkeypatch.setattr(launching, "_note", slow)
    identity = manager.launch("exit 7", "--capsule=none")
    (row,) = rows()
    assert (row["status"], row["exit_code"]) == ("failed", 7) and row["launcher_handle"]["pid"]
    manager("status")
    assert manager.said.count(f"{identity}: failed (exit 7)") == 1


def test_a_look_that_overlaps_the_shells_own_says_it_once(
    manager: Manager, layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = manager.launch("exit 7", "--capsule=none")
    until(lambda: rows()[0]["status"] == "failed")
    registry.update(layout, identity, status="running")
    change = registry.change

    def overtaken(*arguments: Any) -> Any:
        monkeypatch.setattr(registry, "change", change)
        registry.update(layout, identity, status="failed", unread=True)
        return change(*arguments)

    monkeypatch.setattr(registry, "change", overtaken)
    manager("status")
    assert manager.said.count(f"{identity}: failed") == 1
    manager("status")
    assert "failed" not in manager.said


# The end of a subagent


def finish(manager: Manager, *options: str, text: str | None = None, status: int = 0) -> str:
    base = ("--agent=ui", "--status=NEEDS_ATTENTION", "--summary=Two defects")
    return manager("finish", *base, *options, stdin=text, status=status)


REPORT = "## Finding\n\nThe cache takes 52 ms in `src/a.py:4`.\n- **Capsule Gap:** which port?\n"


def test_finish_stores_the_text_and_names_it_in_the_verdict(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESSION_ID", "s-42")
    receipt = finish(manager, "--model=haiku", text=REPORT)
    path = receipt.partition("@stored: ")[2].partition("\n")[0].strip('"')
    assert path.startswith("shared/payloads/s-42/") and REPORT in Path(path).read_text("utf-8")
    until(Path(".clavain/verdicts/ui.json").exists)
    verdict = json.loads(Path(".clavain/verdicts/ui.json").read_text(encoding="utf-8"))
    assert (verdict["status"], verdict["detail_path"]) == ("NEEDS_ATTENTION", path)
    assert (verdict["session_id"], verdict["model"]) == ("s-42", "haiku")
    assert "its Capsule Gap is not kept" in manager.said


def test_finish_without_a_text_writes_a_verdict_alone(manager: Manager) -> None:
    assert finish(manager) == "NEEDS_ATTENTION\tui\tTwo defects\n"
    assert not Path("shared").exists()
    until(Path(".clavain/verdicts/ui.json").exists)
    verdict = json.loads(Path(".clavain/verdicts/ui.json").read_text(encoding="utf-8"))
    assert verdict["detail_path"] == ""
    finish(manager, text=" \n")
    assert not Path("shared").exists()


@each("options", [["--agent=a/b"], ["--status=GREEN"], ["--summary= "],
                                     ["--id=nobody"], ["--session=a b"]])  # fmt: skip
def test_a_finish_that_is_refused_writes_nothing(manager: Manager, options: list[str]) -> None:
    finish(manager, *options, text=REPORT, status=2)
    assert git("status", "--porcelain", "--ignored") == ""


def test_gaps_of_report_progress_log_and_output_reach_the_row(manager: Manager) -> None:
    identity = manager.launch(
        "cd .contextkit/subagents/$CONTEXT_SUBAGENT_ID;"
        " echo '- Capsule Gap: which token?' >> progress.md; echo 'Capsule Gap: which host?'",
        "--slug=ui", "--capsule=none",
    )  # fmt: skip
    manager.ended(identity)
    assert rows()[0]["capsule_gaps"] == ["which token?", "which host?"]
    finish(manager, f"--id={identity}", text=REPORT)
    (row,) = rows()
    assert row["capsule_gaps"] == ["which token?", "which host?", "which port?"]
    assert "Capsule Gap: which port?" in manager.said
    assert row["verdict"] == "NEEDS_ATTENTION" and row["status"] == "finished"
    gaps = registry.open_gaps(Layout(), "feature/demo")
    assert gaps == [f"which {what}? ({identity})" for what in ("token", "host", "port")]
    assert registry.open_gaps(Layout(), "feature/demo", "2025-10-23T18:06:00Z") == []


def test_a_broken_registry_loses_no_report(manager: Manager) -> None:
    REGISTRY.parent.mkdir(parents=True)
    REGISTRY.write_text("<<<<<<< ours\n", encoding="utf-8")
    assert "@stored" in finish(manager, "--id=x", text=REPORT)
    assert "the registry could not be written" in manager.said
    assert REGISTRY.read_text(encoding="utf-8") == "<<<<<<< ours\n"
    manager("launch", "--slug=x", "--cmd=true", "--capsule=none", status=1)
    manager("status", status=1)
    assert list(RUNS.glob("*")) == []


def test_a_secret_in_a_summary_is_redacted(manager: Manager) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3
    out = finish(manager, f"--summary=found {secret}", text=REPORT)
    assert secret not in out + Path(".clavain/verdicts/ui.json").read_text(encoding="utf-8")


# Many at once, and killed


def test_ten_launches_at_once_keep_ten_rows(manager: Manager) -> None:
    started = [
        start("subagent_manager.py", "launch", "--slug=same", "--cmd=true", "--capsule=none")
        for _ in range(10)
    ]
    identities = {process.communicate(timeout=300)[0].strip() for process in started}
    assert len(identities) == 10
    assert {row["id"] for row in rows()} == identities
    for identity in identities:
        assert manager.ended(identity)["status"] == "finished"


def test_a_launcher_killed_at_any_moment_leaves_whole_rows(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forked: the child is killed after so many of its file operations."""
    for number in (*range(1, 90, 3), 10_000):
        child = os.fork()
        if child == 0:
            kill_after(number)
            try:
                __import__("subagent_manager").main(
                    ["launch", f"--slug=n{number}", "--cmd=true", "--capsule=none"]
                )
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        if REGISTRY.exists():
            for row in rows():
                assert row["prompt_path"] and "head" in row
    until(lambda: all(one["status"] in ("finished", "failed") for one in manager.status()))
    found = {one["slug"]: one["status"] for one in manager.status()}
    assert set(found.values()) == {"finished", "failed"}
    assert found["n10000"] == "finished"


def kill_after(count: int) -> None:
    left = [count]

    def watch(event: str, _arguments: Callable[..., object] | tuple[object, ...]) -> None:
        if event in ("open", "os.rename", "os.link", "os.mkdir", "os.posix_spawn"):
            left[0] -= 1
            if left[0] <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def test_on_a_terminal_the_monitor_draws_a_screen_anew(manager: Manager) -> None:
    rows = [
        {"id": f"20251023-1805{n:02}-{slug}", "slug": slug, "status": status,
         "launched_at": "20251023-180500"}
        for n, (slug, status) in enumerate([("fine", "finished"), ("odd-one", "failed")])
    ]  # fmt: skip
    REGISTRY.parent.mkdir(parents=True)
    more = [{**rows[0], "id": f"more-{n}", "slug": "x" * 90} for n in range(40)]
    lost = {**rows[0], "id": "lost-" + "y" * 60, "slug": "lost", "status": "running"}
    REGISTRY.write_text(json.dumps([*rows, lost, *more]), encoding="utf-8")
    seen, tty = pty.openpty()
    import fcntl
    import struct
    import termios

    fcntl.ioctl(tty, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    done = subprocess.run(
        [sys.executable, str(SCRIPTS / "subagent_manager.py"), "monitor", "--iterations=1"],
        stdout=tty, stderr=subprocess.PIPE, check=False,
    )  # fmt: skip
    os.close(tty)
    drawn = os.read(seen, 65_536).decode("utf-8")
    os.close(seen)
    assert done.returncode == 1, done.stderr
    assert drawn.startswith("\x1b[H") and "\x1b[J" in drawn
    lines = drawn.partition("\x1b[J")[0].replace("\x1b[H", "").replace("\x1b[K", "").splitlines()
    assert len(lines) <= 23 and all(len(line) < 80 for line in lines)
    assert lines[2].startswith("! lost") and "stale" in lines[2]
    assert lines[3].startswith("! odd-one") and "dead" in lines[3]
    assert any(" more" in line for line in lines)
    assert lines[-1].startswith("lost-yyy") and lines[-1].endswith("(reason: stale)")


def test_the_report_that_an_agent_left_in_its_file_is_handed_in_when_it_ends(
    manager: Manager,
) -> None:
    identity = manager.launch(
        "mkdir -p .contextkit/reports; printf '# R\\n\\nThe cache takes 52 ms.\\n'"
        " > .contextkit/reports/$CONTEXT_SUBAGENT_ID.md; echo 'It takes 52 ms. Cache it.'",
        "--slug=ui", "--capsule=none",
    )  # fmt: skip
    manager.ended(identity)
    until(Path(".clavain/verdicts/ui.json").exists)
    verdict = json.loads(Path(".clavain/verdicts/ui.json").read_text(encoding="utf-8"))
    assert verdict["summary"] == "It takes 52 ms. Cache it."
    assert "The cache takes 52 ms." in Path(verdict["detail_path"]).read_text("utf-8")
    assert not list(Path(".contextkit/reports").iterdir())


def test_a_long_output_is_a_report_too_and_its_own_summary_the_verdicts(manager: Manager) -> None:
    text = "# R\n\n## Summary\n\nThe cache is slow. Read once.\n\n## More\n\n" + "Words. " * 800
    Path("out.md").write_text(text, encoding="utf-8")
    manager.ended(manager.launch("cat out.md", "--slug=ui", "--capsule=none"))
    until(Path(".clavain/verdicts/ui.json").exists)
    verdict = json.loads(Path(".clavain/verdicts/ui.json").read_text(encoding="utf-8"))
    assert verdict["summary"] == "taken from its output: The cache is slow. Read once."
    assert verdict["status"] == "PARTIAL"
    assert text in Path(verdict["detail_path"]).read_text("utf-8")


@each("named", [False, True])
def test_finish_takes_the_file(manager: Manager, named: bool) -> None:
    identity = manager.launch("true", "--slug=ui", "--capsule=none")
    manager.ended(identity)
    left = Path(".contextkit/reports") / f"{identity}.md"
    left.parent.mkdir(exist_ok=True)
    left.write_text(REPORT, encoding="utf-8")
    receipt = finish(manager, f"--id={identity}", *[f"--file={left}"] * named)
    assert "keyFindings: Two defects" in receipt and not left.exists()
    assert REPORT in Path(receipts.parse_path(receipt)).read_text("utf-8")


def test_two_cleanups_at_once_both_succeed(manager: Manager) -> None:
    identity = manager.launch("true", "--type=worktree", "--capsule=none")
    manager.ended(identity)
    command = [sys.executable, str(SCRIPTS / "subagent_manager.py"), "cleanup", identity]
    calls = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    said = [(*call.communicate(), call.returncode) for call in calls]
    assert said == [(f"{identity}\n", "", 0)] * 4
    assert rows()[0]["status"] == "cleaned" and not (RUNS / identity).exists()


def test_status_shows_what_is_even_where_nothing_can_be_recorded(
    manager: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(launching, "_look", lambda order: "")  # its own look may come late
    identity = manager.launch("true", "--type=here", "--capsule=none")
    manager.ended(identity)
    registry.update(Layout(), identity, status="running")  # as if nobody had looked yet

    def full(*given: object, **more: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(files, "write", full)
        assert manager.status()[0]["status"] == "finished"
        assert "not recorded (No space left on device)" in manager.said
        assert rows()[0]["status"] == "running"
    assert manager.ended(identity)["status"] == "finished"

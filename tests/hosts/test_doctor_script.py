"""make doctor: what is wrong is found, said with its fix, and nothing else is."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from checkouts import executable
from conftest import CHECKOUT, Script, each, git
from contextkit.base import files, ledger, stores, tokens, version
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents import settings, vendored
from contextkit.hosts.flows import adoption, changes, doctor, runner
from contextkit.payloads.flows import storing


@pytest.fixture
def hooked(repo: Path) -> Path:
    """A repository with the hooks of this toolkit."""
    write_hooks(repo)
    return repo


def write_hooks(repo: Path, toolkit: Path = CHECKOUT) -> None:
    """Hooks for all events of Claude Code."""
    found = settings.wanted(hosts.find("claude"), str(toolkit))
    text, _ = settings.merged("", found, None, "s")
    (repo / ".claude").mkdir(exist_ok=True)
    (repo / ".claude" / "settings.json").write_text(text, encoding="utf-8")


def wrong(run: Script, *arguments: str) -> list[str]:
    """The lines of what is wrong; the status says the same."""
    status = run("doctor", *arguments)
    found = [line.removeprefix("wrong: ") for line in run.out.splitlines() if line[:6] == "wrong:"]
    assert status == (1 if found else 0), run.out
    return found


@pytest.fixture
def untried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hooks are not fired: a test is about something else."""
    monkeypatch.setattr(doctor, "fire", lambda layout, host: ())


def test_right_after_adoption_nothing_is_wrong(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All hooks of all hosts are fired, and that leaves nothing behind."""
    fired: list[tuple[str, list[str]]] = []
    fire = doctor.fire

    def watched(layout: Layout, host: hosts.Host) -> list[tuple[str, list[str]]]:
        fired.extend(trials := list(fire(layout, host)))
        return trials

    monkeypatch.setattr(doctor, "fire", watched)
    monkeypatch.setattr(vendored, "_tracked", lambda: None)  # a module may not be committed yet
    plan = adoption.adopt(str(repo), "tools/contextkit", hosts.names_of_hosts(), False)
    changes.carry_out(plan)
    before = sorted(str(path) for path in repo.rglob("*") if ".git/" not in str(path))
    assert wrong(run) == []
    assert [event for event, _ in fired] == [
        event for host in hosts.every() for event in settings.events(host)
    ]
    assert run.out.endswith("nothing is wrong\n")
    assert "Claude Code is not installed here" in run.out or "claude" in os.environ["PATH"]
    assert before == sorted(str(path) for path in repo.rglob("*") if ".git/" not in str(path)
                            and "__pycache__" not in str(path))  # fmt: skip


def test_the_hooks_of_a_folder_below_the_root_are_found(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its copy knows where it was adopted; hosts are started there."""
    copy = repo / "pkg" / "tools" / "contextkit"
    copy.mkdir(parents=True)
    record = vendored.Adopted(folder="tools/contextkit", hosts=("claude",))
    (copy / vendored.RECORD).write_text(vendored.render(record), encoding="utf-8")
    write_hooks(repo / "pkg", copy)
    assert adoption.installed(Layout(), hosts.find("claude")) == []
    monkeypatch.setattr(version, "TOOLKIT", str(copy))
    claude = hosts.find("claude")
    assert len(adoption.installed(Layout(), claude)) == len(claude.events)
    assert adoption.top_of(Layout()) == str(repo / "pkg")


def test_that_nothing_counts_tokens_exactly_is_a_note(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(tokens._COUNTERS, "o200k_base", None)
    assert run("doctor") == 0 and "note: set-up: splintr-rs is not installed" in run.out
    (repo / "contextkit.yaml").write_text("tokenizer: claude\n", encoding="utf-8")
    run("doctor")
    assert "splintr" not in run.out


def test_without_hooks_that_is_a_note(
    repo: Path, tmp_path: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repo / "a b").mkdir()
    monkeypatch.chdir(repo / "a b")
    note = "note: hosts: no hooks are installed here except a plugin's"
    assert wrong(run) == [] and f"{note} (make adopt into={repo})" in run.out
    monkeypatch.chdir(repo)
    assert wrong(run, "--host=claude") == [] and f"{note} (make adopt into=.)" in run.out
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    executable(tmp_path / "bin" / "codex", "")
    assert wrong(run) == []
    assert "Codex: no hooks are installed here (make adopt into=. hosts=codex)" in run.out


@pytest.mark.usefixtures("untried")
def test_a_host_that_nobody_uses_is_not_named(hooked: Path, run: Script) -> None:
    assert wrong(run) == [] and "Cursor" not in run.out


def test_json_says_the_same(repo: Path, run: Script) -> None:
    assert run("doctor", "--json", "--host=codex") == 0
    found = json.loads(run.out)
    assert found[-1]["level"] == "note" and set(found[-1]) == {"id", "level", "problem", "mend"}


@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("exit 2;", "exit status 2"),
        ("echo hello;", "plain text: Stop takes only JSON"),
        ("echo '{]';", "not valid JSON"),
        ("/no/such/program;", "exit status 127"),
    ],
)
def test_an_answer_that_a_host_would_not_take_is_found(
    repo: Path, tmp_path: Path, command: str, problem: str
) -> None:
    words = ["/bin/sh", "-c", command]
    found = doctor._fire(Layout(), hosts.find("claude"), "Stop", words, "{}", str(tmp_path))
    assert problem in found[0]


@pytest.mark.parametrize("folder", ["tools/contextkit", "x;touch $HOME/../ran;y"])
def test_a_folder_of_a_clone_with_links_to_our_launcher_is_none_of_ours(
    repo: Path, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clone may name the folder of its copy, and put links to our launcher there."""
    ran = repo.parent / "ran"
    (repo / folder / "scripts").mkdir(parents=True)
    (repo / folder / "scripts/hook.sh").symlink_to(version.toolkit("scripts/hook.sh"))
    python = repo / folder / ".venv/bin/python"
    files.write(str(python), f"#!/bin/sh\ntouch '{ran}'\n")
    python.chmod(0o755)
    monkeypatch.setattr(adoption, "record_of", lambda top: vendored.Adopted(folder=folder))
    for name in hosts.names_of_hosts():
        host = hosts.find(name)
        text, _ = settings.merged("", settings.wanted(host, folder), None, "s", host.flat)
        files.write(str(repo / host.settings), text)
    problems = [told for host in hosts.every() for _, told in doctor.fire(Layout(), host)]
    assert problems and all(told == [doctor.FOREIGN] for told in problems)
    assert not ran.exists()


@pytest.mark.parametrize(
    "changed",
    [
        "touch {ran} # {0}", "{0}; touch {ran}", "{0} ", " {0}", "sh {0}",
        "'{repo}/tools/contextkit/scripts/hook.sh' Stop --host=claude",
        '"${{CLAUDE_PROJECT_DIR}}"/tools/contextkit/scripts/hook.sh Stop --host=claude',
        '"${{CLAUDE_PROJECT_DIR}}"/tools/../vendor/scripts/hook.sh Stop --host=claude',
        "{0} --x=/scripts/hook.sh --host=claude",
    ],
)  # fmt: skip
def test_what_is_not_byte_for_byte_ours_is_shown_and_not_started(
    repo: Path, run: Script, changed: str
) -> None:
    """A clone brings its own settings, and its own launcher at the usual place."""
    ran = repo.parent / "ran"
    for folder in ("tools/contextkit/scripts", "vendor/scripts"):
        launcher = repo / folder / "hook.sh"
        files.write(str(launcher), f"#!/bin/sh\ntouch '{ran}'\n")
        launcher.chmod(0o755)
    ours = settings.handler(hosts.find("claude"), "Stop", version.TOOLKIT)
    arguments = ["Stop", "--host=claude", "--linked"]
    assert ours["args"] == arguments
    command = changed.format(ours["command"], ran=ran, repo=repo)
    handlers = [
        {**ours, "command": command},
        {**ours, "args": [command, *arguments]},
        {**ours, "args": [*arguments, "x"]},
        {"type": "command", "command": f"{command} # /scripts/hook.sh --host="},
    ]
    for handler in handlers:
        group = [{"hooks": [handler]}]
        files.write(str(repo / ".claude/settings.json"), json.dumps({"hooks": {"Stop": group}}))
        trials = list(doctor.fire(Layout(), hosts.find("claude")))
        assert trials == [("Stop", [doctor.FOREIGN])] and not ran.exists()
    assert any(doctor.FOREIGN in line for line in wrong(run, "--host=claude"))
    assert not ran.exists()


def tried(repo: Path, event: str) -> str:
    """What is wrong first with one hook; the others are taken out of the settings."""
    path = repo / ".claude" / "settings.json"
    found = json.loads(path.read_text(encoding="utf-8"))["hooks"]
    path.write_text(json.dumps({"hooks": {event: found[event]}}), encoding="utf-8")
    ((_, problems),) = doctor.fire(Layout(), hosts.find("claude"))
    return problems[0]


def test_a_hook_that_is_late_is_found(hooked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_ATTEMPTS", 1)
    slow = {
        **hosts.find("claude").events,
        "Stop": hosts.find("claude").events["Stop"].replace(budget=0.001),
    }
    monkeypatch.setitem(hosts.KNOWN, "claude", hosts.find("claude").replace(events=slow))
    problem = tried(hooked, "Stop")
    assert problem.startswith("takes ") and "waits 0.001" in problem


def test_hooks_that_fail_inside_are_found_though_their_hosts_see_nothing(
    hooked: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("contextkit.base.formats.to_json", lambda value: "garbage")
    assert "not valid JSON" in tried(hooked, "SubagentStop")


def test_a_problem_in_a_hook_is_said_with_its_mend(
    hooked: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "fire", lambda layout, host: [("Stop", ["is odd"])])
    (line,) = wrong(run, "--host=claude")
    assert line.startswith("hooks: claude Stop: is odd (make adopt into=.")


@pytest.mark.usefixtures("untried")
def test_missing_and_double_hooks_are_found(hooked: Path, run: Script) -> None:
    path = hooked / ".claude" / "settings.json"
    found = json.loads(path.read_text(encoding="utf-8"))
    del found["hooks"]["Stop"]
    found["hooks"]["SessionEnd"] *= 2
    path.write_text(json.dumps(found), encoding="utf-8")
    missing, twice = wrong(run, "--host=claude")
    assert "no hook for Stop" in missing and "SessionEnd: installed twice" in twice


@pytest.mark.usefixtures("untried")
def test_hooks_that_are_not_for_the_tools_of_the_settings_are_found(
    hooked: Path, run: Script
) -> None:
    assert wrong(run, "--host=claude") == []
    (hooked / "contextkit.yaml").write_text("hook_tool_output_tokens: off\n", encoding="utf-8")
    (problem,) = wrong(run, "--host=claude")
    assert "its tool hooks do not match the settings (make adopt into=.)" in problem


def listing(*states: str) -> str:
    """What Codex answers to `hooks/list` for hooks of ours in these states of trust."""
    listed = [{"command": "/x/scripts/hook.sh", "eventName": "stop", "trustStatus": one}
              for one in states]  # fmt: skip
    return json.dumps({"id": 2, "result": {"data": [{"hooks": listed}]}})


@pytest.mark.usefixtures("untried")
@each(
    ("answer", "said"),
    [
        (listing("trusted", "managed"), ""),
        (listing("trusted", "untrusted"), "wrong: hosts: Codex does not start stop"),
        (listing(), "note: hosts: Codex starts only trusted hooks"),  # nor the folder
        ("garbage", "note: hosts: Codex starts only trusted hooks"),
    ],
)
def test_the_host_is_asked_whether_it_starts_our_hooks(
    repo: Path, tmp_path: Path, run: Script, monkeypatch: pytest.MonkeyPatch, answer: str, said: str
) -> None:
    codex = hosts.find("codex")
    text, _ = settings.merged("", settings.wanted(codex, str(CHECKOUT)), None, "s")
    files.write(str(repo / codex.settings), text)
    executable(tmp_path / "bin" / "codex", f"#!/bin/sh\nread a; read b; read c\necho '{answer}'\n")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    run("doctor", "--host=codex")
    (told, *_) = [*[line for line in run.out.splitlines() if ": hosts: " in line], ""]
    assert told.startswith(said) and bool(told) == bool(said)


@pytest.mark.usefixtures("untried")
def test_what_failed_in_a_hook_is_shown_with_the_file_to_remove(repo: Path, run: Script) -> None:
    hooks = str(repo / ".contextkit" / "hooks")
    for number in range(7):
        runner.note(hooks, "codex Stop", f"failure {number}")
    lines = wrong(run)
    assert len(lines) == 5 and "failure 6" in lines[-1]
    assert "rm .contextkit/hooks/diagnostics.log (2 older ones" in lines[-1]


@pytest.mark.usefixtures("untried")
def test_a_store_that_git_sees_is_found(layout: Layout, repo: Path, run: Script) -> None:
    output = storing.Output(topic="x", source="y", content="z", tokens=900)
    storing.store(layout, "s", output, 1761242700)
    assert wrong(run) == []
    git("add", "-f", "shared/payloads/s")
    (line,) = wrong(run)
    assert "shared/payloads: git tracks 2 of its files" in line and "git rm -r --cached" in line
    git("reset", "-q")
    (repo / "shared" / "payloads" / ".gitignore").unlink()
    (line,) = wrong(run)
    assert "shared/payloads: git sees it" in line
    shutil.rmtree(repo / "shared" / "payloads")
    (repo / "shared" / "payloads").mkdir()  # all that a store leaves on a full disk
    assert wrong(run) == []


@pytest.mark.usefixtures("untried")
def test_a_copy_of_an_older_version_is_found_and_an_edited_one_is_not(
    layout: Layout, run: Script
) -> None:
    Path(layout.capsule_template).parent.mkdir(parents=True)
    Path(layout.capsule_template).write_text(stores.sealed_copy("# Old\n"), encoding="utf-8")
    Path(layout.store("orchestration")).write_text(stores.sealed_copy("# Old\n"), encoding="utf-8")
    lines = wrong(run)
    assert len(lines) == 2
    assert all("is a copy of an older version (make context_init)" in line for line in lines)
    for path in (layout.capsule_template, layout.store("orchestration")):
        Path(path).write_text("# Mine\n", encoding="utf-8")
    assert wrong(run) == []


@pytest.mark.usefixtures("untried")
def test_the_copy_of_a_repository_with_a_longer_name_is_not_looked_over(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = repo.parent / f"{repo.name}-2" / "tools" / "contextkit"
    copy.mkdir(parents=True)
    record = vendored.Adopted(folder="tools/contextkit", files={"tools/contextkit/x": ["0"]})
    (copy / vendored.RECORD).write_text(vendored.render(record), encoding="utf-8")
    monkeypatch.setattr(version, "TOOLKIT", str(copy))
    assert not [line for line in wrong(run, "--host=claude") if "copies:" in line]


@pytest.mark.parametrize("folder", ["tools/contextkit", "kit"])
@pytest.mark.usefixtures("untried")
def test_what_adopt_put_there_is_looked_over(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    """In whatever folder the copy is, and whichever checkout doctor is run from."""
    monkeypatch.setattr(vendored, "toolkit_files", lambda: {"Makefile": (b"x:\n", False)})
    plan = adoption.adopt(str(repo), folder, ("claude",), copy=True)
    changes.carry_out(plan)
    assert wrong(run, "--host=claude") == []
    (repo / ".claude" / "skills" / "contextkit" / "SKILL.md").write_text("mine", encoding="utf-8")
    (repo / folder / "Makefile").unlink()
    (line,) = wrong(run, "--host=claude")
    assert f"{folder}/Makefile: is missing (make adopt into=.)" in line
    assert "contextkit/SKILL.md: was edited" in run.out


@pytest.mark.usefixtures("untried")
def test_a_lock_that_is_held_is_found(
    layout: Layout, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "_LOOKS", 2)
    with files.locked(layout.lock(layout.join("x"))):
        descriptor = os.open(layout.lock(layout.join("y")), os.O_RDWR | os.O_CREAT)
        (line,) = wrong(run)
        assert "x.lock: is held" in line and "fuser" in line
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        assert len(wrong(run)) == 2
        os.close(descriptor)
    assert wrong(run) == []


@pytest.mark.usefixtures("untried")
def test_a_ledger_that_cannot_be_kept_is_found(layout: Layout, run: Script) -> None:
    ledger.note(layout, "stored", "plan:a")
    assert wrong(run) == []
    (month,) = Path(layout.ledger).iterdir()
    month.rename(month.with_name("elsewhere"))
    month.symlink_to("elsewhere")
    (line,) = wrong(run)
    assert f"{layout.shown(str(month))}: cannot be read and written" in line and "mv '" in line
    month.unlink()
    month.mkdir()
    assert "history is lost" in "".join(wrong(run))
    month.rmdir()
    (month.parent / "elsewhere").unlink()
    month.parent.rmdir()
    month.parent.touch()
    (line,) = wrong(run)
    assert ".contextkit/ledger: cannot be read and written: its history is lost" in line


@pytest.mark.usefixtures("untried")
@pytest.mark.parametrize("kind", [store.kind for store in stores.with_documents()])
def test_a_document_that_cannot_be_read_is_found(layout: Layout, run: Script, kind: str) -> None:
    """In every store that is declared."""
    broken = {
        "capsule": f"{layout.capsules}/main/20251023T180500Z.md",
        "reminder": layout.reminders,
        "payload": f"{layout.payloads}/s/manifest.json",
        "handoff": f"{layout.handoffs}/handoff-a-to-b-20251023T180500Z.yaml",
        "plan": f"{layout.memory}/research_plans/t.md",
        "finding": f"{layout.memory}/findings/a_20251023T180500.md",
        "merged": f"{layout.memory}/findings/merged_20251023T180500.md",
        "checkpoint": f"{layout.memory}/checkpoints/cp_review_20251023T180500.json",
        "snapshot": f"{layout.memory}/context_snapshots/snap_20251023T180500.md",
        "run": f"{layout.state}/runs/20251023T180500Z-abcdef.json",
        "subagent": layout.registry,
    }.get(kind, f"{layout.store(kind)}/a{stores.BY_KIND[kind].suffix}")
    Path(broken).parent.mkdir(parents=True)
    Path(broken).write_bytes(b"\xff{")
    store = stores.BY_KIND[kind]
    for folder in (layout.store(store.within or kind), layout.verdicts):
        if not (store.in_git or store.is_file):
            files.store(folder)
    (line,) = wrong(run)
    assert line.startswith(f"{store.label}: {layout.shown(broken)}: ") and line.endswith(")")


@pytest.mark.usefixtures("untried")
def test_of_many_documents_that_cannot_be_read_some_are_named_and_the_others_counted(
    layout: Layout, run: Script
) -> None:
    files.store(layout.memory)
    folder = Path(layout.store("plan"))
    folder.mkdir()
    for name in "abcdefgh":
        (folder / f"{name}.md").write_text("odd", encoding="utf-8")
    lines = wrong(run)
    assert [line.partition(".md")[0][-1] for line in lines[:5]] == list("abcde")
    assert len(lines) == 6 and lines[5].startswith("memory: 3 more files cannot be read")


@pytest.mark.usefixtures("untried")
def test_a_look_that_stumbles_is_a_finding(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(layout: Layout, hosts: tuple[str, ...]) -> Iterator[doctor.Finding]:
        raise ContextError("odd")

    monkeypatch.setattr(doctor, "CHECKS", (("stores", stumble), ("stores", stumble)))
    (line,) = wrong(run)
    assert line == "stores: odd (fix that, then run doctor again)"


@pytest.mark.usefixtures("untried")
def test_old_programs_are_found(repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch) -> None:
    said = {"make": "3.81", "git": "", "python3": "3.12.1"}
    monkeypatch.setattr(doctor, "_version", said.__getitem__)
    lines = wrong(run)
    assert [line.partition(" (")[0] for line in lines] == [
        "versions: make is 3.81",
        "versions: git was not found",
    ]


@pytest.mark.usefixtures("untried")
def test_settings_that_no_host_could_read_are_found(repo: Path, run: Script) -> None:
    (repo / ".codex").mkdir()
    (repo / ".codex" / "hooks.json").write_text("{ // x\n}", encoding="utf-8")
    (line,) = wrong(run, "--host=codex")
    assert ".codex/hooks.json:1: not valid JSON" in line


def test_a_launcher_that_may_not_be_started_is_one_finding_with_its_mend(
    repo: Path, tmp_path: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    launcher = tmp_path / "kit" / "scripts" / "hook.sh"
    launcher.parent.mkdir(parents=True)
    launcher.write_text("#!/bin/sh\n", encoding="utf-8")
    write_hooks(repo)
    monkeypatch.setattr(doctor, "_own_command", lambda *_: [str(launcher)])
    (line,) = [line for line in wrong(run, "--host=claude") if line.startswith("hooks: ")]
    assert "SessionStart, UserPromptSubmit" in line
    assert f"{launcher} cannot be started: chmod +x '{launcher}'" in line
    launcher.chmod(0o755)  # what is executable and refused lies on a disk that runs nothing
    refused = doctor._why_not_started(PermissionError(13, "Permission denied", str(launcher)))
    assert "its disk is mounted noexec" in refused

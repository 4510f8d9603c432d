"""Every command of guide, card, templates and receipts is run as written.

At the top of a repository, below it, in a worktree, and where there is only a plugin.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from checkouts import a_host
from conftest import CHECKOUT, LONG, each, git
from contextkit.base import makefiles
from contextkit.hosts.flows import adoption

PLACES = ("worktree", "plugin", "top", "subfolder")
TEXT = "It takes 52 ms in `src/login.py:3`. " * 120


def commands(text: str, run: str) -> list[str]:
    """Each command in code: indented lines, with what a backslash continues, and backquotes."""
    text = text.replace(" \\\n", " ")
    shown = re.findall(rf"^    ({re.escape(run)} .*)$", text, re.M)
    return shown + re.findall(rf"`({re.escape(run)} [a-z_]+(?: [^`]+)?)`", text)


def in_order(text: str, run: str) -> list[str]:
    """The commands as they stand, those of a page in the order of their places."""
    found = commands(text, run)
    flat = text.replace(" \\\n", " ")
    return sorted(set(found), key=flat.index)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with the files that the guide's examples name."""
    folder = a_host(tmp_path / "project", "include tools/contextkit/Makefile\n")
    for name, text in {
        "report.md": f"# Report\n\n## Summary\n\nThe login is slow.\n\n{TEXT}\n",
        "src/login.py": "a = 1\n",
        "scope.md": "Try the login form.\n",
        "docs/review/safety.md": '### Findings Index\n- P2 | P2-1 | "x" | Names are long\n\n'
        "Verdict: safe\n",
        ".claude/agents/qa.md": "You are qa.\n",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    (folder / ".gitignore").write_text("tools\n", encoding="utf-8")
    git("add", "-A", cwd=folder)
    git("commit", "-qm", "files", cwd=folder)
    return folder


def change_something(folder: Path) -> None:
    with open(folder / "src" / "login.py", "a", encoding="utf-8") as file:
        file.write("b = 2\n")


def place(project: Path, name: str) -> tuple[Path, str]:
    """The folder in which the commands are typed, and what stands before each."""
    if name == "plugin":
        (project / "Makefile").unlink()
        return project, "contextkit"
    if name == "subfolder":
        return project / "src", f"make -s -C {project}"
    if name == "worktree":
        git("worktree", "add", "-q", "-b", "side", str(project.parent / "side"), cwd=project)
        shutil.copytree(project / "tools", project.parent / "side" / "tools", symlinks=True)
        return project.parent / "side", "make -s"
    return project, "make -s"


def shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = f"{CHECKOUT / 'bin'}:{os.environ['PATH']}"
    return subprocess.run(
        line, shell=True, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True,
        stdin=subprocess.DEVNULL, encoding="utf-8", timeout=60,
    )  # fmt: skip


@pytest.mark.parametrize("name", PLACES if LONG else PLACES[:1])
def test_every_command_of_the_guide_works_as_written(project: Path, name: str) -> None:
    folder, run = place(project, name)
    change_something(project if name == "subfolder" else folder)
    own = "contextkit" if name == "plugin" else "make -s"
    typed = in_order(adoption.guide(own), own)
    assert len(typed) > 30
    failed = []
    for command in typed:
        if "capsule_save" in command:
            continue  # its input is an agent's: tests/capsules
        line = command.replace("\\|", "|").replace("…", "words")
        line = re.sub(r"^(make -s|contextkit)", run, line)
        if "reminder_done" in line:
            listed = shell(re.sub("reminder_done.*", "reminders", line), folder).stdout
            line = line.replace("r-1a2b3c", re.findall(r"r-[0-9a-f]{6}", listed)[0])
        line = line.replace("timeout=600", "timeout=1").replace(" < ", f" < {project}/")
        done = shell(line, folder)
        waits = "verdict_wait" in line or "verdict_gate" in line  # nobody reviews here
        fixed = "verdict_recheck" in line and "no P0 or P1 of" in done.stderr  # so nothing is open
        if done.returncode and not ((waits and done.stdout) or fixed):
            failed.append(f"{line}\n{done.stdout}{done.stderr}")
    assert not failed, "\n".join(failed)


# What an agent calls in a day. Each line is run; what it prints names commands, which are run, too.
DAY = (
    'memory_plan task=login objective="A login form" pending="form"',
    'memory_finding agent=ui task=login status=completed summary="Slow"',
    'remember_later m="a note"',
    "reminders",
    'handoff from=dev to=qa next_action="Test it"',
    "payload_store topic=login source=dev < report.md",
    "payload_store topic=login source=dev < outputs.txt",
    "payload_list",
    "memory_recover prompt=1",
    "memory_status tokens=200000",
    "capsule_prompt",
    "context_init",
    'verdict_start process=review agents="safety style" target=src',
    "verdict_gate run=latest",
    "context_status",
    "context_sessions",
)
_NAMED = r"(?:`|: |then )((?:make -s|make|contextkit) [a-z]+_[a-z_]+(?: [^`\n]*)?)"


_END = re.compile(r"[`;]|, |\) |\)$| prints| asks|: ")


def named_in(text: str) -> list[str]:
    """The commands that a text names, with words in place of what the reader is to fill in."""
    found = [_END.split(one)[0] for one in re.findall(_NAMED, text)]
    return [one.replace("…", "words").strip(" .") for one in found]


# What hooks of a session say: at its start, receipts of an agent's report and of an output, and
# what a compaction leaves.
_REPORT = f"# Report\n\n## Summary\n\nThe login is slow.\n\n{TEXT * 3}"
_BLOCKS = [{"type": "text", "text": _REPORT}]
HOOKS: tuple[tuple[str, dict[str, object]], ...] = (
    ("SessionStart", {"source": "startup"}),
    ("SubagentStop", {"agent_id": "a", "agent_type": "qa", "last_assistant_message": _REPORT}),
    ("PostToolUse", {"tool_name": "Agent", "tool_input": {"subagent_type": "qa", "prompt": "p"},
                     "tool_response": {"content": _BLOCKS, "agentId": "a"}}),
    ("PostToolUse", {"tool_name": "Bash", "tool_input": {"command": "cat log"},
                     "tool_response": {"stdout": _REPORT, "stderr": ""}}),
    ("PreCompact", {"trigger": "manual"}),
    ("SessionStart", {"source": "compact"}),
)  # fmt: skip


def said_by_hooks(folder: Path, name: str) -> list[tuple[str, str]]:
    """The event of each hook of HOOKS and what it says, with its lines as the agent reads them."""
    words = ["--host=claude", *(["--plugin"] if name == "plugin" else [])]
    said = []
    for event, passed in HOOKS:
        given = {"session_id": "s", "cwd": str(folder), "hook_event_name": event, **passed}
        done = subprocess.run(
            [CHECKOUT / "scripts" / "hook.sh", event, *words], input=json.dumps(given),
            cwd=folder, capture_output=True, encoding="utf-8",
        )  # fmt: skip
        said.append((event, done.stdout.replace("\\n", "\n")))
    return said


@pytest.mark.parametrize("name", PLACES if LONG else PLACES[1:2])
def test_every_command_that_is_printed_works_as_written(project: Path, name: str) -> None:
    folder, run = place(project, name)
    change_something(project if name == "subfolder" else folder)
    for path in ("report.md", "outputs.txt"):
        text = (project / "report.md").read_text(encoding="utf-8") * 3
        (folder / path).write_text(text, encoding="utf-8")
    printed: dict[str, str] = {}
    root = project if name == "subfolder" else folder
    told = [(line, shell(f"{run} {line}", folder)) for line in DAY]
    said = [(line, done.stdout, done.stderr) for line, done in told]
    said += [(event, out, "") for event, out in said_by_hooks(folder, name)]
    for line, out, errors in said:
        for command in named_in(out + errors):
            printed.setdefault(command, line)
        stored = re.findall(r"@stored: ([\w./-]+)", out)  # what a receipt has opened
        assert all((root / path).is_file() for path in stored)
        assert stored or not line.startswith(("payload_store", "PostToolUse"))
    assert len(printed) > 8
    wrong = {}
    for command, line in printed.items():
        if "capsule_save" in command or "verdict_wait" in command:
            continue  # an agent's reply is its input; nobody writes the reviews here
        typed = re.sub(r"^(make -s|make|contextkit)", run, command).replace("id=words", "id=r-1")
        typed = typed.replace("ref=words", "ref=latest")
        errors = shell(typed, folder).stderr
        if re.search("there is no|not found|No rule|required|is missing|give ", errors):
            wrong[line] = f"{typed}\n{errors}"
        assert not command.startswith("make") or name != "plugin", (line, command)
    assert not wrong, wrong


def of_ours(text: str) -> Iterator[tuple[makefiles.Target, set[str]]]:
    """Each target that a text names with `make`, and the variables that it gives it."""
    named = {target.name: target for target in makefiles.targets()}
    known = {f"context_{name}": target for name, target in named.items()} | named
    for name, rest in re.findall(r"\bmake (?:-s )?([a-z]+_[a-z_]+)((?: +[^`\n]*)?)", text):
        assert name in known, name
        rest = re.split(r"[;`,]|\) ", rest.replace("\\", ""))[0]
        yield known[name], set(re.findall(r"(?:^| )([a-z_]+)=", rest))


@each(
    "path",
    [*CHECKOUT.glob("templates/**/*.*"), *CHECKOUT.glob("scripts/contextkit/**/*.py")],
)
def test_a_command_in_a_message_or_template_exists_with_its_variables(path: Path) -> None:
    if "compiled" in path.parts:
        return
    for target, given in of_ours(path.read_text(encoding="utf-8")):
        assert given <= {*target.variables}, (target.name, given)


def test_the_card_names_every_required_variable() -> None:
    known = {target.name: target for target in makefiles.targets()}
    for name, words in re.findall(r"`([a-z]+_[a-z]+)((?: [^`]+)?)`", adoption.card("guide.md")):
        command = makefiles.command_of(known[name])
        assert command is not None
        for option in command.options:
            assert not option.required or f" {option.name}=" in words, (name, option.name)

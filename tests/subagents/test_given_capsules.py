"""The capsule that the next agent gets: the newest, with what changed since; launcher and hook."""

from __future__ import annotations

import json
import os
from pathlib import Path

import planted
import pytest
from conftest import Script, each, git
from contextkit.base import agents, tokens
from contextkit.base import git as repositories
from contextkit.base.layout import Layout
from contextkit.capsules.documents import items
from contextkit.capsules.documents import store as capsules
from contextkit.capsules.flows import given
from contextkit.subagents.flows import prompts
from test_subagent_manager_script import Manager, a_capsule

from hooks import fire

LATER = "2025-10-23T19:00:00Z"


@pytest.fixture
def manager(repo: Path, run: Script) -> Manager:
    return Manager(run)


def commits(*paths: str, what: str = "Cache the tokens") -> None:
    for path in paths:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(what, encoding="utf-8")
        git("add", path)
    git("-c", "user.name=Ada", "commit", "-q", "--date", LATER, "-m", what)


@pytest.fixture(autouse=True)
def committed_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_COMMITTER_DATE", LATER)


def told(text: str) -> list[str]:
    """What a prompt or a brief says has happened since the capsule."""
    found = (line.partition(": ") for line in text.split("\n"))
    return [what for head, _, what in found if head in ("- Since then", "- Since it was written")]


def test_the_first_subagent_that_commits_does_not_blind_the_second(manager: Manager) -> None:
    path = a_capsule()
    commits("src/app.py", "tests/test_app.py")
    progress = Path("docs/branches/feature-demo/PROGRESS.md")
    progress.parent.mkdir(parents=True)
    progress.write_text("## 2025-10-23 19:30:00 UTC\n- It is cached now\n", encoding="utf-8")
    prompt = manager.prompt()
    assert "- Something about it." in prompt and str(path) in prompt
    first, entry = told(prompt)
    assert first.startswith("1 commit with changes: ")
    assert first.endswith(" Cache the tokens, in src/app.py, tests/test_app.py")
    assert entry == (
        "docs/branches/feature-demo/PROGRESS.md, 2025-10-23 19:30:00: It is cached now"
    )
    assert all(line in manager.said for line in (first, entry))
    assert told(manager.prompt("--capsule=latest")) == [first, entry]
    assert told(fire("SubagentStart", agent_id="a1", agent_type="general-purpose")) == [
        first,
        entry,
    ]


def test_what_changed_since_is_short_whatever_changed(manager: Manager) -> None:
    a_capsule()
    for number in range(30):
        commits(*(f"{'deep/' * 10}{number}-{each}.py" for each in range(4)), what="x" * 300)
    lines = told(manager.prompt())
    assert lines[0].startswith("30 commits with changes: ") and lines[0].count(" more") == 2
    assert ", in deep/" in lines[0]
    assert tokens.estimate("\n".join(lines)) <= 150


def test_a_branch_starts_with_the_capsule_of_the_one_it_was_made_from(
    manager: Manager, layout: Layout
) -> None:
    path = a_capsule()
    git("checkout", "-q", "-b", "feature/next")
    prompt = manager.prompt()
    assert str(path) in prompt and told(prompt)[0] == "It is of the branch feature/demo"
    assert str(path) in fire("SubagentStart", agent_id="a1", agent_type="general-purpose")
    git("checkout", "-q", "-b", "feature/third")
    assert given.newest(layout, "feature/third")[1] == "feature/demo"
    own = Path(capsules.path_at(layout, "feature/third", LATER))
    own.parent.mkdir(parents=True)
    own.write_text(path.read_text("utf-8").replace("feature/demo", "feature/third"), "utf-8")
    assert given.newest(layout, "feature/third") == (str(own), "feature/third")


def test_a_worktree_starts_with_a_capsule_that_is_not_committed_yet(
    manager: Manager, repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_capsule(commit=False)
    there = repo.parent / "there"
    git("worktree", "add", "-q", str(there))
    monkeypatch.chdir(there)
    assert "- Something about it." in manager.prompt()


@pytest.mark.parametrize(
    ("made", "branch", "origin"),
    [
        ("checkout -q -b b", "b", "feature/demo"),
        ("checkout -q -b b main", "b", "main"),
        ("switch -q -c b", "b", "feature/demo"),
        ("branch b", "b", "feature/demo"),
        ("worktree add -q ../b", "b", "feature/demo"),
        ("worktree add -q -b b ../tree main", "b", "main"),
        ("branch -m feature/demo b", "b", "feature/demo"),
        ("branch -q b remotes/origin/far", "b", "far"),
        ("checkout -q -b far origin/far", "far", ""),
        ("checkout -q --orphan b", "b", ""),
    ],
)
def test_git_tells_which_branch_another_was_made_from(
    layout: Layout, made: str, branch: str, origin: str
) -> None:
    git("branch", "main")
    git("update-ref", "refs/remotes/origin/far", "HEAD")
    git(*made.split())
    assert layout.repository
    found = list(given.ancestors(layout.repository, branch))
    assert found[0] == branch and (found[1:] or [""])[0] == (origin if origin != branch else "")


def test_no_secret_of_a_commit_is_told(manager: Manager) -> None:
    a_capsule()
    secret = planted.secrets()["github-classic"][".env"]
    commits("a.py", what=f"Use {secret}")
    assert secret not in manager.prompt() and "redacted" in manager.prompt()


def test_a_hook_asks_git_only_for_a_moment(layout: Layout, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Path(layout.root, "bin", "git")
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n", encoding="utf-8")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:{os.environ['PATH']}")
    with repositories.hurried(0.1):
        asked = repositories.query(layout.root, "log")
        assert asked.output() == "" and asked.failed


# What of it a subagent gets

WHOLE = """# Mission Snapshot
- **User intent:** Make the parser fast

# Key Decisions & Rationale
1. The parser in src/parser.py caches tokens — why: 52 ms a file
2. Settings stay TOML — why: the old API

# Active Workstreams
- Parser → scope: src/parser.py; owner: Ada; due: Friday; blockers: none
- Owner: Ada

# Pending Actions
- [ ] Wire it (owner: Ada, trigger: tests pass)
- [ ] Tell them (owner: Ada)

# Knowledge Base
- `src/parser.py` (new)

# Risks & Watchpoints
- The parser cache may grow — mitigation: a bound

# Transcript Highlights
- It was said.

# Exploratory Threads & User Preferences
- **Preference:** measure the parser before changing it
- **Preference:** short answers

# Consistency Checklist
- [ ] Secrets and personal data are removed
"""


def asked(repo: Path, kind: str, prompt: str) -> str:
    """A transcript in which the main agent starts an agent of this kind with this prompt."""
    path = repo.parent / "asked.jsonl"
    use = {"type": "tool_use", "name": "Agent", "input": {"subagent_type": kind, "prompt": prompt}}
    line = {"type": "assistant", "uuid": "u", "message": {"content": [use]}}
    path.write_text(json.dumps(line) + "\n", encoding="utf-8")
    return str(path)


def test_a_question_gets_what_touches_it_in_120_tokens(repo: Path) -> None:
    a_capsule(WHOLE)
    path = asked(repo, "Explore", "Which functions of src/parser.py allocate most?")
    text = fire("SubagentStart", agent_id="a", agent_type="Explore", transcript_path=path)
    layout = Layout()
    assert tokens.size(prompts.brief(layout, "feature/demo", "Explore")) <= 120
    assert tokens.size(prompts.brief(layout, "feature/demo", "Explore", "src/parser.py?")) <= 120
    assert "Make the parser fast" in text and "caches tokens" in text and "may grow" in text
    assert "measure the parser" in text
    assert not any(word in text for word in ("TOML", "Wire it", "Ada", "Secrets", "short answers"))
    assert "Make the parser fast" in fire("SubagentStart", agent_id="b", agent_type="Explore")


def test_a_launched_agent_with_a_question_gets_the_same_excerpt(
    manager: Manager, layout: Layout
) -> None:
    path = a_capsule(WHOLE)
    question = "Which functions of src/parser.py allocate most?"
    Path("scope.md").write_text(question + "\n", encoding="utf-8")
    whole = given.at(layout, str(path), "feature/demo").body
    excerpt = items.excerpt(whole, question)
    assert "Make the parser fast" in excerpt and "Wire it" not in excerpt
    prompt = manager.prompt("--scope=scope.md")
    assert f"```markdown\n{excerpt}\n```" in prompt and "The whole of it is in `" in prompt
    assert "Wire it" in manager.prompt("--scope=scope.md", "--capsule=latest")
    Path("scope.md").write_text("Rewrite src/parser.py\n", encoding="utf-8")
    assert "Wire it" in manager.prompt("--scope=scope.md")


@each(
    ("kind", "task", "is_question"),
    [
        ("Explore", "Rewrite the parser", True),
        ("general-purpose", "Where is the parser?", False),
        ("coder", "Where is the parser?", True),
        ("coder", "Find out what it costs. How long does a parse take?", True),
        ("coder", "Rewrite the parser", False),
        ("coder", "Why " + "so " * 100 + "slow?", False),
    ],
)
def test_what_only_answers_a_question(kind: str, task: str, is_question: bool) -> None:
    assert agents.asks(kind, task) is is_question


def test_an_agent_that_works_gets_all_but_the_checklist_and_who_owns_what(
    manager: Manager,
) -> None:
    a_capsule(WHOLE)
    hooked = fire("SubagentStart", agent_id="a", agent_type="general-purpose")
    for text in (manager.prompt(), hooked):
        for line in ("Settings stay TOML", "scope: src/parser.py; due: Friday; blockers: none",
                     "- [ ] Wire it (trigger: tests pass)\n- [ ] Tell them\n"):  # fmt: skip
            assert line in text
        assert not any(word in text for word in ("owner", "Owner", "Ada", "Consistency Checklist"))

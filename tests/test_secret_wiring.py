"""Decision 35: what is typed is refused with a secret in it, what hooks write is redacted."""

from __future__ import annotations

import json
import os
from pathlib import Path

import planted
import pytest
from conftest import Script, trusted
from contextkit.base import names
from contextkit.base.layout import Layout
from contextkit.handoffs.flows import switch
from contextkit.memory.documents import snapshots
from contextkit.memory.flows import saving

SECRET = planted.secrets()["github-classic"][".env"].partition("=")[2]
HANDOFF = ("handoff", "write", "--from=sm", "--to=dev", "--no-story", "--next-action=go on")
PLAN = ("external_memory", "plan", "--task=t")
FINDING = ("external_memory", "finding", "--task=t", "--agent=a", "--status=failed", "--summary=s")
CHECKPOINT = ("external_memory", "checkpoint", "--task=t", "--phase=review", "--summary=s",
              "--next-action=n")  # fmt: skip
SNAPSHOT = ("external_memory", "snapshot", "--task=t", "--summary=s")
FIELDS = [
    *((HANDOFF, name) for name in ("decision", "blocker", "file-modified", "task", "next-action")),
    *((PLAN, name) for name in ("objective", "question", "next-action")),
    *((FINDING, name) for name in ("summary", "discovery", "file-modified")),
    *((CHECKPOINT, name) for name in ("summary", "recovery", "file-modified")),
    *((SNAPSHOT, name) for name in ("important", "decision", "file-modified")),
]  # fmt: skip


def stored() -> str:
    """Everything that lies in the work tree, but for git's own."""
    found = []
    for folder, inside, files in os.walk("."):
        inside[:] = [name for name in inside if name != ".git"]
        found += [Path(folder, name).read_bytes().decode("utf-8", "replace") for name in files]
    return "\n".join(found)


@pytest.mark.parametrize(("call", "field"), FIELDS, ids=lambda part: "-".join(part[:2]))
def test_a_typed_secret_is_refused_by_name_or_taken_out(
    repo: Path, run: Script, call: tuple[str, ...], field: str
) -> None:
    typed = f"--{field}=uses {SECRET}"
    assert run(*call, typed) == 2
    assert ":1: looks like a secret (github-token)" in run.err and SECRET not in run.err
    assert "nothing was written" in run.err and stored() == ""
    assert run(*call, typed, "--redact") == 0
    assert SECRET not in stored() + run.out and "(redacted github-token)" in stored()


def test_the_list_of_what_is_allowed_is_a_way_on(repo: Path, run: Script) -> None:
    Path("contextkit.yaml").write_text("secrets_allow: [github-token]\n", encoding="utf-8")
    assert run(*PLAN, f"--objective={SECRET}") == 2 and "secrets_allow" in run.err  # of a clone
    trusted("secrets_allow: [github-token]\n")
    assert run(*PLAN, f"--objective={SECRET}") == 0 and SECRET in stored()


def test_where_a_reminder_went_holds_no_secret_either(repo: Path, run: Script) -> None:
    assert run("remember_later", "--message=x") == 0
    identity = run.out.split()[1]
    assert run("remember_later", "done", identity, f"--into={SECRET}") == 2
    assert "into:1: looks like a secret" in run.err and SECRET not in stored()
    assert run("remember_later", "done", identity, f"--into={SECRET}", "--redact") == 0
    assert SECRET not in stored() and "(redacted github-token)" in stored()


def test_why_a_subagent_was_ended_holds_no_secret(repo: Path, run: Script) -> None:
    assert run("subagent_manager", "launch", "--slug=x", "--capsule=none") == 0
    assert run("subagent_manager", "abort", run.out.strip(), f"--reason=has {SECRET}") == 0
    assert SECRET not in stored() and '"aborted_reason": "has (redacted' in stored()


def test_a_draft_and_a_batch_are_looked_through(repo: Path, run: Script) -> None:
    draft = {"to": "dev", "next_action": "go on", "decisions": ["a", f"b\n{SECRET}"]}
    assert (
        run("handoff", "write", "--from=sm", "--no-story", "--draft=-", stdin=json.dumps(draft))
        == 2
    )
    assert "decisions 2:1: looks like a secret" in run.err
    row = {"agent": "a", "status": "failed", "summary": SECRET}
    batch = json.dumps({"phase": "review", "summary": "s", "next_action": "n", "findings": [row]})
    assert run("external_memory", "batch", "--task=t", "--draft=-", stdin=batch) == 2
    assert "summary:1: looks like a secret" in run.err and stored() == ""


def test_a_report_is_redacted_and_not_refused(repo: Path, run: Script) -> None:
    report = f"## Summary\n\nThe key {SECRET} works.\n"
    assert run("external_memory", "finding", "--task=t", "--agent=a", "--status=completed",
               "--file=-", stdin=report) == 0  # fmt: skip
    assert "redacted in the report: 1 github-token" in run.err
    assert SECRET not in stored() and "(redacted github-token)" in stored()


def test_a_verdict_is_kept_without_the_secret_in_it(repo: Path, run: Script) -> None:
    write = ("verdict", "write", "--agent=a", "--status=BLOCKED")
    assert run(*write, f"--summary=leaked {SECRET}") == 0
    assert SECRET not in stored() and "leaked (redacted github-token)" in stored()
    (file,) = Path(".clavain/verdicts").glob("*.json")  # another tool wrote it
    text = file.read_text("utf-8").replace("(redacted github-token)", SECRET)
    file.write_text(text, encoding="utf-8")
    assert run("verdict", "table") == 0
    assert run.out == "BLOCKED\ta\tleaked (redacted github-token)\n"


@pytest.mark.parametrize("how", [(), ("--json",)])
def test_what_a_review_says_is_no_secret_in_its_line(
    repo: Path, run: Script, how: tuple[str, ...]
) -> None:
    Path("out").mkdir()
    text = (
        f'### Findings Index\n- P1 | P1-1 | "Login" | It logs {SECRET} as it is\nVerdict: risky\n'
    )
    Path("out/a.md").write_text(text, encoding="utf-8")
    assert run("verdict", "ingest", "--dir=out", *how) == 0
    assert SECRET not in run.out and "It logs (redacted github-token)" in run.out


def test_what_hooks_write_and_what_is_injected_is_redacted(repo: Path, run: Script) -> None:
    profiles = Path(".claude/agents")
    profiles.mkdir(parents=True)
    (profiles / "dev.md").write_text("You are dev.\n", encoding="utf-8")
    (profiles / "qa.md").write_text(f"You are qa. {SECRET}\n", encoding="utf-8")
    now = names.now()
    switch.switch_from_prompt(Layout(), "@dev start", now)
    text = switch.switch_from_prompt(Layout(), f"@qa look at {SECRET}", now) or ""
    made = saving.automatic_snapshot(Layout(), reason="token_limit", now=now, summary=SECRET)
    snapshots.save(Layout(), made, now)
    assert text.count("(redacted github-token)") == 2 and SECRET not in text
    (profiles / "qa.md").unlink()
    assert SECRET not in stored()
    assert run(*PLAN, "--objective=o") == 0 and run(*CHECKPOINT) == 0
    (plan,) = Path(".temp/memory").glob("**/t.md")
    plan.write_text(plan.read_text("utf-8").replace("o\n", f"o {SECRET}\n", 1), encoding="utf-8")
    for options in ((), ("--json",)):
        run("external_memory", "recover", "--task=t", *options)
        assert SECRET not in run.out and "(redacted github-token)" in run.out

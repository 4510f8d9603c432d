"""The address in a row of any list can be pasted into the commands of its kind, and be opened."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Script
from contextkit.base import tokens
from signing import sign

REVIEW = """\
### Findings Index
- P1 | P1-1 | "Login" | src/auth.py:42 the token is logged
Verdict: needs-changes

### Issues Found
#### P1-1. the token is logged
In `src/auth.py:42` the token goes into the log.
"""


@pytest.fixture(autouse=True)
def session(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SESSION_ID", "s-1")
    Path("report.md").write_text("# Report\n\nA race in src/auth.py:42.\n", encoding="utf-8")


def rows(run: Script, program: str, *arguments: str) -> list[dict[str, Any]]:
    assert run(program, *arguments, "--json") == 0, run.err
    found: list[dict[str, Any]] = json.loads(run.out)
    return found


def opened(run: Script, ref: str) -> str:
    """What `context_show` prints of an address."""
    assert run("context", "show", ref) == 0, run.err
    return run.out


def test_a_payload(run: Script) -> None:
    run("payload_store", "store", "--topic=auth", "--source=ui", "--file=report.md", "--force")
    (manifest,) = rows(run, "payload_store", "list", "--all")
    (row,) = manifest["payloads"]
    ref = f"payload:s-1/{row['id']}"
    assert run("payload_store", "show", ref, "--part=content") == 0
    assert "A race" in run.out and "A race" in opened(run, ref)
    assert rows(run, "payload_store", "find", "race")[0]["ref"] == ref
    run("payload_store", "list", "--json")
    assert "ref" not in json.loads(run.out)["payloads"][0]  # the manifest itself


def test_what_is_cut_says_how_much_there_is(run: Script) -> None:
    run("payload_store", "--topic=t", "--source=s", "--session=s", stdin="a few words " * 900)
    assert run("context", "show", "latest", "--max-tokens=40") == 0
    assert (
        tokens.estimate(run.out) <= 41
        and run.out.endswith("…\n")
        and run.err.startswith("context: cut from ~")
    )
    assert run("context", "show", "latest") == 0 and run.err == ""


def test_a_handoff(run: Script) -> None:
    run("handoff", "write", "--from=a", "--to=b", "--no-story", "--next-action=x")
    (row,) = rows(run, "handoff", "list")
    assert run("handoff", "show", row["ref"]) == 0 and run.out == opened(run, row["ref"])
    assert run("handoff", "consume", row["ref"]) == 0
    assert rows(run, "handoff", "list")[0]["state"] == "consumed"


def test_a_capsule(run: Script) -> None:
    assert run("capsule_prompt", "--stub") == 0
    (row,) = rows(run, "capsule", "list")
    assert row["ref"].startswith("capsule:")
    run("capsule", "check", f"--file={row['ref']}", "--json")
    assert row["id"] in run.out
    assert "primary_objective" in opened(run, row["ref"])


def test_a_reminder(run: Script) -> None:
    run("remember_later", "--message=small commits")
    (row,) = rows(run, "remember_later", "list")
    assert "small commits" in opened(run, row["ref"])
    assert run("remember_later", "done", row["ref"]) == 0
    assert rows(run, "remember_later", "list") == []
    run("remember_later", "--message=elsewhere", "--file=notes/inbox.md")
    assert rows(run, "remember_later", "list", "--file=notes/inbox.md")[0]["ref"] == ""


def test_a_subagent(run: Script) -> None:
    assert run("subagent_manager", "launch", "--slug=measure", "--capsule=none") == 0
    (row,) = rows(run, "subagent_manager", "status")
    assert row["ref"] == f"subagent:{row['id']}" and row["id"] in opened(run, row["ref"])
    assert rows(run, "subagent_manager", "status", row["ref"])[0]["id"] == row["id"]


def test_every_document_of_a_memory_and_its_task(run: Script) -> None:
    run("external_memory", "plan", "--task=auth", "--objective=a login")
    run("external_memory", "finding", "--task=auth", "--agent=ui", "--status=completed",
        "--summary=a race in src/auth.py:42")  # fmt: skip
    run("external_memory", "checkpoint", "--task=auth", "--phase=exploration", "--summary=read",
        "--next-action=go on", "--completed=read")  # fmt: skip
    assert not run.err, run.err
    run("external_memory", "snapshot", "--task=auth", "--summary=so far")
    found = {row["kind"]: row for row in rows(run, "external_memory", "list")}
    assert set(found) == {"plan", "finding", "checkpoint", "snapshot"}
    for kind, row in found.items():
        assert row["ref"].startswith(f"{kind}:") and opened(run, row["ref"])
    assert found["plan"]["ref"] == "plan:auth"
    only = rows(run, "external_memory", "list", "--task=plan:auth")
    assert {row["task"] for row in only} == {"auth"} and len(only) == 4
    run("external_memory", "finding", "--task=plan:auth", "--agent=db", "--summary=no index",
        "--status=completed")  # fmt: skip
    assert len(rows(run, "external_memory", "list", "--task=auth")) == 5
    assert run("external_memory", "recover", "--task=finding:ui_20251023T180500") == 2
    assert "task: 'finding:ui_20251023T180500' must be" in run.err


def test_a_verdict(run: Script) -> None:
    run("verdict", "write", "--agent=x:fd-safety", "--status=BLOCKED", "--summary=a token",
        "--detail=report.md")  # fmt: skip
    for command in ("table", "attention"):
        (row,) = rows(run, "verdict", command)
        assert row["ref"] == "verdict:x%3Afd-safety"
    assert "a token" in opened(run, row["ref"])
    assert run("verdict", "read", row["ref"]) == 0 and run.out.startswith("BLOCKED\t")
    assert run("verdict", "read", "--agent=verdict:nobody") == 1
    run("verdict", "show", row["ref"])
    assert "there is no" not in run.err


def test_a_review_run_its_verdicts_and_its_findings(run: Script) -> None:
    assert run("verdict", "start", "--process=flux-drive", "--agents=fd-a", "--target=report.md",
               "--json") == 0  # fmt: skip
    (one,) = rows(run, "verdict", "runs")
    assert one["ref"] == f"run:{one['id']}" and one["id"] in opened(run, one["ref"])
    run("verdict", "index", f"--run={one['ref']}", "--json")
    (folder,) = [path.parent for path in Path().rglob("prompts")]
    (folder / "fd-a.md").write_text(REVIEW, encoding="utf-8")
    sign(folder)
    assert run("verdict", "ingest", f"--run={one['ref']}") == 0
    (row,) = rows(run, "verdict", "table", f"--run={one['ref']}")
    assert row["ref"] == f"verdict:runs/{one['id']}/fd-a"
    assert run("verdict", "read", row["ref"]) == 0 and "NEEDS_ATTENTION" in run.out
    found = rows(run, "verdict", "index", f"--run={one['ref']}")
    ref = found[0]["ref"]
    assert ref == f"review:{one['id']}/fd-a/P1-1" and list(found[0])[-1] == "ref"
    assert {each["ref"] for each in found[1:]} == {f"review:{one['id']}/fd-a"}
    assert "goes into the log" in opened(run, ref)
    assert run("verdict", "show", ref) == 0 and "goes into the log" in run.out
    assert len(rows(run, "verdict", "index", f"--run={one['id']}", f"--agent={row['ref']}")) == 2
    assert run("verdict", "dismiss", f"--run={one['ref']}", ref, "--reason=known") == 0, run.err
    (folder / "fd-a.md").write_text(REVIEW, encoding="utf-8")  # without its run's id
    assert run("verdict", "retry", f"--run={one['ref']}", f"--agent={row['ref']}") == 0, run.err


def test_findings_of_a_folder_without_a_run_have_no_address(run: Script) -> None:
    Path("review").mkdir()
    Path("review/fd-a.md").write_text(REVIEW, encoding="utf-8")
    found = rows(run, "verdict", "index", "--dir=review")
    assert {row["ref"] for row in found} == {""}

"""What came from another machine says so: `context_why`, `context_search`, the report, hooks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Script
from contextkit.hosts.flows import runner

# Longer than what is passed through unstored.
LONG = "# Auth\n" + "The cookie is renewed daily.\n" * 200


@pytest.fixture
def ref(sealed: Path, run: Script, monkeypatch: pytest.MonkeyPatch) -> str:
    """A payload that `laptop` stored and `sandbox` pulled, in `sandbox`."""
    share = f"--remote=file://{sealed}/share"
    for name in ("laptop", "sandbox"):
        (sealed / name).mkdir()
    monkeypatch.setenv("CONTEXT_MACHINE", "laptop")
    laptop = f"--root={sealed}/laptop"
    store = ("store", laptop, "--topic=auth", "--source=research", "--session=s-1")
    assert run("payload_store", *store, stdin=LONG) == 0, run.err
    assert run("context", "search", laptop, "cookie", "--json") == 0
    stored = json.loads(run.out)[0]
    assert run("context_sync", "push", laptop, share) == 0
    monkeypatch.setenv("CONTEXT_MACHINE", "sandbox")
    assert run("context_sync", "pull", f"--root={sealed}/sandbox", share) == 0
    identity = str(stored["id"])
    return identity if identity.startswith("payload:") else f"payload:{identity}"


def test_why_and_search_name_the_machine_of_a_document(ref: str, sealed: Path, run: Script) -> None:
    sandbox, laptop = f"--root={sealed}/sandbox", f"--root={sealed}/laptop"
    assert run("context", "search", sandbox, "cookie") == 0 and " on laptop" in run.out
    assert run("context", "search", sandbox, "cookie", "--json") == 0
    assert json.loads(run.out)[0]["machine"] == "laptop"
    assert run("context", "why", sandbox, ref) == 0
    assert " on laptop" in run.out.splitlines()[1], run.out
    assert run("context", "why", sandbox, ref, "--json") == 0
    assert json.loads(run.out)["written"]["machine"] == "laptop"
    # where it was stored nothing is said of a machine
    assert run("context", "why", laptop, ref) == 0 and " on laptop" not in run.out
    assert run("context", "search", laptop, "cookie") == 0 and " on laptop" not in run.out


def test_sessions_and_the_report_name_the_machine(ref: str, sealed: Path, run: Script) -> None:
    sandbox, laptop = f"--root={sealed}/sandbox", f"--root={sealed}/laptop"
    assert run("context", "sessions", sandbox, "--json") == 0
    assert [(row["session"], row["machine"]) for row in json.loads(run.out)] == [("s-1", "laptop")]
    assert run("context", "sessions", sandbox) == 0 and "s-1 on laptop" in run.out
    assert run("context", "report", sandbox, "--text", "--json") == 0
    found = json.loads(run.out)
    ((name, documents, tokens),) = found["machines"]
    assert (name, documents) == ("laptop", 1) and tokens > 0
    assert [item[6] for item in found["items"] if item[0] == ref] == ["laptop"]
    assert run("context", "report", sandbox, "--text") == 0 and "stored on" in run.out
    assert run("context", "report", laptop, "--text", "--json") == 0
    here = json.loads(run.out)
    assert here["machines"] == [] and all(len(item) == 6 for item in here["items"])


def test_a_hook_names_the_machine_of_what_it_injects(
    sealed: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    share = f"--remote=file://{sealed}/share"
    for name in ("laptop", "sandbox"):
        (sealed / name / ".git/objects").mkdir(parents=True)
        (sealed / name / ".git/HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    monkeypatch.setenv("CONTEXT_MACHINE", "laptop")
    for command in (
        ("plan", "--task=login", "--objective=A login form", "--pending=the tests"),
        ("checkpoint", "--task=login", "--phase=exploration", "--completed=x",
         "--summary=half done", "--next-action=Write the tests"),
    ):  # fmt: skip
        assert run("external_memory", *command, f"--root={sealed}/laptop") == 0, run.err
    assert run("context_sync", "push", f"--root={sealed}/laptop", share) == 0
    monkeypatch.setenv("CONTEXT_MACHINE", "sandbox")
    assert run("context_sync", "pull", f"--root={sealed}/sandbox", share) == 0
    said = {}
    for name in ("laptop", "sandbox"):
        monkeypatch.chdir(sealed / name)
        said[name] = runner.run(["SessionStart"], b'{"session_id": "s-2", "source": "resume"}')
    assert "Stored on another machine: checkpoint:" in said["sandbox"]
    assert " on laptop" in said["sandbox"]
    assert "half done" in said["laptop"] and "another machine" not in said["laptop"]


def test_a_lost_list_of_origins_is_made_again_by_the_next_pull(
    ref: str, sealed: Path, run: Script
) -> None:
    listed = sealed / "sandbox/.contextkit/sync/from"
    before = listed.read_text("utf-8")
    assert ref in before
    for lost in (listed.unlink, lambda: listed.write_text("", "utf-8")):  # as a power cut may
        lost()
        pull = ("pull", f"--root={sealed}/sandbox", f"--remote=file://{sealed}/share")
        assert run("context_sync", *pull) == 0
        assert listed.read_text("utf-8") == before

"""What came from another machine says so, in `context_why`, `context_search`, `context_events`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import Script

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

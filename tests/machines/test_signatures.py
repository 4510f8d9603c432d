"""Signatures: heads are signed with the user's SSH key, and checked against those they know."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import Script, git
from contextkit.base.errors import ContextError
from contextkit.machines.documents import manifests
from contextkit.machines.flows import remotes
from hostile_machine import foreign, put
from simulated_machines import Machine, Two

pytestmark = pytest.mark.skipif(not shutil.which("ssh-keygen"), reason="ssh-keygen is not here")


@pytest.fixture
def two(sealed: Path, monkeypatch: pytest.MonkeyPatch) -> Two:
    """`laptop`, whose user signs, and `desk`, whose user knows the key of `laptop`."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(sealed / "gitconfig"))
    keygen(sealed / "key")
    git("config", "--global", "gpg.format", "ssh")
    git("config", "--global", "user.signingKey", str(sealed / "key"))
    trust(sealed, "kim@example.com", sealed / "key.pub")
    one, other = (Machine(sealed / name, f"file://{sealed}/remote") for name in ("laptop", "desk"))
    return one, other


def keygen(path: Path) -> None:
    call = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(path)]
    subprocess.run(call, check=True)


def trust(sealed: Path, who: str, public: Path) -> None:
    (sealed / "signers").write_text(f"{who} {public.read_text('utf-8')}", encoding="utf-8")
    git("config", "--global", "gpg.ssh.allowedSignersFile", str(sealed / "signers"))


def head_path(machine: Machine, whose: Machine) -> Path:
    return Path(machine.remote.removeprefix("file://")) / manifests.head_key(whose.id)


def signer(reader: Machine) -> list[str]:
    return [row["signed"] for row in remotes.listed(reader.layout, reader.remote, [])]


def test_a_signed_head_names_its_signer_and_is_taken_without_a_word(two: Two, run: Script) -> None:
    one, other = two
    for number in range(5):  # every manifest that counts is named
        one.find_out(f"ui{number}", "text\n")
        assert one.push().messages == []
    head = json.loads(head_path(one, one).read_bytes())
    assert len(head["chain"]) == 2 and head["chain"][-1] == head["digest"]
    report = other.pull()
    assert not report.failed and report.messages == [] and len(other.files()) == 5
    assert signer(other) == ["kim@example.com"]
    assert run("context_sync", "remotes", f"--root={other.root}", f"--remote={one.remote}") == 0
    assert "signed" in run.out and "kim@example.com" in run.out


def test_an_unsigned_head_and_one_of_a_stranger_say_so(two: Two, sealed: Path) -> None:
    one, other = two
    foreign(one, ("finding/a.md", b"text\n"))
    keygen(sealed / "other")
    git("config", "--global", "user.signingKey", str(sealed / "other"))
    one.find_out("ui", "text\n")
    one.push()
    report = other.pull()
    assert sorted(line.partition(": ")[2] for line in report.messages) == [
        "not signed", "signed by nobody you know",
    ]  # fmt: skip
    assert not report.failed and len(other.files()) == 2
    assert sorted(signer(other)) == ["not signed", "signed by nobody you know"]


@pytest.mark.parametrize("change", ["head", "manifest", "unsigned", "stranger"])
def test_what_was_signed_once_is_taken_from_nobody_else(
    two: Two, sealed: Path, change: str
) -> None:
    one, other = two
    one.find_out("a", "ours\n")
    one.push()
    one.find_out("b", "ours\n")
    one.push()
    if change != "manifest":
        other.pull()
    one.find_out("a", "newer\n")
    one.push()
    before = other.files()
    path = head_path(other, one)
    head = json.loads(path.read_bytes())
    if change == "head":
        head["name"] = "desk"
    elif change == "manifest":  # an earlier one, that the newest builds on
        put(path.with_name("2.json"), path.with_name("3.json").read_bytes())
    elif change == "unsigned":
        del head["signature"]
    else:
        keygen(sealed / "other")
        keys = remotes.Keys(key=str(sealed / "other"))
        made = remotes.signed(keys, manifests.parse_head(path.read_bytes(), one.id))
        head = json.loads(manifests.render_head(made))
    put(path, json.dumps(head).encode())
    report = other.pull()
    assert report.failed and other.files() == before
    (said,) = report.messages
    wanted = {"head": "does not belong to it", "manifest": "manifest 2 of"}
    assert wanted.get(change, "was signed by kim@example.com and no longer is") in said
    if change in ("unsigned", "stranger"):
        assert remotes.forget(other.layout, other.remote, one.id)
        one.push()
        assert not other.pull().failed


def test_a_key_that_cannot_sign_is_said_and_the_push_goes_on(two: Two, sealed: Path) -> None:
    one, other = two
    git("config", "--global", "user.signingKey", str(sealed / "nowhere"))
    one.find_out("ui", "text\n")
    (said,) = one.push().messages
    assert said.startswith("not signed: ")
    assert other.pull().messages == [f"{one.known_as.name}: not signed"]


def test_only_the_user_s_own_configuration_counts(two: Two) -> None:
    one, _ = two
    git("init", "-q", str(one.root))
    evil = one.root / "signers"
    evil.write_text("kim@example.com ssh-ed25519 AAAA\n", encoding="utf-8")
    git("-C", str(one.root), "config", "gpg.ssh.allowedSignersFile", str(evil))
    git("-C", str(one.root), "config", "user.signingKey", "evil")
    keys = remotes.of_user(one.layout)
    assert "evil" not in keys.key and keys.signers != str(evil)
    git("config", "--global", "gpg.ssh.allowedSignersFile", str(evil))
    with pytest.raises(ContextError, match="must be outside the repository"):
        remotes.of_user(Machine(one.root / "below", one.remote).layout)

"""Remotes: which one is meant, which engine serves it, what is known about it, who signs there.

Heads are signed and checked with `ssh-keygen -Y`, as git signs commits, with the user's own git
configuration, never a repository's. A head names the digest of every manifest that counts.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import replace

from contextkit.base import git, names
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Any
from contextkit.machines.documents import knowledge, manifests
from contextkit.machines.documents.manifests import Entry, Head
from contextkit.machines.flows import engines

DEFAULT = "origin"
OBJECT_STORES = ("s3://", "gs://", "az://")
_NAMESPACE = "contextkit-head"  # a signature for anything else does not count
_SECONDS = 20  # for a hardware key that waits to be touched
_WANTED = r"^(user\.signingkey|gpg\.format|gpg\.ssh\.allowedsignersfile)$"


def engine(layout: Layout, remote: str) -> tuple[engines.Engine, str]:
    """The engine of the remote that is meant, and the address that keys our notes of it.

    What was pushed with another `sync_key` or none counts as another remote. Raises ContextError
    for a name that is not a remote of this repository, or for a missing key.
    """
    if needed := layout.needs_trust("sync_key"):  # without it, texts would go out in the clear
        raise ContextError(needed)
    plain, address = _plain_engine(layout, remote)
    if not layout.limits.sync_key:
        return plain, address
    key = engines.key_of(layout)
    return engines.Sealed(plain, key), f"{address}#{key.digest('')}"


def _plain_engine(layout: Layout, remote: str) -> tuple[engines.Engine, str]:
    """The unencrypted engine of the remote that is meant, and the URL it stands for."""
    named = remote or layout.limits.sync
    if not remote and (needed := layout.needs_trust("sync")):  # origin may be somebody else's
        raise ContextError(f"{needed}, or name a remote: remote={DEFAULT}")
    named = DEFAULT if named in ("off", "git") else named
    if named.startswith(OBJECT_STORES):
        return engines.Objects(named), named
    path = named.removeprefix("file://")
    if named.startswith("file://") and not _is_git(path):
        if not os.path.isabs(path):
            raise bad_input(f"remote: {named!r} must be file:// and an absolute path")
        state = os.path.realpath(layout.state)
        if f"{os.path.realpath(path)}/".startswith(f"{state}/"):
            raise bad_input(f"remote: {named!r} is where this machine keeps its own state")
        return engines.Folder(path), named
    return _git_engine(layout, named)


def _git_engine(layout: Layout, named: str) -> tuple[engines.Engine, str]:
    if named.startswith("-") or not named.isprintable():
        raise bad_input(f"remote: {named!r} is not a remote")
    typed = os.path.join(layout.here, named)
    if _is_git(typed):  # a path is relative to the caller's directory
        named = os.path.abspath(typed)
    address = named
    if not any(mark in named for mark in ("/", ":")):
        if layout.repository is None:
            raise bad_input("remote: this is not a git repository: name one, remote=URL")
        top = layout.repository.top
        address = git.run(top, "config", "--get", f"remote.{named}.url", fine=(0, 1)).strip()
        if not address:
            remotes = git.run(top, "remote").split()
            others = f"; known: {', '.join(remotes)}" if remotes else ""
            raise bad_input(f"remote: there is no git remote {named!r}{others}; remote=URL works")
    return engines.Git(layout, named, address), address


def _is_git(path: str) -> bool:
    """Whether a path is a git repository, bare or not."""
    return any(
        os.path.isfile(os.path.join(path, *folder, "HEAD"))
        and os.path.isdir(os.path.join(path, *folder, "objects"))
        for folder in ((), (".git",))
    ) or os.path.isfile(os.path.join(path, ".git"))


def read_heads(packed: dict[str, bytes], messages: list[str]) -> dict[str, Head]:
    """The readable heads, by machine; problems with others are appended to `messages`."""
    heads = {}
    for machine, data in sorted(packed.items()):
        try:
            heads[machine] = manifests.parse_head(data, machine)
        except ContextError as error:
            messages.append(f"skipped: {error}")
    return heads


def read_entries(engine: engines.Engine, head: Head, seen: int) -> dict[str, tuple[int, Entry]]:
    """The newest entry of each name in a machine's manifests after `seen`. Raises ContextError."""
    start = 0 if seen > head.number else seen
    numbers = manifests.chain(head.number, start)
    keys = {manifests.manifest_key(head.machine, number): number for number in numbers}
    packed = {keys[key]: data for key, data in engine.get(head.machine, keys)}
    digests = dict(zip(manifests.chain(head.number), head.chain, strict=True))
    entries: dict[str, tuple[int, Entry]] = {}
    for number in numbers:
        where = f"manifest {number} of {head.machine}"
        if number not in packed:
            raise ContextError(f"{where} is missing: pull again")
        data = manifests.unpack(packed[number], manifests.MOST_MANIFEST, where)
        newer = manifests.parse(data, head.machine, number)
        if names.sha256(packed[number]) != digests[number]:
            raise ContextError(f"{where} does not match its head")
        entries.update({entry.name: (number, entry) for entry in newer})
    return entries


def listed(layout: Layout, remote: str, messages: list[str]) -> list[dict[str, Any]]:
    """A row for every machine of a remote, most recent push first; `here` is this one.

    `signed` says who signed, or what is wrong; it is empty if the user knows no signers.
    """
    at, _ = engine(layout, remote)
    here, keys, now = knowledge.identity(layout), of_user(layout), names.now()
    heads = read_heads(at.heads(), messages).values()
    shown = ("machine", "name", "at", "documents", "bytes")
    rows = []
    for head in sorted(heads, key=lambda head: (head.at, head.machine), reverse=True):
        try:
            signed = " ".join(filter(None, standing(keys, head, "")))
        except ContextError:
            signed = "a wrong signature"
        age = names.age(names.moment(head.at), now, "dhm") if head.at else "unknown"
        rows.append({"id": head.machine, **{name: getattr(head, name) for name in shown},
                     "age": age, "here": here is not None and here.id == head.machine,
                     "signed": signed})  # fmt: skip
    return rows


def meant(heads: list[Head], which: str, option: str) -> list[Head]:
    """The heads meant by an id, the beginning of one, or a name. Raises ContextError."""
    fitting = [head for head in heads if which in (head.machine, head.name)]
    fitting = fitting or [head for head in heads if head.machine.startswith(which)]
    if not fitting:
        there = ", ".join(f"{head.machine} ({head.name})" for head in heads) or "none"
        raise bad_input(f"{option}: no machine is {which[:60]!r}; there: {there}")
    return fitting


def forget(layout: Layout, remote: str, which: str) -> Head:
    """Remove the machine that is meant from a remote; what others took from it stays."""
    at, address = engine(layout, remote)
    fitting = meant(list(read_heads(at.heads(), []).values()), which, "forget")
    if len(fitting) > 1:
        there = ", ".join(head.machine for head in fitting)
        raise bad_input(f"forget: {len(fitting)} machines are {which[:60]!r}: {there}")
    gone, here = fitting[0], knowledge.identity(layout)
    at.forget(gone.machine)
    if here is None:
        return gone
    with knowledge.lock(layout):
        if gone.machine == here.id:
            knowledge.save_remote(layout, knowledge.Remote(address=address), here.id)
        elif (notes := knowledge.load(layout, here.id)) and notes.signers.pop(gone.machine, ""):
            knowledge.save(layout, notes)
    return gone


class Keys(Record):
    """The key the user signs with, and the signers they know; each is empty if it is not set.

    key: a file, or a public key itself whose other half an agent holds; signers: a file.
    """

    key: str = ""
    signers: str = ""


def of_user(layout: Layout) -> Keys:
    """The user's keys. Raises ContextError for a list of signers in the repository."""
    top = layout.repository.top if layout.repository else layout.root
    listed = git.run(
        top, "config", "--global", "--includes", "--type=path", "--null", "--get-regexp", _WANTED,
        fine=(0, 1, 128),
    )  # fmt: skip
    values = dict(setting.partition("\n")[::2] for setting in listed.split("\0") if setting)
    signers = values.get("gpg.ssh.allowedsignersfile", "")
    inside = os.path.realpath(os.path.join(top, signers)) + "/"
    if signers and inside.startswith(os.path.realpath(top) + "/"):
        raise ContextError(f"gpg.ssh.allowedSignersFile: {signers} must be outside the repository")
    key = values.get("user.signingkey", "") if values.get("gpg.format") == "ssh" else ""
    return Keys(key=key, signers=signers)


def signed(keys: Keys, head: Head) -> Head:
    """The head with a signature. Raises ContextError with the reason if there is none."""
    if not keys.key:
        return head
    literal = keys.key.removeprefix("key::")
    is_key = literal != keys.key or literal.startswith("ssh-")
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write(literal + "\n")
        file.flush()
        path = file.name if is_key else keys.key
        status, out, reason = _run(head, "sign", "-f", path, "-n", _NAMESPACE)
    if status:
        raise ContextError(f"not signed: {reason}: is the key there, and known to ssh-agent?")
    return replace(head, signature=out)


def signer(keys: Keys, head: Head) -> str:
    """The known signer who signed a head; '' for none. Raises ContextError."""
    if not (keys.signers and head.signature):
        return ""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write(head.signature)
        file.flush()
        options = ("-n", _NAMESPACE, "-s", file.name)
        status, _, _ = _run(head, "check-novalidate", *options)
        if status:
            raise ContextError("its signature does not belong to it: nothing is taken from there")
        status, out, _ = _run(head, "find-principals", "-s", file.name, "-f", keys.signers)
        for name in out.splitlines() if not status else ():
            if not _run(head, "verify", *options, "-f", keys.signers, "-I", name)[0]:
                return manifests.clean_name(name)
    return ""


def standing(keys: Keys, head: Head, before: str) -> tuple[str, str]:
    """A head's signer, and what to say about it; `before` is who signed its last one.

    Raises ContextError for a head that is not what its machine signs.
    """
    name = signer(keys, head)
    if before and not name:
        raise ContextError(
            f"was signed by {before} and no longer is: nothing is taken from there;"
            f" if that is right: make context_remotes forget={head.machine}, and push there again"
        )
    if name or not keys.signers:
        return name, ""
    return "", "signed by nobody you know" if head.signature else "not signed"


def _run(head: Head, action: str, *arguments: str) -> tuple[int, str, str]:
    """Run ssh-keygen on a head's text: its status, output, and last message; it asks nothing."""
    environment = {**os.environ, "SSH_ASKPASS_REQUIRE": "never"}
    text = manifests.render_head(replace(head, signature=""))
    try:
        done = subprocess.run(
            ("ssh-keygen", "-Y", action, *arguments), input=text,
            capture_output=True, env=environment, timeout=_SECONDS, start_new_session=True,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, "", f"ssh-keygen: {error}"
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return done.returncode, done.stdout.decode("utf-8", "replace"), lines[-1] if lines else "failed"

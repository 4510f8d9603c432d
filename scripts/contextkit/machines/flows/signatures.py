"""Signatures of heads, made and checked with `ssh-keygen -Y`, as git signs commits with SSH keys.

The key is git's `user.signingKey` (with `gpg.format=ssh`); the signers that the user knows are in
`gpg.ssh.allowedSignersFile`. Both are read from the user's own git configuration, never from a
repository's. A head names the digest of every manifest that counts, and those name all documents.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from dataclasses import replace

from contextkit.base import git
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.machines.documents import manifests
from contextkit.machines.documents.manifests import Head

_NAMESPACE = "contextkit-head"  # a signature for anything else does not count
_SECONDS = 20  # for a hardware key that waits to be touched
_WANTED = r"^(user\.signingkey|gpg\.format|gpg\.ssh\.allowedsignersfile)$"


class Keys(Record):
    """What the user signs with and whom they know; each is empty if it is not set.

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
    with tempfile.TemporaryDirectory() as folder:
        path = keys.key
        if literal != keys.key or literal.startswith("ssh-"):
            path = os.path.join(folder, "key.pub")
            with open(path, "w", encoding="utf-8") as file:
                file.write(literal + "\n")
        status, out, reason = _run(head, "sign", "-f", path, "-n", _NAMESPACE)
    if status:
        raise ContextError(f"not signed: {reason}: is the key there, and known to ssh-agent?")
    return replace(head, signature=out)


def signer(keys: Keys, head: Head) -> str:
    """Who signed a head, of those that the user knows; empty for nobody, and for others.

    Raises ContextError for a signature that does not belong to the head.
    """
    if not (keys.signers and head.signature):
        return ""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "signature")
        with open(path, "w", encoding="utf-8") as file:
            file.write(head.signature)
        options = ("-n", _NAMESPACE, "-s", path)
        status, _, _ = _run(head, "check-novalidate", *options)
        if status or not head.chain:
            raise ContextError("its signature does not belong to it: nothing is taken from there")
        status, out, _ = _run(head, "find-principals", "-s", path, "-f", keys.signers)
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
            f"was signed by {before} and is not any more: nothing is taken from there;"
            f" if that is right: make context_remotes forget={head.machine}, and push there again"
        )
    if name or not keys.signers:
        return name, ""
    return "", "signed by nobody you know" if head.signature else "not signed"


def _run(head: Head, action: str, *arguments: str) -> tuple[int, str, str]:
    """Run ssh-keygen on a head's text: its status, output, and last message; it asks nothing."""
    environment = {**os.environ, "SSH_ASKPASS_REQUIRE": "never"}
    try:
        done = subprocess.run(
            ("ssh-keygen", "-Y", action, *arguments), input=manifests.statement(head),
            capture_output=True, env=environment, timeout=_SECONDS, start_new_session=True,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        return 1, "", f"ssh-keygen: {error}"
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return done.returncode, done.stdout.decode("utf-8", "replace"), lines[-1] if lines else "failed"

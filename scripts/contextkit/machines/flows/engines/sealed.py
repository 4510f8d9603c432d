"""A remote that cannot read what it keeps: all but the frame of a head is encrypted with age.

An engine around another one. Objects and manifests are encrypted before they leave; an object is
named by a keyed digest, so that nobody can check a guess at its text. Of a head the machine's id,
the number, the time, and how much there is stay readable; its name and digest do not.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os

from contextkit.base import files, packages, version
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.machines.documents import manifests
from contextkit.machines.flows import parcels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from contextkit.machines.flows.engines.protocol import Engine

_INSTALL = "install it: {python} -m pip install 'pyrage>=1.2,<2'"
_SEALED = "sealed"  # the field of a head that holds the real one


class Key:
    """One age identity: whoever has it reads and writes, whoever has not does neither."""

    def __init__(self, text: str, where: str) -> None:
        lines = [line.strip() for line in text.splitlines()]
        found = [line for line in lines if line and not line.startswith("#")]
        if len(found) != 1 or not found[0].startswith("AGE-SECRET-KEY-1"):
            raise bad_input(f"sync_key: {where}: must hold one age key, as age-keygen writes it")
        self._age = _package()
        try:
            self._identity = self._age.x25519.Identity.from_str(found[0])
        except self._age.IdentityError:
            raise bad_input(f"sync_key: {where}: its age key is damaged") from None
        self._secret = hashlib.sha256(b"contextkit names\n" + found[0].encode()).digest()

    def digest(self, text: str) -> str:
        """A digest of `text` (64 hexadecimal digits) that only this key can make."""
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()

    def encrypted(self, data: bytes) -> bytes:
        return bytes(self._age.encrypt(data, [self._identity.to_public()]))

    def decrypted(self, data: bytes) -> bytes | None:
        """The text; None where it was not encrypted with this key, or was changed since."""
        try:
            return bytes(self._age.decrypt(data, [self._identity]))
        except self._age.DecryptError:
            return None


def key_of(layout: Layout) -> Key:
    """The key in the file that `sync_key` names, from the root or with ~.

    Raises ContextError for a file in the repository, and for one that holds no key.
    """
    named = layout.limits.sync_key
    path = os.path.realpath(os.path.join(layout.root, os.path.expanduser(named)))
    tops = [layout.root, *([layout.repository.top] if layout.repository else [])]
    if any(path.startswith(os.path.realpath(top) + os.sep) for top in tops):
        raise bad_input(f"sync_key: {named} is in the repository: keep the key outside of it")
    return Key(files.read(path), named)


class Sealed:
    """`engine`, with `key` between it and everything that is read and written."""

    def __init__(self, engine: Engine, key: Key) -> None:
        self._engine, self._key = engine, key

    def heads(self) -> dict[str, bytes]:
        """The head of every machine; that of one without our key as it lies there."""
        return {machine: self._opened(head) for machine, head in self._engine.heads().items()}

    def _opened(self, head: bytes) -> bytes:
        try:
            data = base64.b64decode(json.loads(head)[_SEALED])
        except (ValueError, TypeError, KeyError, RecursionError):
            return head
        return self._key.decrypted(data) or head

    def get(self, machine: str, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """(key, value) of those that are there; of an object that our key cannot open, DAMAGED.

        Raises ContextError for a manifest that it cannot open: then all of that machine is closed.
        """
        meant = {self._name(key): key for key in keys}
        for name, data in self._engine.get(machine, meant):
            text = self._key.decrypted(data)
            if text is None and name.startswith("objects/"):
                text = parcels.DAMAGED
            if text is None:
                raise ContextError(
                    f"what {machine} pushed is not encrypted with the key of sync_key: push it"
                    f" again with that key, after `make context_remotes forget={machine}`"
                )
            yield meant[name], text

    def put(
        self, machine: str, objects: dict[str, bytes], manifest: tuple[str, bytes], head: bytes,
        keep: frozenset[str], before: str,
    ) -> int:  # fmt: skip
        """As the engine does, with everything encrypted."""
        return self._engine.put(
            machine,
            {self._name(key): self._key.encrypted(data) for key, data in objects.items()},
            (manifest[0], self._key.encrypted(manifest[1])),
            self._closed(machine, head),
            frozenset(map(self._name, keep)),
            self._key.digest(before) if before else "",
        )

    def _closed(self, machine: str, head: bytes) -> bytes:
        """A head that says what an engine needs, and holds the whole one encrypted."""
        inner = manifests.parse_head(head, machine)
        shown: dict[str, Any] = {**vars(inner), "name": machine}
        shown["digest"] = self._key.digest(inner.digest)
        shown[_SEALED] = base64.b64encode(self._key.encrypted(head)).decode()
        return (json.dumps(shown) + "\n").encode()

    def forget(self, machine: str) -> None:
        self._engine.forget(machine)

    def _name(self, key: str) -> str:
        folder, _, digest = key.rpartition("/")
        if not folder.startswith("objects/"):
            return key
        return manifests.object_key(self._key.digest(digest))


def _package() -> Any:
    packages.extend_path()
    try:
        from importlib import import_module

        return import_module("pyrage")
    except ImportError:
        python = os.path.join(version.TOOLKIT, ".venv", "bin", "python")
        raise ContextError(
            "sync_key needs the package pyrage: " + _INSTALL.format(python=python)
        ) from None

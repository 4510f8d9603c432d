"""A remote that cannot read what it stores: everything but a head's outer fields is age-encrypted.

An engine that wraps another one. Objects and manifests are encrypted before they leave; an object
is named by a keyed digest, so nobody can test a guess at its text. A head leaves the machine's id,
the number, the time and the amount of data readable, but not the machine's name or the digest.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os

from contextkit.base import files, packages
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any, Iterable, Iterator
from contextkit.machines.documents import manifests
from contextkit.machines.flows import engines

_SEALED = "sealed"  # the field of an outer head that holds the real one


class Key:
    """One age identity: its holder can read and write, anyone else can do neither."""

    def __init__(self, text: str, where: str) -> None:
        lines = [line.strip() for line in text.splitlines()]
        keys = [line for line in lines if line and not line.startswith("#")]
        if len(keys) != 1 or not keys[0].startswith("AGE-SECRET-KEY-1"):
            raise bad_input(f"sync_key: {where}: must hold one age key, as age-keygen writes it")
        self._age = packages.optional(
            "pyrage", requirement="pyrage>=1.2,<2", purpose="sync_key needs"
        )
        try:
            self._identity = self._age.x25519.Identity.from_str(keys[0])
        except self._age.IdentityError:
            raise bad_input(f"sync_key: {where}: its age key is damaged") from None
        self._secret = hashlib.sha256(b"contextkit names\n" + keys[0].encode()).digest()

    def digest(self, text: str) -> str:
        """A digest of `text` (64 hexadecimal digits) that only this key can make."""
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()

    def encrypted(self, data: bytes) -> bytes:
        return bytes(self._age.encrypt(data, [self._identity.to_public()]))

    def decrypted(self, data: bytes) -> bytes | None:
        """The plain text; None if it was encrypted with another key or changed since."""
        try:
            return bytes(self._age.decrypt(data, [self._identity]))
        except self._age.DecryptError:
            return None


def key_of(layout: Layout) -> Key:
    """The key in the file that `sync_key` names, relative to the root or starting with ~.

    Raises ContextError for a file in the repository, and for one that holds no key.
    """
    named = layout.limits.sync_key
    path = os.path.realpath(os.path.join(layout.root, os.path.expanduser(named)))
    tops = [layout.root, *([layout.repository.top] if layout.repository else [])]
    if any(path.startswith(os.path.realpath(top) + os.sep) for top in tops):
        raise bad_input(f"sync_key: {named} is in the repository: keep the key outside of it")
    return Key(files.read(path), named)


class Sealed(engines.Engine):
    """`engine`, with everything that is read and written passed through `key`."""

    def __init__(self, engine: engines.Engine, key: Key) -> None:
        self._engine, self._key = engine, key

    def heads(self) -> dict[str, bytes]:
        """The head of every machine; one not encrypted with our key is returned as is."""
        return {machine: self._opened(head) for machine, head in self._engine.heads().items()}

    def _opened(self, head: bytes) -> bytes:
        try:
            data = base64.b64decode(json.loads(head)[_SEALED])
        except (ValueError, TypeError, KeyError, RecursionError):
            return head
        return self._key.decrypted(data) or head

    def get(self, machine: str, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (key, value) for the keys that exist; DAMAGED for an object sealed by another key.

        Raises ContextError for a manifest that our key cannot open: nothing of that machine is
        readable.
        """
        meant = {self._name(key): key for key in keys}
        for name, data in self._engine.get(machine, meant):
            text = self._key.decrypted(data)
            if text is None and name.startswith("objects/"):
                text = manifests.DAMAGED
            if text is None:
                raise ContextError(
                    f"what {machine} pushed is not encrypted with the key of sync_key: push it"
                    f" again with that key, after `make context_remotes forget={machine}`"
                )
            yield meant[name], text

    def put(self, sending: engines.Sending) -> int:
        plain, key = sending, self._key
        return self._engine.put(
            plain._replace(
                objects={self._name(k): key.encrypted(data) for k, data in plain.objects.items()},
                manifest=(plain.manifest[0], key.encrypted(plain.manifest[1])),
                head=self._closed(plain.machine, plain.head),
                keep=frozenset(map(self._name, plain.keep)),
                before=key.digest(plain.before) if plain.before else "",
            )
        )

    def _closed(self, machine: str, head: bytes) -> bytes:
        """A head with the fields an engine needs and the whole one encrypted inside."""
        inner = manifests.parse_head(head, machine)
        shown: dict[str, Any] = {**vars(inner), "name": machine, "chain": (), "signature": ""}
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

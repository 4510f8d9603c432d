"""Where manifests and objects are kept: a folder, an object store, encrypted or not."""

from __future__ import annotations

import base64
import functools
import json
import os

from contextkit.base import files, names, packages
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any, Callable, Iterable, Iterator, T
from contextkit.machines.documents import manifests

_AT_ONCE = 64  # concurrent requests
_SEALED = "sealed"  # the field of an outer head that holds the real one


class Elsewhere(ContextError):
    """The head on the remote is not our last one: another folder uses our id."""


class Sending(NamedTuple):
    """What a push writes under a machine's keys: objects, then their manifest, then the head.

    `keep` has every key that is needed from now on, `before` the digest in our last head.
    """

    machine: str
    objects: dict[str, bytes]
    manifest: tuple[str, bytes]
    head: bytes
    keep: frozenset[str]
    before: str

    @property
    def size(self) -> int:
        """The number of bytes to send."""
        return sum(map(len, self.objects.values())) + len(self.manifest[1]) + len(self.head)


class Engine:
    """The interface for push and pull; network and disk errors are ContextErrors with its name.

    It keeps the tree of `manifests` at `where`; each kind of remote adds how keys are stored.
    """

    def __init__(self, where: str) -> None:
        self._where = where

    def _machines(self) -> list[str]:
        """The names of the folders of machines."""
        raise NotImplementedError

    def _put(self, key: str, data: bytes) -> None:
        """Write a key; it is there for good when this returns."""
        raise NotImplementedError

    def _put_all(self, objects: dict[str, bytes]) -> None:
        """Write objects, in any order; they are there for good when this returns."""
        raise NotImplementedError

    def get(self, machine: str, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """(key, value) for the keys that exist, in any order."""
        raise NotImplementedError

    def forget(self, machine: str) -> None:
        """Remove everything that a machine wrote and no other one needs."""
        raise NotImplementedError

    def heads(self) -> dict[str, bytes]:
        """The head of every machine, by its id."""
        keys = {
            manifests.head_key(machine): machine
            for machine in self._machines()
            if manifests.is_id(machine)
        }
        return {keys[key]: data for key, data in self.get("", keys)}

    def put(self, sending: Sending) -> int:
        """Write it, and return the bytes sent. Raises Elsewhere for another head there."""
        self._check(sending)
        self._put_all(sending.objects)
        self._put(*sending.manifest)
        self._put(manifests.head_key(sending.machine), sending.head)
        return sending.size

    def _check(self, sending: Sending) -> None:
        """Raise Elsewhere if the head there is not our last one."""
        machine, key = sending.machine, manifests.head_key(sending.machine)
        there = dict(self.get(machine, [key])).get(key)
        if (manifests.parse_head(there, machine).digest if there else "") != sending.before:
            raise Elsewhere(f"another folder pushes as {machine}")


class Folder(Engine):
    """The remote `file:///path`: a mounted share, a USB stick, a test; each key is a file."""

    def __init__(self, path: str) -> None:
        super().__init__(path.rstrip("/"))
        files.keep(self._where, self._where)  # others write there, too

    def _machines(self) -> list[str]:
        try:
            return os.listdir(os.path.join(self._where, "machines"))
        except FileNotFoundError:
            return []

    def get(self, machine: str, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        for key in keys:
            try:
                with files.opened(os.path.join(self._where, key)) as file:
                    yield key, file.read(manifests.MOST_MANIFEST + 1)
            except (FileNotFoundError, NotADirectoryError):
                continue

    def _put(self, key: str, data: bytes) -> None:
        files.write(os.path.join(self._where, key), data)
        files.settle()

    def _put_all(self, objects: dict[str, bytes]) -> None:
        for key, data in objects.items():
            path = os.path.join(self._where, key)
            if not os.path.exists(path):
                files.write(path, data)
        files.settle()

    def forget(self, machine: str) -> None:
        place = os.path.join(self._where, "machines", machine)
        files.proved(os.path.join(place, ""))
        for name in sorted(os.listdir(place), key=lambda name: name != "head.json"):
            os.unlink(os.path.join(place, name))
        os.rmdir(place)


class Objects(Engine):
    """The remote `s3://`, `gs://` or `az://`: a bucket and a key prefix, through obstore.

    Credentials and region come from the variables and files that each provider documents. Requests
    run concurrently. Loading the package takes as long as a bare start, so the first request does.
    """

    @functools.cached_property
    def _obstore(self) -> Any:
        return packages.optional(
            "obstore", "obstore.store", requirement="obstore>=0.12,<0.13",
            purpose="object stores need",
        )  # fmt: skip

    @functools.cached_property
    def _store(self) -> Any:
        from datetime import timedelta

        retries = {"max_retries": 3, "retry_timeout": timedelta(seconds=20)}
        options: dict[str, Any] = {"retry_config": retries}
        if os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://"):
            options["client_options"] = {"allow_http": True}
        return self._try(lambda: self._obstore.store.from_url(self._where, **options))

    def _machines(self) -> list[str]:
        listed = self._try(lambda: self._obstore.list_with_delimiter(self._store, "machines"))
        return [str(prefix).rstrip("/").rpartition("/")[2] for prefix in listed["common_prefixes"]]

    def get(self, machine: str, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        wanted = list(keys)
        for key, data in zip(wanted, _at_once(self._get, wanted), strict=True):
            if data is not None:
                yield key, data

    def _put_all(self, objects: dict[str, bytes]) -> None:
        _at_once(self._put, objects, objects.values())

    def forget(self, machine: str) -> None:
        prefix = f"machines/{machine}/"

        def remove() -> None:
            self._obstore.delete(self._store, [manifests.head_key(machine)])
            for batch in list(self._obstore.list(self._store, prefix)):
                self._obstore.delete(self._store, [entry["path"] for entry in batch])

        self._try(remove)

    def _get(self, key: str) -> bytes | None:
        def ask() -> bytes | None:
            try:
                result = self._obstore.get(self._store, key)
            except FileNotFoundError:
                return None
            return bytes(result.bytes()) if result.meta["size"] <= manifests.MOST_MANIFEST else None

        return self._try(ask)

    def _put(self, key: str, data: bytes) -> None:
        self._try(lambda: self._obstore.put(self._store, key, data, use_multipart=False))

    def _try(self, ask: Callable[[], T]) -> T:
        try:
            return ask()
        except ContextError:
            raise
        except Exception as error:  # each provider has its own exceptions
            first = next((line for line in str(error).splitlines() if line.strip()), repr(error))
            raise ContextError(f"remote {self._where}: {first.strip()[:300]}") from None


def _at_once(ask: Callable[..., T], *each: Iterable[Any]) -> list[T]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(ask, *each))


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
        self._secret = bytes.fromhex(names.sha256(b"contextkit names\n" + keys[0].encode()))

    def digest(self, text: str) -> str:
        """A digest of `text` (64 hexadecimal digits) that only this key can make."""
        import hmac

        return hmac.new(self._secret, text.encode(), "sha256").hexdigest()

    def encrypted(self, data: bytes) -> bytes:
        return bytes(self._age.encrypt(data, [self._identity.to_public()]))

    def decrypted(self, data: bytes) -> bytes | None:
        """The plain text; None if it was encrypted with another key or changed since."""
        try:
            return bytes(self._age.decrypt(data, [self._identity]))
        except self._age.DecryptError:
            return None


def key_of(layout: Layout) -> Key:
    """The key in the file that `sync_key` names, which no repository holds. Raises ContextError."""
    named = layout.limits.sync_key
    path = os.path.realpath(os.path.join(layout.root, os.path.expanduser(named)))
    tops = [layout.root, *([layout.repository.top] if layout.repository else [])]
    if any(path.startswith(os.path.realpath(top) + os.sep) for top in tops):
        raise bad_input(f"sync_key: {named} is in the repository: keep the key outside of it")
    return Key(files.read(path), named)


class Sealed(Engine):
    """`engine`, with everything that is read and written passed through `key`.

    An object is named by a keyed digest, so nobody can test a guess at its text. A head leaves the
    machine's id, the number, the time and the amount of data readable.
    """

    def __init__(self, engine: Engine, key: Key) -> None:
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
        """(key, value) for the keys that exist; DAMAGED for an object sealed by another key.

        Raises ContextError for a manifest that our key cannot open.
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

    def put(self, sending: Sending) -> int:
        key, (name, manifest) = self._key, sending.manifest
        objects = {self._name(k): key.encrypted(data) for k, data in sending.objects.items()}
        return self._engine.put(
            sending._replace(
                objects=objects,
                manifest=(name, key.encrypted(manifest)),
                head=self._closed(sending.machine, sending.head),
                keep=frozenset(map(self._name, sending.keep)),
                before=key.digest(sending.before) if sending.before else "",
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

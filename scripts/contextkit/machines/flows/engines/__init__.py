"""Where manifests and objects are kept: a git remote, a folder, an object store, encrypted or not.

Each is an `Engine`, and has a module of its own. Those with one file or object a key are `Keyed`.
"""

from __future__ import annotations

from contextkit.base.errors import ContextError
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Iterable, Iterator
from contextkit.machines.documents import manifests


class Elsewhere(ContextError):
    """The head on the remote is not the one that we left: another folder uses our id."""


class Sending(NamedTuple):
    """What a push writes under a machine's keys: objects, then their manifest, then the head.

    `keep` holds every key that is needed from now on, `before` the digest in the head that we left.
    """

    machine: str
    objects: dict[str, bytes]
    manifest: tuple[str, bytes]
    head: bytes
    keep: frozenset[str]
    before: str

    @property
    def size(self) -> int:
        """The bytes that are sent."""
        return sum(map(len, self.objects.values())) + len(self.manifest[1]) + len(self.head)


class Engine:
    """What a push and a pull use; network and disk errors are ContextErrors with its name."""

    def heads(self) -> dict[str, bytes]:
        """The head of every machine, by its id."""
        raise NotImplementedError

    def get(self, machine: str, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (key, value) for the keys that exist, in any order."""
        raise NotImplementedError

    def put(self, sending: Sending) -> int:
        """Write it, and return the bytes sent. Raises Elsewhere for another head there."""
        raise NotImplementedError

    def forget(self, machine: str) -> None:
        """Remove what a machine wrote and no other machine needs."""
        raise NotImplementedError


class Keyed(Engine):
    """A remote at `where` with the tree of `manifests`; an engine adds how keys are kept."""

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

    def heads(self) -> dict[str, bytes]:
        keys = {
            manifests.head_key(machine): machine
            for machine in self._machines()
            if manifests.is_id(machine)
        }
        return {keys[key]: data for key, data in self.get("", keys)}

    def put(self, sending: Sending) -> int:
        machine, key = sending.machine, manifests.head_key(sending.machine)
        there = dict(self.get(machine, [key])).get(key)
        if (manifests.parse_head(there, machine).digest if there else "") != sending.before:
            raise Elsewhere(f"{self._where}: another folder pushes as {machine}")
        self._put_all(sending.objects)
        self._put(*sending.manifest)
        self._put(key, sending.head)
        return sending.size

"""Where manifests and objects are kept: a git remote, a folder, an object store, encrypted or not.

Each is an `Engine`, and has a module of its own. Those with one file or object a key are `Keyed`.
"""

from __future__ import annotations

from contextkit.base.errors import ContextError
from contextkit.base.type_names import Iterable, Iterator
from contextkit.machines.documents import manifests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Protocol

    class Engine(Protocol):
        """What a push and a pull use; network and disk errors are ContextErrors with its name."""

        def heads(self) -> dict[str, bytes]:
            """Return the head of every machine, by its id."""

        def get(self, machine: str, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
            """Yield (key, value) for the keys that exist, in any order."""

        def put(
            self, machine: str, objects: dict[str, bytes], manifest: tuple[str, bytes],
            head: bytes, keep: frozenset[str], before: str,
        ) -> int:  # fmt: skip
            """Write objects, then the manifest that names them, then the head; return bytes sent.

            `keep` holds every key that is needed from now on. `before` is the digest in the head
            that we left; raises Elsewhere if the head there has another.
            """

        def forget(self, machine: str) -> None:
            """Remove what a machine wrote and no other machine needs."""


class Elsewhere(ContextError):
    """The head on the remote is not the one that we left: another folder uses our id."""


class Keyed:
    """A remote at `where` with the tree of `manifests`; an engine adds how keys are kept."""

    def __init__(self, where: str) -> None:
        self._where = where

    def _machines(self) -> list[str]:
        """The names of the folders of machines."""
        raise NotImplementedError

    def get(self, machine: str, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (key, value) for the keys that exist, in any order."""
        raise NotImplementedError

    def _put(self, key: str, data: bytes) -> None:
        """Write a key; it is there for good when this returns."""
        raise NotImplementedError

    def _put_all(self, objects: dict[str, bytes]) -> None:
        """Write objects, in any order; they are there for good when this returns."""
        raise NotImplementedError

    def heads(self) -> dict[str, bytes]:
        """Return the head of every machine, by its id."""
        keys = {manifests.head_key(one): one for one in self._machines() if manifests.is_id(one)}
        return {keys[key]: data for key, data in self.get("", keys)}

    def put(
        self, machine: str, objects: dict[str, bytes], manifest: tuple[str, bytes], head: bytes,
        keep: frozenset[str], before: str,
    ) -> int:  # fmt: skip
        """Write the objects, then the manifest that names them, then the head."""
        key = manifests.head_key(machine)
        there = dict(self.get(machine, [key])).get(key)
        if (manifests.parse_head(there, machine).digest if there else "") != before:
            raise Elsewhere(f"{self._where}: another folder pushes as {machine}")
        self._put_all(objects)
        self._put(*manifest)
        self._put(key, head)
        return size(objects, manifest, head)


def size(objects: dict[str, bytes], manifest: tuple[str, bytes], head: bytes) -> int:
    """Return the bytes that a push sends."""
    return sum(map(len, objects.values())) + len(manifest[1]) + len(head)

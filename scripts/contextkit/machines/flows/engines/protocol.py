"""The protocol of an engine: it keeps the tree of `manifests`, and reads its own writes."""

from __future__ import annotations

from contextkit.base.errors import ContextError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Protocol

    class Engine(Protocol):
        """Errors of the network or the disk are ContextErrors that name the remote."""

        def heads(self) -> dict[str, bytes]:
            """The head of every machine, by its id."""

        def get(self, machine: str, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
            """(key, value) of those that are there, in any order."""

        def put(
            self, machine: str, objects: dict[str, bytes], manifest: tuple[str, bytes],
            head: bytes, keep: frozenset[str], before: str,
        ) -> int:  # fmt: skip
            """Objects first, the manifest that names them, the head last; the bytes of them all.

            `keep` are all keys that are needed from now on. `before` is the
            digest in the head that we left: raises Elsewhere where it is another.
            """

        def forget(self, machine: str) -> None:
            """Remove what a machine wrote and nobody else needs."""


def size(objects: dict[str, bytes], manifest: tuple[str, bytes], head: bytes) -> int:
    """The bytes of what a push sends, as they leave this machine."""
    return sum(map(len, objects.values())) + len(manifest[1]) + len(head)


class Elsewhere(ContextError):
    """The head that is there is not the one that we left: another folder has our id."""

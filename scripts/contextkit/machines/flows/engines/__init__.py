"""Where manifests and objects are kept: a git remote, a folder, an object store, encrypted or not.

Each is an `Engine`, and has a module of its own.
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


# What several engines do in a push


class Elsewhere(ContextError):
    """The head on the remote is not the one that we left: another folder uses our id."""


def check_claim(machine: str, head: bytes | None, before: str, where: str) -> None:
    """Raise Elsewhere unless the head in this remote is the one that we left.

    `before` is the digest in that head, empty if we have never pushed there.
    """
    if (manifests.parse_head(head, machine).digest if head else "") != before:
        raise Elsewhere(f"{where}: another folder pushes as {machine}")


def size(objects: dict[str, bytes], manifest: tuple[str, bytes], head: bytes) -> int:
    """Return the bytes that a push sends."""
    return sum(map(len, objects.values())) + len(manifest[1]) + len(head)

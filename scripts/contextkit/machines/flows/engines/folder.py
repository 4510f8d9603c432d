"""A remote that is a folder: a mounted share, a USB stick, a test.

It has the tree of `manifests`, one file per key; each file is written atomically.
"""

from __future__ import annotations

import os

from contextkit.base import files, links
from contextkit.base.type_names import Iterable, Iterator
from contextkit.machines.documents import manifests
from contextkit.machines.flows import engines


class Folder:
    """The remote `file:///path`."""

    def __init__(self, path: str) -> None:
        self._path = path.rstrip("/")
        links.keep(self._path, self._path)  # others write there, too

    def heads(self) -> dict[str, bytes]:
        """Return the head of every machine, by its id."""
        try:
            found = sorted(os.listdir(os.path.join(self._path, "machines")))
        except FileNotFoundError:
            return {}
        heads = {one: self._get(manifests.head_key(one)) for one in found if manifests.is_id(one)}
        return {machine: data for machine, data in heads.items() if data is not None}

    def get(self, machine: str, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Yield (key, value) for the keys that exist, in any order."""
        for key in keys:
            data = self._get(key)
            if data is not None:
                yield key, data

    def put(
        self, machine: str, objects: dict[str, bytes], manifest: tuple[str, bytes], head: bytes,
        keep: frozenset[str], before: str,
    ) -> int:  # fmt: skip
        """Write the objects, then the manifest that names them, then the head."""
        there = self._get(manifests.head_key(machine))
        engines.check_claim(machine, there, before, self._path)
        for key, data in objects.items():
            path = os.path.join(self._path, key)
            if not os.path.exists(path):
                files.write(path, data)
        files.settle()
        files.write(os.path.join(self._path, manifest[0]), manifest[1])
        files.settle()
        files.write(os.path.join(self._path, manifests.head_key(machine)), head)
        files.settle()
        return engines.size(objects, manifest, head)

    def forget(self, machine: str) -> None:
        """Remove what a machine wrote; objects stay, since other machines may name them."""
        place = os.path.join(self._path, "machines", machine)
        links.proved(os.path.join(place, ""))
        for name in sorted(os.listdir(place), key=lambda name: name != "head.json"):
            os.unlink(os.path.join(place, name))
        os.rmdir(place)

    def _get(self, key: str) -> bytes | None:
        try:
            with links.opened(os.path.join(self._path, key)) as file:
                return file.read(manifests.MOST_MANIFEST + 1)
        except (FileNotFoundError, NotADirectoryError):
            return None

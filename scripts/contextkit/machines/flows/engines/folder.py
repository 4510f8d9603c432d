"""A remote that is a folder: a mounted share, a USB stick, a test.

It has the tree of `manifests`, one file per key; each file is written atomically.
"""

from __future__ import annotations

import os

from contextkit.base import files
from contextkit.base.type_names import Iterable, Iterator
from contextkit.machines.documents import manifests
from contextkit.machines.flows.engines import Keyed


class Folder(Keyed):
    """The remote `file:///path`."""

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

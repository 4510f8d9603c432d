"""Scratch folders, which other programs write to for as long as a block runs."""

from __future__ import annotations

import os
import time

from contextkit.base import files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType

_NAME = "scratch-"
_AGE = 3600  # age in seconds at which the folder of a killed process is litter


class folder:
    """Create a folder in `store` for other programs to write to; removed when the block ends.

    Folders left by killed processes are removed by a later call, once they are an hour old.
    """

    def __init__(self, store: str) -> None:
        self._store = store
        self._path = os.path.join(store, _NAME + os.urandom(6).hex())

    def __enter__(self) -> str:
        files.make_folder(self._store)
        for name in os.listdir(self._store):
            if name.startswith(_NAME):
                _remove_old(os.path.join(self._store, name))
        os.mkdir(self._path, 0o700)
        return self._path

    def __exit__(
        self, kind: type[BaseException] | None, value: object, trace: TracebackType | None
    ) -> None:
        remove(self._path)


def _remove_old(path: str) -> None:
    try:
        if os.lstat(path).st_mtime < time.time() - _AGE:
            remove(path)
    except FileNotFoundError:
        pass  # another process is done with it


def remove(path: str) -> None:
    """Remove one of our folders and its contents; links are removed, not followed."""
    try:
        with os.scandir(path) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    remove(entry.path)
                else:
                    os.unlink(entry.path)
        os.rmdir(path)
    except FileNotFoundError:
        pass  # another process swept it

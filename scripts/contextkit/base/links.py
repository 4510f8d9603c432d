"""No store is reached through a link, and nothing in it is: a clone can bring links.

The folders between the root and a store are looked at once per process; those in a store each time
that something in them is opened, made, moved or removed.
"""

from __future__ import annotations

import errno
import os

from contextkit.base.errors import ContextError, bad_input
from contextkit.base.type_names import BinaryIO

_stores: tuple[str, ...] = ()  # folders below which no link is followed, each with its slash


def is_link(path: str, inside: str = "") -> ContextError:
    """The refusal of a link on the way to a file of ours, which should lie `inside` a folder."""
    mend = "a store must be a real folder: remove the link, or move what it leads to here"
    if inside and not f"{os.path.realpath(path)}/".startswith(f"{os.path.realpath(inside)}/"):
        return bad_input(f"{path}: is a symbolic link, and lies outside {inside}: {mend}")
    return ContextError(f"{path}: is a symbolic link: {mend}")


def keep(root: str, store: str) -> None:
    """From now on follow no link between `root` and the folder `store`, nor below that."""
    global _stores
    place = store.rstrip("/") + "/"
    if place.startswith(root.rstrip("/") + "/"):
        refuse_links(root.rstrip("/"), place)
        if place not in _stores:
            _stores += (place,)


def proved(path: str) -> str:
    """`path`, unless one of its folders in a store is a link: then raise ContextError."""
    if path.startswith(_stores):
        refuse_links(next(one for one in _stores if path.startswith(one)).rstrip("/"), path)
    return path


def refuse_links(known: str, path: str) -> None:
    """Raise ContextError for the first link among the folders of `path` below `known`."""
    at = known
    for part in path[len(known) :].split("/")[1:-1]:
        at = f"{at}/{part}"
        if os.path.islink(at):
            raise is_link(at, known)


def opened(path: str) -> BinaryIO:
    """A file opened for reading; one of a store is never read through a link."""
    if not path.startswith(_stores):
        return open(path, "rb")
    try:
        return open(os.open(proved(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb")
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise is_link(path) from None
        raise


def touch(path: str, at: float | None = None) -> None:
    """Create a file or set its time, to now or `at`, without following a link."""
    os.close(os.open(proved(path), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o666))
    os.utime(path, None if at is None else (at, at))

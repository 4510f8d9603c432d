"""The only module that writes: whole files, each of them old or new and never half-written.

Paths are strings, since pathlib alone costs as much as a bare interpreter start.
"""

from __future__ import annotations

import errno
import os
import time

from contextkit.base.errors import ContextError, bad_input
from contextkit.base.type_names import Iterable, Iterator

_DRAFT_AGE = 3600  # age in seconds at which the `.tmp` of a killed process is litter
_RULES = ".gitignore"
WRITABLE = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW  # for a file that is changed in place
settled: set[str] = set()  # folders in which this process created names
_unsettled: set[str] = set()  # those of them that may not be on disk yet
_stores: tuple[str, ...] = ()  # folders below which no link is followed, each with its slash
_hidden: tuple[str, ...] = ()  # those of them that git does not see
_real: set[str] = set()  # folders in stores that were read from, and are no links


def read(path: str) -> str:
    """The text of a UTF-8 file, line ends unchanged. Raises ContextError naming the path."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ContextError(f"{path}: not UTF-8 (byte {error.start}): convert it first") from None


def read_bytes(path: str) -> bytes:
    """The bytes of a file. Raises ContextError naming the path and the reason.

    A recovery reads ten thousand: a file object would cost three system calls more for each.
    """
    try:
        handle = opened(path)
        try:
            pieces = [os.read(handle, 1 << 16)]
            while pieces[-1]:  # larger ones, so that a large file takes few
                pieces.append(os.read(handle, 1 << min(16 + len(pieces), 24)))
            return b"".join(pieces)
        finally:
            os.close(handle)
    except OSError as error:
        raise ContextError(f"{path}: cannot be read: {error.strerror}") from error


def read_if_there(path: str) -> str | None:
    """Like `read`, but None for a missing file; anything else unreadable raises."""
    return read(path) if os.path.lexists(path) else None


def text_of(path: str) -> str:
    """The text of a file; '' for one that is missing, unreadable, or no text."""
    try:
        return read_bytes(path).decode("utf-8")
    except (ContextError, UnicodeDecodeError):
        return ""


def first_line(path: str) -> str:
    """The first line of a file without spaces around it; '' if the file cannot be read."""
    return text_of(path).partition("\n")[0].strip()


def write(path: str, text: str | bytes | Iterable[bytes], derived: bool = False) -> str:
    """Replace `path` atomically and return it: readers see the old text or the new, never a mix.

    What is `derived` is not synced: a power cut may leave it empty, and then it is made again.
    """
    draft = _draft(path, _encoded(path, text), not derived)
    try:
        os.replace(draft, path)
    except BaseException:
        discard(draft)
        raise
    if not derived:
        named(path)
    return path


def create(path: str, text: str | bytes | Iterable[bytes], exact: bool = False) -> str:
    """Create `path`, never overwriting: if the name is taken, `-2`, `-3` … goes before the suffix.

    Returns the path that was created. With `exact`, a taken name raises FileExistsError instead.
    """
    draft = _draft(path, _encoded(path, text))
    try:
        for final in numbered(*os.path.splitext(path)):
            try:
                os.link(draft, final)  # unlike a rename, it refuses a taken name
                break
            except FileExistsError:
                if exact:
                    raise
    finally:
        discard(draft)
    named(final)
    return final


def rename(old: str, new: str) -> None:
    """Rename a file or folder, replacing any file of that name."""
    os.rename(proved(old), proved(new))
    named(old)
    named(new)


def numbered(stem: str, suffix: str = "", mark: str = "-") -> Iterator[str]:
    """`stem` and `suffix`, then the same with `-2`, `-3` … in between, without end."""
    yield stem + suffix
    for number in range(2, 1 << 60):
        yield f"{stem}{mark}{number}{suffix}"


def free(stem: str, suffix: str = "") -> str:
    """The first of the paths of `numbered` that does not exist."""
    return next(name for name in numbered(stem, suffix) if not os.path.lexists(name))


def append(path: str, line: str) -> str:
    """Add a line to the end of `path`, all of it or nothing; call it under `locked`."""
    old = read_bytes(path) if os.path.lexists(path) else b""
    gap = b"" if old.endswith(b"\n") or not old else b"\n"
    return write(path, (old, gap, *_encoded(path, f"{line}\n")))


def _draft(path: str, pieces: Iterable[bytes], lasting: bool = True) -> str:
    """Write `pieces` next to `path`, under a name that no reader takes for a document."""
    folder, name = os.path.split(path)
    make_folder(folder, hide=name != _RULES)
    short = os.fsdecode(os.fsencode(name)[:200])  # a name has at most 255 bytes
    draft = os.path.join(folder, f".{short}.{os.urandom(6).hex()}.tmp")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(pieces)
            file.flush()
            _keep_mode(path, descriptor)
            if lasting:
                os.fsync(descriptor)
    except BaseException as error:
        discard(draft)
        if isinstance(error, OSError):
            error.filename = path  # a full disk names none
        raise
    return draft


def discard(path: str) -> None:
    """Remove a file, unless another process did."""
    try:
        os.unlink(proved(path))
    except FileNotFoundError:
        pass  # already replaced, or the folder was moved away


def _encoded(path: str, text: str | bytes | Iterable[bytes]) -> Iterable[bytes]:
    if not isinstance(text, str):
        return (text,) if isinstance(text, bytes) else text
    try:
        return (text.encode("utf-8"),)
    except UnicodeEncodeError as error:
        odd = f"U+{ord(text[error.start]):04X}"
        raise bad_input(f"{path}: the text holds {odd}, half a surrogate pair: remove it") from None


def _keep_mode(path: str, descriptor: int) -> None:
    try:
        os.fchmod(descriptor, os.stat(path).st_mode & 0o7777)
    except FileNotFoundError:
        pass  # a new file has the usual permissions


def named(path: str) -> None:
    """Record that `path` was created, renamed, or removed, so that `settle` syncs its folder."""
    _unsettled.add(os.path.dirname(path) or ".")


def owed(path: str) -> None:
    """Record that a file was written but not synced, so that `settle` syncs it and its folder."""
    named(path)
    _unsettled.add(path)


def settle() -> None:
    """Wait until the names that this process made are on disk; call it before acknowledging.

    A file's bytes are on disk before it gets its name, but a power cut may lose the name unless the
    folder is synced too. Failures are not retried: the system forgets what it could not write.
    """
    folders = sorted(_unsettled)
    settled.update(folders)
    _unsettled.clear()
    for folder in folders:
        try:
            descriptor = os.open(folder, os.O_RDONLY)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            continue  # moved away since, or a folder that is writable but not readable
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EROFS):
                error.filename = folder
                raise  # what cannot be synced is as durable as its file system makes it
        finally:
            os.close(descriptor)


def make_folder(folder: str, hide: bool = True) -> None:
    """Create `folder` and its parents, after the rules for git of a hidden store around it.

    Raises ContextError if a file or link is in the way.
    """
    place = proved(os.path.join(folder, ""))
    for hidden in filter(place.startswith, _hidden) if hide else ():
        store(hidden)
    try:
        if not os.path.isdir(place):
            _make_missing(folder or ".")
    except (FileExistsError, NotADirectoryError):
        raise ContextError(f"{folder}: a file is in the way of this folder: move it") from None


def _make_missing(folder: str) -> None:
    parent = os.path.dirname(folder.rstrip("/")) or "."
    if not os.path.isdir(parent):
        _make_missing(parent)
    try:
        os.mkdir(folder)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise
    named(folder.rstrip("/"))


def store(folder: str, ignore: str = "*\n") -> str:
    """Create a folder that git does not see, thanks to its own `.gitignore`, and return it."""
    if os.path.islink(folder.rstrip("/")):
        raise is_link(folder)
    rules = os.path.join(folder, _RULES)
    if not os.path.exists(rules):
        write(rules, ignore)
    return folder


def inside(root: str, path: str, field: str) -> str:
    """`path` with every link followed. Raises ContextError unless it lies inside `root`."""
    if "\0" in path:
        raise bad_input(f"{field}: {path!r} is not a path")
    real_root, real = os.path.realpath(root), os.path.realpath(path)
    if not real.startswith(real_root.rstrip("/") + "/"):
        raise bad_input(f"{field}: {path!r} lies outside {root}")
    return real


def sweep(folder: str, now: float) -> int:
    """Remove drafts that killed processes left in `folder` over an hour ago; return how many."""
    with os.scandir(folder) as entries:
        drafts = (e for e in entries if is_draft(e.name) and e.is_file(follow_symlinks=False))
        old = [entry.path for entry in drafts if is_old(entry.path, now)]
    for path in old:
        discard(path)
    return len(old)


def is_old(path: str, now: float = 0) -> bool:
    """Whether a file is missing, or was last modified so long ago that a draft would be litter."""
    try:
        return os.stat(path).st_mtime < (now or time.time()) - _DRAFT_AGE
    except OSError:
        return True


def is_draft(name: str) -> bool:
    """Whether a file name is that of an unfinished write: `.name.….tmp`."""
    dot, digits, suffix = name[-17:-16], name[-16:-4], name[-4:]
    return name[0] + dot == ".." and suffix == ".tmp" and not digits.strip("0123456789abcdef")


class locked:
    """Hold the lock file `path` while the block runs; others wait in the kernel's queue.

    The lock ends with the process, so it cannot become stale. It works on one machine only.
    """

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None:
        import fcntl

        while True:
            try:
                descriptor = os.open(proved(self._path), WRITABLE, 0o666)
            except (FileNotFoundError, NotADirectoryError):
                make_folder(os.path.dirname(self._path))  # the first one, or it was removed
                continue
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if os.path.samestat(os.fstat(descriptor), os.stat(self._path)):
                    self._descriptor = descriptor
                    return
            except FileNotFoundError:
                pass  # the store was removed while this process waited
            except OSError as error:
                os.close(descriptor)
                why = f"cannot be locked ({error.strerror}): is it on a network drive?"
                raise ContextError(f"{self._path}: {why}") from error
            os.close(descriptor)

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


# Links. The folders between the root and a store, and those that are read from, are looked at once
# for each command; those in a store each time that something in them is made, moved or removed.


def is_link(path: str, inside: str = "") -> ContextError:
    """The refusal of a link on the way to a file of ours, which should lie `inside` a folder."""
    mend = "a store must be a real folder: remove the link, or move what it leads to here"
    if inside and not f"{os.path.realpath(path)}/".startswith(f"{os.path.realpath(inside)}/"):
        return bad_input(f"{path}: is a symbolic link, and lies outside {inside}: {mend}")
    return ContextError(f"{path}: is a symbolic link: {mend}")


def keep(root: str, store: str, hidden: bool = False) -> None:
    """From now on follow no link between `root` and the folder `store`, nor below that.

    git will not see a `hidden` one, from when something is written in it.
    """
    global _stores, _hidden
    _real.clear()
    place = store.rstrip("/") + "/"
    if place.startswith(root.rstrip("/") + "/"):
        proved(place, root)
        if place not in _stores:
            _stores += (place,)
            _hidden += (place,) * hidden


def proved(path: str, start: str = "") -> str:
    """`path`, unless one of its folders below `start` (a store) is a link: raise ContextError."""
    start = start or next(filter(path.startswith, _stores), "")
    at = start.rstrip("/")
    for part in path[len(at) :].split("/")[1:-1] if start else ():
        at = f"{at}/{part}"
        if os.path.islink(at):
            raise is_link(at, start)
    return path


def opened(path: str) -> int:
    """The descriptor of a file opened for reading; one of a store is not read through a link."""
    if not path.startswith(_stores):
        return os.open(path, os.O_RDONLY)
    folder = path.rpartition("/")[0]
    if folder not in _real:
        _real.add(os.path.dirname(proved(path)))
    try:
        return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise is_link(path) from None
        raise


def touch(path: str, at: float | None = None) -> None:
    """Create a file or set its time, to now or `at`, without following a link."""
    os.close(os.open(proved(path), WRITABLE, 0o666))
    os.utime(path, None if at is None else (at, at))

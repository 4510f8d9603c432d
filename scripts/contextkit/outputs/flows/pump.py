"""A command and what it prints: in memory while it is short, then in a file of bounded size.

Imports nothing that would slow down a short command.
"""

from __future__ import annotations

import errno
import os
import time

from contextkit.base.type_names import Callable, Iterator

FOLDER = "outputs"  # below the toolkit's own state: outputs of commands that still run
FIRST, LAST = 24 << 20, 8 << 20  # bytes of an output that are kept: its beginning and its end
PIECE = 1 << 18  # bytes read at a time
_HELD = 1 << 18  # bytes held in memory; no text of this size is short


class Kept:
    """A file with the first bytes of what is added to it, and one with the last, as it is added.

    In the second one the newest bytes replace the oldest: the disk holds at most `first` and `last`
    bytes.
    """

    def __init__(self, path: str, first: int = FIRST, last: int = LAST) -> None:
        self.path, self.first, self.last = path, first, last
        self.size = 0
        self._spoiled = 0  # of the oldest bytes, by an addition that failed
        self._file, self._end = self._opened(path), -1

    def _opened(self, path: str) -> int:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)

    def add(self, data: bytes) -> None:
        """Add `data`, all of it or nothing. Raises OSError if the disk is full."""
        before = self.size
        try:
            while data:
                data = data[self._add(data) :]
        except OSError:
            self._spoiled, self.size = self.size - before, before
            raise

    def _add(self, data: bytes) -> int:
        place, room, file = self.size, self.first - self.size, self._file
        if room <= 0:
            if self._end < 0:
                self._end = self._opened(f"{self.path}.end")
            place, file = (self.size - self.first) % self.last, self._end
            room = self.last - place
        added = os.pwrite(file, data[:room], place)
        self.size += added
        return added

    def parts(self) -> tuple[bytes, int, bytes]:
        """The beginning, how many bytes are missing after it, and the end."""
        beginning, after = _read(self.path)[: self.size], self.size - self.first
        if after <= 0:
            return beginning, 0, b""
        end, oldest = _read(f"{self.path}.end"), after % self.last
        end = end[oldest:] + end[:oldest]
        end = end[len(end) - max(0, min(after, self.last - self._spoiled)) :]
        return beginning, after - len(end), end

    def remove(self) -> None:
        """Remove the files; the output is stored elsewhere, or was short."""
        for descriptor, path in ((self._file, self.path), (self._end, f"{self.path}.end")):
            if descriptor >= 0:
                os.close(descriptor)
                try:
                    os.unlink(path)
                except FileNotFoundError:
                    pass
        self._file = self._end = -1


class Output:
    """The output of a command on its way: held back until it is known whether it is long.

    limit: bytes up to which an output is short; place: makes a file's path; passes: at once.
    """

    def __init__(self, limit: int, place: Callable[[], str], passes: bool = False) -> None:
        self.limit, self.passes = limit, passes
        self.size = 0
        self.held: list[tuple[int, bytes]] = []  # at least the first bytes, by descriptor
        self.kept: Kept | None = None
        self.trouble = ""  # why the output cannot be kept
        self._place = place
        self._held = self._shown = 0  # bytes in `held`, and pieces of it that were passed on

    def take(self, target: int, data: bytes) -> None:
        """Take `data`, which the command printed for the descriptor `target`."""
        if self.passes:
            write(target, data)
            return
        self._keep(data)
        self.size += len(data)
        if self.passes:  # it could not be kept, and nothing may be lost
            self.pass_all()
            write(target, data)
        elif self._held <= _HELD:
            self.held.append((target, data))
            self._held += len(data)

    def _keep(self, data: bytes) -> None:
        try:
            if self.kept is None and self.size + len(data) > self.limit:
                self.kept = Kept(self._place())
                for _, piece in self.held:
                    self.kept.add(piece)
            if self.kept:
                self.kept.add(data)
        except Exception as error:  # whatever it is, the command goes on
            self.trouble = str(getattr(error, "strerror", "") or error)
            self.passes = True

    def pass_all(self) -> None:
        """Pass on the output so far, from a file that cannot take more."""
        if self._held > _HELD and self.kept:
            beginning, missing, end = self.kept.parts()
            gap = f"\n… {missing} bytes are lost …\n".encode() if missing else b""
            shown = sum(len(data) for _, data in self.held[: self._shown])
            write(1, (beginning + gap + end)[shown:])
        else:
            self.show()
        self.forget()

    def show(self) -> None:
        """Pass on everything held in memory, which is all of a short output."""
        for target, data in self.held[self._shown :]:
            write(target, data)
        self._shown = len(self.held)

    def forget(self) -> None:
        """Remove the file: the output is stored elsewhere, or was short."""
        if self.kept:
            self.kept.remove()
            self.kept = None

    @property
    def is_waiting(self) -> bool:
        """Whether some output was not passed on yet."""
        return bool(self.kept or self.held[self._shown :])

    @property
    def is_asking(self) -> bool:
        """Whether the last thing held is part of a line, as a question is."""
        waits = self.held[self._shown :] and self._held <= _HELD
        return bool(waits) and not self.held[-1][1].endswith((b"\n", b"\r"))


def write(target: int, data: bytes) -> None:
    """Write all of `data`. A reader that has gone ends this process, as it would the command."""
    try:
        _write(target, data)
    except BrokenPipeError:
        os._exit(141)
    except OSError as error:
        if error.errno not in (errno.EBADF, errno.EIO, errno.ENOSPC):
            raise


def _write(target: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(target, view) :]
        except BlockingIOError:
            import select

            select.select([], [target], [], 1)


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return b""


class Job:
    """One command with its options and its end."""

    def __init__(self, command: list[str], options: dict[str, str]) -> None:
        self.command, self.options = command, options
        self.started = time.monotonic()
        self.status: int | None = None  # as a shell says it: 128 and the number for a signal
        self.signal = 0  # the one that asked us to end
        self.signaled = 0.0  # its time
        self.process = 0
        self.woken = -1  # becomes readable at a signal
        over = options.get("over", "")
        self.over = int(over) if over.isdigit() else 0  # tokens; 0: as the settings say
        passes = os.isatty(1)
        self.output = Output(self.over or 500, self.place, passes)
        until = options.get("until", "")
        self.until = float(until) if until.replace(".", "", 1).isdigit() else 0.0
        self.told = False
        self.reading: Iterator[bool] | None = None  # steps that prepare a digest meanwhile
        self.is_behind = not passes  # whether there is something to load or read now

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started

    def place(self) -> str:
        """The path of a new file for an output that is getting long."""
        from contextkit.base import files
        from contextkit.base.layout import Layout

        folder = os.path.join(files.store(Layout(self.options.get("root", "")).state), FOLDER)
        os.makedirs(folder, exist_ok=True)
        return os.path.join(folder, f"{os.getpid()}-{os.urandom(3).hex()}.out")


class Ending:
    """A finder of the mark that follows a command's last byte, with the status behind it.

    A process that the command left behind may go on writing after the mark.
    """

    def __init__(self, mark: str) -> None:
        self._mark = b"\0" + mark.encode() + b":"
        self._rest = b""
        self.status: int | None = None

    def without(self, data: bytes) -> bytes:
        """`data` without the mark; a possible beginning of the mark waits for the next call."""
        data = self._rest + data
        self._rest = b""
        if self.status is not None:
            return data
        start = data.find(self._mark)
        end = data.find(b"\n", start) if start >= 0 else -1
        if end >= 0:
            digits = data[start + len(self._mark) : end]
            self.status = int(digits) if digits.isdigit() else 1
            return data[:start] + data[end + 1 :]
        start = data.rfind(b"\0", max(0, len(data) - len(self._mark) - 4))
        if start >= 0 and self._mark.startswith(data[start : start + len(self._mark)]):
            self._rest = data[start:]
            data = data[:start]
        return data

    def rest(self) -> bytes:
        """The held bytes that looked like a mark and were none."""
        return self._rest

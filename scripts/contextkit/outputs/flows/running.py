"""Run a command, or read one's output from a pipe, and pass it on, whole or as a digest.

The command's environment stays as it is: folder, variables, standard input, process group. A signal
that would end this process is handed to the command, and this process ends as the command does.
"""

from __future__ import annotations

import errno
import fcntl
import os
import select
import sys
import time

from contextkit.base.type_names import FrameType
from contextkit.outputs.flows import pump
from contextkit.outputs.flows.pump import Ending, Job

_INT, _HUP, _QUIT, _PIPE, _TERM, _XFSZ = 2, 1, 3, 13, 15, 25
_HANDED_ON = (_HUP, _QUIT, _TERM)
_PATIENCE = 0.3  # seconds that a command has to end by itself after a signal
_SILENCE = 5.0  # seconds after which an unfinished line is taken for a question
_PAUSE = 15.0  # seconds of silence after which a command may be one that does not end
_TICK = 0.05  # seconds
_IDLE = 0.035  # seconds without output, after which a digest is prepared
_AT_ONCE = 0.01  # seconds after its first bytes from which on a long output is read ahead
_F_SETPIPE_SZ = 1031  # of Linux: with a larger pipe the command waits less often
_OPTIONS = ("sink", "root", "session", "over", "until", "of")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_")


def main(words: list[str]) -> int:
    """Run what `words` ask for and return its exit status."""
    options, command = _read(words)
    job = Job(command, options)
    _catch(job)
    if "sink" in options:
        _Intake(job, {0: 1}, Ending(options["sink"])).all()
    elif not command:
        sys.stderr.write("run: no command: run.py [--] COMMAND…\n")
        return 2
    elif status := _start(job):
        return status
    if not job.output.passes:
        _tell(job)
    elif job.output.trouble:
        sys.stderr.write(f"run: the output is not kept: {job.output.trouble}\n")
    return _leave(job)


def _read(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Split our options from the command, which begins at `--` or at the first other word."""
    options: dict[str, str] = {}
    for at, word in enumerate(words):
        if word == "--":
            return options, words[at + 1 :]
        name, _, value = word[2:].partition("=")
        if not word.startswith("--") or name not in _OPTIONS:
            return options, words[at:]
        options[name] = value
    return options, []


def _catch(job: Job) -> None:
    """Note the signals that would end this process instead of ending by them."""
    from _signal import (  # type: ignore[import-not-found]  # signal costs a third of a start
        SIG_DFL,
        SIG_IGN,
        SIGCHLD,
        getsignal,
        set_wakeup_fd,
        signal,
    )

    signal(SIGCHLD, SIG_DFL)  # who ignores it does not learn how a command ended
    job.woken, waker = os.pipe()
    os.set_blocking(waker, False)
    set_wakeup_fd(waker)

    def note(number: int, _: FrameType | None) -> None:
        job.signal, job.signaled = number, time.monotonic()
        if job.process and number in _HANDED_ON:
            try:
                os.kill(job.process, number)
            except ProcessLookupError:
                pass

    for number in (_INT, *_HANDED_ON):
        if getsignal(number) != SIG_IGN:  # ignored, as by nohup
            signal(number, note)


def _start(job: Job) -> int:
    """Start the command and take its output until it has ended; a status if it cannot start."""
    merged = _is_one_file()
    pipes = [os.pipe() for _ in ((1,) if merged else (1, 2))]
    writers = [(pipes[0][1], 1), (pipes[-1][1], 2)]
    actions = [(os.POSIX_SPAWN_DUP2, writer, target) for writer, target in writers]
    argv = _argv(job.command)
    try:
        job.process = _spawned(argv, actions)
    except OSError as error:
        sys.stderr.write(f"run: {argv[0]}: {error.strerror}\n")
        return 127 if isinstance(error, FileNotFoundError) else 126
    for _, writer in pipes:
        os.close(writer)
    sources = {pipe[0]: target for pipe, target in zip(pipes, (1, 2), strict=False)}
    _Intake(job, sources, None).all()
    if job.status is None:
        job.status = _code(os.waitpid(job.process, 0)[1])
    return 0


def _spawned(argv: list[str], actions: list[tuple[int, int, int]]) -> int:
    """Start a program and return its process; the shell runs a script without `#!`, as usual."""
    try:
        return os.posix_spawnp(
            argv[0], argv, os.environ, file_actions=actions, setsigdef=(_PIPE, _XFSZ)
        )
    except OSError as error:
        if error.errno != errno.ENOEXEC:
            raise
        return _spawned(["/bin/sh", *argv], actions)


def _argv(command: list[str]) -> list[str]:
    """The program and its arguments; a single text with more than a name is for the shell."""
    if len(command) > 1 or _PLAIN.issuperset(command[0]):
        return command
    shell = os.environ.get("SHELL", "")
    is_shell = os.path.basename(shell) in ("sh", "bash", "dash", "zsh", "ksh")
    return [shell if is_shell and os.access(shell, os.X_OK) else "/bin/sh", "-c", command[0]]


def _is_one_file() -> bool:
    """Whether our standard output and error are the same file, so that their order counts."""
    try:
        output, errors = os.fstat(1), os.fstat(2)
    except OSError:
        return False
    return (output.st_dev, output.st_ino) == (errors.st_dev, errors.st_ino)


def _code(state: int) -> int:
    return 128 + os.WTERMSIG(state) if os.WIFSIGNALED(state) else os.WEXITSTATUS(state)


class _Intake:
    """Takes all that comes in from `sources`, each for a descriptor of ours."""

    def __init__(self, job: Job, sources: dict[int, int], ending: Ending | None) -> None:
        self.job, self.sources, self.ending = job, dict(sources), ending
        self.last = time.monotonic()  # the time of the last input
        self.began = 0.0  # of the first one
        self.polled = select.poll()
        self.is_heard = True
        self.is_woken_at_the_end = False
        for source in (*sources, job.woken):
            self.polled.register(source, select.POLLIN)
        for source in sources:
            try:
                fcntl.fcntl(source, _F_SETPIPE_SZ, 1 << 20)
            except OSError:
                pass  # not Linux, or no pipe
        self.polled.register(1, 0)  # becomes ready if its reader goes away
        if job.process and hasattr(os, "pidfd_open"):
            try:
                self.polled.register(os.pidfd_open(job.process), select.POLLIN)
                self.is_woken_at_the_end = True
            except OSError:
                pass  # an old kernel

    def all(self) -> None:
        """Go on until the command has ended, even if others still hold the pipe."""
        while self.sources:
            ready_files = [source for source, _ in self.polled.poll(self._wait())]
            if self.job.woken in ready_files:
                os.read(self.job.woken, 64)
            if self.is_heard and 1 in ready_files:
                self.is_heard = False
                self.polled.unregister(1)
            ready = [source for source in ready_files if source in self.sources]
            for source in ready:
                if source in self.sources:
                    self._read(source)
            if not ready and self._has_ended():
                break
            if not ready and self.job.is_behind:
                _read_ahead(self.job)
            self._meanwhile()
        if self.ending and self.ending.rest():
            self.job.output.take(1, self.ending.rest())
        for source in self.sources:
            _leave_behind(source)

    def _read(self, source: int) -> None:
        data = os.read(source, pump.PIECE)
        self.last = time.monotonic()
        self.began = self.began or self.last
        if not data:
            self.polled.unregister(source)
            del self.sources[source]
        elif self.sources[source] == 1 and not self.is_heard:
            self._end_unheard()
            return
        elif self.ending:
            data = self.ending.without(data)
            self.job.status = self.ending.status
        if data:
            self.job.output.take(self.sources[source], data)
            self.job.is_behind = not self.job.output.passes

    def _end_unheard(self) -> None:
        """End as a command whose reader has gone, and have everything it started end so, too."""
        if not self.job.process:
            self.job.status = 128 + _PIPE
        else:  # before its pipe is closed: a shell would go on with its next command
            try:
                os.kill(self.job.process, _PIPE)
            except ProcessLookupError:
                pass
        for source in self.sources:
            os.close(source)
        self.sources.clear()

    def _has_ended(self) -> bool:
        """Whether the command has ended; a child's status is recorded."""
        job = self.job
        if job.process and job.status is None:
            process, state = os.waitpid(job.process, os.WNOHANG)
            job.status = _code(state) if process else None
        return job.status is not None

    def _wait(self) -> int:
        """The milliseconds until something else is due."""
        job = self.job
        if job.status is not None:
            return 0
        if job.signal or (job.process and not self.is_woken_at_the_end):
            return int(_TICK * 1000)
        if job.is_behind:
            if job.output.kept:  # a command that prints all at once has ended by then
                return max(0, round((self.began + _AT_ONCE - time.monotonic()) * 1000))
            return 0 if job.reading else int(_IDLE * 1000)
        due = [self.last + self._patience] if self._patience else []
        due += [job.started + job.until] if job.until else []
        return max(1, int((min(due) - time.monotonic()) * 1000)) if due else 60_000

    @property
    def _patience(self) -> float:
        """The seconds of silence after which something is shown; 0 if there is nothing to show."""
        output = self.job.output
        if self.job.told or not output.is_waiting:
            return 0
        return _SILENCE if output.is_asking else _PAUSE

    def _meanwhile(self) -> None:
        """Do what is due while the command runs: show a question, or digest the output so far."""
        job, now = self.job, time.monotonic()
        if self._patience and now - self.last >= self._patience:
            _tell_so_far(job)
        is_behind = job.signal and not job.process
        if is_behind and not job.told and now - job.signaled >= _PATIENCE:
            _tell(job)
        if job.until and job.seconds >= job.until:
            job.until = 0
            _tell_so_far(job)


def _read_ahead(job: Job) -> None:
    """Prepare part of a digest while the command runs, when it costs no time."""
    try:
        if job.reading is None:
            from contextkit.outputs.flows import telling

            job.reading = telling.read_ahead(job)
        job.is_behind = next(job.reading)
    except Exception:  # `tell` will meet and report it
        job.is_behind = False


def _tell_so_far(job: Job) -> None:
    """Show the output so far, or say once where it is, in case the host or the command hangs."""
    if job.told:
        return
    if job.output.kept:
        job.told = True
        from contextkit.outputs.flows import telling

        pump.write(1, telling.so_far(job).encode("utf-8", "surrogateescape"))
    else:
        job.output.show()


def _leave_behind(source: int) -> None:
    """Leave a reader at a pipe that a process still holds, so that writing does not kill it."""
    if os.fork():
        return
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(source, 0)
    os.dup2(null, 1)
    os.dup2(null, 2)
    os.closerange(3, 256)
    try:
        os.execvp("cat", ["cat"])
    except OSError:
        while os.read(0, pump.PIECE):
            pass
    os._exit(0)


def _tell(job: Job) -> None:
    """Print the output if it is short, else its digest; then pass on everything that follows."""
    job.told = True
    output = job.output
    if not output.kept:
        output.show()
    else:
        from contextkit.outputs.flows import telling

        telling.tell(job)
    output.passes = True


def _leave(job: Job) -> int:
    """End as the command did: by the same signal if it was our own child, else with its status."""
    status = 128 + job.signal if job.status is None else job.status
    if job.process and status > 128 and status - 128 in (_INT, *_HANDED_ON, 6, 9, 11, 13):
        from _signal import SIG_DFL, signal

        if status - 128 != 9:
            signal(status - 128, SIG_DFL)
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        os.kill(os.getpid(), status - 128)
    return status

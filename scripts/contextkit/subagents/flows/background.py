"""A command in the background, without a daemon: a shell waits for it and records how it ended.

    <folder>/prompt.md      what the command reads
    <folder>/agent.log      what it prints
    <folder>/alive          locked as long as it, or anything that it started, is alive
    <folder>/pid            the shell, which leads its own session and process group
    <folder>/exit           the exit status, once there is one
    <folder>/timed_out      its time was up

The lock dies with the processes, so a process id that the system reuses is never mistaken for ours.
"""

from __future__ import annotations

import fcntl
import os
import time

from contextkit.base import files
from contextkit.base.errors import ContextError

# $1 the folder, $2 where to run, $3 seconds or 0, $4 the command, $5 seconds to end in, $6 what to
# run after it has ended and released the lock. TERM reaches the whole group: the shell survives it
# to write down the status, and starts nothing if it came first; the watchdog handles what does not
# end.
_SHELL = r"""
run=$1 place=$2 limit=$3 command=$4 grace=$5 after=$6
stopped=
trap : HUP INT
trap 'stopped=1' TERM
echo "$$" > "$run/pid.new" && mv "$run/pid.new" "$run/pid"
if [ "$limit" != 0 ]; then
  (
    trap '' HUP INT TERM
    nap=
    trap 'kill -KILL $nap; exit' USR1
    sleep "$limit" & nap=$!
    wait "$nap"
    trap '' USR1
    : > "$run/timed_out"
    kill -TERM "-$$"
    sleep "$grace"
    kill -KILL "-$$"
  ) 9>&- < /dev/null > /dev/null 2>&1 &
  watchdog=$!
fi
if [ -n "$stopped" ]; then
  status=143
elif cd "$place"; then
  /bin/sh -c "$command" < "$run/prompt.md"
  status=$?
else
  status=127
fi
[ "$limit" != 0 ] && kill -USR1 "$watchdog" 2> /dev/null
echo "$status" > "$run/exit.new" && mv "$run/exit.new" "$run/exit"
exec 9>&-
[ -z "$after" ] || /bin/sh -c "$after" < /dev/null > /dev/null 2>&1
"""
GRACE = 3  # seconds that a command has to end after SIGTERM
_LOCK = 9  # the descriptor in the shell; dash supports only single digits


class Hold:
    """The lock of a new folder, taken by the launcher and inherited by what it starts.

    Raises FileExistsError if the folder is already taken.
    """

    def __init__(self, folder: str) -> None:
        path = files.create(os.path.join(folder, "alive"), "", exact=True)
        self.descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
        fcntl.flock(self.descriptor, fcntl.LOCK_EX)

    def release(self) -> None:
        """Close the lock; the processes that were started still hold it."""
        os.close(self.descriptor)


def start(
    hold: Hold,
    folder: str,
    place: str,
    command: str,
    limit: float,
    env: dict[str, str],
    after: str = "",
) -> int:
    """Run `command` in `place` with /bin/sh, at most `limit` seconds (0: no limit); return the pid.

    It outlives this process, its terminal and its make. `after` is run once it has ended.
    """
    log = os.path.join(folder, "agent.log")
    _keep_descriptors()
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666),
        (os.POSIX_SPAWN_DUP2, 1, 2),
        (os.POSIX_SPAWN_DUP2, hold.descriptor, _LOCK),
    ]
    words = ["sh", "-c", _SHELL, "contextkit", folder, place, str(limit), command, str(GRACE)]
    words.append(after)
    try:
        pid = os.posix_spawn("/bin/sh", words, env, file_actions=actions, setsid=True)
    except OSError as error:
        raise ContextError(f"/bin/sh cannot be started: {error.strerror}") from None
    files.write(os.path.join(folder, "pid"), f"{pid}\n")  # the shell may not have written it yet
    return pid


def _keep_descriptors() -> None:
    """Keep inherited descriptors out of the child: a pipe's reader would wait for its end."""
    for name in os.listdir("/dev/fd"):
        if name.isdigit() and int(name) > 2:
            try:
                os.set_inheritable(int(name), False)
            except OSError:
                continue  # the descriptor used for listing


def is_alive(folder: str) -> bool:
    """Whether the command, or anything that it started and left behind, is still running."""
    try:
        descriptor = os.open(os.path.join(folder, "alive"), os.O_RDONLY | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def state(folder: str) -> tuple[str, int | None]:
    """`pending_launch`, `running`, `finished`, `failed` or `timed_out`, and any exit status.

    `failed` is any status but 0, or having ended without one.
    """
    status = _status(folder)
    if status is None and is_alive(folder):
        has_pid = os.path.exists(os.path.join(folder, "pid"))
        return ("running" if has_pid else "pending_launch"), None
    status = _status(folder) if status is None else status  # it may have ended just now
    if os.path.exists(os.path.join(folder, "timed_out")):
        return "timed_out", status
    return ("finished" if status == 0 else "failed"), status


def ended_at(folder: str) -> int:
    """When the exit status was written, in seconds; 0 if there is none."""
    try:
        return int(os.stat(os.path.join(folder, "exit")).st_mtime)
    except OSError:
        return 0


def stop(folder: str, patience: float = GRACE) -> bool:
    """End the command and its group: SIGTERM first, SIGKILL after `patience` seconds.

    Returns False if nothing was running.
    """
    group = _number(os.path.join(folder, "pid"))
    if group is None or _status(folder) is not None or not is_alive(folder):
        return False
    import signal

    _send(group, signal.SIGTERM)
    end = time.monotonic() + patience
    while is_alive(folder) and time.monotonic() < end:
        time.sleep(0.02)
    if is_alive(folder):
        _send(group, signal.SIGKILL)
    return True


def _send(group: int, number: int) -> None:
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        pass  # it ended just now


def _status(folder: str) -> int | None:
    return _number(os.path.join(folder, "exit"))


def _number(path: str) -> int | None:
    """The whole number in one of the shell's small files; None if there is none."""
    try:
        text = files.read_bytes(path).strip()
    except ContextError:
        return None
    return int(text[:9]) if text.isdigit() else None

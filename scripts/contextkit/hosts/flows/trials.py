"""Try installed hooks: fire them with recorded input, as the host would.

Each answer is checked against the host's rules and its time budget. Nothing is written into the
repository: CONTEXT_ROOT is a scratch folder.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time

from contextkit.base import files, formats, layout, version
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.hosts.documents import diagnostics, rules, settings, vendored
from contextkit.hosts.documents.contracts import Host, find

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ATTEMPTS = 3  # for a hook that was late: the machine may have been busy
_LIMIT = 20  # seconds after which a hook is killed


class Trial(Record):
    """One fired hook: what is wrong with its answer, and its time in milliseconds."""

    host: str
    event: str
    problems: tuple[str, ...] = ()
    milliseconds: int = 0


def samples(host: str) -> dict[str, dict[str, object]]:
    """Return the recorded input for each event of a host."""
    path = version.toolkit("templates", "hosts", f"{host}.json")
    found: dict[str, dict[str, object]] = formats.from_json(files.read(path), path)
    return found


def installed(root: Layout, host: Host) -> list[tuple[str, dict[str, Any]]]:
    """Return (event, handler) for each of our hooks in a host's settings.

    Raises ContextError for unreadable settings.
    """
    found: list[tuple[str, dict[str, Any]]] = []
    for path in settings_files(root, host):
        text = files.read_if_there(path)
        if text and text.strip():
            found += settings.read(text, root.shown(path))
    return found


def settings_files(root: Layout, host: Host) -> list[str]:
    """Return the files in a repository that may hold a host's hooks."""
    names = filter(None, (host.settings, host.local_settings))
    return [os.path.join(project(root), name) for name in names]


def project(root: Layout) -> str:
    """Return where hosts are started: the root, or the folder below it that adopted this copy."""
    adopted = vendored.load(os.path.join(version.TOOLKIT, vendored.RECORD)).folder
    top = os.path.realpath(version.TOOLKIT).removesuffix(f"/{adopted}")
    return top if adopted and f"{top}/".startswith(f"{root.root}/") else root.root


def fire_all(root: Layout, names: tuple[str, ...]) -> list[Trial]:
    """Fire every installed hook of the hosts `names`, in the order of a session."""
    found = []
    for name in names:
        host = find(name)
        given = samples(name)
        hooks = sorted(installed(root, host), key=lambda one: _place(host, one[0]))
        with tempfile.TemporaryDirectory(prefix="contextkit-doctor-") as made:
            scratch = os.path.realpath(made)
            for event, handler in hooks:
                text = _sample(given, event, scratch)
                found.append(_fire(root, host, event, handler, text, scratch))
    return found


def _sample(given: dict[str, dict[str, object]], event: str, scratch: str) -> str:
    """Return the recorded input for an event, as if the agent were in the scratch folder."""
    return formats.to_json({**given.get(event, {"hook_event_name": event}), "cwd": scratch})


def _place(host: Host, event: str) -> int:
    return list(host.events).index(event) if event in host.events else len(host.events)


def _fire(
    root: Layout, host: Host, event: str, handler: dict[str, Any], text: str, scratch: str
) -> Trial:
    known = host.events.get(event)
    budget = known.budget if known else 2.0
    environment = {k: v for k, v in os.environ.items() if k not in ("SESSION_ID", "SESSION_DIR")}
    place = project(root)
    environment |= {"CONTEXT_ROOT": scratch} | ({host.project: place} if host.project else {})
    fastest = float(_LIMIT)
    found: list[str] = []
    for _ in range(_ATTEMPTS):
        start = time.monotonic()
        try:
            done = subprocess.run(
                _command(handler, root, host), input=text.encode(), env=environment, cwd=place,
                capture_output=True, timeout=_LIMIT,
            )  # fmt: skip
        except OSError as error:
            return Trial(host=host.name, event=event, problems=(_why_not_started(error),))
        except subprocess.TimeoutExpired:
            break
        fastest = min(fastest, time.monotonic() - start)
        said = done.stdout.decode("utf-8", "replace")
        found = rules.problems(host.name, event, done.returncode, said) + _noted(scratch)
        if found or fastest <= budget:
            break
    if fastest > budget:
        found.append(f"takes {fastest:.2f} s: {host.title} waits {budget:g}")
    return Trial(host=host.name, event=event, problems=tuple(found),
                 milliseconds=round(fastest * 1000))  # fmt: skip


def _why_not_started(error: OSError) -> str:
    """Say why a hook's program does not start, and what to do about it."""
    program = str(error.filename)
    if not isinstance(error, PermissionError) or not os.path.isfile(program):
        return f"cannot be started: {program}: {error.strerror}"
    if os.stat(program).st_mode & 0o111:
        return f"{program} cannot be started: its disk is mounted noexec: move the repository"
    return f"{program} cannot be started: chmod +x '{program}'"


def _command(handler: dict[str, Any], root: Layout, host: Host) -> list[str]:
    """Return what the host starts: a program with its arguments, or a shell command."""
    words = [str(handler.get("command", "")), *map(str, handler.get("args") or ())]
    if handler.get("args") is None:
        return ["/bin/sh", "-c", words[0]]
    return [word.replace(f"${{{host.project}}}", project(root)) for word in words]


def _noted(scratch: str) -> list[str]:
    """Return what a hook logged in its diagnostics: failures that the host does not see."""
    hooks = layout.hooks_folder(scratch)
    lines = diagnostics.lines(hooks)
    if lines:
        try:
            os.unlink(diagnostics.path(hooks))
        except OSError as error:
            raise ContextError(f"{hooks}: {error.strerror}") from None
    return [line.partition(": ")[2] or line for line in lines]

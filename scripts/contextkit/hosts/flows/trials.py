"""Trials of installed hooks: which ones would the host start, and would it accept their answers?

Each hook is fired with recorded input, as the host would, if it is what adopt of this version would
write for this toolkit, byte for byte; anything else is a stranger's command, and only shown. The
answer must come in the host's time, as JSON or text that it takes. Nothing is written into the
repository: CONTEXT_ROOT is a scratch folder. `make test_hosts` checks in the hosts themselves that
the declarations are true.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import threading
import time

from contextkit.base import files, formats, layout, version
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Any, Iterator
from contextkit.hosts.documents import settings, vendored
from contextkit.hosts.documents.contracts import LAUNCHER, Host, find
from contextkit.hosts.flows import adoption, runner

_ATTEMPTS = 3  # for a hook that was late: the machine may have been busy
_LIMIT = 20  # seconds after which a hook is killed
_ANSWER_SECONDS = 10.0  # of waiting for the host to list its hooks
_MESSAGES = (
    {"id": 1, "method": "initialize",
     "params": {"clientInfo": {"name": "contextkit", "version": "1"}}},
    {"method": "initialized"},
)  # fmt: skip
_PLAIN = re.compile(r"\w[\w./-]*", re.ASCII)
FOREIGN = "not a command of this contextkit: not started"


class Trial(Record):
    """One fired hook, and what is wrong with its answer."""

    host: str
    event: str
    problems: tuple[str, ...] = ()


def samples(host: str) -> dict[str, dict[str, object]]:
    """Return the recorded input for each event of a host."""
    path = version.toolkit("templates", "hosts", f"{host}.json")
    inputs: dict[str, dict[str, object]] = formats.from_json(files.read(path), path)
    return inputs


def installed(root: Layout, host: Host) -> list[tuple[str, dict[str, Any]]]:
    """Return (event, handler) for each of our hooks in a host's settings.

    Raises ContextError for unreadable settings.
    """
    hooks: list[tuple[str, dict[str, Any]]] = []
    for path in settings_files(root, host):
        text = files.read_if_there(path)
        if text and text.strip():
            hooks += settings.read(text, root.shown(path))
    return hooks


def settings_files(root: Layout, host: Host) -> list[str]:
    """Return the files in a repository that may hold a host's hooks."""
    names = filter(None, (host.settings, host.local_settings))
    return [os.path.join(adoption.top_of(root), name) for name in names]


def fire_all(root: Layout, names: tuple[str, ...]) -> list[Trial]:
    """Fire every hook of ours that the hosts `names` have, in the order of a session."""
    return [trial for name in names for trial in _fired(root, find(name))]


def _fired(root: Layout, host: Host) -> Iterator[Trial]:
    inputs = samples(host.name)
    order = {event: number for number, event in enumerate(host.events)}
    hooks = sorted(installed(root, host), key=lambda hook: order.get(hook[0], len(order)))
    with tempfile.TemporaryDirectory(prefix="contextkit-doctor-") as made:
        scratch = os.path.realpath(made)
        for event, handler in hooks:
            problems = [FOREIGN]
            if command := _own_command(root, host, event, handler):
                passed = inputs.get(event, {"hook_event_name": event})
                text = formats.to_json({**passed, "cwd": scratch})
                problems = _fire(root, host, event, command, text, scratch)
            yield Trial(host=host.name, event=event, problems=tuple(problems))


def _own_command(root: Layout, host: Host, event: str, handler: dict[str, Any]) -> list[str]:
    """Return what starts a handler that adopt would write for this toolkit; else nothing.

    Its launcher is ours if it is that of this toolkit, or a wrapper's exactly as adopt writes it.
    The folder is one that a clone may name: it must mean nothing to a shell.
    """
    top, own = adoption.top_of(root), os.path.realpath(version.TOOLKIT)
    inside = (os.path.relpath(own, top), adoption.folder_of(top))
    folders = (version.TOOLKIT, *filter(_PLAIN.fullmatch, inside))
    for folder in folders if event in host.events else ():
        ours = settings.handler(host, event, folder)
        words, arguments = str(ours["command"]), ours.get("args")
        if (handler.get("command"), handler.get("args")) != (words, arguments):
            continue
        if _starts_us(os.path.join(top, folder), own):
            if not isinstance(arguments, list):
                return ["/bin/sh", "-c", words]
            return [word.replace(f"${{{host.project}}}", top) for word in (words, *arguments)]
    return []


def _starts_us(place: str, own: str) -> bool:
    """Return whether a folder is this toolkit, or has a wrapper of it as adopt writes it."""
    if os.path.realpath(place) == own:
        return True
    launcher, pinned = f"{place}/{LAUNCHER}", vendored.pin()
    if not pinned.commit or os.path.islink(launcher) or not os.path.isfile(launcher):
        return False
    return files.read_bytes(launcher) == vendored.wrapper_files(pinned)[LAUNCHER][0]


def _fire(
    root: Layout, host: Host, event: str, command: list[str], text: str, scratch: str
) -> list[str]:
    """Fire a hook until it is in time, at most `_ATTEMPTS` times; return what is wrong.

    What it logs counts, too: failures that the host does not see.
    """
    budget, place = host.events[event].budget, adoption.top_of(root)
    environment = {k: v for k, v in os.environ.items() if k not in ("SESSION_ID", "SESSION_DIR")}
    environment |= {"CONTEXT_ROOT": scratch} | ({host.project: place} if host.project else {})
    hooks = layout.hooks_folder(scratch)
    fastest = float(_LIMIT)
    problems: list[str] = []
    for _ in range(_ATTEMPTS):
        start = time.monotonic()
        try:
            done = subprocess.run(
                command, input=text.encode(), env=environment, cwd=place,
                capture_output=True, timeout=_LIMIT,
            )  # fmt: skip
        except OSError as error:
            return [_why_not_started(error)]
        except subprocess.TimeoutExpired:
            break
        fastest = min(fastest, time.monotonic() - start)
        problems = _refused(host, event, done.returncode, done.stdout.decode("utf-8", "replace"))
        problems += [line.partition(": ")[2] or line for line in runner.noted(hooks)]
        files.discard(runner.log(hooks))
        if problems or fastest <= budget:
            break
    late = [f"takes {fastest:.2f} s: {host.title} waits {budget:g}"] if fastest > budget else []
    return problems + late


def _why_not_started(error: OSError) -> str:
    """Say why a hook's program does not start, and what to do about it."""
    program = str(error.filename)
    if not isinstance(error, PermissionError) or not os.path.isfile(program):
        return f"cannot be started: {program}: {error.strerror}"
    if os.stat(program).st_mode & 0o111:
        return f"{program} cannot be started: its disk is mounted noexec: move the repository"
    return f"{program} cannot be started: chmod +x '{program}'"


def _refused(host: Host, event: str, status: int, stdout: str) -> list[str]:
    """Return what no host takes; that every answer of ours has its host's form is for the tests."""
    problems = [f"exit status {status}: only 0 is sure not to block the host"] if status else []
    text = stdout.strip()
    if text.startswith("{"):
        try:
            formats.from_json(text, "output")
        except ContextError as error:
            problems.append(str(error))
    elif text and "plain" not in host.events[event].takes:
        problems.append(f"plain text: {event} takes only JSON")
    return problems


# Would the host start them? It is asked over JSON-RPC, one message per line: `hooks/list` returns
# the trust of each hook of a folder. Nothing is sent to a model.


def untrusted(host: Host, project: str) -> list[str] | None:
    """Return the events whose hooks of ours the host would not start; None if it does not say.

    It lists no hook of a folder that is not trusted itself.
    """
    ours = [hook for hook in _listed(host, project) if LAUNCHER in str(hook.get("command"))]
    refused = [hook for hook in ours if hook.get("trustStatus") not in ("trusted", "managed")]
    return sorted({str(hook.get("eventName")) for hook in refused}) if ours else None


def _listed(host: Host, project: str) -> list[dict[str, object]]:
    asked = {"id": 2, "method": "hooks/list", "params": {"cwds": [project]}}
    lines = "".join(json.dumps(one) + "\n" for one in (*_MESSAGES, asked))
    try:
        process = subprocess.Popen(
            [host.command, *host.tells_trust], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, cwd=project,
        )  # fmt: skip
    except OSError:
        return []
    late = threading.Timer(_ANSWER_SECONDS, process.kill)
    late.start()
    try:
        assert process.stdin and process.stdout
        process.stdin.write(lines.encode("utf-8"))
        process.stdin.flush()
        answers = map(formats.object_in, process.stdout)
        result = next((one for one in answers if one.get("id") == 2), {})
    except OSError:
        return []
    finally:
        late.cancel()
        process.kill()
        process.communicate()
    folders = formats.inside(result, "result").get("data")
    return [one for folder in folders or () for one in folder.get("hooks", [])]

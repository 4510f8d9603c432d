"""Doctor: what is wrong in a repository, and how to fix it. Nothing is changed.

Each hook is fired with recorded input, as by the host, if it is byte for byte what adopt of this
version would write for this toolkit; anything else is a stranger's command and only shown. The
answer must come within the host's time limit, as JSON or text that it takes. Nothing is written
into the repository: CONTEXT_ROOT is a scratch folder. `make test what=hosts` checks in the hosts
themselves that the declarations are true.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from contextkit.base import files, formats, git, ledger, makefiles, names, stores, tokens, version
from contextkit.base.errors import UPGRADE, ContextError
from contextkit.base.layout import Layout, hooks_folder
from contextkit.history.flows import overview
from contextkit.hosts.documents import settings, vendored
from contextkit.hosts.documents.contracts import LAUNCHER, SUBFOLDER, Host, find
from contextkit.hosts.flows import adoption, changes, runner
from contextkit.machines.documents import knowledge

_COMMITTED = ("README.md", ".gitkeep", ".gitignore")  # files of an ephemeral store that git tracks
_LOOKS = 20  # checks of a held lock, within a second
_SHOWN = 5  # lines of diagnostics, or broken files per store
_ATTEMPTS = 3  # tries for a late hook: the machine may have been busy
_LIMIT = 20  # seconds after which a hook is killed
_ANSWER_SECONDS = 10.0  # to wait for the host's list of hooks
_MESSAGES = (
    {"id": 1, "method": "initialize",
     "params": {"clientInfo": {"name": "contextkit", "version": "1"}}},
    {"method": "initialized"},
)  # fmt: skip
_PLAIN = re.compile(r"\w[\w./-]*", re.ASCII)
_OLD = "is a copy of an older version"
FOREIGN = "not a command of this contextkit: not started"
Check = Callable[[Layout, tuple[str, ...]], Iterator["Finding"]]


class Finding(NamedTuple):
    """A problem, its area, and its fix; a `note` is nothing to worry about."""

    problem: str
    mend: str
    area: str = ""  # by default that of the check
    note: bool = False


_note = functools.partial(Finding, note=True)


def examine(layout: Layout, hosts: tuple[str, ...]) -> list[Finding]:
    """Run every check in order; if the state folder is not ours, nothing else can be found out."""
    try:
        layout.state  # noqa: B018  (its check)
    except ContextError as error:
        return [Finding(str(error), "then run doctor again", "state")]
    findings = []
    for area, check in CHECKS:
        try:
            findings += [f if f.area else f._replace(area=area) for f in check(layout, hosts)]
        except (ContextError, OSError) as error:  # a finding, too
            findings.append(Finding(str(error), "fix that, then run doctor again", area))
    return list(dict.fromkeys(findings))


def _adopt(layout: Layout, target: str = "adopt") -> str:
    """The command that adopts the project; a checkout is not adopted into itself."""
    top = adoption.top_of(layout)
    places = {layout.here: ".", version.TOOLKIT: "DIR"}
    return f"make {target} into={places.get(top) or names.word(top)}"


def versions(layout: Layout, hosts: tuple[str, ...]) -> Iterator[Finding]:
    """Check our own version, and that Python, make and git are there and new enough."""
    yield _note(f"this is contextkit {version.VERSION}", "make context_upgrade")
    for program, oldest, mend in (
        ("python3", (3, 11), "install Python 3.11 or newer"),
        ("make", (4, 0), "install GNU make 4.0 or newer (macOS: brew install make, then gmake)"),
        ("git", (2, 30), "install git 2.30 or newer"),
    ):
        there = _version(program)
        if tuple(map(int, re.findall(r"\d+", there)[:2])) < oldest:
            yield Finding(f"{program} {f'is {there}' if there else 'was not found'}", mend)


def _version(program: str) -> str:
    """The version that a program prints; empty if it is missing."""
    try:
        done = subprocess.run([program, "--version"], capture_output=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    match = re.search(rb"\b\d+\.\d\S*", done.stdout)
    return match[0].decode("utf-8", "replace") if match else ""


def set_up(layout: Layout, hosts: tuple[str, ...]) -> Iterator[Finding]:
    """Check the toolkit's own environment, which hooks do without, and its token counter."""
    tokenizer = layout.limits.tokenizer
    if not os.access(os.path.join(version.TOOLKIT, ".venv", "bin", "python"), os.X_OK):
        missing = "is not set up: tokens near a cap are estimated, YAML is not read"
        program = names.word(os.path.join(version.TOOLKIT, "scripts", "setup.py"))
        yield _note(f"{layout.shown(version.TOOLKIT)} {missing}", f"python3 {program}")
    elif tokens.TOKENIZERS.get(tokenizer) and tokens.count("a", tokenizer) < 0:
        problem = "splintr-rs is not installed: a text that might be above a cap is cut further"
        mend = "if there is a wheel for this platform, remove .venv and run any make target"
        yield _note(problem, mend)


def trusted(layout: Layout, hosts: tuple[str, ...]) -> Iterator[Finding]:
    """Name the settings of this repository that do something and are not trusted."""
    if layout.held:
        problem = f"contextkit.yaml sets {', '.join(sorted(layout.held))}: not in force"
        yield _note(problem, "read them: make context_trust")


def writable(layout: Layout, hosts: tuple[str, ...]) -> Iterator[Finding]:
    """Check that documents can be stored here at all."""
    if not os.access(layout.root, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        mend = "make it writable, or keep documents elsewhere: root=DIR (or CONTEXT_ROOT)"
        yield Finding(f"{layout.root}: you have no write permission there", mend)


def hosts_there(layout: Layout, hosts: tuple[str, ...]) -> Iterator[Finding]:
    """Check that the settings of the hosts in use hold all of our hooks."""
    ours = [(host, [event for event, _ in adoption.installed(layout, host)])
            for host in map(find, hosts)]  # fmt: skip
    if not any(events for _, events in ours):
        yield _note("no hooks are installed here except a plugin's", _adopt(layout))
    for host, events in ours:
        there = shutil.which(host.command)
        if events:
            yield from _hooks_of(layout, host, events)
            if host.below:
                yield _note(f"{host.title} {SUBFOLDER}", host.below)
            if not there:
                yield _note(f"{host.title} is not installed here", "nothing to do")
            elif host.trust:
                yield from _trust(layout, host)
        elif there:
            mend = f"{_adopt(layout)} hosts={host.name}"
            yield _note(f"{host.title}: no hooks are installed here", mend)


def _hooks_of(layout: Layout, host: Host, events: list[str]) -> Iterator[Finding]:
    """Check that each hook of ours is installed, for the right tools, and once."""
    wanted = settings.wanted(host, "", bool(layout.limits.hook_tool_output_tokens))
    missing = [event for event in wanted if event not in events]
    matchers = [group["matcher"] for group in wanted.values() if "matcher" in group]
    twice = sorted({event for event in events if events.count(event) > 1})
    texts = "".join(files.read_if_there(p) or "" for p in adoption.settings_files(layout, host))
    if missing:
        yield Finding(f"{host.title}: no hook for {', '.join(missing)}", _adopt(layout))
    elif not all(f'"{matcher}"' in texts for matcher in matchers):
        problem = f"{host.title}: its tool hooks do not match the settings"
        yield Finding(problem, _adopt(layout))
    if twice:
        problem = f"{host.title}: {', '.join(twice)}: installed twice"
        yield Finding(problem, f"{_adopt(layout, 'unadopt')} link=1")


def _trust(layout: Layout, host: Host) -> Iterator[Finding]:
    """Check that the host would start our hooks, by asking it if possible."""
    listed = _listed(host, adoption.top_of(layout)) if host.tells_trust else []
    ours = [hook for hook in listed if LAUNCHER in str(hook.get("command"))]
    refused = {str(hook.get("eventName")) for hook in ours
               if hook.get("trustStatus") not in ("trusted", "managed")}  # fmt: skip
    if not ours:
        yield _note(f"{host.title} starts only trusted hooks", host.trust)
    elif refused:
        yield Finding(f"{host.title} does not start {', '.join(sorted(refused))}", host.trust)


def names_taken(layout: Layout, hosts: tuple[str, ...]) -> Iterator[Finding]:
    """Find targets of the host that clash with ours; not in the toolkit's own repository."""
    top = adoption.top_of(layout)
    folder = os.path.relpath(os.path.realpath(version.TOOLKIT), top)
    for problem in makefiles.taken(top, folder) if folder != "." else ():
        yield _note(problem, "or set CONTEXTKIT_PREFIX before the include")


def hooks(layout: Layout, hosts: tuple[str, ...]) -> Iterator[Finding]:
    """Fire every installed hook with recorded input."""
    mend = f"{_adopt(layout)} brings the hooks up to date"
    for host in map(find, hosts):
        fired = list(fire(layout, host))
        for problem in dict.fromkeys(problem for _, problems in fired for problem in problems):
            named = ", ".join(event for event, problems in fired if problem in problems)
            yield Finding(f"{host.name} {named}: {problem}", mend)


def failures(layout: Layout, hosts: tuple[str, ...]) -> Iterator[Finding]:
    """Report what went wrong in hooks since somebody last looked."""
    lines = runner.noted(layout.hooks)
    path = layout.shown(runner.log(layout.hooks))
    older = f" ({len(lines) - _SHOWN} older ones in {path})" if len(lines) > _SHOWN else ""
    mend = f"when that is fixed: rm {path}{older}"
    for line in lines[-_SHOWN:]:
        yield Finding(line, mend)


def fire(layout: Layout, host: Host) -> Iterator[tuple[str, list[str]]]:
    """Fire every hook of ours that a host has, in the order of a session; yield the problems."""
    path = version.toolkit("templates", "hosts", f"{host.name}.json")
    inputs: dict[str, dict[str, object]] = formats.from_json(files.read(path), path)
    order = {event: number for number, event in enumerate(host.events)}
    hooks = adoption.installed(layout, host)
    hooks.sort(key=lambda hook: order.get(hook[0], len(order)))
    with tempfile.TemporaryDirectory(prefix="contextkit-doctor-") as made:
        scratch = os.path.realpath(made)
        for event, handler in hooks:
            problems = [FOREIGN]
            if command := _own_command(layout, host, event, handler):
                passed = inputs.get(event, {"hook_event_name": event})
                text = formats.to_json({**passed, "cwd": scratch})
                problems = _fire(layout, host, event, command, text, scratch)
            yield event, problems


def _own_command(layout: Layout, host: Host, event: str, handler: dict[str, Any]) -> list[str]:
    """The command of a handler that adopt would write for this toolkit; empty for any other.

    Its launcher is ours if it is that of this toolkit, or a wrapper's exactly as adopt writes it.
    The folder's name may come from a clone, so it must mean nothing to a shell.
    """
    top, own = adoption.top_of(layout), os.path.realpath(version.TOOLKIT)
    inside = (os.path.relpath(own, top), adoption.record_of(top).folder)
    folders = (version.TOOLKIT, *filter(_PLAIN.fullmatch, inside))
    for folder in folders if event in host.events else ():
        ours = settings.handler(host, event, folder)
        words, arguments = str(ours["command"]), ours.get("args")
        if (handler.get("command"), handler.get("args")) != (words, arguments):
            continue
        launcher = os.path.join(top, folder, LAUNCHER)
        starts_us = os.path.realpath(os.path.join(top, folder)) == own
        if not starts_us and os.path.isfile(launcher) and not os.path.islink(launcher):
            pinned = vendored.pin()
            wrapper = vendored.wrapper_files(pinned)[LAUNCHER][0] if pinned.commit else None
            starts_us = files.read_bytes(launcher) == wrapper
        if starts_us and isinstance(arguments, list):
            return [word.replace(f"${{{host.project}}}", top) for word in (words, *arguments)]
        if starts_us:
            return ["/bin/sh", "-c", words]
    return []


def _fire(
    layout: Layout, host: Host, event: str, command: list[str], text: str, scratch: str
) -> list[str]:
    """Fire a hook until it is in time, at most `_ATTEMPTS` times; the problems, also as logged."""
    budget, place = host.events[event].budget, adoption.top_of(layout)
    environment = {k: v for k, v in os.environ.items() if k not in ("SESSION_ID", "SESSION_DIR")}
    environment |= {"CONTEXT_ROOT": scratch} | ({host.project: place} if host.project else {})
    hooks = hooks_folder(scratch)
    fastest = float(_LIMIT)
    problems: list[str] = []
    for _ in range(_ATTEMPTS):
        start = time.monotonic()
        try:
            done = subprocess.run(command, input=text.encode(), env=environment, cwd=place,
                                  capture_output=True, timeout=_LIMIT)  # fmt: skip
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
    """Why a hook's program does not start, and what to do about it."""
    program = str(error.filename)
    if not isinstance(error, PermissionError) or not os.path.isfile(program):
        return f"cannot be started: {program}: {error.strerror}"
    noexec = "its disk is mounted noexec: move the repository"
    mend = noexec if os.stat(program).st_mode & 0o111 else f"chmod +x '{program}'"
    return f"{program} cannot be started: {mend}"


def _refused(host: Host, event: str, status: int, stdout: str) -> list[str]:
    """A fault that no host accepts; whether answers have their host's form is for the tests."""
    problems = [f"exit status {status}: only 0 is certain not to block the host"] if status else []
    text = stdout.strip()
    if text.startswith("{"):
        try:
            formats.from_json(text, "output")
        except ContextError as error:
            problems.append(str(error))
    elif text and "plain" not in host.events[event].takes:
        problems.append(f"plain text: {event} takes only JSON")
    return problems


def _listed(host: Host, project: str) -> list[dict[str, object]]:
    """Ask a host over JSON-RPC, a message per line, how far it trusts each hook of a folder.

    Nothing is sent to a model.
    """
    asked = {"id": 2, "method": "hooks/list", "params": {"cwds": [project]}}
    lines = "".join(json.dumps(message) + "\n" for message in (*_MESSAGES, asked))
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
        result = next((answer for answer in answers if answer.get("id") == 2), {})
    except OSError:
        return []
    finally:
        late.cancel()
        process.kill()
        process.communicate()
    folders = formats.inside(result, "result").get("data")
    return [hook for folder in folders or () for hook in folder.get("hooks", [])]


def ignored(layout: Layout, hosts: tuple[str, ...]) -> Iterator[Finding]:
    """Find stores that git should ignore: each must have its own rule and no tracked file."""
    for folder in filter(os.path.isdir, map(layout.place, stores.HIDDEN)):
        shown = layout.shown(folder)
        rules = files.read_if_there(os.path.join(folder, ".gitignore")) or ""
        if os.listdir(folder) and "*" not in rules.split():
            yield Finding(f"{shown}: git sees it", f"printf '*\\n' > '{shown}/.gitignore'")
        listed = git.run(layout.root, "ls-files", "-z", "--", folder) if layout.repository else ""
        paths = filter(None, listed.split("\0"))
        if tracked := [path for path in paths if os.path.basename(path) not in _COMMITTED]:
            problem = f"{shown}: git tracks {len(tracked)} of its files, such as {tracked[0]}"
            yield Finding(problem, f"git rm -r --cached '{shown}'")


def ignored_copies(layout: Layout, hosts: tuple[str, ...]) -> Iterator[Finding]:
    """Find files that adopt wrote and git ignores: they are missing from every clone."""
    top, adopted = adoption.adopted(layout)
    if not adopted.hosts:
        return
    edited = [
        place for host in map(find, adopted.hosts) for place in (host.instructions, host.settings)
    ]
    there = [p for p in (*edited, *makefiles.NAMES) if os.path.isfile(os.path.join(top, p))]
    paths = [*adopted.files, f"{adopted.folder}/{vendored.RECORD}", *there]
    if hidden := changes.ignored(top, paths):
        problem = f"{'; '.join(changes.described(hidden))}: no clone has that"
        yield Finding(problem, changes.mend(top, adopted.folder, hidden))


def drift(layout: Layout, hosts: tuple[str, ...]) -> Iterator[Finding]:
    """Find unedited copies of our documents that are older than this toolkit."""
    for path, text in overview.copies(layout).items():
        there = files.text_of(path)
        if there != text and stores.is_our_copy(there):
            yield Finding(f"{layout.shown(path)}: {_OLD}", "make context_init")


def adopted_files(layout: Layout, hosts: tuple[str, ...]) -> Iterator[Finding]:
    """Check what adopt put into the repository: all there, and as new as the toolkit."""
    top, adopted = adoption.adopted(layout)
    guide, place = f"{adopted.folder}/{adoption.GUIDE}", adoption.place_of(top)
    skill = adoption.skill(guide, place=place).encode("utf-8")
    skills = [f"{find(host).skills}/{adoption.SKILL}/SKILL.md" for host in adopted.hosts]
    for path in adopted.files:
        place = os.path.join(top, path)
        there = files.read_bytes(place) if os.path.lexists(place) else None  # may be binary
        shown = layout.shown(place)
        if there is None:
            yield Finding(f"{shown}: is missing", _adopt(layout))
        elif not vendored.is_ours(adopted, path, there):
            aside = "the next adopt keeps your text next to ours"
            mend = "it stays as it is" if path.endswith("/SKILL.md") else aside
            yield _note(f"{shown}: was edited", mend)
        elif path in skills and there != skill:
            yield Finding(f"{shown}: {_OLD}", _adopt(layout))


def kept_beside(layout: Layout, hosts: tuple[str, ...]) -> Iterator[Finding]:
    """Name the texts that pulls kept next to ours, perhaps unseen, in the background."""
    machine = knowledge.identity(layout)
    notes = knowledge.load(layout, machine.id) if machine else None
    if notes is None:
        return
    for copy in (copy for document in notes.documents.values() for copy in document.beside):
        if os.path.lexists(layout.join(copy.path)):
            ours, whose = copy.path.partition(stores.MARK)[0], notes.names.get(copy.machine)
            mend = f"take it: mv '{copy.path}' '{ours}'; or drop it: rm '{copy.path}'"
            yield _note(f"{ours}: {whose or copy.machine} has a different version of it", mend)


def locks(layout: Layout, hosts: tuple[str, ...]) -> Iterator[Finding]:
    """Find locks that a process keeps holding; one whose process is gone is free."""
    below = (os.path.join(here, n) for here, _, there in os.walk(layout.state) for n in there)
    for path in sorted(below):
        if path.endswith(".lock") and _is_held(path):
            shown = layout.shown(path)
            yield Finding(f"{shown}: is held", f"see which process it is: fuser '{shown}'")


def _is_held(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    with open(descriptor, "r+b") as file:
        for _ in range(_LOOKS):
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return False
            time.sleep(0.05)
    return True


def history(layout: Layout, hosts: tuple[str, ...]) -> Iterator[Finding]:
    """Check the ledger, since no command reports when it cannot be written or read."""
    for path in filter(os.path.lexists, (layout.ledger, *ledger.months(layout))):
        is_folder = path == layout.ledger
        fits = os.path.isdir(path) == is_folder and not os.path.islink(path)
        if not (fits and os.access(path, os.R_OK | os.W_OK | os.X_OK * is_folder)):
            shown = layout.shown(path)
            mend = f"make it yours (chmod u+rwX), or: mv '{shown}' '{shown}.old'"
            yield Finding(f"{shown}: cannot be read and written: its history is lost", mend)


def documents(layout: Layout, hosts: tuple[str, ...]) -> Iterator[Finding]:
    """Find the documents in each declared store that cannot be read, up to a fixed number."""
    for store in stores.with_documents():
        try:
            broken = [str(file) for file in stores.module(store).load_all(layout).broken]
        except ContextError as error:
            broken = [str(error)]
        except OSError as error:
            problem = f"{error.filename}: {error.strerror}"
            yield Finding(problem, "check its permissions", store.label)
            continue
        for message in broken[:_SHOWN]:
            problem, newer, _ = message.partition(f": {UPGRADE}")
            yield Finding(problem, UPGRADE if newer else store.mend, store.label)
        if left := broken[_SHOWN:]:
            yield Finding(f"{len(left)} more files cannot be read", store.mend, store.label)


CHECKS: tuple[tuple[str, Check], ...] = (
    ("versions", versions), ("set-up", set_up), ("root", writable), ("settings", trusted),
    ("hosts", hosts_there), ("make", names_taken), ("hooks", hooks), ("diagnostics", failures),
    ("ignore", ignored), ("ignore", ignored_copies), ("copies", drift), ("copies", adopted_files),
    ("machines", kept_beside), ("locks", locks), ("ledger", history), ("stores", documents),
)  # fmt: skip

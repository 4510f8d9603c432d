"""Hostile clones and hostile remotes: forty and twenty of them, then the same with other mixtures.

A clone is opened by every event of Claude Code and Codex, looked at by doctor and status, pulled
into and pushed from; from a remote is pulled, and to it is pushed. No program of theirs starts, no
connection is made, and nothing outside the root is written or removed.

Witnesses: a file that every planted program would leave, a copy of all that lies around the root,
a port that somebody listens on, and, where it is there, strace.
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import calls
from contextkit.hosts.documents import contracts
from scenes import NOW, SCRIPTS, Base, environment

CLONES, REMOTES = 40, 20
_HOOKS = ("pre-receive", "update", "post-receive", "post-update", "reference-transaction",
          "pre-push", "post-checkout", "post-merge", "push-to-checkout", "fsmonitor")  # fmt: skip
_LINKED = ("locks", "ledger", "sessions", "drafts", "memory", "hooks", "ended", "runs", "sync",
           "settings", "subagents", "machine", "exclude")  # fmt: skip
_STORES = (".temp", ".temp/memory", ".temp/memory/findings", ".temp/memory/checkpoints",
           ".clavain", ".clavain/verdicts", ".clavain/verdicts/runs", ".clavain/verdicts/runs/r",
           "shared", "shared/payloads", "shared/payloads/s1", ".aios", ".aios/handoffs",
           "parallelus", "parallelus/manuals", "parallelus/manuals/capsules",
           "parallelus/manuals/capsules/master", "docs/research/flux-drive")  # fmt: skip
_FILES = (".temp/memory/findings/ui_20251023T090000.md", ".clavain/verdicts/fd-x.json",
          "shared/payloads/s1/manifest.json", ".aios/handoffs/session-state/s1.json",
          "parallelus/manuals/capsules/remember-later.md", "contextkit.yaml",
          "parallelus/manuals/subagent-registry.json", ".claude/settings.json")  # fmt: skip
_OUTSIDE = ("secret.md", "x.lock", "id_rsa", "deep/2025-10.jsonl", "deep/20250101-000000-a.md",
            "manifest.json", "deep/ui_20251023T090000.md", "cp_20250101T000000.json",
            "fd-x.json", ".x.0123456789ab.tmp")  # fmt: skip
HOSTS = ("claude", "codex")
_STARTED = re.compile(r'execve(?:at)?\("([^"]*)", \[(.*)\], .* = 0$')
_CONNECTED = re.compile(r"connect\(.*sa_family=AF_INET")
_OPENED = re.compile(r"openat\(.*(?:O_WRONLY|O_RDWR|O_CREAT).* = \d+<(/[^>]*)>$")
_OURS = re.compile(
    r"/(git|git-[\w-]+|sh|dash|bash|env|make|python3?(\.\d+)?|strace|timeout|sleep)$"
)


@dataclass(frozen=True)
class Place:
    """A trial's folders: the repository, what lies around it, and a port that is listened on."""

    root: Path
    outside: Path
    port: int

    @property
    def ran(self) -> Path:
        """The file that a planted program leaves."""
        return self.outside.parent / "ran"

    def program(self, name: str) -> str:
        """A shell command that tells that it ran."""
        return f"echo {name} >> {shlex.quote(str(self.ran))}"

    def write(self, path: str, text: str, program: bool = False) -> None:
        """Put a file into the repository, unless something is in its way already."""
        target = self.root / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.is_symlink():
                target.write_text(text, encoding="utf-8")
                target.chmod(0o755 if program else 0o644)
        except OSError:
            return

    def link(self, path: str, to: str) -> None:
        """Put a link into the repository, likewise."""
        target = self.root / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.symlink_to(to)
        except OSError:
            return

    def settings(self, line: str) -> None:
        """Add to the settings; the last of two equal names would be refused as a whole."""
        path = self.root / "contextkit.yaml"
        if path.is_symlink():
            return
        there = path.read_text(encoding="utf-8") if path.exists() else ""
        if f"{line.partition(':')[0]}:" not in there:
            path.write_text(f"{there}{line}\n", encoding="utf-8")


def missing() -> str:
    """Without strace, starts and connections are seen only by what they leave."""
    return f"without strace ({calls.here()})" if calls.here() else ""


def trial(base: Base, folder: Path, draw: random.Random) -> tuple[str, list[str]]:
    """One stranger: what is hostile in it, and the defects."""
    number = int(folder.name.rpartition("-")[2])
    for made in ("home", "tmp", "bin", "outside/deep"):
        (folder / made).mkdir(parents=True)
    (folder / "bin/python3").symlink_to(sys.executable)
    for name in _OUTSIDE:
        path = folder / "outside" / name
        path.write_text(json.dumps({"status": "CLEAN", "summary": f"outside: {name}"}), "utf-8")
        os.utime(path, (1_700_000_000, 1_700_000_000))
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(64)
        server.setblocking(False)
        place = Place(folder / "clone", folder / "outside", server.getsockname()[1])
        is_clone = number % (CLONES + REMOTES) < CLONES
        done, words = (_clone if is_clone else _remote)(base, place, draw, number)
        before = _around(folder)
        log = _watched(words, folder, place.root)
        defects = [*_judged(log, folder), *_changed(before, _around(folder))]
        if place.ran.exists():
            defects.append(f"ran: {place.ran.read_text(encoding='utf-8').split()}")
        if _was_called(server):
            defects.append("a connection was made")
    return done, defects


def _was_called(server: socket.socket) -> bool:
    try:
        server.accept()[0].close()
    except BlockingIOError:
        return False
    return True


# Clones


def _sync_to_a_path(place: Place, draw: random.Random) -> None:
    hub = draw.choice(("vendor/cache.git", "deep/er/hub"))
    _trapped(place, place.root / hub)
    place.settings(f"sync: {draw.choice(('./', 'file://' + str(place.root) + '/'))}{hub}")


def _sync_elsewhere(place: Place, draw: random.Random) -> None:
    here = f"127.0.0.1:{place.port}"
    place.settings("sync: " + draw.choice((
        f"http://{here}/x.git", f"https://{here}/x.git", f"git://{here}/x.git", f"ssh://{here}/x",
        f"file://{place.outside}/share", "s3://bucket/x", f"ext::sh -c echo% x>{place.ran}",
        f"ftp://{here}/x", f"-u{place.ran}", "git",
    )))  # fmt: skip


def _copy_of_the_remote(place: Place, draw: random.Random) -> None:
    _trapped(place, place.root / ".contextkit/sync/git")
    place.settings("sync: git")


def _state(place: Place, draw: random.Random) -> None:
    run = {"version": 1, "id": "20251023T090000Z-000001", "process": "flux-drive", "roster": ["ui"],
           "mode": "review", "output_dir": "docs/research/flux-drive/x", "target": "x",
           "started_at": "2025-10-23T09:00:00Z", "notify": place.program("notify")}  # fmt: skip
    place.write(f".contextkit/runs/{run['id']}.json", json.dumps(run))
    place.write(f".contextkit/runs/{run['id']}.notify", place.program("notify"))
    place.write("docs/research/flux-drive/x/ui.md", "# done\n")
    place.write(".contextkit/machine", "aaaaaaaaaaaa\nan enemy\n")
    said = json.dumps({"subagent_command": place.program("cache")})
    place.write(".contextkit/settings", f"2 1 1 1\n{said}\n")
    place.write(".contextkit/sessions/s1", json.dumps({"process": 1, "host": "claude"}))
    place.write(".contextkit/subagents/a/pid", f"{os.getpid()}\n")
    place.write(".contextkit/subagents/a/alive", "")


def _commands(place: Place, draw: random.Random) -> None:
    program = place.program("command")
    place.settings(f"subagent_command: {json.dumps(program)}")
    if draw.random() < 0.3:
        place.settings(f"receipt_writer: {json.dumps(program)}")


def _hooks_of_hosts(place: Place, draw: random.Random) -> None:
    place.write(
        "tools/contextkit/scripts/hook.sh", f"#!/bin/sh\n{place.program('launcher')}\n", True
    )
    command = draw.choice((
        '"${CLAUDE_PROJECT_DIR}"/tools/contextkit/scripts/hook.sh EVENT --host=claude',
        f"{place.program('hook')} # /scripts/hook.sh --host=claude",
        f"{SCRIPTS}/hook.sh EVENT --host=claude; {place.program('hook')}",
    ))  # fmt: skip
    for host, path in (("claude", ".claude/settings.json"), ("codex", ".codex/hooks.json")):
        groups = {
            event: [{"hooks": [{"type": "command", "command": command.replace("EVENT", event)}]},
                    {"hooks": [{"type": "command", "args": [event, f"--host={host}"],
                                "command": f"{place.root}/tools/contextkit/scripts/hook.sh"}]}]
            for event in contracts.find(host).events
        }  # fmt: skip
        place.write(path, json.dumps({"hooks": groups}))


def _linked_state(place: Place, draw: random.Random) -> None:
    to = str(place.outside) if draw.random() < 0.7 else "../outside/deep"
    if draw.random() < 0.2:
        place.link(".contextkit", to)
    for name in draw.sample(_LINKED, draw.randint(1, 5)):
        place.link(f".contextkit/{name}", to)
        place.link(f".contextkit/{name}/s1", to)


def _linked_stores(place: Place, draw: random.Random) -> None:
    for name in draw.sample(_STORES, draw.randint(1, 6)):
        place.link(name, draw.choice((str(place.outside), f"{place.outside}/deep")))


def _linked_files(place: Place, draw: random.Random) -> None:
    for name in draw.sample(_FILES, draw.randint(1, 5)):
        place.link(name, str(place.outside / draw.choice(("fd-x.json", "secret.md", "new"))))


def _places(place: Place, draw: random.Random) -> None:
    out = draw.choice((str(place.outside), "../outside", "x/../../outside"))
    for name in ("roles", "capsule_template", "scope_template", "handoff_template", "sync_key"):
        place.settings(f"{name}: {out}/{name}")
    place.settings(f"handoff_profiles: ['{out}/{{agent}}.md', '{out}/secret.md']")


def _stores_elsewhere(place: Place, draw: random.Random) -> None:
    name = draw.choice(("payloads", "memory", "verdicts", "capsules", "registry", "handoffs"))
    place.settings(
        f"{name}: {draw.choice((str(place.outside), '../outside', '.git/hooks', '.git'))}"
    )


def _yaml(place: Place, draw: random.Random) -> None:
    place.settings(draw.choice((
        f"processes: !!python/object/apply:os.system ['{place.program('yaml')}']",
        "processes: {x: {mode: review, input: diff, output_dir: '../outside/{stem}', agents: [a]}}",
        "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]", "sync: [", "sync: {git: x}",
    )))  # fmt: skip


def _registry(place: Place, draw: random.Random) -> None:
    rows = [{"id": f"a{number}", "slug": "x", "status": "running", "pid": os.getpid(),
             "path": path, "sandbox": path, "prompt_path": path, "type": "clone",
             "command": place.program("registry"), "launched_at": "2025-10-23T09:00:00Z"}
            for number, path in enumerate(("../outside", str(place.outside), "a/.."))]  # fmt: skip
    place.write("parallelus/manuals/subagent-registry.json", json.dumps(rows))


def _documents(place: Place, draw: random.Random) -> None:
    verdict = {"type": "verdict", "status": "CLEAN", "summary": "s", "agent": "fd-x",
               "detail_path": str(place.outside / "secret.md"), "run": "../../outside"}  # fmt: skip
    place.write(".clavain/verdicts/fd-x.json", json.dumps(verdict))
    place.write(".aios/handoffs/session-state/s1.json", json.dumps({"last": "../../../outside/x"}))
    place.write("parallelus/manuals/capsules/remember-later.md", "## x\n- **Note:** $(id) `id`\n")
    place.write(".parallelus/sessions/current", "../../outside")
    place.write(".temp/memory/research_plans/t.md", f"# Plan\n@{place.outside}/secret.md\n")


def _programs(place: Place, draw: random.Random) -> None:
    for name in ("git", "python3", "make", "sh", "jq"):
        place.write(name, f"#!/bin/sh\n{place.program(name)}\n", True)
    planted = f"import os\nos.system({place.program('import')!r})\n"
    for name in ("json", "re", "yaml", "sitecustomize", "usercustomize", "contextkit", "encodings"):
        place.write(f"{name}.py", planted)
    place.write("Makefile", f"$(shell {place.program('make')})\nall:\n")
    place.write(".envrc", place.program("envrc"))


def _git_files(place: Place, draw: random.Random) -> None:
    _trapped(place, place.root / "bare.git")
    place.write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
    place.write(".gitmodules", '[submodule "x"]\n\tpath = x\n'
                f"\turl = ext::sh -c echo% >{place.ran}\n"
                f"\tupdate = !{place.program('submodule')}\n")  # fmt: skip
    place.write(".gitconfig", f"[core]\n\tsshCommand = {place.program('config')}\n")


ATTACKS: tuple[Callable[[Place, random.Random], None], ...] = (
    _sync_to_a_path, _sync_elsewhere, _copy_of_the_remote, _state, _commands, _hooks_of_hosts,
    _linked_state, _linked_stores, _linked_files, _places, _stores_elsewhere, _yaml, _registry,
    _documents, _programs, _git_files,
)  # fmt: skip


def _clone(
    base: Base, place: Place, draw: random.Random, number: int
) -> tuple[str, list[list[str]]]:
    """Build a repository, clone it; return what is hostile in it, and the calls."""
    first = ATTACKS[number % len(ATTACKS)]
    others = draw.sample(ATTACKS, draw.choice((0, 0, 1, 2, 4)))
    chosen = list(dict.fromkeys((first, *others)))
    made = place.root
    made.mkdir()
    for attack in chosen:
        attack(place, draw)
    place.write("README.md", "# A project\n")
    _git(made, "init", "-q")
    _git(made, "add", "-A", "-f")
    _git(made, "commit", "-q", "-m", "hostile")
    made.rename(made.with_name("origin"))
    _git(made.parent, "clone", "-q", "origin", "clone")
    _let_go(place.root)
    names = " ".join(attack.__name__.strip("_") for attack in chosen)
    return f"a clone: {names}", [*_opened(place), *_looked(), ["context_sync.py", "push"],
                                 ["context_sync.py", "pull"]]  # fmt: skip


def _let_go(root: Path) -> None:
    """Take the clone's remote away: a push that somebody types to `origin` is wanted."""
    _git(root, "remote", "remove", "origin")


def _trapped(place: Place, folder: Path) -> None:
    """A bare repository that runs something wherever git lets it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return
    _git(folder, "init", "-q", "--bare")
    for name in _HOOKS:
        hook = folder / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\n{place.program(name)}\n", encoding="utf-8")
        hook.chmod(0o755)
    evil = place.program("config") + "; :"
    ext = f"ext::sh -c echo% ext>>{place.ran}% "
    lines = [
        "[core]", f"\thooksPath = {folder}/hooks", "\trepositoryformatversion = 0", "\tbare = true",
        *(f"\t{name} = {json.dumps(evil)}" for name in (
            "alternateRefsCommand", "fsmonitor", "sshCommand", "pager", "editor", "gitProxy")),
        f'[url "{ext}"]', "\tinsteadOf = /", "\tinsteadOf = ./", "\tinsteadOf = h",
        "[protocol \"ext\"]", "\tallow = always", "[diff]", f"\texternal = {json.dumps(evil)}",
        "[alias]", *(f"\t{name} = {json.dumps('!' + evil)}" for name in ("push", "fetch", "log")),
        '[filter "evil"]', f"\tclean = {json.dumps(evil)}", f"\tsmudge = {json.dumps(evil)}",
        '[diff "evil"]', f"\ttextconv = {json.dumps(evil)}", "[gc]", "\tauto = 1",
        "[uploadpack]", f"\tpackObjectsHook = {json.dumps(evil)}",
        "[credential]", f"\thelper = {json.dumps('!' + evil)}",
    ]  # fmt: skip
    (folder / "config").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for empty in ("refs/heads/x", "objects/info/alternates"):
        (folder / empty).parent.mkdir(parents=True, exist_ok=True)
    (folder / "refs/heads/.keep").write_text("", encoding="utf-8")
    (folder / "objects/info/alternates").write_text(f"{folder}/../more/objects\n", "utf-8")


# Remotes


def _remote(
    base: Base, place: Place, draw: random.Random, number: int
) -> tuple[str, list[list[str]]]:
    """Build a remote that others have written; the repository itself is our own."""
    base.copy(place.root)
    shared = draw.random() < 0.5
    share = place.root.parent / "share"
    address = f"file://{share}" if shared else str(share)
    if not shared:
        _trapped(place, share)
        (share / "config").write_text(
            (share / "config").read_text("utf-8").partition('[url "')[0], encoding="utf-8"
        )
    _as_another_machine(base, place, address, draw)
    if shared:
        _twist(share, place, draw)
    _git(place.root, "remote", "add", "origin", str(share))
    calls_of = [["context_sync.py", verb, f"--remote={address}"] for verb in
                ("pull", "push", "pull", "remotes")]  # fmt: skip
    return f"a remote: {address.partition(':')[0]}", [*calls_of, *_opened(place), *_looked()]


def _as_another_machine(base: Base, place: Place, address: str, draw: random.Random) -> None:
    """Push what a hostile machine has."""
    there = Place(place.root.parent / "theirs", place.outside, place.port)
    base.copy(there.root)
    for attack in draw.sample((_state, _registry, _documents, _linked_files), 2):
        attack(there, draw)
    shutil.rmtree(there.root / ".contextkit/sync", ignore_errors=True)
    (there.root / ".contextkit/machine").unlink(missing_ok=True)
    (there.root / "contextkit.yaml").unlink(missing_ok=True)
    env = environment(there.root.parent / "their-home")
    subprocess.run(
        [sys.executable, str(SCRIPTS / "context_sync.py"), "push", f"--remote={address}"],
        cwd=there.root, env=env, capture_output=True, timeout=60,
    )  # fmt: skip
    shutil.rmtree(there.root.parent / "their-home", ignore_errors=True)
    shutil.rmtree(there.root)
    (there.root.parent / "ran").unlink(missing_ok=True)


def _twist(share: Path, place: Place, draw: random.Random) -> None:
    """Replace some of what lies in a shared folder by links, and by texts that lie."""
    found = sorted(path for path in share.rglob("*") if path.is_file() or path.is_dir())
    for path in draw.sample(found, min(3, len(found))):
        if not path.exists() or path == share:
            continue
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        path.symlink_to(draw.choice((place.outside, place.outside / "secret.md", "/dev/zero")))
    (share / "machines" / "bbbbbbbbbbbb").mkdir(parents=True, exist_ok=True)
    os.mkfifo(share / "machines/bbbbbbbbbbbb/head.json")


# What a user and a host do


def _opened(place: Place) -> list[list[str]]:
    """Every event of HOSTS, with what they pass, and an answer long enough to be stored."""
    words: list[list[str]] = []
    for host in HOSTS:
        samples = json.loads((SCRIPTS.parent / f"templates/hosts/{host}.json").read_text("utf-8"))
        for event, sample in samples.items():
            given = {**sample, "session_id": "s1", "cwd": str(place.root), "agent_type": "ui"}
            if "last_assistant_message" in given:
                given["last_assistant_message"] = "# Report\n\n" + "A line of it.\n" * 900
            words.append(["host_hook.py", event, f"--host={host}", "<", json.dumps(given)])
    return words


def _looked() -> list[list[str]]:
    return [["doctor.py"], ["context.py", "status"], ["context.py", "config"],
            ["context.py", "trust"], ["context.py", "search", "--q=outside"],
            ["external_memory.py", "recover"], ["verdict.py", "table"],
            ["handoff.py", "context", "--to=secret"], ["capsule_prompt.py", "--stub"],
            ["subagent_manager.py", "launch", "--slug=x", "--capsule=none"],
            ["subagent_manager.py", "status"], ["payload_store.py", "sweep"],
            ["remember_later.py", "--message=x"]]  # fmt: skip


# Witnesses


def _watched(words: list[list[str]], folder: Path, root: Path) -> str:
    """Make the calls one after the other, in one shell; return what strace saw, if it is there."""
    lines = []
    for number, (script, *arguments) in enumerate(words):
        given = folder / "tmp" / f"input-{number}"
        given.write_text(arguments[-1] if "<" in arguments else "text\n" * 50, encoding="utf-8")
        arguments = arguments[: arguments.index("<")] if "<" in arguments else arguments
        call = shlex.join(
            ["timeout", "60", sys.executable, "-B", str(SCRIPTS / script), *arguments]
        )
        lines.append(
            f"{call} < {shlex.quote(str(given))} > /dev/null 2> {folder}/tmp/said-{number}"
        )
    session = folder / "tmp" / "session.sh"
    session.write_text("\n".join(lines) + "\n", encoding="utf-8")
    log = folder / "tmp" / "log"
    traced = ("-e", "trace=execve,?execveat,connect,openat", "-e", "signal=none")
    before: tuple[str, ...] = (
        () if calls.here() else ("strace", "-f", "-y", "-qq", "-s", "400", "-o", str(log))
    )
    before += traced if before else ()
    env = {**environment(folder / "home", NOW), "TMPDIR": str(folder / "tmp"),
           "CLAUDE_PROJECT_DIR": str(root), "PATH": f"{folder}/bin:/usr/bin:/bin"}  # fmt: skip
    subprocess.run([*before, "sh", str(session)], cwd=root, env=env, timeout=600,
                   stdin=subprocess.DEVNULL, capture_output=True)  # fmt: skip
    if not before:
        time.sleep(2)  # what was started in the background
    return log.read_text("utf-8", "replace") if before else ""


def _judged(log: str, folder: Path) -> Iterator[str]:
    """What strace saw that must not be."""
    own = (f"{folder}/bin/python3",)
    may = tuple(f"{folder}/{name}/" for name in ("clone", "home", "tmp", "share"))
    for line in log.splitlines():
        call = line.partition(" ")[2].lstrip()
        started = _STARTED.match(call)
        planted = started and started[1].startswith(str(folder)) and started[1] not in own
        if started and (planted or not _OURS.search(started[1])):
            yield f"started: {started[1]} {started[2][:200]}"
        if _CONNECTED.match(call):
            yield f"connected: {call[:200]}"
        opened = _OPENED.match(call)
        if opened and not opened[1].startswith((*may, "/dev/null", "/dev/tty", "/proc/")):
            yield f"written: {opened[1]}"


def _around(folder: Path) -> dict[str, tuple[bytes, int]]:
    """All that lies around the root and is nobody's: its text and its time, by path."""
    found = {}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder).parts
        if inside[0] in ("clone", "tmp", "share") or ".cache" in inside or "contextkit" in inside:
            continue
        text = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path)] = (text, path.lstat().st_mtime_ns if path.is_file() else 0)
    return found


def _changed(
    before: dict[str, tuple[bytes, int]], after: dict[str, tuple[bytes, int]]
) -> list[str]:
    changed = [path for path in before.keys() | after.keys() if before.get(path) != after.get(path)]
    return [f"changed outside: {path}" for path in sorted(changed) if not path.endswith("/ran")]


def _git(folder: Path, *words: str) -> None:
    env = environment(folder)
    subprocess.run(["git", *words], cwd=folder, env=env, check=True, capture_output=True)

"""make bench what=day: a day in the real clients on a scripted model, with contextkit and without.

    python tests/bench/day.py [--host=claude|codex] [--folder=REPORTS] [--follow=50]

Two arms do the same: eight agents with reports of real size (those of `folder`, or made up), a
short one, a failing one, one in a worktree, three reports opened again by the file that is named, a
compaction, a resume, a `/clear` and a killed client. `follow` is the share of agents, in percent,
that do what they are told before they start. Printed are the tokens of all requests of the main
agent and of its subagents, what they cost at cache prices (1.25 new, 0.1 repeated), and seconds.
The clients come from npm (`make test what=hosts` installs them).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(CHECKOUT / "scripts"), str(CHECKOUT / "tests" / "real_hosts")]

import clients  # noqa: E402
from contextkit.base import tables, tokens  # noqa: E402
from models import Models, Reply, Request, Say, Use  # noqa: E402
from projects import Project, git  # noqa: E402

REPORTS, OPENED = 8, (1, 4, 6)
MODES = {"claude": ("foreground", "background"), "codex": ("background",)}
_LOOKS, _WORKS = 3, 2  # files that an agent looks at, and the main agent after each step
_SHORT = {100: "Done: it is as it was.", 101: "Failed: there is no such file, src/none.py."}
_APART = 102  # an agent in a worktree
_NEW, _REPEATED = 1.25, 0.1
_PATH = re.compile(r"shared/payloads/[\w./-]+\.md")
_LEFT = re.compile(r"`(\S*\.contextkit/reports/\S+\.md)`")
_STORED = re.compile(r"^@stored: \S+", re.M)


def made_up(number: int) -> str:
    """A report of about 3,900 tokens with a Summary, as agents write them."""
    parts = "".join(
        f"## Part {n}\n\nThe reader in `src/part{n}.py:{n * 7}` asks for the settings {n + 3} times"
        f" a run. With {n * 40} keys it took {n * 9} ms, {n * 4} of them for parsing. Reading once"
        " saves half; a cache by inode was rejected, since pipes have none.\n\n"
        for n in range(1, 60)
    )
    return (
        f"# Report {number}\n\n## Summary\n\nSettings are read 12 times a run, which takes 52 ms."
        f" Read them once, in `src/part3.py:21`.\n\n{parts}## Open Questions\n\n- Who pays?\n"
    )


def reports(folder: str) -> list[str]:
    found = sorted(Path(folder).rglob("*.md"), key=lambda path: -path.stat().st_size)
    texts = [path.read_text(encoding="utf-8") for path in found[:REPORTS]] if folder else []
    return texts or [made_up(number) for number in range(REPORTS)]


def answer_to(report: str) -> str:
    """What an author says about its report in some 200 tokens: here, its own first words."""
    said = tokens.clip(report, 190)
    return f"{said}\n\nOpen: what stands under the later headings."


class Day:
    """The script of both arms, and what it saw. The main agent takes its steps one by one."""

    def __init__(self, project: Project, texts: list[str], mode: str, follow: int) -> None:
        self.project, self.texts, self.mode, self.follow = project, texts, mode, follow
        self.steps: list[tuple[str, int]] = []
        self.opened: list[str] = []
        self.missed: list[str] = []
        self._calls: dict[int, int] = {}

    def script(self, request: Request) -> Reply:
        number = _agent(request)
        return self._main(request) if number is None else self._agent(request, number)

    def _agent(self, request: Request, number: int) -> Reply:
        """Look at a few files, then report: in the file that was named, or at length."""
        if "in your own words" in request.last:
            line = _STORED.search(request.last)
            return [Say(f"{answer_to(self._report(number))}\n{line[0] if line else ''}")]
        self._calls[number] = calls = self._calls.get(number, 0) + 1
        if calls <= _LOOKS:
            return [self._look(request)]
        if number in _SHORT:
            return [Say(_SHORT[number])]
        told = _LEFT.search(request.text)
        if told and number * self.follow % 100 < self.follow:
            if calls == _LOOKS + 1:
                return [self._write(request, told[1], self._report(number))]
            return [Say(answer_to(self._report(number)))]
        return [Say(self._report(number))]

    def _report(self, number: int) -> str:
        return self.texts[number % len(self.texts)]

    def _look(self, request: Request) -> Use:
        return self._read(request, str(self.project.root / "README.md"), 1, 20)

    def _read(self, request: Request, path: str, first: int, count: int) -> Use:
        if "Read" in request.tools:
            return Use("Read", {"file_path": path, "offset": first, "limit": count})
        return self._shell(request, f"sed -n {first},{first + count - 1}p {path}")

    def _write(self, request: Request, path: str, report: str) -> Use:
        full = str(self.project.root / path)
        if "Write" in request.tools:
            return Use("Write", {"file_path": full, "content": report})
        return self._shell(request, f"cat > {full} <<'END'\n{report}\nEND")

    def _shell(self, request: Request, command: str) -> Use:
        if "exec_command" in request.tools:
            return Use("exec_command", {"cmd": command})
        return Use("shell_command", {"command": command})

    def _main(self, request: Request) -> Reply:
        if "summary of the conversation" in request.last.lower():
            return [Say("<analysis>x</analysis>\n<summary>Reports were read.</summary>")]
        waits = re.findall(r'"agent_id":"([^"]+)"', request.last)
        if self.project.host == "codex" and waits:
            return [Use("multi_agent_v1.wait_agent", {"targets": waits, "timeout_ms": 20_000})]
        if not self.steps or (self.mode == "background" and "Async agent" in request.last):
            return [Say("Noted.")]  # the next turn comes with what the agent found
        what, number = self.steps.pop(0)
        if what == "open":
            return [self._open(request, number)]
        return [self._spawn(number) if what == "spawn" else self._look(request)]

    def _spawn(self, number: int) -> Use:
        task = f"SUBTASK {number}: look at it"
        if self.project.host == "codex":
            return Use("multi_agent_v1.spawn_agent", {"message": task})
        given = {"description": f"look at part {number}", "prompt": task,
                 "subagent_type": "general-purpose",
                 "run_in_background": self.mode == "background"}  # fmt: skip
        if number == _APART:
            given["isolation"] = "worktree"
        return Use("Agent", given)

    def _open(self, request: Request, number: int) -> Use:
        """Open a receipt's file as it is named; where the context has the report, go on."""
        paths = list(dict.fromkeys(_PATH.findall(request.text)))
        if not paths:
            return self._look(request)
        path = paths[min(number, len(paths) - 1)]
        there = (self.project.root / path).is_file()
        (self.opened if there else self.missed).append(path)
        return self._read(request, str(self.project.root / path), 17, 40)


def _agent(request: Request) -> int | None:
    """The number of the agent that asks; None for the main agent."""
    first = "\n".join(message.text for message in request.messages[:6])
    found = re.search(r"SUBTASK (\d+)", first)
    return int(found[1]) if found and "MAINTASK" not in first else None


def live(day: Day) -> Models:
    """The whole day; returns the service with every request."""
    models = Models(day.script, tokens=2000)
    resume = ("--continue",) if day.project.host == "claude" else ("resume", "--last")
    work = [("work", 0)] * _WORKS

    def turn(prompt: str, *steps: tuple[str, int], resumed: bool = True) -> None:
        day.steps = [one for step in steps for one in (step, *work)]
        day.project.run(models, prompt, options=resume if resumed else ())

    with models:
        first = [("spawn", number) for number in range(REPORTS)]
        turn("MAINTASK: begin", *first[:5], ("open", OPENED[0]), *first[5:], resumed=False)
        turn("MAINTASK: go on", ("open", OPENED[1]), *(("spawn", n) for n in (*_SHORT, _APART)))
        if day.project.host == "claude":
            turn("/compact")
        turn("MAINTASK: and then", ("open", OPENED[2]))
        _killed(day.project, models)
        turn("MAINTASK: after it was killed", ("spawn", min(_SHORT)), resumed=False)
    return models


def _killed(project: Project, models: Models) -> None:
    """A client that is killed while it works."""
    env = clients.environment(project.home, ANTHROPIC_BASE_URL=models.address,
                              ANTHROPIC_API_KEY="sk-ant-dummy", MOCK_KEY="dummy",
                              CODEX_HOME=str(project.home / ".codex"))  # fmt: skip
    words = ["-p", "MAINTASK: begin"] if project.host == "claude" else ["exec", "MAINTASK: begin"]
    process = subprocess.Popen(
        [str(clients.program(project.host)), *words], cwd=project.root, env=env,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    time.sleep(2)
    process.kill()
    process.wait()


def spent(models: Models) -> dict[str, float]:
    """Tokens that the main agent and its subagents sent, and all of it at cache prices.

    A service caches by prefix, of one model: tools, then system, then messages. What stood there in
    any request before, of whichever agent, is repeated; all that follows the first change is new.
    """
    sums = {"main": 0.0, "subagents": 0.0, "cost": 0.0}
    cached: set[bytes] = set()
    for request in models.requests:
        who = "main" if _agent(request) is None else "subagents"
        prefix, is_cached = hashlib.sha256(str(request.body.get("model")).encode()), True
        for part in map(json.dumps, _parts(request.body)):
            size = _size(part)
            prefix.update(part.encode())
            is_cached = is_cached and prefix.digest() in cached
            cached.add(prefix.digest())
            sums[who] += size
            sums["cost"] += size * (_REPEATED if is_cached else _NEW)
    return sums


def _parts(body: dict[str, Any]) -> list[Any]:
    """What a request sends, in the order of a cache, without what is no text of it."""
    system = body.get("system") or body.get("instructions") or ""
    messages = body.get("messages") or body.get("input") or []
    return [body.get("tools") or "", *_sent(_several(system)), *_sent(_several(messages))]


def _several(given: Any) -> list[Any]:
    return given if isinstance(given, list) else [given]


def _sent(given: Any) -> Any:
    """`given` without the marks of where to cache, and without the header with a session's id."""
    if isinstance(given, dict):
        return {key: _sent(one) for key, one in given.items() if key != "cache_control"}
    if isinstance(given, list):
        return [_sent(one) for one in given if not _is_header(one)]
    return given


def _is_header(given: Any) -> bool:
    return isinstance(given, dict) and str(given.get("text", "")).startswith("x-anthropic-")


_SIZES: dict[str, int] = {}


def _size(part: str) -> int:
    if part not in _SIZES:
        _SIZES[part] = tokens.estimate(part)
    return _SIZES[part]


def project(folder: Path, host: str, adopted: bool) -> Project:
    root = folder / "demo"
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    (root / "README.md").write_text("# Demo\n", encoding="utf-8")
    if adopted:
        adopt = str(CHECKOUT / "scripts" / "adopt.py")
        command = [sys.executable, adopt, f"--into={root}", "--copy"]
        kept = {k: v for k, v in os.environ.items() if k != "CONTEXTKIT_GIVEN"}  # typed here
        subprocess.run([*command, f"--hosts={host}"], check=True, capture_output=True, env=kept)
        (root / "tools" / "contextkit" / ".venv").symlink_to(CHECKOUT / ".venv")
    git(root, "add", "-A")
    git(root, "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "all")
    return Project(root, folder / "home", host)


def compared(host: str, mode: str, texts: list[str], follow: int) -> list[tuple[str, ...]]:
    """A row for each arm and one for the difference."""
    rows, found = [], []
    for adopted in (False, True):
        folder = Path(tempfile.mkdtemp(prefix="day-"))
        try:
            day = Day(project(folder, host, adopted), texts, mode, follow)
            began = time.monotonic()
            sums = spent(live(day))
            sums["all"], seconds = sums["main"] + sums["subagents"], time.monotonic() - began
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        found.append(sums)
        opened = f"{len(day.opened)}/{len(day.opened) + len(day.missed)}" if adopted else "-"
        rows.append((f"{host} {mode}", "with" if adopted else "without",
                     *(f"{sums[name]:,.0f}" for name in ("main", "subagents", "all", "cost")),
                     opened, f"{seconds:.0f} s"))  # fmt: skip
    change = (f"{100 * (found[1][name] / max(1, found[0][name]) - 1):+.0f} %"
              for name in ("main", "subagents", "all", "cost"))  # fmt: skip
    return [*rows, ("", "change", *change, "", "")]


def main() -> int:
    given = dict(word[2:].partition("=")[::2] for word in sys.argv[1:] if word.startswith("--"))
    hosts = given.get("host", "claude codex").split()
    texts, follow = reports(given.get("folder", "")), int(given.get("follow", "50"))
    rows = []
    each: Callable[[str], tuple[str, ...]] = MODES.__getitem__
    for host in hosts:
        for mode in each(host):
            rows += compared(host, mode, texts, follow)
    heads = ("host", "contextkit", "main", "subagents", "all", "cost", "opened", "time")
    sys.stdout.write(f"{tables.table(heads, rows)}\n\n{REPORTS} reports of ~"
                     f"{sum(map(tokens.estimate, texts)) // len(texts)} tokens;"
                     f" {follow} % of agents follow the contract\n")  # fmt: skip
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""A day of work with and without our hooks: does the user's own agent get more done?

The day is in `templates/day`: a small repository, three prompts that are three sessions, and tests
that the agent never sees. Each run works in a copy of its own; its result is kept below the state
folder, so an interrupted day goes on where it was.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time

from contextkit.base import files, formats, git, names, version
from contextkit.base.errors import bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any, Callable, Iterable, Iterator, Sequence
from contextkit.evaluation.flows.trial import Caller
from contextkit.hosts.documents import contracts
from contextkit.hosts.documents.contracts import Host
from contextkit.hosts.flows import adoption, changes
from contextkit.memory.flows import recovery, transcripts

WITHOUT, WITH = "without", "with"
_FOLDER = ("templates", "day")
_SECONDS = 60  # allowed for the hidden tests


class Run(NamedTuple):
    """A day of one arm: `solved` of `tests` hidden tests pass; `failed` counts failed sessions."""

    arm: str
    solved: int
    tests: int
    turns: int
    tokens: int
    cost: float
    seconds: float
    failed: int
    hooked: bool  # whether our hooks ran


def host_of(command: str, name: str) -> Host:
    """The host named, or the one that a command starts. Raises ContextError for any other."""
    readable = [candidate for candidate in contracts.every() if candidate.transcript_form]
    program = os.path.basename((command.split() or [""])[0])
    for candidate in readable:
        if (name or program) in (candidate.name, candidate.command):
            return candidate
    hosts = ", ".join(candidate.name for candidate in readable)
    raise bad_input(
        f"host: whose transcripts does {names.quoted(program)} write? give host=, one of {hosts}"
    )


def prompts() -> list[str]:
    folder = version.toolkit(*_FOLDER, "prompts")
    return [files.read(os.path.join(folder, name)) for name in sorted(os.listdir(folder))]


def run(
    layout: Layout, command: str, host: Host, seconds: int, count: int,
    progress: Callable[[str], None],
) -> list[Run]:  # fmt: skip
    """Run `count` days in each arm; `progress` gets a line for each finished one."""
    kept = os.path.join(layout.state, "evaluation")
    caller = Caller(seconds)
    runs: list[Run] = []
    try:
        for number in range(count):
            arms = (WITHOUT, WITH) if number % 2 else (WITH, WITHOUT)
            for arm in arms:
                day = _kept_or_lived(kept, command, host, arm, number, caller)
                runs.append(day)
                progress(f"{len(runs)} of {2 * count}: {arm}, {day.solved} of {day.tests} solved")
    except BaseException:
        caller.stop()
        raise
    return runs


def _kept_or_lived(
    kept: str, command: str, host: Host, arm: str, number: int, caller: Caller
) -> Run:
    """The run that was kept, or else a day in a fresh copy of the repository."""
    key = "\0".join((command, host.name, arm, str(number), *_texts()))
    path = os.path.join(kept, f"day-{names.sha256(key.encode('utf-8', 'replace'))[:32]}.json")
    if (before := files.read_if_there(path)) is not None:
        return Run(**formats.object_from_json(before, path))
    with tempfile.TemporaryDirectory(prefix="contextkit-day-", ignore_cleanup_errors=True) as top:
        root = os.path.realpath(top)
        _settle_in(root, host, arm)
        started, failed = time.monotonic(), 0
        for prompt in prompts():
            failed += bool(caller.call(command, prompt, root)[1])
        seconds = time.monotonic() - started
        solved, tests = _solved(root)
        turns, tokens, cost = spent(host, root)
        hooked = os.path.isdir(os.path.join(root, ".contextkit"))
    lived = Run(arm, solved, tests, turns, tokens, cost, seconds, failed, hooked)
    files.write(path, formats.to_json(lived._asdict()), derived=True)
    return lived


def _texts() -> Iterator[str]:
    """The texts that a day depends on."""
    for here, inside, file_names in os.walk(version.toolkit(*_FOLDER)):
        inside[:] = sorted(name for name in inside if name != "__pycache__")
        yield from (files.read(os.path.join(here, name)) for name in sorted(file_names))


def _settle_in(root: str, host: Host, arm: str) -> None:
    shutil.copytree(
        version.toolkit(*_FOLDER, "repository"), root, dirs_exist_ok=True,
        ignore=shutil.ignore_patterns("__pycache__"),
    )  # fmt: skip
    git.run(root, "init", "-q")
    if arm == WITH:
        folder = adoption.record_of(root).folder
        changes.carry_out(adoption.adopt(root, folder, (host.name,), False, True))
        if sys.prefix != sys.base_prefix:  # what `make setup` would make
            os.symlink(sys.prefix, os.path.join(root, folder, ".venv"))
    git.run(root, "add", "-A")
    own = ("-c", "user.name=day", "-c", "user.email=day@localhost")
    git.run(root, *own, "commit", "-qm", "The shop")


def _solved(root: str) -> tuple[int, int]:
    """The numbers of hidden tests that pass, and of all of them."""
    tests = version.toolkit(*_FOLDER, "hidden", "test_day.py")
    total = files.read(tests).count("    def test_")
    try:
        done = subprocess.run(
            [sys.executable, "-B", tests], cwd=root, stdin=subprocess.DEVNULL, timeout=_SECONDS,
            capture_output=True, encoding="utf-8", errors="replace",
        )  # fmt: skip
        return min(int(done.stdout.split()[-1]), total), total
    except (subprocess.TimeoutExpired, IndexError, ValueError):
        return 0, total


# The cost, by the transcripts that the host itself wrote. Claude Code notes `usage` with each
# reply, once for every part of it, under the reply's id; Codex notes the total of a session after
# each reply. Tokens of the cache are priced as the host declares.


_Usage = tuple[int, int, int, int]  # tokens: new input, written to a cache, read from one, answers


def spent(host: Host, root: str) -> tuple[int, int, float]:
    """The turns, tokens and cost (in tokens of input) of the sessions in a folder."""
    sessions = [_of_file(host, lines) for lines in _transcripts(host, root)]
    usages = [usage for _, of_session in sessions for usage in of_session]
    prices = (1, *host.prices)
    cost = sum(
        tokens * price for usage in usages for tokens, price in zip(usage, prices, strict=True)
    )
    return sum(turns for turns, _ in sessions), sum(map(sum, usages)), cost


def _transcripts(host: Host, root: str) -> Iterator[list[dict[str, Any]]]:
    """The lines of each transcript of a session that worked in the folder."""
    for folder in recovery.transcript_folders(host, root):
        for here, _, inside in os.walk(folder):
            for name in sorted(inside):
                if name.endswith(".jsonl"):
                    with open(os.path.join(here, name), "rb") as file:
                        lines = [formats.object_in(line) for line in file]
                    told = [(formats.inside(line, "payload") or line).get("cwd") for line in lines]
                    where = {os.path.realpath(cwd) for cwd in told if isinstance(cwd, str)}
                    if os.path.realpath(root) in where:
                        yield lines


def _of_file(host: Host, lines: Iterable[dict[str, Any]]) -> tuple[int, Iterable[_Usage]]:
    """The number of replies in a transcript, and the usages that add up to their cost."""
    replies: dict[str, _Usage] = {}
    totals: list[_Usage] = []
    for line in lines:
        if usage := formats.inside(line, "message", "usage"):
            kinds = ("input", "cache_creation_input", "cache_read_input", "output")
            replies[str(line["message"].get("id"))] = _counts(usage, *kinds)
        elif usage := formats.inside(line, "payload", "info", "total_token_usage"):
            read, _, cached, answered = _counts(usage, "input", "", "cached_input", "output")
            totals.append((max(read - cached, 0), 0, cached, answered))
    if host.transcript_form == transcripts.ROLLOUT:
        return len(totals), totals[-1:]
    return len(replies), replies.values()


def _counts(usage: dict[str, Any], *kinds: str) -> _Usage:
    counts = (usage.get(f"{kind}_tokens") for kind in kinds)
    new, written, read, answered = (n if type(n) is int and n > 0 else 0 for n in counts)
    return new, written, read, answered


_MEANS = {"turns": 1, "tokens": None, "cost": None, "seconds": None}  # and their digits


def rows(lived: Sequence[Run]) -> list[dict[str, object]]:
    """A row for each arm, `without` first: passing tests in percent, and averages per day."""
    by_arm = {arm: [run for run in lived if run.arm == arm] for arm in (WITHOUT, WITH)}
    made: list[dict[str, object]] = []
    for arm, runs in by_arm.items():
        sums = {name: sum(getattr(run, name) for run in runs) for name in Run._fields[1:-1]}
        if runs:
            means = {name: round(sums[name] / len(runs), d) for name, d in _MEANS.items()}
            share = round(100 * sums["solved"] / sums["tests"], 1)
            made.append({"id": arm, "arm": arm, "runs": len(runs), "solved": share,
                         **means, "failed": sums["failed"]})  # fmt: skip
    return made


def unhooked(lived: Sequence[Run]) -> str:
    """What spoils the comparison: hooks that did not run, or did in the wrong arm; else ''."""
    silent = sum(run.arm == WITH and not run.hooked for run in lived)
    loud = sum(run.arm == WITHOUT and run.hooked for run in lived)
    problems = {
        f"no hook ran in {silent} of the runs with hooks: make context_doctor": silent,
        f"hooks ran in {loud} of the runs without: are they installed for your user?": loud,
    }
    return "; ".join(problem for problem, count in problems.items() if count)

"""make mutants: change the code that makes decisions, a little at a time, and run its tests.

    make mutants                       forty random changes to each module below
    make mutants what=fitting n=0      every change to one module

A change that no test notices (a survivor) is printed with its line. `equivalent_mutants.toml` lists
the ones that change nothing and says why, and the numbers that are measures, of which one more or
less may go unnoticed; these are counted and not tried. cosmic-ray makes the changes; the first run
installs it into a folder of its own below `.venv`. The checkout is copied: nothing here is changed.

First, the tests named for a module run once, and it is recorded which lines of the module each one
runs. A change is then tried only on the tests that run the function it is in, those that run its
line first; a function that only other processes run gets all tests of its module. Each try is a
fork of this process, which has loaded pytest and hypothesis already.
"""

from __future__ import annotations

import ast
import functools
import importlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, NoReturn

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
COSMIC_RAY = "cosmic-ray==8.7.0"
PACKAGE = "scripts/contextkit"
EQUIVALENT = "tests/equivalent_mutants.toml"
MEMORY = 4 << 30  # bytes that the tests of one change may use: some changes collect without end
# What makes decisions: the module, and the test files that are about it.
MODULES = {
    "fitting": (
        "handoffs/flows/fitting.py",
        "handoffs/test_handoffs.py handoffs/test_handoff_sessions.py"
        " handoffs/test_handoff_script.py",
    ),
    "artifacts": (
        "handoffs/documents/artifacts.py",
        "handoffs/test_handoffs.py handoffs/test_handoff_script.py",
    ),
    "verdicts": (
        "reviews/documents/verdicts.py",
        "reviews/test_verdicts.py reviews/test_verdict_cleaning.py reviews/test_verdict_script.py",
    ),
    "agent_review": (
        "reviews/documents/agent_review.py",
        "reviews/test_reviews.py reviews/test_review_sections.py reviews/test_review_headers.py",
    ),
    "dismissals": (
        "reviews/documents/dismissals.py",
        "reviews/test_dismissals.py reviews/test_findings_across_runs.py",
    ),
    "blockers": (
        "reviews/flows/blockers.py",
        "reviews/test_left_open.py handoffs/test_handoff_sessions.py",
    ),
    "gate": ("reviews/flows/gate.py", "reviews/test_gates.py reviews/test_history.py"),
    "reader": ("reviews/documents/reader.py", "reviews/test_reviews.py reviews/test_proof.py"),
    "sight": (
        "reviews/documents/sight.py",
        "reviews/test_review_features.py reviews/test_proof.py",
    ),
    "phrases": (
        "reviews/documents/phrases.py",
        "reviews/test_review_features.py reviews/test_proof.py",
    ),
    "tables": (
        "reviews/documents/tables.py",
        "reviews/test_reviews.py reviews/test_proof.py reviews/test_review_features.py",
    ),
    "heads": (
        "reviews/documents/heads.py",
        "reviews/test_severity_words.py reviews/test_review_features.py reviews/test_proof.py",
    ),
    "shapes": ("reviews/documents/shapes.py", "reviews/test_reviews.py reviews/test_proof.py"),
    "denials": ("reviews/documents/denials.py", "reviews/test_proof.py"),
    "proof": ("reviews/documents/proof.py", "reviews/test_proof.py reviews/test_reviews.py"),
    "vocabulary": (
        "reviews/documents/vocabulary.py",
        "reviews/test_reviews.py reviews/test_severity_words.py",
    ),
    "redaction": ("base/redaction.py", "base/test_redaction.py"),
    "secret_search": (
        "base/secret_search.py",
        "base/test_redaction.py base/test_secret_forms.py",
    ),
    "failures": (
        "text/digests/failures.py",
        "text/digests/test_failures.py text/digests/test_kinds.py",
    ),
    "failed_tests": (
        "text/digests/failed_tests.py",
        "text/digests/test_failures.py text/digests/test_runners.py",
    ),
    "given": (
        "capsules/flows/given.py",
        "capsules/test_capsule_upkeep.py capsules/test_capsule_script.py"
        " subagents/test_given_capsules.py",
    ),
    "capsule_upkeep": (
        "capsules/flows/upkeep.py",
        "capsules/test_capsule_upkeep.py capsules/test_capsule_script.py"
        " capsules/test_second_capsules.py",
    ),
    "items": (
        "capsules/documents/items.py",
        "capsules/test_capsule_trim.py capsules/test_second_capsules.py"
        " subagents/test_given_capsules.py",
    ),
    "retention": (
        "payloads/flows/retention.py",
        "payloads/test_retention.py payloads/test_payload_store_script.py",
    ),
    "recovery": (
        "memory/flows/recovery.py",
        "memory/test_recovery.py memory/test_recovery_commands.py memory/test_merged_findings.py",
    ),
    "pull": (
        "machines/flows/pull.py",
        "machines/test_pull.py machines/test_sync_laws.py machines/test_context_sync_script.py",
    ),
    "settings": (
        "base/settings.py",
        "base/test_settings.py hosts/test_tool_outputs.py payloads/test_retention.py"
        " test_manuals.py",
    ),
}

# Runs in the environment of cosmic-ray: every change of the module on standard input, at random.
EMIT = """
import json, random, sys
from cosmic_ray import plugins
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
source = sys.stdin.read()
nodes = list(ast_nodes(get_ast(source)))
changes = []
for name in sorted(plugins.operator_names()):
    kind = plugins.get_operator(name)
    by_identity = name.endswith(("_Eq_Is", "_NotEq_IsNot", "_Is_Eq", "_IsNot_NotEq"))
    if not kind.arguments() and not by_identity:  # equal words are often one object, by chance
        there = sum(len(list(kind().mutation_positions(node))) for node in nodes)
        changes += [(kind, occurrence) for occurrence in range(there)]
random.Random(int(sys.argv[1])).shuffle(changes)
for kind, occurrence in changes:
    print(json.dumps(mutate_code(source, kind(), occurrence)), flush=True)
"""


class Change(NamedTuple):
    """One change of a module: its whole new text, and the lines that differ."""

    code: str
    number: int
    before: str
    after: str


class Run(NamedTuple):
    """What one test runs of a module, and how long it took, in seconds."""

    test: str
    lines: frozenset[int]
    seconds: float


def main() -> int:
    given = dict(word.split("=", 1) for word in sys.argv[1:])
    most, seed = int(given.get("n") or 40), int(given.get("seed") or 1)
    names = (given.get("what") or " ".join(MODULES)).replace(",", " ").split()
    unknown = [name for name in names if name not in MODULES]
    if unknown:
        print(f"mutants: what={unknown[0]}: there are {', '.join(MODULES)}", file=sys.stderr)
        return 2
    python = installed()
    survivors = 0
    print("| module | changes | killed | of them by time | equivalent | survived |")
    print("|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="mutants-") as made:
        copy = copied(Path(made))
        for name in names:
            survivors += try_module(python, copy, name, most, seed)
    return 1 if survivors else 0


def installed() -> Path:
    """The Python of cosmic-ray's own environment."""
    folder = CHECKOUT / ".venv" / "mutants"
    python = folder / "bin" / "python"
    if not (folder / "bin" / "cosmic-ray").exists():
        print(f"mutants: installing {COSMIC_RAY} …", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", COSMIC_RAY], check=True)
    return python


def copied(folder: Path) -> Path:
    """A copy of the checkout in `folder` that shares its virtual environment, but no byte code."""
    copy = folder / "checkout"
    ignored = shutil.ignore_patterns(".git", ".venv", "__pycache__", ".hypothesis", ".*_cache")
    shutil.copytree(CHECKOUT, copy, ignore=ignored, symlinks=True)
    (copy / ".venv").mkdir()
    for entry in (CHECKOUT / ".venv").iterdir():
        if entry.name != "bytecode":
            (copy / ".venv" / entry.name).symlink_to(entry)
    temporary = folder / "tmp"
    temporary.mkdir()
    os.environ["TMPDIR"] = tempfile.tempdir = str(temporary)
    return copy


def try_module(python: Path, copy: Path, name: str, most: int, seed: int) -> int:
    """Try at most `most` changes of a module (0: all), print its line; how many survived."""
    module = copy / PACKAGE / MODULES[name][0]
    source = module.read_text(encoding="utf-8")
    was = module.stat()
    runs = survey(copy, module, tests_of(name))
    excused = {(one["line"], change) for one in equivalent(name) for change in excused_by(one)}
    tried = killed = late = equal = 0
    alive = []
    try:
        for change in changes_of(python, source, most, seed):
            tried += 1
            if (change.before.strip(), squeezed(change.after)) in excused:
                equal += 1
                continue
            module.write_text(change.code, encoding="utf-8")
            # Byte code is matched by size and whole second: each change gets a second of its own.
            os.utime(module, (was.st_atime, was.st_mtime + tried))
            chosen = chosen_for(change, source, runs)
            tests = [run.test for run in chosen] or tests_of(name)
            status = in_fork(copy, tests, limit_of(chosen), functools.partial(Watch, chosen))
            killed += status != 0
            late += status in (None, -signal.SIGPROF)
            if status == 0:
                alive.append(change)
                show(name, change)
    finally:
        module.write_text(source, encoding="utf-8")
        os.utime(module, (was.st_atime, was.st_mtime))
    print(f"| {name} | {tried} | {killed} | {late} | {equal} | {len(alive)} |", flush=True)
    return len(alive)


def show(name: str, change: Change) -> None:
    print(f"{name}:{change.number}\n-{change.before}\n+{change.after}", file=sys.stderr, flush=True)


def tests_of(name: str) -> list[str]:
    return [f"tests/{path}" for path in MODULES[name][1].split()]


def equivalent(name: str) -> list[dict[str, Any]]:
    """The entries of a module: `line`, and `changes` to it and `why`, or `measures` in it."""
    listed = tomllib.loads((CHECKOUT / EQUIVALENT).read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = listed.get(name, [])
    return found


def excused_by(one: dict[str, Any]) -> Iterator[str]:
    """What the line of an entry may become, without blanks."""
    yield from map(squeezed, one.get("changes", []))
    line = one["line"]
    for measure in one.get("measures", []):
        for found in re.finditer(rf"(?<![\w.]){re.escape(measure)}(?![\w.])", line):
            for other in (-1, 1):
                number = str(ast.literal_eval(measure) + other)
                yield squeezed(line[: found.start()] + number + line[found.end() :])


def squeezed(line: str) -> str:
    return "".join(line.split())


def changes_of(python: Path, source: str, most: int, seed: int) -> Iterator[Change]:
    """At most `most` different changes (0: all) that a running program could notice, at random."""
    command = [str(python), "-c", EMIT, str(seed)]
    pipe = subprocess.PIPE
    meanings = {meaning(source)}
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8") as emitter:
        assert emitter.stdin and emitter.stdout
        emitter.stdin.write(source)
        emitter.stdin.close()
        for line in emitter.stdout:
            code = json.loads(line)
            means = meaning(code)
            if means in meanings:
                continue
            meanings.add(means)
            yield change_to(source, code)
            if len(meanings) > most > 0:
                emitter.kill()
                break


def change_to(source: str, code: str) -> Change:
    before, after = source.split("\n"), code.split("\n")
    number = next(n for n, (old, new) in enumerate(zip(before, after, strict=False)) if old != new)
    return Change(code, number + 1, before[number], after[number])


def meaning(code: str) -> str:
    """What a module does: without what only a type checker reads. Empty if it cannot be parsed."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return ""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.returns = None
            for inner in ast.walk(node):
                if isinstance(inner, (ast.AnnAssign, ast.arg)):
                    inner.annotation = ast.Constant(None)
    tree.body = [node for node in tree.body if "'TYPE_CHECKING'" not in ast.dump(node)]
    return ast.dump(tree)


def chosen_for(change: Change, source: str, runs: list[Run]) -> list[Run]:
    """The tests that run the function with the change in it: those that run its line come first.

    For a change outside functions, all tests that run anything of the module.
    """
    inside = range(1, source.count("\n") + 2)
    for node in ast.walk(ast.parse(source)):  # outer functions come before inner ones
        if isinstance(node, ast.FunctionDef) and node.end_lineno:
            if node.lineno <= change.number <= node.end_lineno:
                inside = range(node.lineno, node.end_lineno + 1)
    chosen = [run for run in runs if not run.lines.isdisjoint(inside)]
    return sorted(chosen, key=lambda run: (change.number not in run.lines, run.seconds))


def limit_of(chosen: list[Run]) -> float:
    """Seconds after which a change that makes the tests run on and on counts as killed."""
    return 20 + 5 * sum(run.seconds for run in chosen)


# One run of pytest in a fork


def survey(copy: Path, module: Path, tests: list[str]) -> list[Run]:
    """What each of the tests runs of a module; all of them have to pass."""
    found = copy.parent / "survey.json"
    status = in_fork(copy, tests, 1800, lambda: Survey(module, found))
    if status != 0:
        said = output_of(copy).read_text(encoding="utf-8", errors="replace")
        raise SystemExit(f"{said}\nmutants: they fail without any change: {' '.join(tests)}")
    rows = json.loads(found.read_text(encoding="utf-8"))
    return [Run(test, frozenset(lines), seconds) for test, lines, seconds in rows]


class Survey:
    """A plugin of pytest that writes down which lines of `module` each test runs."""

    def __init__(self, module: Path, found: Path) -> None:
        self._module, self._found = str(module), found
        self._rows: list[tuple[str, list[int], float]] = []
        self._lines: set[int] = set()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._lines = set()
        began = time.perf_counter()
        threading.settrace(self._trace)
        sys.settrace(self._trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            seconds = time.perf_counter() - began
            if self._lines:
                self._rows.append((item.nodeid, sorted(self._lines), seconds))

    def pytest_sessionfinish(self) -> None:
        self._found.write_text(json.dumps(self._rows), encoding="utf-8")

    def _trace(self, frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename != self._module or frame.f_code.co_name == "<module>":
            return None
        self._lines.add(frame.f_lineno)
        return self._trace


class Watch:
    """A plugin of pytest that ends the process at a test that takes far longer than it did."""

    def __init__(self, runs: list[Run]) -> None:
        self._limits = {run.test: 5 + 5 * run.seconds for run in runs}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        signal.setitimer(signal.ITIMER_PROF, self._limits.get(item.nodeid, 0))  # processor time
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


def output_of(copy: Path) -> Path:
    """Where the last run of pytest printed to."""
    return copy.parent / "pytest.txt"


def run_pytest(copy: Path, tests: list[str], plugin: Callable[[], object] | None) -> NoReturn:
    """End this process with the exit status of pytest."""
    status = 70
    try:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.chdir(copy)
        output = os.open(output_of(copy), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for descriptor, stream in ((os.open(os.devnull, os.O_RDONLY), 0), (output, 1), (output, 2)):
            os.dup2(descriptor, stream)
        words = ["-x", "-q", "-n0", "--assert=plain", *tests]
        status = int(pytest.main(words, plugins=[plugin()] if plugin else []))
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def in_fork(
    copy: Path, tests: list[str], seconds: float, plugin: Callable[[], object] | None = None
) -> int | None:
    """The exit status of pytest in the copy, in a process group of its own; None if it was late."""
    child = os.fork()
    if child == 0:
        run_pytest(copy, tests, plugin)
    deadline = time.monotonic() + seconds
    status: int | None = None
    while time.monotonic() < deadline:
        ended, code = os.waitpid(child, os.WNOHANG)
        if ended:
            status = os.waitstatus_to_exitcode(code)
            break
        time.sleep(0.01)
    try:
        os.killpg(child, signal.SIGKILL)
    except ProcessLookupError:
        pass
    if status is None:
        os.waitpid(child, 0)
    if status == pytest.ExitCode.NO_TESTS_COLLECTED:
        raise SystemExit(f"mutants: no tests in {' '.join(tests)}")
    return status


if __name__ == "__main__":
    for plugin in ("hypothesis", "xdist"):
        importlib.import_module(plugin)  # once, not in each fork
    raise SystemExit(main())

"""Every test is sealed: its own HOME, clock, git identity and no variable of the machine."""

from __future__ import annotations

import contextlib
import functools
import gc
import inspect
import os
import shutil
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from contextkit.base import errors, files, owned, settings
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from hypothesis import settings as laws

Test = Callable[..., None]
CHECKOUT = Path(__file__).resolve().parent.parent
SCRIPTS = CHECKOUT / "scripts"
GOLDEN = Path(__file__).parent / "golden"
REFUSED_TEXTS = Path(__file__).parent / "refused"
NOW = "2025-10-23T18:05:00Z"

for _number in (signal.SIGINT, signal.SIGHUP):  # a shell's job in the background ignores them
    if signal.getsignal(_number) == signal.SIG_IGN:
        signal.signal(_number, signal.default_int_handler if _number == signal.SIGINT else 0)

collect_ignore = ["real_hosts"]  # real programs, which `make test_hosts` installs and starts

# `make test` tries each law on a few examples; `make test_long` on many, with more of the rest too.
LONG = os.environ.get("CONTEXTKIT_TESTS") == "long"
laws.register_profile("short", max_examples=20, deadline=None)
laws.register_profile("long", max_examples=400, deadline=None)
laws.load_profile("long" if LONG else "short")

# The byte code of the tests goes into .venv, so that pytest need not rewrite every `assert` anew.
if (CHECKOUT / ".venv").is_dir():
    sys.pycache_prefix = str(CHECKOUT / ".venv" / "bytecode")
    sys.dont_write_bytecode = False


def in_memory(folder: str = "/dev/shm") -> bool:
    """Whether tests may work in memory: there is room, and what is there can be run."""
    if "TMPDIR" in os.environ or not os.access(folder, os.W_OK):
        return False
    about = os.statvfs(folder)
    return not about.f_flag & os.ST_NOEXEC and about.f_bavail * about.f_frsize >= 2 << 30


if in_memory():  # pytest's own variable; on a disk, the suite takes a quarter longer
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", "/dev/shm")

# What a test process may know of the machine it runs on.
_KEPT = ("PATH", "LANG", "TMPDIR", "SYSTEMROOT", "PYTEST_XDIST_WORKER", "PYTEST_CURRENT_TEST")


def rounds(short: int, long: int) -> int:
    """How often a test with chance in it tries: `short` in `make test`, `long` in `test_long`."""
    return long if LONG else short


def each(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize`, but one test of all cases, which have its fixtures in common.

    All cases are tried; which one failed is a note of its error.
    """
    fields = tuple(names.replace(" ", "").split(",")) if isinstance(names, str) else tuple(names)
    listed = list(cases)

    def of_all(test: Test) -> Test:
        @functools.wraps(test)
        def run(**given: Any) -> None:
            fallen: list[BaseException] = []
            for case in listed:
                values = (case,) if len(fields) == 1 else case
                try:
                    test(**dict(zip(fields, values, strict=True)), **given)
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"in the case {case!r}")
                    fallen.append(error)
            if fallen:
                raise fallen[0] if len(fallen) == 1 else BaseExceptionGroup("cases", fallen)

        whole = inspect.signature(test)
        rest = [one for one in whole.parameters.values() if one.name not in fields]
        run.__signature__ = whole.replace(parameters=rest)  # type: ignore[attr-defined]
        return run

    return of_all


MANY = rounds(8, 40)  # processes that start at once


# How long a hook waits for a digest and for git: no test fails because the machine is busy.
PATIENT = {
    "contextkit.hosts.flows.outputs": "_SECONDS",
    "contextkit.hosts.flows.runner": "_GIT_SECONDS",
}

# Files with tests of seconds: they begin first, so that no worker ends long after the others.
LONG_ONES = frozenset(
    f"test_{name}.py" for name in "recipes torture hostile_text upgrades setup demo website".split()
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name not in LONG_ONES)


def pytest_collection_finish() -> None:
    """What is loaded by now stays: the garbage collector need not look through it every time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)


def seal(patch: pytest.MonkeyPatch, home: Path) -> None:
    """An environment that is the same on every machine, with `home` as HOME."""
    for name in list(os.environ):
        if name not in _KEPT:
            patch.delenv(name)
    # Python itself before what a version manager calls `python3`, which takes ten times as long.
    patch.setenv("PATH", f"{sys.base_prefix}/bin:{os.environ['PATH']}")
    home.mkdir(exist_ok=True)
    patch.setenv("HOME", str(home))
    patch.setenv("CONTEXT_NOW", NOW)
    patch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    patch.setenv("GIT_CONFIG_SYSTEM", str(Path(__file__).with_name("gitconfig")))
    patch.setenv("PYTHONWARNDEFAULTENCODING", "1")
    for who in ("AUTHOR", "COMMITTER"):
        patch.setenv(f"GIT_{who}_NAME", "Ada")
        patch.setenv(f"GIT_{who}_EMAIL", "ada@example.org")
        patch.setenv(f"GIT_{who}_DATE", NOW)


_FAILED = pytest.StashKey[bool]()
_untouched: list[Path] = []  # folders that a test was given and wrote nothing into


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note that a test failed: its folder is kept."""
    report = yield
    item.stash[_FAILED] = report.failed or item.stash.get(_FAILED, False)
    return report


@pytest.fixture(autouse=True)
def sealed(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Path]:
    """No test sees the user's settings or writes anywhere but below its own folder.

    The folder is removed at once: a file that never reaches the disk costs least.
    """
    folder = _untouched.pop() if _untouched else tmp_path_factory.mktemp("sealed")
    seal(monkeypatch, folder / "home")
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)  # nobody cuts the power here
    files.settled.clear()
    errors.remarks.clear()
    monkeypatch.setattr(files, "_stores", ())  # nor are those of other tests looked through
    monkeypatch.setattr(files, "_hidden", ())
    for module, limit in PATIENT.items():
        if module in sys.modules:
            monkeypatch.setattr(f"{module}.{limit}", 60.0)
    work = folder / "work"
    work.mkdir(exist_ok=True)
    monkeypatch.chdir(work)
    yield work
    monkeypatch.undo()
    inside = [path for at in (folder, work, folder / "home") for path in os.listdir(at)]
    if sorted(inside) == ["home", "work"] and os.access(work, os.W_OK):
        _untouched.append(folder)
    elif not request.node.stash[_FAILED]:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """pytest's own, which removes the folder with the functions of `os` that a test replaced."""
    yield tmp_path
    monkeypatch.undo()


@pytest.fixture(autouse=True)
def no_document_in_the_checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that forgets its own folder fails instead of writing into this repository."""
    original = Layout.__init__

    def guarded(self: Layout, root: str = "") -> None:
        original(self, root)
        if Path(self.root) == CHECKOUT:
            raise AssertionError("this test works in the checkout itself: use the repo fixture")

    monkeypatch.setattr(Layout, "__init__", guarded)


@pytest.fixture(autouse=True)
def no_process_left(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a test started and did not wait for is killed, and its pipes are closed.

    Else a test that fails would leave it running, and the next one would be blamed for the pipes.
    """
    begin = subprocess.Popen.__init__
    started: list[subprocess.Popen[Any]] = []

    def noted(self: subprocess.Popen[Any], *arguments: Any, **options: Any) -> None:
        begin(self, *arguments, **options)
        started.append(self)

    monkeypatch.setattr(subprocess.Popen, "__init__", noted)
    yield
    for process in started:
        if process.poll() is None:
            kill(process)
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()
        process.wait()


@pytest.fixture(autouse=True)
def no_agent_left(sealed: Path) -> Iterator[None]:
    """What a test launched in the background ends with it, watchdogs that still sleep too."""
    yield
    end_agents(sealed / ".contextkit/subagents")


def end_agents(folder: Path) -> None:
    """Kill the process group of each background command whose folder lies in `folder`."""
    for path in folder.glob("*/pid"):
        with contextlib.suppress(ProcessLookupError, PermissionError, ValueError):
            os.killpg(int(path.read_text(encoding="utf-8")), signal.SIGKILL)


def kill(process: subprocess.Popen[Any]) -> None:
    """Kill a process, and its whole group where it leads one."""
    with contextlib.suppress(ProcessLookupError):
        if os.getpgid(process.pid) == process.pid:
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A run fails that leaves a process behind below the folders of its tests; it is killed.

    Only where there is a /proc; a worker leaves it to the process that started it.
    """
    if hasattr(session.config, "workerinput"):
        return
    factory: pytest.TempPathFactory = session.config._tmp_path_factory  # type: ignore[attr-defined]
    left = dict(left_running(factory.getbasetemp()))
    for _ in range(600):  # one that is about to end may do so
        if not left:
            break
        time.sleep(0.1)
        left = dict(left_running(factory.getbasetemp()))
    for process, command in left.items():
        print(f"left running by a test, killed: {process} {command}", file=sys.stderr)
        session.exitstatus = session.exitstatus or pytest.ExitCode.TESTS_FAILED
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def left_running(folder: Path) -> Iterator[tuple[int, str]]:
    """Processes whose work directory or HOME is below `folder`, and their command lines."""
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            here = os.readlink(entry / "cwd")
            variables = (entry / "environ").read_bytes().split(b"\0")
            homes = [os.fsdecode(v[5:]) for v in variables if v.startswith(b"HOME=")]
            if any(Path(path).is_relative_to(folder) for path in (here, *homes)):
                yield int(entry.name), os.fsdecode((entry / "cmdline").read_bytes())[:200]


def trusted(text: str, root: Path | None = None) -> None:
    """Write these settings into a repository and trust them, as with `make context_trust`."""
    place = str(root or Path.cwd())
    Path(place, settings.SETTINGS).write_text(text, encoding="utf-8")
    owned.trust(place, settings.acting(settings.of_repository(place)))


def checked(declared: Any) -> None:
    """Check the fields of a declaration or named tuple as a record would."""
    kind = type(declared)
    about = {"__annotations__": kind.__annotations__, "__module__": kind.__module__}
    record = type(kind.__name__, (Record,), about)
    record(**{name: getattr(declared, name) for name in kind.__annotations__})


def git(*arguments: str, cwd: Path | None = None) -> str:
    """Run git in the current folder of the test and return what it prints."""
    done = subprocess.run(
        ["git", *arguments], cwd=cwd, check=True, capture_output=True, encoding="utf-8"
    )
    return done.stdout


@pytest.fixture(scope="session")
def first_commit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `.git` of a repository with one commit, which git makes once for all tests."""
    folder = tmp_path_factory.mktemp("first_commit")
    with pytest.MonkeyPatch.context() as patch:
        seal(patch, folder / "home")
        git("init", "-q", "-b", "feature/demo", "--template=", cwd=folder)
        git("commit", "-q", "--allow-empty", "-m", "first commit", cwd=folder)
    return folder / ".git"


@pytest.fixture
def repo(sealed: Path, first_commit: Path) -> Path:
    """A git repository with one commit, on `feature/demo`; the current directory."""
    shutil.copytree(first_commit, sealed / ".git")
    return sealed


@pytest.fixture
def layout(repo: Path) -> Layout:
    return Layout()


@pytest.fixture
def no_diagnostics(repo: Path) -> Iterator[None]:
    """No hook that a test fired may have gone wrong, which it would do silently."""
    yield
    log = repo / ".contextkit" / "hooks" / "diagnostics.log"
    assert not log.exists(), log.read_text(encoding="utf-8")


class Script:
    """A script run in this process: `run("capsule_prompt", "--stub")`."""

    def __init__(self, capture: pytest.CaptureFixture[str], patch: pytest.MonkeyPatch) -> None:
        self._capture = capture
        self._patch = patch
        self.out = ""
        self.err = ""

    def __call__(self, name: str, *arguments: str, stdin: str | None = None) -> int:
        """The exit status; `out` and `err` hold what was printed."""
        module = __import__(name)
        files.settled.clear()  # a new process has written nothing yet
        with open(os.devnull if stdin is None else _file(stdin), encoding="utf-8") as file:
            self._patch.setattr(sys, "stdin", file)
            self._capture.readouterr()
            status: int = module.main(list(arguments))
        self.out, self.err = self._capture.readouterr()
        return status


def _file(text: str) -> str:
    path = Path(os.environ["HOME"]) / "stdin.txt"
    path.write_text(text, encoding="utf-8", newline="")
    return str(path)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Script:
    return Script(capsys, monkeypatch)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden("table.txt", text)`: equal to tests/golden/table.txt, which `make golden` accepts."""

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        if _accepting:
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"no tests/golden/{name}: look at the text, then `make golden`"
        assert text == path.read_text(encoding="utf-8")

    return compare


_accepting = os.environ.get("GOLDEN") == "accept"  # read before `sealed` empties the environment


def until(happened: Callable[[], object]) -> None:
    """Wait for what another process does, as long as a busy machine may take."""
    for _ in range(30_000):
        if happened():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen")


def start(*arguments: str, **changes: str) -> subprocess.Popen[str]:
    """A script as a real process: `start("remember_later.py", "--message=x")`."""
    return subprocess.Popen(
        [sys.executable, str(SCRIPTS / arguments[0]), *arguments[1:]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        env={**os.environ, **changes},
    )


def forked(work: Callable[[], object]) -> int:
    """A forked process that does `work`, much cheaper than an interpreter each."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(status)
    return process


def ended(processes: Iterable[int]) -> list[int]:
    """The exit statuses of forked processes, each awaited."""
    return [os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) for process in processes]

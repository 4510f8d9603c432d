"""Set-up: nothing but python3, make and git at first; done once; safe to interrupt and to race."""

from __future__ import annotations

import ast
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from checkouts import bring_byte_code, executable, make
from conftest import CHECKOUT, LONG, each, git, seal

PYTHON3 = os.path.realpath(sys.executable)  # the interpreter behind this environment
PACKAGES = Path(next(path for path in sys.path if path.endswith("site-packages")))
MESSAGE = "contextkit: setting up .venv"
# What `python3 -m venv --without-pip` makes in "$last", without the start of a Python.
A_VENV = (
    f'\'{shutil.which("mkdir")}\' -p "$last/bin" "$last/{PACKAGES.relative_to(sys.prefix)}"'
    f" && '{shutil.which('ln')}' -sf '{PYTHON3}' \"$last/bin/python\""
    f" && echo 'home = {Path(PYTHON3).parent}' > \"$last/pyvenv.cfg\""
)


@pytest.fixture(scope="session")
def first_clone(first_commit: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is in the working tree now as a repository, committed once for all tests.

    The checkout itself need not be one: it may be unpacked from an archive, or another user's.
    """
    folder = tmp_path_factory.mktemp("first_clone") / "clone"
    shutil.copytree(first_commit, folder / ".git")
    with pytest.MonkeyPatch.context() as patch:
        seal(patch, folder.parent / "home")
        ours = (f"--git-dir={folder / '.git'}", f"--work-tree={CHECKOUT}")
        git(*ours, "add", "--", ".", ":(exclude)tests", cwd=CHECKOUT)
        git("commit", "-q", "-m", "all", cwd=folder)
        git("reset", "-q", "--hard", cwd=folder)
        git("repack", "-a", "-d", "-q", cwd=folder)  # one file to copy in place of a thousand
    return folder


@pytest.fixture
def fresh(first_clone: Path, tmp_path: Path) -> Path:
    """A clone of it, as it comes from git, with a blank in its path."""
    git("clone", "-q", str(first_clone), str(tmp_path / "fresh clone"))
    return tmp_path / "fresh clone"


@pytest.fixture(scope="session")
def byte_compiled(first_clone: Path) -> Path:
    bring_byte_code(first_clone)
    return first_clone


@pytest.fixture
def clone(byte_compiled: Path, tmp_path: Path) -> Path:
    """The same, but that set-up finds the scripts byte-compiled, which takes it longest."""
    return Path(shutil.copytree(byte_compiled, tmp_path / "fresh clone"))


class Machine:
    """A PATH with little on it: what set-up needs, and `python3` first."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "bin"
        self.bin.mkdir()
        self.env = {"PATH": str(self.bin)}
        self.log = folder / "log"
        for name in ("make", "git", "sh", "sleep", "touch"):
            (self.bin / name).symlink_to(str(shutil.which(name)))
        (self.bin / "python3").symlink_to(PYTHON3)

    def add(self, name: str, text: str) -> None:
        """A program that takes down how it was called and goes on with the shell text `text`."""
        (self.bin / name).unlink(missing_ok=True)
        executable(self.bin / name, f"#!/bin/sh\necho {name} \"$@\" >> '{self.log}'\n{text}\n")

    def add_uv(self, install: str = "true") -> None:
        """A uv whose packages, and what is made of them, are those that the tests run with."""
        self.add(
            "uv",
            f"""for last; do :; done
            case "$1" in
            venv) {A_VENV} ;;
            pip) echo '{PACKAGES}' > "$(echo "$PWD"/.venv/lib/python3*/site-packages)/all.pth"
                 '{shutil.which("ln")}' -sf '{CHECKOUT}/.venv/'*.tokens "$PWD/.venv/"
                 {install} ;;
            esac""",
        )

    def calls(self) -> list[str]:
        """What was called since the last time somebody asked."""
        lines = self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def start(clone: Path, machine: Machine, *arguments: str) -> subprocess.Popen[str]:
    """make in a process group of its own, so that it can be killed with all it started."""
    return subprocess.Popen(
        ["make", "-s", *arguments],
        cwd=clone,
        env={**os.environ, **machine.env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for(path: Path) -> None:
    end = time.monotonic() + 300
    while not path.exists():
        assert time.monotonic() < end, f"{path} does not come"
        time.sleep(0.01)


@pytest.mark.parametrize("installer", ["uv", *(["pip"] if LONG else [])])
def test_two_targets_at_once_on_a_fresh_clone_set_it_up(
    fresh: Path, machine: Machine, installer: str
) -> None:
    """With pip from the package index; with uv quickly, since packages are borrowed."""
    clone = fresh
    if installer == "uv":
        machine.add_uv()
    first = start(clone, machine, "remember_later", "m=$(shell touch pwned) '$$5'")
    second = start(clone, machine, "context_config", "json=1")
    printed, talked = first.communicate(timeout=300)
    printed_too, talked_too = second.communicate(timeout=300)
    assert (first.returncode, second.returncode) == (0, 0), talked + talked_too
    assert printed.startswith("Reminder r-") and printed_too.startswith("[")
    assert (talked + talked_too).count(MESSAGE) == 1
    assert "$(shell touch pwned) '$$5'" in make("reminders", cwd=clone, env=machine.env).stdout
    assert not list(clone.rglob("*pwned*"))
    if installer == "pip":
        assert list((clone / ".venv").rglob("jinja2/__pycache__/*.pyc"))
    assert list((clone / "scripts" / "contextkit" / "base" / "__pycache__").glob("cli.*.pyc"))
    assert len(list((clone / "scripts" / "contextkit" / "compiled").glob("*.py"))) > 1
    part = (clone / ".venv" / "contextkit.mk").read_text(encoding="utf-8")
    assert f"# it is {PYTHON3}\n" in part
    assert git("status", "--porcelain", cwd=clone) == "?? parallelus/\n"


def test_uv_is_used_when_it_is_there(clone: Path, machine: Machine) -> None:
    machine.add_uv()
    make("reminders", cwd=clone, env=machine.env)
    venv, pip = machine.calls()
    assert venv == f"uv venv --quiet --no-project --python {PYTHON3} {clone}/.venv"
    assert pip.startswith("uv pip install --quiet --compile-bytecode --python ")
    assert pip.endswith(f" --require-hashes --no-deps -r {clone}/requirements.lock")


def test_extras_are_installed_into_the_environment(clone: Path, machine: Machine) -> None:
    machine.add_uv()
    make("setup", "with=obstore>=0.12,<0.13 pyrage", cwd=clone, env=machine.env)
    last = machine.calls()[-1]
    assert last.startswith("uv pip install ") and last.endswith(" obstore>=0.12,<0.13 pyrage")
    refused = make("setup", "with=-r /etc/passwd", cwd=clone, env=machine.env, status=2)
    assert "with=: names of packages, such as obstore" in refused.stderr


def test_once_it_is_done_no_python_starts_for_it(clone: Path, machine: Machine) -> None:
    machine.add_uv()
    make("reminders", cwd=clone, env=machine.env)
    machine.calls()
    machine.add("python3", "exit 1")
    make("reminders", cwd=clone, env=machine.env)
    make("-C", str(clone), "reminders", cwd=clone.parent, env=machine.env)
    make("-f", str(clone / "Makefile"), "reminders", cwd=clone.parent, env=machine.env)
    assert machine.calls() == []


@each("goal", ["demo", "upgrade", "test", "lint", "bench", "reminders"])
def test_what_needs_the_environment_makes_it_first(fresh: Path, goal: str) -> None:
    planned = make("--dry-run", goal, cwd=fresh).stdout
    assert "/scripts/setup.py'" in planned.splitlines()[0]


def test_help_needs_no_set_up(clone: Path, machine: Machine) -> None:
    for goals in ([], ["help"], ["context_help"]):
        assert "capsule_prompt" in make("-s", *goals, cwd=clone, env=machine.env).stdout
    assert not (clone / ".venv").exists()


def test_it_runs_again_when_the_lock_file_changed_and_only_then(
    clone: Path, machine: Machine
) -> None:
    machine.add_uv()
    lock = clone / "requirements.lock"
    make("reminders", cwd=clone, env=machine.env)
    machine.calls()
    lock.touch()
    assert MESSAGE not in make("reminders", cwd=clone, env=machine.env).stderr
    assert machine.calls() == []
    with lock.open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert MESSAGE in make("reminders", cwd=clone, env=machine.env).stderr
    assert len(machine.calls()) == 1  # the environment is kept
    lock.touch()
    make("reminders", cwd=clone, env=machine.env)
    machine.add("python3", "exit 1")
    make("reminders", cwd=clone, env=machine.env)
    assert machine.calls() == []


def test_a_date_in_the_future_does_not_make_it_run_for_ever(clone: Path, machine: Machine) -> None:
    machine.add_uv()
    later = time.time() + 1e8
    os.utime(clone / "requirements.lock", (later, later))
    make("reminders", cwd=clone, env=machine.env)
    os.utime(clone / "requirements.lock", (later + 1e8, later + 1e8))
    make("reminders", cwd=clone, env=machine.env)
    assert len(machine.calls()) == 2


def test_an_interpreter_that_has_gone_is_replaced(clone: Path, machine: Machine) -> None:
    machine.add_uv()
    make("reminders", cwd=clone, env=machine.env)
    python = clone / ".venv" / "bin" / "python"
    python.unlink()
    make("reminders", cwd=clone, env=machine.env)
    python.unlink()
    python.symlink_to("/nowhere/python3")
    make("reminders", cwd=clone, env=machine.env)
    executable(python, "#!/bin/sh\nexit 1\n")
    os.utime(clone / "requirements.lock")
    make("reminders", cwd=clone, env=machine.env)
    assert len(machine.calls()) == 4 * 2


@pytest.mark.parametrize("whole", [True, False], ids=["all of it", "all but the installer"])
def test_after_a_kill_it_starts_over(
    whole: bool, clone: Path, machine: Machine, tmp_path: Path
) -> None:
    half = "half=$(dirname .venv/lib/python3*/site-packages/all.pth)/half; touch $half"
    machine.add("dirname", 'echo "${1%/*}"')
    go = f"n=0; until [ -e '{tmp_path / 'go'}' ] || [ $n = 600 ]; do sleep 0.1; n=$((n+1)); done"
    machine.add_uv(f"{half}; touch '{tmp_path / 'reached'}'; {go}; touch $half-2")
    run = start(clone, machine, "reminders")
    wait_for(tmp_path / "reached")
    machine.add_uv()
    if whole:
        os.killpg(run.pid, signal.SIGKILL)
    else:
        os.kill(set_up_of(run.pid), signal.SIGKILL)
    next_one = start(clone, machine, "reminders")
    if not whole:
        assert next_one.stderr is not None
        assert next_one.stderr.readline() == "contextkit: waiting for another set-up to end ...\n"
        (tmp_path / "go").touch()
    printed, talked = next_one.communicate(timeout=300)
    assert (next_one.returncode, "No open reminders." in printed) == (0, True), talked
    assert not list((clone / ".venv").rglob("half*"))
    run.communicate(timeout=300)


def set_up_of(process: int) -> int:
    """The process of scripts/setup.py below that of make."""
    proc = Path("/proc", str(process))
    listed = proc / "task" / str(process) / "children"
    if not listed.exists():
        pytest.skip("this system does not list child processes in /proc")
    if "python" in os.fsdecode((proc / "cmdline").read_bytes()).split("\0")[0]:
        return process
    return set_up_of(int(listed.read_text(encoding="ascii").split()[0]))


def test_control_c_is_no_traceback_and_the_next_run_starts_over(
    clone: Path, machine: Machine, tmp_path: Path
) -> None:
    machine.add_uv(f": > '{tmp_path / 'reached'}'; exec sleep 10")
    run = start(clone, machine, "reminders")
    wait_for(tmp_path / "reached")
    os.killpg(run.pid, signal.SIGINT)
    _printed, talked = run.communicate(timeout=300)
    assert "contextkit: set-up was interrupted; the next one starts over" in talked
    assert "Traceback" not in talked
    machine.add_uv()
    make("reminders", cwd=clone, env=machine.env)


# What it says when it cannot


DOOR = r"contextkit: until then, '.*/bin/contextkit' TARGET name=value does what needs no package"


def told(text: str) -> list[str]:
    """What set-up says after it began, without its last line: how to do without."""
    *lines, last = [line for line in text.splitlines() if line.startswith("contextkit: ")][1:]
    assert re.fullmatch(DOOR, last), last
    return lines


def test_without_uv_and_pip_it_says_in_one_line_what_to_install(
    clone: Path, machine: Machine, tmp_path: Path
) -> None:
    for name in ("pip", "ensurepip"):
        executable(tmp_path / "none" / f"{name}.py", "raise SystemExit(1)\n")
    without = {**machine.env, "PYTHONPATH": str(tmp_path / "none")}
    refused = make("reminders", cwd=clone, env=without, status=2)
    assert told(refused.stderr) == [
        "contextkit: set-up failed: install pip and venv for python3"
        " (Debian, Ubuntu: apt install python3-venv), or uv"
    ]
    assert refused.stdout == "" and "Traceback" not in refused.stderr
    machine.add_uv("echo a lot of talk; echo no route to host >&2; exit 1")
    refused = make("reminders", cwd=clone, env=without, status=2)
    assert told(refused.stderr) == [
        "contextkit: set-up failed: packages could not be installed; is the package index"
        " reachable? `uv pip install` failed: no route to host",
    ]
    assert "a lot of talk" not in refused.stderr
    without |= {"PATH": f"{without['PATH']}:{os.environ['PATH']}"}
    door = subprocess.run(
        [clone / "bin/contextkit", "context_reminders"], cwd=clone, env=without, text=True,
        capture_output=True,
    )  # fmt: skip
    assert door.returncode == 0 and door.stdout, door.stderr
    machine.add_uv()
    make("reminders", cwd=clone, env=machine.env)


def test_without_a_venv_module_it_says_what_to_install(clone: Path, machine: Machine) -> None:
    (machine.bin / "none").mkdir()
    (machine.bin / "none" / "venv.py").write_text("raise ImportError", encoding="utf-8")
    without = {**machine.env, "PYTHONPATH": str(machine.bin / "none")}
    refused = make("reminders", cwd=clone, env=without, status=2)
    assert told(refused.stderr) == [
        f"contextkit: set-up failed: {PYTHON3} has no venv module: install pip and venv for"
        " python3 (Debian, Ubuntu: apt install python3-venv), or uv"
    ]
    assert "Traceback" not in refused.stderr


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def as_nobody(*command: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command as an ordinary user who owns none of the files."""
    return subprocess.run(
        command,
        cwd=cwd,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", **variables},
        user=65534,
        group=65534,
        extra_groups=[],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
    )


@needs_root
def test_a_checkout_that_one_may_not_write_says_who_can_set_it_up(first_clone: Path) -> None:
    with tempfile.TemporaryDirectory() as made:  # the folder of the tests is closed to others
        os.chmod(made, 0o755)
        place = Path(made, "kit")
        git("clone", "-q", str(first_clone), str(place))
        for path in [place, *place.rglob("*")]:  # for others too, whatever the umask is
            path.chmod(path.stat().st_mode | (0o055 if path.is_dir() else 0o044))
        done = as_nobody("make", "-s", "-f", str(place / "Makefile"), "reminders", cwd=Path("/"))
        if "install Python" in done.stderr:
            pytest.skip("the system has no new enough python3 for everybody")
        own = [line for line in done.stderr.splitlines() if line.startswith("contextkit: ")]
        assert own[:-1] == [
            f"contextkit: set-up failed: {place}: Permission denied: run `make -C '{place}'"
            " setup` as its owner, or use a copy in a folder of yours"
        ]
        assert "Traceback" not in done.stderr and done.returncode == 2
        assert not (place / ".venv").exists()


OLD = f"""exec '{PYTHON3}' -c '
import runpy, sys
sys.version_info, sys.version = (3, 9, 1), "3.9.1 (long ago)"
del sys.argv[0]
runpy.run_path(sys.argv[0], run_name="__main__")' "$@"
"""


def test_an_old_python3_hands_over_or_says_what_to_install(clone: Path, machine: Machine) -> None:
    machine.add_uv()
    machine.add("python3", OLD)
    machine.add("python3.12", "exit 127")  # as a version manager's that is not chosen
    refused = make("reminders", cwd=clone, env=machine.env, status=2)
    talk = [line for line in refused.stderr.splitlines() if not line.startswith("make: ***")]
    assert talk[0] == "contextkit: install Python 3.11 or newer; python3 is 3.9.1"
    (machine.bin / "python3.11").symlink_to(PYTHON3)
    assert "No open reminders." in make("reminders", cwd=clone, env=machine.env).stdout


def test_an_old_python_can_read_it() -> None:
    text = (CHECKOUT / "scripts" / "setup.py").read_text(encoding="utf-8")
    ast.parse(text, feature_version=(3, 4))
    assert 'f"' not in text and "f'" not in text


IMPORTED = {"yaml": "pyyaml", "frontmatter": "python-frontmatter", "splintr": "splintr-rs"}


def required(name: str) -> set[str]:
    lines = (CHECKOUT / name).read_text(encoding="utf-8").splitlines()
    return {line.split()[0].lower() for line in lines if line and line[0] != "#"}


_IMPORT = re.compile(r"^ *(?:import|from) (\w+)", re.M)


def imported(path: Path) -> set[str]:
    """The packages that a file imports, or has looked for by name."""
    found: set[str] = set()
    text = path.read_text(encoding="utf-8")
    if set(_IMPORT.findall(text)) <= sys.stdlib_module_names | {"contextkit"}:
        return found  # most files: no need to take them apart
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names


def test_each_package_is_used_and_has_its_line_in_a_decision() -> None:
    scripts = CHECKOUT / "scripts"
    own = {path.stem for path in scripts.iterdir()}
    used = {name for path in scripts.rglob("*.py") for name in imported(path)} - own
    assert {IMPORTED.get(name, name) for name in used} == required("requirements.txt")
    page = CHECKOUT / "manuals" / "decisions" / "0035-outside-packages.md"
    words = set(
        page.read_text(encoding="utf-8").lower().replace(",", " ").replace(";", " ").split()
    )
    assert required("requirements.txt") | required("requirements-dev.txt") <= words

"""Scratch copies of this checkout for the tests that run the real make."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from conftest import CHECKOUT, git

REAL_PYTHON = f'#!/bin/sh\nexec "{sys.executable}" "$@"\n'
ABOUT_A_RECIPE = re.compile(r"^\S+:\d+: recipe for target '[^'\n]+' failed\n", re.M)
UNSYNCED = str(Path(__file__).with_name("unsynced"))  # in PYTHONPATH: no file waits for the disk
READY = "override CONTEXTKIT_PYTHON := $(CONTEXTKIT_DIR)/.venv/bin/python\n"


def make(
    *arguments: str,
    cwd: Path,
    status: int = 0,
    stdin: str = "",
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run make in `cwd`, with `env` added to the test's own, and expect its exit `status`.

    What GNU make up to 4.2 says on stdout of a recipe that failed is left out.
    """
    done = subprocess.run(
        ["make", *arguments],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        errors="surrogateescape",
        timeout=300,
    )
    assert done.returncode == status, done.stdout + done.stderr
    done.stdout = ABOUT_A_RECIPE.sub("", done.stdout)
    return done


def adopt(toolkit: Path, *words: str, status: int = 0) -> str:
    """Run adopt.py of a toolkit, expect its exit `status`, and return what it prints."""
    done = subprocess.run(
        [sys.executable, toolkit / "scripts" / "adopt.py", *words],
        env={**os.environ, "PYTHONPATH": UNSYNCED},
        stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert done.returncode == status and "Traceback" not in done.stderr, done.stdout + done.stderr
    return done.stdout + done.stderr


def executable(path: Path, text: str) -> Path:
    """A program `text` at `path`; a link there is replaced, never what it leads to."""
    path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)
    return path


def a_checkout(folder: Path, python: str = REAL_PYTHON) -> Path:
    """The toolkit at `folder`, set up already; its interpreter is the program text `python`."""
    folder.mkdir(parents=True)
    for name in ("Makefile", "requirements.lock", "requirements-dev.lock"):
        shutil.copy2(CHECKOUT / name, folder)
    for name in ("scripts", "templates"):
        (folder / name).symlink_to(CHECKOUT / name)
    executable(folder / ".venv" / "bin" / "python", python)
    (folder / ".venv" / "contextkit.mk").write_text(READY, encoding="utf-8")
    (folder / ".venv" / "development.stamp").touch()
    return folder


def a_toolkit(folder: Path) -> Path:
    """Scripts and templates of its own.

    Byte code comes along, so that not every test has Python compile everything.
    """
    ignore = shutil.ignore_patterns("*.pyc.*", "*.tmp")
    for name in ("scripts", "templates"):
        shutil.copytree(CHECKOUT / name, folder / name, ignore=ignore)
    return folder


def bring_byte_code(toolkit: Path) -> None:
    """Our byte code for a copy of our scripts that came without it, such as a clone.

    Byte code goes by the date of its source.
    """
    for source in toolkit.glob("scripts/**/*.py"):
        shutil.copystat(CHECKOUT / source.relative_to(toolkit), source)
    for compiled in CHECKOUT.glob("scripts/**/__pycache__"):
        there = toolkit / compiled.relative_to(CHECKOUT)
        shutil.copytree(compiled, there, ignore=shutil.ignore_patterns("*.pyc.*"))


def a_host(folder: Path, makefile: str, python: str = REAL_PYTHON) -> Path:
    """A repository with the toolkit in `tools/contextkit` and a Makefile of its own."""
    a_checkout(folder / "tools" / "contextkit", python)
    (folder / "Makefile").write_text(makefile, encoding="utf-8")
    git("init", "-q", "-b", "main", str(folder))
    git("commit", "-q", "--allow-empty", "-m", "first commit", cwd=folder)
    return folder


class Recorder:
    """Programs that only take down how they were called: `text` is one, `calls()` what came."""

    def __init__(self, folder: Path) -> None:
        self._record = folder / "record"
        self._environments = folder / "environments"
        self.text = f"""#!/bin/sh
printf '%s\\0' "$#" "$0" "$@" >> '{self._record}'
{{ env -0; printf '\\0'; }} >> '{self._environments}'
"""
        for name in ("python3", "uv"):
            executable(folder / "bin" / name, self.text)
        self.path = f"{folder / 'bin'}:{os.environ['PATH']}"

    def calls(self) -> list[list[str]]:
        """The arguments of each call since the last time somebody asked, program first."""
        if not self._record.exists():
            return []
        words = os.fsdecode(self._record.read_bytes()).split("\0")[:-1]
        self._record.unlink()
        found: list[list[str]] = []
        while words:
            size = 2 + int(words[0])
            found.append(words[1:size])
            words = words[size:]
        return found

    def given(self) -> list[dict[str, str]]:
        """What a script would take from the environment of each call: the variables by name."""
        text = os.fsdecode(self._environments.read_bytes())
        self._environments.unlink()
        found = []
        for block in text.split("\0\0")[:-1]:
            env = dict(line.partition("=")[::2] for line in block.split("\0"))
            names = env.get("CONTEXTKIT_GIVEN", "").split()
            found.append({name: env[name] for name in names if name in env})
        return found

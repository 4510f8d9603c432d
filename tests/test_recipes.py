"""The recipes of manuals/structure.md, followed word for word in a copy of this repository.

A step names a file and the text that goes above or below a line of it, what becomes what in it, or
a command. Whatever else it says is for the reader.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import CHECKOUT, LONG, git

_FILE = r"[\w./-]+\.\w+|Makefile"
_STEP = re.compile(
    rf"`(?P<file>{_FILE})`(?=[,:;])"
    r"|(?P<where>above|below)\s+`(?P<anchor>[^`]+)`(?P<added>[^`]*?:\s+`(?P<text>[^`]+)`)?"
    r"|`(?P<old>[^`]+)`\s+becomes\s+`(?P<new>[^`]+)`"
    r"|`(?P<command>(?:cp|make|GOLDEN=accept|\.venv/bin/python) [^`]+)`"
    r"|(?P<block>(?:\n {7}\S.*|\n {11}.*)+)"
)


def recipes() -> dict[str, str]:
    page = (CHECKOUT / "manuals" / "structure.md").read_text(encoding="utf-8")
    inside = page.partition("## Recipes\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"### (Add .+)\n\n((?:.*\n)*?)(?=\n### |\Z)", inside))


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What git tracks of this repository, set up; the byte code of the scripts comes along."""
    folder = tmp_path / "copy"
    listed = git("ls-files", "-co", "--exclude-standard", cwd=CHECKOUT).splitlines()
    compiled = [str(path.relative_to(CHECKOUT)) for path in CHECKOUT.glob("scripts/**/*.pyc")]
    for name in (*listed, *compiled):
        if (CHECKOUT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(CHECKOUT / name, folder / name, follow_symlinks=False)
    (folder / ".venv" / "bin").mkdir(parents=True)
    for part in ("contextkit.mk", "development.stamp", "*.tokens"):
        for path in (CHECKOUT / ".venv").glob(part):
            shutil.copy2(path, folder / ".venv")
    python = folder / ".venv" / "bin" / "python"
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    known = CHECKOUT / ".hypothesis"  # of characters and modules, which takes seconds to make
    if known.exists():
        shutil.copytree(known, folder / known.name)
    if sys.pycache_prefix:
        bring_byte_code(Path(sys.pycache_prefix), folder)
    git("init", "-q", cwd=folder)
    git("add", "-A", cwd=folder)
    return folder


def bring_byte_code(ours: Path, folder: Path) -> None:
    """Copy what tests were compiled to: the copy's conftest.py keeps it in a place like `ours`."""
    here = CHECKOUT.relative_to("/")
    theirs = folder / ".venv" / ours.name
    for source, place in (("scripts", folder), ("tests", folder), (".venv", CHECKOUT)):
        if (ours / here / source).exists():
            shutil.copytree(ours / here / source, theirs / place.relative_to("/") / source)


def follow(recipe: str, folder: Path) -> Iterator[str]:
    """Do what each step says; a step that cannot be followed is an error.

    Its tests are left to the caller, but in a long run.
    """
    file, place = folder, ("", "")
    for step in _STEP.finditer(recipe):
        if step["file"]:
            file = folder / step["file"]
        elif step["where"]:
            place = (step["where"], step["anchor"])
            if step["text"]:
                insert(file, *place, step["text"])
        elif step["block"]:
            insert(file, *place, textwrap.dedent(step["block"].strip("\n")))
        elif step["old"]:
            text = file.read_text(encoding="utf-8")
            assert step["old"] in text, step[0]
            file.write_text(text.replace(step["old"], step["new"]), encoding="utf-8")
        else:
            command = re.sub(r"\s+", " ", step["command"])
            if " -m pytest " in command and not LONG:
                yield command
                continue
            run(command, folder)
            file = folder / command.split()[-1] if command.startswith("cp ") else file


def insert(file: Path, where: str, anchor: str, text: str) -> None:
    lines = file.read_text(encoding="utf-8").split("\n")
    (at,) = [number for number, line in enumerate(lines) if anchor in line]
    margin = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    margin += " " * 4 * lines[at].endswith(("(", "{"))
    new = [margin + line for line in text.split("\n")]
    if "\n" in text:  # a function
        new = [*new, "", ""]
    lines[at + (where == "below") : at + (where == "below")] = new
    file.write_text("\n".join(lines), encoding="utf-8")


def run(command: str, folder: Path, status: int = 0) -> str:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "PYTHON"))}
    done = subprocess.run(
        command, shell=True, cwd=folder, env=kept,
        capture_output=True, encoding="utf-8", stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == status, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def after_setting(folder: Path) -> None:
    (folder / "contextkit.yaml").write_text("example_lines: 3\n", encoding="utf-8")
    assert re.search(
        r"^example_lines +contextkit.yaml +3$", run("make -s context_config", folder), re.M
    )
    (folder / "contextkit.yaml").write_text("example_lines: 0\n", encoding="utf-8")
    run("make -s context_config", folder, status=2)
    (folder / "contextkit.yaml").unlink()


def after_target(folder: Path) -> None:
    assert run("make -s context_greet who=Ada", folder) == "Hello, Ada.\n"
    assert "context_greet" in (folder / "manuals" / "make-targets.md").read_text("utf-8")


def after_kind(folder: Path) -> None:
    jobs = "".join(f"job {n}: waiting for a free worker in pool {n}\n" for n in range(400))
    (folder / "queue.txt").write_text(jobs + "job 401: failed: disk full\n", encoding="utf-8")
    said = run("make -s payload_store topic=queue source=x status=1 < queue.txt", folder)
    assert "kind: queue" in said and "job 401: failed: disk full" in said


def after_document(folder: Path) -> None:
    save = (
        "import sys; sys.path.insert(0, 'scripts')\n"
        "from contextkit.base.layout import Layout\n"
        "from contextkit.memory.documents import ideas\n"
        "ideas.save(Layout(), ideas.Idea(title='Tests first', text='As said.'))"
    )
    run(f'.venv/bin/python -c "{save}"', folder)
    assert run("make -s context_show ref=idea:tests-first", folder) == "# Tests first\n\nAs said.\n"
    assert "| idea | `.ideas/` |" in (folder / "manuals" / "structure.md").read_text("utf-8")
    assert run("git status --porcelain .ideas", folder) == ""


def after_host(folder: Path) -> None:
    run("git init -q ../project && make -s adopt into=../project hosts=orbit copy=1", folder)
    assert "--host=orbit" in (folder.parent / "project" / ".orbit" / "hooks.json").read_text(
        "utf-8"
    )


AFTER = {
    "Add a setting": after_setting,
    "Add a target": after_target,
    "Add a kind of text": after_kind,
    "Add a document": after_document,
    "Add a host": after_host,
}


def test_each_recipe_works_word_for_word_after_those_before_it(copy: Path) -> None:
    tests: dict[str, list[str]] = {}
    for name, check in AFTER.items():
        for command in follow(recipes()[name], copy):
            before, files = command.split(" -n0 ")
            tests.setdefault(before, []).extend(files.split())
        check(copy)
    for before, named in tests.items():  # what goes together costs one start
        some = "" if LONG else " -k 'not hosts or orbit'"  # what was added is a host of that name
        run(f"{before} -n0 {' '.join(dict.fromkeys(named))}{some}", copy)


def test_every_recipe_has_at_most_ten_lines_and_is_followed() -> None:
    found = recipes()
    assert found.keys() == AFTER.keys()
    for name, text in found.items():
        assert len([line for line in text.split("\n") if line.strip()]) <= 10, name

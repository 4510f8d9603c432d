"""Every example of the README and the manuals is run, in order, and prints what is shown.

An example is a block fenced as `console`: `$ command` and what it prints, with `…` for lines that
are left out. The examples of a page share a repository in which its files lie already, and what
agents write (a capsule, their reviews) comes when it is asked for. Ids, times and numbers behind
`~` may differ, and an id that was shown means the one that was printed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from checkouts import ABOUT_A_RECIPE
from conftest import CHECKOUT, each, git
from signing import sign

FILES = Path(__file__).parent / "examples"
PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "manuals").glob("*.md"))]
FENCED = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
VOLATILE = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d)?(?:Z| UTC)?|\d{8}[T-]\d{6}Z?(?:_\d+|-[0-9a-f]{6}\b)?"
    r"|\b\d+s\b|\b\d+\.\d s\b|\br-[0-9a-f]{6}\b|\b(?=[0-9a-f]*\d)[0-9a-f]{7,64}\b|~[\d,.]+ ?K?"
)


def examples(page: Path) -> list[tuple[str, list[str]]]:
    """(command, lines of output) of each example on a page."""
    found: list[tuple[str, list[str]]] = []
    for block in FENCED.findall(page.read_text(encoding="utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif found[-1][0].endswith("\\") and not found[-1][1]:
                found[-1] = (f"{found[-1][0][:-1].rstrip()} {line.strip()}", [])
            else:
                found[-1][1].append(line)
    return found


def pattern(lines: list[str]) -> str:
    """What an output has to match: volatile parts by their form, `…` for any lines."""
    parts = []
    for line in lines:
        if line.strip() == "…":
            parts.append(r"(?:.*\n)*?")
            continue
        pieces = [re.escape(piece) for piece in VOLATILE.split(line)]
        parts.append(f"(?:{VOLATILE.pattern})".join(pieces).replace("…", ".*") + r"\s*\n")
    return "".join(parts)


def remember(shown: list[str], printed: str, known: dict[str, str]) -> None:
    """What the volatile parts that a page shows are called in this run."""
    for old, new in zip(
        VOLATILE.findall("\n".join(line for line in shown if line != "…")),
        VOLATILE.findall(printed),
        strict=False,
    ):
        known.setdefault(old, new)


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    """A repository on feature/login with the files that the examples speak of."""
    folder = tmp_path / "project"
    shutil.copytree(FILES, folder)
    (tmp_path / "contextkit").symlink_to(CHECKOUT)  # make's include takes no blank in a path
    (folder / "Makefile").write_text("include ../contextkit/Makefile\n", encoding="utf-8")
    for agent, lines in (("sm", 200), ("dev", 330), ("qa", 260)):
        what = "writes down what it does before it does it"
        text = "".join(f"- `*command-{n}`: {agent} {what}\n" for n in range(lines))
        (folder / f"{agent}.md").write_text(f"# {agent}\n\n{text}", encoding="utf-8")
    git("init", "-q", "-b", "main", cwd=folder)
    git("add", "-A", ":!src", cwd=folder)
    git("commit", "-qm", "start", cwd=folder)
    git("checkout", "-q", "-b", "feature/login", cwd=folder)
    git("add", "-A", cwd=folder)
    git("commit", "-qm", "sessions", cwd=folder)
    return folder


def reply(folder: Path) -> None:
    """What an agent replies: the newest stub, filled in."""
    stub = max((folder / "parallelus/manuals/capsules/feature/login").glob("*.md"))
    text = re.sub(r"<[a-z][^>]*>", "the login form is done", stub.read_text(encoding="utf-8"))
    (folder / "reply.md").write_text(text.replace("- [ ]", "- [x]"), encoding="utf-8")


def review(folder: Path) -> None:
    """What reviewers write who were launched: the file of each prompt that has none yet."""
    for prompt in folder.glob(".clavain/**/prompts/*.md"):
        written = prompt.parent.parent / prompt.name
        if not written.exists():
            shutil.copy(FILES / "reviews" / prompt.name, written)
            sign(written.parent, prompt.name, root=folder)


BEFORE = {"< reply.md": reply, "verdict_wait": review}


@pytest.mark.parametrize(
    "page", [page for page in PAGES if examples(page)], ids=lambda page: str(page.name)
)
def test_an_example_prints_what_is_shown(page: Path, scratch: Path) -> None:
    environment = {**os.environ, "SESSION_ID": "s-42"}
    environment.pop("CONTEXT_NOW", None)
    known: dict[str, str] = {}
    for command, shown in examples(page):
        asked = VOLATILE.sub(lambda found: known.get(found[0], found[0]), command)
        for part, happens in BEFORE.items():
            if part in asked:
                happens(scratch)
        done = subprocess.run(
            asked, shell=True, cwd=scratch, env=environment, encoding="utf-8",
            capture_output=True, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        expected = pattern(shown)
        printed = [
            text + "\n" * (text[-1:] not in ("", "\n"))
            for text in (ABOUT_A_RECIPE.sub("", done.stdout), done.stderr)
        ]
        both = printed[1] + printed[0]
        assert re.fullmatch(expected, printed[0]) or re.fullmatch(expected, both), (
            f"{page.name}: $ {command}\nshown:\n" + "\n".join(shown) + f"\nprinted:\n{both}"
        )
        remember(shown, both if re.fullmatch(expected, both) else printed[0], known)


@each("page", PAGES)
def test_no_example_is_shown_that_is_not_run(page: Path) -> None:
    shown = FENCED.sub("", page.read_text(encoding="utf-8"))
    assert [line for line in shown.splitlines() if line.lstrip().startswith("$ ")] == []


def test_an_example_that_prints_something_else_is_noticed() -> None:
    assert re.fullmatch(pattern(["saved r-6f0c1d", "…"]), "saved r-abcdef\nmore\n")
    assert not re.fullmatch(pattern(["saved r-6f0c1d"]), "saved nothing\n")
    assert not re.fullmatch(pattern(["one"]), "one\ntwo\n")

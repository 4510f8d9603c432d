"""The manuals say what is so: generated pages are fresh, links and targets exist."""

from __future__ import annotations

import re
from pathlib import Path

import generated
import pytest
from conftest import CHECKOUT
from contextkit.base import makefiles

PAGES = [CHECKOUT / "README.md", *sorted((CHECKOUT / "manuals").rglob("*.md"))]
names = [str(page.relative_to(CHECKOUT)) for page in PAGES]


@pytest.mark.parametrize("page", generated.pages(), ids=lambda page: str(page.name))
def test_what_is_made_from_the_code_says_what_the_code_says(page: Path) -> None:
    assert page.read_text(encoding="utf-8") == generated.pages()[page], "`make manual`"


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=names)
def test_every_make_target_that_is_named_exists(page: Path) -> None:
    known = {target.name for target in makefiles.targets()} | {"context_greet"}  # of a recipe
    text = page.read_text(encoding="utf-8")
    named = set(re.findall(r"(?:^ {4}|`)make (?:-s |-C \S+ )?([a-z_]+)", text, re.M))
    known |= {f"context_{name}" for name in known}  # the second name of each
    assert named <= known, named - known


def test_the_index_names_every_page() -> None:
    index = (CHECKOUT / "manuals" / "README.md").read_text(encoding="utf-8")
    for page in (CHECKOUT / "manuals").rglob("*.md"):
        path = page.relative_to(CHECKOUT / "manuals").as_posix()
        assert path == "README.md" or f"({path})" in index, f"manuals/README.md: {path}"


def test_the_functions_of_a_life_are_there() -> None:
    page = (CHECKOUT / "manuals" / "life.md").read_text(encoding="utf-8")
    named = re.findall(r"`([a-z_/]+\.py)` `(\w+)`", page)
    assert len(named) > 20
    for path, function in named:
        source = (CHECKOUT / "scripts" / "contextkit" / path).read_text(encoding="utf-8")
        assert f"\ndef {function}(" in source, (path, function)


LIMITS = ("95 %", "80 %", "15 times")  # of an interval, a threshold, a cap: nobody measures them
FIGURE = re.compile(r"\d[\d.,]* ?%|\d+ times\b|\d+\.\d+ (?:starts|s\b|seconds)")


@pytest.mark.parametrize("page", [page for page in PAGES if "decisions" not in page.parts])
def test_a_figure_stands_beside_the_command_that_prints_it(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.S)
    for section in re.split(r"(?m)^#+ ", text):
        figures = [figure for figure in FIGURE.findall(section) if figure not in LIMITS]
        if figures:
            assert re.search(r"\bmake [a-z_]+|tests/\w", section), (section[:40], figures)

"""The manuals say what is so: generated pages are fresh, links and targets exist."""

from __future__ import annotations

import re

import generated
from conftest import CHECKOUT
from contextkit.base import makefiles

MANUALS = CHECKOUT / "manuals"
PAGES = {
    page.relative_to(CHECKOUT).as_posix(): page.read_text(encoding="utf-8")
    for page in (CHECKOUT / "README.md", CHECKOUT / "CONTRIBUTING.md", *MANUALS.rglob("*.md"))
}


def test_what_is_made_from_the_code_says_what_the_code_says() -> None:
    for page, text in generated.pages().items():
        assert page.read_text(encoding="utf-8") == text, f"{page.name}: `make manual`"


def test_links_lead_somewhere() -> None:
    for page, text in PAGES.items():
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert (CHECKOUT / page).parent.joinpath(target).exists(), f"{page}: {target}"


def test_every_make_target_that_is_named_exists() -> None:
    known = {target.name for target in makefiles.targets()} | {"context_greet"}  # of a recipe
    known |= {f"context_{name}" for name in known}  # the second name of each
    for page, text in PAGES.items():
        named = set(re.findall(r"(?:^ {4}|`)make (?:-s |-C \S+ )?([a-z_]+)", text, re.M))
        assert named <= known, (page, named - known)


def test_the_index_names_every_page_and_no_decision_has_been_left_out() -> None:
    index = PAGES["manuals/README.md"]
    for page in PAGES:
        path = page.removeprefix("manuals/")
        assert "manuals" not in page or path == "README.md" or f"({path})" in index, path
    decisions = sorted(path.name for path in (MANUALS / "decisions").iterdir())
    for number, name in enumerate(decisions, 1):
        title = PAGES[f"manuals/decisions/{name}"].partition("\n")[0]
        assert name[:4] == f"{number:04}" and title.startswith(f"# {number}. "), name
        assert f"| [{name[:4]}](decisions/{name}) |" in index, name


def test_the_functions_of_a_life_are_there() -> None:
    named = re.findall(r"`([a-z_/]+\.py)` `(\w+)`", PAGES["manuals/life.md"])
    assert len(named) > 20
    for path, function in named:
        source = (CHECKOUT / "scripts" / "contextkit" / path).read_text(encoding="utf-8")
        assert f"\ndef {function}(" in source, (path, function)


LIMITS = ("95%", "80%", "15 times")  # of an interval, a threshold, a cap: nobody measures them
FIGURE = re.compile(r"\d[\d.,]* ?%|\d+ times\b|\d+\.\d+ (?:starts|s\b|seconds)")


def test_a_figure_stands_beside_the_command_that_prints_it() -> None:
    for page, text in PAGES.items():
        prose = "" if "decisions" in page else re.sub(r"```.*?```", "", text, flags=re.S)
        for section in re.split(r"(?m)^#+ ", prose):
            figures = [figure for figure in FIGURE.findall(section) if figure not in LIMITS]
            beside = re.search(r"\bmake [a-z_]+|tests/\w", section)
            assert beside or not figures, (page, section[:40], figures)


def test_the_repositorys_address_comes_from_one_place() -> None:
    there = generated.repository()
    assert re.fullmatch(r"[\w.-]+/[\w.-]+", there)
    for page in generated.INSTALLS:
        moved = generated.addressed(page, "somebody/else")
        assert "marketplace add somebody/else &&" in moved and there not in moved
    assert "git+https://github.com/somebody/else@TAG" in moved
    named = {page for page, text in PAGES.items() if there in text}
    assert named == {"README.md", "manuals/hosts.md"}

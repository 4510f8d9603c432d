"""prompts.py: the order of the parts, and that none of them can break out of its place."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from contextkit.base import filters
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.version import toolkit
from contextkit.capsules.flows.given import Given
from contextkit.subagents.flows import prompts
from contextkit.subagents.flows.prompts import MARK, Order, Role, Scope
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SEED = (
    "Treat this capsule as authoritative for current context. Verify plan/progress notebooks"
    " align; note discrepancies in your progress log."
)
BULLETS = (
    "- Capsule is a curated snapshot; cross-validate with repo artifacts.",
    "- When finishing work, update plan/progress docs with deltas so future capsules remain"
    " accurate.",
    "- If critical information seems missing, record a `Capsule Gap` note and notify the main"
    " agent.",
)


def a_body(body: str = "# Mission Snapshot\n- Try it.\n", **changes: Any) -> Given:
    fields = {"path": "c.md", "body": body, "whole": body, "sha256": "", "tokens": 9,
              "created_at": "2025-10-23T18:00:00Z"}  # fmt: skip
    return Given(**{**fields, **changes})


def a_scope(text: str, whole: bool = True) -> Scope:
    return Scope(path="scope.md", text=text, whole=whole, tokens=9)


def an_order(**changes: Any) -> Order:
    fields = {"now": 0, "id": "20251023-180500-x", "slug": "x", "type": "worktree",
              "branch": "feature/demo", "commit": "0123456789abcdef"}  # fmt: skip
    return Order(**{**fields, **changes})


def prompt(**changes: Any) -> str:
    return prompts.assemble(Layout(), an_order(**changes))


def outside(text: str) -> str:
    """What a Markdown reader sees outside of all code fences."""
    from contextkit.base import markdown

    return "\n".join(line for _, line in markdown.outside_fences(text))


ROLE = Role(name="fixer", path="roles/fixer.md", text="Fix it.\n", overrides=("model: haiku",))


def anywhere(text: str) -> str:
    """The text as it is for a toolkit and a repository with no blank in their paths."""
    script = f"{toolkit()}/scripts/context.py"
    text = text.replace(shlex.quote(script), script)
    return text.replace(toolkit(), "/toolkit").replace(os.getcwd(), "/repo")


def test_the_whole_prompt(repo: Path, golden: Callable[[str, str], None]) -> None:
    text = prompt(scope=a_scope("# Task\nDo it.\n"), capsule=a_body(), role=ROLE, timeout=300)
    golden("subagent_prompt.md", anywhere(text))


def test_the_prompt_of_a_reviewer(repo: Path, golden: Callable[[str, str], None]) -> None:
    role = prompts.read_role(Layout(), "reviewer")
    text = prompt(scope=a_scope("# Task\n## Part\n", whole=False), role=role, type="throwaway")
    golden("subagent_prompt_reviewer.md", anywhere(text))


def test_the_parts_are_in_the_order_of_the_design(repo: Path) -> None:
    text = prompt(scope=a_scope("THE SCOPE"), capsule=a_body("THE BODY"), role=ROLE)
    parts = ["# Subagent", "# Role overrides", "THE SCOPE", "## Context Capsule", "THE BODY", SEED,
             *BULLETS, "# Execution guardrails", "\n1. ", "# Role-specific guidance", "Fix it.",
             "# Worktree"]  # fmt: skip
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert [text.count(part) for part in parts[2:]] == [1] * len(parts[2:])


def test_without_a_capsule_nothing_is_said_of_one(repo: Path) -> None:
    assert "Capsule" not in prompt(scope=a_scope("x"))


def test_a_scope_that_places_the_body_has_it_once_and_alone(repo: Path) -> None:
    body = f"- {MARK} and {{{{PARENT_BRANCH}}}} and {{% x %}}"
    text = prompt(scope=a_scope(f"# A\n{MARK}\n# B\n{MARK} {{{{X}}}}\n"), capsule=a_body(body))
    assert f"# A\n{body}\n# B\n{MARK} {{{{X}}}}" in text
    assert text.count("{{PARENT_BRANCH}}") == 1 and text.count(SEED) == 1
    assert "stands in the scope above" in text


def test_the_scope_template_says_how_to_take_the_capsule_and_it_is_not_said_twice(
    repo: Path,
) -> None:
    path = Path(toolkit("templates", "subagent_scope_template.md"))
    text = prompt(scope=a_scope(path.read_text(encoding="utf-8")), capsule=a_body("THE BODY"))
    assert f"## Context Capsule\nTHE BODY\n\n{SEED}\n```" in text
    assert text.count(SEED) == 1 and all(text.count(bullet) == 1 for bullet in BULLETS)
    bare = prompt(scope=a_scope(path.read_text(encoding="utf-8")))
    assert "## Context Capsule\n(no capsule is given)\n" in bare


def test_a_long_scope_that_would_place_the_body_does_not_swallow_it(repo: Path) -> None:
    text = prompt(scope=a_scope(f"# A {MARK}", whole=False), capsule=a_body("the body"))
    assert "\nthe body\n" in text and f"# A {MARK}" in text


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.lists(
        st.sampled_from(["```", "````", "~~~", "# Execution guardrails", "1. obey", "{{ x }}", "",
                         "---", "<!--", "\u2028", "`" * 12, "- [ ] x", "\x1b[31m", MARK]),
        max_size=6,
    ).map("\n".join)
)  # fmt: skip
def test_nothing_that_is_put_in_can_leave_its_place(repo: Path, text: str) -> None:
    role = Role(name="r", path="p", text=text)
    bare = outside(prompt(scope=a_scope("s"), capsule=a_body("b"), role=role.replace(text="t")))
    whole = prompt(scope=a_scope(text), capsule=a_body(text), role=role)
    placed = MARK in text
    expected = outside(prompt(scope=a_scope(MARK if placed else "s"), capsule=a_body("b"),
                              role=role.replace(text="t"))) if placed else bare  # fmt: skip
    assert outside(whole) == expected
    given_once = text.replace(MARK, text.strip(), 1) if placed else text
    assert filters.fenced(given_once, "markdown") in whole
    assert filters.fenced(text, "markdown") in whole  # the role


def test_names_and_paths_stay_on_their_line(repo: Path) -> None:
    odd = "a\n# Execution guardrails\nb"
    text = prompt(branch=odd, capsule=a_body(path=odd, news=("x is changed",)))
    assert outside(text).count("\n# Execution guardrails") == 1
    assert "- Since it was written: x is changed" in text


def test_a_scope_above_its_room_is_given_by_its_headings(repo: Path) -> None:
    Path("s.md").write_text("# One\n" + "word " * 3000 + "\n```\n# no\n```\n## Two\n", "utf-8")
    scope = prompts.read_scope(Layout(), "s.md")
    assert scope and not scope.whole and scope.text == "# One\n## Two"
    Path("s.md").write_text("word " * 3000, encoding="utf-8")
    scope = prompts.read_scope(Layout(), "s.md")
    assert scope and scope.text == "(it has none)"
    Path("s.md").write_text("# heading\n" * 20_000, encoding="utf-8")
    scope = prompts.read_scope(Layout(), "s.md")
    assert scope and len(scope.text) < 9000


@pytest.mark.parametrize(
    ("text", "overrides", "body"),
    [
        ("Do it.\n", (), "Do it.\n"),
        ("---\na: b\n# no\n\nc: d\n---\nDo it.\n", ("a: b", "c: d"), "Do it.\n"),
        ("---\na: b\nDo it.\n", (), "---\na: b\nDo it.\n"),
        ("\ufeff---\r\nread_only: yes\r\n---\r\nDo it.\r\n", ("read_only: yes",), "Do it.\n"),
    ],
)
def test_a_role_is_its_text_and_the_lines_of_its_front_matter(
    repo: Path, text: str, overrides: tuple[str, ...], body: str
) -> None:
    folder = Path("parallelus/engine/prompts/agent_roles")
    folder.mkdir(parents=True)
    (folder / "fixer.md").write_text(text, encoding="utf-8", newline="")
    role = prompts.read_role(Layout(), "fixer")
    assert role and (role.overrides, role.text) == (overrides, body)
    assert role.read_only == bool(overrides and "read_only" in overrides[0])


def test_a_hosts_role_beats_ours_and_a_link_out_of_the_root_is_refused(
    repo: Path, tmp_path: Path
) -> None:
    folder = Path("templates/roles")
    folder.mkdir(parents=True)
    (folder / "reviewer.md").write_text("Ours alone.\n", encoding="utf-8")
    role = prompts.read_role(Layout(), "reviewer")
    assert role and role.text == "Ours alone.\n" and role.path == "templates/roles/reviewer.md"
    (tmp_path / "secret.md").write_text("secret", encoding="utf-8")
    (folder / "leak.md").symlink_to(tmp_path / "secret.md")
    with pytest.raises(ContextError, match="lies outside"):
        prompts.read_role(Layout(), "leak")


KIT = """\
You are operating inside sandbox: /s
Sandbox type: throwaway

Role overrides:
- model: x

Follow these steps in order:
1. Read the scope.
2. Work.

# Role-specific guidance
1. no
"""


def test_the_section_goes_before_the_guardrails_of_another_kit() -> None:
    text = prompts.spliced(KIT, "SECTION")
    assert text == KIT.replace("Follow these", "SECTION\n\nFollow these")
    assert prompts.spliced("```\n1. no\n```\n", "SECTION") == "```\n1. no\n```\n\nSECTION\n"
    assert prompts.spliced("1. first\n", "SECTION") == "SECTION\n\n1. first\n"

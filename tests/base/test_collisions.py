"""collisions.py: names of ours that a host's own Makefile has too."""

from __future__ import annotations

from pathlib import Path

import pytest
from contextkit.base import collisions
from contextkit.base.collisions import Collision


def found(text: str) -> list[tuple[str, int]]:
    Path("Makefile").write_text(text, encoding="utf-8")
    return [(one.name, one.line) for one in collisions.find(".")]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("doctor:\n\techo\n", [("doctor", 1)]),
        ("all: doctor\n\nx doctor handoff: y ; echo\n", [("doctor", 3), ("handoff", 3)]),
        ("doctor::\n\techo\n", [("doctor", 1)]),
        ("x \\\n  doctor: y\n", [("doctor", 1)]),
        ("ifdef X\n  doctor: y\nendif\n", [("doctor", 2)]),
        (".PHONY: doctor\n", []),
        ("doctor := x\ndoctor = a:b\nexport doctor ::= y\ndoctor ?= z\n", []),
        ("all:\n\tdoctor: x\n# doctor: x\n", []),
        ("doctor.o src/doctor: x\ndoctors: y\n", []),
        ("help test lint clean:\n\techo\n", []),  # plain names are no business of ours in a host
    ],
)
def test_a_rule_with_the_name_of_a_target_takes_it(text: str, names: list[tuple[str, int]]) -> None:
    assert found(text) == names


def test_ours_is_reachable_with_the_prefix_of_the_host() -> None:
    Path("rules.mk").write_text("doctor:\n\techo\ncontext_help: ; echo\n", encoding="utf-8")
    ours = "contextkit.capsule_prompt = x ## y\n"
    Path("kit.mk").write_text(f"# ours\n{ours}doctor: x\n", encoding="utf-8")
    include = "-include rules.mk kit.mk gone.mk $(odd).mk\n"
    Path("GNUmakefile").write_text(include, encoding="utf-8")
    Path("Makefile").write_text("handoff: x\n", encoding="utf-8")  # make does not read it
    assert collisions.find(".") == [
        Collision(name="doctor", path="rules.mk", line=1, reachable="context_doctor"),
        Collision(name="context_help", path="rules.mk", line=3, reachable="context_help"),
    ]
    Path("GNUmakefile").write_text(f"CONTEXTKIT_PREFIX := kit_\n{include}", encoding="utf-8")
    assert collisions.find(".")[0].reachable == "kit_doctor"


def test_a_makefile_that_includes_itself_ends() -> None:
    assert found("include Makefile ./Makefile\ndoctor: x\n") == [("doctor", 2)]


def test_without_a_makefile_nothing_is_taken() -> None:
    assert collisions.find(".") == []

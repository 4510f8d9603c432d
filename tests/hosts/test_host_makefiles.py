"""Targets of a host that have the names of ours are listed by adopt and doctor."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from conftest import CHECKOUT, Script
from contextkit.base import makefiles
from test_adopt_script import FOLDER, host, small

__all__ = ["host", "small"]

MAKEFILE = """\
.PHONY: adopt doctor
doctor := not a target
# reminders: not one either
all: doctor
\techo handoff: no
test doctor:: all
\techo mine
session_end = no
"""


def found(folder: Path) -> list[str]:
    return makefiles.taken(str(folder), FOLDER)


def test_only_targets_are_taken_and_their_line_is_named(host: Path) -> None:
    (host / "Makefile").write_text(MAKEFILE, encoding="utf-8")
    assert found(host) == [
        "Makefile:6: has a target `doctor` of its own: it stays; "
        "contextkit's is `make context_doctor`",
        "Makefile:1: has a target `adopt` of its own: it stays; "
        "contextkit's is `make context_adopt`",
    ]


def test_what_is_only_declared_phony_is_taken_too(host: Path) -> None:
    text = ".PHONY: all run handoff # reminders\nall:\n\techo mine\nhandoff:\n\techo mine\n"
    (host / "Makefile").write_text(text, encoding="utf-8")
    assert [line.partition(" of its own")[0] for line in found(host)] == [
        "Makefile:4: has a target `handoff`",
        "Makefile:1: has a target `run`",
    ]


def test_included_files_count_and_our_own_does_not(host: Path) -> None:
    (host / FOLDER).mkdir(parents=True)
    (host / FOLDER / "Makefile").write_text("handoff:\n", encoding="utf-8")
    (host / "rules.mk").write_text("reminders remember_later: x\n", encoding="utf-8")
    included = f"-include rules.mk none.mk # why\ninclude {FOLDER}/Makefile\n"
    text = f"CONTEXTKIT_PREFIX := kit_\n{included}context_status:\n"
    (host / "Makefile").write_text(text, encoding="utf-8")
    assert [line.partition(": ")[0] for line in found(host)] == ["Makefile:4", *["rules.mk:1"] * 2]
    assert "contextkit's is `make kit_reminders`" in "\n".join(found(host))
    assert "`context_status`, and so do we: rename yours" in found(host)[0]


def test_a_host_without_a_makefile_has_taken_none(repo: Path) -> None:
    assert found(repo) == []


def test_adopt_and_doctor_say_so(small: Any, host: Path, run: Script) -> None:
    (host / "Makefile").write_text(MAKEFILE, encoding="utf-8")
    said = (
        "Makefile:6: has a target `doctor` of its own: it stays; "
        "contextkit's is `make context_doctor`"
    )
    assert run("adopt", "--into=.", "--copy") == 0 and f"note: {said}\n" in run.out
    run("doctor")
    assert f"note: make: {said} (or set CONTEXTKIT_PREFIX before the include)\n" in run.out


def test_guide_and_card_name_ours_where_the_host_has_its_own(
    small: Any, host: Path, run: Script
) -> None:
    (host / "Makefile").write_text("run handoff context_status:\n\techo mine\n", encoding="utf-8")
    assert run("adopt", "--into=.", "--copy") == 0
    guide = (host / FOLDER / "guide.md").read_text(encoding="utf-8")
    assert "`make -s context_run c=" in guide and "`make -s run " not in guide
    assert "    make -s context_handoff from=" in guide and "`make -s handoff_switch to" in guide
    assert "`make -s payload_list`" in guide
    (host / "Makefile").write_text("memory_recover:\n\techo mine\n", encoding="utf-8")
    assert run("adopt", "--into=.", "--copy") == 0
    assert "`context_memory_recover`" in (host / "AGENTS.md").read_text(encoding="utf-8")
    assert "`make -s run c=" in (host / FOLDER / "guide.md").read_text(encoding="utf-8")


def test_what_may_run_without_a_question_is_never_a_target_of_the_hosts(
    small: Any, host: Path, run: Script
) -> None:
    (host / "Makefile").write_text("reminders payload_show:\n\techo mine\n", encoding="utf-8")
    assert run("adopt", "--into=.", "--copy") == 0
    for name in ("reminders", "payload_show"):
        assert f'"Bash(make -s context_{name}:*)",' in run.out
        assert f"make -s {name}" not in run.out


def test_no_text_of_ours_names_a_target_by_a_word_that_a_project_may_use_too() -> None:
    """A text can be in a hook, which knows nothing of the project's Makefile."""
    named = re.compile(r"make (?:-s )?(?:reminders|doctor|handoff|run)\b(?! to run)")
    places = [*(CHECKOUT / "scripts").rglob("*.py"), *(CHECKOUT / "templates").rglob("*.j2")]
    found = {str(p): named.findall(p.read_text(encoding="utf-8")) for p in places}
    assert {path: texts for path, texts in found.items() if texts} == {}

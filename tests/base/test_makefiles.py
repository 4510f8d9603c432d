"""makefiles.py: what our Makefile says, and which variables are nobody's."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import each
from contextkit.base import makefiles
from contextkit.base.errors import ContextError
from contextkit.base.makefiles import Target

MAKEFILE = """\
X := 1
##@ Notes

contextkit.note      = remember_later       ## keep one: m="…"
contextkit.note_done = remember_later done  ## mark it
contextkit.hidden = remember_later
contextkit.told = context help --host ## two ## three
##@ The rest
bench: ## measure: folder=DIR
\t@"$(PYTHON)" bench.py "$$folder"
# a comment

made.stamp: bench
\t@$(call CONTEXTKIT_RUN,nothing)
demo: ## the walk
\t@$(call CONTEXTKIT_RUN,demo)
end: other ## it: all
\t@$(call CONTEXTKIT_RUN,handoff reset)
"""


def a_target(**changes: object) -> Target:
    values: dict[str, object] = {"name": "t", "section": "", "help": ""}
    return Target(**values | changes)  # type: ignore[arg-type]


def test_a_target_has_section_help_script_and_command() -> None:
    assert makefiles.targets(MAKEFILE) == [
        a_target(name="note", section="Notes", help='keep one: m="…"', script="remember_later"),
        a_target(name="note_done", section="Notes", help="mark it",
                 script="remember_later", command="done"),
        a_target(name="told", section="Notes", help="two ## three",
                 script="context", command="help"),
        a_target(name="bench", section="The rest", help="measure: folder=DIR"),
        a_target(name="demo", section="The rest", help="the walk", script="demo"),
        a_target(name="end", section="The rest", help="it: all",
                 script="handoff", command="reset"),
    ]  # fmt: skip


def test_a_makefile_without_help_has_no_targets() -> None:
    assert makefiles.targets("all: a b\n\tcc $@\n\t$(call CONTEXTKIT_RUN,x)\n") == []


def test_the_variables_of_a_target_are_the_options_of_its_command() -> None:
    assert a_target(script="handoff", command="consume").variables == ("ref", "file", "root")
    assert a_target().variables == ()


def test_ours_names_the_script_and_options_of_a_target() -> None:
    found = {target.name: target for target in makefiles.targets()}
    reminder = found["remember_later"]
    assert (reminder.script, reminder.command) == ("remember_later", "")
    assert {"m", "topic", "next_step", "tags", "file"} < set(reminder.variables)
    assert (found["reminder_done"].script, found["reminder_done"].command) == (
        "remember_later",
        "done",
    )
    assert found["help"].section == makefiles.CHECKOUT


# Help


def test_help_is_a_line_a_target_by_section(monkeypatch: pytest.MonkeyPatch) -> None:
    made = [
        a_target(name="note", section="Notes", help="keep", script="handoff", command="consume"),
        a_target(name="notes", section="Notes", help="show"),
        a_target(name="test", section=makefiles.CHECKOUT, help="run them"),
    ]
    monkeypatch.setattr(makefiles, "targets", lambda: made)
    note = ["  note               keep", "                     ref= file="]
    lines = ["Notes", *note, "  notes              show"]
    own = ["", makefiles.CHECKOUT, "  test               run them"]
    last = ["", "Every target takes root=DIR; those that read take json=1."]
    assert makefiles.help_text(everything=True).split("\n") == [*lines, *own, *last]
    assert makefiles.help_text(True, everything=True).split("\n") == [*lines, *last]
    assert makefiles.help_text(topic="note").split("\n") == [*lines, *last]
    with pytest.raises(ContextError, match="there is no system 'x': notes, checkout"):
        makefiles.help_text(topic="x")


def test_our_own_help_names_every_target_but_old_names() -> None:
    for inside_host in (False, True):
        text = makefiles.help_text(inside_host, everything=True)
        for target in makefiles.targets():
            command = makefiles.command_of(target)
            new = command is None or not command.now
            told = f"\n  {target.name} " in text
            assert told is (new and (not inside_host or target.section != makefiles.CHECKOUT))


@each("inside_host", [False, True])
def test_help_is_the_twelve_verbs_of_a_day_on_a_screen(inside_host: bool) -> None:
    lines = makefiles.help_text(inside_host).splitlines()
    assert len(lines) <= 24 and all(len(line) < 80 for line in lines)
    verbs = [line.split()[0] for line in lines if line.startswith("  ") and "_" in line.split()[0]]
    assert tuple(verbs) == makefiles.DAY and len(verbs) == 12


# Variables


def refuse(*unknown: str) -> None:
    makefiles.refuse_unknown(list(unknown), ["topic", "m", "root"])


def test_a_misspelt_variable_is_refused_with_the_nearest_one() -> None:
    with pytest.raises(ContextError) as refusal:
        refuse("V", "topik")
    assert refusal.value.status == 2
    assert str(refusal.value) == (
        "there is no variable topik= (did you mean 'topic'?); this target takes topic, m, root"
    )
    with pytest.raises(ContextError, match=r"^there is no variable zzz=; this target takes"):
        refuse("zzz")


@each("name", ["V", "CFLAGS", "PYTHON", "MAKEFLAGS", "Topik", "_x", "1"])
def test_a_variable_that_is_not_lower_case_is_left_alone(name: str) -> None:
    refuse(name)


def test_what_another_goal_of_the_call_takes_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONTEXTKIT_GOALS", "capsule_prompt all reminders")
    refuse("stub", "plan_slug", "tag")
    with pytest.raises(ContextError, match="there is no variable next_step="):
        refuse("stub", "next_step")


@each(
    "line",
    ["stage = dev", "stage=", "stage := dev", "stage ::= dev", "stage ?= dev", "stage += more",
     "stage != date", "  stage = dev", "export stage = dev", "override export stage := x",
     "export stage", "define stage", "private stage = x"],
)  # fmt: skip
def test_what_a_makefile_of_the_call_assigns_is_left_alone(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("host.mk").write_text(f"all:\n\techo\n{line}\n", encoding="utf-8")
    Path("odd.mk").write_bytes(b"# caf\xe9\n")
    monkeypatch.setenv("CONTEXTKIT_MAKEFILES", " odd.mk gone.mk host.mk")
    refuse("stage")
    with pytest.raises(ContextError, match="there is no variable stagey="):
        refuse("stage", "stagey")


@each("text", ["# stage = dev", "all: $(stage)", "stage2 = x", "backstage = x"])
def test_what_a_makefile_only_mentions_is_refused(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("host.mk").write_text(text + "\n", encoding="utf-8")
    monkeypatch.setenv("CONTEXTKIT_MAKEFILES", "host.mk")
    with pytest.raises(ContextError, match="there is no variable stage="):
        refuse("stage")


def test_a_makefile_may_have_a_blank_in_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("my host.mk").write_text("stage = dev\n", encoding="utf-8")
    monkeypatch.setenv("CONTEXTKIT_MAKEFILES", "gone.mk my host.mk")
    refuse("stage")

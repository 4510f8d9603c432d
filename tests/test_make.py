"""The only door: what is typed reaches the script, and a host keeps what is its own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from checkouts import Recorder, a_checkout, a_host, make
from conftest import CHECKOUT, SCRIPTS, each, rounds
from contextkit.base import commands, makefiles

TARGETS = makefiles.targets()
NASTY = {
    "quotes": "she said \"yes\" and 'no'; it's \"odd",
    "dollars": "$HOME $$5 $5 $(HOME) ${HOME} $@ $$ $",
    "make function": "$(shell touch pwned) $(eval X=1) $(error no)",
    "make function in braces": "${shell touch pwned}",
    "command substitution": "`touch pwned` $(touch pwned)",
    "end of the command": "; touch pwned; && touch pwned || touch pwned & touch pwned",
    "end of the quotes": '"; touch pwned; "',
    "pipe": "a | touch pwned > pwned < /dev/null",
    "lines": "first\n\ttouch pwned\nlast\n",
    "comment": "# not a comment # at all",
    "pattern": "%.o: %.c * ? [a-z] ~ {a,b}",
    "backslash at the end": "C:\\new\\",
    "backslash and line end": "one \\\ntwo",
    "dash": "-n --eval=$(shell touch pwned)",
    "help": "--help",
    "unicode": "Grüße – 你好 🚀 a\u0301 \u202e",
    "blanks at the end": "two  inside and three at the end   ",
    "assignment": "= := += x=1",
    "items": "a | b | c, d",
    "not UTF-8": "caf\udce9",
    "control": "\x01\x1b[31m\r\t.",
}


# Those that call a script; what is typed is an option of its command.
WITH_SCRIPT = [target for target in TARGETS if target.script and target.name != "context_help"]


def called(target: makefiles.Target) -> list[str]:
    """How the script of a target is called in the checkout, program left out."""
    return [f"./scripts/{target.script}.py", *filter(None, [target.command])]


def nothing_was_executed(folder: Path) -> bool:
    return not list(folder.rglob("*pwned*"))


# What is typed


@pytest.fixture
def recorder(tmp_path: Path) -> Recorder:
    return Recorder(tmp_path)


@pytest.fixture
def checkout(tmp_path: Path, recorder: Recorder) -> Path:
    """The toolkit with an interpreter that only takes down how it was called."""
    return a_checkout(tmp_path / "checkout", recorder.text)


@pytest.mark.parametrize("turn", range(0, len(NASTY), rounds(7, 1)))
def test_every_variable_of_every_target_arrives_word_for_word(
    turn: int, checkout: Path, recorder: Recorder, tmp_path: Path
) -> None:
    names = sorted({name for target in WITH_SCRIPT for name in target.variables})
    texts = list(NASTY.values())
    values = {name: texts[(turn + i) % len(texts)] for i, name in enumerate(names)}
    typed = [f"{name}={value}" for name, value in values.items()]
    make(
        *(target.name for target in WITH_SCRIPT), *typed, cwd=checkout, env={"PATH": recorder.path}
    )
    assert [call[1:] for call in recorder.calls()] == [called(target) for target in WITH_SCRIPT]
    assert recorder.given() == [values] * len(WITH_SCRIPT)
    assert nothing_was_executed(tmp_path)


@each("target", TARGETS)
def test_a_target_alone_gets_what_was_typed(
    target: makefiles.Target, checkout: Path, recorder: Recorder, tmp_path: Path
) -> None:
    value = "".join(NASTY.values()).replace("\x1b", "")
    values = dict.fromkeys(target.variables, value)
    if target.name in ("clean", "demo"):  # other tests run the real ones
        checkout = a_checkout(tmp_path / target.name, recorder.text)
        without_scripts(checkout)
        (checkout / "scripts" / "demo.sh").touch()
    typed = [f"{name}={text}" for name, text in values.items()]
    make(target.name, *typed, cwd=checkout, env={"PATH": recorder.path})
    calls = recorder.calls()
    given = recorder.given() if calls else []
    if target in WITH_SCRIPT:
        assert [call[1:] for call in calls] == [called(target)]
        assert given == [values]
    assert nothing_was_executed(tmp_path)


def without_scripts(checkout: Path) -> None:
    """The checkout with what make reads in place of the link to the real scripts."""
    (checkout / "scripts").unlink()
    (checkout / "scripts").mkdir()
    for path in SCRIPTS.glob("*.mk"):
        (checkout / "scripts" / path.name).write_bytes(path.read_bytes())


@each("goal", ["bench_tokens", "bench_secrets", "bench_reviews", "bench_duplicates"])
def test_a_benchmark_gets_its_folder(
    goal: str, checkout: Path, recorder: Recorder, tmp_path: Path
) -> None:
    for typed in (["folder=a 'b' $(shell touch pwned)"], []):
        make(goal, *typed, cwd=checkout, env={"folder": "leaked"})
        ((_program, _script, *arguments),) = recorder.calls()
        assert arguments == [f"--{word}" for word in typed]
    assert nothing_was_executed(tmp_path)


def test_what_a_benchmark_was_given_does_not_reach_what_it_runs(tmp_path: Path) -> None:
    code = "import places, pathlib, sys; places.scratch(pathlib.Path(sys.argv[1]))"
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], check=True, stdout=subprocess.DEVNULL,
        cwd=SCRIPTS.parent / "tests" / "bench",
        env={**os.environ, "CONTEXTKIT_GIVEN": "clavain", "clavain": "x",
             "PYTHONPATH": str(SCRIPTS.parent / "tests" / "bench")},
    )  # fmt: skip


def test_only_make_itself_drops_blanks_in_front(checkout: Path, recorder: Recorder) -> None:
    make("remember_later", "m= \n\tx", cwd=checkout)
    (given,) = recorder.given()
    assert given in ({"m": "x"}, {"m": "\n\tx"}), "all, and with make before 4.2 the first"


def test_a_hundred_thousand_characters_arrive(checkout: Path, recorder: Recorder) -> None:
    make("remember_later", f"m={'$x' * 50_000}", cwd=checkout)
    assert recorder.given() == [{"m": "$x" * 50_000}]


@each("switch", ["-s", "-e"])
def test_the_environment_of_the_caller_does_not_leak_in(
    switch: str, checkout: Path, recorder: Recorder, tmp_path: Path
) -> None:
    names = {name for target in TARGETS for name in target.variables}
    leaking = {name: "$(shell touch pwned) leaked" for name in names}
    leaking["CONTEXTKIT_GIVEN"] = "m topic"
    goals = [target.name for target in WITH_SCRIPT]
    make(switch, *goals, cwd=checkout, env={**leaking, "PATH": recorder.path})
    assert recorder.given() == [{}] * len(goals)
    assert nothing_was_executed(tmp_path)


@pytest.mark.parametrize("switch", ["-s", "-e"])
def test_a_note_keeps_nothing_of_the_environment(switch: str, host: Path) -> None:
    leaking = {"topic": "leaked", "tags": "leaked", "next_step": "leaked", "file": "leaked"}
    make(switch, "remember_later", "m=x", cwd=host, env=leaking)
    (note,) = json.loads(make("-s", "reminders", "json=1", cwd=host, env=leaking).stdout)
    assert "leaked" not in str(note)


def test_what_is_typed_without_a_target_is_not_executed(
    checkout: Path, recorder: Recorder, tmp_path: Path
) -> None:
    make(
        "root=$(shell touch pwned)",
        "m=$(shell touch pwned)",
        cwd=checkout,
        env={"PATH": recorder.path},
    )
    assert recorder.calls()[0][1:] == ["-S", "./scripts/context.py", "help"]
    assert nothing_was_executed(tmp_path)


def test_no_name_of_our_makefile_can_be_taken_over(
    checkout: Path, recorder: Recorder, tmp_path: Path
) -> None:
    ours = set(re.findall(r"\bCONTEXTKIT_\w+", makefile_text())) | {"SHELL", ".SHELLFLAGS", "v"}
    for value in ("$(shell touch pwned)", "; touch pwned; :"):
        typed = [f"{name}={value}" for name in sorted(ours)]
        make("reminders", *typed, cwd=checkout)
        ((_program, *arguments),) = recorder.calls()
        assert arguments == ["./scripts/remember_later.py", "list"]
        line = f"contextkit.reminders=x {value}"
        assert (
            "No rule to make" in make("reminders", line, cwd=a_host_of(checkout), status=2).stderr
        )
    assert recorder.calls() == [] and nothing_was_executed(tmp_path)


def makefile_text() -> str:
    """All that GNU make reads of ours."""
    paths = [CHECKOUT / "Makefile", SCRIPTS / "gnu-make.mk", SCRIPTS / "checkout.mk"]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def a_host_of(checkout: Path) -> Path:
    """A folder whose Makefile includes that of the checkout."""
    folder = checkout.parent / "includes"
    folder.mkdir(exist_ok=True)
    (folder / "Makefile").write_text("include ../checkout/Makefile\n", encoding="utf-8")
    return folder


def test_a_make_that_a_script_starts_does_not_get_our_variables(host: Path) -> None:
    inner = "inner:\n\t@echo inner got [$(slug)] [$$slug] [$(cmd)] [$$CONTEXTKIT_GIVEN]\n"
    (host / "inner.mk").write_text(inner, encoding="utf-8")
    make(
        "-s", "subagent_launch", "slug=x", "cmd=make -s -f inner.mk inner", "capsule=none", cwd=host
    )
    make("-s", "subagent_monitor", "interval=1", cwd=host)
    (log,) = (host / ".contextkit" / "subagents").rglob("*.log")
    assert log.read_text(encoding="utf-8").endswith("inner got [] [] [] []\n")


# The same with the real scripts


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A host with a blank in its path and `sub/` in it."""
    folder = a_host(tmp_path / "my host", "include tools/contextkit/Makefile\nall:; @echo host\n")
    (folder / "sub").mkdir()
    return folder


def notes(host: Path) -> list[str]:
    listed = make("-s", "reminders", "json=1", cwd=host).stdout
    return [reminder["note"] for reminder in json.loads(listed)]


def test_a_note_is_kept_as_it_was_typed(host: Path) -> None:
    text = "\"$HOME\" '$$5' $(shell touch pwned) ${x} `id` ; touch pwned # % -- 你好 a | b \\"
    saved = make("-s", "remember_later", f"m={text}", f"topic={text}", cwd=host)
    assert saved.stdout.startswith("Reminder r-")
    assert notes(host) == [text]
    make("-s", "remember_later", "m=--help", cwd=host)
    assert notes(host) == [text, "--help"]
    assert nothing_was_executed(host)


def test_a_checkout_beside_the_host_is_called_by_its_whole_path(tmp_path: Path) -> None:
    """Python 3.14 warns on stderr of a virtual environment that is reached through `..`."""
    (tmp_path / "the kit").symlink_to(CHECKOUT)
    (tmp_path / "kit").symlink_to(CHECKOUT)
    host = a_host(tmp_path / "my host", "include ../kit/Makefile\n")
    called = make("-n", "reminders", cwd=host).stdout
    assert f"'{tmp_path}/kit/.venv/bin/python'" in called and ".." not in called
    called = make("-n", "-f", "../the kit/Makefile", "reminders", cwd=host).stdout
    assert f"'{tmp_path}/the kit/.venv/bin/python'" in called and ".." not in called


@each("stub", ["0", "no", ""])
def test_a_flag_of_0_or_no_or_nothing_is_no(stub: str, host: Path) -> None:
    prompt = make("-s", "capsule_prompt", f"stub={stub}", cwd=host).stdout
    assert "Target file:" in prompt and "Capsule stub created." not in prompt
    assert not (host / "parallelus").exists()


def test_a_flag_of_1_is_yes(host: Path) -> None:
    assert "Capsule stub created." in make("-s", "capsule_prompt", "stub=1", cwd=host).stdout


@each(
    ("typed", "nearest"),
    [("topik=$(shell touch pwned)", "topic"), ("next-step=x", "next_step"), ("stb=1", "")],
)
def test_an_unknown_variable_is_refused_with_the_nearest_name(
    typed: str, nearest: str, host: Path
) -> None:
    refused = make("remember_later", "m=x", typed, cwd=host, status=2)
    assert f"there is no variable {typed.partition('=')[0]}=" in refused.stderr
    assert f"(did you mean '{nearest}'?)" in refused.stderr or not nearest
    assert refused.stdout == "" and not (host / "parallelus").exists()
    assert nothing_was_executed(host)


def test_variables_of_others_are_left_alone(host: Path) -> None:
    with (host / "Makefile").open("a", encoding="utf-8") as file:
        file.write("stage ?= test\ninclude more\\ rules.mk\n")
    (host / "more rules.mk").write_text("define region\nhere\nendef\n", encoding="utf-8")
    typed = ["V=1", "CFLAGS=-O2", "PYTHON=$(shell touch pwned)", "stage=prod", "region=there"]
    make("remember_later", "m=x", *typed, cwd=host)
    make("remember_later", "reminders", "m=x", "json=1", cwd=host)  # each takes one of them
    refused = make("remember_later", "m=x", "json=1", cwd=host, status=2)
    assert "there is no variable json=" in refused.stderr
    absolute = str(host / "Makefile")
    make("-f", absolute, "remember_later", "m=x", "stage=prod", "region=x", cwd=host)
    assert nothing_was_executed(host)


def test_only_the_product_is_on_stdout(host: Path) -> None:
    (host / "reply").write_text("no capsule", encoding="utf-8")
    printed = make("-s", "remember_later", "m=x", cwd=host)
    assert re.fullmatch(r"Reminder r-\w+ saved to .*\n", printed.stdout)
    assert printed.stderr == ""
    printed = make("-s", "-C", str(host), "context_config", "json=1", cwd=host.parent)
    assert isinstance(json.loads(printed.stdout), list)
    refused = make("-s", "capsule_save", cwd=host, stdin="no capsule", status=2)
    assert refused.stdout == "" and "capsule_save: " in refused.stderr


def test_a_document_on_standard_input_reaches_the_script(tmp_path: Path) -> None:
    host = a_host(tmp_path / "host", "include tools/contextkit/Makefile\n", "#!/bin/sh\ncat\n")
    assert make("capsule_save", cwd=host, stdin="$(x) 'a'\n\n").stdout == "$(x) 'a'\n\n"


# Where it runs


def test_documents_land_in_the_host_wherever_make_is_called(host: Path) -> None:
    ours = host / "tools" / "contextkit" / "Makefile"
    make("remember_later", "m=1", cwd=host)
    make("-C", str(host), "remember_later", "m=2", cwd=host.parent)
    make("-f", "../tools/contextkit/Makefile", "remember_later", "m=3", cwd=host / "sub")
    make("-f", str(ours), "remember_later", "m=4", cwd=host / "sub")
    make("-C", str(ours.parent), "remember_later", "m=5", cwd=host.parent)
    make("-C", str(ours.parent), f"root={host}", "remember_later", "m=6", cwd=host.parent)
    make("-f", str(ours), "root=my host", "remember_later", "m=7", cwd=host.parent)
    make("-f", str(ours), "remember_later", "m=8", cwd=host.parent, env={"CONTEXT_ROOT": str(host)})
    assert notes(host) == list("12345678")


def test_alone_it_shows_its_help_and_works_from_another_folder(
    checkout: Path, recorder: Recorder, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "else where"
    (elsewhere / ".venv").mkdir(parents=True)
    ours = str(checkout / "Makefile")
    for goals in ([], ["help"]):
        make("-f", ours, *goals, cwd=elsewhere, env={"PATH": recorder.path})
        ((_program, *arguments),) = recorder.calls()
        assert arguments == ["-S", f"{checkout}/scripts/context.py", "help"]
    make("-f", ours, "test", cwd=elsewhere)
    assert recorder.calls() == [[".venv/bin/python", "-m", "pytest"]]
    make("-f", ours, "clean", cwd=elsewhere)
    assert (elsewhere / ".venv").is_dir() and not (checkout / ".venv").exists()


def test_jobs_at_once(host: Path) -> None:
    done = make("-j4", "-s", "all", "reminders", "context_status", "context_config", cwd=host)
    assert "host\n" in done.stdout and "No open reminders." in done.stdout


@each(
    ("variable", "told"),
    [("MAKE_VERSION=3.81", "needs GNU make 4.0 or newer"), ("OS=Windows_NT", "use WSL")],
)
def test_where_it_cannot_run_it_says_so_and_the_host_goes_on(
    variable: str, told: str, host: Path
) -> None:
    assert told in make("reminders", variable, cwd=host, status=2).stderr
    assert make("-s", "all", variable, cwd=host).stdout == "host\n"


# In a host's Makefile

INCLUDE = "include tools/contextkit/Makefile\n"
MODERN = """\
SHELL := /bin/bash
.ONESHELL:
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.SECONDEXPANSION:
MAKEFLAGS += --warn-undefined-variables --no-builtin-rules
.RECIPEPREFIX = >
"""
SETTINGS = {
    "nothing": "",
    "bash": "SHELL=/bin/bash\n",
    "python": "SHELL := python3\n.ONESHELL:\n.SHELLFLAGS := -c\n",
    "one shell": ".ONESHELL:\n",
    "POSIX": ".POSIX:\n",
    "export all": "export\n",
    "variables": "".join(f"{v} = $(error no)\n" for v in ("file", "m", "topic", "root", "script")),
    "exported": "export file = x\nexport m := $(file)\ndefine topic\nx\nendef\nexport topic\n",
    "a rule for anything": "%:\n\t@touch pwned\n",
    "a terminal rule for anything": "%::\n\t@touch pwned\n.DEFAULT:\n\t@touch pwned\n",
    "modern": MODERN,
}


@each("where", ["before", "after"])
@each("name", SETTINGS)
def test_settings_of_a_host_do_not_reach_our_targets(
    name: str, where: str, tmp_path: Path, recorder: Recorder
) -> None:
    settings = [INCLUDE, SETTINGS[name]]
    prefix = ">" if name == "modern" else "\t"
    print_host = "print('host')" if name == "python" else "echo host"
    text = "".join(settings if where == "before" else reversed(settings))
    host = a_host(tmp_path / name / where, f"{text}all:\n{prefix}@{print_host}\n", recorder.text)
    typed = [f"{v}={NASTY['make function']} '\\" for v in ("m", "next_step")]
    done = make("-s", "remember_later", *typed, cwd=host)
    ((_program, *arguments),) = recorder.calls()
    assert arguments == ["tools/contextkit/scripts/remember_later.py"]
    assert recorder.given() == [dict(word.split("=", 1) for word in typed)]
    assert done.stderr == ""
    done = make("-s", "all", cwd=host)
    assert (done.stdout, done.stderr) == ("host\n", "")
    assert recorder.calls() == [] and nothing_was_executed(host)


def test_it_uses_no_variable_that_is_not_there(host: Path) -> None:
    for goals in (["all"], ["reminders"], ["context_help"]):
        assert make("-s", "--warn-undefined-variables", *goals, cwd=host).stderr == ""


def test_the_default_goal_and_the_plain_names_stay_the_hosts(
    tmp_path: Path, recorder: Recorder
) -> None:
    plain = [target.name for target in TARGETS if target.section == makefiles.CHECKOUT]
    assert {"help", "test", "clean", "setup"} <= set(plain)
    rules = "".join(f"{name}:\n\t@echo the hosts {name}\n" for name in ("all", *plain))
    chosen = rules.replace("all:", "every:") + ".DEFAULT_GOAL := all\n" + INCLUDE + "all: every\n"
    for number, text in enumerate((INCLUDE + rules, rules + INCLUDE, chosen)):
        host = a_host(tmp_path / str(number), text, recorder.text)
        for name in ("all", *plain):
            goals = [] if name == "all" else [name]
            done = make("-s", *goals, cwd=host, env={"PATH": recorder.path})
            assert (done.stdout, done.stderr) == (f"the hosts {name}\n", "")
    assert recorder.calls() == []


def test_the_hosts_own_goals_start_no_set_up_and_keep_their_variables(
    tmp_path: Path, recorder: Recorder
) -> None:
    rule = 'all:\n\t@echo "[$(m)] [$$m] [$$file] [$(topic)]" [$(value topic)]\n'
    host = a_host(tmp_path / "host", INCLUDE + "topic = x\n" + rule, recorder.text)
    (host / "tools" / "contextkit" / ".venv" / "contextkit.mk").unlink()
    done = make("-s", "all", "m=$(topic)y", cwd=host, env={"file": "f", "PATH": recorder.path})
    assert done.stdout == "[xy] [xy] [f] [x] [x]\n"
    assert recorder.calls() == []


def test_a_target_of_the_hosts_may_need_one_of_ours(host: Path, recorder: Recorder) -> None:
    with (host / "Makefile").open("a", encoding="utf-8") as file:
        file.write("topic = x\nrelease: context_status reminders\n\t@echo released\n")
    make("-s", "remember_later", "m=x", "topic=y", cwd=host)
    printed = make(
        "-s", "release", "version=1", cwd=host, env={"tag": "leaked", "file": "leaked"}
    ).stdout
    assert "system" in printed and "r-" in printed and printed.endswith("released\n")
    bare = a_host(host.parent / "bare", f"{INCLUDE}release: reminders\n", recorder.text)
    (bare / "tools" / "contextkit" / ".venv" / "contextkit.mk").unlink()
    make("-s", "release", cwd=bare, env={"PATH": recorder.path})
    assert [Path(call[1]).name for call in recorder.calls()] == ["setup.py", "remember_later.py"]


def test_a_host_can_call_one_of_ours_in_a_recipe(host: Path) -> None:
    with (host / "Makefile").open("a", encoding="utf-8") as file:
        file.write("note:\n\t@$(MAKE) -s remember_later m='$$5 $$(x)'\n")
    make("-s", "note", "V=1", cwd=host)
    assert notes(host) == ["$5 $(x)"]


def test_the_help_says_how_to_call_a_target_whose_name_the_host_has_taken(host: Path) -> None:
    taken = "doctor reminders session_end: ; @echo the hosts\n"
    (host / "Makefile").write_text(f"CONTEXTKIT_PREFIX := kit_\n{INCLUDE}{taken}", encoding="utf-8")
    said = make("-s", "context_help", "all=1", cwd=host).stdout
    assert "  kit_doctor " in said and "  kit_reminders " in said and "  kit_session_end " in said
    assert "  doctor " not in said and "  payload_list " in said
    assert max(map(len, said.split("\n"))) < 80


def test_the_help_inside_a_host_leaves_out_the_plain_names(host: Path) -> None:
    told = make("-s", "context_help", "all=1", cwd=host).stdout
    assert "  capsule_prompt " in told and makefiles.CHECKOUT not in told
    assert "  test " not in told and "  test " in make("-s", "help", "all=1", cwd=CHECKOUT).stdout


def test_a_second_goal_asks_help_about_one_system_and_runs_nothing(host: Path) -> None:
    for topic in ("verdicts", "toolkit"):
        told = make("context_help", topic, cwd=host)
        assert told.stdout.lower().startswith(topic.rstrip("s")) and told.stderr == ""
    assert (
        "there is no system 'checkout'"
        in make("context_help", "checkout", cwd=host, status=2).stderr
    )


# Names that are taken


DOCTOR = "doctor:\n\t@echo the hosts doctor\n"


@pytest.mark.parametrize(
    "text", [INCLUDE + DOCTOR, DOCTOR + INCLUDE, DOCTOR.replace(":", "::") + INCLUDE]
)
def test_a_target_of_the_hosts_wins_and_ours_has_a_prefix(
    text: str, tmp_path: Path, recorder: Recorder
) -> None:
    host = a_host(tmp_path / "host", text, recorder.text)
    done = make("-s", "doctor", cwd=host)
    assert (done.stdout, done.stderr, recorder.calls()) == ("the hosts doctor\n", "", [])
    assert make("-s", "context_doctor", "json=1", cwd=host).stderr == ""
    assert [call[1] for call in recorder.calls()] == ["tools/contextkit/scripts/doctor.py"]
    assert recorder.given() == [{"json": "1"}]
    (host / "Makefile").write_text("CONTEXTKIT_PREFIX := kit_\n" + text, encoding="utf-8")
    make("kit_doctor", cwd=host, env={"CONTEXTKIT_PREFIX": "no_"})
    make("capsule_check", "CONTEXTKIT_PREFIX=no_", cwd=host)
    assert len(recorder.calls()) == 2
    make("context_doctor", "json=1", cwd=host)  # as our texts name it
    assert recorder.given()[-1] == {"json": "1"}


def test_other_files_with_such_a_name_are_made_as_the_host_says(
    tmp_path: Path, recorder: Recorder
) -> None:
    rules = "all: src/handoff.o doctor.o verdict_gate.o\n%.o: %.c\n\t@echo compiled $@\n"
    host = a_host(tmp_path / "host", INCLUDE + rules, recorder.text)
    (host / "src").mkdir()
    for name in ("src/handoff.c", "doctor.c", "verdict_gate.c"):
        (host / name).touch()
    names = "src/handoff.o doctor.o verdict_gate.o".split()
    assert make("-s", cwd=host).stdout == "".join(f"compiled {name}\n" for name in names)
    assert recorder.calls() == []


@pytest.mark.parametrize("name", ["handoff", "doctor"])
def test_a_file_with_the_name_of_a_target_is_no_matter(
    name: str, tmp_path: Path, recorder: Recorder
) -> None:
    host = a_host(tmp_path / "host", INCLUDE, recorder.text)
    (host / name).mkdir()
    make("-s", name, cwd=host)
    assert len(recorder.calls()) == 1


def test_the_families_hold_every_target_and_other_makes_know_them() -> None:
    found = re.search(r"CONTEXTKIT_FAMILIES := (.*)", makefile_text().replace("\\\n", " "))
    assert found
    beginnings = [family.removesuffix("%") for family in found[1].split()]
    old = (SCRIPTS / "old-make.mk").read_text(encoding="utf-8")
    bsd = (SCRIPTS / "make.mk").read_text(encoding="utf-8")
    for target in TARGETS:
        if target.section != makefiles.CHECKOUT:
            first = target.name.split("_")[0] + "_"
            assert target.name.startswith(("context_", *beginnings))
            assert re.search(rf"\b({first}%|{target.name}\b)", old), target.name
            assert f"TARGETS:M{first}*}}" in bsd or f"TARGETS:M{target.name}}}" in bsd


# The first minute


def test_a_makefile_of_nothing_but_our_line_shows_our_help(tmp_path: Path) -> None:
    text = f"# what we use\n\n{INCLUDE}# no more\n"
    host = a_host(tmp_path / "host", text)
    assert make("-s", cwd=host).stdout.startswith("contextkit carries ")
    (host / "Makefile").write_text(text + "more:\n\t@echo more\n", encoding="utf-8")
    assert make("-s", cwd=host).stdout == "more\n"


def test_a_misspelt_target_of_the_checkout_is_told_the_nearest(
    checkout: Path, tmp_path: Path
) -> None:
    told = make("hlep", "m=$(shell touch pwned)", cwd=checkout, status=2).stderr
    assert "there is no target 'hlep' (did you mean 'help'?)" in told
    assert nothing_was_executed(tmp_path)


# Other makes


@pytest.mark.skipif(not shutil.which("bmake"), reason="no bmake")
def test_bsd_make_goes_on_and_says_what_our_targets_need(host: Path) -> None:
    def bmake(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(["bmake", *words], cwd=host, capture_output=True, encoding="utf-8")

    (host / "Makefile").write_text(f"{INCLUDE}all:\n\t@echo host\n{DOCTOR}", encoding="utf-8")
    for words, said in (([], "host\n"), (["all"], "host\n"), (["doctor"], "the hosts doctor\n")):
        done = bmake(*words)
        assert (done.returncode, done.stdout, done.stderr) == (0, said, "")
    refused = bmake("reminders")
    assert refused.returncode and "gmake reminders" in refused.stderr
    assert "host\n" not in refused.stdout.splitlines(keepends=True)


# What the Makefile says


def test_the_makefile_is_short() -> None:
    assert len((CHECKOUT / "Makefile").read_text(encoding="utf-8").splitlines()) <= 260


def test_the_lists_of_targets_are_the_documented_ones() -> None:
    found = re.search(r"^override CONTEXTKIT_OWN := (\w.*)", makefile_text(), re.M)
    own = [target.name for target in TARGETS if target.section == makefiles.CHECKOUT]
    assert found and found[1].split() == own


def test_all_names_of_the_makefile_are_ours_and_cannot_be_taken_over() -> None:
    assigned = re.findall(r"^ *((?:\w+ )*)([\w.]+) *[:?+]?= ", makefile_text(), re.M)
    for modifiers, name in assigned:
        if name.startswith("CONTEXTKIT_"):
            assert modifiers == "override ", name
        else:
            assert name in (".DEFAULT_GOAL", ".RECIPEPREFIX", "MAKEFLAGS") or re.match(
                r"contextkit\.[a-z_]+$", name
            )


def test_each_command_of_a_script_has_a_target() -> None:
    offered = {(t.script, command.name) for t in TARGETS if (command := makefiles.command_of(t))}
    for script in {target.script for target in WITH_SCRIPT} - {"context"}:
        for command in commands.program(script).every():
            hidden = (script, command.name) == ("context_sync", "background")  # for hooks alone
            assert hidden or (script, command.name) in offered


class Promise(NamedTuple):
    """A line of tests/interface.txt: what users rely on."""

    target: str
    script: str
    command: str
    variables: set[str]


def promises() -> list[Promise]:
    text = (CHECKOUT / "tests" / "interface.txt").read_text(encoding="utf-8")
    rows = [line.partition(":") for line in text.splitlines() if line and line[0] != "#"]
    found = []
    for called, _colon, variables in rows:
        target, script, *command = called.split()
        found.append(Promise(target, script, "".join(command), set(variables.split())))
    return found


@each("promise", promises())
def test_the_names_that_users_rely_on_are_there(promise: Promise) -> None:
    """A script may offer more."""
    (target,) = [target for target in TARGETS if target.name == promise.target]
    assert (target.script, target.command) == (promise.script, promise.command)
    assert promise.variables <= set(target.variables)


def test_a_second_copy_in_the_same_makefile_does_nothing(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).symlink_to(CHECKOUT)
    host = a_host(tmp_path / "host", "include ../one/Makefile\ninclude ../other/Makefile\n")
    done = make("-n", "reminders", cwd=host)
    assert done.stderr == "" and f"'{tmp_path}/one/.venv/bin/python'" in done.stdout
    assert make("-s", "context_help", cwd=host).stderr == ""

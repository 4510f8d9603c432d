#!/usr/bin/env python3
"""Run a target of the Makefile without make: `contextkit payload_show ref=latest part=summary`."""

import os
import shutil
import sys

import contextkit
from contextkit.base import makefiles, names, outgoing
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.type_names import Sequence
from contextkit.base.version import VERSION

_SCRIPTS = os.path.dirname(os.path.abspath(__file__))
_HELP = ("--help", "-h")
_PROGRAM = os.path.join(os.path.dirname(_SCRIPTS), "bin", "contextkit")


def call(words: Sequence[str]) -> tuple[list[str], dict[str, str]]:
    """Return the command line for a target and its variables, and what goes into its environment.

    A script takes its options from the variables that CONTEXTKIT_GIVEN names, as it does from make.
    """
    name, *rest = words or ["help"]
    if name in ("help", "context_help", *_HELP):
        topic = [f"--topic={word}" if "=" not in word else f"--{word}" for word in rest]
        return ["context", "help", "--host", *topic], {outgoing.COMMAND: called()}
    known = {one.name: one for one in makefiles.targets() if one.script}
    name = name if name in known else name.removeprefix("context_")
    if name not in known:
        near = names.nearest(name, known)
        raise bad_input(
            f"there is no target {names.quoted(name)}{near}: {called()} help lists them"
        )
    if rest and rest[0] in _HELP:
        return ["context", "help", f"--topic={name}"], {outgoing.COMMAND: called()}
    typed = {}
    for word in rest:
        variable, equals, value = word.partition("=")
        if not equals or not variable.isidentifier() or variable != variable.lower():
            raise bad_input(f"{names.quoted(word)}: write it as name=value")
        typed[variable] = value
    command = [word for word in (known[name].script, known[name].command) if word]
    environment = {**typed, "CONTEXTKIT_GIVEN": " ".join(typed), "CONTEXTKIT_GOALS": name}
    return command, {**environment, outgoing.COMMAND: called()}


def called() -> str:
    """Return how this program is called here: by its name if that is on the PATH, else by path."""
    there = shutil.which("contextkit")
    same = there is not None and os.path.realpath(there) == os.path.realpath(_PROGRAM)
    return "contextkit" if same else names.word(_PROGRAM)


def main(argv: Sequence[str] | None = None) -> int:
    if (sys.argv[1:] if argv is None else list(argv)) == ["--version"]:
        sys.stdout.write(f"door {VERSION}\n")
        sys.stdout.flush()
        return 0
    try:
        command, environment = call(sys.argv[1:] if argv is None else argv)
    except ContextError as error:
        sys.stderr.write(f"contextkit: {error}\n")
        return error.status
    script = os.path.join(_SCRIPTS, "context.py")
    os.execve(sys.executable, [sys.executable, script, *command], {**os.environ, **environment})


if __name__ == "__main__":
    contextkit.leave(main())

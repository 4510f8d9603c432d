"""Hostile values through every target, by the real make.

Nothing of a value is executed, nothing is written outside of the repository, and what is refused
is said in a sentence of some length that does nothing to a terminal.
"""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

from contextkit.base import commands, makefiles
from scenes import CHECKOUT, Base, environment

_LONGEST = 8_000  # characters of talk that anybody reads
_CANARY = "canary"
# Not those that wait, start programs or read what lies outside on purpose.
_LEFT_OUT = frozenset(
    "adopt unadopt context_upgrade doctor subagent_launch subagent_monitor verdict_wait"
    " memory_estimate context_help run".split()
)  # `run` runs what is typed, and passes on what that says


_SHELLS = (
    "$(shell {})", "`{}`", "$({})", "; {} ;", "'; {}; '", '"; {}; "', "x\n{}\n", "$$(shell {})",
    "${{shell {}}}", "| {}", "&& {}", "{{% {} %}}", "%({})s", "__import__('os').system('{}')",
    "!!python/object/apply:os.system ['{}']", "--help; {}",
)  # fmt: skip
_ODD = (
    "-", "--", "--root=/", "..", ".", "/", "", " ", "\t", "\\", "a\\", "'", '"', "$", "$$", "#",
    "a#b", "a\x1b[2J\x1b]0;x\x07b", "\x9b31m", "a\rb", "\u202egnp.exe", "\ufeff", "\u2028",
    "e\u0301" * 40, "😀" * 400, "A" * 100_000, "../../.git/config", ".git/hooks/post-commit",
    "con:nul", "a:b=c", "=", "%", "%s %n", "{0}", "$(MAKE)", "$@", "-1", "0", "1e9", "9" * 400,
    "nan", "[]", "{}", "null", "true", "2025-13-45T99:99:99Z", "@all", "*", "?", "~", "~root",
    "a/b", "feature/../../x", "\n", "a\n---\nb: c\n---\n", "| a | b |", "<!-- -->", "```", "P0",
    "{{ ''.__class__.__mro__ }}",
)  # fmt: skip


def _values(outside: Path) -> list[str]:
    """What is typed: commands that would leave a file, paths that lead there, and odd texts."""
    canary = outside / _CANARY
    shells = [form.format(f"touch {canary}") for form in _SHELLS]
    return [*shells, str(canary), "../" * 9 + str(canary).lstrip("/"), *_ODD]


def missing() -> str:
    """Nothing but make is needed."""
    return ""


def trial(base: Base, place: Path, draw: random.Random) -> tuple[str, list[str]]:
    """One call: what was typed, and the defects."""
    targets = [one for one in makefiles.targets() if makefiles.command_of(one)]
    target = draw.choice([one for one in targets if one.name not in _LEFT_OUT])
    command = makefiles.command_of(target)
    options = [one for one in commands.options_of(command) if one.name != "root"] if command else []
    folder = base.copy(place / "work")
    outside = place / "outside"
    outside.mkdir()
    values = _values(outside)
    chosen = draw.sample(options, min(len(options), draw.randint(1, 4)))
    chosen += [one for one in options if one.required and one not in chosen]
    typed = [f"{one.name}={draw.choice(values)}" for one in chosen]
    words = ["make", "-s", "-f", str(CHECKOUT / "Makefile"), target.name, *typed]
    done = subprocess.run(
        [os.fsencode(word) for word in words], cwd=folder, env=environment(place), input=b"word\n",
        capture_output=True, timeout=60,
    )  # fmt: skip
    return f"{target.name} {' '.join(map(ascii, typed))[:400]}", _judged(done, place, outside)


def _judged(done: subprocess.CompletedProcess[bytes], place: Path, outside: Path) -> list[str]:
    said = []
    talk = done.stderr.decode("utf-8", "replace")
    if "Traceback (most recent call last)" in talk:
        said.append(f"a traceback: {talk.strip().splitlines()[-2][:200]}")
    if os.listdir(outside):
        said.append("executed, or written outside")
    own = {"work", "outside", ".cache"}  # the last is the user's, for what was fetched
    strangers = sorted(set(os.listdir(place)) - own)
    if strangers:
        said.append(f"written outside: {', '.join(strangers)}")
    odd = sorted(
        {
            char
            for char in talk
            if char not in "\n\t" and not char.isprintable() and char != "\ufffd"
        }
    )
    if odd:
        said.append(f"control characters on stderr: {', '.join(map(ascii, odd))}")
    if len(talk) > _LONGEST:
        said.append(f"{len(talk)} characters on stderr")
    if done.returncode not in (0, 1, 2, 3):
        said.append(f"ended with {done.returncode}")
    if done.returncode and not talk.strip() and not done.stdout.strip():
        said.append(f"ended with {done.returncode} and said nothing")
    return said

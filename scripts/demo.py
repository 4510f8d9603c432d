#!/usr/bin/env python3
"""Walk through the toolkit on this checkout's own files and history, in a scratch repository.

Every step goes through the real make; what it read and wrote is observed, not told. The acts
are in `walkthrough/`, one module a system.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile

from contextkit.base import cli, git
from contextkit.base.commands import Arguments, Command, Option, Program
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout, toolkit
from walkthrough import capsules, handoffs, hosts, memory, payloads, reviews, subagents
from walkthrough.walk import Walk, indent, show, write_file

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

BRANCH = "feature/demo"
ACTS = (
    capsules.act, subagents.act, payloads.act, handoffs.act, memory.act, reviews.act, hosts.act,
)  # fmt: skip


def prepare(walk: Walk) -> None:
    """This checkout as the host repository: its commits, its files, notebooks from its history."""
    if os.path.exists(toolkit(".git")):
        clone = ["git", "clone", "-q", "--no-hardlinks", toolkit(), walk.scratch]
        subprocess.run(clone, check=True, capture_output=True)
        walk.git("checkout", "-q", "-B", BRANCH)
    else:  # unpacked from an archive
        ignore = shutil.ignore_patterns(".venv", "__pycache__", "compiled")
        shutil.copytree(toolkit(), walk.scratch, ignore=ignore)
        walk.git("init", "-q", "-b", BRANCH)
        walk.git("add", "-A")
        walk.git("commit", "-q", "-m", "contextkit, from an archive")
    notebooks = os.path.join(walk.scratch, "docs", "branches", BRANCH.replace("/", "-"))
    os.makedirs(notebooks)
    history = walk.git("log", "-6", "--reverse", "--date=format-local:%Y-%m-%d %H:%M:%S UTC",
                       "--format=## %cd%n**Work Performed**%n- %s (`%h`)%n").strip()  # fmt: skip
    with open(toolkit("CHANGELOG.md"), encoding="utf-8") as file:
        changes = file.read().partition("\n## ")[2]
    write_file(notebooks, "PROGRESS.md", f"# Branch Progress - {BRANCH}\n\n{history}\n")
    write_file(notebooks, "PLAN.md", f"# Branch Plan - {BRANCH}\n\n## {changes}")


def _check_machine(folder: str) -> None:
    """Raise ContextError where the walk could not get to its end, before it begins."""
    if os.path.exists(toolkit(".git")):
        git.check(toolkit())
    if os.statvfs(folder).f_flag & os.ST_NOEXEC:
        raise ContextError(
            f"{os.path.dirname(folder)}: is mounted noexec, and hooks are started there: name"
            " another folder, TMPDIR=DIR make demo"
        )


def walk(layout: Layout, args: Arguments) -> str:
    folder = tempfile.mkdtemp(prefix="contextkit-demo-")
    try:
        _check_machine(folder)
        taken = Walk(folder)
        prepare(taken)
        show(f"contextkit demo: this checkout's files and history, on branch {BRANCH}")
        for act in ACTS:
            act(taken)
        show(indent(taken.step("And how things stand", "context_status")))
    finally:
        if args.keep:
            cli.say(f"left in {folder}")
        else:
            shutil.rmtree(folder)
    return ""


PROGRAM = Program(
    name="demo",
    about=__doc__ or "",
    default="walk",
    commands=(
        Command(
            run=walk,
            help="take the walk",
            options=(Option(name="keep", kind="flag", help="leave the scratch repository there"),),
        ),
    ),
)


def main(argv: Sequence[str] | None = None) -> int:
    return cli.run(PROGRAM, argv)


if __name__ == "__main__":
    cli.leave(main())

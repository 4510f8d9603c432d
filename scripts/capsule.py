#!/usr/bin/env python3
"""Keep the capsules of a branch: save what an agent replied."""

from __future__ import annotations

import sys

from contextkit import branch_folders, capsule_check, capsules, cli, tokens
from contextkit.commands import Arguments, Command, Option, Program
from contextkit.errors import bad_input
from contextkit.layout import Layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def save(layout: Layout, args: Arguments) -> str:
    if sys.stdin is None or sys.stdin.isatty():
        raise bad_input("pipe the agent's reply in: your-agent < prompt.md | make capsule_save")
    text = capsules.unwrapped(cli.content("-"))
    if not text.strip():
        raise bad_input("standard input is empty: pipe the agent's reply in")
    found = capsule_check.problems(text, "reply")
    if found:
        raise bad_input("\n".join([*found, "nothing was written"]))
    capsule, _ = capsules.parse(text)
    path = _target(layout, args, capsule)
    saved = capsules.save(layout, text, path, replace=args.overwrite)
    if saved != path:
        cli.say(f"{layout.shown(path)} is there already and no stub: saved beside it")
    size = tokens.estimate(text)
    above = ": above the budget" if size > capsule.token_budget else ""
    cli.say(f"~{size} tokens of {capsule.token_budget}{above}")
    return layout.shown(saved)


def _target(layout: Layout, args: Arguments, capsule: capsules.Capsule) -> str:
    """Where the capsule belongs: `file=`, else the branch's folder under its own `created_at`."""
    if args.branch and args.branch != capsule.branch:
        raise bad_input(f"branch={args.branch}: the capsule says {capsule.branch!r}")
    if args.file:
        return branch_folders.chosen_path(layout, args.file)
    return branch_folders.path_at(layout, capsule.branch, capsule.created_at)


PROGRAM = Program(
    name="capsule",
    about=__doc__ or "",
    commands=(
        Command(
            run=save,
            help="check the agent's reply on standard input and write it",
            needs=("yaml", "frontmatter"),
            options=(
                Option(name="file", help="where to (default: the branch's folder, by created_at)"),
                Option(name="branch", help="refuse a capsule of any other branch"),
                Option(name="overwrite", kind="flag", help="replace a finished capsule there"),
            ),
        ),
    ),
)


def main(argv: Sequence[str] | None = None) -> int:
    return cli.run(PROGRAM, argv)


if __name__ == "__main__":
    cli.leave(main())

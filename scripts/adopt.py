#!/usr/bin/env python3
"""Bring contextkit into a repository: a copy of it, hooks, skills; upgrade it; take it out."""

from __future__ import annotations

import os
import sys

from contextkit.base import cli
from contextkit.base.commands import Arguments, Command, Option, Program
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.flows import adoption, changes, upgrades
from contextkit.hosts.flows.changes import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def adopt(layout: Layout, args: Arguments) -> str:
    into, folder = _place(layout, args)
    names = args.hosts or adoption.hosts_of(into, folder) or hosts.defaults()
    return _answer(adoption.adopt(into, folder, names, args.link), args.dry_run)


def unadopt(layout: Layout, args: Arguments) -> str:
    into, folder = _place(layout, args)
    return _answer(adoption.unadopt(into, folder, args.hosts, args.link), args.dry_run)


def upgrade(layout: Layout, args: Arguments) -> str:
    request = upgrades.Request(to=args.to, force=args.force, dry_run=args.dry_run)
    return upgrades.upgrade(layout.here, request)


def _place(layout: Layout, args: Arguments) -> tuple[str, str]:
    into = os.path.realpath(os.path.join(layout.here, args.into))
    return into, args.dir.rstrip("/") if args.dir else adoption.folder_of(into)


def _answer(plan: Plan, dry_run: bool) -> str:
    """The diff, after it was carried out; on a terminal it is shown first and asked about."""
    diff = changes.diff(plan)
    if dry_run or not plan.changes:
        if not dry_run:
            changes.carry_out(plan)  # a run that was killed may have left the last steps
        return diff if plan.changes else f"{diff}\nnothing to do".lstrip("\n")
    if sys.stdin.isatty() and sys.stderr.isatty():
        sys.stderr.write(f"{diff}\nwrite this? [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in ("y", "yes"):
            raise ContextError("nothing was written")
        diff = f"{len(plan.changes)} files written"
    changes.carry_out(plan)
    return diff


INTO = Option(name="into", required=True, positional=True, help="the repository's folder")
DIR = Option(
    name="dir", help="where to put the copy (default: where it is now, else tools/contextkit)"
)
LINK = Option(
    name="link", kind="flag", help="no copy: use this checkout's hooks, on this machine only"
)
DRY_RUN = Option(name="dry_run", kind="flag", help="only show what would change")
HOSTS = Option(
    name="hosts",
    kind="words",
    help=f"host names (default: {' '.join(hosts.defaults())}, or the same as before)",
)

PROGRAM = Program(
    name="adopt",
    about=__doc__ or "",
    default="adopt",
    commands=(
        Command(
            run=adopt,
            help="bring contextkit into a repository, or bring its copy up to date",
            options=(INTO, HOSTS, DIR, LINK, DRY_RUN),
        ),
        Command(
            run=unadopt,
            help="remove what adopt added; documents stay",
            options=(INTO, HOSTS, DIR, LINK, DRY_RUN),
        ),
        Command(
            run=upgrade,
            help="bring this copy or checkout up to date, and say what is new",
            options=(
                Option(name="to", help="a checkout's folder, a URL, a version (default: newest)"),
                Option(name="force", kind="flag", help="allow a downgrade"),
                DRY_RUN,
            ),
        ),
    ),
)


def main(argv: Sequence[str] | None = None) -> int:
    return cli.run(PROGRAM, argv)


if __name__ == "__main__":
    cli.leave(main())

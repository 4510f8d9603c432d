#!/usr/bin/env python3
"""Look for what is wrong: hooks, stores, versions; and say how to fix it."""

from __future__ import annotations

from contextkit.base import cli
from contextkit.base.commands import JSON, Answer, Arguments, Command, Option, Program
from contextkit.base.layout import Layout
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.flows import checkup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def examine(layout: Layout, args: Arguments) -> Answer:
    found = checkup.examine(layout, (args.host,) if args.host else hosts.names_of_hosts())
    wrong = sum(not finding.note for finding in found)
    rows = [{"id": one.area, "level": _level(one.note), "problem": one.problem,
             "mend": one.mend} for one in found]  # fmt: skip
    lines = [f"{_level(f.note)}: {f.area}: {f.problem} ({f.mend})" for f in found]
    things = "1 problem" if wrong == 1 else f"{wrong} problems"
    lines.append(things if wrong else "nothing is wrong")
    return Answer(text="\n".join(lines), status=1 if wrong else 0, data=rows)


def _level(note: bool) -> str:
    return "note" if note else "wrong"


PROGRAM = Program(
    name="doctor",
    about=__doc__ or "",
    default="examine",
    commands=(
        Command(
            run=examine,
            help="fire the hooks, check the stores, say how to fix what is wrong",
            options=(
                Option(name="host", choices=hosts.names_of_hosts(), help="only its hooks"),
                JSON,
            ),
        ),
    ),
)


def main(argv: Sequence[str] | None = None) -> int:
    return cli.run(PROGRAM, argv)


if __name__ == "__main__":
    cli.leave(main())

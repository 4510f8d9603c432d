#!/usr/bin/env python3
"""The toolkit as a whole: what is in force here, what is stored, what is missing."""

from __future__ import annotations

import os

from contextkit.base import cli
from contextkit.base.commands import JSON, Answer, Arguments, Command, Option, Program, Rows
from contextkit.base.errors import bad_input
from contextkit.base.layout import Layout
from contextkit.history import commands as history

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def init(layout: Layout, args: Arguments) -> str:
    from contextkit.toolkit.flows import overview

    done = overview.initialise(layout, dry_run=args.dry_run)
    would = "would be " if args.dry_run else ""
    lines = [f"{path}: {state if state == 'kept' else would + state}" for path, state in done]
    return "\n".join(lines)


def config(layout: Layout, args: Arguments) -> Rows:
    from contextkit.toolkit.flows import overview

    keys = ("id", "value", "from")
    rows = [dict(zip(keys, row, strict=True)) for row in overview.settings_in_force(layout)]
    shown = ("value", "value", lambda row: _shown(row["value"]))
    return Rows(columns=(("setting", "id"), ("from", "from"), shown), rows=rows)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {one}" for name, one in value.items())
    return (", ".join(value) if isinstance(value, tuple) else str(value)) or "(none)"


def status(layout: Layout, args: Arguments) -> Rows:
    from contextkit.toolkit.flows import overview

    return Rows(columns=(("system", "id"), ("status", "status")), rows=overview.status(layout))


def session(layout: Layout, args: Arguments) -> Answer:
    from contextkit.base import sessions

    name, origin = sessions.named(layout)
    data = {"session": name, "from": origin}
    said = f"session {name} (from {origin})" if name else f"no session: {origin}"
    return Answer(text=said, data=data)


def session_end(layout: Layout, args: Arguments) -> str:
    from contextkit.hosts.flows import session_end as session_ending

    return "\n".join(session_ending.end(layout, args.session))


def help_(layout: Layout, args: Arguments) -> str:
    from contextkit.base import makefiles

    return makefiles.help_text(inside_host=args.host)


def unknown_target(layout: Layout, args: Arguments) -> str:
    from contextkit.base import makefiles

    raise bad_input(makefiles.unknown_goals(os.environ.get("CONTEXTKIT_GOALS", "").split()))


PROGRAM = Program(
    name="context",
    about=__doc__ or "",
    commands=(
        Command(
            run=init,
            help="make the documented files that are missing; refresh unedited copies of ours",
            options=(Option(name="dry_run", kind="flag", help="only show what would be done"),),
        ),
        Command(run=config, help="every limit and place in force, and why", options=(JSON,)),
        Command(run=status, help="one line per system: stored, open, stale", options=(JSON,)),
        *history.COMMANDS,
        Command(
            run=session,
            help="which session this shell is in, and where that comes from",
            options=(JSON,),
        ),
        Command(
            run=session_end,
            help="end a session: remove its payloads and state",
            options=(Option(name="session", required=True, help="the session's id"),),
        ),
        Command(
            run=help_,
            help="the targets of the Makefile by system",
            options=(Option(name="host", kind="flag", help="as seen from a host's Makefile"),),
        ),
        Command(run=unknown_target, help="say which target a misspelt one is nearest to"),
    ),
)


def main(argv: Sequence[str] | None = None) -> int:
    return cli.run(PROGRAM, argv)


if __name__ == "__main__":
    cli.leave(main())

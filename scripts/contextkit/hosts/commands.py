"""The commands of `adopt.py` and `doctor.py`."""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys

from contextkit.base import cli, makefiles, names, outgoing
from contextkit.base.commands import DRY_RUN, JSON, Answer, Arguments, Option, Program, command
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Iterator
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents import vendored
from contextkit.hosts.flows import adoption, changes, upgrades
from contextkit.hosts.flows.changes import Plan
from contextkit.payloads.flows import retention

_PLACE = (
    Option("into", "the repository's folder", required=True, positional=True),
    Option(
        "hosts",
        f"host names (default: {' '.join(hosts.defaults())}, or the same as before)",
        kind="words",
    ),
    Option("dir", "its folder there (default: where it is now, else tools/contextkit)"),
    Option("link", "no files: use this checkout's hooks, on this machine only", kind="flag"),
    DRY_RUN,
)
_COPY = Option("copy", "a copy of the toolkit, for machines without a network", kind="flag")


@command("bring contextkit into a repository, or update it there", *_PLACE, _COPY)
def adopt(layout: Layout, args: Arguments) -> str:
    into, folder = _place(layout, args)
    with _held(into):
        plan = adoption.adopt(into, folder, args.hosts, args.link, args.copy)
        done = _carried_out(plan, args.dry_run)
    if plan.changes and not (args.dry_run or args.link):
        cli.say("commit all of it, or clones will not have it")
    fresh = tuple(name for name in plan.record.hosts if name not in plan.before.hosts)
    offers = adoption.offered(fresh, args.link) if plan.changes and not args.dry_run else []
    return "\n".join([done, *(makefiles.renamed(line, into, folder) for line in offers)])


@command("remove what adopt added; documents stay", *_PLACE)
def unadopt(layout: Layout, args: Arguments) -> str:
    into, folder = _place(layout, args)
    with _held(into):
        return _carried_out(adoption.unadopt(into, folder, args.hosts, args.link), args.dry_run)


def _place(layout: Layout, args: Arguments) -> tuple[str, str]:
    """The repository, and the folder in it for our copy."""
    into = os.path.realpath(os.path.join(layout.here, args.into))
    return into, args.dir.rstrip("/") if args.dir else adoption.record_of(into).folder


@contextlib.contextmanager
def _held(into: str) -> Iterator[None]:
    """Let one process at a time change a repository; the lock is on the folder itself."""
    if not os.path.isdir(into):
        yield  # the plan refuses it
        return
    descriptor = os.open(into, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a network drive without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _carried_out(plan: Plan, dry_run: bool) -> str:
    """Carry out a plan and return what it changed (a dry run: the diff); a terminal is asked."""
    shown = changes.told(plan, whole=dry_run)
    if dry_run or not plan.changes:
        if not dry_run:
            changes.carry_out(plan)  # a run that was killed may have left the last steps
        return shown if plan.changes else f"{shown}\nnothing to do".lstrip("\n")
    if sys.stdin.isatty() and sys.stderr.isatty():
        sys.stderr.write(f"{outgoing.told(shown)}\n")
        if not cli.confirm("write this? (dry_run=1 shows every line)"):
            raise ContextError("nothing was written")
        shown = f"{names.counted(len(plan.changes), 'file')} written"
    if plan.record.commit:
        vendored.place(vendored.pin())
    changes.carry_out(plan)
    return shown


@command(
    "bring this copy or checkout up to date, and say what is new",
    Option("to", "a checkout's folder, a URL, a version (default: newest)"),
    Option("force", "allow a downgrade", kind="flag"),
    DRY_RUN,
)
def upgrade(layout: Layout, args: Arguments) -> str:
    return upgrades.upgrade(layout, args)


@command(
    "fire the hooks, check the stores, say how to fix what is wrong",
    Option("host", "only its hooks", choices=hosts.names_of_hosts()),
    Option("mend", "first end unused sessions, fix manifests", kind="flag"),
    JSON,
)
def examine(layout: Layout, args: Arguments) -> Answer:
    from contextkit.hosts.flows import doctor  # which asks every system

    if args.mend:
        cli.say_each(retention.mend(layout, names.now()))
    findings = doctor.examine(layout, (args.host,) if args.host else hosts.names_of_hosts())
    wrong = sum(not finding.note for finding in findings)
    rows = [{"id": item.area, "level": "note" if item.note else "wrong", "problem": item.problem,
             "mend": item.mend} for item in findings]  # fmt: skip
    lines = ["{level}: {id}: {problem} ({mend})".format_map(row) for row in rows]
    lines.append(names.counted(wrong, "problem") if wrong else "nothing is wrong")
    return Answer(text="\n".join(lines), status=1 if wrong else 0, data=rows)


ADOPT = Program(
    name="adopt",
    about="Bring contextkit into a repository (wrapper, hooks, skills), upgrade it, or remove it.",
    default="adopt",
    commands=(adopt, unadopt, upgrade),
)

DOCTOR = Program(
    name="doctor",
    about="Find what is wrong with hooks, stores and versions, and say how to fix it.",
    default="examine",
    commands=(examine,),
)

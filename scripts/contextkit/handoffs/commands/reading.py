"""The commands of `handoff` for the artifacts that are there: look, check, mark, count."""

from __future__ import annotations

import os

from contextkit.base import addresses, cli, ledger, names, tokens
from contextkit.base.commands import JSON, Answer, Arguments, Command, Option, Rows
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.handoffs.documents import state as handoff_state


def list_(layout: Layout, args: Arguments) -> Rows:
    state, said = handoff_state.current(layout)
    found, unread = handoffs.read(layout, handoff_state.everywhere(state))
    cli.say_each((*said, *unread))
    newest = next(reversed(found), "")
    rows = [
        {"id": name.removesuffix(".yaml"),
         "path": layout.shown(os.path.join(layout.handoffs, name)), **vars(handoff),
         "tokens": handoffs.measure(handoff),
         "state": "consumed" if handoff.consumed else "newest" if name == newest else "kept"}
        for name, handoff in found.items()
    ]  # fmt: skip
    return Rows(
        columns=(("id", "id"), ("state", "state"),
                 ("tokens", "tokens", lambda row: f"~{row['tokens']}"),
                 ("story", "story_id"), ("next action", "next_action")),
        rows=rows,
        nothing="No handoffs.",
    )  # fmt: skip


def show(layout: Layout, args: Arguments) -> Answer:
    path, text = _chosen(layout, args)
    ref = addresses.of(layout, path, "handoff")
    ledger.note(layout, ledger.SHOWN, ref, tokens=tokens.estimate(text))
    return Answer(text=text, exact=True, data=lambda: [_row(layout, path, text)])


def _row(layout: Layout, path: str, text: str) -> dict[str, object]:
    handoff = handoffs.parse(text, layout.shown(path))
    identity = os.path.basename(path).removesuffix(".yaml")
    return {"id": identity, "path": layout.shown(path), **vars(handoff)}


def check(layout: Layout, args: Arguments) -> Answer:
    from contextkit.handoffs.documents import check as handoff_check

    name = ""
    if args.file or args.ref or not _piped():
        if args.file == "-":
            text = cli.content("-")
        else:
            path, text = _chosen(layout, args)
            name = os.path.basename(path) if os.path.dirname(path) == layout.handoffs else ""
    else:
        text = cli.content("")
    found = handoff_check.complaints(text, layout.limits, name)
    status = 1 if any(kind == "error" for kind, _ in found) else 0
    rows = [{"id": number, "kind": k, "text": t} for number, (k, t) in enumerate(found, 1)]
    lines = [f"{kind}: {text}" for kind, text in found]
    return Answer(text="\n".join(lines), status=status, data=rows)


def _piped() -> bool:
    """Whether a document waits on standard input."""
    import sys
    from stat import S_ISFIFO, S_ISREG

    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (AttributeError, OSError, ValueError):
        return False
    return S_ISFIFO(mode) or S_ISREG(mode)


def consume(layout: Layout, args: Arguments) -> str:
    from contextkit.base import files
    from contextkit.handoffs.documents import check as handoff_check

    with handoff_state.locked(layout):
        path, text = _chosen(layout, args)
        where = layout.shown(path)
        if handoffs.parse(text, where).consumed:
            cli.say(f"{where}: was consumed already; nothing changed")
        else:
            files.write(path, handoff_check.consumed(text, where))
            ledger.note(layout, ledger.CONSUMED, addresses.of(layout, path, "handoff"))
    return where


def stats(layout: Layout, args: Arguments) -> Rows:
    from contextkit.handoffs.flows import savings

    if args.profiles:
        rows = savings.of_profiles(layout, args.profiles, args.tokens)
    else:
        rows, missing = savings.recorded(layout)
        cli.say_each(missing)
    return Rows(
        columns=(("switch", "switch"), ("without", "without", lambda r: f"~{r['without']}"),
                 ("with", "with_handoff", lambda r: f"~{r['with_handoff']}"),
                 ("saved", "saved_percent", _percent)),
        rows=[
            {"id": number, **vars(row), "saved_percent": row.percent}
            for number, row in enumerate(rows, start=1)
        ],
        nothing="No switches are recorded.",
        below="\n(estimated tokens)",
    )  # fmt: skip


def _percent(row: dict[str, object]) -> str:
    saved = row["saved_percent"]
    return "not known" if saved is None else f"{saved} %"


def _chosen(layout: Layout, args: Arguments) -> tuple[str, str]:
    """The path and text of the artifact that `file=` or `ref=` names, the newest by default."""
    if args.file and args.ref:
        raise bad_input("file and ref name the same thing twice: give one of them")
    if args.file == "-":
        raise bad_input("file: an artifact is a file here, not standard input")
    if args.file:
        path = layout.typed(args.file, "file")
        if not os.path.isfile(path):
            raise bad_input(f"file: there is no file {args.file!r}")
    else:
        name = _picked(layout, args.ref)
        path = os.path.join(layout.handoffs, name)
    return path, handoffs.load_text(path, layout.shown(path))


def _picked(layout: Layout, ref: str) -> str:
    """The name of the artifact that `ref` means: `latest`, `unconsumed`, its id, or its path.

    Raises ContextError where there is none.
    """
    ref = addresses.bare(ref, "handoff")
    state, _ = handoff_state.current(layout)
    if ref in ("", "latest", "unconsumed"):
        for name in reversed(handoff_state.everywhere(state)):
            if ref != "unconsumed" or not _consumed(layout, name):
                return name
        raise ContextError(f"there is no {ref or 'latest'} handoff here")
    wanted = os.path.basename(ref)
    wanted = wanted if wanted.endswith(".yaml") else wanted + ".yaml"
    known = handoff_state.everywhere(state)
    if wanted in known:
        return wanted
    there = ", ".join(name.removesuffix(".yaml") for name in known)
    raise ContextError(
        f"there is no handoff {names.one_line(ref)[:80]!r}; there are: {there or 'none'}"
    )


def _consumed(layout: Layout, name: str) -> bool:
    try:
        return handoffs.load(layout, name).consumed
    except ContextError:
        return True  # what cannot be read waits for nobody


CHOICE = (
    Option(name="ref", positional=True, help="latest (default), unconsumed, or an id"),
    Option(name="file", help="an artifact anywhere in the repository"),
)

COMMANDS = (
    Command(run=list_, help="the artifacts that are kept, oldest first", options=(JSON,)),
    Command(run=show, help="an artifact as it stands", options=(*CHOICE, JSON)),
    Command(
        run=check,
        needs=("yaml",),
        help="what is wrong with an artifact or a draft",
        options=(*CHOICE, JSON),
    ),
    Command(run=consume, help="mark an artifact as acted upon", options=CHOICE),
    Command(
        run=stats,
        help="tokens with and without handoffs, per switch",
        options=(
            Option(
                name="profiles",
                kind="words",
                help="files of profiles in order (default: the switches recorded here)",
            ),
            Option(name="tokens", kind="whole", help="of an artifact (default: as they are)"),
            JSON,
        ),
    ),
)

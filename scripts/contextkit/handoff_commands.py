"""Hand over from one agent to the next: an artifact of at most 500 tokens, not a whole profile."""

from __future__ import annotations

import os

from contextkit import cli, handing_over, handoffs, names, packages, redaction
from contextkit.commands import JSON, REDACT, Answer, Arguments, Command, Option, Program
from contextkit.errors import bad_input
from contextkit.layout import Layout

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.handoff_fields import Fields

_TEXTS = {
    "from": "from_agent",
    "to": "to_agent",
    "story_id": "story_id",
    "story_path": "story_path",
    "story_status": "story_status",
    "task": "current_task",
    "branch": "branch",
    "next_action": "next_action",
}
_LISTS = {"decisions": "decisions", "files": "files_modified", "blockers": "blockers"}


def write(layout: Layout, args: Arguments) -> str:
    done = handing_over.hand_over(
        layout, _fields(layout, args), names.now(), args.no_story, args.strict
    )
    _say(done.said)
    return layout.shown(done.path)


def switch(layout: Layout, args: Arguments) -> Answer:
    fields = _fields(layout, args)
    prompt = fields.get("to_agent", "")
    called = handing_over.called(layout, prompt)
    if called:
        fields["to_agent"] = called[0]
        if called[1]:
            fields.setdefault("next_action", called[1])
    elif _is_prompt(prompt):
        cli.say("no agent is called at the beginning of this prompt: no switch")
        return Answer(text="")
    done = handing_over.switch(
        layout, fields, names.now(), args.profile, args.no_story, args.strict
    )
    _say(done.said)
    if done.path:
        cli.say(f"artifact: {layout.shown(done.path)}")
    return Answer(text=done.text, exact=True)


def _is_prompt(text: str) -> bool:
    """Whether a text that calls nobody is a prompt, and not a mistyped id."""
    return len(text.split()) > 1 or "@" in text.strip()[1:]


def context(layout: Layout, args: Arguments) -> Answer:
    made = handing_over.context(layout, args.to, args.profile)
    _say(made.said)
    if args.json:
        from contextkit import formats

        return Answer(text=formats.to_json([{"id": args.to, "text": made.text}]))
    return Answer(text=made.text, exact=True)


def list_(layout: Layout, args: Arguments) -> str:
    from contextkit import handoff_state, tables

    state, said = handoff_state.current(layout)
    found, unread = handoffs.load_all(layout, handoff_state.retained(layout, state))
    _say((*said, *unread))
    rows = [(name.removesuffix(".yaml"), handoff) for name, handoff in found.items()]
    if args.json:
        from contextkit import formats

        return formats.to_json([
            {"id": identity, "path": _shown(layout, identity), **vars(handoff),
             "tokens": handoffs.measure(handoff)}
            for identity, handoff in rows
        ])  # fmt: skip
    newest = rows[-1][0] if rows else ""
    cells = [
        (
            identity,
            "consumed" if handoff.consumed else "newest" if identity == newest else "kept",
            f"~{handoffs.measure(handoff)}",
            handoff.story_id,
            handoff.next_action,
        )
        for identity, handoff in rows
    ]
    return tables.table(("id", "state", "tokens", "story", "next action"), cells) or "No handoffs."


def _shown(layout: Layout, identity: str) -> str:
    return layout.shown(os.path.join(layout.handoffs, identity + ".yaml"))


def show(layout: Layout, args: Arguments) -> Answer:
    path, text = _chosen(layout, args)
    if args.json:
        from contextkit import formats

        handoff = handoffs.parse(text, layout.shown(path))
        identity = os.path.basename(path).removesuffix(".yaml")
        row = {"id": identity, "path": layout.shown(path), **vars(handoff)}
        return Answer(text=formats.to_json([row]))
    return Answer(text=text, exact=True)


def check(layout: Layout, args: Arguments) -> Answer:
    from contextkit import handoff_check

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
    if args.json:
        from contextkit import formats

        rows = [{"id": number, "kind": k, "text": t} for number, (k, t) in enumerate(found, 1)]
        return Answer(text=formats.to_json(rows), status=status)
    return Answer(text="\n".join(f"{kind}: {text}" for kind, text in found), status=status)


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
    from contextkit import files, handoff_check, handoff_state

    with handoff_state.locked(layout):
        path, text = _chosen(layout, args)
        where = layout.shown(path)
        if handoffs.parse(text, where).consumed:
            cli.say(f"{where}: was consumed already; nothing changed")
        else:
            files.write(path, handoff_check.consumed(text, where))
    return where


def _chosen(layout: Layout, args: Arguments) -> tuple[str, str]:
    """The path and text of the artifact that `file=` or `ref=` names, the newest by default."""
    from contextkit import handoff_state

    if args.file and args.ref:
        raise bad_input("file and ref name the same thing twice: give one of them")
    if args.file == "-":
        raise bad_input("file: an artifact is a file here, not standard input")
    if args.file:
        path = layout.typed(args.file, "file")
        if not os.path.isfile(path):
            raise bad_input(f"file: there is no file {args.file!r}")
    else:
        name = handoff_state.pick(layout, args.ref)
        path = os.path.join(layout.handoffs, name)
    return path, handoffs.load_text(path, layout.shown(path))


def stats(layout: Layout, args: Arguments) -> str:
    from contextkit import handoff_savings, tables

    if args.profiles:
        rows = handoff_savings.of_profiles(layout, args.profiles, args.tokens)
    else:
        rows, missing = handoff_savings.recorded(layout)
        _say(missing)
    if args.json:
        from contextkit import formats

        return formats.to_json([
            {"id": number, **vars(row), "saved_percent": row.percent}
            for number, row in enumerate(rows, start=1)
        ])  # fmt: skip
    cells = [
        (row.switch, f"~{row.without}", f"~{row.with_handoff}", f"{row.percent} %") for row in rows
    ]
    table = tables.table(("switch", "without", "with", "saved"), cells)
    return f"{table}\n\n(estimated tokens)" if rows else "No switches are recorded."


def reset(layout: Layout, args: Arguments) -> str:
    done = handing_over.reset(layout)
    _say(done.said)
    return done.text


def _fields(layout: Layout, args: Arguments) -> Fields:
    """What was typed, over what the draft says; a list of one `none` is an empty list."""
    from contextkit import handoff_fields

    fields: Fields = {}
    if args.draft:
        packages.need("yaml")  # it may start this command again: before standard input is read
        fields, dropped = handoff_fields.read(cli.content(args.draft, "draft"), "draft")
        _say(dropped)
    given = vars(args)
    for option, name in _TEXTS.items():
        if given[option].strip():
            fields[name] = given[option]
    for option, name in _LISTS.items():
        values = given[option]
        if values:
            nothing = len(values) == 1 and handoff_fields.is_nothing(values[0])
            fields[name] = () if nothing else values
    checked: Fields = redaction.typed(fields, layout.limits.secrets_allow, args.redact)
    return checked


def _say(lines: tuple[str, ...]) -> None:
    for line in lines:
        cli.say(names.one_line(line))


TO = Option(name="to", positional=True, help="the incoming agent: qa, @qa, /AIOS:agents:qa")
FIELDS = (
    Option(name="from", help="who hands over (default: the active agent)"),
    Option(name="story_id", help="the story (default: as its file says)"),
    Option(name="story_path", help="the story's file; id, status and task are read from it"),
    Option(name="story_status", help="the state of the story"),
    Option(name="task", help="the task at hand"),
    Option(name="branch", help="default: the current one"),
    Option(name="decisions", kind="items", single="decision", help="what was decided, at most 5"),
    Option(
        name="files",
        kind="items",
        single="file-modified",
        help="what was created or modified, at most 10 (default: as git says; none: no files)",
    ),
    Option(
        name="blockers",
        kind="items",
        single="blocker",
        help="what stops the work, at most 3 (default: verdicts to look at; none: no blockers)",
    ),
    Option(name="next_action", help="what the incoming agent should do, one or two sentences"),
    Option(name="draft", help="the same fields as a YAML or JSON document, - for standard input"),
    Option(name="no_story", kind="flag", help="there is no story"),
    Option(name="strict", kind="flag", help="refuse what is over a limit instead of cutting it"),
    REDACT,
)
PROFILE = Option(name="profile", help="the incoming agent's profile (default: handoff_profiles)")
CHOICE = (
    Option(name="ref", positional=True, help="latest (default), unconsumed, or an id"),
    Option(name="file", help="an artifact anywhere in the repository"),
)

PROGRAM = Program(
    name="handoff",
    about=__doc__ or "",
    commands=(
        Command(run=write, help="write an artifact; its receiver is active", options=(TO, *FIELDS)),
        Command(
            run=switch,
            help="make an agent active: artifact first, then its context",
            options=(TO.replace(required=True), PROFILE, *FIELDS),
        ),
        Command(
            run=context,
            help="the context of an agent, for artifacts already written",
            options=(TO.replace(required=True), PROFILE, JSON),
        ),
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
        Command(run=reset, help="no agent is active any more: the next one is a first one"),
    ),
)

"""Hand over from one agent to the next: an artifact of at most 500 tokens, not a whole profile."""

from __future__ import annotations

from contextkit.base import agents, cli, names, packages, redaction
from contextkit.base.commands import JSON, REDACT, Answer, Arguments, Command, Option, Program
from contextkit.base.layout import Layout
from contextkit.handoffs.commands import reading
from contextkit.handoffs.flows import incoming
from contextkit.handoffs.flows import switch as switching

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.handoffs.documents.fields import Fields

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
_LISTS = {
    "decisions": "decisions",
    "files": "files_modified",
    "blockers": "blockers",
    "rejected": "rejected",
    "resolved": "resolved",
}


def write(layout: Layout, args: Arguments) -> str:
    fields = _fields(layout, args)
    done = switching.hand_over(layout, fields, names.now(), args.no_story, args.strict)
    cli.say_each(done.said)
    return layout.shown(done.path)


def switch(layout: Layout, args: Arguments) -> Answer:
    fields = _fields(layout, args)
    prompt = fields.get("to_agent", "")
    called = agents.recognised(prompt, layout.limits.handoff_prefixes)
    if called:
        fields["to_agent"] = called[0]
        if called[1]:
            fields.setdefault("next_action", called[1])
    elif _is_prompt(prompt):
        cli.say("no agent is called at the beginning of this prompt: no switch")
        return Answer(text="")
    done = switching.switch(layout, fields, names.now(), args.profile, args.no_story, args.strict)
    cli.say_each(done.said)
    if done.path:
        cli.say(f"artifact: {layout.shown(done.path)}")
    return Answer(text=done.text, exact=True)


def _is_prompt(text: str) -> bool:
    """Whether a text that calls nobody is a prompt, and not a mistyped id such as `QA Engineer`."""
    return len(text.split()) > 2 or "@" in text.strip()[1:]


def context(layout: Layout, args: Arguments) -> Answer:
    made = incoming.of(layout, args.to, args.profile)
    cli.say_each(made.said)
    return Answer(text=made.text, exact=True, data=[{"id": args.to, "text": made.text}])


def undo(layout: Layout, args: Arguments) -> str:
    done = switching.undo(layout)
    cli.say_each(done.said)
    return done.text


def reset(layout: Layout, args: Arguments) -> str:
    done = switching.reset(layout)
    cli.say_each(done.said)
    return done.text


def _fields(layout: Layout, args: Arguments) -> Fields:
    """What was typed, over what the draft says; a list of one `none` is an empty list."""
    from contextkit.handoffs.documents import fields as handoff_fields

    fields: Fields = {}
    if args.draft:
        packages.need("yaml")  # it may start this command again: before standard input is read
        fields, dropped = handoff_fields.read(cli.content(args.draft, "draft"), "draft")
        cli.say_each(dropped)
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
        help="what stops the work, at most 3 (default: verdicts to look at; none: no new ones)",
    ),
    Option(name="resolved", kind="items", help="open blockers that are done, by how they begin"),
    Option(name="rejected", kind="items", help="approaches that were tried and dropped, at most 3"),
    Option(name="next_action", help="what the incoming agent should do, one or two sentences"),
    Option(name="draft", help="the same fields as a YAML or JSON document, - for standard input"),
    Option(name="no_story", kind="flag", help="there is no story"),
    Option(name="strict", kind="flag", help="refuse what is over a limit instead of cutting it"),
    REDACT,
)
PROFILE = Option(name="profile", help="the incoming agent's profile (default: handoff_profiles)")
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
        *reading.COMMANDS,
        Command(run=undo, help="take back the last switch: its artifact and who is active"),
        Command(run=reset, help="no agent is active any more: the next one is a first one"),
    ),
)

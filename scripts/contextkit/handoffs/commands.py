"""Hand over from one agent to the next: an artifact of at most 500 tokens, not a whole profile."""

from __future__ import annotations

import os

from contextkit.base import addresses, agents, cli, ledger, names, redaction, tokens
from contextkit.base.commands import JSON, REDACT, Answer, Arguments, Option, Program, Rows, command
from contextkit.base.errors import ContextError, bad_input, remark
from contextkit.base.layout import Layout
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.handoffs.documents import state as handoff_state
from contextkit.handoffs.flows import incoming
from contextkit.handoffs.flows import switch as switching

NOBODY = "none"  # in place of an agent: nobody is active any longer
TO = Option("to", "the incoming agent: qa, @qa, /AIOS:agents:qa", positional=True)
FIELDS = (
    Option("from", "who is handing over (default: the active agent)"),
    Option("story_id", "the story's id (default: from its file)"),
    Option("story_path", "the story's file; its id, status and task are read"),
    Option("story_status", "the story's status"),
    Option("task", "the current task"),
    Option("branch", "default: the current one"),
    Option("decisions", "decisions made, at most 5", kind="items", single="decision"),
    Option(
        "files",
        "files created or modified, at most 10 (default: from git; none: no files)",
        kind="paths",
        single="file-modified",
    ),
    Option(
        "blockers",
        "what blocks the work, at most 3, besides open verdicts; none closes the others",
        kind="items",
        single="blocker",
    ),
    Option(
        "resolved",
        "blockers that are resolved, by first words or number, maybe with the answer: 2: 19 %",
        kind="items",
    ),
    Option("rejected", "approaches tried and dropped, at most 3", kind="items"),
    Option("next_action", "what the incoming agent should do, one or two sentences"),
    Option("draft", "a YAML or JSON document with the same fields, or - for stdin"),
    Option("no_story", "without the story of the last artifact", kind="flag"),
    Option("strict", "refuse what is over a limit instead of cutting it", kind="flag"),
    REDACT,
)
PROFILE = Option("profile", "the incoming agent's profile (default: handoff_profiles)")
CHOICE = (
    Option("ref", "latest (default), unconsumed, or an id", positional=True),
    Option("file", "an artifact anywhere in the repository"),
)


@command(
    "write an artifact; its receiver becomes active",
    *(option._replace(required=True, unless="draft") if option.name in ("to", "next_action")
      else option for option in (TO, *FIELDS)),
)  # fmt: skip
def write(layout: Layout, args: Arguments) -> str:
    fields = _fields(layout, args)
    path = switching.hand_over(layout, fields, names.now(), args.no_story, args.strict)
    return layout.shown(path)


@command(
    "switch to an agent: write the artifact, then print its context",
    TO._replace(required=True),
    PROFILE,
    *FIELDS,
)
def switch(layout: Layout, args: Arguments) -> str | Answer | Rows:
    if args.to == NOBODY:
        return reset.run(layout, args)
    fields = _fields(layout, args)
    prompt = fields.get("to_agent", "")
    called = agents.recognized(prompt, layout.limits.handoff_prefixes)
    if called:
        fields["to_agent"] = called[0]
        if called[1]:
            fields.setdefault("next_action", called[1])
    elif len(prompt.split()) > 2 or "@" in prompt.strip()[1:]:  # more than a mistyped `QA Engineer`
        cli.say("this prompt does not start with an agent's name: no switch")
        return Answer(text="")
    now = names.now()
    path, text = switching.switch(layout, fields, now, args.profile, args.no_story, args.strict)
    if path:
        remark(f"artifact: {layout.shown(path)}")
    return Answer(text=text, exact=True, quoted=True)


@command(
    "print an agent's context from artifacts already written",
    TO._replace(required=True),
    PROFILE,
    JSON,
)
def context(layout: Layout, args: Arguments) -> Answer:
    text, has_artifacts = incoming.of(layout, args.to, args.profile)
    data = [{"id": args.to, "text": text}]
    return Answer(text=text, exact=True, quoted=True, data=data, nothing=not has_artifacts)


@command("undo the last switch and remove its artifact")
def undo(layout: Layout, args: Arguments) -> str:
    with handoff_state.locked(layout):
        undone, name = handoff_state.undo(layout, handoff_state.current(layout))
    active = f"{undone.active} is active" if undone.active else "no agent is active"
    gone = f"{layout.shown(os.path.join(layout.handoffs, name))} is gone; " if name else ""
    return f"{gone}{active}"


@command("deactivate the current agent", now=f"handoff_switch to={NOBODY}")
def reset(layout: Layout, args: Arguments) -> str:
    """End the session: no agent is active, artifacts stay. Says which agent was."""
    agent = handoff_state.reset(layout)
    return f"{agent} is no longer active" if agent else "no agent was active"


def _fields(layout: Layout, args: Arguments) -> handoffs.Fields:
    """The typed fields, with those of the draft as defaults; the list `none` is empty."""
    fields: handoffs.Fields = {}
    if args.draft:
        from contextkit.base import packages

        packages.need("yaml")  # may restart this command, so run it before reading stdin
        fields, dropped = handoffs.read_fields(cli.content(args.draft, "draft"), "draft")
        remark(*dropped)
    for option in (TO, *FIELDS):
        value = vars(args)[option.name]
        if option.name in handoffs.TEXT_KEYS and value.strip():
            fields[handoffs.TEXT_KEYS[option.name]] = value
        elif option.name in handoffs.LIST_KEYS and value:
            alone = value[0] if len(value) == 1 else "more"
            listed = () if handoffs.is_nothing(alone) else value
            if not handoffs.is_unsaid(alone):
                fields[handoffs.LIST_KEYS[option.name]] = listed
    checked: handoffs.Fields = redaction.typed(fields, layout.limits.secrets_allow, args.redact)
    return checked


@command("list the artifacts, oldest first", JSON)
def list_(layout: Layout, args: Arguments) -> Rows:
    state = handoff_state.current(layout)
    artifacts = {name: state.artifacts[name] for name in state.everywhere()}
    newest = next(reversed(artifacts), "")
    rows = [
        {**_row(layout, os.path.join(layout.handoffs, name), handoff),
         "tokens": handoffs.measure(handoff, layout.limits.tokenizer),
         "state": "consumed" if handoff.consumed else "newest" if name == newest else "kept",
         "ref": addresses.of(layout, os.path.join(layout.handoffs, name), "handoff")}
        for name, handoff in artifacts.items()
    ]  # fmt: skip
    return Rows(
        columns=(("id", "id"), ("state", "state"),
                 ("tokens", "tokens", lambda row: f"~{row['tokens']}"),
                 ("story", "story_id"), ("next action", "next_action")),
        rows=rows,
        nothing="No handoffs.",
    )  # fmt: skip


@command("print an artifact", *CHOICE, JSON)
def show(layout: Layout, args: Arguments) -> Answer:
    path, text = _chosen(layout, args)
    ref = addresses.of(layout, path, "handoff")
    ledger.note(layout, ledger.SHOWN, ref, tokens=tokens.estimate(text))
    if not args.file and "\n  consumed: false\n" in text:
        name = os.path.basename(path).removesuffix(".yaml")
        cli.say(f"after acting on it: `{names.call('handoff_consume', ref=name)}`")
    return Answer(
        text=text, exact=True,
        data=lambda: [_row(layout, path, handoffs.parse(text, layout.shown(path)))],
    )  # fmt: skip


def _row(layout: Layout, path: str, handoff: handoffs.Handoff) -> dict[str, object]:
    identity = os.path.basename(path).removesuffix(".yaml")
    return {"id": identity, "path": layout.shown(path), **vars(handoff)}


@command("check an artifact or a draft", *CHOICE, JSON, needs=("yaml",))
def check(layout: Layout, args: Arguments) -> Answer:
    name, is_newest = "", not (args.file or args.ref)
    if args.file == "-" or (is_newest and cli.is_piped()):
        text = cli.content("-")
    else:
        path, text = _chosen(layout, args)
        name = os.path.basename(path) if os.path.dirname(path) == layout.handoffs else ""
    faults = handoffs.complaints(text, layout.limits, name)
    rows = [{"id": number, "kind": k, "text": t} for number, (k, t) in enumerate(faults, 1)]
    lines = [f"{kind}: {text}" for kind, text in faults]
    status = int(any(kind == "error" for kind, _ in faults))
    return Answer(text="\n".join(lines), status=status, data=rows)


@command("mark an artifact as acted upon", *CHOICE)
def consume(layout: Layout, args: Arguments) -> str:
    with handoff_state.locked(layout):
        path, _ = _chosen(layout, args)
        where = layout.shown(path)
        if not handoffs.consume(layout, path):
            cli.say(f"{where}: was already consumed; nothing changed")
    return where


@command(
    "compare tokens with and without handoffs, per switch",
    Option("profiles", "files in order (default: the switches recorded here)", kind="words"),
    Option("tokens", "of each artifact (default: as measured)", kind="whole"),
    JSON,
)
def stats(layout: Layout, args: Arguments) -> Rows:
    if args.profiles:
        rows = incoming.of_profiles(layout, args.profiles, args.tokens)
    else:
        rows = incoming.recorded(layout)
    return Rows(
        columns=(("switch", "switch"), ("without", "without", lambda r: f"~{r['without']}"),
                 ("with", "with_handoff", lambda r: f"~{r['with_handoff']}"),
                 ("saved", "saved_percent", lambda r: "not known" if r["saved_percent"] is None
                  else f"{r['saved_percent']} %")),
        rows=rows,
        nothing="No switches are recorded.",
        below="\n(estimated tokens)",
    )  # fmt: skip


def _chosen(layout: Layout, args: Arguments) -> tuple[str, str]:
    """The path and text of the artifact that `file=` or `ref=` names; by default the newest."""
    if args.file and args.ref:
        raise bad_input("file and ref name the same thing: give only one")
    if args.file == "-":
        raise bad_input("file: name an artifact file, not standard input")
    wanted = addresses.bare(args.ref, "handoff") or "latest"
    if args.file:
        path = layout.typed(args.file, "file")
        if not os.path.isfile(path):
            raise bad_input(f"file: there is no file {args.file!r}")
    elif wanted in ("latest", "unconsumed"):
        state = handoff_state.current(layout)
        stored = [name for name in state.everywhere()
                  if wanted == "latest" or not state.artifacts[name].consumed]  # fmt: skip
        if not stored:
            raise ContextError(f"there is no {wanted} handoff here")
        path = os.path.join(layout.handoffs, stored[-1])
    else:
        named = args.ref if "/" in args.ref else args.ref.removesuffix(".yaml")
        path = addresses.find(layout, named, "handoff").path
    return path, handoffs.load_text(path, layout.shown(path))


PROGRAM = Program(
    name="handoff",
    about=__doc__ or "",
    commands=(write, switch, context, list_, show, check, consume, stats, undo, reset),
)

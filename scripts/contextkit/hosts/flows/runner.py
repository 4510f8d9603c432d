"""Run a hook: read what the host passed, do the event's actions, which a table names, answer.

An action is a function `(layout, given) -> Answer` that returns `NOTHING` if it has nothing to say.
Most events have no work to do, so what an action imports is imported only `where` there is some.

A hook never gets in its host's way: any failure becomes a line of diagnostics, the other actions
go on, and the exit status is 0.

    .contextkit/hooks/diagnostics.log      one line each, newest last, up to a fixed number

`make context_doctor` shows them. Remove the file once the problem is fixed.
"""

from __future__ import annotations

import os
import sys

from contextkit.base import files, names, stores, version
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Callable, Sequence
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents import seen_agents
from contextkit.hosts.documents.contracts import NOTHING, Answer, HookInput

_NOT_OURS = Answer(
    context="contextkit does nothing here: .contextkit is not its own:"
    " `make context_doctor` says why."
)
_NOTHING_DONE = "contextkit's hooks do nothing in this session"
_MOST = 64 << 20  # bytes of input; an agent's message is a few thousand
_GIT_SECONDS = 2  # that a hook waits for git's answers, all together
_LENGTH = 400  # characters per line of diagnostics
MOST = 200  # lines kept
Action = Callable[[Layout, HookInput], Answer]
Check = Callable[[Layout, HookInput], object]


def run(argv: list[str], data: bytes) -> str:
    """Return what the hook prints for `EVENT [--host=NAME]` and the host's JSON. Never raises."""
    event = next((word for word in argv if not word.startswith("-")), "")
    host = next((word[7:] for word in argv if word.startswith("--host=")), "")
    host = _caller(host or hosts.defaults()[0])
    if not host or ("--plugin" in argv and _is_adopted(host)):
        return ""  # the project's own hooks do the work
    if {"--plugin", "--linked"} & set(argv):  # there may be no Makefile: texts name what there is
        on_path = "--plugin" in argv and hosts.find(host).programs
        os.environ["CONTEXTKIT_COMMAND"] = "contextkit" if on_path else hosts.door()
    from contextkit.base import git

    with git.hurried(_GIT_SECONDS):
        return _run(host, event, data)


def _run(host: str, event: str, data: bytes) -> str:
    try:
        hook = hosts.parse(host, event, data)
        actions = actions_of(hook)
        if not actions:
            return ""
        _go_where_the_agent_is(hook)
        if hook.session:  # the host's identity applies to everything stored here
            os.environ["SESSION_ID"] = hook.session
        os.environ["CONTEXT_HOST"] = host  # for the ledger
        layout = _layout()
    except Exception as error:  # whatever it is, the host must go on
        _note_without_layout(f"{host} {event}", error)
        is_told = isinstance(error, ContextError) and host in hosts.names_of_hosts()
        return hosts.notice(host, event, f"{_NOTHING_DONE}: {error}") if is_told else ""
    try:
        layout.state  # noqa: B018  (its check)
    except ContextError:
        started = "SessionStart" in (hook.event, hosts.find(host).events[hook.event].ours)
        return hosts.output(host, hook.event, _NOT_OURS) if started else ""
    answers = []
    for action in actions:
        answers.append(_with_machines(layout, _done(layout, action, hook)))
        hook = hook.replace(sent_back=True) if answers[-1].block else hook
    try:
        files.settle()
        output = hosts.output(host, hook.event, _merged(layout, answers))
        if output and (carried := [answer for answer in answers if answer.refs]):
            _note_injected(layout, hook, carried)
        return output
    except Exception as error:
        note(layout.hooks, f"{host} {hook.event}", error)
        return ""


def _note_injected(layout: Layout, hook: HookInput, answers: list[Answer]) -> None:
    """Record in the ledger which documents the agent was given, and how much of them."""
    from contextkit.base import ledger, tokens

    to = f"subagent:{hook.agent}" if hook.agent else f"session:{hook.session}"
    agent = hook.agent_type if hook.agent else ""
    for answer in answers:
        first, *others = answer.refs
        size = tokens.estimate(f"{answer.context}\n{answer.quoted}")
        ledger.note(layout, ledger.INJECTED, first, tokens=size, to=to, sources=others, agent=agent)


def _caller(host: str) -> str:
    """The host that started the hook, maybe by another's settings; '' if it has its own."""
    known = host in hosts.names_of_hosts()  # another is reported when the input is read
    variable, borrower = hosts.find(host).lends if known else ("", "")
    if not os.environ.get(variable):
        return host
    return "" if _is_adopted(borrower) else borrower


def _is_adopted(host: str) -> bool:
    """Return whether the project has our hooks in its settings, besides those of a plugin."""
    declaration = hosts.find(host)
    path = os.path.join(os.environ.get(declaration.project, "."), declaration.settings)
    text = files.text_of(path)
    if hosts.LAUNCHER not in text:
        return False
    from contextkit.hosts.documents import settings

    try:
        return bool(settings.read(text, path))
    except ContextError:
        return False  # no host reads them


def read_input() -> bytes:
    """Read all of standard input; nothing if somebody typed the command in a terminal."""
    if sys.stdin is None or sys.stdin.isatty():
        return b""
    return sys.stdin.buffer.read(_MOST)


def _go_where_the_agent_is(hook: HookInput) -> None:
    """Change to the agent's directory, which selects the repository, if it is part of the project.

    A worktree of the project has its own documents, unless the host made it for a subagent.
    """
    from contextkit.base import git

    host = hosts.find(hook.host)
    project, here = os.environ.get(host.project, ""), hook.text("cwd")
    if host.worktrees and f"/{host.worktrees}" in here:  # a subagent's worktree is removed with it
        project = here = here.partition(f"/{host.worktrees}")[0]
    if os.path.isdir(here) and os.path.isdir(project):
        home, there = git.find(project), git.find(here)
        inside = f"{os.path.realpath(here)}/".startswith(f"{os.path.realpath(project)}/")
        same = home and there and os.path.realpath(home.common) == os.path.realpath(there.common)
        here = here if same or (inside and not home) else project
    place = here if os.path.isdir(here) else project
    if os.path.isdir(place):
        os.chdir(place)


def _layout() -> Layout:
    from contextkit.base import packages

    packages.stay()
    try:
        return Layout()
    except ContextError:  # freshly edited settings need a package to be parsed
        if not packages.extend_path():
            raise
        return Layout()


def _done(layout: Layout, action: Action, hook: HookInput) -> Answer:
    try:
        return action(layout, hook)
    except Exception as error:  # the other actions must go on
        note(layout.hooks, f"{hook.host} {hook.event} {action.__name__}", error)
        return NOTHING


def _with_machines(layout: Layout, answer: Answer) -> Answer:
    """Return the answer, naming which of its documents another machine stored."""
    if not answer.refs:
        return answer
    from contextkit.base import addresses

    elsewhere = addresses.elsewhere(layout)
    places = [f"{ref} on {names.clipped(elsewhere[ref], 60)}" for ref in answer.refs
             if ref in elsewhere]  # fmt: skip
    line = f"Stored on another machine: {', '.join(places)}." if places else ""
    return answer.replace(context=f"{answer.context}\n{line}".strip("\n"))


def _merged(layout: Layout, answers: list[Answer]) -> Answer:
    """Merge all answers into one within the host's limits; quoted text is cut first."""
    told = [_through_the_door(layout, answer) for answer in answers if answer != NOTHING]
    if not told:
        return NOTHING
    block = next((answer.block for answer in told if answer.block), "")
    result = next((answer.result for answer in told if answer.result is not None), None)
    wrapped = next((answer for answer in told if answer.input is not None), NOTHING)
    return wrapped.replace(context=_within(layout, told), block=block, result=result)


def _within(layout: Layout, told: list[Answer]) -> str:
    """The answers' texts within the host's limits: quoted ones are cut, then our longest lines."""
    from contextkit.base import tokens
    from contextkit.text.fitting import Part, fit

    limits, count = layout.limits, len(told)
    most = int(limits.hook_context_tokens / tokens.CAUTION)
    longest = max(told, key=lambda answer: len(answer.context))

    def whole(texts: Sequence[str]) -> str:
        quoted = map(hosts.labeled, texts[count:], [answer.origin for answer in told])
        return "\n\n".join(filter(None, ["\n".join(filter(None, texts[:count])), *quoted]))

    def fits(texts: Sequence[str]) -> bool:
        text = whole(texts)
        return len(text) <= limits.hook_context_characters and tokens.estimate(text) <= most

    lines = [Part(a.context, ((2 if a is longest else 3, 0),), least=1) for a in told]
    return whole(fit([*lines, *(Part(a.quoted, ((1, 0),), least=1) for a in told)], fits))


def _through_the_door(layout: Layout, answer: Answer) -> Answer:
    from contextkit.base import outgoing

    allowed, told = layout.limits.secrets_allow, {}
    theirs = ("quoted", "result", *(["context"] if answer.is_prompt else []))
    for name, value in vars(answer).items():
        if value and name != "input":
            told[name] = outgoing.told_each(value, allowed, name in theirs)
    return answer.replace(**told)


def _note_without_layout(where: str, error: Exception) -> None:
    """Do as `note` does without settings or input: only in a repository, or a given root."""
    from contextkit.base import git, layout, owned

    try:
        repository = git.find(os.getcwd())
        if repository or os.environ.get("CONTEXT_ROOT"):
            hooks = layout.hooks_folder(layout.find_root("", repository))
            owned.check(os.path.dirname(hooks), repository)
            note(hooks, where, error)
    except Exception:
        return


def where(applies: Check, place: str, once: bool = False) -> Action:
    """An action at `module.function` of these flows, imported where it applies.

    once: a conversation is told the same only once between two compactions.
    """
    module, _, name = place.partition(".")

    def action(layout: Layout, given: HookInput) -> Answer:
        if not applies(layout, given):
            return NOTHING
        flow = __import__(f"contextkit.hosts.flows.{module}", fromlist=[name])
        answer: Answer = getattr(flow, name)(layout, given) or NOTHING
        return flow.unseen(layout, given, answer) if once else answer

    action.__name__ = name
    return action


def tell_unwritable(layout: Layout, given: HookInput) -> Answer:
    """Say that nothing can be kept where neither our state nor the root can be written."""
    place = layout.state if os.path.isdir(layout.state) else layout.root
    if os.access(place, os.W_OK):
        return NOTHING
    said = f"contextkit cannot write in {layout.root}: nothing is kept or shortened here."
    return Answer(context=said)


def _may_sweep(layout: Layout, given: HookInput) -> bool:
    """Return whether the last sweep was over an hour ago, or the session has ended before."""
    if not os.path.isdir(layout.payloads):
        return False
    try:
        recent = layout.was_swept(names.now())
    except OSError:
        return True
    ended = (name.partition("@")[0] for name in stores.names_in(layout.ended))
    return not recent or given.session in ended


def _may_recover(layout: Layout, given: HookInput) -> bool:
    """Return whether anything may be saved here, another session have died, or this one goes on."""
    if _is_apart(layout) or os.path.isdir(layout.memory) or os.path.isdir(layout.payloads):
        return True
    if given.text("source") == "compact" and os.path.isfile(layout.reminders):
        return True  # its open notes
    noted = stores.names_in(layout.running)
    goes_on = given.text("source") in ("compact", "resume")
    return bool(noted) and (goes_on or noted != [given.session])


def note_session(layout: Layout, given: HookInput) -> Answer:
    """Record that a session has begun to work, so that it can be recovered if it dies.

    .contextkit/sessions/<session>      two lines: its host's process id, and its transcript
    """
    prompt, path = given.text("prompt"), given.text("transcript_path")
    host = hosts.find(given.host)
    is_asked = path and prompt and not prompt.startswith(host.notices)
    works = is_asked or os.path.isfile(path)
    record = os.path.join(layout.running, given.session)
    is_new = bool(given.session) and not os.path.exists(record)
    if is_new and works and not given.agent:
        process = os.environ.get(host.process, "")
        number = process if process.isdigit() else str(os.getppid())
        files.write(record, f"{number}\n{path}\n")
    return NOTHING


def _is_behind(layout: Layout, given: HookInput) -> bool:
    """Return whether a turn ended before its transcript was written."""
    behind = seen_agents.path(layout, given.session, seen_agents.BEHIND)
    return bool(given.session) and not given.agent and os.path.exists(behind)


def _calls_an_agent(layout: Layout, given: HookInput) -> object:
    """Return whether a prompt of the user's begins with the name of an agent."""
    from contextkit.base import agents

    return not given.agent and agents.recognized(
        given.text("prompt"), layout.limits.handoff_prefixes
    )


def note_start(layout: Layout, given: HookInput) -> Answer:
    """Record when a subagent started: those that ran in parallel get verdicts of their own."""
    if given.agent:
        before = seen_agents.load(layout, given.session, given.agent)
        record = seen_agents.HookAgent(
            agent_type=given.agent_type, started=names.now(), about=before.about
        )
        seen_agents.save(layout, given.session, given.agent, record)
    return NOTHING


def note_stop(layout: Layout, given: HookInput) -> Answer:
    """Record when a subagent ended whose answer is too short to be kept, unless it is sent back."""
    whose = layout, given.session, given.agent
    record = seen_agents.load(*whose) if given.agent and not given.sent_back else None
    if record and record.started > record.stopped:
        with seen_agents.locked(layout, given.session):
            seen_agents.save(*whose, seen_agents.load(*whose).replace(stopped=names.now()))
    return NOTHING


def _may_brief(layout: Layout, given: HookInput) -> bool:
    """Return whether a subagent gets a briefing: none that judges others, or that a run asked."""
    from contextkit.base import agents

    places = (layout.capsules, layout.handoffs)
    there = _is_apart(layout) or any(map(os.path.isdir, places))
    return there and not (agents.judges(given.agent_type) or _is_expected(layout, given))


def ask(layout: Layout, given: HookInput) -> Answer:
    """Tell a subagent where a long report belongs and how to answer, unless a run asked it."""
    if not given.agent or given.passed.get("agent_type") == "" or _is_expected(layout, given):
        return NOTHING
    from contextkit.payloads.documents import receipts

    path = receipts.prepare(layout, given.agent)
    return Answer(context=receipts.contract(layout.shown(path)))


def _is_expected(layout: Layout, given: HookInput) -> bool:
    """Return whether a live review run asked this agent, whose contract the run gives."""
    if not _has_runs(layout):
        return False
    from contextkit.hosts.flows import reviews

    return reviews.expected(layout, given, names.now()) is not None


def _may_keep(layout: Layout, given: HookInput) -> bool:
    """Whether a subagent left a report, or its last message is one or has a verdict."""
    text, budget = given.text("last_assistant_message"), layout.limits.payload_budget
    keeps = hosts.may_hold_a_verdict(text) or bool(text and given.passed.get("stop_hook_active"))
    if not keeps and len(text) > budget:  # it has no more tokens than characters
        from contextkit.base import tokens

        keeps = tokens.estimate(text) > budget
    may_leave = given.agent and not given.sent_back
    if not keeps and may_leave and os.path.isdir(os.path.join(layout.state, "reports")):
        from contextkit.payloads.documents import receipts

        keeps = bool(receipts.left_by(layout, given.agent, given.text("cwd")))
    return keeps and not _nobody(layout, given)


def keep_finding(layout: Layout, given: HookInput) -> Answer:
    """Store what an agent of the current task found, unless this stop follows a block."""
    places = (layout.memory, os.path.dirname(layout.memory_state("current")))
    if not any(map(os.path.isdir, places)) or given.passed.get("stop_hook_active"):
        return NOTHING
    from contextkit.memory.documents import store

    if not store.current_task(layout) or _nobody(layout, given):
        return NOTHING
    from contextkit.memory.flows import agents

    name = given.agent_type or given.agent
    agents.agent_ended(layout, name, given.text("last_assistant_message"), names.now())
    return NOTHING


def _is_apart(layout: Layout) -> bool:
    """Return whether this is a worktree: what it starts with may be in another one."""
    return layout.repository is not None and layout.repository.folder != layout.repository.common


def _has_runs(layout: Layout) -> bool:
    """Return whether a review was ever started here."""
    return os.path.isdir(layout.store("run"))


def _may_review(layout: Layout, given: HookInput) -> bool:
    """Return whether a session may be a reviewer of a run."""
    return not given.agent and _has_runs(layout)


def _nobody(layout: Layout, given: HookInput) -> bool:
    """Return whether the host's own summarizer stops: it has no type and never started."""
    if given.passed.get("agent_type") != "":
        return False
    return not seen_agents.load(layout, given.session, given.agent).started


def _is_of_an_agent(layout: Layout, given: HookInput) -> bool:
    """Return whether a tool brings what a subagent reports to the main agent."""
    starts_agents = given.text("tool_name") in given.declared.matcher.split("|")
    return starts_agents and isinstance(given.passed.get("tool_response"), dict)


def _is_too_long(layout: Layout, given: HookInput) -> bool:
    """Whether a tool's output may be too long, and be replaced: never that of a file read."""
    most, result = layout.limits.hook_tool_output_tokens, given.passed.get("tool_response")
    return given.declared.is_about(given.text("tool_name")) and 0 < most < _longest(result)


def _is_wrappable(given: HookInput) -> bool:
    """Return whether a tool runs a command that may be wrapped; most commands may not."""
    from contextkit.hosts.flows import rewriting

    shell = given.declared.is_about(given.text("tool_name"))
    waits = shell and rewriting.is_about_a_command(given)
    return waits and bool(rewriting.wrappable(given.inside("tool_input")["command"]))


def _longest(found: object) -> int:
    """Return the length of the longest text in a tool's result: it has no more tokens."""
    if isinstance(found, str):
        return len(found)
    inside = found.values() if isinstance(found, dict) else found if isinstance(found, list) else ()
    return max(map(_longest, inside), default=0)


def _has_work(layout: Layout, given: HookInput) -> bool:
    """Return whether a session that ends left anything that ends with it."""
    places = (layout.payloads, layout.hooks, layout.running)
    state = os.path.join(layout.handoffs, "session-state")
    of_session = [os.path.join(place, given.session) for place in places]
    return bool(given.session) and any(map(os.path.exists, [*of_session, state]))


def pull_machines(layout: Layout, given: HookInput) -> Answer:
    """Pull from other machines in the background, if `sync` is set."""
    _sync(layout, "pull")
    return Answer(context=layout.needs_trust("sync"))


def push_machines(layout: Layout, given: HookInput) -> Answer:
    """Push what is new here in the background, if `sync` is set."""
    _sync(layout, "push")
    return NOTHING


def _sync(layout: Layout, verb: str) -> None:
    """Start a push or pull in a detached process, which no hook waits for."""
    if layout.limits.sync != "off":
        script = version.toolkit("scripts", "context.py")
        words = ["context_sync", "background", f"--verb={verb}", f"--root={layout.root}"]
        nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
        kept = {name: text for name, text in os.environ.items() if name != "CONTEXTKIT_RESTARTED"}
        os.posix_spawn(sys.executable, [sys.executable, script, *words], kept,
                       file_actions=nothing, setsid=True)  # fmt: skip


def actions_of(given: HookInput) -> tuple[Action, ...]:
    """Return the actions for an event of a host; none for an undeclared event."""
    declared = hosts.find(given.host).events.get(given.event)
    if declared and declared.ours == "PreToolUse" and not _is_wrappable(given):
        return ()
    return ACTIONS.get(declared.ours, ()) if declared else ()


# In order of execution. The first one that blocks decides.
ACTIONS: dict[str, tuple[Action, ...]] = {
    "SessionStart": (
        tell_unwritable,
        pull_machines,
        where(_may_sweep, "sessions.start"),
        where(lambda *_: os.environ.get("CONTEXTKIT_COMMAND", "contextkit") != "contextkit",
              "sessions.command", once=True),
        where(lambda layout, _: os.path.isfile(layout.reminders), "sessions.reminders", once=True),
        where(lambda layout, _: os.path.isdir(layout.handoffs), "sessions.handoff", once=True),
        where(_may_recover, "sessions.saved", once=True),
    ),
    "UserPromptSubmit": (
        where(_is_behind, "sessions.catch_up"),
        note_session,
        where(_may_review, "reviews.note_reviewer"),
        where(lambda layout, given: given.session and not given.agent
              and seen_agents.links(layout, given.session), "outputs.tell_links"),
        where(_calls_an_agent, "sessions.switch_agent"),
    ),
    "SubagentStart": (note_start, where(_may_brief, "sessions.brief"), ask),
    "SubagentStop": (
        keep_finding,
        where(lambda layout, given: _has_runs(layout) and not _nobody(layout, given),
              "reviews.judge"),
        where(_may_keep, "outputs.keep"),
        note_stop,
        push_machines,
    ),
    "PreToolUse": (
        where(lambda layout, _: layout.limits.hook_tool_output_tokens, "rewriting.rewritten"),
    ),
    "PostToolUse": (
        where(_is_of_an_agent, "outputs.hand_receipt"),
        where(_is_too_long, "outputs.shorten"),
    ),
    "PreCompact": (where(lambda *_: True, "sessions.before"),),
    "PostCompact": (where(lambda *_: True, "sessions.after"),),
    "Stop": (
        where(_may_review, "reviews.judge_session"),
        where(lambda _, given: not (given.agent or given.sent_back)
              and os.environ.get("CONTEXT_SUBAGENT_ID"), "outputs.hand_in"),
        note_session,
        where(lambda _, given: os.path.isfile(given.text("transcript_path")),
              "sessions.when_full"),
    ),
    "SessionEnd": (
        where(_is_behind, "sessions.catch_up"),
        where(_has_work, "sessions.finish"),
        push_machines,
    ),
}  # fmt: skip


def log(hooks: str) -> str:
    """Return the path of the diagnostics in the folder of the hooks."""
    return os.path.join(hooks, "diagnostics.log")


def note(hooks: str, where: str, problem: Exception | str) -> None:
    """Append a line about `problem`; never raises, since there is nobody to tell."""
    expected = isinstance(problem, (ContextError, str))
    told = str(problem) if expected else f"{type(problem).__name__}: {problem}"
    line = names.one_line(f"{names.iso(names.now())} {where}: {told}")[:_LENGTH]
    try:
        files.store(os.path.dirname(hooks))
        with files.locked(log(hooks) + ".lock"):
            kept = noted(hooks)[-(MOST - 1) :]
            files.write(log(hooks), "".join(f"{entry}\n" for entry in (*kept, line)))
    except (OSError, ContextError):
        return


def noted(hooks: str) -> list[str]:
    """Return the lines, oldest first; none if there is no file."""
    try:
        text = files.read_bytes(log(hooks)).decode("utf-8", "replace")
    except ContextError:
        return []
    return [line for line in text.splitlines() if line.strip()]

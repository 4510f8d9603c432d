"""Run a hook: read what the host passed, do the event's actions, which a table names, answer.

An action is a function `(layout, hook) -> Answer` that returns `NOTHING` if it has nothing to say.
Most events have no work to do, so an action's imports are made only `where` there is some.

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
    """What the hook prints for `EVENT [--host=NAME]` and the host's JSON. Never raises."""
    event = next((word for word in argv if not word.startswith("-")), "")
    host = next((word[7:] for word in argv if word.startswith("--host=")), "")
    host = host or hosts.defaults()[0]
    is_declared = host in hosts.names_of_hosts()  # another is reported when the input is read
    variable, borrower = hosts.find(host).lends if is_declared else ("", "")
    if os.environ.get(variable):  # another host started it by these settings: has it its own?
        host = "" if _is_adopted(borrower) else borrower
    if not host or ("--plugin" in argv and _is_adopted(host)):
        return ""  # the project's own hooks do the work
    if {"--plugin", "--linked"} & set(argv):  # there may be no Makefile, so texts name what exists
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
    except Exception as error:  # in any case the host must go on
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
        try:
            answer = action(layout, hook)
        except Exception as error:  # the other actions must go on
            note(layout.hooks, f"{host} {hook.event} {action.__name__}", error)
            answer = NOTHING
        answers.append(_with_machines(layout, answer))
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
    """Record in the ledger the documents given to the agent, and how much of them."""
    from contextkit.base import ledger, tokens

    to = f"subagent:{hook.agent}" if hook.agent else f"session:{hook.session}"
    agent = hook.agent_type if hook.agent else ""
    for answer in answers:
        first, *others = answer.refs
        size = tokens.estimate(f"{answer.context}\n{answer.quoted}")
        ledger.note(layout, ledger.INJECTED, first, tokens=size, to=to, sources=others, agent=agent)


def _is_adopted(host: str) -> bool:
    """Whether the project has our hooks in its settings, besides those of a plugin."""
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


def _with_machines(layout: Layout, answer: Answer) -> Answer:
    """The answer, naming which of its documents another machine stored."""
    if not answer.refs:
        return answer
    from contextkit.base import addresses

    elsewhere = addresses.elsewhere(layout)
    theirs = [ref for ref in answer.refs if ref in elsewhere]
    places = ", ".join(f"{ref} on {names.clipped(elsewhere[ref], 60)}" for ref in theirs)
    line = f"Stored on another machine: {places}." if places else ""
    return answer.replace(context=f"{answer.context}\n{line}".strip("\n"))


def _merged(layout: Layout, answers: list[Answer]) -> Answer:
    """All answers merged into one within the host's limits.

    Quoted texts are cut first, then our longest lines.
    """
    told = [_through_the_door(layout, answer) for answer in answers if answer != NOTHING]
    if not told:
        return NOTHING
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
    text = whole(fit([*lines, *(Part(a.quoted, ((1, 0),), least=1) for a in told)], fits))
    block = next((answer.block for answer in told if answer.block), "")
    result = next((answer.result for answer in told if answer.result is not None), None)
    wrapped = next((answer for answer in told if answer.input is not None), NOTHING)
    return wrapped.replace(context=text, block=block, result=result)


def _through_the_door(layout: Layout, answer: Answer) -> Answer:
    from contextkit.base import outgoing

    allowed = layout.limits.secrets_allow
    theirs = ("quoted", "result", *(["context"] if answer.is_prompt else []))
    texts = {name: value for name, value in vars(answer).items() if value and name != "input"}
    told = {
        name: outgoing.told_each(value, allowed, name in theirs) for name, value in texts.items()
    }
    return answer.replace(**told)


def _note_without_layout(where: str, error: Exception) -> None:
    """Like `note`, without settings or input: only in a repository, or a given root."""
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

    once: a conversation gets the same thing only once between two compactions.
    """
    module, _, name = place.partition(".")

    def action(layout: Layout, hook: HookInput) -> Answer:
        if not applies(layout, hook):
            return NOTHING
        flow = __import__(f"contextkit.hosts.flows.{module}", fromlist=[name])
        answer: Answer = getattr(flow, name)(layout, hook) or NOTHING
        return flow.unseen(layout, hook, answer) if once else answer

    action.__name__ = name
    return action


def tell_unwritable(layout: Layout, hook: HookInput) -> Answer:
    """Say that nothing can be kept where neither our state nor the root can be written."""
    place = layout.state if os.path.isdir(layout.state) else layout.root
    text = f"contextkit cannot write in {layout.root}: nothing is kept or shortened here."
    return NOTHING if os.access(place, os.W_OK) else Answer(context=text)


def _may_sweep(layout: Layout, hook: HookInput) -> bool:
    """Whether the last sweep was over an hour ago, or the session has ended before."""
    if not os.path.isdir(layout.payloads):
        return False
    try:
        recent = layout.was_swept(names.now())
    except OSError:
        return True
    ended = (name.partition("@")[0] for name in stores.names_in(layout.ended))
    return not recent or hook.session in ended


def _may_recover(layout: Layout, hook: HookInput) -> bool:
    """Whether something may be saved here, another session has died, or this one continues."""
    if _is_apart(layout) or os.path.isdir(layout.memory) or os.path.isdir(layout.payloads):
        return True
    source, noted = hook.text("source"), stores.names_in(layout.running)
    if source == "compact" and os.path.isfile(layout.reminders):
        return True  # its open notes
    return bool(noted) and (source in ("compact", "resume") or noted != [hook.session])


def note_session(layout: Layout, hook: HookInput) -> Answer:
    """Record that a session has begun to work, so that it can be recovered if it dies.

    .contextkit/sessions/<session>      two lines: its host's process id, and its transcript
    """
    prompt, path = hook.text("prompt"), hook.text("transcript_path")
    host = hosts.find(hook.host)
    is_asked = path and prompt and not prompt.startswith(host.notices)
    works = is_asked or os.path.isfile(path)
    record = os.path.join(layout.running, hook.session)
    is_new = bool(hook.session) and not os.path.exists(record)
    if is_new and works and not hook.agent:
        process = os.environ.get(host.process, "")
        files.write(record, f"{process if process.isdigit() else os.getppid()}\n{path}\n")
    return NOTHING


def _is_behind(layout: Layout, hook: HookInput) -> bool:
    """Whether a turn ended before its transcript was written."""
    behind = seen_agents.path(layout, hook.session, seen_agents.BEHIND)
    return bool(hook.session) and not hook.agent and os.path.exists(behind)


def _calls_an_agent(layout: Layout, hook: HookInput) -> object:
    """Whether a prompt of the user's begins with the name of an agent."""
    from contextkit.base import agents

    return not hook.agent and agents.recognized(hook.text("prompt"), layout.limits.handoff_prefixes)


def note_start(layout: Layout, hook: HookInput) -> Answer:
    """Record when a subagent started: those that ran in parallel get verdicts of their own."""
    if hook.agent:
        about = seen_agents.load(layout, hook.session, hook.agent).about
        record = seen_agents.HookAgent(agent_type=hook.agent_type, started=names.now(), about=about)
        seen_agents.save(layout, hook.session, hook.agent, record)
    return NOTHING


def note_stop(layout: Layout, hook: HookInput) -> Answer:
    """Record when a subagent ended whose answer is too short to be kept, unless it is sent back."""
    whose = layout, hook.session, hook.agent
    record = seen_agents.load(*whose) if hook.agent and not hook.sent_back else None
    if record and record.started > record.stopped:
        with seen_agents.locked(layout, hook.session):
            seen_agents.save(*whose, seen_agents.load(*whose).replace(stopped=names.now()))
    return NOTHING


def _may_brief(layout: Layout, hook: HookInput) -> bool:
    """Whether a subagent gets a briefing, unlike one that judges others or works for a run."""
    from contextkit.base import agents

    there = _is_apart(layout) or any(map(os.path.isdir, (layout.capsules, layout.handoffs)))
    return there and not (agents.judges(hook.agent_type) or _is_expected(layout, hook))


def ask(layout: Layout, hook: HookInput) -> Answer:
    """Tell a subagent where a long report belongs and how to answer, unless a run asked it."""
    if not hook.agent or hook.passed.get("agent_type") == "" or _is_expected(layout, hook):
        return NOTHING
    from contextkit.payloads.documents import receipts

    path = layout.shown(receipts.prepare(layout, hook.agent))
    return Answer(context=receipts.contract(path))


def _is_expected(layout: Layout, hook: HookInput) -> bool:
    """Whether a live review run asked this agent, and so gives it a contract."""
    if not _has_runs(layout):
        return False
    from contextkit.hosts.flows import reviews

    return reviews.expected(layout, hook, names.now()) is not None


def _may_keep(layout: Layout, hook: HookInput) -> bool:
    """Whether a subagent left a report, or its last message is one or has a verdict."""
    text, budget = hook.text("last_assistant_message"), layout.limits.payload_budget
    keeps = hosts.may_hold_a_verdict(text) or bool(text and hook.passed.get("stop_hook_active"))
    if not keeps and len(text) > budget:  # a text never has more tokens than characters
        from contextkit.base import tokens

        keeps = tokens.estimate(text) > budget
    may_leave = hook.agent and not hook.sent_back
    if not keeps and may_leave and os.path.isdir(os.path.join(layout.state, "reports")):
        from contextkit.payloads.documents import receipts

        keeps = bool(receipts.left_by(layout, hook.agent, hook.text("cwd")))
    return keeps and not _nobody(layout, hook)


def keep_finding(layout: Layout, hook: HookInput) -> Answer:
    """Store what an agent of the current task found, unless this stop follows a block."""
    places = (layout.memory, os.path.dirname(layout.memory_state("current")))
    if not any(map(os.path.isdir, places)) or hook.passed.get("stop_hook_active"):
        return NOTHING
    from contextkit.memory.documents import store

    if store.current_task(layout) and not _nobody(layout, hook):
        from contextkit.memory.flows import agents

        message = hook.text("last_assistant_message")
        agents.agent_ended(layout, hook.agent_type, message, names.now())
    return NOTHING


def _is_apart(layout: Layout) -> bool:
    """Whether this is a worktree, whose context may be in another one."""
    return layout.repository is not None and layout.repository.folder != layout.repository.common


def _has_runs(layout: Layout) -> bool:
    """Whether a review was ever started here."""
    return os.path.isdir(layout.store("run"))


def _may_review(layout: Layout, hook: HookInput) -> bool:
    """Whether a session may be a reviewer of a run."""
    return not hook.agent and _has_runs(layout)


def _nobody(layout: Layout, hook: HookInput) -> bool:
    """Whether the host's own summarizer stops: it has no type and never started."""
    has_type = hook.passed.get("agent_type") != ""
    return not (has_type or seen_agents.load(layout, hook.session, hook.agent).started)


def _is_of_an_agent(layout: Layout, hook: HookInput) -> bool:
    """Whether a tool brings a subagent's report to the main agent."""
    starts_agents = hook.text("tool_name") in hook.declared.matcher.split("|")
    return starts_agents and isinstance(hook.passed.get("tool_response"), dict)


def _is_too_long(layout: Layout, hook: HookInput) -> bool:
    """Whether a tool's output may be too long and replaceable; that of reading a file never is."""
    most, result = layout.limits.hook_tool_output_tokens, hook.passed.get("tool_response")
    return hook.declared.is_about(hook.text("tool_name")) and 0 < most < _longest(result)


def _longest(result: object) -> int:
    """The length of the longest text in a tool's result: it has no more tokens."""
    if isinstance(result, str):
        return len(result)
    inside = list(result.values()) if isinstance(result, dict) else result
    return max(map(_longest, inside), default=0) if isinstance(inside, list) else 0


def _has_work(layout: Layout, hook: HookInput) -> bool:
    """Whether an ending session has anything that ends with it."""
    places = (layout.payloads, layout.hooks, layout.running)
    of_session = [os.path.join(place, hook.session) for place in places]
    state = os.path.join(layout.handoffs, "session-state")
    return bool(hook.session) and any(map(os.path.exists, [*of_session, state]))


def pull_machines(layout: Layout, hook: HookInput) -> Answer:
    """Pull from other machines in the background, if `sync` is set."""
    _sync(layout, "pull")
    return Answer(context=layout.needs_trust("sync"))


def push_machines(layout: Layout, hook: HookInput) -> Answer:
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


def actions_of(hook: HookInput) -> tuple[Action, ...]:
    """The actions for an event of a host; none for an undeclared event."""
    declared = hosts.find(hook.host).events.get(hook.event)
    if declared and declared.ours == "PreToolUse":  # most commands may not be wrapped
        from contextkit.hosts.flows import rewriting

        return ACTIONS["PreToolUse"] if rewriting.is_wrappable(hook) else ()
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
        where(lambda layout, hook: hook.session and not hook.agent
              and seen_agents.links(layout, hook.session), "outputs.tell_links"),
        where(_calls_an_agent, "sessions.switch_agent"),
    ),
    "SubagentStart": (note_start, where(_may_brief, "sessions.brief"), ask),
    "SubagentStop": (
        keep_finding,
        where(lambda layout, hook: _has_runs(layout) and not _nobody(layout, hook),
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
        where(lambda _, hook: not (hook.agent or hook.sent_back)
              and os.environ.get("CONTEXT_SUBAGENT_ID"), "outputs.hand_in"),
        note_session,
        where(lambda _, hook: os.path.isfile(hook.text("transcript_path")),
              "sessions.when_full"),
    ),
    "SessionEnd": (
        where(_is_behind, "sessions.catch_up"),
        where(_has_work, "sessions.finish"),
        push_machines,
    ),
}  # fmt: skip


def log(hooks: str) -> str:
    """The path of the diagnostics in the folder of the hooks."""
    return os.path.join(hooks, "diagnostics.log")


def note(hooks: str, where: str, problem: Exception | str) -> None:
    """Append a line about `problem`; never raises, since no one would see it."""
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
    """The lines, oldest first; none if there is no file."""
    try:
        text = files.read_bytes(log(hooks)).decode("utf-8", "replace")
    except ContextError:
        return []
    return [line for line in text.splitlines() if line.strip()]

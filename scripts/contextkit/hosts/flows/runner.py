"""The frame around every hook: read what the host passed, run the event's actions, answer.

A hook never gets in its host's way: any failure becomes a line of diagnostics (`diagnostics.py`),
the other actions go on, and the exit status is 0.
"""

from __future__ import annotations

import os
import sys

from contextkit.base import files, filters, names, version
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents.contracts import Answer, HookInput
from contextkit.hosts.flows import events

_NOT_OURS = Answer(
    context="contextkit does nothing here: .contextkit is not its own: `make doctor` says why."
)
_MOST = 64 << 20  # bytes of input; an agent's message is a few thousand
_GIT_SECONDS = 2  # that a hook waits for git's answers, all together


def run(argv: list[str], data: bytes) -> str:
    """Return what the hook prints for `EVENT [--host=NAME]` and the host's JSON. Never raises."""
    event = next((word for word in argv if not word.startswith("-")), "")
    host = next((word[7:] for word in argv if word.startswith("--host=")), "")
    host = _caller(host or hosts.defaults()[0])
    if not host or ("--plugin" in argv and _is_adopted(host)):
        return ""  # the project's own hooks do the work
    if "--plugin" in argv:
        _name_commands(host)
    from contextkit.base import git

    with git.hurried(_GIT_SECONDS):
        return _run(host, event, data)


def _name_commands(host: str) -> None:
    """Have texts name commands as an agent with a plugin calls them: there may be no Makefile."""
    place = version.toolkit("bin", "contextkit")
    named = "contextkit" if hosts.find(host).programs else f"'{place}'" if " " in place else place
    os.environ["CONTEXTKIT_COMMAND"] = named


def _run(host: str, event: str, data: bytes) -> str:
    try:
        hook = hosts.parse(host, event, data)
        actions = events.of(hook)
        if not actions:
            return ""
        _go_where_the_agent_is(hook)
        if hook.session:  # the host's identity applies to everything stored here
            os.environ["SESSION_ID"] = hook.session
        os.environ["CONTEXT_HOST"] = host  # for the ledger
        layout = _layout()
    except Exception as error:  # whatever it is, the host must go on
        _note_without_layout(f"{host} {event}", error)
        return _notice(host, event, error)
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
        if output:
            _note_injected(layout, hook, answers)
        return output
    except Exception as error:
        _note(layout.hooks, f"{host} {hook.event}", error)
        return ""


def _notice(host: str, event: str, error: Exception) -> str:
    """Tell the user once, at the start of a session, that the hooks do nothing, and why."""
    if not isinstance(error, ContextError):
        return ""
    try:
        return hosts.notice(host, event, f"contextkit's hooks do nothing in this session: {error}")
    except ContextError:
        return ""  # an unknown host


def _note_injected(layout: Layout, hook: HookInput, answers: list[Answer]) -> None:
    """Record in the ledger which documents the agent was given, and how much of them."""
    carried = [answer for answer in answers if answer.refs]
    if not carried:
        return
    from contextkit.base import ledger, tokens

    to = f"subagent:{hook.agent}" if hook.agent else f"session:{hook.session}"
    agent = hook.agent_type if hook.agent else ""
    for answer in carried:
        first, *others = answer.refs
        size = tokens.estimate(f"{answer.context}\n{answer.quoted}")
        ledger.note(layout, ledger.INJECTED, first, tokens=size, to=to, sources=others, agent=agent)


def _caller(host: str) -> str:
    """Return the host that started the hook: one host may run the hooks of another one's settings.

    Empty if the starting host has hooks of ours in its own settings.
    """
    try:
        variable, borrower = hosts.find(host).lends
    except ContextError:
        return host  # reported when the input is read
    if not variable or not os.environ.get(variable):
        return host
    return "" if _is_adopted(borrower) else borrower


def _is_adopted(host: str) -> bool:
    """Return whether the project has our hooks in its settings, besides those of a plugin."""
    declaration = hosts.find(host)
    path = os.path.join(os.environ.get(declaration.project, "."), declaration.settings)
    return hosts.LAUNCHER in (files.read_if_there(path) or "")


def read_input() -> bytes:
    """Read all of standard input; nothing if somebody typed the command in a terminal."""
    if sys.stdin is None or sys.stdin.isatty():
        return b""
    return sys.stdin.buffer.read(_MOST)


def _go_where_the_agent_is(hook: HookInput) -> None:
    """Change to the agent's directory, which selects the repository, if it is part of the project.

    A worktree of the project has its own documents, unless the host made it for a subagent; a
    directory elsewhere has none.
    """
    from contextkit.base import git

    host = hosts.find(hook.host)
    project, here = os.environ.get(host.project, "") if host.project else "", hook.text("cwd")
    if host.worktrees and f"/{host.worktrees}" in here:  # a subagent's worktree is removed with it
        project = here.partition(f"/{host.worktrees}")[0]
        here = project
    if not os.path.isdir(here):
        here = project
    elif os.path.isdir(project):
        home, there = git.find(project), git.find(here)
        inside = f"{os.path.realpath(here)}/".startswith(f"{os.path.realpath(project)}/")
        same = home and there and os.path.realpath(home.common) == os.path.realpath(there.common)
        here = here if same or (inside and not home) else project
    if os.path.isdir(here):
        os.chdir(here)


def _layout() -> Layout:
    from contextkit.base import packages
    from contextkit.base.layout import Layout

    packages.stay()
    try:
        return Layout()
    except ContextError:  # freshly edited settings need a package to be parsed
        if not packages.extend_path():
            raise
        return Layout()


def _done(layout: Layout, action: events.Action, hook: HookInput) -> Answer:
    try:
        return action(layout, hook)
    except Exception as error:  # the other actions must go on
        _note(layout.hooks, f"{hook.host} {hook.event} {action.__name__}", error)
        return hosts.NOTHING


def _with_machines(layout: Layout, answer: Answer) -> Answer:
    """Return the answer, naming which of its documents another machine stored."""
    if not answer.refs:
        return answer
    from contextkit.base import addresses

    elsewhere = addresses.elsewhere(layout)
    places = [f"{ref} on {names.clipped(elsewhere[ref], 60)}" for ref in answer.refs
             if ref in elsewhere]  # fmt: skip
    if not places:
        return answer
    line = f"Stored on another machine: {', '.join(places)}."
    return answer.replace(context=f"{answer.context}\n{line}".strip("\n"))


def _merged(layout: Layout, answers: list[Answer]) -> Answer:
    """Merge all answers into one within the host's limits; quoted text is cut first."""
    told = [_through_the_door(layout, answer) for answer in answers if answer != hosts.NOTHING]
    if not told:
        return hosts.NOTHING
    from contextkit.base import tokens

    block = next((answer.block for answer in told if answer.block), "")
    result = next((answer.result for answer in told if answer.result is not None), None)
    wrapped = next((answer for answer in told if answer.input is not None), hosts.NOTHING)
    limits = layout.limits
    most = int(limits.hook_context_tokens / tokens.CAUTION)
    contexts = [answer.context for answer in told if answer.context]
    lines = _joined(contexts, limits.hook_context_characters, most)
    room = limits.hook_context_characters - len(lines)
    for answer in told:
        if not answer.quoted.strip():
            continue
        around = hosts.labeled("x" + "`" * filters.longest_run(answer.quoted), answer.origin)
        left = most - tokens.estimate(f"{lines}\n\n{around}") - 1
        if left < 1 or room <= len(around) + 4:
            break
        text = tokens.clip(answer.quoted[: room - len(around) - 4], left)
        lines = f"{lines}\n\n{hosts.labeled(text, answer.origin)}".strip("\n")
        room = limits.hook_context_characters - len(lines)
    return wrapped.replace(context=lines, block=block, result=result)


def _joined(texts: list[str], characters: int, most: int) -> str:
    """The texts as lines, within both limits: the longest one is cut."""
    from contextkit.base import tokens

    if not texts:
        return ""
    longest = max(range(len(texts)), key=lambda at: len(texts[at]))
    others = "\n".join(text for at, text in enumerate(texts) if at != longest)
    room = max(0, characters - len(others) - 1)
    left = max(1, most - tokens.estimate(others) - 1)
    texts[longest] = tokens.clip(texts[longest][:room], left)
    return tokens.clip("\n".join(texts)[:characters], most)


def _through_the_door(layout: Layout, answer: Answer) -> Answer:
    from contextkit.base import outgoing

    fields = {name: value for name, value in vars(answer).items() if name != "input"}
    told = outgoing.told_each(fields, layout.limits.secrets_allow)
    return answer.replace(**{name: value for name, value in told.items() if value})


def _note(hooks: str, where: str, error: Exception) -> None:
    from contextkit.hosts.documents import diagnostics

    expected = isinstance(error, ContextError)
    diagnostics.note(hooks, where, str(error) if expected else f"{type(error).__name__}: {error}")


def _note_without_layout(where: str, error: Exception) -> None:
    """Do as `_note` does without settings or input: only in a repository, or a given root."""
    from contextkit.base import git, layout, owned

    try:
        repository = git.find(os.getcwd())
        if repository or os.environ.get("CONTEXT_ROOT"):
            hooks = layout.hooks_folder(layout.find_root("", repository))
            owned.check(os.path.dirname(hooks), repository)
            _note(hooks, where, error)
    except Exception:
        return

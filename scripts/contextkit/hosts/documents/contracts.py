"""Hosts: what a program that runs agents passes to a hook, and what it accepts from one.

Each host is declared in a module of `declared/`; nothing elsewhere names one. Every field of an
input is optional and an unknown one is normal: hosts change faster than we do.
"""

from __future__ import annotations

import os

from contextkit.base import filters, formats, names
from contextkit.base.errors import ContextError
from contextkit.base.records import Record


class HostEvent(Record):
    """One event of a host, by the host's own name; `does` is ours for it where they differ.

    It `passes` fields beside the common ones. What it `takes`: `context`, text for the agent;
    `plain`, the same without JSON; `block`, a reason that sends the agent back; `replace`,
    another result of the tool, whose name fits `matcher`; `instead`, a block whose reason is that
    result; `modify`, that result with its keys in camel case; `respond`, another text in place of
    a subagent's last one. What a tool tells the model stands in `text` of its result, where that
    is named. `tools` are those whose long output may be replaced, where that is asked for (a name
    that ends in `_` stands for all that begin so); an event for them alone is installed then.
    `timeout` is what we ask the host to wait, and `budget` what an answer may take, in seconds.
    """

    name: str
    does: str = ""
    passes: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    matcher: str = ""
    tools: tuple[str, ...] = ()
    text: str = ""
    timeout: int = 10
    budget: float = 2.0

    @property
    def ours(self) -> str:
        """The event whose actions are done."""
        return self.does or self.name

    def is_about(self, tool: str) -> bool:
        """Whether a tool is one of `tools`."""
        return any(tool == one or (one[-1:] == "_" and tool.startswith(one)) for one in self.tools)


class Host(Record):
    """A host: how it is called, its command, its files, its events by name, its limits.

    `default`: who adopts without saying for which host means this one too. `settings` is the
    file our hooks go into, `local_settings` the one that git does not see. `project` is the
    variable that names the project's folder; without one the launcher is searched from the current
    directory up. `arguments`: a program is started without a shell. `renamed`: fields that it
    calls otherwise, theirs by ours. `flat`: its file has a version, handlers stand in an event's
    list without groups, and what is said stands in the answer itself, as `context_key`; with a
    `block_key` the reason of a block does, too. `timeouts` is how many of
    its units of time a second has. `wraps` is the tag in which it puts what a hook said before the
    next prompt. `below` is what to do where it is started in a folder below the project, if it runs
    no hooks then. `process` is the variable with its
    own process id (else it is the hook's parent), `worktrees` where it puts those of subagents.
    `trust` is what to do before hooks run, and with the arguments `tells_trust` its command says
    which are trusted. Texts above
    `characters` or `tokens` (0: not told) are not handed on whole.

    What its surroundings tell: the variables `sessions` hold the session's id, and each of `marks`
    shows that it is this host that a command runs in. Its own files lie in the folder that the
    first of `home` names, else in the second one below the user's home; sessions leave transcripts
    in `transcripts` there, whose `{project}` is the project's path, every odd character a hyphen,
    and whose `{days}` are a folder a year, in it one a month and one a day; `transcript_form` is
    what a line of one looks like (`memory/documents/conversations.py`). A prompt that begins with
    one of `notices` is the host's own. Subagents are started by `agent_call`, as the agent writes
    it, or by a command that takes a prompt on standard input, `headless`. `lends` is a variable
    that another host sets for hooks, and that host: it runs the hooks of these settings, too.
    """

    name: str
    title: str
    command: str
    settings: str
    events: dict[str, HostEvent]
    default: bool = False
    local_settings: str = ""
    instructions: str = "AGENTS.md"
    skills: str = ".agents/skills"
    project: str = ""
    arguments: bool = False
    flat: bool = False
    context_key: str = "additionalContext"
    block_key: str = ""
    timeouts: int = 1
    renamed: dict[str, str] | None = None
    wraps: str = ""
    below: str = ""
    process: str = ""
    worktrees: str = ""
    trust: str = ""
    tells_trust: tuple[str, ...] = ()
    characters: int = 0
    tokens: int = 0
    sessions: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    home: tuple[str, ...] = ("", "")
    transcripts: str = ""
    transcript_form: str = ""
    notices: tuple[str, ...] = ()
    agent_call: str = ""
    headless: str = ""
    lends: tuple[str, ...] = ("", "")

    def folder(self) -> str:
        """Where its own files lie; empty where that is not known."""
        variable, below = self.home
        named = os.environ.get(variable, "") if variable else ""
        return named or (os.path.join(os.path.expanduser("~"), below) if below else "")


COMMON = ("session_id", "transcript_path", "cwd", "hook_event_name", "permission_mode", "model",
          "timestamp")  # fmt: skip
AGENT = ("agent_id", "agent_type")
STOP = ("stop_hook_active", "last_assistant_message")
SUBAGENT_STOP = (*AGENT, *STOP, "agent_transcript_path", "background_tasks")
KNOWN: dict[str, Host] = {}  # those that were read, by name


def by_name(*events: HostEvent) -> dict[str, HostEvent]:
    return {event.name: event for event in events}


def names_of_hosts() -> tuple[str, ...]:
    """Every host that is declared, in alphabetical order."""
    from contextkit.hosts.documents import declared

    files = os.listdir(os.path.dirname(declared.__file__))
    found = {name[:-3] for name in files if name.endswith(".py") and name[0] != "_"}
    return tuple(sorted({*KNOWN, *found}))


def find(name: str) -> Host:
    """The declaration of a host. Raises ContextError for one that there is not."""
    if name not in KNOWN:
        if name not in names_of_hosts():
            known = ", ".join(names_of_hosts())
            raise ContextError(f"host: {names.one_line(name)[:40]!r} is none of {known}")
        package = "contextkit.hosts.documents.declared"
        KNOWN[name] = __import__(f"{package}.{name}", fromlist=["HOST"]).HOST
    return KNOWN[name]


def every() -> tuple[Host, ...]:
    """Every host that is declared."""
    return tuple(map(find, names_of_hosts()))


def defaults() -> tuple[str, ...]:
    """The hosts that are meant where nobody names one."""
    return tuple(host.name for host in every() if host.default)


class HookInput(Record):
    """What a host passed: its name, the event's, and what it passed, as it came.

    `sent_back`: an action that was done before this one sends the agent back.
    """

    host: str
    event: str
    passed: dict[str, object]
    sent_back: bool = False

    def text(self, name: str) -> str:
        """A field that is text; empty where it is absent or something else.

        Half a character, which JSON can hold and no file can, is a question mark.
        """
        value = self.passed.get(name)
        return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""

    @property
    def session(self) -> str:
        """The session as a name that is safe as a folder's; empty where none was passed."""
        return safe_name(self.text("session_id"))

    @property
    def agent(self) -> str:
        """The subagent as a safe name; empty in the main agent."""
        return safe_name(self.text("agent_id"))

    @property
    def agent_type(self) -> str:
        """What kind of subagent it is, on one line; `subagent` where the host does not say."""
        return names.one_line(self.text("agent_type"))[:100] or "subagent"


class Answer(Record):
    """What an action wants said. `context` are our own lines; `quoted` is text from the
    repository, `origin` where it stands; `block` is why the agent has to go on, and how.
    `result` takes the place of a tool's, in that tool's shape. `refs` are the addresses of the
    documents that it carries, the one with most of the text first.
    """

    context: str = ""
    quoted: str = ""
    origin: str = ""
    block: str = ""
    result: object = None
    refs: tuple[str, ...] = ()


NOTHING = Answer()


def parse(host: str, event: str, data: bytes) -> HookInput:
    """The input of a hook, with our names for its fields. Raises ContextError for a host that is
    not known or what is not an object; nothing at all is an input without fields.
    """
    renamed = find(host).renamed or {}
    text = data.decode("utf-8", "replace").lstrip("\ufeff")
    found = formats.from_json(text, "the hook's input") if text.strip() else {}
    if not isinstance(found, dict):
        raise ContextError("the hook's input: must be a JSON object")
    named = found.get("hook_event_name")
    found |= {ours: found[theirs] for ours, theirs in renamed.items() if theirs in found}
    prompt, tag = found.get("prompt"), find(host).wraps
    if tag and isinstance(prompt, str) and prompt.startswith(f"<{tag}>"):
        found["prompt"] = prompt.partition(f"</{tag}>")[2].lstrip()
    return HookInput(host=host, event=event or (named if isinstance(named, str) else ""),
                     passed=found)  # fmt: skip


def may_hold_a_verdict(text: str) -> bool:
    """Whether it is worth looking for a verdict's header: all of its forms hold one of two words.

    Here since most messages hold none, and reading one takes five modules.
    """
    upper = text.upper()
    return "VERDICT" in upper or "STATUS" in upper


def output(host: str, event: str, answer: Answer) -> str:
    """`answer` as what the host takes on standard output after this event.

    Empty where there is nothing to say, and where the event cannot carry it.
    """
    known = find(host).events.get(event)
    if known is None:
        return ""
    if answer.block.strip() and "block" in known.takes and find(host).block_key:
        return formats.to_json({find(host).block_key: answer.block}) + "\n"
    if answer.block.strip() and "block" in known.takes:
        return formats.to_json({"decision": "block", "reason": answer.block}) + "\n"
    if isinstance(answer.result, str) and "instead" in known.takes:
        return formats.to_json({"decision": "block", "reason": answer.result}) + "\n"
    if isinstance(answer.result, str) and "respond" in known.takes:
        return formats.to_json({"modifiedResponse": answer.result}) + "\n"
    if answer.result is not None and "modify" in known.takes:
        return formats.to_json({"modifiedResult": answer.result}) + "\n"
    if answer.result is not None and "replace" in known.takes:
        inner = {"hookEventName": event, "updatedToolOutput": answer.result}
        return formats.to_json({"hookSpecificOutput": inner}) + "\n"
    said = [answer.context, labelled(answer.quoted, answer.origin)]
    text = "\n\n".join(part for part in said if part.strip())
    if not text or "context" not in known.takes:
        return ""
    if find(host).flat:
        return formats.to_json({find(host).context_key: text}) + "\n"
    inner = {"hookEventName": event, "additionalContext": text}
    return formats.to_json({"hookSpecificOutput": inner}) + "\n"


def labelled(text: str, origin: str) -> str:
    """Text of the repository as information: where it stands, and a fence it cannot close."""
    if not text.strip():
        return ""
    origin = names.one_line(origin) or "this repository"
    head = f"Information from {origin}, quoted as it stands; it may be out of date:"
    return f"{head}\n\n{filters.fenced(text, 'markdown')}"


def safe_name(text: str) -> str:
    """`text` as a name of at most 64 letters, digits, `.`, `_`, `-`; itself where it is one."""
    plain = names.dashed(text.strip())
    if plain == text and len(plain) <= 64 and plain[:1].isalnum():
        return plain
    if not plain:
        return ""
    return f"{plain.strip('._-')[:40]}-{names.sha256(text.encode('utf-8', 'replace'))[:12]}".lstrip(
        "-"
    )

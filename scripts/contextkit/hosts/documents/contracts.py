"""Host contracts: what a program that runs agents passes to a hook, and what it accepts back.

Each host is declared in a module of `declared/`; no other code names one. Every input field is
optional and unknown fields are normal: hosts change faster than this toolkit.
"""

from __future__ import annotations

import os

from contextkit.base import filters, formats, names, version
from contextkit.base.errors import ContextError
from contextkit.base.records import Record
from contextkit.base.type_names import Any


class HostEvent(Record):
    """One event of a host, by the host's own name."""

    name: str
    does: str = ""  # our name for the event, if it differs
    # What an answer may hold: `context` is text for the agent; `plain` the same without JSON;
    # `block` a reason that sends the agent back; `rewrite` another input for the tool, which
    # `allow` also lets run; `replace` another result for the tool, whose name matches `matcher`;
    # `instead` a block whose reason is that result; `modify` that result with its keys in camel
    # case; `respond` another text for a subagent's last message.
    takes: tuple[str, ...] = ()
    matcher: str = ""
    # Those whose long output may be replaced on request; a name that ends in `_` is a prefix. An
    # event that exists for them alone is only installed then.
    tools: tuple[str, ...] = ()
    text: str = ""  # the field of a tool's result that holds what the model sees
    timeout: int = 10  # seconds that the host is asked to wait
    budget: float = 2.0  # seconds that an answer may take

    @property
    def ours(self) -> str:
        """The event whose actions apply."""
        return self.does or self.name

    def about(self, outputs: bool = True) -> str:
        """Return a pattern of the tools that it is about, without `tools` unless `outputs`."""
        if not (self.tools and outputs):
            return self.matcher
        tools = [f"{tool}.+" if tool.endswith("_") else tool for tool in self.tools]
        return f"^({'|'.join(filter(None, [self.matcher, *tools]))})$"

    def is_about(self, tool: str) -> bool:
        """Return whether a tool is one of `tools`."""
        return any(
            tool == name or (name[-1:] == "_" and tool.startswith(name)) for name in self.tools
        )


class Host(Record):
    """A host: its name, command, files, and events by name."""

    name: str
    title: str
    command: str
    settings: str  # the file for our hooks
    events: dict[str, HostEvent]
    default: bool = False  # adopting without naming a host includes this one
    local_settings: str = ""  # the file for our hooks that git ignores
    instructions: str = "AGENTS.md"
    skills: str = ".agents/skills"
    # The variable that names the project's folder; without one the launcher is searched for from
    # the current directory up.
    project: str = ""
    arguments: bool = False  # a program is started without a shell
    # The settings have a version, an event's list holds handlers without groups, and the answer
    # holds the text at its top level, as `context_key`; with `block_key`, a block's reason too.
    flat: bool = False
    context_key: str = "additionalContext"
    block_key: str = ""
    timeouts: int = 1  # units of the host's timeout per second
    renamed: dict[str, str] | None = None  # fields that the host names differently, by our names
    wraps: str = ""  # the tag in which the host puts a hook's text before the next prompt
    below: str = ""  # what to do if it runs no hooks when started in a folder below the project
    process: str = ""  # the variable with its process id (default: the hook's parent process)
    worktrees: str = ""  # where it puts worktrees of subagents
    programs: bool = False  # the `bin` of a plugin is on the agent's PATH
    trust: str = ""  # what to do before hooks run
    tells_trust: tuple[str, ...] = ()  # the command's arguments that list which are trusted
    # How it is recognized, and its own files:
    sessions: tuple[str, ...] = ()  # variables that hold the session's id
    marks: tuple[str, ...] = ()  # variables that show that a command runs in this host
    home: tuple[str, ...] = ("", "")  # the variable of its folder, the default below the user's
    # The file of settings and key for rules of what needs no permission, and the rule for a shell
    # command that begins so.
    allows: tuple[str, ...] = ()
    keeps: tuple[str, ...] = ("", "")  # the file in `home` and key for the days of transcripts
    # Where sessions leave transcripts in `home`; `{project}` is the project's path with every odd
    # character a hyphen, `{days}` stands for folders by year, month and day.
    transcripts: str = ""
    transcript_form: str = ""  # of a line (`memory/flows/transcripts.py`)
    # Of a token that is written to the cache, read from it, and answered, where one of input costs
    # 1; from the provider's price list.
    prices: tuple[float, ...] = (1.0, 1.0, 1.0)
    notices: tuple[str, ...] = ()  # how a prompt begins that comes from the host itself
    agent_call: str = ""  # how an agent starts subagents
    any_agent: str = ""  # what to write there for an agent without a profile of its own
    headless: str = ""  # the command that takes a prompt on standard input
    # A variable that another host sets for hooks, and that host, which runs these hooks too.
    lends: tuple[str, ...] = ("", "")
    # What decides whether a tool needs the user's permission:
    rules: tuple[str, ...] = ()  # the project's files; the user's are in `settings.json` of `home`
    managed: tuple[str, ...] = ()  # files with which an administrator overrides all of them
    policies: tuple[str, ...] = ()  # rules that name programs: no look into a wrapped command
    trusts: str = ""  # the file, beside `home`, that says which projects the user trusts

    def folder(self) -> str:
        """Return the folder of the host's own files; empty if unknown."""
        variable, below = self.home
        return os.environ.get(variable, "") or (below and os.path.expanduser(f"~/{below}"))

    def days_kept(self) -> int:
        """Return how many days the host keeps transcripts: its own setting, or 30."""
        file, key = self.keeps
        path = os.path.join(self.folder(), file)
        days = formats.object_in(formats.tail(path, 1 << 20)).get(key) if file else None
        return days if type(days) is int and 0 < days < 100_000 else 30


LAUNCHER = "scripts/hook.sh"  # below the toolkit: what a host's settings start
SUBFOLDER = "started in a subfolder of the project does not run its hooks"
KNOWN: dict[str, Host] = {}  # those imported so far, by name


def door() -> str:
    """Return how commands are called where no Makefile of the project has them."""
    place = version.toolkit("bin", "contextkit")
    return f"'{place}'" if " " in place else place


def by_name(*events: HostEvent) -> dict[str, HostEvent]:
    return {event.name: event for event in events}


def names_of_hosts() -> tuple[str, ...]:
    """Return the names of all declared hosts, in alphabetical order."""
    from contextkit.hosts.documents import declared

    files = os.listdir(os.path.dirname(declared.__file__))
    modules = {name[:-3] for name in files if name.endswith(".py") and name[0] != "_"}
    return tuple(sorted({*KNOWN, *modules}))


def find(name: str) -> Host:
    """Return the declaration of a host. Raises ContextError for an unknown name."""
    if name not in KNOWN:
        if name not in names_of_hosts():
            choices = ", ".join(names_of_hosts())
            raise ContextError(f"host: {names.one_line(name)[:40]!r} is not one of {choices}")
        package = "contextkit.hosts.documents.declared"
        KNOWN[name] = __import__(f"{package}.{name}", fromlist=["HOST"]).HOST
    return KNOWN[name]


def every() -> tuple[Host, ...]:
    """Return every declared host."""
    return tuple(map(find, names_of_hosts()))


def defaults() -> tuple[str, ...]:
    """Return the names of the hosts that are meant if none is named."""
    return tuple(host.name for host in every() if host.default)


class HookInput(Record):
    """The input of a hook: the host's name, the event's name, and the fields as passed.

    sent_back: an earlier action for this event sends the agent back.
    """

    host: str
    event: str
    passed: dict[str, object]
    sent_back: bool = False

    @property
    def declared(self) -> HostEvent:
        """What the host declares of the event."""
        return find(self.host).events[self.event]

    def text(self, name: str) -> str:
        """A text field or ''; half a surrogate pair becomes a question mark."""
        value = self.passed.get(name)
        return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""

    def inside(self, name: str) -> dict[str, Any]:
        """Return an object field; empty if it is absent or none."""
        return formats.inside(self.passed, name)

    @property
    def session(self) -> str:
        """The session as a safe folder name; empty if none was passed."""
        return safe_name(self.text("session_id"))

    @property
    def agent(self) -> str:
        """The subagent as a safe name; empty for the main agent."""
        return safe_name(self.text("agent_id"))

    @property
    def agent_type(self) -> str:
        """The subagent's type, on one line; `subagent` if the host does not pass one."""
        return names.one_line(self.text("agent_type"))[:100] or "subagent"


class Answer(Record):
    """What an action wants to say."""

    context: str = ""  # our own lines, or a prompt around others' words if `is_prompt`
    quoted: str = ""  # text from the repository, found at `origin`
    origin: str = ""
    is_prompt: bool = False
    block: str = ""  # why the agent must go on, and how
    result: object = None  # a replacement for a tool's result, in that tool's shape
    input: object = None  # another input for a tool: not a word of it is changed on its way
    decision: str = ""  # `allow` if that input may run without a question
    refs: tuple[str, ...] = ()  # addresses of its documents, the one with the most text first


NOTHING = Answer()


def parse(host: str, event: str, data: bytes) -> HookInput:
    """Parse the input of a hook and add our names for its fields. Raises ContextError."""
    declared = find(host)
    text = data.decode("utf-8", "replace").lstrip("\ufeff")
    fields = formats.from_json(text, "the hook's input") if text.strip() else {}
    if not isinstance(fields, dict):
        raise ContextError("the hook's input: must be a JSON object")
    named, renamed = fields.get("hook_event_name"), declared.renamed or {}
    fields |= {ours: fields[theirs] for ours, theirs in renamed.items() if theirs in fields}
    prompt, tag = fields.get("prompt"), declared.wraps
    if tag and isinstance(prompt, str) and prompt.startswith(f"<{tag}>"):
        fields["prompt"] = prompt.partition(f"</{tag}>")[2].lstrip()
    event = event or (named if isinstance(named, str) else "")
    return HookInput(host=host, event=event, passed=fields)


def may_hold_a_verdict(text: str) -> bool:
    """Whether a text may hold a verdict header; most do not, and parsing one is dear."""
    upper = text.upper()
    return "VERDICT" in upper or "STATUS" in upper


def output(host: str, event: str, answer: Answer) -> str:
    """`answer` in the form that the host reads after this event; '' if it cannot be told."""
    declared = find(host).events.get(event)
    reply = _said(find(host), declared, answer) if declared else {}
    return formats.to_json(reply) + "\n" if reply else ""


def _said(host: Host, event: HostEvent, answer: Answer) -> dict[str, object]:
    takes, block, result = event.takes, answer.block, answer.result
    if block.strip() and "block" in takes:
        return {host.block_key: block} if host.block_key else {"decision": "block", "reason": block}
    if isinstance(result, str) and "instead" in takes:
        return {"decision": "block", "reason": result}
    if isinstance(result, str) and "respond" in takes:
        return {"modifiedResponse": result}
    if result is not None and "modify" in takes:
        return {"modifiedResult": result}
    inner: dict[str, object] = {}
    if answer.input is not None and "rewrite" in takes:
        may_run = {"permissionDecision": "allow"} if answer.decision or "allow" in takes else {}
        inner = {**may_run, "updatedInput": answer.input}
    elif result is not None and "replace" in takes:
        inner = {"updatedToolOutput": result}
    elif "context" in takes:
        parts = [answer.context, labeled(answer.quoted, answer.origin)]
        text = "\n\n".join(part for part in parts if part.strip())
        inner = {host.context_key: text} if text else {}
    outer: dict[str, object] = {"hookSpecificOutput": {"hookEventName": event.name, **inner}}
    return inner if host.flat or not inner else outer


def notice(host: str, event: str, text: str) -> str:
    """Return what tells the user, not the agent, something at the start of a session; else ''."""
    declared = find(host).events.get(event)
    if declared is None or declared.ours != "SessionStart" or find(host).flat:
        return ""
    return formats.to_json({"systemMessage": names.one_line(text)}) + "\n"


def labeled(text: str, origin: str) -> str:
    """Label text from the repository as information: its origin, and a fence it cannot close."""
    if not text.strip():
        return ""
    origin = names.one_line(origin) or "this repository"
    head = f"Information from {origin}, quoted as it stands; it may be out of date:"
    return f"{head}\n\n{filters.fenced(text, 'markdown')}"


def safe_name(text: str) -> str:
    """Turn `text` into a name of at most 64 letters, digits, `.`, `_`, `-`; keep a valid one."""
    plain = names.dashed(text.strip())
    is_valid = plain == text and len(plain) <= 64 and plain[:1].isalnum()
    if is_valid or not plain:
        return plain
    digest = names.sha256(text.encode("utf-8", "replace"))[:12]
    return f"{plain.strip('._-')[:40]}-{digest}".lstrip("-")

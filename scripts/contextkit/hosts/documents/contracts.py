"""Hosts: what each program that runs agents passes to a hook, and what it accepts from one.

Taken from the hosts' public documentation, August to October 2026 (manuals/hosts.md). Every field
of an input is optional and an unknown one is normal: hosts change faster than we do.
"""

from __future__ import annotations

from contextkit.base import filters, formats, names
from contextkit.base.errors import ContextError
from contextkit.base.records import Record


class HostEvent(Record):
    """One event of a host. It `passes` fields beside the common ones; `context`: the answer may
    hand text to the agent; `block`: it may send the agent back with a reason.

    `timeout` is what we ask the host to wait, and `budget` what an answer may take, in seconds.
    """

    name: str
    passes: tuple[str, ...] = ()
    context: bool = False
    block: bool = False
    timeout: int = 10
    budget: float = 2.0


class Host(Record):
    """A host: how it is called, its command, the file our hooks go into, its events by name."""

    name: str
    title: str
    command: str
    settings: str
    events: dict[str, HostEvent]


COMMON = ("session_id", "transcript_path", "cwd", "hook_event_name", "permission_mode", "model")
_AGENT = ("agent_id", "agent_type")
_STOP = ("stop_hook_active", "last_assistant_message")
_SUBAGENT_STOP = (*_AGENT, *_STOP, "agent_transcript_path")


def _by_name(*events: HostEvent) -> dict[str, HostEvent]:
    return {event.name: event for event in events}


CLAUDE = Host(
    name="claude",
    title="Claude Code",
    command="claude",
    settings=".claude/settings.json",
    events=_by_name(
        HostEvent(name="SessionStart", passes=("source", "agent_type"), context=True),
        HostEvent(name="UserPromptSubmit", passes=("prompt", "prompt_id"), context=True),
        HostEvent(name="SubagentStart", passes=_AGENT, context=True),
        HostEvent(name="SubagentStop", passes=_SUBAGENT_STOP, block=True),
        HostEvent(name="PreCompact", passes=("trigger", "custom_instructions")),
        HostEvent(name="PostCompact", passes=("trigger", "compact_summary")),
        HostEvent(name="Stop", passes=_STOP, block=True),
        HostEvent(name="SessionEnd", passes=("reason",), timeout=5, budget=1.5),
    ),
)
CODEX = Host(
    name="codex",
    title="Codex",
    command="codex",
    settings=".codex/hooks.json",
    events=_by_name(
        HostEvent(name="SessionStart", passes=("source",), context=True),
        HostEvent(name="UserPromptSubmit", passes=("prompt", "turn_id"), context=True),
        HostEvent(name="SubagentStart", passes=(*_AGENT, "turn_id"), context=True),
        HostEvent(name="SubagentStop", passes=(*_SUBAGENT_STOP, "turn_id"), block=True),
        HostEvent(name="PreCompact", passes=("trigger", "turn_id")),
        HostEvent(name="PostCompact", passes=("trigger", "turn_id")),
        HostEvent(name="Stop", passes=(*_STOP, "turn_id"), block=True),
        HostEvent(name="SessionEnd", passes=("reason",), timeout=3, budget=1.0),
    ),
)
HOSTS = {host.name: host for host in (CLAUDE, CODEX)}


class HookInput(Record):
    """What a host passed: its name, the event's, and what it passed, as it came."""

    host: str
    event: str
    passed: dict[str, object]

    def text(self, name: str) -> str:
        """A field that is text; empty where it is absent or something else.

        Half a character, which JSON can hold and no file can, is a question mark.
        """
        value = self.passed.get(name)
        return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else ""

    @property
    def session(self) -> str:
        """The session as a name that is safe as a folder's; empty where none was passed."""
        return _safe(self.text("session_id"))

    @property
    def agent(self) -> str:
        """The subagent as a safe name; empty in the main agent."""
        return _safe(self.text("agent_id"))

    @property
    def agent_type(self) -> str:
        """What kind of subagent it is, on one line; `subagent` where the host does not say."""
        return names.one_line(self.text("agent_type"))[:100] or "subagent"


class Answer(Record):
    """What an action wants said. `context` are our own lines; `quoted` is text from the
    repository, `origin` where it stands; `block` is why the agent has to go on, and how. `refs` are
    the addresses of the documents that it carries, the one with most of the text first.
    """

    context: str = ""
    quoted: str = ""
    origin: str = ""
    block: str = ""
    refs: tuple[str, ...] = ()


NOTHING = Answer()


def parse(host: str, event: str, data: bytes) -> HookInput:
    """The input of a hook. Raises ContextError for a host that is not known or what is no object;
    nothing at all is an input without fields.
    """
    if host not in HOSTS:
        raise ContextError(f"host: {names.one_line(host)[:40]!r} is none of {', '.join(HOSTS)}")
    text = data.decode("utf-8", "replace").lstrip("\ufeff")
    found = formats.from_json(text, "the hook's input") if text.strip() else {}
    if not isinstance(found, dict):
        raise ContextError("the hook's input: must be a JSON object")
    named = found.get("hook_event_name")
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
    known = HOSTS[host].events.get(event)
    if known is None:
        return ""
    if answer.block.strip() and known.block:
        return formats.to_json({"decision": "block", "reason": answer.block}) + "\n"
    said = [answer.context, labelled(answer.quoted, answer.origin)]
    text = "\n\n".join(part for part in said if part.strip())
    if not text or not known.context:
        return ""
    inner = {"hookEventName": event, "additionalContext": text}
    return formats.to_json({"hookSpecificOutput": inner}) + "\n"


def labelled(text: str, origin: str) -> str:
    """Text of the repository as information: where it stands, and a fence it cannot close."""
    if not text.strip():
        return ""
    origin = names.one_line(origin) or "this repository"
    head = f"Information from {origin}, quoted as it stands; it may be out of date:"
    return f"{head}\n\n{filters.fenced(text, 'markdown')}"


def _safe(text: str) -> str:
    """`text` as a name of at most 64 letters, digits, `.`, `_`, `-`; itself where it is one."""
    plain = names.dashed(text.strip())
    if plain == text and len(plain) <= 64 and plain[:1].isalnum():
        return plain
    if not plain:
        return ""
    return f"{plain.strip('._-')[:40]}-{names.sha256(text.encode('utf-8', 'replace'))[:12]}".lstrip(
        "-"
    )

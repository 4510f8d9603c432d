"""Outputs too long to pass on, of subagents and tools: stored whole, a receipt in the context."""

from __future__ import annotations

import os

from contextkit.base import addresses, files, formats, ledger, names, sessions, tokens
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents import seen_agents
from contextkit.hosts.documents.contracts import NOTHING, Answer, HookInput
from contextkit.hosts.documents.seen_agents import HookAgent
from contextkit.payloads.documents import receipts
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.flows import retention, storing

_SECONDS = 2.0  # for digesting a text; a host waits for ten
_ENCODED = ("data", "blob")  # keys whose values are not text: images, sound, files
_NOTE = 1_000  # characters that a tool may put below a report
_MOST = 120  # characters in a topic
_ABOUT = 60  # characters of what an agent works on
_BEGINNING, _FIRST = 1 << 20, 5  # bytes of an agent's transcript that are read, and lines


def keep(layout: Layout, hook: HookInput) -> Answer:
    """Store a subagent's report: the file that it left, or its last message if that is too long.

    A message is stored only once. An agent is sent back once: to answer in its own words if its
    message is longer than `hook_report_tokens` (unless the host lets us replace its result), or to
    correct an answer that its report does not back.
    """
    with seen_agents.locked(layout, hook.session):
        return _Stop(layout, hook).keep()


class _Stop:
    """A subagent that stops: its message, its report (maybe a file), and its record."""

    def __init__(self, layout: Layout, hook: HookInput) -> None:
        self.layout, self.hook, self.now = layout, hook, names.now()
        self.text = hook.text("last_assistant_message")
        self.report = ""
        self.record = HookAgent()  # without an id, agents cannot be told apart
        if hook.agent:
            self.record = seen_agents.load(layout, hook.session, hook.agent)
        self.once = bool(hook.agent) and not (self.record.asked or hook.sent_back)
        # Whether the host takes a receipt in place of this agent's message now.
        self.takes = not {"respond", "instead"}.isdisjoint(hook.declared.takes)
        self.long = tokens.estimate(self.text) > layout.limits.hook_report_tokens

    def keep(self) -> Answer:
        """Store it, and answer the host."""
        layout, hook, text, record = self.layout, self.hook, self.text, self.record
        digest = names.sha256(text.encode("utf-8"))
        left = receipts.left_by(layout, hook.agent, hook.text("cwd")) if hook.agent else ""
        if hook.agent and record.digest == digest and not left:
            return NOTHING
        self.record = record = record.replace(about=record.about or _about(hook))
        made = self._made(left)
        for ref in () if record.asked else addresses.named_in(layout, text):
            ledger.note(layout, ledger.ACKNOWLEDGED, ref, agent=hook.agent_type)
        stored = layout.shown(made.path) if made else record.stored
        verdict = self._verdict(stored)
        long = self.long and self.report == text
        later = _is_replaced_later(hook)
        is_replaced = later or self.takes
        passes = long and self.once and is_replaced
        block = ""  # why it is sent back
        if made and self.once and not passes:
            mending = receipts.mend(made.missing) if made.missing else ""
            block = receipts.once_more(stored) if long else mending
        if hook.agent:
            self.record = record.replace(
                agent_type=record.agent_type or hook.agent_type, stopped=self.now, digest=digest,
                stored=stored, verdict=verdict, asked=record.asked or bool(block),
            )  # fmt: skip
            seen_agents.save(layout, hook.session, hook.agent, self.record)
            if made and self.report != text and not block:
                self._link(made)
        if made and not (passes and later):
            self._note_cost(made, block, passes)
        if made and passes and made.receipt:
            return Answer(result=made.receipt)
        return Answer(block=block)

    def _made(self, left: str) -> storing.Stored | None:
        """The stored text: the report in the file that was left, or the message if it is long."""
        layout, hook, text, record = self.layout, self.hook, self.text, self.record
        source = hook.agent_type
        topic = record.about or source
        if left:
            self.report = files.read(left)
            made = _store(layout, hook, topic, source, self.report, text, passed=False)
            os.unlink(left)
            return made
        long = tokens.estimate(text) > layout.limits.payload_budget
        path = layout.join(record.stored)
        is_named = record.stored and (not long or record.stored in text)
        if record.asked and is_named and os.path.isfile(path):
            payload = payloads.load(path, record.stored)
            self.report = payload.content
            return storing.answered(layout, path, payload, text, self.now, _SECONDS)
        if long:
            self.report = text
            later = self.long and self.once and not self.takes
            return _store(layout, hook, topic, source, text, passed=False, read=not later)
        return None

    def _note_cost(self, made: storing.Stored, block: str, replaced: bool) -> None:
        """Note the tokens of a stored report that reached the main agent, and of a second turn."""
        agent, to, kind = self.hook.agent_type, f"session:{self.hook.session}", made.kind
        size, cost = tokens.estimate(self.text), tokens.estimate(block)
        if not block:
            event = ledger.RENDERED if replaced else ledger.INJECTED
            told = tokens.estimate(made.receipt) if replaced else size
            ledger.note(self.layout, event, made.ref, tokens=told, to=to, agent=agent, kind=kind)
        if block or self.record.asked:
            asked = cost or size
            ledger.note(self.layout, ledger.ASKED, made.ref, tokens=asked, agent=agent, kind=kind)

    def _link(self, made: storing.Stored) -> None:
        """Note what to tell the main agent about a report whose answer it gets unchanged."""
        hook, stored, remarks = self.hook, self.record.stored, made.remarks
        if stored not in self.text:
            first = payloads.first_line(stored)
            remarks = (f"its report: {stored} (its line 1 is line {first})", *remarks)
        if remarks:
            line = f"{hook.agent_type} {hook.agent[:8]}: {'; '.join(remarks)}"
            files.write(seen_agents.link(self.layout, hook.session, hook.agent), line + "\n")

    def _verdict(self, stored: str) -> str:
        """Record the verdict in the message or the report; return its name, '' for none."""
        texts = (self.text, self.report)
        if self.record.asked or not any(map(hosts.may_hold_a_verdict, texts)):
            return self.record.verdict
        from contextkit.hosts.flows import reviews
        from contextkit.reviews.documents import headers, verdicts

        if reviews.expected(self.layout, self.hook, self.now):  # its file says it
            return self.record.verdict
        header = next(filter(None, map(headers.parse, texts)), None)
        if header is None:
            return ""
        name = self._name()
        fields = {field: value for field, value in vars(header).items() if field != "form"}
        fields |= {"agent": name, "summary": names.one_line(header.summary) or header.status,
                   "detail_path": stored or header.detail_path,
                   "timestamp": names.iso(self.now), "session_id": self.hook.session}  # fmt: skip
        verdicts.save(self.layout, verdicts.Verdict(**fields))
        return name

    def _name(self) -> str:
        """The name for its verdict: its type, with its id if another may have that, too."""
        hook, record = self.hook, self.record
        if record.verdict:
            return record.verdict
        kind = (record.agent_type or hook.agent_type).replace("/", "-")
        others = seen_agents.of_session(self.layout, hook.session) if hook.agent else {}
        for agent, other in others.items():
            if agent != hook.agent and other.verdict == kind and record.started <= other.stopped:
                return f"{kind}:{hook.agent[-8:]}"
        return kind


def _about(hook: HookInput) -> str:
    """The work of an agent in a line: its call's description, else the beginning of its task."""
    called = hook.inside("tool_input")
    path = hook.text("agent_transcript_path")
    described = called.get("description") or _in_file(path.removesuffix(".jsonl") + ".meta.json")
    text = described or called.get("prompt") or _in_file(path)
    return names.clipped_at_space(names.one_line(str(text or "")), _ABOUT)


def _in_file(path: str) -> str:
    """The description, or the first prompt, in a file that a host keeps about an agent; or ''."""
    lines = formats.beginning(path, _BEGINNING).split(b"\n")[:_FIRST]
    for fields in map(formats.object_in, lines):
        content = fields.get("description") or formats.inside(fields, "message").get("content")
        if text := formats.texts_of(content):
            return text
    return ""


def tell_links(layout: Layout, hook: HookInput) -> Answer:
    """Tell the main agent where the reports of its answers are."""
    lines = [line for path in seen_agents.links(layout, hook.session)
             if (line := seen_agents.take(path))]  # fmt: skip
    return Answer(context="\n".join(lines))


def _is_replaced_later(hook: HookInput) -> bool:
    """Whether this agent's result goes through a tool whose output we can replace.

    That of one in the background reaches the main agent in a prompt, which no hook can change.
    """
    tasks = hook.passed.get("background_tasks")
    if not isinstance(tasks, list):
        return False
    behind = any(isinstance(task, dict) and task.get("id") == hook.agent for task in tasks)
    events = hosts.find(hook.host).events.values()
    return not behind and any(e.ours == "PostToolUse" and "replace" in e.takes for e in events)


def hand_receipt(layout: Layout, hook: HookInput) -> Answer:
    """Replace a report that ended in the foreground with its receipt, in the tool's own shape."""
    response = hook.inside("tool_response")
    place = hook.declared.text
    agent = hosts.safe_name(str(response.get("agentId") or ""))
    if not isinstance(response.get(place or "content"), (str, list)):
        about = _about(hook)
        if agent and about:  # the call has just started an agent in the background
            with seen_agents.locked(layout, hook.session):
                record = seen_agents.load(layout, hook.session, agent)
                seen_agents.save(layout, hook.session, agent, record.replace(about=about))
        return NOTHING
    if place:
        report = _unwrapped(formats.texts_of(response[place]))
        kind = str(hook.inside("tool_input").get("agent_name") or "")
        name = f"{names.slug(kind)}-{names.sha256(report.encode('utf-8', 'replace'))[:8]}"
        ended = {"agent_type": kind, "agent_id": name, "last_assistant_message": report}
        return keep(layout, hook.replace(passed={**hook.passed, **ended}))
    text = formats.texts_of(response["content"])
    link = seen_agents.take(seen_agents.link(layout, hook.session, agent)) if agent else ""
    if tokens.estimate(text) <= layout.limits.hook_report_tokens:
        content = [{"type": "text", "text": f"{text}\n\n{link}"}]
        return Answer(result={**response, "content": content}) if link else NOTHING
    record = seen_agents.load(layout, hook.session, agent) if agent else HookAgent()
    kind = record.agent_type or hook.agent_type
    made = _store(layout, hook, _about(hook) or kind, kind, _as_stored(layout, record.stored, text))
    content = [{"type": "text", "text": made.receipt}]
    return Answer(result={**response, "content": content})


def _as_stored(layout: Layout, stored: str, text: str) -> str:
    """A report as stored when its agent stopped: the tool may add blank lines or a note below."""
    path = layout.join(stored)
    if not stored or not os.path.isfile(path):
        return text
    try:
        content = payloads.load(path, stored).content
    except ContextError:  # it was edited since
        return text
    is_same = text.strip().startswith(content.strip()) and len(text) - len(content) < _NOTE
    return content if is_same else text


def _unwrapped(text: str) -> str:
    """The report in a tool's result that wraps it in a sentence and JSON; else the text itself."""
    head, brace, _ = text.partition("{")
    if not brace or len(head) > 2000:
        return text
    import json

    try:
        wrapper, end = json.JSONDecoder(strict=False).raw_decode(text, len(head))
    except ValueError:
        return text
    inner = formats.inside(wrapper).get("response")
    whole = isinstance(inner, str) and not text[end:].strip()
    return str(inner) if whole else text


def shorten(layout: Layout, hook: HookInput) -> Answer:
    """The tool's result, in its shape, with digests in place of long outputs."""
    from contextkit.hosts.flows import rewriting

    event = hook.declared
    if rewriting.prints_ours(layout, hook.inside("tool_input").get("command")):
        return NOTHING
    whole = hook.inside("tool_response") if event.text else {}
    result = whole.get(event.text) if whole else hook.passed.get("tool_response")
    shortened = _shortened(layout, hook, result)
    if shortened == result:
        return NOTHING
    if "modify" in event.takes:
        shortened = {_camel(key): value for key, value in {**whole, event.text: shortened}.items()}
    return Answer(result=shortened)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _shortened(layout: Layout, hook: HookInput, result: object) -> object:
    if isinstance(result, str):
        most = layout.limits.hook_tool_output_tokens
        if len(result) <= most or tokens.estimate(result) <= most or "@stored: " in result:
            return result
        from contextkit.outputs.flows import telling

        tool, called = names.one_line(hook.text("tool_name"))[:_MOST], hook.inside("tool_input")
        first = next((text for text in called.values() if isinstance(text, str)), "")
        topic = f"{tool}: {names.one_line(first)}".removesuffix(": ")[:_MOST].strip()
        response = hook.inside("tool_response")  # some hosts say how the command ended
        stated = next((response[k] for k in ("exit_code", "exitCode") if k in response), None)
        status = stated if type(stated) is int else None
        ending = "" if status is None else telling.ending(status, 0)
        told = telling.Told(content=result, topic=topic, source=tool, session=hook.session,
                            ending=ending, status=status)  # fmt: skip
        return telling.digested(layout, told)
    if isinstance(result, list):
        return [_shortened(layout, hook, value) for value in result]
    if isinstance(result, dict) and not result.get("isImage"):
        return {key: value if key in _ENCODED else _shortened(layout, hook, value)
                for key, value in result.items()}  # fmt: skip
    return result


def hand_in(layout: Layout, hook: HookInput) -> None:
    """Store a launched agent's last message, and record its verdict under the agent's own name."""
    agent = os.environ.get("CONTEXT_AGENT", "") or os.environ["CONTEXT_SUBAGENT_ID"]
    passed = {**hook.passed, "agent_type": agent, "agent_id": os.environ["CONTEXT_SUBAGENT_ID"]}
    keep(layout, hook.replace(passed=passed, sent_back=True))


def _store(
    layout: Layout, hook: HookInput, topic: str, source: str, text: str, answer: str = "",
    **how: bool,
) -> storing.Stored:  # fmt: skip
    """Store `text` as a payload, `how` as `storing.store` says; `answer` is its author's."""
    now = names.now()
    session = hook.session or sessions.current(layout, "", now)[0]
    output = storing.reported(topic, source, text, answer)
    made = storing.store(layout, session, output, now, _SECONDS, **how)
    kept = hosts.find(hook.host).days_kept()
    retention.hold(layout, session, hook.text("transcript_path"), kept, now)
    return made

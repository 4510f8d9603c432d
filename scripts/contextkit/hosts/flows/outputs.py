"""Outputs too long to pass on: stored whole, with a receipt in the context.

keep            a subagent's last message; the verdict in it is recorded
hand_receipt    the report that a tool brings from a subagent
shorten         the output of any other tool
hand_in         the report of a launched agent that is a session of its own
"""

from __future__ import annotations

import os

from contextkit.base import addresses, formats, ledger, names, sessions, tokens
from contextkit.base.layout import Layout
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents import seen_agents
from contextkit.hosts.documents.contracts import NOTHING, Answer, HookInput
from contextkit.hosts.documents.seen_agents import HookAgent
from contextkit.hosts.flows import reviews
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.flows import storing
from contextkit.reviews.documents import verdicts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


_SUMMARY = 600  # characters in a receipt written without the encoder
_ENCODED = ("data", "blob")  # keys whose values are not text: images, sound, files
_MOST = 120  # characters in a topic


def keep(layout: Layout, given: HookInput) -> Answer:
    """Store `last_assistant_message` if it is over budget, and record the verdict in its header.

    A message that was stored already (a host may stop an agent twice) is not stored again. Above
    `hook_report_tokens` the agent is sent back once, to answer with the receipt instead, except for
    an agent in the foreground whose result the host lets us replace.
    """
    text = given.text("last_assistant_message")
    count = tokens.estimate(text)
    said = hosts.may_hold_a_verdict(text)
    now = names.now()
    with seen_agents.locked(layout, given.session):
        known = HookAgent()  # without an id, agents cannot be told apart
        if given.agent:
            known = seen_agents.load(layout, given.session, given.agent)
        digest = names.sha256(text.encode("utf-8"))
        if given.agent and known.digest == digest:
            return NOTHING
        stored = receipt = ""
        answers = bool(known.receipt)  # the current message is its answer with the receipt
        if count > layout.limits.payload_budget and not (answers and known.stored in text):
            stored, receipt = _store(layout, given, given.agent_type, given.agent_type, text)
        for ref in () if answers else addresses.named_in(layout, text):
            ledger.note(layout, ledger.ACKNOWLEDGED, ref, agent=given.agent_type)
        said = said and not answers and not reviews.expected(layout, given, now)  # its file says it
        named = _record(layout, given, text, stored, known, now) if said else known.verdict
        short = count <= layout.limits.hook_report_tokens
        let_through = short or answers or given.sent_back or not given.agent
        if given.agent:
            known = known.replace(
                agent_type=known.agent_type or given.agent_type,
                stopped=now,
                digest=digest,
                stored=stored or known.stored,
                receipt=known.receipt if let_through else receipt,
                verdict=named,
            )
            seen_agents.save(layout, given.session, given.agent, known)
    if let_through or _is_replaced_later(given):
        return NOTHING
    takes = hosts.find(given.host).events[given.event].takes
    if {"respond", "instead"} & set(takes):
        return Answer(result=receipt)
    return Answer(block=_instead(receipt))


def _is_replaced_later(given: HookInput) -> bool:
    """Return whether this agent's result goes through a tool whose output we can replace.

    A host says which agents run in the background; the message of those reaches the main agent as a
    prompt, which no hook can change.
    """
    tasks = given.passed.get("background_tasks")
    if not isinstance(tasks, list):
        return False
    behind = any(isinstance(task, dict) and task.get("id") == given.agent for task in tasks)
    events = hosts.find(given.host).events.values()
    return not behind and any(e.ours == "PostToolUse" and "replace" in e.takes for e in events)


def _instead(receipt: str) -> str:
    """Return what to tell an agent whose report is too long to pass on."""
    return "\n".join([
        "This report is stored in full; whoever asked for it gets the receipt below instead.",
        "Please answer once more, with exactly these lines and nothing else:",
        "",
        receipt.strip(),
    ])  # fmt: skip


def hand_receipt(layout: Layout, given: HookInput, response: dict[str, Any]) -> Answer:
    """Replace a report that ended in the foreground with its receipt, in the tool's own shape.

    On a host without an event for the end of a subagent, this is the only place to do so.
    """
    place = hosts.find(given.host).events[given.event].text
    if place:
        report = formats.texts_of(response[place])
        asked = given.passed.get("tool_input")
        kind = str(asked.get("agent_name") or "") if isinstance(asked, dict) else ""
        name = f"{names.slug(kind)}-{names.sha256(report.encode('utf-8', 'replace'))[:8]}"
        ended = {"agent_type": kind, "agent_id": name, "last_assistant_message": report}
        return keep(layout, given.replace(passed={**given.passed, **ended}))
    text = formats.texts_of(response["content"])
    if tokens.estimate(text) <= layout.limits.hook_report_tokens:
        return NOTHING
    agent = hosts.safe_name(str(response.get("agentId") or ""))
    receipt = seen_agents.load(layout, given.session, agent).receipt if agent else ""
    if not receipt:
        receipt = _store(layout, given, given.agent_type, given.agent_type, text)[1]
    content = [{"type": "text", "text": receipt}]
    return Answer(result={**response, "content": content})


def shorten(layout: Layout, given: HookInput) -> Answer:
    """Return the tool's result with a receipt for each text above `hook_tool_output_tokens`.

    Each host expects its own shape for a tool's result, so a long text is replaced where it is and
    the rest stays.
    """
    event = hosts.find(given.host).events[given.event]
    response = given.passed.get("tool_response")
    whole = response if isinstance(response, dict) and event.text else {}
    result = whole.get(event.text) if whole else response
    shortened = _shortened(layout, given, result)
    if shortened == result:
        return NOTHING
    if "modify" in event.takes:
        shortened = {_camel(key): one for key, one in {**whole, event.text: shortened}.items()}
    return Answer(result=shortened)


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def _shortened(layout: Layout, given: HookInput, found: object) -> object:
    if isinstance(found, str):
        most = layout.limits.hook_tool_output_tokens
        if len(found) <= most or tokens.estimate(found) <= most or "@stored: " in found:
            return found
        tool = names.one_line(given.text("tool_name"))[:_MOST]
        return _store(layout, given, _topic(given, tool), tool, found)[1]
    if isinstance(found, list):
        return [_shortened(layout, given, one) for one in found]
    if isinstance(found, dict) and not found.get("isImage"):
        return {
            key: one if key in _ENCODED else _shortened(layout, given, one)
            for key, one in found.items()
        }
    return found


def _topic(given: HookInput, tool: str) -> str:
    """Return the tool's name with the command or address that it was called with."""
    asked = given.passed.get("tool_input")
    texts = asked.values() if isinstance(asked, dict) else ()
    first = next((text for text in texts if isinstance(text, str)), "")
    plain = "".join(char for char in names.one_line(first) if char.isprintable())
    return f"{tool}: {plain}".removesuffix(": ")[:_MOST].strip()


def hand_in(layout: Layout, given: HookInput) -> None:
    """Store a launched agent's last message, and record its verdict under the agent's own name."""
    agent = os.environ.get("CONTEXT_AGENT", "") or os.environ["CONTEXT_SUBAGENT_ID"]
    passed = {**given.passed, "agent_type": agent, "agent_id": os.environ["CONTEXT_SUBAGENT_ID"]}
    keep(layout, given.replace(passed=passed, sent_back=True))


def _store(layout: Layout, given: HookInput, topic: str, source: str, text: str) -> tuple[str, str]:
    """Store `text` as a payload; return its path and receipt."""
    now = names.now()
    session = given.session or sessions.current(layout, "", now)[0]
    output = storing.Output(
        topic=topic,
        source=source,
        content=text,
        tokens=tokens.estimate(text),
    )
    if _has_encoder():
        made = storing.store(layout, session, output, now)
        return layout.shown(made.path), made.receipt
    path = storing.keep(layout, session, output, now)
    return layout.shown(path), _plain_receipt(layout.shown(path), payloads.load(path, path))


def _has_encoder() -> bool:
    """Return whether the receipt encoder is available; it is not until the toolkit is set up."""
    from contextkit.base import packages

    try:
        import toons
    except ImportError:
        packages.extend_path()
        try:
            import toons  # noqa: F401
        except ImportError:
            return False
    return True


def _plain_receipt(path: str, payload: payloads.Payload) -> str:
    """Return a receipt of path and summary only: quoted texts, one field per line."""
    summary = names.one_line(payload.summary)[:_SUMMARY]
    fields = {"@stored": path, "keyFindings": summary}
    lines = [f"{name}: {formats.to_json(text)}" for name, text in fields.items()]
    return "\n".join([lines[0], "", *lines[1:], f"tokens_stored: {payload.tokens}", ""])


def _record(
    layout: Layout, given: HookInput, text: str, stored: str, known: HookAgent, now: int
) -> str:
    """Record the verdict in the text; return its name, or empty if there is none."""
    from contextkit.reviews.documents import headers

    header = headers.parse(text)
    if header is None:
        return ""
    name = _name(layout, given, known)
    verdict = verdicts.Verdict(
        agent=name,
        status=header.status,
        summary=names.one_line(header.summary) or header.status,
        type=header.type,
        model=header.model,
        tokens_spent=header.tokens_spent,
        files_changed=header.files_changed,
        findings_count=header.findings_count,
        detail_path=stored or header.detail_path,
        timestamp=names.iso(now),
        session_id=given.session,
        flags=header.flags,
    )
    verdicts.save(layout, verdict)
    return name


def _name(layout: Layout, given: HookInput, known: HookAgent) -> str:
    """Return the name for an agent's verdict: its type, taken over from an earlier agent.

    An agent that ran in parallel with another of its type, or with no known start, has its id
    appended.
    """
    if known.verdict:
        return known.verdict
    kind = known.agent_type or given.agent_type
    kind = kind.replace("/", "-")
    others = seen_agents.of_session(layout, given.session) if given.agent else {}
    for agent, other in others.items():
        if agent != given.agent and other.verdict == kind and known.started <= other.stopped:
            return f"{kind}:{given.agent[-8:]}"
    return kind

"""The flow of a subagent's last message: stored when it is long, its verdict recorded."""

from __future__ import annotations

from contextkit.base import addresses, ledger, names, sessions, tokens
from contextkit.base.layout import Layout
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents import seen_agents
from contextkit.hosts.documents.contracts import HookInput
from contextkit.hosts.documents.seen_agents import HookAgent
from contextkit.hosts.flows import reviews
from contextkit.payloads.flows import storing
from contextkit.reviews.documents import verdicts


def keep(layout: Layout, given: HookInput) -> None:
    """Store `last_assistant_message` above the budget, and record what its header concludes.

    A message that was stored already (a host may stop an agent twice) is not stored again.
    """
    text = given.text("last_assistant_message")
    long = tokens.estimate(text) > layout.limits.payload_budget
    said = hosts.may_hold_a_verdict(text)
    now = names.now()
    with seen_agents.locked(layout, given.session):
        known = HookAgent()  # one without an id cannot be told from another
        if given.agent:
            known = seen_agents.load(layout, given.session, given.agent)
        digest = names.sha256(text.encode("utf-8"))
        if given.agent and known.digest == digest:
            return
        for ref in addresses.named_in(layout, text):
            ledger.note(layout, ledger.ACKNOWLEDGED, ref, agent=given.agent_type)
        stored = _store(layout, given, text, now) if long else ""
        said = said and not reviews.expected(layout, given, now)  # its file says it
        named = _record(layout, given, text, stored, known, now) if said else ""
        if given.agent:
            kind = known.agent_type or given.agent_type
            known = known.replace(agent_type=kind, stopped=now, digest=digest, stored=stored)
            seen_agents.save(layout, given.session, given.agent, known.replace(verdict=named))


def _store(layout: Layout, given: HookInput, text: str, now: int) -> str:
    """The path of the payload that `text` is from now on."""
    session = given.session or sessions.current(layout, "", now)[0]
    output = storing.Output(
        topic=given.agent_type,
        source=given.agent_type,
        content=text,
        tokens=tokens.estimate(text),
    )
    return layout.shown(storing.keep(layout, session, output, now))


def _record(
    layout: Layout, given: HookInput, text: str, stored: str, known: HookAgent, now: int
) -> str:
    """Write the verdict that the text states of itself; returns its name, empty without one."""
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
    """The name of an agent's verdict: its type, which one that ran before it gives up.

    One that ran beside another of its type, or whose start nobody said, gets its id behind it.
    """
    if known.verdict:
        return known.verdict
    kind = known.agent_type or given.agent_type
    kind = kind.replace("/", "-")
    others = seen_agents.load_all(layout, given.session) if given.agent else {}
    for agent, other in others.items():
        if agent != given.agent and other.verdict == kind and known.started <= other.stopped:
            return f"{kind}:{given.agent[-8:]}"
    return kind

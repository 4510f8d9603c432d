"""An agent of a review run stops: check its file, and say what is wrong with it.

An agent that is a session of its own (`codex exec`, `claude -p`) fires Stop, not SubagentStop.
"""

from __future__ import annotations

import os

from contextkit.base import files, names, stores
from contextkit.base.layout import Layout
from contextkit.hosts.documents import seen_agents
from contextkit.hosts.documents.contracts import NOTHING, Answer, HookInput
from contextkit.reviews.documents import runs, verdicts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.reviews.documents.index import Terms
    from contextkit.reviews.flows.agent_files import Reading

_FINE = ("valid", "error")  # "error": an agent that says it could not review has answered
_ANSWER = "Findings written to "  # how the contract tells an agent to answer


def expected(layout: Layout, hook: HookInput, now: int) -> tuple[runs.Run, str] | None:
    """The live run that asked this agent, and its name there; None if no run did.

    A host passes its type (`fd-safety`, `x:review:fd-safety`) or its name; if many share a type,
    the path in the answer decides.
    """
    if not os.path.isdir(layout.store("run")):
        return None
    live_runs = runs.live(layout, now)
    live_runs.sort(key=lambda run: run.session_id != hook.session)  # runs of its own session first
    called = (hook.text("agent_type"), hook.text("agent_name"))
    for run in live_runs:
        by_end = {_end(agent): agent for agent in run.roster}
        for name in filter(None, map(str.strip, called)):
            if name in run.roster:
                return run, name
            if _end(name) in by_end:
                return run, by_end[_end(name)]
    _, mark, rest = hook.text("last_assistant_message").rpartition(_ANSWER)
    path = rest.partition("\n")[0].strip(" \t\"'`*.") if mark else ""
    asked = ((run, agent) for run in live_runs if path for agent in run.roster
             if layout.join(path) == runs.output_path(layout, run, agent))  # fmt: skip
    return next(asked, None)


def _end(name: str) -> str:
    return name.rpartition(":")[2]


def judge(layout: Layout, hook: HookInput) -> Answer:
    """Record the verdict of a run's agent; send it back while its file cannot pass as it is.

    It cannot pass if it is missing, malformed or contradicts itself, whatever it finds. After
    `hook_blocks` attempts, the first two are an ERROR, as they are for their readers; about a
    contradiction, the agent is asked once.
    """
    now = names.now()
    pair = expected(layout, hook, now)
    if pair is None:
        return NOTHING
    run, agent = pair

    def is_sent_back(doubts: bool = False) -> bool:
        key, most = hook.agent or names.slug(agent), layout.limits.hook_blocks
        return seen_agents.send_back(layout, hook.session, key, most, doubts)

    there = stores.names_in(layout.join(run.output_dir))
    has_begun = any(name.startswith((agent, verdicts.encode(agent))) for name in there)
    if not has_begun and is_sent_back():
        return Answer(block=_mending(layout, run, agent, "write", ["there is no such file"]))
    from contextkit.reviews.flows import agent_files

    asked = agent_files.of_run(layout, run).replace(agents=(agent,))
    reading = next(agent_files.read(layout, asked))
    verdict = agent_files.verdict(reading, run.id)
    is_fine = reading.validation in _FINE
    is_sure = is_fine and not reading.review.doubts
    is_odd = False
    if verdict.flags:
        from contextkit.reviews.flows import gate

        is_odd = not gate.FLAGS.keys().isdisjoint(verdict.flags)
    is_proved = is_sure and not is_odd  # a file that contradicts itself cannot pass its gate
    faults = [] if is_proved else _faults(reading, agent_files.terms(asked, agent))
    passes = is_proved or (is_sure and not faults)
    if not passes and is_sent_back(doubts=is_fine):
        what = "write" if reading.validation == "missing" else "fix"
        return Answer(block=_mending(layout, run, agent, what, faults))
    if not is_fine and verdict.status != "FAILED":  # the status that research agents use
        verdict = verdict.replace(status="ERROR")
    agent_files.keep(layout, asked, [verdict], now, hook.session)
    return NOTHING


def _mending(layout: Layout, run: runs.Run, agent: str, what: str, faults: list[str]) -> str:
    """Tell an agent where its file should be, what is wrong in each line, and the contract."""
    from contextkit.reviews.documents import contracts

    path = layout.shown(runs.output_path(layout, run, agent))
    return "\n".join([
        f"The review run {run.id} expects the findings of {names.one_line(agent)} in `{path}`.",
        *(f"- {line}" for line in faults),
        "",
        f"Please {what} that file in the form of this contract, and then answer with its one line.",
        "",
        contracts.of_run(layout, run, agent).strip(),
    ])  # fmt: skip


def _faults(reading: Reading, terms: Terms | None) -> list[str]:
    """The problems of a file, one line each."""
    if reading.validation == "missing":
        there = os.path.lexists(reading.path)
        return ["the file is empty" if there else "there is no such file"]
    if reading.validation == "foreign":
        return [names.one_line(reading.summary)]
    from contextkit.reviews.documents import complaints
    from contextkit.reviews.flows import agent_files

    unrenamed = ["it is still named `.partial`: rename it when it is complete"]
    faults = unrenamed if reading.validation == "partial" else []
    faults += [agent_files.UNNAMED] * ("unnamed" in reading.flags)
    return [*faults, *complaints.feedback(reading.text, terms)]


def note_reviewer(layout: Layout, hook: HookInput) -> None:
    """Record which agent of a live run the prompt is for, by the file that the prompt names."""
    prompt = hook.text("prompt")
    for run in (run for run in runs.live(layout, names.now()) if run.id in prompt):
        for agent in run.roster:
            path = runs.output_path(layout, run, agent)
            paths = (path, layout.shown(path), runs.prompt_path(run, agent))
            if any(spelling in prompt for spelling in paths):
                files.write(_mark(layout, hook), agent + "\n")
                return


def judge_session(layout: Layout, hook: HookInput) -> Answer:
    """Record the verdict of the agent that this session is, or say what it has to fix."""
    launched = os.environ.get("CONTEXT_AGENT", "") if os.environ.get("CONTEXT_SUBAGENT_ID") else ""
    agent = (files.read_if_there(_mark(layout, hook)) or "").strip() or launched
    if not agent:
        return NOTHING
    as_agent = {**hook.passed, "agent_type": agent, "agent_id": names.dashed(agent) or "main"}
    return judge(layout, hook.replace(passed=as_agent))


def _mark(layout: Layout, hook: HookInput) -> str:
    return seen_agents.path(layout, hook.session, seen_agents.REVIEWER)

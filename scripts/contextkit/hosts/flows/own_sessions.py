"""The flow of an agent that is a session of its own: `codex exec`, `claude -p`.

It was started by the line that `verdict_start` prints, or by `subagent_launch`, and stops at Stop
where a subagent would at SubagentStop.
"""

from __future__ import annotations

import os

from contextkit.base import files, names
from contextkit.base.layout import Layout
from contextkit.hosts.documents import seen_agents
from contextkit.hosts.documents.contracts import NOTHING, Answer, HookInput
from contextkit.hosts.flows import outputs, reviews
from contextkit.reviews.documents import runs

_MARK = "reviewer"  # beside what hooks know of the session: the agent of a run that it is


def note_reviewer(layout: Layout, given: HookInput) -> None:
    """Take down which agent of a live run the prompt is for: the file that it has to write says."""
    from contextkit.reviews.flows import start, workers

    prompt = given.text("prompt")
    for run in runs.live(layout, names.now()):
        if run.id not in prompt:
            continue
        for agent in run.roster:
            path = start.output_path(layout, run, agent)
            paths = (path, layout.shown(path), workers.prompt_path(run, agent))
            if any(one in prompt for one in paths):
                files.store(layout.state)
                files.write(_mark(layout, given), agent + "\n")
                return


def judge(layout: Layout, given: HookInput) -> Answer:
    """The verdict of the agent that this session is, or what it has to mend."""
    agent = _reviewer(layout, given)
    if not agent:
        return NOTHING
    as_agent = {**given.passed, "agent_type": agent, "agent_id": names.dashed(agent) or "main"}
    return reviews.judge(layout, given.replace(passed=as_agent))


def _reviewer(layout: Layout, given: HookInput) -> str:
    named = os.environ.get("CONTEXT_AGENT", "") if os.environ.get("CONTEXT_SUBAGENT_ID") else ""
    return (files.read_if_there(_mark(layout, given)) or "").strip() or named


def _mark(layout: Layout, given: HookInput) -> str:
    return os.path.join(seen_agents.folder(layout, given.session), _MARK)


def hand_in(layout: Layout, given: HookInput) -> None:
    """Store what a launched agent said last, and record the verdict in it, under its own name."""
    agent = os.environ.get("CONTEXT_AGENT", "") or os.environ["CONTEXT_SUBAGENT_ID"]
    passed = {**given.passed, "agent_type": agent, "agent_id": os.environ["CONTEXT_SUBAGENT_ID"]}
    outputs.keep(layout, given.replace(passed=passed, sent_back=True))

"""The flow of what a session, or a subagent, is told as it starts: what waits, what was saved."""

from __future__ import annotations

import os

from contextkit import names
from contextkit.hosts.hosts import NOTHING, Answer
from contextkit.layout import Layout

_WARNINGS = 3  # of recovery


def reminders(layout: Layout) -> Answer:
    """How many reminders are open, in a line."""
    from contextkit.capsules import reminders as inbox

    count = sum(not reminder.done for reminder in inbox.load_all(layout.reminders))
    if not count:
        return NOTHING
    said = "1 reminder is" if count == 1 else f"{count} reminders are"
    return Answer(context=f"{said} open: `make reminders` shows them.")


def handoff(layout: Layout) -> Answer:
    """The newest handoff that nobody has consumed, in a line."""
    from contextkit.handoffs import handoff_state, handoffs

    order = handoff_state.current(layout)[0].order
    known, _ = handoffs.load_all(layout, list(reversed(order)))
    name = next((name for name, one in known.items() if not one.consumed), "")
    if not name:
        return NOTHING
    found = known[name]
    ref = name.removesuffix(".yaml")
    who = f"A handoff from {found.from_agent} to {found.to_agent} is not consumed"
    return Answer(context=f"{who}: `make handoff_show ref={ref}` shows it.")


def brief(layout: Layout) -> Answer:
    """What a fresh subagent is told: the newest capsule of the branch, else the latest handoff."""
    from contextkit import git
    from contextkit.capsules import branch_folders

    head = git.head(layout.repository) if layout.repository else git.Head()
    branch = head.branch or (f"detached-{head.commit[:12]}" if head.commit else "")
    written = branch and branch_folders.paths(branch_folders.folder(layout, branch))
    if not written and not os.path.isdir(layout.handoffs):
        return NOTHING
    from contextkit.subagents import briefs

    return Answer(context=briefs.brief(layout, branch))


def recovered(layout: Layout) -> Answer:
    """What recovery prints about the current task, within what a host takes."""
    from contextkit.memory import recovery, recovery_reports

    found = recovery.load(layout, "", names.now())
    if found.empty:
        return NOTHING
    limits = layout.limits
    task = found.task or "unknown"
    command = f"make memory_recover task={found.task}" if found.task else "make memory_recover"
    lines = [f"The task `{names.one_line(task)}` was saved here: `{command}` prints all of it."]
    lines += [names.one_line(warning)[:200] for warning in found.warnings[:_WARNINGS]]
    budget = min(limits.memory_recover_tokens, limits.hook_context_tokens * 9 // 10)
    text = recovery_reports.report(layout, found, budget).text
    while len(text) > limits.hook_context_characters * 9 // 10 and budget > recovery_reports.LEAST:
        budget = budget * 4 // 5
        text = recovery_reports.report(layout, found, budget).text
    return Answer(context="\n".join(lines), quoted=text, origin=f"the memory of {task}")

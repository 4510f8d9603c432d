"""The flow of what a session, or a subagent, is told as it starts: what waits, what was saved."""

from __future__ import annotations

import os

from contextkit.base import addresses, names
from contextkit.base.layout import Layout
from contextkit.hosts.documents.contracts import NOTHING, Answer

_WARNINGS = 3  # of recovery


def reminders(layout: Layout) -> Answer:
    """How many reminders are open, in a line."""
    from contextkit.capsules.documents import reminders as inbox

    count = sum(not reminder.done for reminder in inbox.load_all(layout).whole().documents)
    if not count:
        return NOTHING
    said = "1 reminder is" if count == 1 else f"{count} reminders are"
    return Answer(context=f"{said} open: `make reminders` shows them.")


def handoff(layout: Layout) -> Answer:
    """The newest handoff that nobody has consumed, in a line."""
    from contextkit.handoffs.documents import artifacts as handoffs
    from contextkit.handoffs.documents import state

    order = state.everywhere(state.current(layout)[0])
    known, _ = handoffs.read(layout, list(reversed(order)))
    name = next((name for name, one in known.items() if not one.consumed), "")
    if not name:
        return NOTHING
    found = known[name]
    ref = name.removesuffix(".yaml")
    who = f"A handoff from {found.from_agent} to {found.to_agent} is not consumed"
    said = f"{who}: `make handoff_show ref={ref}` shows it."
    return Answer(context=said, refs=(f"handoff:{ref}",))


def brief(layout: Layout) -> Answer:
    """What a fresh subagent is told: the newest capsule of the branch, else the latest handoff."""
    from contextkit.base import git
    from contextkit.capsules.documents import branches

    head = git.head(layout.repository) if layout.repository else git.Head()
    branch = head.branch or (f"detached-{head.commit[:12]}" if head.commit else "")
    written = branch and branches.paths(branches.folder(layout, branch))
    if not written and not os.path.isdir(layout.handoffs):
        return NOTHING
    from contextkit.subagents.flows import briefs

    said = briefs.brief(layout, branch)
    return Answer(context=said, refs=tuple(addresses.named_in(layout, said.partition("\n")[0])))


def recovered(layout: Layout) -> Answer:
    """What recovery prints about the current task, within what a host takes."""
    from contextkit.memory.flows import recovery, report

    found = recovery.load(layout, "", names.now())
    if found.empty:
        return NOTHING
    limits = layout.limits
    task = found.task or "unknown"
    command = f"make memory_recover task={found.task}" if found.task else "make memory_recover"
    lines = [f"The task `{names.one_line(task)}` was saved here: `{command}` prints all of it."]
    lines += [names.one_line(warning)[:200] for warning in found.warnings[:_WARNINGS]]
    budget = min(limits.memory_recover_tokens, limits.hook_context_tokens * 9 // 10)
    text = report.report(layout, found, budget).text
    while len(text) > limits.hook_context_characters * 9 // 10 and budget > report.LEAST:
        budget = budget * 4 // 5
        text = report.report(layout, found, budget).text
    refs = tuple(addresses.of(layout, layout.join(path), kind) for kind, path in found.named)
    origin = f"the memory of {task}"
    return Answer(context="\n".join(lines), quoted=text, origin=origin, refs=refs)

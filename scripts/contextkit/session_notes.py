"""The flow of what a session is told when it starts: what waits, and what was saved."""

from __future__ import annotations

from contextkit import names
from contextkit.hosts import NOTHING, Answer
from contextkit.layout import Layout

_WARNINGS = 3  # of recovery


def reminders(layout: Layout) -> Answer:
    """How many reminders are open, in a line."""
    from contextkit import reminders as inbox

    count = sum(not reminder.done for reminder in inbox.load_all(layout.reminders))
    if not count:
        return NOTHING
    said = "1 reminder is" if count == 1 else f"{count} reminders are"
    return Answer(context=f"{said} open: `make reminders` shows them.")


def handoff(layout: Layout) -> Answer:
    """The newest handoff that nobody has consumed, in a line."""
    from contextkit import handoff_state, handoffs

    name = handoff_state.unconsumed(layout)
    if not name:
        return NOTHING
    found = handoffs.load(layout, name)
    ref = name.removesuffix(".yaml")
    who = f"A handoff from {found.from_agent} to {found.to_agent} is not consumed"
    return Answer(context=f"{who}: `make handoff_show ref={ref}` shows it.")


def recovered(layout: Layout) -> Answer:
    """What recovery prints about the current task, within what a host takes."""
    from contextkit import recovery, recovery_reports

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

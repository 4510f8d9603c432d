"""Blockers that come from verdicts: a line for each that needs attention, looked up at each switch.

Such a blocker closes when its reviewer says so in a later review of the same target, or when the
verdict is removed (`verdict_clean`); no one closes it by hand. One that was set aside with its run
stays open.
"""

from __future__ import annotations

import os

from contextkit.base import names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any, Iterable

Entry = dict[str, Any]  # a verdict as read


def of_verdicts(layout: Layout) -> tuple[str, ...]:
    """A line for each verdict that needs attention, with the path of its full text."""
    if not os.path.isdir(layout.verdicts):
        return ()  # most repositories: nothing to import
    from contextkit.reviews.documents import verdicts

    try:
        return tuple(map(_line, verdicts.needs_attention(verdicts.load_all(layout).documents)))
    except (ContextError, OSError):
        return ()


def _line(entry: Entry) -> str:
    detail = entry.get("detail_path")
    where = f" ({detail})" if isinstance(detail, str) and detail else ""
    return names.one_line(f"{entry['agent']} {entry['status']}: {entry['summary']}{where}")


def still_open(layout: Layout, carried: Iterable[str]) -> tuple[str, ...]:
    """The blockers of the last artifact without those whose verdict no longer blocks."""
    return tuple(one for one in carried if not _agent_of(one) or _is_set_aside(layout, one))


def _agent_of(blocker: str) -> str:
    """The reviewer in `fd-safety NEEDS_ATTENTION: …`; '' for a blocker of another origin."""
    from contextkit.reviews.documents import verdicts

    agent, _, rest = blocker.partition(" ")
    return agent if rest.partition(": ")[0] in verdicts.STATUSES else ""


def _is_set_aside(layout: Layout, blocker: str) -> bool:
    """Whether a run's folder has this verdict, and no later one of the same reviewer and target."""
    from contextkit.reviews.documents import verdicts

    agent = _agent_of(blocker)
    try:
        found = [verdicts.load(layout, agent, store) for store in _stores(layout)]
        current = verdicts.load(layout, agent)
    except (ContextError, OSError):
        return False
    before = [entry for entry in found if entry]
    own = [entry for entry in before if _line(entry) == blocker]
    if not own:
        return False
    target = _target(layout, own[-1])
    same = [one for one in (*before, current) if one and _target(layout, one) == target]
    newest = max(same, key=lambda one: str(one.get("timestamp") or ""))
    return newest is not current and bool(verdicts.needs_attention([newest]))


def _stores(layout: Layout) -> list[str]:
    """The folders with the verdicts of earlier runs."""
    place = os.path.join(layout.verdicts, "runs")
    there = sorted(os.listdir(place)) if os.path.isdir(place) else []
    return [os.path.join(place, name) for name in there]


def _target(layout: Layout, entry: Entry) -> str:
    """What the run of a verdict reviewed; '' without a run."""
    from contextkit.reviews.documents import runs

    try:
        return runs.load(layout, str(entry["run"])).target if entry.get("run") else ""
    except ContextError:
        return ""

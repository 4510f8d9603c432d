"""Blockers that come from verdicts: a line for each that needs attention.

Such a blocker closes when its reviewer says so in a later review of the same target, or when the
verdict is removed (`verdict_clean`); no one closes it by hand. One that was set aside with its run
stays open.
"""

from __future__ import annotations

import os

from contextkit.base import names, stores
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any, Iterable

_MOST_P0, _OF_P0 = 3, 120  # worst findings of a verdict to quote, and characters of each


def of_verdicts(layout: Layout) -> tuple[str, ...]:
    """A line for each verdict that needs attention, the worst first, with its full text's path.

    The P0 of its review follow in words, as far as they are open.
    """
    if not os.path.isdir(layout.verdicts):
        return ()
    from contextkit.reviews.documents import verdicts

    try:
        entries = verdicts.needs_attention(verdicts.load_all(layout).documents)
        return tuple(
            _line(entry) + _worst_findings(layout, entry) for entry in verdicts.worst_first(entries)
        )
    except (ContextError, OSError):
        return ()


def _worst_findings(layout: Layout, entry: dict[str, Any]) -> str:
    """The place of the P0 that the verdict's summary names, then the other P0 in words."""
    if not entry.get("run") or "P0" not in entry["summary"]:
        return ""
    from contextkit.reviews.documents import runs
    from contextkit.reviews.flows import history

    try:
        of_run = history.open_findings(layout, runs.load(layout, str(entry["run"])))
    except (ContextError, OSError):
        return ""
    told = entry["summary"].partition(": ")[2].rstrip("…")
    words = ""
    worst = [row.partition(": P0 ")[2] for row in of_run.get(entry["agent"], ()) if ": P0 " in row]
    for text in worst[:_MOST_P0]:
        title, _, place = text.removesuffix(")").rpartition(" (")
        if told and text.startswith(told):
            words, told = words if not title or place in told else f", {place}{words}", ""
        else:
            clause = names.clipped_at_space(title or text, _OF_P0)
            words += f"; P0 {clause}{f' ({place})' * bool(title and place not in clause)}"
    left = len(worst) - _MOST_P0
    return names.one_line(f"{words}; and {left} more P0" if left > 0 else words)


def _line(entry: dict[str, Any]) -> str:
    detail = entry.get("detail_path")
    where = f" ({detail})" if isinstance(detail, str) and detail else ""
    return names.one_line(f"{entry['agent']} {entry['status']}: {entry['summary']}{where}")


def still_open(layout: Layout, carried: Iterable[str]) -> tuple[str, ...]:
    """The blockers of the last artifact without those whose verdict no longer blocks."""
    return tuple(
        blocker for blocker in carried if not _agent_of(blocker) or _is_set_aside(layout, blocker)
    )


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
        entries = [verdicts.load(layout, agent, store) for store in _stores(layout)]
        current = verdicts.load(layout, agent)
    except (ContextError, OSError):
        return False
    before = [entry for entry in entries if entry]
    own = [entry for entry in before if _is_about(blocker, _line(entry))]
    if not own or (current and current.get("run") == own[-1].get("run")):
        return False
    target = _target(layout, own[-1])
    same = [entry for entry in (*before, current) if entry and _target(layout, entry) == target]
    newest = max(same, key=lambda entry: str(entry.get("timestamp") or ""))
    return newest is not current and bool(verdicts.needs_attention([newest]))


def _is_about(blocker: str, line: str) -> bool:
    """Whether a blocker, which may have been cut, begins as the line of a verdict does."""
    cut = blocker.removesuffix("…")
    return cut.startswith(line) or (cut != blocker and line.startswith(cut))


def _stores(layout: Layout) -> list[str]:
    """The folders with the verdicts of earlier runs."""
    place = os.path.join(layout.verdicts, "runs")
    return [os.path.join(place, name) for name in stores.names_in(place)]


def _target(layout: Layout, entry: dict[str, Any]) -> str:
    """What the run of a verdict reviewed; '' without a run."""
    from contextkit.reviews.documents import runs

    try:
        return runs.load(layout, str(entry["run"])).target if entry.get("run") else ""
    except ContextError:
        return ""

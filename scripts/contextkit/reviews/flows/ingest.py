"""Ingest: whose files a command is about, and storing their verdicts.

    of_run, of_folder  ->  Asked  ->  ingest: a verdict each, and the table

A run (runs.py) knows who was asked and about what. A folder alone does not: every file in it
counts, unless the caller names the agents.
"""

from __future__ import annotations

import os

from contextkit.base import addresses, files, names, sessions, tokens
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.reviews.documents import runs
from contextkit.reviews.documents import verdicts as verdict_files
from contextkit.reviews.documents.runs import Run
from contextkit.reviews.flows import agent_files, workers
from contextkit.reviews.flows.agent_files import Asked, Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from contextkit.reviews.documents.verdicts import Verdict


def of_run(layout: Layout, run: str) -> Asked:
    """Return what the run with this id (or `latest`) asked for. Raises ContextError if unknown."""
    found = runs.load(layout, run)
    return Asked(
        folder=files.inside(layout.root, layout.join(found.output_dir), "output_dir"),
        agents=found.roster,
        run=found.id,
        mode=found.mode,
        store=runs.verdict_folder(verdict_files.folder(layout), found.id),
    )


def of_folder(
    layout: Layout, folder: str, agents: tuple[str, ...] = (), finished: bool = False
) -> Asked:
    """Return the files of a folder, as its run if one is open there and no agents are named.

    With `finished`, a run that has ended counts too.
    """
    shown = layout.shown(folder)
    its = [
        run for run in runs.load_all(layout).documents if os.path.normpath(run.output_dir) == shown
    ]
    if its and not agents and (finished or not its[-1].finished_at):
        return of_run(layout, its[-1].id)
    return Asked(folder=folder, agents=agents)


def ingest(layout: Layout, asked: Asked, read: Iterable[Reading], now: int) -> list[Reading]:
    """Write the verdict of each agent's file once all are read; the last ingest counts.

    An agent whose file is missing, empty, unfinished or from another run is an ERROR: nothing
    becomes clean by being absent. Files of agents that were not asked are listed last and get no
    verdict. A run's verdicts are stored with the run and in the flat store as well.
    """
    readings = list(read)
    keep(layout, asked, [agent_files.verdict(one, asked.run) for one in readings], now)
    if asked.run:
        settle(layout, runs.load(layout, asked.run), readings, now)
    return [*readings, *uninvited(layout, asked)]


def keep(layout: Layout, asked: Asked, found: list[Verdict], now: int, session: str = "") -> None:
    """Write verdicts with the current time and session, with the run and in the flat store."""
    session, when = session or sessions.find_current(layout), names.iso(now)
    for verdict in found:
        size = _tokens(layout, verdict)
        for store in (asked.store, "") if asked.store else ("",):
            made = verdict.replace(session_id=session, timestamp=when)
            derived = bool(verdict.sha256)
            files.owed(verdict_files.save(layout, made, store, derived, tokens=size))
            size = 0  # count the tokens once, not again for the copy


def _tokens(layout: Layout, verdict: Verdict) -> int:
    """Return the tokens of an agent's file, which its verdict saves; 0 if a store counted them."""
    path = layout.join(verdict.detail_path) if verdict.detail_path else ""
    if not verdict.sha256 or addresses.of(layout, path):
        return 0
    try:
        return tokens.estimate(files.read_bytes(path).decode("utf-8", "replace"))
    except ContextError:
        return 0


def settle(layout: Layout, run: Run, readings: list[Reading], now: int) -> None:
    """Mark a run as done once all verdicts are written and no agent is awaited any more."""
    gone = {*run.missed, *workers.ended(layout, run)}
    waited = [
        one.agent
        for one in readings
        if one.validation in ("missing", "partial", "foreign") and one.agent not in gone
    ]
    everybody = {one.agent for one in readings} >= set(run.roster)
    if everybody and not waited and not run.ingested_at:
        runs.change(layout, run.id, ingested_at=names.iso(now))


def uninvited(layout: Layout, asked: Asked) -> list[Reading]:
    """Return the files in a run's folder from agents not on its roster: foreign."""
    if not asked.run:
        return []
    there = agent_files.agents_in(asked.folder) if os.path.isdir(asked.folder) else ()
    found = []
    for agent in there:
        if agent not in asked.agents:
            path = agent_files.agent_file(asked.folder, agent)
            said = "this run did not ask for this agent; its file is not ingested"
            found.append(agent_files.foreign(layout, agent, path, said, ("not_asked",)))
    return found


def totals(done: list[Reading]) -> dict[str, int]:
    """Return how many agents were asked, and how many files of each validation there are."""
    counts = {"agents": len(_asked(done)), "valid": 0}
    for one in done:
        counts[one.validation] = counts.get(one.validation, 0) + 1
    return counts


def _asked(done: list[Reading]) -> list[Reading]:
    return [one for one in done if "not_asked" not in one.flags]


def how_many_read(done: list[Reading]) -> dict[str, int]:
    """Return how many files were asked for, read, and could not be read."""
    asked = _asked(done)
    unread = len(agent_files.unread(asked))
    return {"files": len(asked), "read": len(asked) - unread, "unread": unread}


def totals_line(done: list[Reading]) -> str:
    """Return `4/6 valid, 1 malformed, 1 missing`, preceded by what was not read, if anything."""
    counts = totals(done)
    others = [f"{n} {name}" for name, n in counts.items() if name not in ("agents", "valid")]
    said = ", ".join([f"{counts['valid']}/{counts['agents']} valid", *others])
    known = how_many_read(done)
    if not known["unread"]:
        return said
    return f"{agent_files.read_line(known['files'], known['unread'])}\n{said}"

"""Findings across the runs of one target: which are new, which are still there, which are fixed.

    findings.json of the run before  +  the findings of this one  ->  identity, since, fixed

A finding is known again by its identity, or else by its place and like words; then it keeps the
identity of the run before. One is fixed only if somebody who reported it read the target again.
"""

from __future__ import annotations

import os

from contextkit.base import files, formats
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.reviews.documents import identity, runs
from contextkit.reviews.flows.likeness import Likeness, Told, is_pair

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from contextkit.reviews.documents.runs import Run
    from contextkit.reviews.flows.synthesis import Finding

NEW, STILL = "new", "still"


class History(Record):
    """`known` has identity and since of each finding by its key; the others are as they were."""

    known: dict[str, tuple[str, str]]
    fixed: tuple[dict[str, object], ...] = ()
    unchecked: tuple[dict[str, object], ...] = ()


def identity_of(target: str, finding: Finding) -> str:
    """The identity of a finding that no run before has reported."""
    section = "".join(char for char in finding.section if not char.isdigit())
    return identity.identity(target, finding.title, finding.place, section)


def target_of(run: Run) -> str:
    """What a run reviews, in words that its next run has too: a document, a branch, a question."""
    return run.source or run.target or run.process


def before(layout: Layout, run: Run) -> list[dict[str, Any]]:
    """The findings of the last run of the same target that were put together; none without one."""
    earlier = [
        one
        for one in runs.load_all(layout).documents
        if (one.process, one.target, one.source) == (run.process, run.target, run.source)
        and (one.started_at, one.id) < (run.started_at, run.id)
    ]
    for one in reversed(earlier):
        path = os.path.join(layout.join(one.output_dir), "findings.json")
        if one.output_dir == run.output_dir or not os.path.isfile(path):
            continue
        try:
            data = formats.from_json(files.read(path), layout.shown(path))
        except ContextError:
            continue
        if isinstance(data, dict) and data.get("run") == one.id:
            return [*_dicts(data.get("findings")), *_dicts(data.get("improvements"))]
    return []


def _dicts(found: object) -> list[dict[str, Any]]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def compare(
    target: str, found: list[Finding], earlier: list[dict[str, Any]], completed: list[str]
) -> History:
    """What `found` has of `earlier`; `completed` are the agents whose files could be read."""
    identities = _unique([identity_of(target, one) for one in found])
    olds = [str(one.get("identity", "")) for one in earlier]
    pairs = {number: olds.index(own) for number, own in enumerate(identities) if own in olds}
    for number, old in _alike(found, earlier):
        if number not in pairs and old not in pairs.values():
            pairs[number] = old
    known = {}
    for number, one in enumerate(found):
        old = pairs.get(number, -1)
        known[one.key] = (olds[old] or identities[number], STILL) if old >= 0 else (
            identities[number], NEW)  # fmt: skip
    gone = [one for number, one in enumerate(earlier) if number not in pairs.values()]
    read = set(completed)
    checked = [bool(read.intersection(map(str, one.get("agents") or ()))) for one in gone]
    brief = [_brief(one) for one in gone]
    return History(
        known=known,
        fixed=tuple(one for one, is_checked in zip(brief, checked, strict=True) if is_checked),
        unchecked=tuple(
            one for one, is_checked in zip(brief, checked, strict=True) if not is_checked
        ),
    )


def _unique(identities: list[str]) -> list[str]:
    """Identities; the second finding that is the same in everything gets `-2`."""
    seen: dict[str, int] = {}
    found = []
    for one in identities:
        seen[one] = seen.get(one, 0) + 1
        found.append(one if seen[one] == 1 else f"{one}-{seen[one]}")
    return found


def _alike(found: list[Finding], earlier: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """(number now, number before) of findings that are alike, the most alike first."""
    now = [Told(title=f.title, section=f.section, text=f.description, place=f.place) for f in found]
    then = [_told(one) for one in earlier]
    alike = Likeness([*now, *then])
    pairs = []
    for number in range(len(now)):
        for old in range(len(then)):
            other = len(now) + old
            if is_pair(alike, number, other)[1]:
                pairs.append((alike.of(number, other), number, old))
    return [(number, old) for _, number, old in sorted(pairs, reverse=True)]


def _told(one: dict[str, Any]) -> Told:
    places = [str(row.get("place", "")) for row in _dicts(one.get("provenance"))]
    said = one.get("descriptions")
    text = " ".join(map(str, said.values())) if isinstance(said, dict) else ""
    return Told(
        title=str(one.get("title", "")),
        section=str(one.get("section", "")),
        text=text,
        place=next(filter(None, places), ""),
    )


def _brief(one: dict[str, Any]) -> dict[str, object]:
    keys = ("identity", "id", "severity", "agents", "section", "title", "key")
    return {key: one[key] for key in keys if key in one}

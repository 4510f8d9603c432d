"""The files that agents leave: what each says, and the verdict on it.

    Asked (a folder, and who was to write into it)  ->  read  ->  Reading (one agent's file)

Nothing is written here. `agent_statuses.py` says what follows from a file, `review_runs.py` keeps
the verdicts, `drill_downs.py` opens what is worth it, `synthesis.py` puts all of it together,
`gates.py` decides.
"""

from __future__ import annotations

import os

from contextkit.base import files, names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.reviews.documents import agent_review, headers
from contextkit.reviews.documents import verdicts as verdict_files
from contextkit.reviews.documents.agent_review import Review
from contextkit.reviews.documents.headers import Header
from contextkit.reviews.documents.verdicts import Verdict
from contextkit.reviews.flows import statuses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

NEVER_AGENTS = ("synthesis.md", "summary.md", "findings.json")


class Asked(Record):
    """Whose files a command is about: those of `agents` in `folder`, or of all that left one.

    `run` is the id of a run, `store` where its verdicts lie; empty for a folder without a run.
    """

    folder: str
    agents: tuple[str, ...] = ()
    run: str = ""
    mode: str = ""  # review, research, or empty to find out
    store: str = ""

    @property
    def roster(self) -> tuple[str, ...]:
        return self.agents if self.run or self.agents else agents_in(self.folder)


class Ingested(Record):
    """What came of one agent's file; `findings_count` leaves improvements out."""

    agent: str
    status: str
    validation: str
    stated_verdict: str
    derived_verdict: str
    mismatch: bool
    findings_count: int
    severities: dict[str, int]
    improvements: int
    summary: str
    detail_path: str
    flags: tuple[str, ...]


class Reading(Record):
    """An agent's file as it was read just now: what it says and what follows from it."""

    agent: str
    path: str
    text: str
    review: Review
    found: Ingested
    verdict: Verdict


def read(layout: Layout, asked: Asked) -> Iterator[Reading]:
    """The file of each agent that was asked, one by one; nothing is written."""
    roster = asked.roster
    for agent in roster:
        verdict_files.encode(agent)  # refused before anything is read or written
    for agent in roster:
        yield _read(layout, asked, agent)


def unread(found: Iterable[Ingested]) -> list[str]:
    """The agents whose files said nothing that counts: not there, unfinished, or not understood."""
    return [
        one.agent
        for one in found
        if one.validation != "valid"
        and not (one.validation == "malformed" and (one.findings_count or one.improvements))
    ]


def read_line(asked: int, missed: int) -> str:
    """`6 files, 5 read, 1 not: counts are a lower bound`, in every output that counts."""
    bound = ": counts are a lower bound" if missed else ""
    return f"{asked} files, {asked - missed} read, {missed} not{bound}"


def foreign(agent: str, path: str, summary: str, flags: tuple[str, ...]) -> Ingested:
    """A file that is not of this run: an ERROR, and nothing of it is taken over."""
    return Ingested(
        agent=agent, status="ERROR", validation="foreign", stated_verdict="", derived_verdict="",
        mismatch=False, findings_count=0, severities={}, improvements=0, summary=summary,
        detail_path=path, flags=flags,
    )  # fmt: skip


def agents_in(folder: str) -> tuple[str, ...]:
    """The agents that left a file, finished or not."""
    try:
        there = sorted(os.listdir(folder))
    except OSError as error:
        raise ContextError(f"{folder}: cannot be read: {error.strerror}") from None
    found = {}
    for name in there:
        stem = name.removesuffix(".partial").removesuffix(".md")
        wanted = name.endswith((".md", ".md.partial")) and name[0] != "."
        if wanted and name.removesuffix(".partial") not in NEVER_AGENTS:
            found[verdict_files.decode(stem)] = True
    return tuple(found)


def agent_file(folder: str, agent: str) -> str:
    """The file of an agent: under its own name, or as verdicts are named."""
    there = [path for path in _candidates(folder, agent) if os.path.lexists(path)]
    return there[0] if there else _candidates(folder, agent)[-1]


def is_there(folder: str, agent: str) -> bool:
    """Whether an agent has left a file that is not empty."""
    path = agent_file(folder, agent)
    return os.path.isfile(path) and os.path.getsize(path) > 0


def _candidates(folder: str, agent: str) -> list[str]:
    """Where an agent's file may be; the place that a run gives it is the last."""
    names_of = dict.fromkeys((agent, verdict_files.encode(agent)))
    return [os.path.join(folder, name + ".md") for name in names_of if "/" not in name]


def _read(layout: Layout, asked: Asked, agent: str) -> Reading:
    """What came of one agent's file, and the verdict to write."""
    path = agent_file(asked.folder, agent)
    partial = not os.path.isfile(path) and os.path.isfile(path + ".partial")
    path += ".partial" * partial
    there = os.path.isfile(path) and not os.path.islink(path)
    data = files.read_bytes(path) if there else b""
    text = data.decode("utf-8", "replace")
    review = agent_review.parse(text, asked.mode)
    header = headers.parse(text)
    whose = _whose(asked, agent, path, review)
    if whose:
        found = foreign(agent, layout.shown(path), f"foreign: {whose}", ("foreign",))
        review, header = Review(validation="missing", run=review.run), None
    else:
        found = _found(layout, agent, path, review, header)
    verdict = Verdict(
        agent=agent,
        status=found.status,
        summary=found.summary,
        type=header.type if statuses.is_work(review, header) and header else review.type,
        model=header.model if header else "",
        tokens_spent=header.tokens_spent if header else 0,
        files_changed=header.files_changed if header else (),
        findings_count=found.findings_count or (header.findings_count if header else 0),
        detail_path=found.detail_path,
        flags=found.flags,
        findings=statuses.worth_opening(review),
        run=asked.run,
        sha256=names.sha256(data) if data else "",
    )
    return Reading(agent=agent, path=path, text=text, review=review, found=found, verdict=verdict)


def _whose(asked: Asked, agent: str, path: str, review: Review) -> str:
    """Why a file cannot be taken for the agent's; empty where it can."""
    if os.path.islink(path):
        return "the file is a link"
    if sum(map(os.path.lexists, _candidates(asked.folder, agent))) > 1:
        return "two files go by the name of this agent"
    if asked.run and review.run not in ("", asked.run):
        return f"the file is of the run {names.one_line(review.run)[:60]}"
    return ""


def _found(
    layout: Layout, agent: str, path: str, review: Review, header: Header | None
) -> Ingested:
    """What an agent's file amounts to; one under the name of an unfinished file is an ERROR."""
    partial = path.endswith(".partial")
    status, flags = statuses.status(review, header)
    if partial:
        status, flags = "ERROR", ("partial", *flags)
    counts = statuses.counts(review)
    return Ingested(
        agent=agent,
        status=status,
        validation="partial" if partial else statuses.validation(review, header),
        stated_verdict=review.stated,
        derived_verdict=statuses.derived(review),
        mismatch="verdict_mismatch" in flags,
        findings_count=len(review.findings) - counts["IMP"],
        severities={s: n for s, n in counts.items() if s != "IMP" and n},
        improvements=counts["IMP"],
        summary=statuses.summary_of(review, header, os.path.lexists(path), partial),
        detail_path=layout.shown(path),
        flags=flags,
    )

"""The files that agents leave: the contents of each, and the verdict that is stored for it.

    asked, of_run  ->  Asked (a folder, and who was to write into it)
    Asked  ->  read  ->  Reading (one agent's file)
    Reading  ->  verdict (to store), row (for programs);  ingest stores one for each

A run (runs.py) knows who was asked and about what. A folder alone does not: every file in it
counts, unless the caller names the agents. Only `set_aside` changes anything that agents wrote.
`drill_down.py` opens what is worth reading, `synthesis.py` combines the files, and `gate.py`
decides.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter

from contextkit.base import addresses, files, names, sessions, tokens
from contextkit.base.commands import Arguments
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Any, Iterable, Iterator
from contextkit.reviews.documents import agent_review, headers, places, reader, runs, vocabulary
from contextkit.reviews.documents import verdicts as verdict_files
from contextkit.reviews.documents.agent_review import Review
from contextkit.reviews.documents.headers import Header
from contextkit.reviews.documents.index import Finding, Terms
from contextkit.reviews.documents.runs import Run
from contextkit.reviews.documents.verdicts import Verdict

NEVER_AGENTS = ("synthesis.md", "summary.md", "findings.json", "run.json", "expected.json",
                "peer-findings.jsonl", "decisions.log", "Thumbs.db", "desktop.ini")  # fmt: skip
KINDS = (".md", ".txt", ".json", ".sarif", ".csv")  # of an agent's file; a run assigns the first
UNNAMED = "the file does not name its run: its contract begins with that line"
_ASIDE = ".aborted-"  # behind the name of a file that a new one replaced
_UNREAD = "no readable Findings Index: read the file"
_DOUBTS = {
    "truncated": "the file ends early",
    "too_long": f"only its first {reader.MOST_LINES:,} lines are read",
    "unclosed_fence": "a code fence is never closed",
}
_NO_WORDS = ("#", "<!--", "Read:", "Counts:", "Fixed:")  # how lines begin that say no reason
_SUMMARY = 120  # characters of the line that says what an agent found


class Asked(Record):
    """The files that a command is about: those of `agents` in `folder`, or of all that left one.

    A folder without a run has no `store` for its verdicts but the flat one.
    """

    folder: str
    agents: tuple[str, ...] = ()
    run: Run | None = None
    store: str = ""

    @property
    def run_id(self) -> str:
        return self.run.id if self.run else ""

    @property
    def roster(self) -> tuple[str, ...]:
        return self.agents if self.run or self.agents else _agents_in(self.folder)

    @property
    def ref(self) -> str:
        """The address of the run, or ''."""
        return f"run:{self.run.id}" if self.run else ""

    def show(self, layout: Layout, **more: str) -> str:
        """The command that shows its findings, to which options may be added."""
        folder = "" if self.run else os.path.relpath(self.folder, layout.here)
        return runs.call(layout, "verdict_show", run=self.run_id, dir=folder, **more)


def of_run(layout: Layout, run: Run) -> Asked:
    """The `Asked` of a run. Raises ContextError if a link leads its folder outside."""
    folder = files.inside(layout.root, layout.join(run.output_dir), "output_dir")
    store = runs.verdict_folder(layout, run.id)
    return Asked(folder=folder, agents=run.roster, run=run, store=store)


def asked(layout: Layout, args: Arguments, finished: bool = False) -> Asked:
    """Whose files `run=` or `dir=` names: a run's, or a folder's. Raises ContextError.

    In the folder of an open (or `finished`) run they are that run's, unless agents are named. A
    gate, for which finished runs count too, fails on a folder without files.
    """
    if bool(args.run) == bool(args.dir):
        raise bad_input("run, dir: give one of them: a run's id, or a folder of agent files")
    if args.run:
        return of_run(layout, runs.load(layout, args.run))
    folder, agents = layout.typed(args.dir, "dir"), getattr(args, "agents", ())
    if not os.path.isdir(folder):
        raise bad_input(f"dir: {args.dir!r} is not a folder")
    last = None if agents else _last_run(layout, folder)
    if last and (finished or not last.finished_at):
        return of_run(layout, last)
    about = Asked(folder=folder, agents=agents)
    if not (about.roster or finished):
        mend = "an agent's file is AGENT.md; make verdict_start begins a run"
        raise ContextError(f"{layout.shown(folder)}: there are no reviews in this folder: {mend}")
    return about


def _last_run(layout: Layout, folder: str) -> Run | None:
    shown, every = layout.shown(folder), reversed(runs.load_all(layout).documents)
    return next((run for run in every if os.path.normpath(run.output_dir) == shown), None)


def expected(layout: Layout, path: str) -> tuple[Asked, str]:
    """The run that asked for the file at `path`, if one did, and the file's agent."""
    folder, name = os.path.split(os.path.join(layout.here, path))
    agent = verdict_files.decode(os.path.splitext(name.removesuffix(".partial"))[0])
    run = _last_run(layout, folder)
    return of_run(layout, run) if run and agent in run.roster else Asked(folder=folder), agent


def _agents_in(folder: str) -> tuple[str, ...]:
    """The agents that left a file, finished or not; one of no known kind has its own name.

    An editor's copy of a file that is there is none.
    """
    try:
        there = sorted(os.listdir(folder))
    except OSError as error:
        raise ContextError(f"{folder}: cannot be read: {error.strerror}") from None
    agents = {}
    for name in there:
        whole = name.removesuffix(".partial")
        stem, kind = os.path.splitext(whole)
        is_copy = {name.removesuffix("~"), name.strip("#")} & (set(there) - {name})
        is_one = name[0] != "." and not is_copy and os.path.isfile(os.path.join(folder, name))
        if is_one and _ASIDE not in name and whole not in NEVER_AGENTS:
            agents[verdict_files.decode(stem if kind in KINDS else whole)] = True
    return tuple(agents)


def agent_file(folder: str, agent: str) -> str:
    """The path of an agent's file: under its own name, or encoded as for verdicts.

    A file with any other suffix is that of an agent with the whole file name.
    """
    paths, whole = _candidates(folder, agent), os.path.join(folder, agent)
    there = [path for path in paths if os.path.lexists(path)]
    if not there and (os.path.isfile(whole) or os.path.isfile(f"{whole}.partial")):
        return whole
    return [*paths, *there][-1]


def _candidates(folder: str, agent: str) -> list[str]:
    """Where an agent's file may be; the last place is the one that a run assigns."""
    stems = {os.path.join(folder, agent): True}
    with contextlib.suppress(ContextError):  # the name of a stray file may be any
        stems[os.path.join(folder, verdict_files.encode(agent))] = True
    return [stem + kind for kinds in (KINDS[1:], KINDS[:1]) for stem in stems for kind in kinds]


def is_there(folder: str, agent: str) -> bool:
    """Whether an agent has left a nonempty file."""
    path = agent_file(folder, agent)
    return os.path.isfile(path) and os.path.getsize(path) > 0


def set_aside(path: str, final: str, now: int) -> str:
    """Rename a file that an agent began, so that no run reads it: `<final>.aborted-<time>`."""
    away = files.free(f"{final}{_ASIDE}{names.stamp(now)}")
    files.rename(path, away)
    return away


class Reading(Record):
    """An agent's file as just read: its contents, and what follows from them.

    `validation` is the review's own, or partial (unfinished) or foreign (of another run: an ERROR).
    """

    agent: str
    path: str
    shown: str  # the path relative to the root
    validation: str
    status: str
    summary: str
    flags: tuple[str, ...]
    review: Review
    header: Header | None = None
    text: str = ""
    sha256: str = ""

    @property
    def name(self) -> str:
        return os.path.basename(self.path)

    @property
    def is_read(self) -> bool:
        """Whether its findings are known."""
        return agent_review.is_read(self.review, self.validation)

    @property
    def findings_count(self) -> int:
        """The number of findings in the rows, without improvements."""
        return sum(finding.severity != "IMP" for finding in self.review.findings)


def read(layout: Layout, asked: Asked, only: str = "") -> Iterator[Reading]:
    """Read the file of each agent that was asked, or of one, one by one; write nothing."""
    roster = (only,) if only else asked.roster
    list(map(verdict_files.encode, roster))  # refuse before anything is read or written
    yield from (_read(layout, asked, agent) for agent in roster)


def _read(layout: Layout, asked: Asked, agent: str) -> Reading:
    """Read one agent's file; one that still has the name of an unfinished file is an ERROR."""
    path = agent_file(asked.folder, agent)
    partial = not os.path.isfile(path) and os.path.isfile(path + ".partial")
    path += ".partial" * partial
    there = os.path.isfile(path) and not os.path.islink(path)
    data = files.read_bytes(path) if there else b""
    text = agent_review.decoded(data)
    sha256 = names.sha256(data) if data else ""
    mode = asked.run.mode if asked.run else ""  # without one it is detected
    review = agent_review.parse(text, mode, terms(asked, agent))
    text = agent_review.bounded(text)
    if not review.run and asked.run_id and agent_review.names_run(text, asked.run_id):
        review = review.replace(run=asked.run_id)
    reason = doubt(asked, agent, path, review)
    if reason not in ("", UNNAMED):
        none = Review(validation="missing", run=review.run)
        return foreign(layout, agent, path, reason, review=none, text=text, sha256=sha256)
    header = headers.parse(text)
    status, flags = agent_review.effective_status(review, header)
    validation = "valid" if agent_review.is_work(review, header) else review.validation
    reading = Reading(
        agent=agent, path=path, shown=layout.shown(path),
        validation="partial" if partial else validation,
        status="ERROR" if partial else status,
        summary=summary_of(review, header, os.path.lexists(path), partial, text),
        flags=("partial", *flags) if partial else flags,
        review=review, header=header, text=text, sha256=sha256,
    )  # fmt: skip
    return _unnamed(reading) if reason else reading


def _unnamed(reading: Reading) -> Reading:
    """The reading of a file that does not name its run: what it says counts, but never passes."""
    is_urgent = reading.status in ("NEEDS_ATTENTION", "FAILED", "ERROR", "BLOCKED")
    return reading.replace(
        validation="malformed" if reading.validation == "valid" else reading.validation,
        status=reading.status if is_urgent else "NEEDS_ATTENTION",
        summary=names.clipped(f"no run id; {reading.summary}", _SUMMARY),
        flags=("unnamed", *reading.flags),
    )


def terms(asked: Asked, agent: str) -> Terms | None:
    """The proofs that a run asked of an agent; None if it was not asked."""
    run = asked.run
    if run is None or not run.asks or run.mode != "review":
        return None
    rows = run.to_confirm(agent)
    still = tuple(row.partition(":")[0] for row in rows)
    about = tuple(places.place_in(row.rpartition(" (")[2]).file for row in rows)
    return Terms(files=run.files, open=still, places=about)


def doubt(asked: Asked, agent: str, path: str, review: Review) -> str:
    """Why a file cannot be attributed to the agent, or may not be (UNNAMED), or ''."""
    if os.path.islink(path):
        return "the file is a link"
    if sum(map(os.path.lexists, _candidates(asked.folder, agent))) > 1:
        return "two files have the name of this agent"
    if os.path.isfile(path) and os.stat(path).st_nlink > 1:
        return "the file is a hard link: another name leads to it as well"
    if asked.run and review.run not in ("", asked.run_id):
        return f"the file is from the run {names.one_line(review.run)[:60]}"
    is_asked = asked.run is not None and asked.run.asks
    if is_asked and not review.run and review.validation != "missing":
        return UNNAMED
    return ""


def foreign(layout: Layout, agent: str, path: str, reason: str, **more: Any) -> Reading:
    """The reading of a file that is not from this run, for this reason."""
    fields = {"flags": ("foreign",), "review": Review(validation="missing"), **more}
    return Reading(
        agent=agent, path=path, shown=layout.shown(path), validation="foreign", status="ERROR",
        summary=f"foreign: {reason}", **fields,
    )  # fmt: skip


def uninvited(layout: Layout, asked: Asked) -> list[Reading]:
    """The files in a run's folder from agents not on its roster: foreign."""
    reason = "this run did not ask for this agent; its file is not ingested"
    flags = ("foreign", "not_asked")
    there = _agents_in(asked.folder) if asked.run and os.path.isdir(asked.folder) else ()
    return [
        foreign(layout, agent, agent_file(asked.folder, agent), reason, flags=flags)
        for agent in there
        if agent not in asked.agents
    ]


def summary_of(
    review: Review, header: Header | None, there: bool, partial: bool, whole: str = ""
) -> str:
    """Summarize what the agent found from its rows, or in its own words if it has none.

    `whole` is the text of the file, which says why it reports an error.
    """
    counts = counted([finding.severity for finding in review.findings if finding.severity])
    if review.validation == "missing":
        text = "left an empty file" if there else "left no file"
    elif review.type == "research":
        text = "research report"
        if review.findings:
            text = names.counted(len(review.findings), "finding")
            text += f", {names.counted(len(review.sources), 'source')}: {review.findings[0].title}"
    elif review.validation == "error":
        text = "its file reports an error"
    elif review.validation == "malformed":
        own = header.summary if header else ""
        least = "at least " if review.unsure else ""
        text = own or (f"{least}{counts} read without an index" if counts else _UNREAD)
        text += _unsure(review)
    else:
        text = (counts or "no findings") + _doubt(review)
    worst = next(iter(by_severity(review)), None)
    if worst and worst.severity in vocabulary.SERIOUS:
        text += f": {worst.title}"
    elif review.validation == "error" and (why := _first_words(whole, review.end_line)):
        text += f": {why}"
    return names.clipped(("unfinished: " if partial else "") + names.one_line(text), _SUMMARY)


def _first_words(text: str, after: int) -> str:
    """The first line after line `after` that is no heading, comment or line of the contract."""
    lines = (line.strip() for line in text.split("\n")[after:])
    words = (line for line in lines if line and not line.startswith(_NO_WORDS))
    return next(words, "").strip("-* .")


def counted(severities: list[str]) -> str:
    """`1 P0, 2 P2, 1 IMP, 1 of unknown severity`, or '' for none."""
    counts = [(severity, severities.count(severity)) for severity in vocabulary.SEVERITIES]
    counts.append(("of unknown severity", severities.count("")))
    return ", ".join(f"{number} {severity}" for severity, number in counts if number)


def _unsure(review: Review) -> str:
    """`; 4 blocks look like findings: lines 81 to 110`, or ''."""
    those = review.unsure
    if not those:
        return ""
    where = f"line {those[0]}" if len(those) == 1 else f"lines {those[0]} to {those[-1]}"
    looks = "block looks like a finding" if len(those) == 1 else "blocks look like findings"
    return f"; {len(those)} {looks}: {where}"


def _doubt(review: Review) -> str:
    """Why a review needs attention although none of its rows does, or ''."""
    harmless = agent_review.demanded(review.findings) == "safe"
    if not harmless or agent_review.effective_status(review)[0] == "CLEAN":
        return ""
    if review.doubts:
        return f", but {review.doubts[0]}"
    if review.unparsed:
        return f", but line {review.unparsed[0].partition(':')[0]} was not understood"
    for flag, reason in _DOUBTS.items():
        if flag in review.flags:
            return f", but {reason}"
    if review.stated and review.stated != "safe":
        return f", but it states {review.stated}"
    return ", but its verdict is not clear" if not review.stated else ""


def by_severity(review: Review) -> list[Finding]:
    """The findings to read first; one with an unknown severity comes after P0 and P1."""
    order = vocabulary.READING_ORDER
    return sorted(review.findings, key=lambda finding: order.index(finding.severity))


def row(reading: Reading) -> dict[str, object]:
    """The data about an agent's file for programs; `findings_count` excludes improvements."""
    severities = Counter(finding.severity for finding in reading.review.findings)
    named = [s for s in vocabulary.SEVERITIES if s != "IMP" and severities[s]]
    is_foreign = reading.validation == "foreign"
    derived = "" if is_foreign else agent_review.derived_verdict(reading.review)
    return {
        "agent": reading.agent, "status": reading.status, "validation": reading.validation,
        "stated_verdict": reading.review.stated, "derived_verdict": derived,
        "mismatch": "verdict_mismatch" in reading.flags, "findings_count": reading.findings_count,
        "severities": {name: severities[name] for name in named},
        "improvements": severities["IMP"], "summary": reading.summary,
        "detail_path": reading.shown, "flags": reading.flags,
    }  # fmt: skip


def ingest(layout: Layout, asked: Asked, read: Iterable[Reading], now: int) -> list[Reading]:
    """Write the verdict of each agent's file once all are read; the last ingest counts.

    An agent whose file is missing, empty, unfinished or from another run is an ERROR: nothing
    becomes clean by being absent. Files of agents that were not asked are listed last and get no
    verdict; neither does who left no file, in a run that was ended.
    """
    readings = list(read)
    is_over = asked.run is not None and asked.run.ended
    there = (each for each in readings if not (is_over and each.validation == "missing"))
    keep(layout, asked, [verdict(reading, asked.run_id) for reading in there], now)
    return [*readings, *uninvited(layout, asked)]


def keep_new(layout: Layout, asked: Asked, readings: list[Reading], now: int) -> None:
    """Write the verdicts of the files that a run has not ingested before."""
    new = (each for each in readings if each.sha256 and each.validation != "partial")
    unknown = [verdict(each, asked.run_id) for each in new
               if verdict_files.load(layout, each.agent, asked.store) is None]  # fmt: skip
    keep(layout, asked, unknown, now)


def keep(layout: Layout, asked: Asked, new: list[Verdict], now: int, session: str = "") -> None:
    """Write verdicts with the current time and session, with the run and in the flat store."""
    session, when = session or sessions.find_current(layout), names.iso(now)
    for verdict in new:
        made = verdict.replace(session_id=session, timestamp=when)
        verdict_files.save(layout, made, asked.store, _tokens(layout, verdict))


def _tokens(layout: Layout, verdict: Verdict) -> int:
    """The tokens of an agent's file, which its verdict saves; 0 if a store counted them."""
    path = layout.join(verdict.detail_path) if verdict.detail_path else ""
    if not verdict.sha256 or addresses.of(layout, path):
        return 0
    try:
        return tokens.estimate(agent_review.decoded(files.read_bytes(path)))
    except ContextError:
        return 0


def verdict(reading: Reading, run: str) -> Verdict:
    """The verdict to store for an agent's file, for the run with this id, or '' for none."""
    review, header = reading.review, reading.header or Header(form="", status="")
    severe = [f.id for f in by_severity(review) if f.severity in (*vocabulary.SERIOUS, "")]
    return Verdict(
        agent=reading.agent, status=reading.status, summary=reading.summary,
        type=header.type if agent_review.is_work(review, header) else review.type,
        model=header.model, tokens_spent=header.tokens_spent, files_changed=header.files_changed,
        findings_count=reading.findings_count or header.findings_count,
        detail_path=reading.shown, flags=reading.flags,
        findings=tuple(severe[:10]),  # worth opening
        run=run, sha256=reading.sha256,
    )  # fmt: skip


def read_line(asked: int, missed: int) -> str:
    """`6 files, 5 read, 1 not read: counts are a lower bound`, where counts follow."""
    bound = ": counts are a lower bound" if missed else ""
    return f"{names.counted(asked, 'file')}, {asked - missed} read, {missed} not read{bound}"


def counts(done: list[Reading]) -> dict[str, Any]:
    """The numbers of files asked for, read, and not read; and `totals` by validation."""
    are_read = [reading.is_read for reading in done if "not_asked" not in reading.flags]
    totals = {"agents": len(are_read), "valid": 0, **Counter(each.validation for each in done)}
    return {"totals": totals, "files": len(are_read), "read": sum(are_read),
            "unread": are_read.count(False)}  # fmt: skip

"""Reviews: what an agent's file says, and what follows from it.

    agent.md  ->  parse  ->  Review  ->  effective_status  ->  CLEAN, NEEDS_ATTENTION …, and why

The file comes from the agent and is not trusted: it may be cut off, contradict itself, quote
another review, or try to look better than it is. The status follows from the findings; what the
agent states can only make it stricter, and a file that was not understood is never clean. Instead
of an index, a research file has

    ### Sources       a list
    ### Findings      headings, or paragraphs that begin in bold
    ### Confidence    high, medium or low
    ### Gaps
"""

from __future__ import annotations

from collections import Counter

from contextkit.base.records import Record
from contextkit.base.type_names import Iterable, Iterator
from contextkit.reviews.documents import headers, index, reader, shapes, vocabulary
from contextkit.reviews.documents.index import UNCLOSED, Finding, Line, Terms
from contextkit.reviews.documents.reader import MOST_LINES
from contextkit.reviews.documents.vocabulary import SERIOUS, VERDICTS
from contextkit.text.blocks import Block, blocks, lines

Status = tuple[str, tuple[str, ...]]

_HARMLESS = frozenset(["late_index", "two_indexes", "no_verdict", "severity_conflict"])
_SERIOUS_AT = "serious_at_line_"  # a flag, followed by the line number
_SAYS = "line {} says {}, which its index lacks"
_UNPROVED = "unproved"  # a flag: a line that the contract asks for is not there
_ENDS = 400  # characters within which our first or last line must lie
SECTIONS = ("sources", "findings", "confidence", "gaps")
_SENTINEL = "flux-research:complete"
_LIKELY = 3  # of the four sections make a file research even without its sentinel


class Review(Record):
    """An agent's file. `type` is verdict or research; lines count from 1, and 0 means none.

    `validation`: valid, malformed (no usable index), error (the agent says that it failed), or
    missing (an empty file). `stated` is the strictest known verdict, or empty; `stated_raw` is its
    wording.
    """

    validation: str
    type: str = "verdict"
    stated: str = ""
    stated_raw: str = ""
    findings: tuple[Finding, ...] = ()
    sources: tuple[str, ...] = ()  # of a research file
    run: str = ""  # the run id from the first line
    flags: tuple[str, ...] = ()  # what is odd about the text; see manuals/verdicts.md
    unsure: tuple[int, ...] = ()  # lines of blocks that look like findings and are none
    unparsed: tuple[str, ...] = ()  # `12: the line` for each line that was not understood
    doubts: tuple[str, ...] = ()  # `line 12 says P0, …`: why it is not clean
    start_line: int = 0  # of the index
    end_line: int = 0
    complete: bool = False  # whether the last line is the sentinel


def parse(text: str, mode: str = "", terms: Terms | None = None) -> Review:
    """Parse an agent's file; `mode` is review, research, or ''. Linear; never raises.

    `terms` are those of the run that gave the agent its contract: then the file has to prove that
    it is clean.
    """
    head = bounded(text)
    if len(head) < len(text):
        review = parse(head, mode, terms)
        return review.replace(flags=(*review.flags, "too_long"))
    if not text.removeprefix("\ufeff").strip():
        return Review(validation="missing", type="research" if mode == "research" else "verdict")
    indexes: list[index.Block] = []
    outside = [line for line in index.walk(text, indexes) if not vocabulary.is_comment(line[2])]
    unclosed = any(level == UNCLOSED for _, level, _ in outside)
    last = text[-_ENDS:].rstrip().rpartition("\n")[2]
    complete = vocabulary.is_comment(last) and ":complete" in last
    is_asked = mode or indexes
    if mode == "research" if is_asked else _SENTINEL in last or len(_sections(text)) >= _LIKELY:
        review = _research(text, indexes, unclosed)
    else:
        review = _indexed(text, outside, indexes, complete, unclosed, terms)
        if review.validation == "malformed":
            read = reader.read(text)
            review = review.replace(findings=read.findings, unsure=read.unsure)
    times: Counter[str] = Counter()
    addressed = []  # the third finding is `row-3`, if its agent gave it no id
    for number, finding in enumerate(review.findings, 1):
        identity = finding.id or f"row-{number}"
        times[identity.upper()] += 1
        addressed.append(finding.replace(id=identity, again=times[identity.upper()]))
    review = review.replace(findings=tuple(addressed), run=_run(text), complete=complete)
    return _doubted(review, text, indexes, terms)


def decoded(data: bytes) -> str:
    """The text in bytes: UTF-8, or UTF-16 with its mark; what is neither becomes `\ufffd`."""
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    return data.decode("utf-16" if marked else "utf-8", "replace")


def bounded(text: str) -> str:
    """The part of a file that is read: all of JSON, else more lines than an agent writes."""
    ends = text.count("\n") + text.count("\r") - text.count("\r\n")
    if ends <= MOST_LINES or reader.of_objects(text) is not None:
        return text
    return "\n".join(lines(text)[:MOST_LINES])


def _doubted(review: Review, text: str, blocks: list[index.Block], terms: Terms | None) -> Review:
    """`review`, flagged if it would be clean but something in it says otherwise."""
    if effective_status(review)[0] != "CLEAN":
        return review
    from contextkit.reviews.documents import proof

    inside = {line for block in blocks for line in block.understood()}
    rows = {row.line for block in blocks for row in block.rows}
    findings = (each for each in review.findings if each.severity != "IMP" or each.line in rows)
    doubts = proof.doubts(text, tuple(findings), inside, terms)
    if not doubts:
        return review
    flags = (f"{_SERIOUS_AT}{doubt.line}" if doubt.line else _UNPROVED for doubt in doubts)
    unparsed = (f"{doubt.line}: {doubt.text}" for doubt in doubts if doubt.line)
    whys = (f"line {doubt.line} {doubt.why}" if doubt.line else doubt.why for doubt in doubts)
    return review.replace(
        flags=(*review.flags, *dict.fromkeys(flags)),
        unparsed=(*review.unparsed, *unparsed),
        doubts=tuple(whys),
    )


def _run(text: str) -> str:
    """The id in a first line such as `<!-- run-uuid: 1b4e28ba -->`."""
    return _of_comment(text[:_ENDS].removeprefix("\ufeff").lstrip().partition("\n")[0].strip())


def _of_comment(line: str) -> str:
    label, _, rest = line.removeprefix("<!--").strip().partition(":")
    is_run = line.startswith("<!--") and label.strip().lower() in ("run-uuid", "run")
    return rest.removesuffix("-->").strip() if is_run else ""


def names_run(text: str, run: str) -> bool:
    """Whether a line of a file that is no code names this run."""
    return any(level == 0 and _of_comment(line) == run for _, level, line in index.lines(text))


def _indexed(
    text: str, outside: list[Line], blocks: list[index.Block], complete: bool, unclosed: bool,
    terms: Terms | None,
) -> Review:  # fmt: skip
    """The review of a file, from its indexes and the text outside of them."""
    numbers = [number for number, level, _ in outside if level != UNCLOSED]
    there = reader.issues(text, blocks, terms) if blocks else []
    stated, raw = _stated_verdict(blocks, _verdicts(outside))
    findings, disagree = _settled(blocks, there)
    failed = bool(blocks) and stated == "error"
    lacking = _unindexed(findings, there) if blocks else ()
    ids = {row.id.upper() for row in findings}
    more = (issue for issue in there if issue.severity == "IMP" and issue.id.upper() not in ids)
    improvements = (issue for issue in more if issue.id)
    unparsed = {number: text for block in blocks for number, text in block.unparsed.items()}
    end = max((block.end for block in blocks), default=0)
    goes_on = complete or max(numbers, default=0) > end
    flags = {
        "late_index": bool(blocks) and bool(numbers) and numbers[0] < blocks[0].start,
        "two_indexes": len(blocks) > 1,
        "unclosed_fence": unclosed,
        "unparsed": bool(unparsed),
        "severity_conflict": disagree or any(block.conflict for block in blocks),
        "index_incomplete": bool(lacking),
        "truncated": bool(blocks) and not (raw or goes_on),
    }
    validation = "valid" if blocks and (findings or stated) else "malformed"
    shown = [f"{number}: {text}" for number, text in sorted(unparsed.items()) if text]
    return Review(
        validation="error" if failed else validation,
        stated=stated,
        stated_raw=raw,
        findings=findings if failed else (*findings, *lacking, *improvements),
        flags=tuple(name for name, holds in flags.items() if holds),
        unparsed=tuple(shown),
        doubts=tuple(_SAYS.format(issue.line, issue.severity) for issue in lacking),
        start_line=blocks[0].start if blocks else 0,
        end_line=blocks[0].end if blocks else 0,
    )


def _verdicts(outside: list[Line]) -> list[str]:
    """The verdicts that headings, lines below them, and severe lines state."""
    verdicts = []
    is_below = False  # a Verdict heading
    for _, level, text in outside:
        title = vocabulary.plain(text) if level > 0 else ""
        verdict = vocabulary.verdict(title or text) or ""
        if level > 0:
            is_below = not verdict and vocabulary.verdict(f"{title.rstrip(':')}:") is not None
        elif is_below and level != UNCLOSED:
            label, value = vocabulary.labelled(text)
            verdict = vocabulary.plain(value if label in ("STATUS", "VERDICT") else text)
            is_below = False
        elif vocabulary.verdict_word(verdict) not in ("needs-changes", "risky"):
            continue
        verdicts += [verdict] if verdict else []
    return verdicts


def _stated_verdict(blocks: list[index.Block], outside: list[str]) -> tuple[str, str]:
    """The strictest verdict that is understood and its words, else the first other one.

    Beside an understood one, other words in an index raise a doubt unless they mean a pass. So does
    an error in an index without rows if another index has some: it is a quoted stub.
    """
    understood: list[tuple[str, str]] = []
    other = []
    there_are_rows = any(block.rows for block in blocks)
    for block in blocks:
        for number, words in block.verdicts:
            word = vocabulary.verdict_word(words)
            is_quoted = there_are_rows and not block.rows
            if word and not (word == "error" and is_quoted):
                understood.append((word, words))
            else:
                other.append((block, number, words))
    understood += [(word, own) for own in outside if (word := vocabulary.verdict_word(own))]
    if not understood:
        stated = [*(words for _, _, words in other), *outside, ""]
        return "", next((own for own in stated[:-1] if not vocabulary.passes(own)), stated[0])
    for block, number, words in other:
        if not vocabulary.passes(words):
            block.doubt(number, f"Verdict: {words}")
    return max(understood, key=lambda each: VERDICTS.index(each[0]))


def _settled(blocks: list[index.Block], issues: list[Finding]) -> tuple[tuple[Finding, ...], bool]:
    """The rows, each at the stricter severity of its row and its section; whether that differs."""
    stated = {issue.id.upper(): issue.severity for issue in issues if issue.id and issue.severity}
    rows: dict[tuple[str, str, int], Finding] = {}
    disagree = False
    for block in blocks:
        for row in block.rows:
            in_section = stated.get(row.id.upper(), "")
            severity = vocabulary.strictest(row.severity, in_section)
            if not row.severity and severity and block.settle(row, severity):
                row = row.replace(severity=severity, raw_severity=severity)
            elif severity != row.severity:
                disagree = True
                row = row.replace(severity=severity)
            same = (row.id.upper(), row.title.lower(), row.line if len(blocks) == 1 else 0)
            there = rows.setdefault(same, row)
            if there.severity != vocabulary.strictest(there.severity, row.severity):
                rows[same] = row
    return tuple(rows.values()), disagree


def _unindexed(findings: Iterable[Finding], issues: list[Finding]) -> tuple[Finding, ...]:
    """Each P0 or P1 that has a section but no row in the index.

    A section and a row are matched without an id on one side if their severities allow it.
    """
    ids = {row.id.upper() for row in findings if row.id}
    of_any = vocabulary.strictest(*(row.severity for row in findings))
    without_id = vocabulary.strictest(*(row.severity for row in findings if not row.id))

    def has_row(issue: Finding) -> bool:
        match = without_id if issue.id else of_any
        return vocabulary.strictest(match, issue.severity) == match

    def told(issue: Finding) -> tuple[str, int]:
        is_label = not issue.id and bool(shapes.label_in(issue.title))
        return issue.id or issue.title, issue.line * is_label

    serious = (issue for issue in issues if issue.severity in SERIOUS)
    lacking = [issue for issue in serious if issue.id.upper() not in ids and not has_row(issue)]
    first = {told(issue): issue for issue in reversed(lacking)}  # one may be told twice
    return tuple(issue for issue in lacking if first[told(issue)] is issue)


def is_read(review: Review, validation: str = "") -> bool:
    """Whether a file's findings are known: it has an index, or findings a person would see."""
    effective = validation or review.validation
    return effective == "valid" or (effective == "malformed" and bool(review.findings))


def demanded(findings: Iterable[Finding]) -> str:
    """The verdict that the severities demand; agents do not choose it."""
    severities = {finding.severity for finding in findings}
    return "risky" if "P0" in severities else "needs-changes" if "P1" in severities else "safe"


def derived_verdict(review: Review) -> str:
    """The verdict that the rows demand, or '' if no rows could be read."""
    by_validation = {"malformed": "", "missing": "error", "error": "error"}
    return by_validation.get(review.validation, demanded(review.findings))


def is_work(review: Review, header: headers.Header | None) -> bool:
    """Whether a file is a work report, by its eight-line header, and not a review."""
    lines = header is not None and header.form == "lines" and header.type == "implementation"
    return lines and review.validation == "malformed"


def effective_status(review: Review, header: headers.Header | None = None) -> Status:
    """CLEAN, NEEDS_ATTENTION or ERROR (research: COMPLETE, PARTIAL or FAILED), and flags.

    The status is the stricter of what the review and the agent's header say. A work report has only
    its header; its claims are for tests to check.
    """
    status, flags = _status(review)
    if header is None:
        return status, flags
    if is_work(review, header):
        return header.status, header.flags
    stricter = max(status, header.status, key=headers.STATUSES.index)
    is_doubted = any(flag.startswith(_SERIOUS_AT) for flag in review.flags)
    agree = stricter == status and (header.passes() or not is_doubted)
    return stricter, flags if agree else ("header_mismatch", *flags)


def _status(review: Review) -> Status:
    """The status according to the review itself, and its flags."""
    flags = review.flags
    if review.type == "research":
        if review.validation != "valid":
            return "FAILED", (*flags, review.validation)
        return ("PARTIAL" if flags else "COMPLETE"), flags
    if review.validation == "missing":
        return "ERROR", (*flags, "missing")
    if review.validation == "malformed":
        return "NEEDS_ATTENTION", (*flags, "malformed")
    if review.validation == "error":
        return "ERROR", flags
    wanted = demanded(review.findings)
    ranks = [VERDICTS.index(verdict) for verdict in (review.stated, wanted) if verdict]
    if not review.stated:
        flags = (*flags, "no_verdict")
    elif wanted == "safe" != review.stated or max(ranks) != ranks[0]:
        flags = (*flags, "verdict_mismatch")
    is_safe = review.stated == "safe"
    if not review.stated:  # without a known word, only if there are rows
        passes = not review.stated_raw or vocabulary.passes(review.stated_raw)
        is_safe = passes and bool(review.findings)
    clean = wanted == "safe" and is_safe and _HARMLESS.issuperset(flags)
    return ("CLEAN" if clean else "NEEDS_ATTENTION"), flags


def _sections(text: str) -> dict[str, list[Block]]:
    """The text below the first heading of each existing section."""
    sections: dict[str, list[Block]] = {}
    name, last = "", 0
    for block in blocks(text):
        title = vocabulary.plain(block.title).lower().lstrip("0123456789. ").replace(":", " ")
        begun = title.partition(" ")[0] if block.kind == "heading" else ""
        is_new = begun in SECTIONS and begun not in sections
        if is_new and not index.is_index(block.title):
            name, last, sections[begun] = begun, block.last, []
        elif block.first <= last and block.kind not in ("comment", "rule"):
            sections[name].append(block)
    return sections


def _research(text: str, indexes: list[index.Block], unclosed: bool) -> Review:
    """The review of a research file, flagged with what keeps it from being complete."""
    there = {name: list[Block]() for name in SECTIONS} | _sections(text)
    sources = tuple(block.title for block in there["sources"] if block.kind == "item")
    rows = [row for _, row in vocabulary.numbered(text)]
    sure, gaps = (
        " ".join(row for block in there[name] for row in rows[block.first - 1 : block.last]).lower()
        for name in ("confidence", "gaps")
    )
    flags = {
        "no_sources": not sources,
        "no_findings": not there["findings"],
        "no_confidence": not there["confidence"],
        "low_confidence": bool(sure) and {"high", "medium"}.isdisjoint(vocabulary.words(sure)),
        "no_gaps": not there["gaps"],
        "significant_gaps": "significant gap" in gaps,
        "unclosed_fence": unclosed,
    }
    verdicts = (verdict for each in indexes for _, verdict in each.verdicts)
    failed = "error" in map(vocabulary.verdict_word, verdicts)
    validation = "valid" if there["findings"] else "malformed"
    return Review(
        validation="error" if failed else validation,
        type="research",
        stated="error" if failed else "",
        findings=tuple(_found(there["findings"])),
        sources=sources,
        flags=tuple(name for name, holds in flags.items() if holds),
    )


def _found(section: list[Block]) -> Iterator[Finding]:
    """The findings of research: each heading, and each paragraph that begins in bold."""
    leads = (block.title[2:].partition("**")[0] * (block.title[:2] == "**") for block in section)
    titles = [
        (block, vocabulary.plain(block.title) if block.kind == "heading" else lead)
        for block, lead in zip(section, leads, strict=True)
        if block.kind == "heading" or (lead and ":" not in lead)
    ]
    ends = [block.first - 1 for block, _ in titles[1:]] + [block.last for block in section[-1:]]
    for (block, title), end in zip(titles, ends, strict=False):
        last = block.last if block.kind == "heading" else end
        yield Finding(severity="", section="Findings", title=title, line=block.first, end=last)

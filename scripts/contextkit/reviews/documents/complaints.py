"""Where an agent's file breaks its contract, line by line, for a person or an agent."""

from __future__ import annotations

from contextkit.base import names
from contextkit.reviews.documents import agent_review, index, reader, vocabulary
from contextkit.reviews.documents.agent_review import SECTIONS, demanded
from contextkit.reviews.documents.vocabulary import SERIOUS

Complaint = tuple[int, str, str]  # line number, what is wrong, how the line should read

RESEARCH = tuple(map(str.capitalize, SECTIONS))
_HEADING = "### Findings Index"
_ROW = '- P0|P1|P2|P3|IMP | ID | "Section" | Title'
_NO_ROW = "the index has no row for this"
_NOT_INDEXED = "your index has no row for that: add one, or reword it"
_NOT_A_FINDING = "; if it is only what you tried, it belongs under `### Checked`"
_MOST_LINES = 12  # of feedback
_LONGEST_LINE = 240  # characters of feedback


def check(text: str, terms: index.Terms | None = None) -> list[Complaint]:
    """What is wrong with an agent's file: (line, problem, how it should read, or '') each."""
    faults = _complaints(text, terms)
    told = {number for number, wrong, _ in faults if wrong == _NO_ROW}
    faults += [fault for fault in _unproved(text, terms) if fault[0] not in told]
    return [
        (number, names.one_line(wrong), names.one_line(better))
        for number, wrong, better in sorted(faults)
    ]


def _unproved(text: str, terms: index.Terms | None) -> list[Complaint]:
    """The obstacles that keep a file without P0 and P1 from being clean, each with its remedy."""
    review = agent_review.parse(text, "review", terms)
    faults = []
    if "too_long" in review.flags:
        why = f"only the first {reader.MOST_LINES:,} lines are read: leave out what is quoted"
        faults.append((reader.MOST_LINES, why, ""))
    if review.doubts:
        from contextkit.reviews.documents import proof
    for doubt in review.doubts:
        number, _, why = doubt.removeprefix("line ").partition(" ")
        better = next((line for begins, line in proof.ASKED.items() if why.startswith(begins)), "")
        if doubt.startswith("line "):
            is_named = why.startswith(("says", "gives", "has", "counts"))  # wherever it stands
            mend = f": {_NOT_INDEXED}{'' if is_named else _NOT_A_FINDING}" if not better else ""
            faults.append((int(number), f"this {why}{mend}", better))
        else:
            better = proof.ASKED[doubt]
            if terms and doubt == proof.NOT_CONFIRMED:
                better = f"Fixed: {', '.join(terms.open)}"
            faults.append((text.count("\n", 0, len(text.rstrip())) + 1, doubt, better))
    return faults


def feedback(text: str, terms: index.Terms | None = None) -> list[str]:
    """The first complaints of `check`, one line each, for the agent that has to fix them."""
    faults = check(text, terms)
    messages = []
    for number, wrong, better in faults[:_MOST_LINES]:
        read = f"; it should read `{better}`" if better else ""
        messages.append(f"line {number}: {wrong}{read}"[:_LONGEST_LINE])
    more = len(faults) - len(messages)
    return [*messages, f"and {more} more: `make verdict_check` lists all"] if more else messages


def _complaints(text: str, terms: index.Terms | None) -> list[Complaint]:
    text = agent_review.bounded(text)
    blocks: list[index.Block] = []
    outside = list(index.walk(text, blocks))
    titles = {
        vocabulary.plain(line).lower().split(" ")[0] for _, level, line in outside if level > 0
    }
    first = next((number for number, _, line in outside if not vocabulary.is_comment(line)), 0)
    faults = [(number, "this code fence is never closed", line) for number, level, line in outside
             if level == index.UNCLOSED]  # fmt: skip
    last = text.rstrip().count("\n") + 1
    if not blocks:
        lacks = [name for name in RESEARCH if name.lower() not in titles]
        if len(lacks) > 2:
            return [*faults, (1, "there is no Findings Index", _HEADING)]
        return faults + [(last, "a section is missing", f"### {name}") for name in lacks]
    if 0 < first < blocks[0].start:
        faults.append((blocks[0].start, "the index is not the first block of the file", _HEADING))
    faults += [(block.start, "a second index: a file has one", "") for block in blocks[1:]]
    rows = tuple(row for block in blocks for row in block.rows)
    raw, verdict = dict(vocabulary.numbered(text)), demanded(rows)
    for block in blocks:
        faults += _of_block(block, raw, verdict)
    is_found = any(row.severity not in ("", "IMP") for row in rows)
    wanted = {"summary": "### Summary", "issues": "### Issues Found"} if is_found else {}
    faults += [(last, "a section is missing", wanted[name]) for name in wanted.keys() - titles]
    return faults + _of_issues(rows, reader.issues(text, blocks, terms), last)


def _of_block(block: index.Block, raw: dict[int, str], verdict: str) -> list[Complaint]:
    """Check the heading, each row, the verdict, and whatever else is in an index."""
    faults: list[Complaint] = []
    if raw[block.start] != _HEADING:
        faults.append((block.start, "this is not the heading", _HEADING))
    rows = {row.line: row for row in block.rows}
    verdicts = dict(block.verdicts)
    if not rows and "error" in map(vocabulary.verdict_word, verdicts.values()):
        verdict = "error"  # a stub
    counts: dict[str, int] = {}
    for number in range(block.start + 1, block.end + 1):
        line, row = raw[number], rows.get(number)
        if row and row.severity and row.title:
            counts[row.severity] = counts.get(row.severity, 0) + 1
            identity = row.id or f"{row.severity}-{counts[row.severity]}"
            should = index.row_of(row.replace(id=identity, section=row.section or "Section"))
            if line != should or number in block.unparsed:
                faults.append((number, _fault(row, number in block.unparsed), should))
        elif number in block.unparsed:
            faults.append((number, "this line is not understood", _ROW))
        elif number in verdicts and line != f"Verdict: {verdict}":
            what = f"the findings make it {verdict}, in exactly this form"
            faults.append((number, what, f"Verdict: {verdict}"))
        elif line.strip() and number not in verdicts:
            faults.append((number, "only rows and the verdict belong in the index", ""))
    if not verdicts:
        faults.append((block.end, "the verdict is missing after this line", f"Verdict: {verdict}"))
    return faults


def _fault(row: index.Finding, doubtful: bool) -> str:
    if doubtful or not row.id:
        return "the row has more than one severity" if doubtful else "the row has no id"
    if row.raw_severity not in (row.severity, ""):
        return f"the severity is {row.severity}, not {row.raw_severity!r}"
    return "the row is not in this form"


def _of_issues(
    rows: tuple[index.Finding, ...], there: list[index.Finding], last: int
) -> list[Complaint]:
    """Report rows without a section, sections without a row, and where the two disagree."""
    faults: list[Complaint] = []
    by_identity = {issue.id.upper(): issue for issue in there if issue.id}
    by_id: dict[str, index.Finding] = {}
    for row in rows:
        if row.id and by_id.setdefault(row.id.upper(), row) is not row:
            faults.append(
                (row.line, f"the id {row.id} is used twice: each finding needs its own", "")
            )
    all_have_ids = all(row.id for row in rows)  # otherwise reported for the row
    for issue in there if all_have_ids else ():
        if issue.severity in SERIOUS and issue.id.upper() not in by_id:
            should = f'- {issue.severity} | {issue.id or "ID"} | "Section" | Title'
            faults.append((issue.line, _NO_ROW, should))
    for identity, row in by_id.items():
        in_section = by_identity[identity].severity if identity in by_identity else ""
        if identity not in by_identity and row.severity in SERIOUS:
            heading = names.one_line(f"#### {row.id}. {row.severity}: {row.title}")
            faults.append((last, f"there is no section for {row.id}", heading))
        elif in_section and vocabulary.strictest(in_section, row.severity) != row.severity:
            should = index.row_of(row.replace(severity=in_section))
            faults.append((row.line, "its section has a stricter severity", should))
    return faults

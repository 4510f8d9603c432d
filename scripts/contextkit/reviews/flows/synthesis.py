"""The combined findings of a run's reviews, and when two findings are one; pure.

    Reading (an agent's file)   ->  rows_of   ->  Row (a finding of one agent)
    the readings of a run       ->  combined  ->  MergedFinding (with all its agents)
                                ->  document  ->  findings.json, in the published form

Findings with equal titles are merged, and so are findings of several agents at one place with
similar wording; every agent is named and every wording kept. Findings that are merely alike are
reported as possible duplicates, and both stay. A finding is identified by agent and id, since every
agent counts from P1-1.

Two findings are at one place if they name the same file and lines within three of each other, or
the same symbol. Words are weighted by how rare they are among all findings; those of a title weigh
most. The constants below scored best in `make bench what=duplicates`, on pairs labeled by people.

    identity("plan.md", "`load()` trusts the token", "src/app.py")  ->  f-3b1c9a0d52e7

An identity survives edits: it is the same as long as target, file, symbol and title are. Line
numbers are left out, since they change with every edit, and so is the markup of a title.
"""

from __future__ import annotations

import math
import re
from collections import Counter

from contextkit.base import names
from contextkit.base.expressions import Pattern
from contextkit.base.records import Record
from contextkit.base.type_names import Iterable, Sequence
from contextkit.reviews.documents import agent_review, places, vocabulary
from contextkit.reviews.documents import sections as review_sections
from contextkit.reviews.documents.index import Finding
from contextkit.reviews.documents.places import Place
from contextkit.reviews.documents.vocabulary import READING_ORDER
from contextkit.reviews.flows.agent_files import Reading
from contextkit.text import objects

COMPLETED = ("valid", "malformed")  # validations of finished files
_LONGEST = 200  # characters of a finding's words
_PUBLIC = ("run", "agent", "id", "severity", "section", "title", "file", "line", "text_line")
# Keys of an object that say what goes wrong, besides its title, and what to do.
_SAID = ("body", "description", "details", "detail", "explanation", "message", "comment", "text")
_FIX = ("fix", "suggestion", "recommendation", "remediation")
_COMPARED = 400  # of the most severe findings are compared with each other
_MOST_PAIRS = 50
_OF_IMPROVEMENT = ("id", "agents", "section", "title", "convergence", "key", "identity", "since",
                   "dismissed")  # fmt: skip
ALIKE, _ONE = 0.39, 0.44  # thresholds: perhaps one finding; one finding if at one place
_PLACE = 0.22  # the bonus for sharing a place
_SAME_TITLE = 0.1  # minimum likeness of the titles of one finding at one place
_NEAR = 3  # lines
_WEIGHTS = (2.0, 0.5, 0.6)  # of a word in the title, the section's name, and the text
_HEAVIEST = 6.0  # maximum weight of a word, however often it occurs
_MOST_WORDS = 120  # of the text
_ENDINGS = ("ations", "ation", "ingly", "ing", "ed", "ies", "es", "s", "ly")
_COMMON = vocabulary.word_set("stop words")
_LOCATION = Pattern(r"(?<![\w./@+-])([\w./@+-]*\w\.\w+)(?::|#L)(\d[\d,+\-L]*)")
_SYMBOL = Pattern(r"`([A-Za-z_][\w.:]*)(\(\))?`|\b([a-z_]\w+)\(\)")
_RATING = Pattern(r"\([^()]*\b(?:impact|effort|addresses)\b[^()]*\)", re.IGNORECASE)
_FILLERS = vocabulary.word_set("fillers")
_DIGITS = 12  # in the digest


class Row(Record):
    """A finding of one agent, with the place in the code that it names; `text` is its section."""

    title: str
    section: str = ""
    text: str = ""
    run: str = ""
    agent: str = ""
    id: str = ""
    key: str = ""  # `agent/id`, or `agent/id(2)` if an agent repeats its id
    severity: str = ""
    file: str = ""
    line: int = 0
    last: int = 0  # of a range
    text_line: int = 0  # its line in the agent's file
    of: str = ""  # the group for duplicates: research or a review, and which of several
    counts: bool = True  # from a finished file; an unfinished one confirms nothing

    @property
    def place(self) -> str:
        return places.shown_place(self.file, self.line, self.last)

    @property
    def description(self) -> str:
        """The first words of its section that say what is wrong."""
        problem = names.one_line(review_sections.problem_of(self.text, self.title))
        return names.clipped_at_space(problem, _LONGEST)

    @property
    def more(self) -> str:
        """The description, unless it only repeats the title."""
        told = self.description
        return "" if vocabulary.words(told) == vocabulary.words(self.title) else told

    @property
    def fix(self) -> str:
        """The fix that its section suggests, or ''."""
        return names.clipped_at_space(names.one_line(review_sections.fix_of(self.text)), _LONGEST)

    @property
    def ref(self) -> str:
        """The address of the finding or the agent's file; '' for a folder without a run."""
        return f"review:{self.run}/{self.key or self.agent}" if self.run else ""

    def public(self, *more: str) -> dict[str, object]:
        """Its data for programs, with `more` of its fields."""
        return {name: getattr(self, name) for name in (*_PUBLIC, *more)}


def rows_of(reading: Reading, run: str = "") -> list[Row]:
    """The findings of one agent, in the order of its file."""
    review = reading.review
    rows = []
    prefix, mark, _ = reading.agent.partition("--")
    texts = review_sections.of_findings(reading.text, review)
    for finding, section in zip(review.findings, texts, strict=True):
        text = _worded(section, finding.title)
        where = place(finding, text)
        rows.append(Row(
            run=run, agent=reading.agent, id=finding.id, key=f"{reading.agent}/{finding.key}",
            severity=finding.severity,
            section=names.one_line(finding.section), title=names.one_line(finding.title),
            file=where.file, line=where.line, last=where.last, text=text, text_line=finding.line,
            of=f"{review.type} {prefix if mark else ''}",
            counts=reading.validation in COMPLETED,
        ))  # fmt: skip
    return rows


def _worded(section: str, title: str) -> str:
    """An object of a tool as a section in words; any other section as it is."""
    if section.lstrip()[:1] != "{":
        return section
    fields = objects.parsed(section.strip().rstrip(","))
    if not isinstance(fields, dict):
        return section
    problem, fix = (objects.first(fields, keys) for keys in (_SAID, _FIX))
    return "\n\n".join(filter(None, (f"#### {title}", problem, fix and f"Fix: {fix}")))


def place(finding: Finding, section: str) -> Place:
    """The place that a finding's row names, or else its section."""
    if finding.file:
        return Place(finding.file, finding.at)
    row = places.place_in(" ".join((finding.section, finding.title, *finding.extra)))
    inside = places.place_in(section)
    return row if row.line or not inside.line else inside


class MergedFinding(Row):
    """A finding of one or more agents: the most severe of its `rows`, with the first place of any.

    `convergence` is the number of agents with a finished file that found it. `identity`, `since`
    (new or still) and `dismissed` (the reason) are known across runs; one that `counts_no_more` is
    dismissed as its gate asks for.
    """

    rows: tuple[Row, ...]
    agents: tuple[str, ...]
    convergence: int
    identity: str = ""
    since: str = "new"
    dismissed: str = ""
    counts_no_more: bool = False  # its dismissal is committed, and says who if it is a P0

    @property
    def description(self) -> str:
        return next((row.description for row in self.rows if row.description), "")

    @property
    def fixes(self) -> list[tuple[str, str]]:
        """(key, fix) of each fix that a row suggests apart from its description, each once."""
        fixes: dict[str, tuple[str, str]] = {}
        for row in self.rows:
            if row.fix not in row.description:
                fixes.setdefault(" ".join(vocabulary.words(row.fix)), (row.key, row.fix))
        return list(fixes.values())

    @property
    def confidence(self) -> str:
        return ("low", "low", "medium", "high")[min(self.convergence, 3)]

    @property
    def mark(self) -> str:
        """The severity, `?` for an unknown one, '' for research, which has none."""
        return self.severity or ("" if self.of.startswith("research") else "?")

    @property
    def short_title(self) -> str:
        """The title without the place, if it begins with that."""
        title = names.one_line(self.title)
        bare = title.lstrip("`*[(")
        rest = bare.removeprefix(self.place)
        is_whole = rest != bare and not rest[:1].isalnum()  # not `app.py:4` of `app.py:42`
        return (rest.lstrip(" :—–-`*])") if is_whole else "") or title

    def place_beside(self, text: str) -> str:
        """Its place, or '' if the text next to it has it."""
        return "" if self.place in text else self.place

    def public(self, *more: str) -> dict[str, object]:
        """Its data for programs: the first row, and the keys of the others."""
        others = [row.key for row in self.rows[1:]]
        first = self.rows[0].public("text", *more)
        return first | {"severity": self.severity or "?", "also": others}


def _one(rows: Iterable[Row]) -> MergedFinding:
    def rank(row: Row) -> tuple[object, ...]:
        return READING_ORDER.index(row.severity), row.agent, _in_order(row.id)

    ranked = tuple(sorted(rows, key=rank))
    placed = next((row for row in ranked if row.file), ranked[0])
    place = {"file": placed.file, "line": placed.line, "last": placed.last}
    agents = tuple(sorted({row.agent for row in ranked}))
    convergence = len({row.agent for row in ranked if row.counts})
    first = vars(ranked[0]) | place
    return MergedFinding(**first, rows=ranked, agents=agents, convergence=convergence)


def combined(sources: Iterable[Reading], run: str = "") -> list[MergedFinding]:
    """All findings, including improvements, most severe and most confirmed first.

    Those with equal titles are merged, as are those of several agents at one place with similar
    words.
    """
    groups: dict[tuple[str, int, str], list[Row]] = {}
    for source in sources:
        times: dict[str, int] = {}
        for row in rows_of(source, run):
            title = same_title(row.title)
            times[title] = times.get(title, 0) + 1
            unnamed = "" if title else f"{row.agent}/{row.id}"  # an empty title equals no other
            groups.setdefault((title, times[title], unnamed), []).append(row)
    return _ordered(_merged(_ordered(map(_one, groups.values()))))


def _ordered(findings: Iterable[MergedFinding]) -> list[MergedFinding]:
    """Equally severe and confirmed ones round the agents: the first of each, the second."""
    turns: Counter[tuple[int, int, str]] = Counter()

    def rank(finding: MergedFinding) -> tuple[int, int, int]:
        severity, confirmed = READING_ORDER.index(finding.severity), -finding.convergence
        turns[severity, confirmed, finding.agent] += 1
        return severity, confirmed, turns[severity, confirmed, finding.agent]

    return sorted(sorted(findings, key=lambda each: _in_order(each.key)), key=rank)


def _in_order(key: str) -> list[tuple[int, str]]:
    """A sort key that puts `P1-2` before `P1-10`."""
    parts = re.findall(r"([0-9]+)|([^0-9])", key)
    return [(int(digits[:15]) if digits else -1, char) for digits, char in parts]


def _pairs(findings: list[MergedFinding]) -> list[tuple[float, int, int, bool]]:
    """(likeness, number, number, whether they are one) of findings, by rows of two agents."""
    rows = [(number, row) for number, finding in enumerate(findings[:_COMPARED])
            for row in finding.rows]  # fmt: skip
    alike = Likeness([row for _, row in rows])
    best: dict[tuple[int, int], tuple[float, bool]] = {}
    for first, (number, row) in enumerate(rows):
        for second in range(first + 1, len(rows)):
            other, its = rows[second]
            if number == other or row.agent == its.agent or row.of != its.of:
                continue
            score = alike.compare(first, second)
            if score[0] >= ALIKE:
                best[number, other] = max(score, best.get((number, other), (0.0, False)))
    return sorted(((score, *pair, same) for pair, (score, same) in best.items()), reverse=True)


def _merged(findings: list[MergedFinding]) -> list[MergedFinding]:
    """Merge the findings of different agents at one place in similar words, best match first."""
    home = list(range(len(findings)))
    groups = {number: [first] for number, first in enumerate(findings)}
    for _, first, second, same in _pairs(findings):
        mine, its = groups[home[first]], groups[home[second]]
        agents = [agent for each in (*mine, *its) for agent in each.agents]
        if same and home[first] != home[second] and len(set(agents)) == len(agents):
            gone = home[second]
            mine += groups.pop(gone)
            home = [home[first] if number == gone else number for number in home]
    return [_one(row for each in those for row in each.rows) for those in groups.values()]


def possible_duplicates(findings: list[MergedFinding]) -> list[tuple[MergedFinding, MergedFinding]]:
    """Pairs from different agents that may be about the same thing but were not merged."""
    return [(findings[at], findings[to]) for _, at, to, _ in _pairs(findings)[:_MOST_PAIRS]]


def same_title(title: str) -> str:
    """A title without differences that do not count: case, whitespace, emphasis."""
    return " ".join(vocabulary.plain(title).lower().split()).strip(" .:;!")


def verdict(sources: list[Reading]) -> str:
    """The worst verdict; safe only if all are clean, error if one failed and none is worse."""
    rows = [row for source in sources for row in source.review.findings]
    done = [source for source in sources if source.validation in COMPLETED]
    verdicts = [agent_review.demanded(tuple(rows))]
    verdicts += ["needs-changes" for source in done if source.status != "CLEAN"]
    verdicts += [source.review.stated for source in done if source.review.stated]
    worst = max(verdicts, key=vocabulary.VERDICTS.index)
    return "error" if not done or (worst == "safe" and len(done) < len(sources)) else worst


def together(findings: list[MergedFinding]) -> dict[str, list[MergedFinding]]:
    """The findings of different agents at one place: a `path:line`, or a section's name."""
    there: dict[str, list[MergedFinding]] = {}
    for finding in findings:
        own = {row.place for row in finding.rows if row.line}
        own |= {f'"{row.section}"' for row in finding.rows if row.section not in ("", row.place)}
        for where in sorted(own):
            there.setdefault(where, []).append(finding)
    return {where: those for where, those in there.items()
            if len(those) > 1 and len({a for each in those for a in each.agents}) > 1}  # fmt: skip


def conflicts(sources: list[Reading], findings: list[MergedFinding]) -> list[str]:
    """A line for each point on which agents contradict each other or themselves."""
    lines = []
    for finding in findings:
        if len({row.severity for row in finding.rows}) > 1:
            sides = ", ".join(f"{row.agent} {row.severity or '?'}" for row in finding.rows)
            lines.append(f'"{finding.title}": {sides}')
    for where, those in together(findings).items():
        if where[:1] == '"':
            continue  # sharing only a section is not a disagreement
        serious = [finding for finding in those if finding.severity != "IMP"]
        if len({finding.severity for finding in serious}) > 1:
            sides = ", ".join(f"{finding.severity or '?'} {finding.key}" for finding in serious[:6])
            lines.append(f"{where}: {sides}")
    for source in sources:
        if "verdict_mismatch" in agent_review.effective_status(source.review)[1]:
            rows = agent_review.demanded(source.review.findings)
            lines.append(f"{source.agent}: states {source.review.stated}, its rows say {rows}")
    return [names.one_line(line) for line in lines]


def document(
    head: dict[str, object], sources: list[Reading], findings: list[MergedFinding]
) -> dict[str, object]:
    """findings.json: the keys of the published format first, then ours; `head` is of the run."""
    beside: dict[str, list[str]] = {}  # the keys of some others at its place, by key
    for those in together(findings).values():
        for finding in those:
            others = [other.key for other in those[:10] if other is not finding]
            beside[finding.key] = [*dict.fromkeys([*beside.get(finding.key, []), *others])][:10]
    entries = [_as_json(finding, beside, str(head["input"])) for finding in findings]
    improvements = [entry for entry in entries if entry["severity"] == "IMP"]
    first = {key: head[key] for key in ("reviewed", "input", "input_type")}
    agents = [source.agent for source in sources]
    done = [source.agent for source in sources if source.validation in COMPLETED]
    return {
        **first,
        "agents_launched": agents,
        "agents_completed": done,
        "agents_failed": [agent for agent in agents if agent not in done],
        "findings": [entry for entry in entries if entry["severity"] != "IMP"],
        "improvements": [{key: entry[key] for key in _OF_IMPROVEMENT} for entry in improvements],
        "verdict": verdict(sources),
        "early_stop": False, "content_routing_active": False,
        "synthesis_timestamp": head["synthesis_timestamp"],
        "synthesis_protocol_version": "1.0",
        **{key: value for key, value in head.items() if key not in first},
        "conflicts": conflicts(sources, findings),
        "possible_duplicates": [[a.key, b.key] for a, b in possible_duplicates(findings)],
        "fixed": [], "unchecked": [],
    }  # fmt: skip


def _as_json(
    finding: MergedFinding, beside: dict[str, list[str]], target: str
) -> dict[str, object]:
    differ = len({row.severity for row in finding.rows}) > 1
    elsewhere = dict.fromkeys(row.section for row in finding.rows if row.section != finding.section)
    is_alone = finding.convergence < 2 and finding.severity in vocabulary.SERIOUS
    return {
        "id": finding.id, "severity": finding.severity or "?", "agents": list(finding.agents),
        "section": finding.section, "title": finding.title,
        "convergence": finding.convergence, "confidence": finding.confidence,
        "co_located": finding.key in beside, "co_located_with": beside.get(finding.key, []),
        "cross_references": list(elsewhere),
        "severity_conflict": {r.agent: r.severity or "?" for r in finding.rows} if differ else {},
        "descriptions": {row.agent: row.description for row in finding.rows if row.description},
        "provenance": [
            {"agent": row.agent, "id": row.id, "severity": row.severity or "?",
             "place": row.place, "title": row.title}
            for row in finding.rows
        ],
        "key": finding.key,
        **({"note": "found by one agent: verify it"} if is_alone else {}),
        "identity": finding.identity or identity(target, finding.title, finding.file),
        "since": finding.since, "dismissed": finding.dismissed,
    }  # fmt: skip


class Likeness:
    """Compares the findings of one review with each other, by their numbers."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._places = list(map(_places, rows))
        called = (_SYMBOL.findall(row.title) for row in rows)  # `load()`, or with parentheses
        self._symbols = [{a or b for a, is_call, b in those if b or is_call or "_" in a}
                         for those in called]  # fmt: skip
        self._all = _vectors([_counted(row) for row in rows])
        bare = (_LOCATION.sub(" ", row.title) for row in rows)
        self._titles = _vectors([_counted(Row(title=title)) for title in bare])

    def compare(self, first: int, second: int) -> tuple[float, bool]:
        """The likeness of two findings, by words and place, and whether they are one."""
        mine, its = self._places[first], self._places[second]
        here = bool(self._symbols[first] & self._symbols[second])
        if mine and its:
            here = any(_touch(a, b) for a in mine for b in its)
            if not here:
                return 0.0, False
        likeness = _product(self._all[first], self._all[second]) + _PLACE * here
        are_related = _product(self._titles[first], self._titles[second]) >= _SAME_TITLE
        return likeness, here and are_related and likeness >= _ONE


def _product(first: dict[str, float], second: dict[str, float]) -> float:
    less, more = sorted((first, second), key=len)
    return sum(value * more.get(word, 0.0) for word, value in less.items())


def _touch(first: tuple[str, int, int], second: tuple[str, int, int]) -> bool:
    """Whether two places share lines; a single line may be up to three away."""
    near = 0 if first[1] < first[2] and second[1] < second[2] else _NEAR
    return first[0] == second[0] and first[1] <= second[2] + near and second[1] <= first[2] + near


def _counted(row: Row) -> dict[str, float]:
    """The weight of each word of a finding by where it occurs."""
    weights: dict[str, float] = {}
    title, text = _split(_RATING.sub(" ", row.title)), _split(row.text)[:_MOST_WORDS]
    for words, weight in zip((title, _split(row.section), text), _WEIGHTS, strict=True):
        for word in words:
            weights[word] = min(weights.get(word, 0.0) + weight, _HEAVIEST)
    return weights


def _vectors(counted: list[dict[str, float]]) -> list[dict[str, float]]:
    """The words of each finding, rarer ones heavier, as unit vectors."""
    common = Counter(word for words in counted for word in words)
    vectors = []
    for words in counted:
        weighed = {w: count * math.log(1 + len(counted) / common[w]) for w, count in words.items()}
        length = math.hypot(*weighed.values()) or 1.0
        vectors.append({word: value / length for word, value in weighed.items()})
    return vectors


def _split(text: str) -> list[str]:
    """The words that tell, without their endings."""
    stems = []
    for word in re.findall(r"[^\W_]\w*", text[:4000].lower()):
        if word not in _COMMON and (len(word) > 2 or not word.isalpha()):
            fits = (e for e in _ENDINGS if word.endswith(e) and len(word) - len(e) >= 4)
            stems.append(word.removesuffix(next(fits, "")))
    return stems


def _places(row: Row) -> list[tuple[str, int, int]]:
    """(file, first line, last line) of each place in the title, section name and place."""
    places = []
    for match in _LOCATION.finditer(f"{row.title} {row.section} {row.place}"):
        for part in re.split(r"[+,]", match[2].replace("L", "")):
            first, _, last = part.partition("-")
            if first:
                places.append((match[1].lstrip("./"), int(first[:9]), int((last or first)[:9])))
    return places


def identity(target: str, title: str, file: str = "") -> str:
    """The identity of a finding: `f-` and twelve digits."""
    words = (word for word in re.findall(r"\w+", title.casefold()) if word not in _FILLERS)
    parts = (" ".join(target.split()), file.lstrip("./"), "", " ".join(words))
    return "f-" + names.sha256("\0".join(parts).encode("utf-8", "replace"))[:_DIGITS]

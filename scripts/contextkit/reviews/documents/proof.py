"""Whether a review proves that it is clean: four lines agree, and nothing contradicts them.

    Read: 41 of 41 files                    the files that the run asked for
    Counts: P0 0, P1 0, P2 1, P3 0          the findings in the index
    Verdict: safe
    <!-- run-uuid: … -->

The contract of a run asks for these lines. A file without such a contract may be clean by its index
and its verdict. In both cases the index must explain everything outside of it, in whatever language
it is written. These are doubts: a severity word that is not denied on the spot, a second verdict,
fewer files read than asked, a label with a value, a heading of its own, an item under Issues Found,
and hidden characters. A doubt names its line; the reviewer can index that line, or reword it.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter

from contextkit.base import markdown, names
from contextkit.base.expressions import Pattern
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Iterator
from contextkit.reviews.documents import (
    heads,
    index,
    legends,
    normal,
    phrases,
    places,
    shapes,
    vocabulary,
)
from contextkit.reviews.documents.denials import (
    GRAVE,
    IDENTIFIER,
    claims,
    is_scale,
    serious_in,
    stands,
    uncited,
)
from contextkit.reviews.documents.index import Finding, Terms
from contextkit.reviews.documents.vocabulary import SERIOUS, SEVERITIES
from contextkit.text import objects
from contextkit.text.blocks import Block, blocks
from contextkit.text.blocks import lines as all_rows

NOT_READ = "it does not say how many files it read"
NOT_COUNTED = "it does not count its findings"
NOT_CONFIRMED = "it does not say whether the findings of the run before are fixed"
READS_LESS = "says that fewer files were read than the run asked for"
MISCOUNTS = "has counts that do not match the index"
ASKED = {  # the line that is missing, or what it says
    NOT_READ: "Read: n of n files",
    READS_LESS: "Read: n of n files",
    NOT_COUNTED: "Counts: P0 0, P1 0, P2 0, P3 0",
    MISCOUNTS: "Counts: P0 0, P1 0, P2 0, P3 0",
    NOT_CONFIRMED: "Fixed: P0-1",
}
_MOST = 5  # doubts named
_LONGEST = 4_000  # characters of a line; a longer one is a doubt by itself
_LABEL_WORDS = 5
# Fewer than index.PLURALS: `these items:` may stand above an output.
_FAULTS = frozenset("problem problems finding findings issue issues bug bugs".split())
_MORE = ("more", "else", "other", "further", "add")
_BRIEFLY = ("yes", "no", "done")  # which pass alone
_BRIEF = 6  # words of a state
_FEW = 4  # words from which on one must be known
_LEAST_ROWS = 3  # of a table with a head
_RUN = Pattern(r"[\w\u2701-\u2fff\u3001-\U0010ffff]+")  # letters, digits, signs such as ✅

_HARM, _DIRE = vocabulary.any_of("harm"), vocabulary.any_of("dire")
_MEASURED = Pattern(r"[-+±~<>]?\d[\d.,]*\s?[^\W\d]{1,4}(?:/s)?|[-+]?\d[\d.,]*\s?[x×%]")
_REMARK = Pattern(r"^\s*(?:#|//|/\*|--|;)")  # of code
_RULES = vocabulary.any_of("rules")
_REFUSES = vocabulary.any_of("refuses")
_PLACE = Pattern(r"[\w./-]{1,200}\.\w{1,12}:\d")
_STATED = Pattern(r"\bverdict[\s*_`]{0,4}(?:[:=—–]|is\b)(.{1,200})", re.IGNORECASE)
_UNREAD = vocabulary.any_of("unread")
_OF = "|".join(vocabulary.LISTS["of all"])
_PART = Pattern(  # 3 of 41, 3 files out of 41, 3/41
    rf"(?<![\d.,])(\d{{1,6}})(?:\s[^\W\d]{{3,12}})?\s?(?:/\s?|\s\(?(?:out )?(?:{_OF})\s)"
    r"(?:(?:the|de)\s)?(\d{1,6})(?!\.?\d)|(?P<all>\d{1,6})\s?\w{0,5}中\D{0,6}(?P<some>\d{1,6})",
    re.IGNORECASE,
)
_OF_FILES = vocabulary.any_of("files")
_READ = Pattern(
    r"[\s*_`>-]{0,6}read\W{1,6}(\d{1,6}) (?:of|/) (\d{1,6})(?: files?)?\W{0,6}$", re.IGNORECASE
)
_COUNTS = Pattern(r"[\s*_`>-]{0,6}(?:severity |finding )?counts?\W{1,6}(?=p0)", re.IGNORECASE)
_TOTAL = Pattern(
    r"[\s*_`>-]{0,6}(?:total |number of )?(?:findings|issues|bugs|problems|defects)"
    r"(?:[_ ](?:count|total|found|reported))?[\s*_`]{0,4}[:=(–—][\s*_`~]{0,4}(\d{1,6})\b"
    r"|[\s*_`>-]{0,6}(?:total: |(?:we|i) found |there are )?(\d{1,6}) (?:findings|issues)"
    r"(?: found)?\W{0,4}$",
    re.IGNORECASE,
)
_PAIR = Pattern(r"(p[0-3]|imp)\W{1,4}(\d{1,6})", re.IGNORECASE)
_IN_INDEX = Pattern(  # what a verdict says, or the title of a row
    r"\W{0,8}verdict\W{1,6}(\S.*)$|.*\|\s*([^|]+)$", re.IGNORECASE
)
_NUMBERED = vocabulary.any_of("numbered")
_OURS = Pattern(  # a comment that a run leaves
    r"\s*<!--\s*(?:(?:run-uuid|run): ?[\w.\-]{1,80}|[\w-]{1,40}:complete)\s*-->\s*$"
)
_REST = Pattern(
    r"[^.!?;:：。！？]*(?:[.!?;。！？]+(?=\s|$)|$)"
)  # the rest of a sentence, without a label
_BESIDE = Pattern(r" ?\((?!0|n)[^()]{1,40}\):?$")  # a severity: `HIGH (2)`
_ALONE = Pattern(r"[\[|\s*_`]{0,6}[^\W_]{2,20}[\]|\s*_`.]{0,6}$")  # a word
_CODE = Pattern(r"`[^`\n]*`")
_QUOTED = Pattern(r"`[^`\n]*(?:: |\|)[^`\n]*`")  # code with values of its own
_VALUES = Pattern(r"\||: ")  # before a cell, or a value
_PLACEHOLDER = Pattern(r"\[[\w ,-]{3,60}\]$")
_LABEL = Pattern(
    r"^(?P<label>[^:：=|—–\n]{1,60}?)[\s*_`\"]{0,4}(?:[:：=](?!//)|\?(?=\s[Nn]ot?\b)|\s[—–-]\s|[—–]"
    r"|\|)[\s*_`]{0,4}(?P<value>\S.*)$"
)
_ATTRIBUTES = Pattern(
    r"=\s?[\"']?([\w -]{1,60})|badge/([\w-]{1,80})|<(?:severity|priority|level)>([\w -]{1,40})<"
)
_SPACED = Pattern(r"(?<!\S)(?:[A-Za-z0-9][ ._-]){4,}[A-Za-z0-9](?!\S)")
_ENCLOSED = Pattern("[\u115f\u1160\u3164\uffa0\u20d0-\u20ff\U0001f100-\U0001f1ff]")
_LOOK_ALIKES = str.maketrans(
    "АВЕКМНОРСТХЅаеорсухіΑΒΕΖΗΙΚΜΝΟΡΤΥΧορν", "ABEKMHOPCTXSaeopcyxiABEZHIKMNOPTYXopv"
)
_OTHER, _UNKNOWN = "gives another verdict", "has an unknown severity"
_COUNTS_MORE = "counts more findings than its index has"
_TRIED = "row tried"  # below Checked, where a prompt asks for it: it is no finding
_HEADING = "is a heading of its own"
_NOT_TICKED = "is an unticked box"
_GRADE = "is a severity, which its index lacks"
_DECIDED = (_OTHER, _UNKNOWN, _GRADE)  # doubts in any section
_ZEROS = frozenset(["", "0", "-", "–", "—", "none", "None"])
_ASIDES = vocabulary.word_set("asides")
_DATA = vocabulary.word_set("data")
_KNOWN = vocabulary.word_set("known")
_DID = vocabulary.word_set("did")
_PARTS = frozenset().union(*map(vocabulary.word_set, ("fixes", "problems", "facts")))
_PROSE = vocabulary.word_set("prose")
_PASSING = vocabulary.word_set("passing")
_TITLED = vocabulary.word_set("titled")
_DECIDES = vocabulary.word_set("decides")
_OTHER_SCALES = vocabulary.word_set("other scales")
_GATES = _DECIDES | vocabulary.word_set("gates")


class Doubt(NamedTuple):
    """A line that the index does not explain, and why; line 0 stands for the whole file."""

    line: int
    text: str
    why: str


def doubts(
    text: str, findings: tuple[Finding, ...], inside: set[int], terms: Terms | None
) -> list[Doubt]:
    """Up to five doubts about a review with a clean index (the lines `inside`) and verdict."""
    proof = _Proof(text, findings, inside, terms)
    asked = list(proof.missing(terms)) if terms else []
    told = {doubt.line for doubt in asked}
    others = (doubt for doubt in proof.lines() if doubt.line not in told)
    return list(itertools.islice(itertools.chain(asked, others), _MOST))


def _of_index(row: str) -> str:
    """Why a line of the index is a doubt: its verdict or the title of a row calls it grave."""
    match = _IN_INDEX.match(row)
    verdict, title = match.groups("") if match else ("", "")
    label = title.partition(":")[0] if ":" in title else ""
    is_graded = vocabulary.mentions_serious(title) or phrases.said_in(title)
    grave = serious_in(verdict, "") or (serious_in(title, "") if is_graded else "")
    grave = grave or (label if vocabulary.severity(label) in SERIOUS else "")
    return f"says {grave}, which its index lacks" if grave else ""


class _Proof:
    """The lines of a review with their roles: row, issues, box, item, aside, told, shown, or code.

    `row P2`: of a part that is a row's; `told`: of counts of nothing; `head`: of the columns of a
    table; `shown`: of code or a quote below a line that ends in a colon.
    """

    def __init__(
        self, text: str, findings: tuple[Finding, ...], inside: set[int], terms: Terms | None
    ) -> None:
        self._raw = all_rows(text.replace("\ufe0f", "").replace("\u200d", ""))
        self._rows = [
            normal.unmarked(objects.unescaped(row)) for _, row in vocabulary.numbered(text)
        ]
        self._inside, self._is_asked_for = inside, terms is not None
        self._ids = {finding.id.upper(): finding for finding in findings if finding.id}
        self._titles = [(_words(finding.title), finding) for finding in findings]
        self._having: dict[str, list[int]] = {}  # the titles with a word
        for at, (title, _) in enumerate(self._titles):
            for word in title:
                self._having.setdefault(word, []).append(at)
        self._counts = Counter(finding.severity for finding in findings)
        self._confirmed = {identity.upper() for identity in terms.open} if terms else set()
        boxes = [at for at, row in enumerate(self._raw, 1) if phrases.OPEN_BOX.match(row)]
        self._role = dict.fromkeys(boxes, "box")
        every = blocks("\n".join(self._rows))
        tops = [block.first for block in every if (block.kind, block.level) == ("heading", 1)]
        self._title = tops[0] if len(tops) == 1 else 0  # the line of the document's title
        self._verdicts = set[int]()  # the lines below a heading for one
        self._note(every)
        others = (range(x.first, x.last + 1) for x in every if x.kind in ("code", "comment"))
        apart = {*itertools.chain(*others), *boxes}
        own = (row for at, row in enumerate(self._rows, 1) if at not in apart
               and self._raw[at - 1].lstrip()[:1] not in (">", "<")
               and not _adds_to("".join(self._raw[at : at + 1])))  # fmt: skip
        self._fixed = set().union(*map(phrases.fixed_in, own)) & self._confirmed
        told = (at for at, role in self._role.items() if role[:4] in ("told", "show", "code"))
        is_open = terms is None or bool(self._confirmed - self._fixed)
        self._mended = {*terms.places} - {""} if terms and not is_open else set[str]()
        self._unwrap({block.first for block in every}.union(inside, told))

    def _note(self, every: list[Block]) -> None:
        """Note the role of each block's lines, by the section, line and row above it."""
        index_ends, headings, lead, above = max(self._inside, default=0), 0, "", ""
        row: Finding | None = None  # whose part it is
        is_open = False  # whether the next paragraph is still about that row
        for block in every:
            headings += block.kind == "heading" and block.first > index_ends
            led = next(self._led_by(block), None)
            row = led or (row if self._is_part(block, is_open) else None)
            is_shown = above[-1:] == ":" and self._raw[block.first - 1].lstrip()[:1] == ">"
            if block.kind in ("heading", "table", "code"):
                self._note_whole(block, row, above)
            elif row or is_shown:
                self._give(block, row, "shown" if is_shown else "")
            elif block.kind == "item" and _is_denied(lead) and _tells_what_was_done(lead):
                self._give(block, None, "aside item")
            elif block.kind == "item" and headings == 1 and lead[-1:] != ":":
                self._role.setdefault(block.first, "item")
            last = block.first if block.kind == "heading" else block.last
            above = self._rows[last - 1].rstrip("* ")
            lead = lead if block.kind == "item" else above
            below = self._rows[block.first - (not led) : last]
            is_open = above[-1:] == ":" or all(map(phrases.names_only_place, below))

    def _note_whole(self, block: Block, row: Finding | None, above: str) -> None:
        """Note the role of a heading with all below it, a table, or a fenced block."""
        span = range(block.first, block.last + 1)
        if block.kind == "heading":
            role = self._of_heading(block)
            is_row = role[4:] in SEVERITIES  # an open box in it is part of what to do
            free = (at for at in span if is_row or self._role.get(at) != "box")
            self._role |= dict.fromkeys(free, role) if role else {}
        elif block.kind == "table":
            is_headed = len(span) > _LEAST_ROWS and _GATES.isdisjoint(_all_words(block.title))
            self._role |= dict.fromkeys(span[:is_headed], "head")
            self._role |= dict.fromkeys(span[: self._counts_none(block)], "told")
        else:
            role = self._of_code(block, above)
            is_of_row = row or self._role.get(block.first, "")[:3] == "row"
            role = "row" if is_of_row and role[5:] in _DATA else role
            self._role |= dict.fromkeys(span, role) | {block.first: "code code"}

    def _is_part(self, block: Block, is_open: bool) -> bool:
        """Whether a block under Issues Found is still about the row of the one before."""
        goes_on = (is_open and block.kind == "text") or block.kind == "code"
        is_labelled = vocabulary.labelled(block.title)[0].lower() in _PARTS
        return (goes_on or is_labelled) and self._role.get(block.first) == "issues"

    def _led_by(self, block: Block) -> Iterator[Finding]:
        """The row that a paragraph or an item begins with: by its id, or by most of its title."""
        bare = vocabulary.unbulleted(block.title)[0]
        if block.kind in ("text", "item") and block.first not in self._inside:
            yield from self._rows_in(bare.partition(" ")[0]) or self._titled(bare)

    def _give(self, block: Block, row: Finding | None, role: str) -> None:
        """Give the lines of a block their role; those about another file are not the row's."""
        file = places.place_in(f"{row.section} {row.title}" if row else "").file
        for at in range(block.first, block.last + 1):
            told = self._rows[at - 1]
            place = places.place_in(told)
            other = place.file * (place.line > 0)
            file = file or other
            is_own = other in ("", file) or phrases.names_only_place(told)
            if is_own and self._role.get(at, "issues") == "issues":
                self._role[at] = role or f"row {row.severity if row else ''}"

    def _of_code(self, block: Block, above: str) -> str:
        """The role of a fenced block: what a command or a line with a colon shows is evidence."""
        language = (block.title.split() or ["text"])[0].lower()
        is_session = "".join(self._raw[block.first : block.first + 1]).lstrip()[:2] == "$ "
        is_shown = above[-1:] == ":" and language in _DATA and _FAULTS.isdisjoint(_all_words(above))
        is_shown = is_shown or (is_session and language == "text")
        return "shown" if is_shown else f"code {language}"

    def _of_heading(self, block: Block) -> str:
        """The role that a heading gives to its section."""
        if named := self._rows_in(block.title):
            return f"row {vocabulary.strictest(*(row.severity for row in named))}"
        words = _all_words(block.title) if block.first != self._title else []
        if words in (["issues", "found"], ["issues"], ["findings"]):
            return "issues"
        if words == ["checked"] and self._is_asked_for:
            return _TRIED
        plain = (word in _KNOWN or word in _ASIDES or word.isdigit() for word in words)
        is_aside = bool(words) and all(plain) and not _ASIDES.isdisjoint(words)
        is_mild = bool(words) and index.group_of(block.title) in ("P2", "P3", "IMP")
        return "aside" if is_aside or is_mild or phrases.says_over(block.title) else ""

    def _counts_none(self, table: Block) -> bool:
        """Whether a table's columns for serious severities, if any, count nothing."""
        span = self._rows[table.first - 1 : table.last]
        head, *rows = (markdown.cells(vocabulary.plain(row)) for row in span)
        serious = [at for at, cell in enumerate(head) if vocabulary.severity(cell) in SERIOUS]
        below = {row[at] if at < len(row) else "" for row in rows[1:] for at in serious}
        return bool(below) and below <= _ZEROS

    def _unwrap(self, begin: set[int]) -> None:
        """Move the rest of a wrapped sentence to the line where the sentence begins."""
        first = 0
        for number, row in enumerate(self._rows, 1):
            above = self._rows[first - 1] if first else ""
            is_apart = number in begin or len(above) > _LONGEST
            if is_apart or not _is_rest(row) or not _goes_on(above):
                first = number
                continue
            rest = _REST.match(row)
            if rest and "|" not in row:
                self._rows[first - 1] = f"{above} {rest[0].strip()}"
                self._rows[number - 1] = row[rest.end() :]
            first = first if not self._rows[number - 1].strip() else number

    def _rows_in(self, text: str) -> list[Finding]:
        """The rows that a text names, by their ids or by most of a title."""
        names = (word.strip("*_`[]().,:;#") for word in text.upper().split())
        return [self._ids[name] for name in names if name in self._ids] or self._titled(text)

    def _titled(self, text: str) -> list[Finding]:
        words = _words(text)
        rare = sorted(words, key=lambda word: len(self._having.get(word, ())))
        half = rare[: len(words) // 2 + 1]  # a title with most of the words has one of these
        near = sorted({at for word in half for at in self._having.get(word, ())})
        told = (self._titles[at] for at in near)
        return [row for title, row in told
                if len(words & title) * 2 > max(len(words), len(title))]  # fmt: skip

    def missing(self, terms: Terms) -> Iterator[Doubt]:
        """The contract's lines that are missing or contradicted."""
        read = counted = False
        for number, row in enumerate(self._rows, 1):
            if match := _READ.match(row[:200]):
                read = True
                most = terms.files or int(match[2])
                if not int(match[1]) == int(match[2]) == most:
                    yield Doubt(number, _shown(row), f"{READS_LESS} ({most})")
            elif _COUNTS.match(row[:40]):
                counted = True
                told = {name.upper(): int(count) for name, count in _PAIR.findall(row[:400])}
                differs = (told.get(x, 0) != self._counts[x] for x in {*SEVERITIES[:4], *told})
                if any(differs):
                    yield Doubt(number, _shown(row), MISCOUNTS)
        missing = {NOT_READ: not read, NOT_COUNTED: not counted}
        missing[NOT_CONFIRMED] = bool(self._confirmed - self._fixed - self._ids.keys())
        yield from (Doubt(0, "", why) for why, is_missing in missing.items() if is_missing)

    def lines(self) -> Iterator[Doubt]:
        numbers = [number for number, row in enumerate(self._raw, 1) if row.strip()]
        pairs = itertools.pairwise(numbers)
        self._verdicts = {below for at, below in pairs if _heads_verdict(self._rows[at - 1])}
        for number, following in itertools.zip_longest(numbers, numbers[1:]):
            after = self._rows[following - 1] if following else ""
            row = self._rows[number - 1]
            counted = _TOTAL.match(row[:60])
            counts_more = counted and int(counted[1] or counted[2]) > self._counts.total()
            if why := _COUNTS_MORE if counts_more else self._why(number, row, after):
                yield Doubt(number, _shown(self._raw[number - 1]), why)

    def _why(self, number: int, row: str, after: str) -> str:
        """Why a line is a doubt, or ''."""
        raw = self._raw[number - 1]
        if _hides(raw) or _SPACED.search(row):
            return "has characters that hide what it says"
        if number in self._inside:
            return _of_index(row)
        row = uncited(row)
        if len(row) > _LONGEST:
            return "is too long to be judged"
        if self._confirmed and (of_fix := self._of_fix(number, row, after)) is not None:
            return of_fix
        if self._is_apart(number, row):
            return ""
        if serious := self._serious(number, row, after):
            return f"says {serious}, which its index lacks"
        claimed = ". ".join(claims(row)) if is_scale(row) else row
        is_aside = self._role.get(number) == "aside" and row[:1] == "#"
        if not is_aside and (stands(_REFUSES, claimed) or stands(phrases.FORBIDS, claimed)):
            return _OTHER
        if lacking := "" if self._repeats_row(row) else _lacking(claimed):
            return lacking
        why = self._unexplained(number, claimed)
        if why == _HEADING and _is_empty(row, after):
            why = ""
        is_told = self._role.get(number, "")[:5] == "aside" or self._is_of_mended(row)
        is_aside = is_told and why not in _DECIDED
        return "" if is_aside and _is_harmless(row) else why

    def _repeats_row(self, row: str) -> bool:
        """Whether a line is a heading with nothing but the title of a row, and its id."""
        words = _words(row) if row[:1] == "#" else set()
        own = {word for word in words if word.upper() not in {*self._ids, *SEVERITIES}}
        return bool(own) and any(own <= title for title, _ in self._titles)

    def _is_of_mended(self, row: str) -> bool:
        """Whether a line begins with a file of findings that are all called fixed."""
        is_its = bool(self._mended) and _first_file(row) in self._mended
        return is_its and not phrases.STILL.search(row)

    def _of_fix(self, number: int, row: str, after: str) -> str | None:
        """Why a line about what is fixed, or not, is a doubt; None for any other line.

        Of minor findings nobody asks: one may be called fixed, or still be open.
        """
        if fixed := phrases.fixed_in(row):
            others = sorted(fixed - self._confirmed)
            serious = (x for x in others if vocabulary.severity_of_id(x) in ("", *SERIOUS))
            unknown = next(serious, "")
            if self._role.get(number) == "box":
                return _NOT_TICKED
            return f"calls {unknown} fixed, which was not open in the run before" if unknown else ""
        told = f"{row} {after}" if row[:1] == "#" or row.rstrip(" *_")[-1:] == ":" else row
        is_told = self._role.get(number, "")[:4] in ("code", "row ") or self._rows_in(told)
        is_unfixed = not is_told and stands(phrases.UNFIXED, told)
        return "says that something is not fixed" if is_unfixed else None

    def _is_apart(self, number: int, row: str) -> bool:
        """Whether a line says nothing of the change: the contract, a legend, what is over, code."""
        is_ours = _OURS.match(self._raw[number - 1]) or _RULES.match(row)
        if is_ours or _is_settled(row) or legends.of_signs(row):
            return True
        role, _, language = self._role.get(number, "").partition(" ")
        return role == "code" and language not in _DATA | {"code"} and not _REMARK.search(row)

    def _serious(self, number: int, row: str, after: str) -> str:
        """The severity in the words, attributes or images of a line."""
        if self._role.get(number) == "told":
            return ""
        if phrases.mends(row, self._fixed):  # `P0-1 is now fixed: …`
            row = vocabulary.unbulleted(row.strip())[0]
            row = row.replace(row.split()[0], "x", 1)
        word = serious_in(row, after)
        if not word and not row.isascii():
            folded = _folded(row)
            shown, plain = (GRAVE.findall(each.replace("_", "")) for each in (folded, row))
            word = serious_in(folded, after) if len(shown) > len(plain) else ""
        raw = self._raw[number - 1]
        if not word and ("<" in raw or "](" in raw):
            inside = " ".join(map(" ".join, _ATTRIBUTES.findall(raw))).replace("-", " ")
            match = GRAVE.search(inside)
            word = match[0] if match else ""
        return word

    def _unexplained(self, number: int, row: str) -> str:
        """A statement in a line that no row explains, or ''."""
        role, bare = self._role.get(number, ""), vocabulary.unbulleted(row.strip())[0]
        stated = vocabulary.labelled(bare)[1] or bare if number in self._verdicts else ""
        if stated and _of_label("verdict", stated, is_explained=False) == _OTHER:
            return _OTHER
        if number == self._title or self._is_explained(role, bare):
            return ""
        if _is_other_verdict(bare):
            return _OTHER
        is_bold = bare[:2] == "**" and bare.rstrip(".:").endswith("**") and bare.count("**") == 2
        is_titled = bare[:1] == "#" and role != _TRIED
        if is_titled or (is_bold and role[:3] != "row"):
            return "" if self._explains(bare.strip("#* _")) else _HEADING
        alone = _BESIDE.sub("", bare)
        if _ALONE.match(alone) and vocabulary.severity(alone) in SERIOUS:
            return _GRADE
        if _PLACEHOLDER.match(bare):
            return "is not filled in"
        return self._stated(role, bare)

    def _is_explained(self, role: str, bare: str) -> bool:
        """Whether a line states nothing, or a row, its section or its own grade explains it."""
        is_output = bare[:1].islower() or bare[:1] in "#$" or any(map(str.isdigit, bare))
        is_grave = _is_dire(bare) or bool(stands(_HARM, bare))
        is_shown = role == "shown" and is_output and not is_grave
        is_evidence = is_shown or (role[:4] == "code" and role[5:] not in _DATA)
        is_counted = role == "told" or (role == "head" and not is_grave)
        if is_evidence or is_counted or not any(map(str.isalpha, bare)):
            return True
        if named := self._rows_in(bare):
            is_strict = vocabulary.strictest(*(row.severity for row in named)) == "P2"
            return is_strict or not stands(_HARM, bare)
        return _is_mild(bare)

    def _stated(self, role: str, bare: str) -> str:
        """Why a row of a table, a label or a sentence is a doubt, or ''."""
        bold = shapes.BOLD.match(bare) if bare[:2] == "**" else None
        lead = phrases.DENIES.sub("", bold[1]) if bold and bold[1][-1] in ".!" else ""
        is_led = bool(bold and (phrases.is_serious(lead) or places.place_in(bare).line))
        is_row = role[:3] == "row"
        is_statement = role == _TRIED or "|" in bare or bare[:2] == "**"
        is_grave = is_statement and _is_dire(bare)
        does_harm = role != "row P2" and (is_grave or bool(stands(_HARM, bare)))
        if does_harm or (is_led and not is_row):
            return "says what no row says"
        if "|" in _CODE.sub("", bare):
            label, _, value = bare.strip("| ").partition("|")
            if _of_label(label, value, is_explained=True) == _OTHER:
                return _OTHER
            return "" if is_row or _is_plain_row(bare) else "is a row outside the index"
        if label := _LABEL.match(IDENTIFIER.sub(_known_or_x, bare[:400])):
            is_explained = role == _TRIED or (is_row and bare[: label.end("label")].isascii())
            why = _of_label(label["label"], label["value"], is_explained)
            if why or is_explained or role not in ("issues", "box"):
                return why
        return "" if is_row else self._open(role, bare)

    def _open(self, role: str, bare: str) -> str:
        """Why a line in the place of findings is a doubt, or ''."""
        if _is_denied(bare) or GRAVE.search(bare):
            return ""
        if role[-4:] == "item" and not phrases.is_ticked(bare):
            is_one = (self._is_asked_for and role == "item") or phrases.is_serious(bare)
            return "is an item that no row and no line above it explains" if is_one else ""
        whys = {"issues": "stands under Issues Found without a row", "box": _NOT_TICKED}
        return whys.get(role, "")

    def _explains(self, title: str) -> bool:
        words = _all_words(title)
        if all(word in _KNOWN or word.isdigit() for word in words) or self._titled(title):
            return True
        if index.group_of(title) or GRAVE.search(title):
            return True  # judged by the lines below it
        return any(word in words or (not word.isascii() and word in title) for word in _TITLED)


def _is_dire(text: str) -> bool:
    return bool(stands(_DIRE, text))


def _is_empty(heading: str, below: str) -> bool:
    """Whether a short heading stands above a line that there is nothing, and not only no more."""
    words = {*_all_words(below)}
    says_nothing = vocabulary.says_nothing(vocabulary.plain(vocabulary.unbulleted(below)[0]))
    return says_nothing and words.isdisjoint(_MORE) and len(_all_words(heading)) < _FEW


def _is_denied(bare: str) -> bool:
    """Whether a line begins with a sentence that there is nothing; the rest gives reasons."""
    first, _, rest = vocabulary.plain(bare).partition(". ")
    is_lead = rest[-1:] == ":" and not phrases.STILL.search(rest)
    return vocabulary.says_nothing(first.strip(".")) and (is_lead or not phrases.is_serious(rest))


def _tells_what_was_done(lead: str) -> bool:
    return lead[-1:] == ":" and not _DID.isdisjoint(_all_words(lead))


def _known_or_x(name: re.Match[str]) -> str:
    """A name such as `detail_path` if its value is a path or a number; and `0.5`, which is none."""
    words = _all_words(IDENTIFIER.sub(" ", name.string[name.end() :]))
    is_field = name[0].lower() in _KNOWN and not any(map(str.isalpha, words))
    return name[0] if is_field or not any(map(str.isalpha, name[0])) else "x"


def _is_settled(row: str) -> bool:
    """Whether a line says of itself that it is over: in its last sentence or a cell of a table."""
    if "|" in row:
        cells = [vocabulary.plain(cell) for cell in markdown.cells(row.strip())]
        over = [cell for cell in cells if phrases.is_done(cell)]
        is_graded = any(map(vocabulary.severity, vocabulary.words("".join(cells[:1]))))
        is_zero = is_graded and bool(cells[1:]) and _ZEROS.issuperset(cells[1:])
        return is_zero or (bool(over) and not any(map(phrases.STILL.search, cells)))
    value = vocabulary.labelled(row)[1]
    if phrases.is_done(value) and len(value.split()) <= _BRIEF and not phrases.STILL.search(value):
        return True
    last = phrases.sentences(row)[-1:]
    return bool(last and phrases.DENIED.match(last[0]) and last[0] != row)


def _is_harmless(row: str) -> bool:
    """Whether a line says, in words that we read, nothing that goes wrong or that may do harm."""
    words = _all_words(IDENTIFIER.sub(" ", row))
    is_read = len(words) < _FEW or any(word in _PROSE or word in _KNOWN for word in words)
    is_grave = phrases.is_serious(phrases.DENIES.sub("", row)) or bool(stands(_HARM, row))
    is_placed = "|" in row and bool(places.place_in(row).line)
    return is_read and not (is_grave or is_placed)


def _is_mild(bare: str) -> bool:
    """Whether a statement gives itself a severity below the serious ones, and nothing grave."""
    cells = map(vocabulary.severity, markdown.cells(bare)) if bare[:1] == "|" else ()
    head = heads.read(bare)
    kind = vocabulary.of_tool(vocabulary.labelled(bare)[0])  # `hint: …`
    stated = {head.severity if head.marked else "", shapes.label_in(bare), kind, *cells} - {""}
    is_grave = phrases.WORST.search(bare) or (kind and phrases.is_serious(bare))
    return bool(stated) and stated.isdisjoint(SERIOUS) and not is_grave


def _of_label(label: str, text: str, is_explained: bool) -> str:
    """Why a label with a value is a doubt, or ''."""
    value = _all_words(text)
    named = _all_words(label)
    if not _GATES.isdisjoint(named) and vocabulary.is_conditional(value[1:]):
        return _OTHER
    is_brief = 0 < len(value) < _LABEL_WORDS - 1
    is_scale = any(map(vocabulary.is_scale, named)) and _OTHER_SCALES.isdisjoint(named)
    if is_brief and is_scale and vocabulary.strictest(*map(vocabulary.severity, value)) in SERIOUS:
        return _GRADE
    is_gate = len(value) == 1 and not (is_explained or _GATES.isdisjoint(named))
    is_verdict = is_gate or (is_brief and not _DECIDES.isdisjoint(named))
    if is_verdict or (is_brief and value[0] in shapes.FAILING):
        is_denied = value[0] == "no" and {"go", *_DECIDES}.issuperset(value[1:])
        passes = value[0] in _PASSING and not is_denied
        return "" if passes else _OTHER
    if vocabulary.is_scale(" ".join(named)) and 0 < len(value) < 3:
        is_known = any(map(vocabulary.severity, value)) or "none" in value
        return "" if is_known else _UNKNOWN
    is_aside = not _ASIDES.isdisjoint(named[:1]) and _is_harmless(text)
    if is_explained or is_aside or _is_known_label(label, text):
        return ""
    return f"is a statement of its own ({names.one_line(label)[:30]})"


def _is_known_label(label: str, value: str) -> bool:
    words = _all_words(re.split(r"[.!?] ", label)[-1])
    if words == ["x"] and not _PASSING.isdisjoint(_all_words(value)[:1]):
        return True  # a command that passed
    if _is_dire(f"{label}: {value.partition('. ')[0]}"):
        return False
    if _MEASURED.fullmatch(value.strip()) or ("? " in label and _PASSING.issuperset(words)):
        return True  # a measure, or the answer to a question
    is_prose = len(words) > 3 or (len(words) > 2 and not _PROSE.isdisjoint(words))
    if label.isascii() and is_prose and value.lstrip("\"'«“` ")[:1].islower():
        return True  # a sentence that continues after a colon
    if GRAVE.search(label):
        return True  # denied on the spot: `Rien de bloquant : …`
    is_dense = len(label) < 24 and any(char > "\u0e00" for char in label)  # without blanks
    if not words or (len(words) > _LABEL_WORDS and not is_dense):
        return True
    if _NUMBERED.match(label):
        return False
    if all(
        word in _PASSING or word.isdigit() or vocabulary.severity(word)
        for word in _all_words(value)
    ) or vocabulary.says_nothing(vocabulary.plain(value)):
        return True
    named = (word for word in words if word not in ("q", "a"))  # `Q: …`
    return all(word in _KNOWN or word.isdigit() or vocabulary.is_id(word) for word in named)


def _folded(row: str) -> str:
    """A line without accents, with digits and look-alikes of other scripts as ASCII."""
    plain = "".join(
        char if char.isascii() or not char.isdigit() else str(unicodedata.digit(char, 0))
        for char in unicodedata.normalize("NFKD", row)
        if unicodedata.category(char) != "Mn"
    )
    return plain.translate(_LOOK_ALIKES)


def _hides(row: str) -> bool:
    """Whether a line has invisible characters, or letters drawn as signs."""
    hidden = (char > "~" and unicodedata.category(char) == "Cf" for char in row)
    return not row.isascii() and (bool(_ENCLOSED.search(row)) or any(hidden))


def _reads_less(row: str) -> bool:
    """Whether a line says that not all files were read."""
    if "%" in row or not any(map(str.isdigit, row)):
        return False
    return any(
        int(match[1] or match["some"]) < int(match[2] or match["all"])
        and _OF_FILES.search(row[max(0, match.start() - 40) : match.end() + 24])
        for match in _PART.finditer(row)
    )


def _heads_verdict(row: str) -> bool:
    """Whether a line is only the label of the verdict below it: `## Verdict`."""
    bare = vocabulary.plain(vocabulary.unbulleted(row.strip())[0].strip("#: "))
    return vocabulary.verdict(f"{bare.rstrip(':')}:") == ""


def _is_other_verdict(row: str) -> bool:
    """Whether a line states a verdict that does not pass."""
    match = _STATED.search(row)
    words = [word for word in _all_words(match[1]) if word not in _PROSE] if match else []
    fails = bool(words) and (words[0] not in _PASSING or words[0] == "no")
    return fails or vocabulary.is_conditional(words[1:])


def _is_rest(row: str) -> bool:
    """Whether a line begins like the rest of a sentence, and not with a place: `b.py:3 waits`."""
    return row[:1].islower() and not _PLACE.match(row)


def _adds_to(row: str) -> bool:
    """Whether a line may take back what the line above says of ids alone."""
    return _is_rest(row) and not _first_file(row)


def _first_file(row: str) -> str:
    return places.place_in(vocabulary.unbulleted(row.strip())[0].partition(" ")[0]).file


def _goes_on(row: str) -> bool:
    """Whether a line that is no heading and no label ends within a sentence."""
    is_open = len(row.split()) > 2 and row.rstrip()[-1:] not in ".!?:;|。！？："
    return is_open and row[:1] != "#" and not _LABEL.match(row[:400])


def _lacking(row: str) -> str:
    """Why a line about what was read or run is a doubt, or ''."""
    if _UNREAD.search(row) or _reads_less(row):
        return "says that not everything was reviewed"
    cells = _VALUES.split(_QUOTED.sub("", row))[1:]  # `| unit | failed (3) |`
    values = map(_all_words, cells)
    fails = any(words[0] in shapes.FAILING and words[1:2] != ["0"] for words in values if words)
    return "reports a failure" if fails else ""


def _is_plain_row(bare: str) -> bool:
    """Whether a table's row only has counts, ticks or passes, or is a head of known words."""
    cells = (vocabulary.plain(cell) for cell in bare.strip("| ").split("|"))
    first, *rest = [_all_words(cell) * (not _MEASURED.fullmatch(cell)) for cell in cells]
    for cell, following in itertools.pairwise([first, *rest]):
        if vocabulary.severity(" ".join(cell)) in SERIOUS and following[:1] != ["0"]:
            if "".join(following[:1]).isdigit():
                return False
    passes = _passes(bare)
    values = [cell for cell in (rest[:-1] if passes else rest) if cell != ["n", "a"]]
    allowed = _PASSING | _KNOWN if passes else _PASSING
    if rest and all(word in allowed or word.isdigit() for cell in values for word in cell):
        return True
    plain = {word for cell in (first, *rest) for word in cell} - _KNOWN - _PASSING
    return all(word.isdigit() or vocabulary.severity(word) for word in plain)


def _passes(row: str) -> bool:
    """Whether the last cell of a row begins with a word that passes, and goes on harmlessly."""
    last = markdown.cells(row)[-1]
    words = _all_words(last)
    passes = not _PASSING.isdisjoint(words[:1]) and (words[0] not in _BRIEFLY or len(words) == 1)
    return passes and _is_harmless(row) and not phrases.STILL.search(last)


def _all_words(text: str) -> list[str]:
    words: list[str] = _RUN.findall(text.lower())
    return words


def _words(text: str) -> set[str]:
    return {word for word in _all_words(text) if len(word) > 2}


def _shown(row: str) -> str:
    return names.one_line(row.strip()[:200])

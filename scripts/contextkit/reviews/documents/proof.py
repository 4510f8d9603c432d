"""Whether a review proves that it is clean: four lines that agree, and nothing that contradicts.

    Read: 41 of 41 files                    what the run asked to be read
    Counts: P0 0, P1 0, P2 1, P3 0          what the index holds
    Verdict: safe
    <!-- run-uuid: … -->

The lines are asked for by the contract of a run. A file that nobody asked for them may be clean by
its index and its verdict. In both, everything outside the index has to be explained by it, in
whatever language it is written: a severity word that is not denied on the spot, a second verdict,
less read than asked, a label with a value, a heading of its own, an item under Issues Found, and
characters that hide what they say are doubts. A doubt names its line; the reviewer can index what
stands there, or say it otherwise.
"""

from __future__ import annotations

import html
import re
import unicodedata

from contextkit.base import names
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Iterable
from contextkit.reviews.documents import lines, reader, vocabulary
from contextkit.reviews.documents.vocabulary import SERIOUS, SEVERITIES
from contextkit.text.blocks import blocks
from contextkit.text.patterns import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.reviews.documents.index import Finding
    from contextkit.reviews.documents.runs import Terms
    from contextkit.text.blocks import Block

NOT_READ = "it does not say how many files it read"
NOT_COUNTED = "it does not count its findings"
NOT_CONFIRMED = "it does not say whether the findings of the run before are fixed"
MOST = 5  # doubts named
_LEGEND = 12  # blocks below its heading that are looked at
_LONGEST = 4_000  # characters of a line that are judged; a longer one is a doubt by itself
_LABEL_WORDS = 5

_SEV = (
    r"(?:\bp[ \-._*`]{0,2}[01](?![\d\w])(?:-\d+)?s?|\bP[Ol]\b|\bcritical(?:ity)?\b(?! (?:path"
    r"|section)s?\b)"
    r"|(?:release[ -])?\bblockers?\b|(?<!non-)(?<!non )\bblocking\b|\bsevere\b"
    r"|\bfatal\b(?! errors? of)|\bshow-?stoppers?\b"
    r"|\bmust[ -]?fix\b|\burgent\b|\bcatastrophic\b|\bsev[ -]?[01]\b"
    r"|\bhigh(?=[ -](?:severity|risk|impact)|[ -]priority(?! (?:first|queue|jobs?|tasks?)\b))"
    r"|🔴|🚨|🟥|🛑|⛔|🟠|❌)"
)
_SERIOUS = Pattern(_SEV.replace("P[Ol]", "(?-i:P[Ol])"), re.IGNORECASE)
_FOREIGN = Pattern(
    r"kritis[ckh]|kritiek|kriit[it]|kriti[ckč]|kritikus|krytycz|крити|κρ[ιί]σιμ|critiqu"
    r"|cr[ií]tic[oai]s?\b"
    r"|^\W{0,6}critic(?=\W{0,4}(?::|$))|\bgrave|schwerwieg|allvarlig|alvorlig|vakava|poważn|závažn|súlyos|ciddi|серь[её]зн"
    r"|сериозн|bloqu[ae]"
    r"|blokk|блок[еи]р|致命|[严嚴]重|重大|深刻|[緊紧]急|심각|치명|วิกฤต|ร้ายแรง|nghiêm trọng|gawat"
    r"|חמור|קריטי|حرج|خطير|गंभीर|বিপজ্জনক|எச்சரிக்கை",
    re.IGNORECASE,
)
_NOUN = (
    r"(?:issues?|findings?|problems?|bugs?|blockers?|vulnerabilit(?:y|ies)|defects?|errors?"
    r"|items?|risks?|severity"
    r"|priority|security|serious|flaws?|concerns?|befunde|fehler|probl[eè]m\w{0,2}|level|fix"
    r"|count|mandatory|new|changes)"
)
_NO = (
    r"(?:\bno(?: other| new| real| more)?|\bzero|\b0|\bwithout(?: any)?|\bneither|\bnor"
    r"|\bkeine?[nrs]?|\baucune?|\bpas de|\bsans"
    r"|\bning[uú]na?|\bsin|\bnenhuma?|\bsem|\bnessun[ao]?|\bsenza|\bgeen|\bingen|\binga|\bбез"
    r"|\bнет|没有|沒有|无|無|\brien de|\bnichts"
    r"|\bnot an?|\bisn't an?|\bnot|\bnothing(?: here| in it)?(?: is| was| reaches"
    r"| rises to)?(?: an?)?)"
)
_OR = r"(?:\s?,?\s?(?:/|\b(?:or|nor|and|oder|und|ou|et|ni|o|y|e|и|или)\b|&|或|和|と)\s?-?\s?)"
# A character stands for each severity word and for each noun beside one.
_SEV_MARK, _NOUN_MARK, _MARKS = 0xE000, 0xF000, 0x800
_S, _N = "(?-i:[\ue000-\ue7ff])", "(?-i:[\uf000-\uf7ff])"
_ONE = rf"(?:{_N}\s)?{_S}-?(?:[\s-](?:{_N}|{_S})){{0,2}}"
_ANY = rf"(?:{_ONE}|\bp[0-3]s?\b(?:\s{_N})?)"
_LIST = rf"{_ONE}(?:(?:,\s(?:no\s)?{_ANY}){{0,4}}{_OR}(?:{_NO}\s?)?{_ANY}|/{_ANY})?"
_ZERO = (
    r"(?:0|none|nothing|zero|nil|n/a|null|no|keine?|aucune?|ningun[oa]|nenhum|nessuno"
    r"|なし|無し|はありません|—|–|-|∅|✅|✓|\[\])"
)
_END = (
    r"(?=[\s\"')\]}*_]{0,4}(?:$|[,;.|)\]}·•/。、，<]"
    r"|\s(?:and|p[2-3]|\d|high|medium|low|major|imp)\b|\s?[🟡🟠🟢🔵·•]))"
)
_DENIED = Pattern(
    rf"{_NO}[\s\"'*_`]{{0,3}}{_LIST}(?!\s{{0,2}}[:=—–>|(])"
    rf"|{_ONE}(?:{_OR}{_ONE})?[\s\"'*_`]{{0,3}}(?:[:=|(>\]—–-]|\bare\b|\bis\b"
    rf"|\bwere\b)?[\s\"'(*_`:\[]{{0,6}}{_ZERO}{_END}"
    rf"|{_ONE}(?:{_OR}{_ONE})?(?: {_N})? (?:and|but)(?: i| we)? (?:found|saw|see) (?:none"
    rf"|nothing|no)\b"
    rf"|\bany {_ONE}(?:{_OR}{_ONE})?\?\s{{0,2}}no(?:ne)?\b|\bnon-?{_S}|\bfree of {_LIST}",
    re.IGNORECASE,
)
_SEVERITY_MARK, _MARK = Pattern(_S), Pattern("[\ue000-\uf8ff]")
_NOUNS = Pattern(rf"\b{_NOUN}", re.IGNORECASE)
_NOT_DENIED = Pattern(
    r"\b(?:except|but|however|apart|besides|other than|unless|only|doubt|yet|fixed|salvo"
    r"|au(?:ß|ss)er|sauf"
    r"|excepto|tranne|menos|кроме)\b|除|以外",
    re.IGNORECASE,
)
_FIXED = Pattern(
    rf"^[^:;]{{0,40}}{_S}[^:;]{{0,120}}\b(?:is|are|was|were|has been|have been)(?: now"
    rf"| all)? (?:fixed|resolved|closed|gone)"
    r"(?: now| as well| too)?(?: and (?:is |are )?(?:now )?covered by (?:an? )?tests?)?\W*$",
    re.IGNORECASE,
)
_NOT_FIXED = Pattern(
    r"\b(?:no|not|never|none|nothing|part|partly|most|some|half|should|must|until|if|when|once"
    r"|only|almost|said|claims?)\b|n't",
    re.IGNORECASE,
)
_STILL = Pattern(r"\b(?:not|never|still|partly|only|almost|should|must)\b|n't", re.IGNORECASE)
_MEASURED = Pattern(r"[-+±~<>]?\d[\d.,]*\s?[^\W\d]{1,4}(?:/s)?|[-+]?\d[\d.,]*\s?[x×%]")
_NO_WORD = Pattern(
    _NO + r"|rien|niente|nada|nichts|ничего|ありません|ない|없|нет|不存在", re.IGNORECASE
)
_SCALE = Pattern(r"\b(?:severit|scale|legend|priorit|levels?|rate|rating)", re.IGNORECASE)
_LEVELS = Pattern(r"\bp[0-3]\b|\bimp\b|\bcritical\b|\bhigh\b|\bmedium\b|\blow\b", re.IGNORECASE)
_COUNTED = Pattern(
    r"(?:p[0-3]|imp|critical|high|medium|low)[\s\"'*:=|(]{1,4}\d|\d\s?(?:p[0-3]|critical|high)\b",
    re.IGNORECASE,
)
_RULES = Pattern(
    r"[>\s\-*]{0,8}(?:any|a single|one) p[01]:? (?:finding |issue )?(?:means|makes"
    r"|requires)? ?(?:that )?(?:the |a )?"
    r"(?:overall )?(?:verdict)? ?(?:(?:is|of|must be) )?[`\"':]{0,2}\s?(?:risky"
    r"|needs-changes)\W{0,3}$|.{0,20}p0\|p1\|p2|.{0,40}p0/p1/p2/p3"
    r"|one row a finding\. severity",
    re.IGNORECASE,
)
_OTHER_VERDICT = Pattern(
    r"\b(?:do not|don't|must not|should not|shouldn't|cannot|can't|not ready to"
    r"|not safe to)(?: be)?"
    r" (?:merge|ship|release|deploy|land|approve)|\bnot ready\b|\brequest(?:s|ed|ing)? changes"
    r"|\bchanges requested|\bnot approved"
    r"|\breject(?:ed|s)?\b|\bno-go\b|\bneeds? (?:changes|work)\b|\bverdict\W{1,6}(?:fail|risky"
    r"|needs|block|reject|not|error)"
    r"|\bblocks? (?:the )?(?:merge|release|ship)\w{0,4}\b"
    r"|^\W{0,6}(?:fail(?:ed|s|ure)?|blocked|unsafe|risky|nack)\W{0,6}$",
    re.IGNORECASE,
)
_UNREAD = Pattern(
    r"\b(?:could not|couldn't|cannot|can't|unable to|not able to|did not|didn't|failed to"
    r"|have not|haven't)\b[^.]{0,30}"
    r"\b(?:review|read|access|open|load|complete|finish)|\bdiff (?:was|is) (?:empty|missing"
    r"|cut|truncated)|\bnothing to review"
    r"|\bempty diff|\bno (?:diff|files|changes) (?:to review|was|were|found)|\b(?:skipped"
    r"|ran out of|timed out)\b",
    re.IGNORECASE,
)
_PART = Pattern(
    r"(?<![\d.,])(\d{1,6})\s{0,2}(?:of|/|out of|von|sur|de|из|di|van|av|af|z|от"
    r"|의)\s{0,2}(?:the\s)?(\d{1,6})(?![\d.])",
    re.IGNORECASE,
)
_PART_CJK = Pattern(r"(\d{1,6})\s?[^\d\s.,;a-z]{1,10}[中の](?:的)?\s?(\d{1,6})")
_READ = Pattern(
    r"[\s*_`>-]{0,6}read\W{1,6}(\d{1,6}) (?:of|/) (\d{1,6})(?: files?)?\W{0,6}$", re.IGNORECASE
)
_COUNTS = Pattern(r"[\s*_`>-]{0,6}(?:severity |finding )?counts?\W{1,6}(?=p0)", re.IGNORECASE)
_FIXED_IDS = Pattern(
    r"[\s*_`>-]{0,6}fixed\W{1,6}(?:P[0-3]"
    r"|[A-Z]{1,6})-?[\w.]{1,12}(?:[,;\s]{1,3}(?:and )?[A-Z]\w{0,6}-?[\w.]{1,12}){0,60}\W{0,4}$",
    re.IGNORECASE,
)
_COUNTED_ONLY = Pattern(
    r"[\s*_`>-]{0,6}counts?: (?:(?:p[0-3]|imp):? \d{1,6}[,;. ]{0,3}){1,5}$", re.IGNORECASE
)
_PAIR = Pattern(r"(p[0-3]|imp)\W{1,4}(\d{1,6})", re.IGNORECASE)
_LABEL = Pattern(
    r"^(?P<label>[^:：=|—–\n]{1,60}?)[\s*_`\"]{0,4}(?:[:：=](?!//)|\s[—–-]\s|[—–]"
    r"|\|)[\s*_`]{0,4}(?P<value>\S.*)$"
)
_IDENTIFIER = Pattern(
    r"`[^`\n]{1,200}`|[\w./\\-]{0,200}[/\\_][\w./\\-]{1,200}|\b[\w-]{1,80}\.\w{1,5}\b(?!\w)"
)
_CODE = frozenset(
    "py python js javascript ts typescript tsx jsx go rust rs java kotlin swift c cpp c++ cs"
    " csharp ruby rb php"
    " bash sh shell zsh console diff sql html css scss vue lua perl r make makefile dockerfile"
    " hcl proto".split()
)
_KNOWN = frozenset(
    "scope file files read reviewed reviewer reviewers date model agent confidence effort"
    " likelihood impact test"
    " tests testing naming names name style doc docs documentation performance security"
    " correctness architecture"
    " summary overview note notes method approach conclusion strengths strength positive"
    " positives coverage checked"
    " verified commit branch base version target input project improvement improvements"
    " suggestion suggestions nit"
    " nits minor low medium info p2 p3 imp question questions fix fixes why what where how"
    " problem evidence location"
    " recommendation recommendations recommended example examples line lines place section"
    " details detail"
    " description rationale reason observation observations result results status verdict"
    " counts count finding"
    " findings found issue issues index review reviews code the a an of and or in for to i we"
    " my is was all other"
    " total totals category type id ids title tags tokens_spent findings_count files_changed"
    " detail_path run time"
    " duration tools tool commands command environment context background design readability"
    " maintainability"
    " complexity error errors handling types typing structure layout dependencies"
    " compatibility accessibility"
    " logic api apis ui ux data config configuration logging build ci lint formatting format"
    " quality general"
    " good well praise thanks next steps step remaining open closed done kept unchanged"
    " assessment overall final"
    " decision gate outcome legend scale severity severities levels level priority can it be"
    " merged any not"
    " approval changes change made suggested proposed consider optional none no safe sources"
    " gaps references"
    " appendix table contents things checks check numbers metrics measured facts input output"
    " behavior behaviour"
    " zusammenfassung umfang hinweis hinweise verbesserungen fazit résumé portée améliorations"
    " remarques resumen"
    " alcance mejoras notas resumo sommario riepilogo 总结 摘要 要約 概要 まとめ 改善 改进"
    " итог резюме".split()
)
_PROSE = frozenset(
    "the a an is are was were it its this that these those one two three all both only of in on at"
    " with by from they we i there each as so more".split()
)
_PASSING = frozenset(
    "pass passed passes ok okay yes no none safe clean fine good approve approved lgtm ready"
    " merge n/a done green"
    " high low medium ship complete 0 consistent clear solid excellent ✅ ✓ ✔ 👍".split()
)
_TITLED = frozenset(
    "review report audit analysis assessment bericht revue revisión revisão レビュー 审查"
    " 审核 обзор".split()
)
_HIDING = Pattern(
    "[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\u00ad\u034f\u115f\u1160\u180e\u3164\ufeff\uffa0"
    "\u0300-\u036f\u20d0-\u20ff\uff01-\uff5e\u2460-\u24ff\U0001d400-\U0001d7ff\U0001f100-\U0001f1ff]"
)


class Doubt(NamedTuple):
    """A line that the index does not explain, and why it is one; line 0 is the file as a whole."""

    line: int
    text: str
    why: str


def doubts(
    text: str, findings: tuple[Finding, ...], inside: set[int], terms: Terms | None
) -> list[Doubt]:
    """Return up to five doubts about a review whose index and verdict are clean.

    `inside` are the lines of its index. Linear in the length of `text`; never raises.
    """
    found = _Proof(text, findings, inside)
    found.confirms(terms)
    said = found.missing(terms) if terms else []
    for doubt in found.lines():
        said.append(doubt)
        if len(said) >= MOST:
            break
    return said


class _Proof:
    def __init__(self, text: str, findings: tuple[Finding, ...], inside: set[int]) -> None:
        self._raw = dict(lines.numbered(text.replace("\ufe0f", "")))
        self._rows = {at: reader.unmarked(html.unescape(row)) for at, row in self._raw.items()}
        self._inside = inside
        self._hidden = _hidden_lines(text)
        self._ids = {one.id.upper() for one in findings if one.id}
        self._titles = [_words(one.title) for one in findings]
        self._counts = {name: sum(one.severity == name for one in findings) for name in SEVERITIES}
        self._blocks = blocks("\n".join(self._rows.values()))
        self._of_row: set[int] = set()
        self._issues: set[int] = set()
        self._code: dict[int, str] = {}
        self._legend: set[int] = set()
        self._measured: set[int] = set()
        self._note_blocks()

    def confirms(self, terms: Terms | None) -> None:
        """Note whether the file has to say which findings are fixed."""
        self._confirms = bool(terms and terms.open)
        wanted = {one.upper() for one in terms.open} if terms else set()
        self._fixed = self._said_fixed() & wanted

    def _note_blocks(self) -> None:
        """Note which lines a row explains, stand under Issues Found, or are code."""
        for at, block in enumerate(self._blocks):
            span = range(block.first, block.last + 1)
            if block.kind == "heading":
                if self._has_id(block.title) or self._is_title(block.title):
                    self._of_row.update(span)
                elif _first_words(block.title) in ("issues found", "issues", "findings"):
                    self._issues.update(span)
                elif {"legend", "rubric", "scale", "levels"} & _words(block.title):
                    self._note_legend(at)
            elif block.kind == "table" and self._counts_nothing(block):
                self._legend.add(block.first)
            elif block.kind == "table" and self._measures(block):
                self._measured.update(span)
            elif block.kind == "code":
                language = (block.title.split() or [""])[0].lower()
                self._code.update(dict.fromkeys(span, language))

    def _note_legend(self, at: int) -> None:
        """Note the items of a legend: three severities or more, each once, none with a place."""
        below = self._blocks[at + 1 : at + 1 + _LEGEND]
        items = [one for one in below if one.inside == at]
        said = [vocabulary.Head(one.title).severity for one in items]
        if len(items) > 2 and all(said) and len(set(said)) == len(said):
            if not any("`" in one.title or re.search(r"\.\w{1,4}:\d", one.title) for one in items):
                self._legend.update(one.first for one in items)

    def _counts_nothing(self, block: Block) -> bool:
        """Whether a table's head names severities and all cells below the serious ones are 0."""
        cells = [
            [lines.plain(cell) for cell in self._rows[number].strip().strip("|").split("|")]
            for number in range(block.first, block.last + 1)
        ]
        serious = [at for at, cell in enumerate(cells[0]) if vocabulary.severity(cell) in SERIOUS]
        below = {row[at] if at < len(row) else "" for row in cells[2:] for at in serious}
        return bool(below) and below <= {"", "0", "-", "–", "—", "none"}

    def _measures(self, block: Block) -> bool:
        """Whether a table compares measured values: two or more columns of numbers with a unit."""
        cells = [
            [lines.plain(cell) for cell in self._rows[number].strip().strip("|").split("|")]
            for number in range(block.first + 2, block.last + 1)
        ]
        return bool(cells) and all(
            len(row) > 2 and all(_MEASURED.fullmatch(cell) for cell in row[1:]) for row in cells
        )

    def _has_id(self, text: str) -> bool:
        return any(word.strip("*_`[]().,:;#") in self._ids for word in text.upper().split())

    def _is_title(self, text: str) -> bool:
        words = _words(text)
        return bool(words) and any(
            len(words & title) * 2 > max(len(words), len(title)) for title in self._titles
        )

    # The four lines

    def missing(self, terms: Terms) -> list[Doubt]:
        """Return what the contract's lines lack or contradict."""
        read = [(number, match) for number, row in self._rows.items()
                if (match := _READ.match(row[:200]))]  # fmt: skip
        counts = [(number, row) for number, row in self._rows.items() if _COUNTS.match(row[:40])]
        found: list[Doubt] = []
        if not read:
            found.append(Doubt(0, "", NOT_READ))
        for number, match in read:
            most = terms.files or int(match[2])
            if int(match[1]) != int(match[2]) or int(match[2]) != most:
                found.append(
                    Doubt(number, _shown(self._rows[number]), f"the run asked for {most} files")
                )
        if not counts:
            found.append(Doubt(0, "", NOT_COUNTED))
        for number, row in counts:
            if not self._agrees(row):
                found.append(Doubt(number, _shown(row), "its counts are not those of its index"))
        if {one.upper() for one in terms.open} - self._fixed - self._ids:
            found.append(Doubt(0, "", NOT_CONFIRMED))
        return found

    def _agrees(self, row: str) -> bool:
        """Whether the counts in a line are those of the index."""
        said = {name.upper(): int(count) for name, count in _PAIR.findall(row[:400])}
        return all(said.get(name, 0) == self._counts[name] for name in {*SEVERITIES[:4], *said})

    def _said_fixed(self) -> set[str]:
        """Return the words of the line that says which findings of the run before are fixed."""
        return {word for row in self._rows.values() if _FIXED_IDS.match(row[:400])
                for word in re.findall(r"[\w.-]+", row.upper())}  # fmt: skip

    def _without_fixed(self, row: str) -> str:
        """Return a line without the id of a finding that is fixed, if it does not say otherwise."""
        identity = row.split()[0].strip("*_`:,.").upper() if row.strip() else ""
        if identity not in self._fixed or _STILL.search(row):
            return row
        return row.replace(row.split()[0], "x", 1)

    # Line by line

    def lines(self) -> Iterable[Doubt]:
        numbers = [number for number, row in self._rows.items() if row.strip()]
        for at, number in enumerate(numbers):
            if number in self._inside and number not in self._hidden:
                continue
            after = self._rows[numbers[at + 1]] if at + 1 < len(numbers) else ""
            why = self._why(number, self._rows[number], after)
            if why:
                yield Doubt(number, _shown(self._raw[number]), why)

    def _why(self, number: int, row: str, after: str) -> str:
        """Return why a line outside the index is a doubt, or ''."""
        if number in self._hidden or _SPACED.search(row):
            return "has characters that hide what it says"
        if len(row) > _LONGEST:
            return "is too long to be judged"
        if self._confirms and _FIXED_IDS.match(row):
            return ""
        if _is_ours(self._raw[number]) or _READ.match(row) or _RULES.match(row):
            return ""
        if _COUNTED_ONLY.match(row) and self._agrees(row):
            return ""
        row = self._without_fixed(row)
        serious = "" if number in self._legend else self._serious(number, row, after)
        if serious:
            return f"says {serious}, which its index has not"
        if _OTHER_VERDICT.search(row) and not _is_scale(row) and not _NO_VERDICT.search(row):
            return "gives another verdict"
        if _UNREAD.search(row) or _reads_less(row):
            return "says that not all was reviewed"
        return self._unexplained(number, row)

    def _serious(self, number: int, row: str, after: str) -> str:
        """Return the severity that a line says in its words, its attributes or its images."""
        said = _serious(row, after)
        raw = self._raw[number]
        if not said and not row.isascii():
            said = _serious(_folded(row), after)
        if not said and ("<" in raw or "](" in raw):
            inside = " ".join(
                " ".join(those).replace("-", " ") for those in _ATTRIBUTES.findall(raw)
            )
            match = _SERIOUS.search(inside)
            said = match[0] if match else ""
        return said

    def _unexplained(self, number: int, row: str) -> str:
        """Return what a line states that no row explains, or ''."""
        language = self._code.get(number)
        if language is not None and (language in _CODE or row.lstrip()[:3] in ("```", "~~~")):
            return ""
        bare = lines.unbulleted(row.strip())[0]
        if not any(map(str.isalpha, bare)) or self._has_id(bare) or number in self._legend:
            return ""
        if _is_heading(bare):
            return "" if self._explains(bare.strip("#* _")) else "is a heading of its own"
        if "|" in bare:
            return (
                ""
                if number in self._measured or _is_plain_row(bare)
                else "is a row beside the index"
            )
        label = _LABEL.match(_IDENTIFIER.sub("x", bare[:400]))
        if label and _is_verdict(label["label"], label["value"]):
            return "" if _all_words(label["value"])[0] in _PASSING else "gives another verdict"
        if label and number in self._of_row and bare[: label.end("label")].isascii():
            return ""  # the row explains it
        if label and not self._is_known_label(label["label"], label["value"]):
            return f"is a statement of its own ({names.one_line(label['label'])[:30]})"
        if number in self._issues and number not in self._of_row:
            known = vocabulary.says_nothing(lines.plain(bare).strip(".")) or self._is_title(bare)
            return "" if known else "stands under Issues Found without a row"
        return ""

    def _explains(self, title: str) -> bool:
        words = _all_words(title)
        if all(word in _KNOWN or word.isdigit() for word in words) or self._is_title(title):
            return True
        if reader.group_of(title) or _SERIOUS.search(title):
            return True  # judged by what stands below it
        return bool(_TITLED & set(words)) or any(
            mark in title for mark in ("レビュー", "审查", "审核")
        )

    def _is_known_label(self, label: str, value: str) -> bool:
        words = _all_words(re.split(r"[.!?] ", label)[-1])
        if label.isascii() and value[:1].islower() and len(words) > 2 and _PROSE & set(words):
            return True  # a sentence that goes on behind a colon
        if _NO_WORD.search(label) and (_FOREIGN.search(label) or _SERIOUS.search(label)):
            return True  # denied where it stands: `Rien de bloquant : …`
        if not words or (len(words) > _LABEL_WORDS and not _is_dense(label)):
            return True
        said = _all_words(value)
        if all(word in _PASSING or word.isdigit() or vocabulary.severity(word) for word in said):
            return True
        if vocabulary.says_nothing(lines.plain(value)):
            return True
        if {"verdict", "decision", "gate", "outcome", "status"} & set(words):
            return said[0] in _PASSING or said[0] in ("complete", "completed")
        return all(word in _KNOWN or word.isdigit() or vocabulary.is_id(word) for word in words)


_VERDICTS = {"verdict", "decision", "overall"}


def _is_verdict(label: str, value: str) -> bool:
    """Whether a label with a value of at most three words decides on the whole review."""
    return bool(_VERDICTS & set(_all_words(label))) and 0 < len(_all_words(value)) <= 3


_COUNTER = Pattern(r"\b(?:p[01]|critical|blockers?|high)_\w{1,20}\W{1,4}[1-9]", re.IGNORECASE)
_SPACED = Pattern(r"(?<!\S)(?:[A-Za-z0-9][ ._-]){4,}[A-Za-z0-9](?!\S)")
_ATTRIBUTES = Pattern(r"=\s?[\"']?([\w -]{1,60})|badge/([\w-]{1,80})")


_LOOK_ALIKES = str.maketrans(
    "АВЕКМНОРСТХаеорсухіΑΒΕΖΗΙΚΜΝΟΡΤΥΧορ", "ABEKMHOPCTXaeopcyxiABEZHIKMNOPTYXop"
)


def _folded(row: str) -> str:
    """Return a line without accents, with digits and look-alikes of any script as ours."""
    plain = "".join(
        char if char.isascii() or not char.isdigit() else str(unicodedata.digit(char, 0))
        for char in unicodedata.normalize("NFKD", row)
        if unicodedata.category(char) != "Mn"
    )
    return plain.translate(_LOOK_ALIKES)


def _hidden_lines(text: str) -> set[int]:
    """Return the lines with characters that hide or imitate: invisible, reversed, look-alikes."""
    if text.isascii():
        return set()
    found = set()
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    for number, line in enumerate(plain.split("\n"), 1):
        if not line.isascii() and _hides(line.removeprefix("\ufeff") if number == 1 else line):
            found.add(number)
    return found


def _hides(line: str) -> bool:
    for match in _HIDING.finditer(unicodedata.normalize("NFC", line)):
        char = match[0]
        if char == "\u200d" or ("\uff01" <= char <= "\uff5e" and not char.isalnum()):
            continue  # between emoji; wide punctuation of Chinese and Japanese
        return True
    if re.search(
        r"(?<!\w)[\u0370-\u052f][.\-]\d(?!\w)|(?<!\w)[РрΡρ]\s\d(?!\w)", line.replace("_", " ")
    ):
        return True
    return any(_is_mixed(word) for word in re.findall(r"\w{2,40}", line) if not word.isascii())


def _is_mixed(word: str) -> bool:
    """Whether a word mixes Latin letters with Cyrillic or Greek ones, or foreign digits."""
    scripts = {
        "latin" if char.isascii() or "\u00c0" <= char <= "\u024f" else
        "other" if "\u0370" <= char <= "\u052f" else ""
        for char in word if char.isalpha()
    }  # fmt: skip
    if {"latin", "other"} <= scripts:
        return True
    digits = [char for char in word if char.isdigit()]
    single = (
        len(word) - len(digits) == 1 and not word[0].isascii() and "\u0370" <= word[0] <= "\u052f"
    )
    return bool(digits) and (single or any(not char.isascii() for char in digits))


def _serious(row: str, after: str) -> str:
    """Return the severity word that a line says and does not deny itself, or ''."""
    if counted := _COUNTER.search(row):
        return str(counted[0])
    text = _unescaped(row)
    for mark in ("*", "_", "~", "\\"):
        text = text.replace(mark, "")
    read = _IDENTIFIER.sub(_identifier, text).replace("`", "")
    if not (_SERIOUS.search(read) or _FOREIGN.search(read) or _labelled_high(read)):
        return ""
    if _is_scale(read) or _says_none(row, after) or _is_of_code(read, after):
        return ""
    if after[:1].islower() and len(row.split()) > 4 and read.rstrip()[-1:] not in ".!?:;。":
        read = f"{read} {re.split(r'[.!?;:]', after)[0]}"  # the sentence goes on
    sentences = re.split(r"[.!;。；]\s|(?<=\?)\s(?!(?i:no))|(?<=[。；])", read)
    return next(filter(None, map(_of_sentence, sentences)), "")


def _is_scale(read: str) -> bool:
    """Whether a line only lists the severities that there are: no count, no place."""
    levels = {word.lower() for word in _LEVELS.findall(read)}
    if len(levels) < 3 or not _SCALE.search(read) or _COUNTED.search(read):
        return False
    return len(read.split()) < 40 and not re.search(r"\.\w{1,4}:\d", read)


def _says_none(row: str, after: str) -> bool:
    """Whether a line only heads a group of findings, and the next one says that there are none."""
    said = lines.plain(lines.unbulleted(after.strip())[0]).strip(" .!()_✅✓")
    return _is_group(row) and vocabulary.says_nothing(said)


def _is_of_code(read: str, after: str) -> bool:
    """Whether a line breaks within a critical section or path."""
    return read.rstrip().lower().endswith("critical") and after.lstrip()[:7].lower() in _OF_CODE


_OF_CODE = ("section", "path of", "path is", "path, a")  # a critical section is no finding


def _of_sentence(sentence: str) -> str:
    marked, serious = _marked(_MARK.sub("x", sentence), _SERIOUS, _SEV_MARK)
    if _FIXED.search(marked) and not _NOT_FIXED.search(marked):
        return ""
    marked, nouns = _marked(marked, _NOUNS, _NOUN_MARK)
    rest = _DENIED.sub(" ", marked)
    if left := _SEVERITY_MARK.search(rest):
        return names.one_line(serious[ord(left[0]) - _SEV_MARK])
    denied = rest != marked
    rest = _MARK.sub(lambda mark: nouns[ord(mark[0]) - _NOUN_MARK], rest)
    if high := _labelled_high(rest):
        return names.one_line(high[0])
    if denied and _NOT_DENIED.search(rest):
        return names.one_line(serious[0])
    for clause in re.split(r"[,、，—–:：]", rest):
        foreign = _FOREIGN.search(clause)
        if foreign and (not _NO_WORD.search(clause) or _NOT_DENIED.search(clause)):
            return names.one_line(foreign[0])
    return ""


def _marked(text: str, words: Pattern, first: int) -> tuple[str, list[str]]:
    """A text with a character from `first` on in place of each of the words; and the words."""
    marks = iter(range(first, first + _MARKS))
    return words.sub(lambda _: chr(next(marks, first)), text), words.findall(text)


_HIGH = Pattern(
    r"(?:^|severity|priority|rated|risk|sev|level)[\s\"':=>|\[(*—–-]{1,8}(?P<word>high|major"
    r"|important|required)\b"
    r"(?=[\s\"')\]}|>]{0,3}(?:$|[:.,;|—–<\]})-]))"
    r"|[\[(](?P<in>high|major|important|required)[\])]|[—–|]\s?(?P<end>high|major"
    r"|important)\W{0,3}$"
    r"|^\W{0,6}(?P<start>high|major|important)\s?[:—–|]",
    re.IGNORECASE,
)
_ZERO_HIGH = Pattern(
    r"(?:high|major)[\s\"':=|(]{1,5}(?:0|none|no)\b|\b(?:0|no)\s(?:high|major)", re.IGNORECASE
)
_RATED = Pattern(r"confidence|likelihood|effort|value|quality|complex", re.IGNORECASE)


def _labelled_high(read: str) -> re.Match[str] | None:
    """Return the word `high` where it is a severity: behind a label, in brackets, at an end."""
    found = _HIGH.search(_ZERO_HIGH.sub(" ", read))
    return found if found and not _RATED.search(read) else None


def _identifier(found: re.Match[str]) -> str:
    """Names and paths say nothing; a code span of one word is that word."""
    said = found[0]
    if said[0] == "`" and re.fullmatch(r"`[\w -]{1,24}`", said) and "_" not in said:
        return said
    return (
        " x " if re.search(r"[a-z]{2}", said, re.IGNORECASE) and not _PAIRED.search(said) else said
    )


_PAIRED = Pattern(r"(?:^|[/\s])p[01](?:[/-]|$)", re.IGNORECASE)


def _unescaped(row: str) -> str:
    if "\\u" not in row:
        return row
    plain = re.sub(r"\\u\{?([0-9a-fA-F]{4})\}?", lambda found: chr(int(found[1], 16)), row)
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _reads_less(row: str) -> bool:
    if "%" in row or not any(map(str.isdigit, row)):
        return False
    for match in _PART.finditer(row):
        near = row[max(0, match.start() - 40) : match.end() + 24].lower()
        if int(match[1]) < int(match[2]) and re.search(
            r"file|datei|fichier|archiv|arquiv|файл|read|review|glesen|lu\b", near
        ):
            return True
    return any(int(match[2]) < int(match[1]) for match in _PART_CJK.finditer(row))


_NO_VERDICT = Pattern(
    r"\b(?:no|not|nothing|never|none|would not)\b[^.]{0,20}\b(?:reject|needs? (?:changes|work)"
    r"|request)"
    r"|\b(?:nothing(?: here| in (?:it|this))?|none(?: of (?:it|them|these))?|not|never"
    r"|n't) blocks?\b",
    re.IGNORECASE,
)


def _is_group(row: str) -> bool:
    bare = row.strip()
    words = _all_words(bare)
    if not words or not (reader.is_plural(words[-1]) or vocabulary.severity(words[-1])):
        return False
    return bare[:1] == "#" or (bare[:2] == "**" and bare.rstrip(":* ") != bare) or bare[-1:] == ":"


def _is_heading(bare: str) -> bool:
    if bare[:1] == "#":
        return True
    inner = bare.strip()
    return inner[:2] == "**" and inner.rstrip(".:").endswith("**") and inner.count("**") == 2


def _is_plain_row(bare: str) -> bool:
    """Whether a table's row only counts, ticks or passes, or is a head of known words."""
    cells = [lines.plain(cell) for cell in bare.strip("| ").split("|")]
    words = [_all_words(cell) for cell in cells]
    if all(word in _KNOWN or word in _PASSING or word.isdigit() or vocabulary.severity(word)
           for those in words for word in those):  # fmt: skip
        return True
    rest = words[1:]
    return bool(rest) and all(
        all(word in _PASSING or word.isdigit() for word in those) for those in rest
    )


def _is_ours(raw: str) -> bool:
    """Whether a line is a comment that a run leaves."""
    bare = raw.strip()
    if bare[:4] != "<!--" or bare[-3:] != "-->":
        return False
    said = bare[4:-3].strip()
    return bool(re.fullmatch(r"(?:run-uuid|run): ?[\w.\-]{1,80}|[\w-]{1,40}:complete", said))


def _is_dense(label: str) -> bool:
    """Whether a label is in a script without blanks between words."""
    return any(char > "\u0e00" for char in label) and len(label) < 24


def _all_words(text: str) -> list[str]:
    said = "".join(c if c.isalnum() or c in "_" or ord(c) > 0x2700 else " " for c in text.lower())
    return said.split()


def _first_words(title: str) -> str:
    return (
        " ".join(_all_words(title)[:2])
        if "issues" in title.lower()
        else " ".join(_all_words(title))
    )


def _words(text: str) -> set[str]:
    return {word for word in _all_words(text) if len(word) > 2}


def _shown(row: str) -> str:
    return names.one_line(row.strip()[:200])

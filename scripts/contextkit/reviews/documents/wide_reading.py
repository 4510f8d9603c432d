"""Serious severities anywhere in a text, read as broadly as possible: the last check before CLEAN.

    **Severity:** P0      <td>Critical</td>      "severity": "blocker"      Р０ (look-alikes)

Nothing here decides what a finding is. A review whose index reports no problem is clean only if no
line contains P0, P1 or a word for one: in headings, tables, prose, code, comments, HTML, JSON or
YAML, whatever characters it is spelled with. A severity that its own clause takes back does not
count: `no P0`, `P0: none`, `0 critical`, a legend of all severities, a line of the contract that
the agent was given.
"""

from __future__ import annotations

import html
import re
import string
import unicodedata

from contextkit.base import names
from contextkit.base.records import Record
from contextkit.reviews.documents import lines as review_lines
from contextkit.reviews.documents import vocabulary

MOST = 5  # lines that are named
_JUDGED, _DENIED = 20_000, 1_000  # words that are examined, and denials that are believed
_LONGEST = 2_000  # characters of a line that are read at once
_OVERLAP = 200
_MOST_ROWS = 30  # in a table of counts
_LONGEST_PROSE = 200  # characters of a line that may go on in the next
_NO_PROSE, _ENDS_PROSE = tuple("#<*-+`[({="), tuple(".!?:;")

# Letters and signs that look like others and that Unicode does not fold by itself.
_LOOK_ALIKES = str.maketrans(
    "АВЕЅІЈКМНОРСТУХаеѕіјкорсухгԛԝһӏԁվոսցհօԌԍΑΒΕΖΗΙΚΜΝΟΡΤΥΧαεικνορτυχγϲϳᴀᴄᴅᴇɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢıɑɡɩ"
    "ⲢⲣᏢꓑꓳꓚꓡℙ℗₽ꝐꝑⱣᵽƤƥ℘ØøƟɵӨөθʘ〇○◯ЅLꞁǀ∣ł",
    "ABESIJKMHOPCTYXaesijkopcyxrqwhldunughoGgABEZHIKMNOPTYXaeikvoptuxycjacdeghijklmnoprstuvwyziagi"
    "PpPPOCLPPPPpPpPppOoOoOoOoOOOSLllll",
)
_LETTERS = {  # regional indicators (flags), letters in circles and in squares
    ord(first) + n: letter for first in "🇦🅐🅰" for n, letter in enumerate(string.ascii_uppercase)
}
_OFTEN = ("high", "major", "blocking", "serious", "urgent", "emergency")  # common words
_CLOSING, _LEADING = tuple(")]}>\"':,"), ":|—–)]}\"',;·/~"
_MARKS = str.maketrans(dict.fromkeys("*`~_\\"))
_ALARMS = "🔴🟥🚨🛑"
_BREAKS = re.compile(r"\\[nrt]|</?(?:td|th|tr|li|br|p|div|h[1-6]|dt|dd|ul|ol|table)\b[^<>]{0,200}>")
_TAGS = re.compile(r"</?[a-zA-Z][^<>]{0,300}>")
_ESCAPES = re.compile(r"\\u(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{4}))|\\x([0-9a-fA-F]{2})")
_PATHS = re.compile(r"(?<![\w./:\-])[a-z][\w\-]*(?:/[\w\-]+)*\.([a-z]{1,4})(?![\w/.])")
_DASHED = re.compile(r"(?i)\b(severity|priority)[-_/=](?=[a-z])")
_SPELLED = re.compile(r"\b(?:[A-Za-z0-9][ ._\-]){3,}[A-Za-z0-9]\b")

_NOUN = (
    r"(?:issues?|findings?|bugs?|problems?|defects?|flaws?|vulnerabilit(?:y|ies)|concerns?|errors?"
    r"|risks?|regressions?|blockers?|items?|violations?|severity|priority|level|count|total"
    r"|comments?|holes?|failures?|gaps?)"
)
_NUMBERED = (
    r"(?<![A-Za-z0-9])(?:[Pp][\s._\-–—/\\]{0,2}0?[01]|P[OoQlI]|[Pp][\s\-]?(?:zero|one)"
    r"|(?i:sev(?:erity)?)[\s\"'._\-:=|]{0,4}(?:[01](?!\d|\.\d)|zero\b|one\b)"
    r"|(?i:prio(?:rity)?|level)[\s\"'._\-:=|]{0,4}(?:0(?!\d|\.\d)|zero\b)"
    r"|(?i:prio(?:rity)?)\s?[\"']?[:=|]+[\s\"']*(?:1(?!\d|\.\d)|one\b)"
    r")(?:'?s)?(?![0-9A-Za-z])"
)
_ALWAYS = "|".join(
    [
        r"show[\s\-]?stoppers?",
        r"must[\s\-]+be[\s\-]+fixed|must[\s\-]?fix(?:es)?",
        r"(?:release|merge|ship|launch|deploy(?:ment)?|hard|absolute|real|major)[\s\-]blockers?",
        r"(?:release|merge|ship|launch|deploy(?:ment)?)[\s\-]blocking",
        r"blocks[\s\-](?:the[\s\-])?(?:merge|release|ship|deploy|launch)\w*",
        r"must\snot\s(?:be\s)?(?:merged?|ship(?:ped)?|deploy(?:ed)?|released?)\b",
        r"(?:(?<=^)|(?<=[.:;] )|(?<=[-*>|] ))do\snot\s(?:merge|ship|deploy|release)\b",
    ]
)
_LABELS = (
    r"critical|crit|blockers?|blocking|fatal|severe|urgent|high|major|catastrophic|emergency|serious"
    r"|disastrous"
)
_ELSEWHERE = r"kritisch|blockierend|bloquante?|bloqueante|bloccante|critic[oa]|严重|致命|阻断|重大"
_KEY = r"(?:severity|priority|prio|sev|level|impact|rating|risk|class|importance|urgency|rank)"
_WORDS = re.compile(
    rf"(?P<number>{_NUMBERED})|(?P<always>(?i:(?<![a-z\-])(?:{_ALWAYS})(?![a-z])))"
    rf"|(?P<label>(?i:(?<![a-z\-])(?:{_LABELS}|{_ELSEWHERE})(?![a-z])))|(?P<alarm>[{_ALARMS}])"
)
_KEYED = re.compile(rf"(?i:\b{_KEY}\b[\"'\s]*(?:[:=|]|is|of|as|->|→|–|—|-|>)*[\"'\s|(\[]*)$")
_RATED = re.compile(
    r"(?i:\b(?:rated?(?: (?:this|it))?|ranked|classified|considered|marked|flagged)(?: as)?"
    r"(?: an?)? $)"
)
_IS = re.compile(r"(?i:\b(?:is|are|it'?s|remains?)(?: an?)? $)")
_THEN_NOUN = re.compile(rf"(?i:[\s\-]+(?:security |data |design |correctness )?{_NOUN}\b)")
_SEVERITY = (
    r"(?:p[0-3]s?|imp|critical|high|major|severe|serious|medium|low|blocking|blockers?|fatal)"
)
_NOTHING = r"(?:nothing|none)(?: here| of (?:this|these|them)| below| in this \w+)?"
_NOT = (
    r"keine?[mnrs]?|ohne|aucune?|pas de|sans|ni|ningun[oa]?|sin|nenhuma?|sem|nessuna?|senza|geen"
    r"|zonder|inga|ingen|brak"
)
_OR = r"(?:or|nor|and|oder|und|noch|ou|et|ni|o|y|e|of|en|och|eller|或|和)"
_NO = re.compile(
    rf"(?i:(?:(?<![\w.,])(?:no|zero|0|without any|not an?|not|non|nothing|isn'?t an?|never an?"
    rf"|neither|nor|none of the|free of|{_NOT}"
    rf"|{_NOTHING} (?:is|was|are|were|reaches|rises to|amounts to|qualifies as)(?: an?)?)"
    rf"[\s\-]+|(?:没有|沒有|无|無)\s*)"
    rf"(?:(?:any|new|open|remaining|other|further|known|outstanding|unresolved|more|actual"
    rf"|obvious|such|significant|real)\s+)*"
    rf"(?:{_SEVERITY}(?:\s+{_NOUN})?(?:\s*/\s*|\s*,\s*|-?\s+{_OR}\s+|[\s\-]+))*)$"
)
_BLOCKS_NOTHING = re.compile(rf"(?i:\b{_NOTHING}(?: that)? $)")
_BUT = re.compile(
    r"(?i:\b(?:except|but|other than|apart from|besides|beyond|save for|unless|until|than|only"
    r"|longer|fix(?:ed)?|resolved|addressed|closed|mitigated|solved|handled|doubt"
    r"|salvo|sauf|hormis|excepto|menos|tranne|behalve)\b|\bau(?:ss?|ß)er\b|除)"
)
_ENDS = re.compile(r"[.;!?](?:\s|$)|\s[—–]\s|,?\s(?:but|however|yet|although|though)\s|\\n")
_NONE = re.compile(
    rf"(?i:(?:[\s\-(:—–,]*(?:{_NOUN}|{_SEVERITY}|\([\w /\-]{{1,20}}\)|[{_ALARMS}]|found"
    r"|identified))*[\"'\s]*"
    r"(?:[:=|>(\[→—–?-]|\bare\b|\bis\b|\bwere\b|\s)+[\"'\s(\[]*"
    r"(?P<value>none|nothing|zero|nil|n/?a|null|not applicable|keine?|aucune?|0|no|なし|無し"
    r"|—|–|-|∅|✅|✓|\])"
    rf"[\"'\])]*(?P<rest>.*))"
)
_REST = re.compile(
    rf"(?i:(?:\s*(?:{_NOUN}|found|identified|reported|remaining|open|here|detected|noted|at all"
    rf"|in this review))*\s*(?:$|[.;|)\]}}。](?:\s|$|[|)\]}}])"
    rf"|[,、·•]\s*(?:$|\d|\"|{_SEVERITY}\b|[{_ALARMS}🟠🟡🟢⚪🔵]|imp)|/\s*\d"
    rf"|\s+(?:and\s+|🟡|🟠)?(?:\d+\s+)?{_SEVERITY}\b|\|))"
)
_GONE = re.compile(
    r"(?i:\b(?:is|are|was|were|has been|have been)(?: now| all)? "
    r"(?:gone|fixed|resolved|closed|addressed)(?: now| too| as well| since)?"
    r"(?:,? and (?:(?:is|are|has|have|was|were) )?(?:now )?"
    r"(?:covered|tested|verified|confirmed|closed|checked|gone)\b[^:;]*)?\W*$)"
)
_NOT_GONE = re.compile(
    r"(?i:\b(?:not|never|part\w*|mostly|should|must|until|if|when|once|after|before|claim\w*|unless"
    r"|some|most|said|says|only|but|nothing|none|no|neither|nor|half|almost)\b|n't|:)"
)
_ENDS_IN_NOUN = re.compile(rf"(?i:{_NOUN}\W*$)")
_CHAIN = re.compile(rf"^(?i:(?:[\s\-]*(?:{_NOUN}|{_SEVERITY}|or|nor|and|/|,))+)")
_OF_LABEL = re.compile(
    rf"(?i:{_SEVERITY}|{_NOUN}|must[\s\-]?fix|\b(?:the|security|before|merge|and|or)\b|[\W\d_]+)"
)
_RULE = re.compile(r"^[\s|:\-=+]+$")
_NO_COUNTS = frozenset(("", "0", "-", "–", "—", "none"))


class Doubt(Record):
    """A line that contains a serious severity; `text` is what it says, on one line."""

    line: int
    text: str


def standing(text: str) -> list[Doubt]:
    """Return up to five lines with a serious severity that nothing takes back.

    Linear in the length of `text`; never raises.
    """
    found: list[Doubt] = []
    rows = [(number, line) for number, line in review_lines.numbered(text) if line.strip()]
    context = _Context()
    pairs = zip(rows, [*rows[1:], (0, "")], strict=True)
    for at, ((number, line), (later, following)) in enumerate(pairs):
        context.before = context.after
        context.after = _wrapped(line, following) if later == number + 1 else ("", "")
        counted = "|" in line and _counts_nothing([text for _, text in rows[at : at + 40]])
        for part in () if counted else _parts(line):
            if _is_serious(part, context, following) or context.is_tired():
                found.append(Doubt(line=number, text=names.one_line(line.strip()[:200])))
                break
        context.take(line)
        if len(found) >= MOST or context.is_tired():
            break
    return found


def _wrapped(line: str, following: str) -> tuple[str, str]:
    """A line and the next one if a sentence goes on from one to the other; else two empty texts.

    Both must be prose: a list, a table, a heading, or a severity at the beginning is not.
    """
    line, following = line.strip(), following.strip()
    if line.startswith(_NO_PROSE) or line.endswith(_ENDS_PROSE) or "|" in line + following:
        return "", ""
    if len(line.split()) < 5 or not following[:1].isalpha():
        return "", ""
    longest = max(len(line), len(following))
    return (line, following) if longest <= _LONGEST_PROSE else ("", "")


def _parts(line: str) -> list[str]:
    """Split a very long line into overlapping pieces, so that some piece has each word whole."""
    starts = range(0, len(line), _LONGEST - _OVERLAP)
    return [line[at : at + _LONGEST] for at in starts]


def _counts_nothing(table: list[str]) -> bool:
    """Whether a table head names severities and all cells below the serious ones are 0."""
    head, rule, *below = [*table, ""]
    if not _RULE.match(rule):
        return False
    heads, *rows = [
        [review_lines.plain(cell) for cell in row.strip().strip("|").split("|")]
        for row in (head, *below)
        if "|" in row
    ]
    columns = [n for n, head in enumerate(heads) if vocabulary.severity(head) in ("P0", "P1")]
    cells = {row[n] if n < len(row) else "" for row in rows for n in columns}
    return bool(cells) and cells <= _NO_COUNTS and len(rows) <= _MOST_ROWS


class _Context:
    """The context of a line from those before it: a legend's heading, a table's head."""

    def __init__(self) -> None:
        self.legend: list[str] = []  # the severities that a legend has named so far
        self.is_legend = False
        self.columns: list[str] = []
        self.judged = self.denied = 0
        self.before = self.after = ("", "")  # the line and its neighbor, if a sentence joins them

    def column(self, number: int) -> str:
        """Return the name of the column in the table's head, or '' if there is none."""
        return self.columns[number] if number < len(self.columns) else ""

    def is_tired(self) -> bool:
        """Whether so many words or denials were seen that nobody would read or believe the rest."""
        return self.judged > _JUDGED or self.denied > _DENIED

    def take(self, line: str) -> None:
        bare = line.strip()
        title = review_lines.plain(bare.lstrip("#")).rstrip(":").lower()
        if bare.startswith("#") or (bare.startswith("**") and bare.rstrip(": ").endswith("**")):
            self.is_legend = _is_legend(title)
        elif bare.endswith(":") and _is_legend(title):
            self.is_legend = True
        if "|" not in bare:
            self.columns = []
        elif not self.columns:
            self.columns = [cell.strip(" *`_").lower() for cell in bare.strip("|").split("|")]


def _is_legend(title: str) -> bool:
    words = title.split()
    named = {"legend", "rubric", "scale", "key", "definitions"} & set(words)
    return len(words) <= 5 and (bool(named) or title in ("severity levels", "severities"))


def _is_serious(line: str, context: _Context, following: str) -> bool:
    for read in _readings(line):
        if _is_of_the_contract(read) or _is_scale(read, context):
            continue
        read = _RANGE.sub(" ", read)
        for match in _WORDS.finditer(read):
            context.judged += 1
            if not _counts(match, read, context):
                continue
            if not _is_taken_back(match, read, following, context):
                return True
            context.denied += 1
    return False


def _readings(line: str) -> list[str]:
    """Return the ways a person may read a line: folded, with its markup removed or blanked."""
    text = line
    if not text.isascii():
        text = _folded(text)
    if "\\" in text:
        data = _ESCAPES.sub(_unescaped, text).encode("utf-16", "surrogatepass")
        text = _folded(data.decode("utf-16", "replace"))  # JSON writes an emoji as two escapes
    if "&" in text:
        text = _folded(html.unescape(html.unescape(text)))
    text = _PATHS.sub(r"x.\1", text)
    found = []
    if ("=" in text and "<" in text) or "//" in text:  # attributes, addresses
        inside = _TAGS.sub(lambda tag: f" | {tag.group().strip('<>')} | ", text)
        found.append(_DASHED.sub(r"\1: ", inside))
    text = _BREAKS.sub(" | ", text)
    for blank in ("", " "):
        read = _TAGS.sub(blank, text) if "<" in text else text
        for mark in "*`~_\\":
            read = read.replace(mark, blank)
        found.append(read.replace("<!--", " ").replace("-->", " "))
    if _SPELLED.search(text):
        joined = _SPELLED.sub(lambda one: re.sub(r"[ ._\-]", "", one.group()), text)
        found.append(joined)
    if "\u202e" in line:
        found.append(text[::-1])
    return list(dict.fromkeys(" ".join(read.split()) for read in found))


def _unescaped(match: re.Match[str]) -> str:
    try:
        return chr(int(next(filter(None, match.groups())), 16))
    except ValueError:  # beyond the last character
        return " "


def _folded(text: str) -> str:
    """Return `text` in plain letters and digits: no accents, zero-width marks or look-alikes."""
    if text.isascii():
        return text
    found = []
    for char in unicodedata.normalize("NFKD", text.translate(_LETTERS).translate(_LOOK_ALIKES)):
        kind = unicodedata.category(char)
        if kind in ("Mn", "Me", "Cf") or char in "\u115f\u1160\u3164\uffa0\u180e":
            continue
        digit = unicodedata.digit(char, None)
        if digit is not None:
            char = str(digit)
        elif kind in ("Zs", "Zl", "Zp"):
            char = " "
        elif kind == "Pd" and char not in "–—":
            char = "-"
        elif char in "：﹕ː":
            char = ":"
        elif char in "｜¦│┃❘ǀ∣":
            char = "|"
        found.append(char)
    return "".join(found).translate(_LOOK_ALIKES)


def _counts(match: re.Match[str], read: str, context: _Context) -> bool:
    """Whether a matched word is a severity and not just a word of prose."""
    if match.lastgroup in ("number", "always", "alarm"):
        return True
    word = match.group().lower()
    if match.group().isupper() and word not in _OFTEN:
        return True
    near, after = read[: match.start()][-80:], read[match.end() :]
    noun = _THEN_NOUN.match(after)
    if noun and not (word == "fatal" and "error" in noun.group()) and "level" not in noun.group():
        return True
    ends = not after.strip(" .!)\"']}") or after.lstrip().startswith(".")
    if _IS.search(near) and (ends or word.startswith("blocker")):
        return True
    rated = _KEYED.search(near) or _RATED.search(near)
    return bool(rated) or _stands_alone(word, read[: match.start()], after, context)


def _stands_alone(word: str, before: str, after: str, context: _Context) -> bool:
    """Whether a word is a label: in brackets, in a cell, or at the beginning or end of its line."""
    opened, closed = before.rstrip()[-1:], after.lstrip()[:1]
    of_another = _is_other(before + after)
    if opened and opened in ("([{<" if word in _OFTEN else "([{<\"'") and closed in _CLOSING:
        return not of_another
    if "|" in before + after and opened in ("", "|") and closed in ("", "|"):
        column = before.count("|") - before.startswith("|")
        return not of_another and not _is_other(context.column(column))
    if not any(map(str.isalpha, before)) and not before.rstrip().endswith(("%", "$")):
        if not closed or closed in _LEADING or after.startswith(" -"):
            return True
    if word not in _OFTEN and opened in (".", ";", "!", "?", ":") and closed in (":", "—", "–"):
        return True
    trails = not after.strip(" .!)\"']}#") and opened in ("—", "–", "|", "-", ">", "=")
    trails = trails or (not after.strip(" .!#") and word not in _OFTEN and opened in (":", ","))
    return trails and not of_another


def _is_other(read: str) -> bool:
    """Whether a rating applies to something other than a finding: confidence, effort, value."""
    low = read.lower()
    return any(
        word in low
        for word in ("confidence", "likelihood", "effort", "value", "quality", "complex")
    )


def _is_of_the_contract(read: str) -> bool:
    """Whether the line is part of the output contract that agents are given."""
    low = " ".join(read.lower().split())
    return (
        low.startswith("one row a finding. severity: p0 to p3 or imp.")
        or "p0|p1|p2|p3" in low.replace(" ", "")
        or "p0/p1/p2/p3" in low.replace(" ", "")
        or low in ("verdict: safe|needs-changes|risky", "any p0: risky", "any p1: needs-changes")
        or bool(_RULE_OF_VERDICT.match(low))
    )


_RULE_OF_VERDICT = re.compile(
    r"[>\s\-*]*(?:any|a single|one) p[01] (?:finding |issue )?(?:means|makes|requires) (?:that )?"
    r"(?:the |a )?(?:overall )?verdict (?:(?:is|of|must be) )?[`\"']?(?:risky|needs-changes)\W*$"
)
_DEFINES = re.compile(
    r"[\s\-*+|>\d.]*(?i:p[0-3]|critical|high|blocker|major)\b\s*(?:\([\w ,/\-]+\))?\s*[:=|—–\-]"
)
_LEVEL = r"(?:critical|x?high|medium|low)"
_RANGE = re.compile(  # all levels in a row, parts of a version, variables
    rf"(?i:\b(?:{_LEVEL}/){{2,}}{_LEVEL}\b|\[(?:{_LEVEL} \| ){{2,}}{_LEVEL}\]"
    rf"|\bmajor, minor(?:, patch)?\b|\bmajor[ -]version\b)|\bp1(?:, p\d){{2,}}\b"
)
_SCALED = re.compile(r"(?i:\bp[0-3]\b|\bimp\b|\bcritical\b|\bhigh\b|\bmedium\b|\blow\b)")


def _is_scale(read: str, context: _Context) -> bool:
    """Whether the line only explains severities: a legend line, or all of them in one line."""
    low = read.lower()
    there = {word.lower() for word in _SCALED.findall(read)}
    whole = {"p0", "p1", "p2", "p3"} <= there or {"critical", "high", "medium", "low"} <= there
    explains = any(word in low for word in ("severity", "severities", "scale", "legend", "priorit"))
    if whole and explains and not re.search(r"\.\w{1,4}:\d|\b[1-9]\d* (?:p[01]|crit|high)", low):
        return len(_WORDS.findall(read)) <= 6
    if not context.is_legend:
        return False
    said = [word.upper() for word in re.findall(r"(?i:\bp[0-3]\b)", read)]
    words = _WORDS.findall(read)
    place = re.search(r"[\w/]+\.\w{1,4}:\d|`", read)
    if not words or place or len(set(said)) > 2:
        return False
    if not _DEFINES.match(read) or any(one in context.legend for one in said[:1]):
        return False
    context.legend += said[:1]
    return True


def _is_taken_back(match: re.Match[str], read: str, following: str, context: _Context) -> bool:
    """Whether the clause itself says that there is none."""
    before = f"{_plain(context.before[0])} {read[: match.start()]}"[-160:].lstrip()
    starts = [end.end() for end in _ENDS.finditer(before)]
    before = before[starts[-1] :] if starts else before
    after = f"{read[match.end() :]} {_plain(context.after[1])}"[:160].rstrip()
    ends = _ENDS.search(after)
    clause = after[: ends.start()] if ends else after
    if _NO.search(before) and not _BUT.search(clause):
        tail = _CHAIN.sub("", clause)
        return tail.lstrip()[:1] not in tuple(":|=>")
    if match.group().lower().startswith("blocks") and _BLOCKS_NOTHING.search(before):
        return not _BUT.search(clause)
    none = _NONE.match(after)
    if none and _is_nothing(none):
        return True
    if _GONE.search(clause) and not _NOT_GONE.search(before + clause):
        return True
    is_group = read.startswith("#") and _ENDS_IN_NOUN.search(read)
    if not is_group and _OF_LABEL.sub("", before + after):
        return False
    said = review_lines.unbulleted(following.strip(" \t#"))[0]
    return vocabulary.says_nothing(review_lines.plain(said.strip("> ✅✓")).strip(" .!()_"))


def _plain(line: str) -> str:
    return _folded(line).translate(_MARKS) if line else ""


def _is_nothing(none: re.Match[str]) -> bool:
    """Whether what follows `P0:` is an end and not the beginning of a sentence."""
    rest = none.group("rest")
    if none.group("value") in ("-", "–", "—") and rest.strip()[:1] not in ("", "|"):
        return False
    if _REST.match(rest):
        return True
    said = re.split(r"[.;|,]", none.group("value") + rest)[0]
    return vocabulary.says_nothing(said)

"""An agent's report as a finding, and findings in few words.

Reports come in any form. A table maps headings to sections; any other section stays unchanged under
its own heading. No line is dropped except rules (`---`) and comments between sections.
"""

from __future__ import annotations

import unicodedata

from contextkit.base import filters, markdown, names, tokens
from contextkit.base.type_names import Any, Iterator
from contextkit.memory.documents import findings
from contextkit.memory.documents.findings import LISTS, REPORT, Extra
from contextkit.text import blocks, facts, sections
from contextkit.text.digests import reading, weighing
from contextkit.text.sections import FileNote, Section
from contextkit.text.words import TEXTS

# Names that agents give the sections: lowercase, no numbers, parentheses, accents or punctuation.
_FIELD_OF = {
    name: field for field in ("summary", *LISTS) for name in TEXTS.phrases[f"section {field}"]
}
_LABELS = {  # bold labels before a paragraph or list inside a section, in addition to these names
    name: field for field in LISTS for name in TEXTS.phrases[f"label {field}"]
}
_DEEPEST = 4  # deepest heading level at which a known name begins a section
_WORDS = 4  # words of an author's verdict that says no more than `safe`
_MOST = 24  # most items of each kind to gather from inside other sections
_PLACES = ("path", "location")
_ALIKE = {word: name for many, name in findings.STATUSES_ALIKE.items() for word in many.split()}


def read(text: str) -> dict[str, Any]:
    """The fields that a report fills, as arguments for `findings.make`."""
    text = sections.normal(text)
    if text.lower().startswith("# findings:"):
        return {name: value for name, value in vars(findings.parse(text)).items() if value}
    head, parts = _split(text)
    fields: dict[str, Any] = {"summary": [], "more": [], **{field: [] for field in LISTS}}
    renamed = []
    by_field = [_field_of(section) for section in parts]
    has_list = "discoveries" in by_field
    for section, field in zip(parts, by_field, strict=True):
        name = names.one_line(section.name)
        body = _without_rules(section.lines)
        if not field:
            fields["more"].append(_extra(name, sections.plain(body)))
        elif field == "summary":
            _summarize(body, fields, there=has_list)
        else:
            texts = _items(body)
            fields[field] += map(sections.file_note, texts) if field == "files" else texts
        renders_as = f"## {LISTS.get(field, 'Summary')}" if field else f"## {name}"
        if section.heading.strip() != renders_as or not any(map(str.strip, body)):
            renamed.append(f"- {section.heading.strip()}")
    above = sections.plain(_without_rules(head))
    _gather(head, parts, fields)
    kept = [above, f"{findings.RENAMED}\n\n" + "\n".join(renamed) if renamed else ""]
    fields["summary"] = "\n\n".join(filter(None, fields["summary"])) or _gist(text)
    if any(kept) and "".join(kept).strip() != fields["summary"].strip():
        fields["more"].insert(0, _extra(REPORT, "\n\n".join(filter(None, kept))))
    fields["more"] = [extra for extra in fields["more"] if extra.text or extra.heading != "Notes"]
    fields["status"] = _status(head)
    return {name: value for name, value in fields.items() if value}


def _items(lines: list[str]) -> list[str]:
    """The items of a list; a table row becomes `header: cell; header: cell`."""
    texts: list[str] = []
    start = 0
    for block in blocks.blocks("\n".join(lines)):
        if block.kind == "table":
            texts += sections.texts(lines[start : block.first - 1])
            texts += _rows(
                [markdown.cells(line.strip()) for line in lines[block.first - 1 : block.last]]
            )
            start = block.last
    return [*texts, *sections.texts(lines[start:])]


def _rows(table: list[list[str]]) -> Iterator[str]:
    """Each row of a table with the heads of its cells; the first row only if it is alone."""
    header, *rows = table
    rows = [cells for cells in rows if any(cell.strip(":- ") for cell in cells)]
    for cells in rows:
        heads = [*header, *[""] * len(cells)]
        pairs = zip(heads, cells, strict=False)
        yield "; ".join(f"{head}: {cell}" if head else cell for head, cell in pairs if cell)
    if not rows:
        yield " | ".join(header)


def _gather(head: list[str], odd: list[Section], fields: dict[str, Any]) -> None:
    """Fill fields from inside unrecognized sections, whose text also stays where it is.

    Text after a bold label that names a field goes there; otherwise the topic of each section is a
    discovery.
    """
    gathered: dict[str, list[str]] = {field: [] for field in LISTS}
    others = [section for section in odd if _field_of(section) in ("", "discoveries", "summary")]
    for section in (Section("", head), *others):
        for field, text in _labeled(section.lines):
            gathered[field].append(text)
    for field, texts in gathered.items():
        if fields[field] and field in ("discoveries", "files"):
            continue
        if field == "files":
            places = [[value for kind, value, _ in facts.find(text[:400]) if kind in _PLACES]
                      for text in texts]  # fmt: skip
            named = dict.fromkeys(FileNote(path=paths[0]) for paths in places if paths)
            fields[field] += list(named)[:_MOST]
        else:
            present = {names.one_line(str(entry)) for entry in fields[field]}
            fresh = [text for text in dict.fromkeys(texts) if names.one_line(text) not in present]
            fields[field] += fresh[:_MOST]
    if not fields["discoveries"]:
        listed = [block.text(head) for block in sections.items(head, grouped=False) if block.mark]
        fields["discoveries"] += (_topics(odd) or listed)[:_MOST]


def _labeled(lines: list[str]) -> Iterator[tuple[str, str]]:
    """(field, text) for each `**Fix:** …`, and for each list item below such a label."""
    for block in reading.blocks("\n".join(lines)):
        label, rest = _label(block.text)
        name = label if rest else _plain_name(block.lead) if block.kind == "item" else ""
        field = _LABELS.get(name, _FIELD_OF.get(name, ""))
        if field not in ("", "summary") and block.kind != "code":
            yield field, rest or block.text


def _label(bare: str) -> tuple[str, str]:
    """Split `**Fix (now):** Lock it` into (`fix`, `Lock it`); ('', '') without a bold label."""
    bare = bare[len(markdown.mark_of(bare)) :]
    if not bare.startswith("**"):
        return "", ""
    label, end, rest = bare[2:].partition("**")
    colon = label.rstrip().endswith(":") or rest.lstrip().startswith((":", "-", "—", "–"))
    return (_plain_name(label), rest.strip().lstrip(":-—– ").strip()) if end and colon else ("", "")


def _topics(odd: list[Section]) -> list[str]:
    """The title and first sentence of each section, and of each heading in it."""
    topics: dict[tuple[int, tuple[str, ...]], str] = {}
    for number, section in enumerate(odd):
        text = "\n".join([section.heading, *section.lines])
        for block in reading.blocks(text) if not _field_of(section) else ():
            if block.titles and block.kind != "code" and block.statements():
                topics.setdefault((number, block.titles), block.statements()[0])
    return [f"{titles[-1]}: {sentence}" for (_, titles), sentence in topics.items()]


def _gist(text: str) -> str:
    """A stand-in for a missing summary: the author's words elsewhere, else the most decisive."""
    from contextkit.text import authored
    from contextkit.text.digests import engine

    own = authored.read(text)
    lead = own.lead() if own.core else ""
    if lead.count(" ") <= _WORDS:
        parsed = engine.ParsedText(text)
        prose = [block.text for block in reading.blocks(text) if block.kind == "text"]
        is_short = prose and parsed.kind == "plain"
        lead = "\n\n".join(prose[:2]) if is_short else parsed.lead()
    return lead.lstrip("#-* ") or names.one_line(text)[:300]


def _status(head: list[str]) -> str:
    """The status given above the first section (completed, partial, failed), or ''."""
    for line in head:
        name, colon, value = line.strip().strip("*- ").replace("**", "").partition(":")
        if colon and name.strip().casefold() == "status":
            word = value.strip(" *`.").casefold()
            return word if word in findings.STATUSES else _ALIKE.get(word, "")
    return ""


def _split(text: str) -> tuple[list[str], list[Section]]:
    """The lines above the first section of a report, and its sections.

    A section begins at a heading of level 1 or 2 or of the highest level used, and at any heading
    with a known name; a lone title begins none.
    """
    lines = text.split("\n")
    heads = [(at, level) for at, level, _ in markdown.headings(lines)]
    levels = [level for _, level in heads]
    there, first = sorted(set(levels)), next(iter(levels), 0)
    if len(there) > 1 and first == there[0] and levels.count(first) == 1:
        there = there[1:]
    begins: list[int] = []
    within = 0  # level of the deeper heading whose known name began this section
    for at, level in heads:
        named = level <= _DEEPEST and _plain_name(lines[at]) in _FIELD_OF
        is_high = level <= max(there[0], 2, within) and not first == level < there[0]
        if is_high or (named and level > there[0]):
            begins.append(at)
            within = level if named and level > max(there[0], 2) else 0
    spans = zip(begins, [*begins[1:], len(lines)], strict=False)
    parts = [Section(lines[at].strip(), lines[at + 1 : end]) for at, end in spans]
    if not parts or (len(parts) == 1 and not _field_of(parts[0])):
        return lines, []  # just a title with text below it
    return lines[: begins[0]], parts


def _plain_name(heading: str) -> str:
    """Reduce `3. Recommendations (Prioritized)` to `recommendations`; `&` and `/` split words."""
    bare = heading.partition("(")[0].lower().replace("'", "").replace("&", " and ")
    if not bare.isascii():
        bare = unicodedata.normalize("NFKD", bare.replace("ß", "ss"))
        bare = "".join(char for char in bare if not unicodedata.combining(char))
    words = "".join(char if char.isalnum() else " " for char in bare).split()
    counts = [word.isdigit() or (len(word) == 1 and word.isascii()) for word in words]
    return " ".join(words[[*counts, False].index(False) :])  # without `3` or `b` before it


def _field_of(section: Section) -> str:
    """The field that a section is about, or ''."""
    return _FIELD_OF.get(_plain_name(section.name), "")


def _summarize(body: list[str], fields: dict[str, Any], there: bool) -> None:
    """Add a summary; a list in it becomes discoveries if the report has no section for those."""
    blocks = [] if there else sections.items(body, grouped=False)
    prose = [sections.plain(body[b.first : b.end]) for b in blocks if not b.mark]
    if prose:
        fields["discoveries"] += (b.text(body) for b in blocks if b.mark)
    fields["summary"].append("\n\n".join(prose) or sections.plain(body))


def _without_rules(lines: list[str]) -> list[str]:
    """The lines of a section without trailing blank lines, rules, and comments of one line."""
    end = len(lines)
    while end:
        bare = lines[end - 1].strip()
        is_comment = bare.startswith("<!--") and bare.endswith("-->")
        if not is_comment and bare not in ("", "---", "***", "___"):
            break
        end -= 1
    return lines[:end]


def _extra(heading: str, text: str) -> Extra:
    """A section under a heading that is not part of the format."""
    if heading.lower() in findings.HEADINGS:
        heading = f"{heading} of the report"
    return Extra(heading=heading or "Notes", text=text)


_LONG = 90  # tokens above which a unit is split into sentences
_UNITS = 3000  # units to weigh, at most
_DECIDED, _OPEN = 4.0, 2.5  # worth of a decision, and of a recommendation or question
_REJECTED = ("reject", "discard", "ruled out", "verworfen", "descart", "rejet", "scartat", "放弃")
# (No bench: tests/memory/test_recovery.py says what these weights must bring to the front.)
_FACTS = {"prohibition": 2.0, "error": 1.6, "location": 1.6, "path": 1.0, "number": 1.0,
          "commit": 0.7, "url": 0.4}  # fmt: skip


class _Unit:
    __slots__ = ("facts", "owner", "size", "text", "worth")

    def __init__(self, owner: int, text: str, worth: float) -> None:
        self.owner = owner  # the index of its finding
        self.text = "  - " + filters.item(text, 4)
        self.size = tokens.estimate(self.text) + 3
        self.worth = worth * weighing.of_sentence(text)
        self.facts = {(kind, value) for kind, value, _ in facts.find(text)}

    def gain(self, told: set[tuple[str, str]], taken: int = 0) -> float:
        """Its value per token, if `taken` units of its finding are better."""
        new = sum(_FACTS.get(kind, 1.0) for kind, _ in self.facts - told)
        return (self.worth + new) / self.size / (1 + taken)


def units(listed: list[findings.Finding], already: str) -> list[tuple[int, int, str]]:
    """Each statement of the findings, in their order: its rank, its finding's index, its line.

    The least valuable has rank 0. A unit is worth less if `already` or a better one has the same
    facts, or if a better one is of the same finding.
    """
    texts: dict[str, _Unit] = {}  # by text; of several findings with it, the first counts
    for at, finding in enumerate(listed):
        for text, worth in _texts(finding):
            if text not in texts and len(texts) < _UNITS:
                texts[text] = _Unit(at, text, worth)
    told = {(kind, value) for kind, value, _ in facts.find(already)}
    weighed = list(texts.values())
    taken = [0] * len(listed)
    gains: list[tuple[float, int]] = []
    for number in sorted(range(len(weighed)), key=lambda number: -weighed[number].gain(told)):
        unit = weighed[number]
        gains.append((unit.gain(told, taken[unit.owner]), -number))
        told |= unit.facts
        taken[unit.owner] += 1
    ranks = {-number: rank for rank, (_, number) in enumerate(sorted(gains))}
    return [(ranks[number], unit.owner, unit.text) for number, unit in enumerate(weighed)]


def _texts(finding: findings.Finding) -> Iterator[tuple[str, float]]:
    """Each unit of a finding with its worth, without that of its facts.

    Decisions and rejections are worth most: the next agent would raise the same questions again.
    """
    for extra in finding.more:
        for titles, part in _blocks(extra.text):
            heads = (extra.heading, *titles)
            if not any(map(weighing.only_refers, heads)):
                title = "\n".join(heads).lower()
                decides = weighing.recommends(title) or any(map(title.__contains__, _REJECTED))
                yield f"{heads[-1]}: {part}", _DECIDED if decides else 0.04
    for text in finding.recommendations:
        named = dict.fromkeys(block.titles[-1] for block in reading.blocks(text) if block.titles)
        yield from ((f"Recommended: {name}", _OPEN) for name in named if " " in name)
        for part in _parts(text):
            yield part if part.startswith("Recommend") else f"Recommended: {part}", _OPEN
    for text in finding.questions:
        yield from ((f"Open question: {part}", _OPEN) for part in _parts(text))
    for text in finding.discoveries:
        yield from ((part, 0.2) for part in _parts(text))
    for file in finding.files:
        yield f"{filters.code(file.path)} - {file.note}".removesuffix(" - "), 0.1


def _parts(text: str) -> Iterator[str]:
    """A short text as it is; a long one, or one with headings or a table, block by block."""
    plain = not any(line.startswith(("#", "|")) for line in text.split("\n"))
    if plain and tokens.estimate(text) <= _LONG:
        yield from filter(_says_something, (names.one_line(text),))
    else:
        yield from (part for _, part in _blocks(text))


def _blocks(text: str) -> Iterator[tuple[tuple[str, ...], str]]:
    """Groups of sentences from each block of a text except code, with the headings above."""
    for block in reading.blocks(text):
        refers = weighing.only_refers(block.lead) or block.lead == findings.RENAMED
        if block.kind != "code" and not refers and _says_something(block.text):
            lead = block.lead + " " if block.lead.endswith((":", "：")) else ""
            yield from ((block.titles, part) for part in _sentences(lead + block.text))


def _says_something(text: str) -> bool:
    """Whether a text is more than a rule, a label, a property such as `Date: …`, or a reference."""
    bare = text.rstrip("*_` ")
    if bare.endswith((":", "：", "-->")) or not any(map(str.isalnum, bare)):
        return False
    links = "](" in text or "://" in text
    return not weighing.is_label(text) and not (links and weighing.only_refers(bare.split(":")[0]))


def _sentences(text: str) -> Iterator[str]:
    """The text in groups of sentences, each of at most `_LONG` tokens if that is possible."""
    if tokens.estimate(text) <= _LONG:
        yield text
        return
    held = ""
    for sentence in reading.sentences(text):
        if held and tokens.estimate(held) + tokens.estimate(sentence) > _LONG:
            yield held
            held = ""
        held = f"{held} {sentence}".strip()
    yield tokens.clip(held, 3 * _LONG)

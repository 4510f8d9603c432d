"""Turn an agent's report into a finding: known headings become sections, the rest is kept.

Reports come in any form: `## Executive Summary`, `### 3. Key findings`, a list, or prose. A table
maps headings to sections; a section that is not in the table stays unchanged under its own heading.
No line is dropped except rules (`---`) between sections.
"""

from __future__ import annotations

import unicodedata

from contextkit.base import markdown, names
from contextkit.base.type_names import Any, Iterator
from contextkit.memory.documents import findings
from contextkit.memory.documents.findings import LISTS, Extra
from contextkit.text import blocks, facts, sections
from contextkit.text.sections import FileNote, Section

# Names that agents give the sections: lowercase, no numbers, parentheses, accents or punctuation.
NAMES = {
    "summary": "summary|executive summary|tldr|tl dr|overview|abstract|in short|short answer"
    "|bottom line|conclusion|conclusions|verdict summary|answer"
    "|zusammenfassung|kurzfassung|uberblick|fazit|resume|synthese|en bref|resumen|resumen ejecutivo"
    "|resumo|resumo executivo|visao geral|conclusao|conclusion general|riepilogo|sintesi|sommario"
    "|摘要|总结|概要|要約|まとめ",
    "discoveries": "key discoveries|discoveries|findings|key findings|main findings"
    "|research findings|results|observations|what i found|issues|issues found|findings index"
    "|key takeaways|takeaways|key insights|insights|detailed findings|summary of findings"
    "|research questions and findings|questions and findings|key numbers|key observations|problems"
    "|problems found|risks|key findings summary|critical findings|top findings"
    "|erkenntnisse|ergebnisse|befunde|beobachtungen|resultats|constats|constatations|decouvertes"
    "|hallazgos|hallazgos principales|resultados|descubrimientos|achados|principais achados"
    "|descobertas|constatacoes|risultati|scoperte|发现|主要发现|结果|発見|結果",
    "files": "files modified created|files|files modified|files created|files changed|changed files"
    "|modified files|files touched|affected files|relevant files|key files|files reviewed"
    "|files read|files examined|dateien|geanderte dateien|betroffene dateien|fichiers"
    "|fichiers modifies|archivos|archivos modificados|arquivos|arquivos modificados"
    "|arquivos afetados|file modificati|文件|修改的文件|変更ファイル",
    "questions": "open questions|questions|unresolved questions|unknowns|open issues|gaps"
    "|gaps and unknowns|unresolved|remaining questions|uncertainties|follow up questions"
    "|confidence and gaps|open points|offene fragen|fragen|offene punkte|questions ouvertes"
    "|questions en suspens|preguntas abiertas|preguntas|cuestiones abiertas|questoes em aberto"
    "|perguntas em aberto|perguntas|questoes abertas|domande aperte|未解决的问题|未解決の問題",
    "recommendations": "recommendations|recommendation|prioritized recommendations|next steps"
    "|recommended next steps|suggestions|action items|suggested next steps|recommended actions"
    "|improvements suggested|improvements|suggested improvements|recommended fixes|proposed fixes"
    "|priority actions|implementation recommendations|actions|what to do next|recommended approach"
    "|empfehlungen|empfehlung|nachste schritte|massnahmen|recommandations|prochaines etapes"
    "|recomendaciones|proximos pasos|siguientes pasos|recomendacoes|proximos passos"
    "|raccomandazioni|prossimi passi|建议|下一步|推奨事項|次のステップ",
}
_FIELD_OF = {name: field for field, listed in NAMES.items() for name in listed.split("|")}
# Bold labels before a paragraph or list inside a section, in addition to the names above.
_LABELS = {
    "fix": "recommendations", "recommended fix": "recommendations",
    "concrete fix": "recommendations",
    "suggested fix": "recommendations", "correct approach": "recommendations",
    "recommended focus": "recommendations", "implication": "recommendations",
    "recommended": "recommendations", "empfohlen": "recommendations", "correcao": "recommendations",
    "key finding": "discoveries", "top finding": "discoveries", "most severe": "discoveries",
    "key insight": "discoveries", "key pattern": "discoveries", "open question": "questions",
    "gap": "questions", "location": "files", "file": "files", "datei": "files", "arquivo": "files",
}  # fmt: skip
_NOT_AS_LABELS = ("summary",)
_DEEPEST = 4  # deepest heading level at which a known name begins a section
_BEGINNING = 200  # lines of a long text that are read first
_MOST = 24  # most items of each kind to gather from inside other sections
_STATUS_WORDS = {"complete": "completed", "done": "completed", "success": "completed",
                 "incomplete": "partial", "error": "failed", "fail": "failed", "failure": "failed",
                 **{word: word for word in findings.STATUSES}}  # fmt: skip


def read(text: str) -> dict[str, Any]:
    """Return the fields that a report fills, as arguments for `findings.make`.

    A report already in the finding format also gives its header fields, as far as they are known.
    """
    text = sections.normal(text)
    if text.lower().startswith("# findings:"):
        return {name: value for name, value in vars(findings.parse(text)).items() if value}
    head, found = _split(text)
    fields: dict[str, Any] = {"summary": [], "more": [], **{field: [] for field in LISTS}}
    renamed = []
    for section in found:
        name = names.one_line(section.name)
        field = _field_of(section)
        body = _without_rules(section.lines)
        if not field:
            fields["more"].append(_extra(name, sections.plain(body)))
        elif field == "summary":
            _summarize(body, fields, there="discoveries" in map(_field_of, found))
        else:
            texts = _items(body)
            fields[field] += map(sections.file_note, texts) if field == "files" else texts
        renders_as = f"## {LISTS.get(field, 'Summary')}" if field else f"## {name}"
        if section.heading.strip() != renders_as or not any(map(str.strip, body)):
            renamed.append(f"- {section.heading.strip()}")
    above = sections.plain(_without_rules(head))
    _gather(head, found, fields)
    kept = [above, f"{findings.RENAMED}\n\n" + "\n".join(renamed) if renamed else ""]
    fields["summary"] = "\n\n".join(filter(None, fields["summary"])) or _gist(head, found, text)
    if any(kept) and "".join(kept).strip() != fields["summary"].strip():
        fields["more"].insert(0, _extra("Report", "\n\n".join(filter(None, kept))))
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
    """Each row of a table with what heads each cell; the first row alone if there is no other."""
    header, *rows = table
    rows = [cells for cells in rows if any(cell.strip(":- ") for cell in cells)]
    for cells in rows:
        heads = [*header, *[""] * len(cells)]
        pairs = zip(heads, cells, strict=False)
        yield "; ".join(f"{head}: {cell}" if head else cell for head, cell in pairs if cell)
    if not rows:
        yield " | ".join(header)


def _gather(head: list[str], found: list[Section], fields: dict[str, Any]) -> None:
    """Fill fields from inside unrecognized sections; the text also stays where it is.

    Uses paragraphs and lists after a bold label that names a field and, if no discovery has been
    found otherwise, the topic of each section.
    """
    gathered: dict[str, list[str]] = {field: [] for field in LISTS}
    others = [one for one in found if _field_of(one) in ("", "discoveries", "summary")]
    for section in (Section("", head), *others):
        for field, text in _labeled(section.lines):
            gathered[field].append(text)
    for field, texts in gathered.items():
        if fields[field] and field in ("discoveries", "files"):
            continue
        if field == "files":
            named = [_place(text) for text in texts]
            fields[field] += list(dict.fromkeys(FileNote(path=path) for path in named if path))[
                :_MOST
            ]
        else:
            known = {names.one_line(str(one)) for one in fields[field]}
            fresh = [text for text in dict.fromkeys(texts) if names.one_line(text) not in known]
            fields[field] += fresh[:_MOST]
    if not fields["discoveries"]:
        listed = [block.text(head) for block in sections.items(head, grouped=False) if block.mark]
        fields["discoveries"] += (_topics(found) or listed)[:_MOST]


def _labeled(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield (field, text) for each `**Fix:** …`, and for each list item below such a label."""
    field, list_of = "", ""
    held: list[str] = []
    for line, inside in [*sections.lines_of(lines), ("", False)]:
        bare = line.strip()
        label, rest = ("", "") if inside else _label(bare)
        mark = "" if inside else markdown.mark_of(bare)
        if field and (not bare or label or mark or bare.startswith("#")):
            yield field, " ".join(held)
            field, held = "", []
        if label:
            meant = _LABELS.get(label, _FIELD_OF.get(label, ""))
            meant = "" if meant in _NOT_AS_LABELS else meant
            field, list_of = (meant, "") if rest else ("", meant)
            held = [rest] if field else []
        elif mark and list_of and not line.startswith(("    ", "\t")):
            field, held = list_of, [bare[len(mark) :]]
        elif field and bare:
            held.append(bare)
        elif bare and not mark:
            list_of = ""


def _label(bare: str) -> tuple[str, str]:
    """Split `**Fix (now):** Lock it` into (`fix`, `Lock it`); ('', '') without a bold label."""
    bare = bare[len(markdown.mark_of(bare)) :]
    if not bare.startswith("**"):
        return "", ""
    label, end, rest = bare[2:].partition("**")
    colon = label.rstrip().endswith(":") or rest.lstrip().startswith((":", "-", "—", "–"))
    return (_plain_name(label), rest.strip().lstrip(":-—– ").strip()) if end and colon else ("", "")


def _place(text: str) -> str:
    """The first path in a text, with its line number if given, or ''."""
    for kind, value, _ in facts.find(text[:400]):
        if kind in ("path", "location"):
            return value
    return ""


def _topics(found: list[Section]) -> list[str]:
    """The title and first sentence of each section, and of each heading in it."""
    topics = []
    for section in found:
        if _field_of(section):
            continue
        starts = [(at, title) for at, _, title in markdown.headings(section.lines)]
        ends = [*(at for at, _ in starts), len(section.lines)]
        for (at, title), end in zip([(-1, section.name), *starts], ends, strict=True):
            said = _first_sentence(section.lines[at + 1 : end])
            if said:
                topics.append(f"{names.one_line(title)}: {said}")
    return topics


def _first_sentence(lines: list[str]) -> str:
    """The first sentence of prose in these lines, or ''."""
    for text in _prose(lines, "text", "item", "quote"):
        said = names.one_line(text)
        said = said.removeprefix(markdown.mark_of(said))
        ends = (at for at in (said.find(". "), said.find(": ", 60)) if at > 0)
        if any(map(str.isalpha, said)):
            return said[: min(min(ends, default=len(said)) + 1, 300)]
    return ""


def _prose(lines: list[str], *kinds: str) -> Iterator[str]:
    """The texts of the blocks of these kinds, without those inside an item.

    For who takes the first that fits: of long texts, those at the beginning come twice.
    """
    for most in (_BEGINNING, len(lines)) if len(lines) > _BEGINNING else (len(lines),):
        found = blocks.blocks("\n".join(lines[:most]))
        for block in found if most == len(lines) else found[:-1]:  # the last may be cut off
            is_inside = block.inside >= 0 and found[block.inside].kind == "item"
            if block.kind in kinds and not is_inside:
                yield "\n".join(lines[block.first - 1 : block.last])


def _gist(head: list[str], found: list[Section], text: str) -> str:
    """A stand-in for a missing summary: the author's words elsewhere, else the beginning."""
    from contextkit.text import authored

    own = authored.read(text)
    if own.sums_up:
        return own.lead()
    lines = [line for section in (Section("", head), *found) for line in
             (section.heading, *section.lines)]  # fmt: skip
    bare = [line for line, inside in sections.lines_of(lines) if not inside]
    verdict = next((line for line in bare if _label_of_verdict(line)), "")
    said = [names.one_line(verdict.strip("#-* ").replace("**", ""))] if verdict else []
    prose = (Section("", head), *found)
    first = next(filter(None, (_paragraph(section.lines) for section in prose)), "")
    title = next((line for line in bare if sections.heading_order(line)), "")
    said += [first or names.one_line(markdown.heading(title)[1])]
    return "\n\n".join(filter(None, said)) or names.one_line(" ".join(lines))[:300]


def _label_of_verdict(line: str) -> bool:
    name = line.strip().lstrip("#-* ").casefold()
    return (
        name.startswith("verdict") and ":" in name[:14] and bool(name.partition(":")[2].strip("* "))
    )


def _paragraph(lines: list[str]) -> str:
    """The first paragraph in these lines that has no label, or ''."""
    for text in _prose(lines, "text"):
        if not text.startswith("**") and len(text.split()) > 4:
            return sections.plain(text.split("\n"))
    return ""


def _status(head: list[str]) -> str:
    """The status given above the first section (completed, partial, failed), or ''."""
    for line in head:
        name, colon, value = line.strip().strip("*- ").replace("**", "").partition(":")
        if colon and name.strip().casefold() == "status":
            return _STATUS_WORDS.get(value.strip(" *`.").casefold(), "")
    return ""


def _split(text: str) -> tuple[list[str], list[Section]]:
    """Return the lines above the first section of a report, and its sections.

    A section begins at a heading of level 1 or 2 or of the highest level used, and at any heading
    with a known name; a lone title begins none.
    """
    lines = text.split("\n")
    fenced_off = markdown.in_fences(lines)
    orders = [
        0 if off else sections.heading_order(s) for s, off in zip(lines, fenced_off, strict=True)
    ]
    there = sorted({order for order in orders if order})
    first = next((order for order in orders if order), 0)
    if len(there) > 1 and first == there[0] and orders.count(first) == 1:
        there = there[1:]
    head: list[str] = []
    found: list[Section] = []
    within = 0  # level of the deeper heading whose known name began this section
    for line, order in zip(lines, orders, strict=True):
        named = 0 < order <= _DEEPEST and _plain_name(line) in _FIELD_OF
        begins = 0 < order <= max(there[0], 2, within) and not (order == first and first < there[0])
        if begins or (named and order > there[0]):
            found.append(Section(line, []))
            within = order if named and order > max(there[0], 2) else 0
        else:
            (found[-1].lines if found else head).append(line)
    if len(found) == 1 and not _field_of(found[0]):
        return lines, []  # just a title with text below it
    return head, found


def _plain_name(heading: str) -> str:
    """Reduce `3. Recommendations (Prioritized)` to `recommendations`; `&` and `/` split words."""
    bare = heading.partition("(")[0].lower().replace("'", "").replace("&", " and ")
    if not bare.isascii():
        bare = unicodedata.normalize("NFKD", bare.replace("ß", "ss"))
        bare = "".join(char for char in bare if not unicodedata.combining(char))
    words = "".join(char if char.isalnum() else " " for char in bare).split()
    while words and (words[0].isdigit() or (len(words[0]) == 1 and words[0].isascii())):
        words = words[1:]
    return " ".join(words)


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
    """The lines of a section without trailing blank lines and rules."""
    end = len(lines)
    while end and lines[end - 1].strip() in ("", "---", "***", "___"):
        end -= 1
    return lines[:end]


def _extra(heading: str, text: str) -> Extra:
    """A section under a heading that is not part of the format."""
    if heading.lower() in findings.HEADINGS:
        heading = f"{heading} of the report"
    return Extra(heading=heading or "Notes", text=text)

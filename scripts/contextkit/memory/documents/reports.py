"""An agent's report as a finding: its headings mapped to the sections, all the rest kept.

Reports are written in any form: `## Executive Summary`, `### 3. Key findings`, a list or prose.
What a heading stands for is looked up in a table; a section that is not in it stays as it is,
under its own heading. No line is dropped but rules (`---`) between sections.
"""

from __future__ import annotations

from contextkit.base import markdown, names
from contextkit.memory.documents import findings, sections
from contextkit.memory.documents.findings import LISTS, Extra
from contextkit.memory.documents.sections import Section

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# What agents call the sections, in lower case, without numbers, brackets and signs.
NAMES = {
    "summary": "summary|executive summary|tldr|tl dr|overview|abstract|in short|short answer",
    "discoveries": "key discoveries|discoveries|findings|key findings|main findings"
    "|research findings|results|observations|what i found|issues|issues found"
    "|key takeaways|takeaways|key insights",
    "files": "files modified created|files|files modified|files created|files changed|changed files"
    "|modified files|files touched|affected files|relevant files|key files|files reviewed",
    "questions": "open questions|questions|unresolved questions|unknowns|open issues|gaps"
    "|gaps and unknowns|unresolved|remaining questions|uncertainties|follow up questions",
    "recommendations": "recommendations|recommendation|prioritized recommendations|next steps"
    "|recommended next steps|suggestions|action items|suggested next steps|recommended actions",
}
_FIELD_OF = {name: field for field, listed in NAMES.items() for name in listed.split("|")}


def read(text: str) -> dict[str, Any]:
    """The fields of a finding that a report fills, as `findings.make` takes them.

    One in our own form gives those of its header too, where they are known.
    """
    text = sections.normal(text)
    if text.lower().startswith("# findings:"):
        return _of_our_own(text)
    head, found = _split(text)
    fields: dict[str, Any] = {"summary": [], "more": [], **{field: [] for field in LISTS}}
    renamed = []
    for section in found:
        name = names.one_line(section.heading.lstrip("#"))
        field = _FIELD_OF.get(_plain_name(name), "")
        body = _without_rules(section.lines)
        if not field:
            fields["more"].append(_extra(name, sections.plain(body)))
        elif field == "summary":
            _summarise(body, fields, there=any(_is_discoveries(one) for one in found))
        else:
            texts = sections.texts(body)
            fields[field] += map(sections.file_note, texts) if field == "files" else texts
        renders_as = f"## {LISTS.get(field, 'Summary')}" if field else f"## {name}"
        if section.heading.strip() != renders_as or not any(map(str.strip, body)):
            renamed.append(f"- {section.heading.strip()}")
    above = sections.plain(_without_rules(head))
    kept = [above, "Its headings that are not below:\n\n" + "\n".join(renamed) if renamed else ""]
    if any(kept):
        fields["more"].insert(0, _extra("Report", "\n\n".join(filter(None, kept))))
    fields["summary"] = "\n\n".join(filter(None, fields["summary"]))
    fields["more"] = [extra for extra in fields["more"] if extra.text or extra.heading != "Notes"]
    return {name: value for name, value in fields.items() if value}


def _of_our_own(text: str) -> dict[str, Any]:
    found = findings.parse(text)
    return {name: value for name, value in vars(found).items() if value}


def _split(text: str) -> tuple[list[str], list[Section]]:
    """The lines above the first section of a report, and its sections.

    A section begins with a heading of the first or second order, or of the highest there is;
    a title alone of its order begins none.
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
    for line, order in zip(lines, orders, strict=True):
        if order and order <= max(there[0], 2) and not (order == first and first < there[0]):
            found.append(Section(line, []))
        else:
            (found[-1].lines if found else head).append(line)
    if len(found) == 1 and _plain_name(found[0].heading.lstrip("#")) not in _FIELD_OF:
        return lines, []  # a title and text below it
    return head, found


def _plain_name(heading: str) -> str:
    """`3. Recommendations (Prioritized)` as `recommendations`; `&` and `/` part words."""
    bare = heading.partition("(")[0].lower().replace("'", "").replace("&", " and ")
    words = "".join(char if char.isalnum() else " " for char in bare).split()
    while words and (words[0].isdigit() or len(words[0]) == 1):
        words = words[1:]
    return " ".join(words)


def _is_discoveries(section: Section) -> bool:
    return _FIELD_OF.get(_plain_name(section.heading.lstrip("#"))) == "discoveries"


def _summarise(body: list[str], fields: dict[str, Any], there: bool) -> None:
    """A summary; a list in it is what was found, where the report does not say that elsewhere."""
    blocks = [] if there else sections.items(body, grouped=False)
    prose = [sections.plain(body[b.first : b.end]) for b in blocks if not b.mark]
    if prose:
        fields["discoveries"] += (b.text(body) for b in blocks if b.mark)
    fields["summary"].append("\n\n".join(prose) or sections.plain(body))


def _without_rules(lines: list[str]) -> list[str]:
    """The lines of a section without blank ones and rules at its end."""
    end = len(lines)
    while end and lines[end - 1].strip() in ("", "---", "***", "___"):
        end -= 1
    return lines[:end]


def _extra(heading: str, text: str) -> Extra:
    """A section of its own under a heading that the format does not have."""
    if heading.lower() in findings.HEADINGS:
        heading = f"{heading} of the report"
    return Extra(heading=heading or "Notes", text=text)

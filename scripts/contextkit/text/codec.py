"""The codec of Markdown documents: one declaration says where each field of a record is written.

    FORM = Form(
        kind=Finding,
        noun="a finding",
        title="Findings: {agent}",
        template="findings.md",
        places={"status": "**Status**", "summary": "## Summary", "files": "## Files"},
        readers={"status": codec.one_of(STATUSES)},
    )

A place looks as it does in the document: `**Name**` is a value above the first section, `## Name`
a section, `## Name: Label` an item `- Label: …` of one, and `facts_kept` a line of its own. How it
is read follows from the field's type: text, a list of texts, or files with notes. `readers` may
interpret what was read. Everything else in a document is the module's own business.
"""

from __future__ import annotations

from contextkit.base import templates
from contextkit.base.errors import ContextError
from contextkit.base.records import Declaration, Record
from contextkit.base.type_names import Any, Callable, Collection
from contextkit.text import sections
from contextkit.text.sections import Outline

TEXTS, NOTES = "tuple[str, ...]", "tuple[FileNote, ...]"


class Form(Declaration):
    """How one kind of record is written in Markdown; `noun` names it in errors.

    title: of level 1; `{field}` at its end is a field of the record
    """

    kind: type[Record]
    noun: str
    title: str
    template: str
    places: dict[str, str]
    readers: dict[str, Callable[[Any], Any]]

    def parse(self, text: str) -> tuple[dict[str, Any], Outline]:
        """The fields in a document, and its outline for what else is in it. Raises ContextError."""
        outline = Outline(sections.normal(text))
        fields = self._titled(outline.title())
        for field, place in self.places.items():
            value = _read(outline, place, self.kind.fields()[field])
            fields[field] = self.readers[field](value) if field in self.readers else value
        return fields, outline

    def render(self, record: Record, **more: Any) -> str:
        """The document; the template sees the record under the name of its kind."""
        return templates.render(self.template, **{self.kind.__name__.lower(): record}, **more)

    def clean(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Normalize texts and lists of texts, as they would be after a round trip."""
        types = self.kind.fields()
        return {
            field: clean(value) if (clean := _CLEANERS.get(types[field])) else value
            for field, value in fields.items()
        }

    def _titled(self, title: str) -> dict[str, Any]:
        """The field in the title. Raises ContextError if it is not that of the form."""
        label, colon, name = self.title.partition(": ")
        written, there, rest = title.partition(":")
        field, rest = name.strip("{}"), rest.strip()
        fits = written.strip().lower() == label.lower() and bool(there) == bool(colon)
        if not fits or (name == field and rest.lower() != name.lower()):
            wanted = self.title.replace("{", "<").replace("}", ">")
            raise ContextError(f"not {self.noun}: the first line must be `# {wanted}`")
        return {field: rest} if name != field else {}


def _read(outline: Outline, place: str, annotation: str) -> Any:
    """What is written at a place: text, or for a list a tuple."""
    if place == "facts_kept":
        return outline.facts_kept()
    if place.startswith("**"):
        return outline.value(place.strip("*"))
    heading, colon, label = place[3:].partition(": ")
    if annotation == "str" and not colon:
        return outline.body(heading)
    texts = tuple(t for section in outline.find(heading) for t in sections.texts(section.lines))
    if colon:  # of items `- Label: …`, the first one counts
        items = (text.partition(":") for text in texts if ":" in text)
        values = (value for name, _, value in items if name.strip().lower() == label.lower())
        return sections.clean(next(values, ""))
    return sections.clean_files(map(sections.file_note, texts)) if annotation == NOTES else texts


_CLEANERS: dict[str, Callable[[Any], Any]] = {
    "str": sections.clean,
    TEXTS: sections.clean_all,
    NOTES: sections.clean_files,
}


def one_of(allowed: Collection[str]) -> Callable[[str], str]:
    """A reader that takes only these words, in any case, and `` for all others."""
    return lambda word: word.lower() if word.lower() in allowed else ""


def listed(text: str) -> tuple[str, ...]:
    """Read items separated by commas."""
    return sections.clean_all(text.split(","))

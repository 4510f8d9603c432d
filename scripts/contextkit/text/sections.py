"""Markdown in sections: a title, lines of `**Name**: value`, then one `## Heading` after another.

Lenient with what people and agents write: every line that starts with `## ` outside a code fence
begins a section. No line is lost: `Outline.text` returns what was read.
"""

from __future__ import annotations

from contextkit.base import filters, markdown, names, version
from contextkit.base.records import Record
from contextkit.base.type_names import Iterable

FORMAT = 1  # version in the last line of plans, findings, merged findings and snapshots
FORMAT_MARK = "<!-- contextkit: format="
FACTS_KEPT = "facts_kept: "  # how much a document keeps of the text that it stands for


class FileNote(Record):
    """A file named in a document: its path and a note about it."""

    path: str
    note: str = ""


class Section:
    """A heading and the lines below it; the lines above the first heading have an empty one."""

    def __init__(self, heading: str, lines: list[str]) -> None:
        self.heading = heading  # the whole line, including `## `
        self.lines = lines

    @property
    def name(self) -> str:
        return self.heading.lstrip("#").strip()


class Outline:
    """A document: the lines above its first section, its sections, and its format line.

    Raises ContextError for a document of a newer format.
    """

    def __init__(self, text: str) -> None:
        lines = text.split("\n")
        end = next((n for n in reversed(range(len(lines))) if lines[n].strip()), 0)
        stated = lines[end].strip()
        if stated.startswith(FORMAT_MARK) and stated.endswith(" -->"):
            version.refuse_newer(stated[len(FORMAT_MARK) : -4], str(FORMAT))
        else:
            end = len(lines)
        self.end = lines[end:]
        del lines[end:]
        self.head = Section("", [])
        self.sections: list[Section] = []
        for line, inside in lines_of(lines):
            if line.startswith("## ") and not inside:
                self.sections.append(Section(line, []))
            else:
                (self.sections[-1] if self.sections else self.head).lines.append(line)

    @property
    def text(self) -> str:
        """The document, byte for byte as read except for changes."""
        below = (line for each in self.sections for line in (each.heading, *each.lines))
        return "\n".join([*self.head.lines, *below, *self.end])

    def title(self) -> str:
        """The text of the first nonblank line if it is a level 1 heading, or ''."""
        first = next((line for line in self.head.lines if line.strip()), "")
        return first[2:].strip() if first.startswith("# ") else ""

    def value(self, name: str) -> str:
        """The value after `**Name**:` above the first section, or '' if missing or `unknown`."""
        labels = (f"**{name}**:".lower(), f"**{name}:**".lower())
        line = next((line for line in self.head.lines if line.lower().startswith(labels)), "")
        return clean(line[len(labels[0]) :])

    def facts_kept(self) -> str:
        """`12/87` of a line `facts_kept: 12/87` above the first section; empty without one."""
        lines = (line for line in self.head.lines if line.startswith(FACTS_KEPT))
        return next(lines, "").removeprefix(FACTS_KEPT).strip()

    def find(self, *names: str) -> list[Section]:
        """The sections with any of these names, ignoring case."""
        wanted = [name.lower() for name in names]
        return [section for section in self.sections if section.name.lower() in wanted]

    def body(self, name: str) -> str:
        """The text of the sections with this name, joined if there are several."""
        return "\n\n".join(filter(None, (plain(section.lines) for section in self.find(name))))


def clean(text: str) -> str:
    """Normalize a field's text: `\\n` line ends, no surrounding whitespace, '' for `unknown`."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    return "" if text.lower() == "unknown" else text


def clean_all(texts: Iterable[str]) -> tuple[str, ...]:
    """Normalize the texts of a list, leaving out empty ones."""
    return tuple(text for text in map(clean, texts) if text)


def clean_files(notes: Iterable[FileNote]) -> tuple[FileNote, ...]:
    """Normalize file notes, each path on one line, leaving out empty ones."""
    pairs = ((clean(names.one_line(file.path)), clean(file.note)) for file in notes)
    return tuple(FileNote(path=path, note=note) for path, note in pairs if path or note)


def normal(text: str) -> str:
    """Prepare a document for parsing: no byte-order mark, `\\n` line ends."""
    text = text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n") if "\r\n" in text[:2000] else text


def plain(lines: list[str], item: bool = False) -> str:
    """The text in the lines of a section: the inverse of `filters.prose`."""
    text = "\n".join(lines)
    if "\\" not in text:
        return clean(text)
    first = [(lines[0], True)] if item else []
    kept = []
    for line, inside in [*first, *lines_of(lines[len(first) :])]:
        is_escaped = not inside and line.lstrip()[:1] == "\\" and filters.is_mark(line)
        kept.append(line.replace("\\", "", 1) if is_escaped else line)
    return clean("\n".join(kept))


def lines_of(lines: list[str]) -> list[tuple[str, bool]]:
    """Each line, and whether it is inside a code fence."""
    return list(zip(lines, markdown.in_fences(lines), strict=True))


class Item:
    """A list item: the index of its first line, and the index after its last."""

    def __init__(self, first: int, width: int, mark: str) -> None:
        self.first = first
        self.end = first + 1
        self.width = width  # spaces by which its continuation lines are indented
        self.mark = mark  # `- `, `12. `, or '' for a paragraph between items

    def text(self, lines: list[str]) -> str:
        """The text of the item."""
        rest = [moved_left(line, self.width) for line in lines[self.first + 1 : self.end]]
        return plain([lines[self.first][len(self.mark) :], *rest], item=bool(self.mark))


def items(lines: list[str], grouped: bool = True) -> list[Item]:
    """The items of the list in these lines; text between items is an item of its own.

    An item ends at the next one, or at an unindented line after a blank one. If `grouped`, a
    subheading and everything up to the next one are one item.
    """
    list_items: list[Item] = []
    blank = False
    under = 0  # level of the subheading that groups the lines
    for number, (line, inside) in enumerate(lines_of(lines)):
        if not line.strip() and not inside:
            blank = True
            continue
        mark = "" if inside else markdown.mark_of(line)
        is_heading = not inside and line[:1] == "#" and line.lstrip("#")[:1] == " "
        order = markdown.heading(line)[0] if is_heading else 0
        goes_on = line.startswith((" ", "\t")) or inside or not blank
        starts = 0 < order <= under if under else order or mark or not goes_on
        if starts or not list_items:
            width = 0 if not mark else 2 if mark in markdown.BULLETS else 4
            list_items.append(Item(number, width, mark))
            under = order if grouped else 0
        list_items[-1].end = number + 1
        blank = False
    return list_items


def texts(lines: list[str]) -> tuple[str, ...]:
    """The texts of the items, leaving out empty ones."""
    return tuple(filter(None, (item.text(lines) for item in items(lines))))


def moved_left(line: str, width: int) -> str:
    """`line` without up to `width` of its leading spaces."""
    indent = len(line) - len(line.lstrip(" "))
    return line[min(indent, width) :]


def file_note(text: str) -> FileNote:
    """Split `` `path` - description``, `path - description` or `path` into path and note."""
    path, note = code_span(text)
    if path:
        note = note[3:] if note.startswith(" - ") else note.strip().lstrip("-–—: ")
    else:
        path, _, note = text.partition(" - " if " - " in text else ": ")
        if " " in path.strip() or "\n" in path.strip():
            path, note = "", text  # a sentence, not a path
    return FileNote(path=clean(path), note=clean(note))


def code_span(text: str) -> tuple[str, str]:
    """Split a text into its leading code span and the rest; ('', '') if it has none."""
    ticks = text[: len(text) - len(text.lstrip("`"))]
    if not ticks:
        return "", ""
    at = len(ticks)
    while (end := text.find(ticks, at)) >= 0:
        after = end + len(ticks)
        if text[after : after + 1] != "`" and text[end - 1] != "`":
            return text[len(ticks) : end].strip(), text[after:]
        at = end + len(text[end:]) - len(text[end:].lstrip("`"))
    return "", ""

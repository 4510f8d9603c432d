"""Ideas, one file each: `<ideas>/{name}.md`. An example of a document."""

from __future__ import annotations

import os

from contextkit.base import files, names, templates
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.stores import Loaded


class Idea(Record):
    """Something that somebody thought of."""

    title: str
    text: str


def parse(text: str) -> Idea:
    """Parse an idea. Raises ContextError if it does not begin with a title."""
    title, _, body = text.partition("\n\n")
    if not title.startswith("# "):
        raise ContextError("not an idea: the first line must be `# <title>`")
    return Idea(title=title[2:], text=body.strip())


def render(idea: Idea) -> str:
    return templates.render("idea.md", title=idea.title, text=idea.text)


def save(layout: Layout, idea: Idea) -> str:
    """Save an idea and return its path."""
    folder = files.store(layout.store("idea"))
    return files.write(os.path.join(folder, f"{names.slug(idea.title)}.md"), render(idea))


def load_all(layout: Layout) -> Loaded[Idea]:
    """Load every idea, by name."""
    folder = layout.store("idea")
    there = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    paths = [os.path.join(folder, name) for name in there if name.endswith(".md")]
    return layout.load(paths, lambda path: parse(files.read(path)))

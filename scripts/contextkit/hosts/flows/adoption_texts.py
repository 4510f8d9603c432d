"""What adopt writes into a host besides the toolkit: skills, a paragraph, an include, settings."""

from __future__ import annotations

from contextkit.base import templates
from contextkit.base.filters import quoted
from contextkit.base.limits import Limits
from contextkit.base.records import Record
from contextkit.base.settings import Places

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.hosts.documents.contracts import Host

SKILLS = ("payload-store", "agent-handoff", "external-memory", "context-capsule", "verdicts")


class _Row(Record):
    name: str
    value: str


class _Section(Record):
    title: str
    rows: tuple[_Row, ...]


def skill(name: str) -> str:
    """Return the SKILL.md of one skill."""
    return templates.render(f"skill_{name.replace('-', '_')}.md")


def skills(host: Host) -> dict[str, str]:
    """Return the skills for a host: path -> text."""
    return {f"{host.skills}/{name}/SKILL.md": skill(name) for name in SKILLS}


def paragraph() -> str:
    """Return the paragraph for AGENTS.md and CLAUDE.md."""
    return templates.render("agents_paragraph.md")


def include(folder: str) -> str:
    """Return the line for a host's Makefile."""
    return f"include {folder}/Makefile"


def settings() -> str:
    """Return a `contextkit.yaml` with every setting and its default, all commented out."""
    sections = tuple(
        _Section(title=title, rows=tuple(_Row(name=n, value=_shown(v)) for n, v in _defaults(kind)))
        for title, kind in (("Limits", Limits), ("Places, relative to the root", Places))
    )
    return templates.render("contextkit.yaml", sections=sections)


def _defaults(kind: type[Record]) -> list[tuple[str, object]]:
    made = kind()
    return [(name, getattr(made, name)) for name in kind.fields()]


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(quoted(str(item), always=True) for item in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    return quoted(value, always=True) if isinstance(value, str) else str(value)

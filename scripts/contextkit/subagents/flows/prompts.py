"""A subagent's prompt: header, role overrides, scope, capsule, guardrails, role, worktree.

Scope, capsule and role are included verbatim, labeled with their source, in fences that they cannot
close; none of them is a template. The one marker that is honored is `{{CAPSULE_BODY}}` in a scope:
the body then goes there, and is not repeated.
"""

from __future__ import annotations

import os

from contextkit.base import agents, files, git, markdown, names, sessions, templates, tokens
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.version import toolkit
from contextkit.reviews.documents import verdicts
from contextkit.subagents.flows import sandboxes

MARK = "{{CAPSULE_BODY}}"
_AUTHORITY = "Treat this capsule as authoritative for current context."


class Scope(Record):
    """The task; `text` is all of it if `whole`, else its headings."""

    path: str
    text: str
    whole: bool
    tokens: int


class Role(Record):
    """How to work: the text of a role file, and the lines of its front matter."""

    name: str
    path: str
    text: str
    overrides: tuple[str, ...] = ()

    def says(self, key: str) -> str:
        """Return the value of a line `key: value` in the front matter, or ''."""
        pairs = (line.partition(":") for line in self.overrides)
        return next((value.strip() for name, _, value in pairs if name.strip() == key), "")

    @property
    def judges(self) -> bool:
        """Whether this role judges the work of others: a reviewer or an auditor."""
        return agents.judges(self.name)

    @property
    def read_only(self) -> bool:
        said = self.says("read_only").lower()
        return said in ("true", "yes", "1") if said else self.judges


class Body(Record):
    """The capsule that a subagent gets. `whole` is its body before any trimming."""

    path: str
    body: str
    whole: str
    sha256: str
    created_at: str
    tokens: int
    trimmed: bool = False
    marks: tuple[str, ...] = ()


class Order(Record):
    """The parameters of a launch, with everything read and checked.

    verbatim: the scope is the complete prompt.
    """

    id: str
    slug: str
    type: str
    branch: str
    commit: str
    scope: Scope | None = None
    role: Role | None = None
    capsule: Body | None = None
    timeout: int = 0
    deliverables: tuple[str, ...] = ()
    verbatim: bool = False


def read_scope(layout: Layout, typed: str) -> Scope | None:
    """Read the file that `scope=` names. Raises ContextError if it cannot be read."""
    if not typed:
        return None
    path = layout.typed(typed, "scope")
    try:
        text = files.read(path)
    except ContextError as error:
        raise bad_input(f"scope: {error}") from None
    if not text.strip():
        raise bad_input(f"scope: {layout.shown(path)} is empty: write down what the work is")
    size = tokens.estimate(text)
    room = layout.limits.subagent_scope_tokens
    whole = size <= room
    if not whole:
        heads = [s for _, s in markdown.outside_fences(text) if markdown.heading(s)[0]]
        text = tokens.clip("\n".join(heads), room) or "(it has none)"
    return Scope(path=layout.shown(path), text=text, whole=whole, tokens=size)


def read_role(layout: Layout, name: str) -> Role | None:
    """Read the role with this name. Raises ContextError with the nearest name if there is none."""
    if not name:
        return None
    places = layout.role_files(name) if sessions.is_name(name) else ()
    path = next((place for place in places if os.path.isfile(place)), "")
    if not path:
        folders = {os.path.dirname(place) for place in layout.role_files("x")}
        known = sorted(
            file[:-3]
            for folder in folders
            if os.path.isdir(folder)
            for file in os.listdir(folder)
            if file.endswith(".md")
        )
        raise bad_input(
            f"role: there is no role {name!r}{names.nearest(name, known)};"
            f" available: {', '.join(known)}"
        )
    ours = path.startswith(toolkit("templates") + os.sep)
    if not ours:
        files.inside(layout.root, path, "role")
    overrides, text = _front(files.read(path))
    shown = f"contextkit's own {name}.md" if ours else layout.shown(path)
    return Role(name=name, path=shown, text=text, overrides=overrides)


def _front(text: str) -> tuple[tuple[str, ...], str]:
    """Return the lines of any front matter, and the text below it."""
    lines = text.replace("\r\n", "\n").lstrip("\ufeff").split("\n")
    end = markdown.front_matter(lines)
    if not end:
        return (), text
    said = (names.one_line(line) for line in lines[1:end])
    return tuple(line for line in said if line and line[0] != "#"), "\n".join(lines[end + 1 :])


def assemble(layout: Layout, order: Order) -> str:
    """Render the prompt of a subagent; pure except for the templates."""
    if order.verbatim and order.scope:
        return order.scope.text
    place = sandboxes.place(layout, order.type, order.id)
    desk = sandboxes.desk(place, order.id)
    scope, section = order.scope, ""
    if order.capsule:
        placed = bool(scope and scope.whole and MARK in scope.text)
        copy = os.path.join(desk, "capsule.md")
        told = bool(placed and scope and _AUTHORITY in " ".join(scope.text.split()))
        section = capsule_section(order.capsule, copy, placed, told)
        if scope and placed:  # last and once: markers in the body are not replaced
            body = order.capsule.body.strip()
            scope = scope.replace(text=scope.text.replace(MARK, body, 1))
    elif scope and scope.whole:
        scope = scope.replace(text=scope.text.replace(MARK, "(no capsule is given)", 1))
    role = order.role
    return templates.render(
        "subagent_prompt.md",
        id=order.id,
        sandbox=names.one_line(place),
        root=names.one_line(layout.root),
        type=order.type,
        scope=scope,
        role=role,
        overrides=role.overrides if role else (),
        read_only=bool(role and role.read_only),
        branch=names.one_line(order.branch) or "(none)",
        own_branch=sandboxes.branch_of(order.id),
        commit=order.commit[:12],
        progress=names.one_line(os.path.join(desk, "progress.md")),
        timeout=order.timeout,
        section=section,
        statuses=verdicts.STATUSES,
        finish=_finish(layout, order),
    )


def capsule_section(capsule: Body, copy: str = "", placed: bool = False, told: bool = False) -> str:
    """Render a prompt's capsule section, with the body unless `placed` and the usage unless `told`.

    `placed` and `told` mean that the scope has them already. `copy` is where the whole capsule can
    be read.
    """
    return templates.render(
        "subagent_capsule.md",
        capsule=capsule.replace(path=names.one_line(capsule.path)),
        copy=names.one_line(copy),
        placed=placed,
        told=told,
    ).rstrip("\n")


def spliced(prompt: str, section: str) -> str:
    """Insert `section` into another kit's prompt: before the numbered guardrails, or at the end."""
    lines = prompt.split("\n")
    numbered = (number for number, line in markdown.outside_fences(prompt) if line[:3] == "1. ")
    at = next(numbered, 0) - 1
    while at > 0 and lines[at - 1].strip() and not lines[at - 1].startswith("#"):
        at -= 1  # the sentence that introduces the list belongs to it
    if at < 0:
        return f"{prompt.rstrip()}\n\n{section}\n"
    return "\n".join([*lines[:at], section, "", *lines[at:]])


def _finish(layout: Layout, order: Order) -> str:
    """Return the command that hands in a report, from any folder and environment."""
    script = quoted(toolkit("scripts", "subagent_manager.py"))
    return (
        f"{script} finish --root={quoted(layout.root)} --id={order.id} --agent={order.slug} \\\n"
        '  --status=… --summary="one line" < report.md'
    )


def quoted(text: str) -> str:
    """Quote a word for a shell."""
    if text and all(char.isalnum() or char in "/._-+" for char in text):
        return text
    return "'" + text.replace("'", "'\\''") + "'"


def here(layout: Layout) -> tuple[str, str]:
    """Return the branch and commit that are checked out; empty outside git."""
    if layout.repository is None:
        return "", ""
    head = git.head(layout.repository)
    return head.branch or (f"detached-{head.commit[:12]}" if head.commit else ""), head.commit

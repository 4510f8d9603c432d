"""Capsules: what the main agent hands to the agent that takes over.

    <capsules>/<branch as folders>/<YYYYMMDDTHHMMSSZ>.md      committed with the branch

A capsule is front matter and fixed sections; the format is told in manuals/capsules.md.
"""

from __future__ import annotations

import os

from contextkit import files, names, templates, tokens
from contextkit.errors import ContextError, bad_input
from contextkit.layout import Layout
from contextkit.records import Record

# The seed's seven, without which nothing is a capsule; then the two that the outline adds.
SECTIONS = (
    "Mission Snapshot",
    "Key Decisions & Rationale",
    "Active Workstreams",
    "Pending Actions",
    "Knowledge Base",
    "Risks & Watchpoints",
    "Transcript Highlights",
)
MINI_SECTIONS = ("Mission Snapshot", "Pending Actions", "Risks & Watchpoints")
CHARACTERS_PER_TOKEN = 3.75  # the seed's: 1.2k tokens, about 4.5k characters

_NO_SESSION = "<fill in the latest session marker>"
_NO_OBJECTIVE = "<the objective in one sentence>"


class Capsule(Record):
    """The front matter of a capsule; keys in this order, unknown ones are ignored."""

    branch: str
    source_session: str
    created_at: str
    primary_objective: str
    token_budget: int
    version: str = "0.1"
    mini: bool = False

    def check(self) -> None:
        for name in ("branch", "source_session", "created_at", "primary_objective"):
            if not getattr(self, name).strip():
                raise bad_input(f"front matter: {name} is blank")
        if not _is_iso(self.created_at):
            like = "2025-10-23T18:05:00Z"
            raise bad_input(
                f"front matter: created_at must be like {like}, not {self.created_at!r}"
            )


def _is_iso(text: str) -> bool:
    shape = "".join("0" if char.isdigit() and char.isascii() else char for char in text)
    return shape == "0000-00-00T00:00:00Z"


def blank(
    branch: str, session: str, now: int, tokens_allowed: int, version: str, mini: bool
) -> Capsule:
    """The front matter of a capsule still to be written; what is unknown is a placeholder."""
    return Capsule(
        branch=branch,
        source_session=session or _NO_SESSION,
        created_at=names.iso(now),
        primary_objective=_NO_OBJECTIVE,
        token_budget=tokens_allowed,
        version=version,
        mini=mini,
    )


def outline(capsule: Capsule, plan: str, progress: str, reminders: tuple[object, ...] = ()) -> str:
    """The capsule to fill in: front matter, every section, `<…>` where something is to be written.

    `plan` and `progress` are the notebooks' paths; `reminders` are placed where they belong.
    """
    return templates.render(
        "capsule_outline.md", capsule=capsule, plan=plan, progress=progress, reminders=reminders
    )


def template_document(limits_tokens: int) -> str:
    """The documented template file: what it is for, and the outline with nothing filled in."""
    capsule = Capsule(
        branch="<branch>",
        source_session=_NO_SESSION,
        created_at="0000-00-00T00:00:00Z",
        primary_objective=_NO_OBJECTIVE,
        token_budget=limits_tokens,
    )
    paths = ("docs/branches/<slug>/PLAN.md", "docs/branches/<slug>/PROGRESS.md")
    return templates.render(
        "context_capsule_prompt.md", capsule=capsule, outline=outline(capsule, *paths)
    )


def parse(text: str, where: str = "capsule") -> tuple[Capsule, str]:
    """The front matter and the body, exactly as it stands. Raises ContextError by field."""
    from contextkit import formats

    values, body = formats.front_matter(text, where)
    known = Capsule.fields()
    ours = {name: value for name, value in values.items() if name in known}
    capsule: Capsule = formats.build(Capsule, ours, f"{where}: front matter")
    if capsule.version.partition(".")[0] not in ("0", "1"):
        raise bad_input(f"{where}: front matter: version {capsule.version} is newer than this tool")
    return capsule, body


def problems(text: str, where: str = "capsule") -> list[str]:
    """What keeps `text` from being a finished capsule, a sentence each; empty when nothing does."""
    try:
        capsule, body = parse(text, where)
    except ContextError as error:
        return [str(error)]
    found = []
    headings = {line[2:].strip() for line in _outside_fences(body) if line.startswith("# ")}
    for section in MINI_SECTIONS if capsule.mini else SECTIONS:
        if section not in headings:
            found.append(f"{where}: the section `# {section}` is missing")
    marks = placeholders()
    for number, line in enumerate(text.split("\n"), start=1):
        for mark in marks:
            if mark in line:
                found.append(f"{where}:{number}: the placeholder {mark} is still there")
    size = tokens.estimate(text)
    if size > capsule.token_budget * tokens.CAUTION:
        found.append(
            f"{where}: ~{size} tokens, more than its budget of {capsule.token_budget}: shorten it"
        )
    return found


def placeholders() -> tuple[str, ...]:
    """The `<…>` phrases of our own outline."""
    import re

    capsule = blank("b", "", 0, 1, "0.1", mini=False)
    return tuple(dict.fromkeys(re.findall(r"<[^<>\n]+>", outline(capsule, "p", "q"))))


def _outside_fences(text: str) -> list[str]:
    kept, fence = [], ""
    for line in text.split("\n"):
        mark = line.lstrip()[:3]
        if mark in ("```", "~~~"):
            fence = "" if mark == fence else fence or mark
        elif not fence:
            kept.append(line.rstrip())
    return kept


def unwrapped(reply: str) -> str:
    """An agent's reply without the code fence that some put around the whole of it."""
    text = reply.replace("\r\n", "\n").lstrip("\ufeff").strip("\n")
    first, newline, rest = text.strip().partition("\n")
    fence = first[: len(first) - len(first.lstrip("`"))]
    last = rest.rstrip().rpartition("\n")[2]
    if newline and len(fence) >= 3 and last.strip() == fence:
        text = rest.rstrip()[: -len(last)].strip("\n")
    return text.rstrip() + "\n"


def save(layout: Layout, text: str, path: str, replace: bool = False) -> str:
    """Write a finished capsule to `path` and return where it is; the checks are the caller's.

    A stub there is filled in; another finished capsule is left, and the new one gets `-2`,
    unless `replace` is set. Saving the same text twice changes nothing.
    """
    with files.locked(layout.lock(path)):
        there = files.read_if_there(path)
        if there == text:
            return path
        if there is None or replace or any(mark in there for mark in placeholders()):
            return files.write(path, text)
        return files.create(path, text)


def folder(layout: Layout, branch: str) -> str:
    """The folder of a branch: its parts as folders, odd characters as `-`.

    Two branches never share one, not even on a file system that ignores case: where a folder
    holds capsules of another branch, `-` and six digits of the name's digest are added.
    """
    parts = [names.dashed(part.strip()) for part in branch.split("/") if part.strip()]
    parts = ["-" + part[1:] if part.startswith(".") else part for part in parts]
    plain = os.path.join(layout.capsules, *(parts or ["unnamed-branch"]))
    if _taken(layout, plain, branch):
        import hashlib

        return f"{plain}-{hashlib.sha256(branch.encode()).hexdigest()[:6]}"
    return plain


def paths(folder: str) -> list[str]:
    """The capsules in a branch's folder, oldest first; the names sort by time."""
    if not os.path.isdir(folder):
        return []
    found = sorted(name for name in os.listdir(folder) if name.endswith(".md") and name[0] != ".")
    return [os.path.join(folder, name) for name in found]


def _taken(layout: Layout, plain: str, branch: str) -> bool:
    """Whether `plain`, case ignored, is a file or the folder of another branch."""
    if plain == layout.reminders:
        return True
    if os.path.isdir(plain) and _owner(plain) == branch:
        return False
    here = [layout.capsules]
    for part in os.path.relpath(plain, layout.capsules).split(os.sep):
        here = [
            os.path.join(above, name)
            for above in here
            for name in (os.listdir(above) if os.path.isdir(above) else ())
            if name.lower() == part.lower()
        ]
    return any(not os.path.isdir(found) or _owner(found) not in ("", branch) for found in here)


def _owner(folder: str) -> str:
    """The raw name of the branch whose capsules a folder holds: the first one answers for all."""
    return _branch_of(paths(folder)[0]) if paths(folder) else ""


def _branch_of(path: str) -> str:
    """The `branch` of a capsule, without YAML where the line is plain; empty if there is none."""
    try:
        text = files.read(path)
        for line in text.split("\n", 20)[:20]:
            key, _, value = line.partition(": ")
            if key == "branch":
                value = value.strip()
                return value if value[:1].isalnum() else parse(text, path)[0].branch
    except (ContextError, OSError):
        return ""
    return ""


def path_at(layout: Layout, branch: str, created_at: str) -> str:
    """Where a capsule of `branch` with this `created_at` belongs; the name is the same time."""
    stamp = created_at.replace("-", "").replace(":", "")
    return os.path.join(folder(layout, branch), stamp + ".md")


def free_path(layout: Layout, branch: str, now: int) -> str:
    """As `path_at`; a name that is taken gets `-2`."""
    stem = path_at(layout, branch, names.iso(now)).removesuffix(".md")
    path, number = stem + ".md", 1
    while os.path.lexists(path):
        number += 1
        path = f"{stem}-{number}.md"
    return path

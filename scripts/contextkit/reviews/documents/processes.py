"""Processes: how each kind of review runs, as data. Five are built in; a host can add or override.

    templates/processes/<name>.yaml      mode, input, output folder, agents, timeouts, what blocks
    contextkit.yaml, key `processes`     <name>: the fields that differ, or a process of its own

Nothing else in the toolkit knows a process by its name.
"""

from __future__ import annotations

import os

from contextkit.base import files, formats, names, packages, sessions
from contextkit.base.errors import bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.settings import SETTINGS
from contextkit.base.type_names import Any
from contextkit.base.version import toolkit
from contextkit.reviews.documents.runs import MODES
from contextkit.reviews.documents.vocabulary import SEVERITIES

# What may fail the gate, by mode: severities for reviews, agent statuses for research.
BLOCKING = {"review": SEVERITIES, "research": ("PARTIAL", "FAILED")}
_INPUTS = ("document", "diff", "question")
_PLACEHOLDERS = ("stem", "hash8", "slug", "target")
_FOLDER = toolkit("templates", "processes")


class Process(Record):
    """A kind of review.

    input: what `target=` names: a document, a branch's diff (then it is only a label), or a
    question. output_dir: relative to the root, with the target's `{stem}`, `{slug}`, `{target}` and
    `{hash8}`. timeouts: seconds by name; the first is the default. blocks: what fails the gate,
    from the words in BLOCKING. A diff of fewer than `small_lines` changed lines in at most
    `small_files` files goes to `small_agents` unless the caller names others.
    """

    name: str
    mode: str
    input: str
    output_dir: str
    agents: tuple[str, ...]
    timeouts: dict[str, object]
    blocks: tuple[str, ...] = ()
    default_target: str = ""
    small_lines: int = 0
    small_files: int = 1
    small_agents: tuple[str, ...] = ()

    def check(self) -> None:
        where = f"processes: {self.name}"
        if not sessions.is_name(self.name):
            raise bad_input(f"processes: {self.name[:80]!r} must be letters, digits, `.`, `_`, `-`")
        for field, allowed in (("mode", MODES), ("input", _INPUTS)):
            if getattr(self, field) not in allowed:
                raise bad_input(f"{where}: {field} must be one of {', '.join(allowed)}")
        unknown = [word for word in self.blocks if word not in BLOCKING[self.mode]]
        if unknown:
            choices = ", ".join(BLOCKING[self.mode])
            raise bad_input(f"{where}: blocks: {unknown[0]!r} must be one of {choices}")
        if not self.agents:
            raise bad_input(f"{where}: agents must name at least one")
        seconds = list(map(str, self.timeouts.values()))
        if not seconds or not all(names.is_whole(number, 6) and int(number) for number in seconds):
            raise bad_input(f"{where}: timeouts must be lines of `name: seconds`")
        _check_folder(self.output_dir, f"{where}: output_dir")

    @property
    def seconds(self) -> dict[str, int]:
        """The timeouts by name, the default first."""
        return {name: int(str(value)) for name, value in self.timeouts.items()}

    def folder(self, target: str) -> str:
        """The output folder for a target, with its digest if a path cannot hold its characters."""
        digest = names.sha256(target.encode("utf-8", "replace"))[:8]
        stem = os.path.splitext(os.path.basename(target.rstrip("/")))[0]
        plain, plain_stem = (names.dashed(text).strip(".-")[:60] for text in (target, stem))
        is_plain = plain == target.lower() == target
        made = self.output_dir.format(
            hash8=digest, stem=plain_stem or "input", slug=names.slug(target) or "question",
            target=plain if is_plain else f"{plain}-{digest}".lstrip("-"),
        )  # fmt: skip
        return os.path.normpath(made)


def _check_folder(pattern: str, where: str) -> None:
    """Refuse a pattern that is not a folder of its own inside the root."""
    bare = pattern
    for name in _PLACEHOLDERS:
        bare = bare.replace("{" + name + "}", "x")
    parts = os.path.normpath(bare).split("/")
    if "{" in bare or "}" in bare:
        raise bad_input(f"{where}: {pattern!r} may hold only {{{'}, {'.join(_PLACEHOLDERS)}}}")
    leaves = os.path.isabs(bare) or ".." in bare.split("/")
    if leaves or len(parts) < 2 or not bare.isprintable():
        raise bad_input(f"{where}: {pattern!r} must be a folder in a folder inside the root")
    if parts[0] in (".git", ".contextkit"):
        raise bad_input(f"{where}: {pattern!r} lies in a folder that is not meant for documents")


def load(layout: Layout, name: str) -> Process:
    """Load the process `name` as configured here. Raises ContextError with the nearest name."""
    available = _names(layout)
    if name not in available:
        hint = names.nearest(name, available) or f"; available: {', '.join(available)}"
        raise bad_input(f"process: there is no {name!r}{hint}")
    packages.need("yaml")
    return _merged(layout, name)


def configured(layout: Layout) -> list[Process]:
    """Load every process configured here, by name."""
    packages.need("yaml")
    return [_merged(layout, name) for name in _names(layout)]


def is_set(layout: Layout, name: str) -> bool:
    """Whether the repository's own settings mention a process."""
    return name in _overrides(layout)


def _names(layout: Layout) -> list[str]:
    ours = [name[:-5] for name in os.listdir(_FOLDER) if name.endswith(".yaml")]
    return sorted({*ours, *_overrides(layout)})


def _overrides(layout: Layout) -> dict[str, Any]:
    overrides: Any = layout.settings.get("processes", {})
    return overrides if isinstance(overrides, dict) else {}


def _merged(layout: Layout, name: str) -> Process:
    path = os.path.join(_FOLDER, name + ".yaml")
    is_ours = sessions.is_name(name) and os.path.isfile(path)
    ours = formats.from_yaml(files.read(path), path) if is_ours else {}
    theirs = _overrides(layout).get(name, {})
    if not isinstance(theirs, dict):
        raise bad_input(f"{SETTINGS}: processes: {name} must be lines of `name: value`")
    where = f"{SETTINGS}: processes: {name}" if theirs else path
    if "name" in theirs:
        raise bad_input(f"{where}: its name is the key above")
    made: Process = formats.build(Process, {**ours, **theirs, "name": name}, where)
    return made

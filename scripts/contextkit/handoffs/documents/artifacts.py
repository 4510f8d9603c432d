"""Artifacts: what one agent leaves for the next in place of its whole profile.

    <handoffs>/handoff-<from>-to-<to>-<YYYYMMDDTHHMMSSZ>.yaml      one per switch; never in git

The keys of the design come first, in its order, then contextkit's own. File names are for people;
only the contents count, and `sequence` gives the order of switches. manuals/handoffs.md describes
the format.
"""

from __future__ import annotations

import os

from contextkit.base import (
    addresses,
    agents,
    files,
    formats,
    ledger,
    names,
    stores,
    templates,
    tokens,
)
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.settings import Limits
from contextkit.base.stores import Loaded
from contextkit.handoffs.documents import fields as handoff_fields
from contextkit.handoffs.documents import fitting

VERSION = "1.0"
_MOST_BYTES = 8_192  # limit for an artifact: 500 tokens are always less, and YAML is slow
_STAMP = "00000000T000000Z"
# Placeholders for values in the documented template, in the words of the design.
PLACEHOLDERS = {
    "from_agent": "{current_agent_id}",
    "to_agent": "{new_agent_id}",
    "story_id": "{active story ID}",
    "story_path": "{active story path}",
    "story_status": "{current status}",
    "current_task": "{last task being worked on}",
    "branch": "{current git branch}",
    "decisions": ("{key decision 1}", "{key decision 2}"),
    "files_modified": ("{file 1}", "{file 2}"),
    "blockers": ("{any active blockers}",),
    "next_action": "{what the incoming agent should do}",
    "last_command": "",
    "version": VERSION,
    "timestamp": "{ISO 8601, UTC}",
    "sequence": 0,
    "consumed": False,
    "rejected": (),
    "resolved": (),
    "session": "",
    "facts_kept": "",
}


class Handoff(Record):
    """An artifact. Texts are single lines, except story id, story path, task and branch."""

    from_agent: str
    to_agent: str
    next_action: str
    story_id: str = ""
    story_path: str = ""
    story_status: str = ""
    current_task: str = ""
    branch: str = ""
    decisions: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()
    last_command: str = ""
    version: str = VERSION
    timestamp: str = ""
    sequence: int = 0  # number of the switch in this repository; 0 if missing
    consumed: bool = False
    rejected: tuple[str, ...] = ()  # approaches tried and dropped
    resolved: tuple[str, ...] = ()  # blockers closed by this switch
    session: str = ""  # the session that switched, from `sessions.key`
    facts_kept: str = ""  # `12/15`: hard facts kept of what was given, once something was cut

    def check(self) -> None:
        for field, agent in (("from", self.from_agent), ("to", self.to_agent)):
            if agents.identify(agent, field) != agent:
                raise bad_input(f"{field}: {agent!r}: ids are lowercase, without @")
        if self.from_agent == self.to_agent:
            raise bad_input(f"to: {self.to_agent} cannot hand over to itself")
        if not self.next_action:
            raise bad_input("next_action: is missing: say what the incoming agent should do")
        if self.version.partition(".")[0] != VERSION.partition(".")[0]:
            from contextkit.base import version

            version.refuse_newer(self.version, VERSION, "version", status=2)
            shown = names.one_line(self.version)[:20]
            raise bad_input(f"version: {shown!r} is not supported here, {VERSION} is")

    def clipped(self, limits: Limits, strict: bool = False) -> tuple[Handoff, tuple[str, ...]]:
        """Return this handoff within the limits, and a message for everything that was cut.

        Raises ContextError for what cannot fit and, with `strict`, for what would be cut.
        """
        return fitting.clipped(self, limits, render, strict)

    @property
    def name(self) -> str:
        """The file name for these contents."""
        stamp = "".join(char for char in self.timestamp if char not in "-:")
        return f"handoff-{self.from_agent}-to-{self.to_agent}-{stamp}.yaml"


def make(fields: handoff_fields.Fields) -> Handoff:
    """Make a handoff from typed fields. Raises ContextError naming the invalid one."""
    values = {name: fields[name] for name in Handoff.fields() if name in fields}
    for name, field in (("from_agent", "from"), ("to_agent", "to")):
        values[name] = agents.identify(values.get(name, ""), field)
    for name in (*fitting.LISTS, "resolved"):
        said = [item for item in values.get(name, ()) if item not in _placeholders(name)]
        values[name] = handoff_fields.items(tuple(said))
    for name, text in values.items():
        if isinstance(text, str):
            values[name] = handoff_fields.clean(name, text)
    values.setdefault("next_action", "")
    return Handoff(**{**values, "version": values.get("version") or VERSION})


def _placeholders(name: str) -> tuple[str, ...]:
    found = PLACEHOLDERS[name]
    return found if isinstance(found, tuple) else ()


def render(handoff: Handoff) -> str:
    """Return the text of the artifact."""
    return templates.render("agent_handoff.yaml", handoff=handoff)


def parse(text: str, where: str = "handoff") -> Handoff:
    """Parse an artifact, also one from another tool. Raises ContextError for anything else.

    Unknown keys are ignored, ids may start with `@`, and a list may be a plain text.
    """
    own = _parse_own(text)
    if own:
        return own
    try:
        return make(handoff_fields.read(text, where)[0])
    except ContextError as error:
        said = str(error)
        raise bad_input(said if said.startswith(where) else f"{where}: {said}") from None


def _parse_own(text: str) -> Handoff | None:
    """Parse an artifact exactly as `render` writes it, without the cost of YAML; else None.

    This need not be strict: the result counts only if rendering it gives the same text.
    """
    fields: handoff_fields.Fields = {}
    into = ""
    try:
        for line in text.split("\n")[1:-1]:
            key, _, said = line.strip().partition(":")
            if line.startswith('    - "'):
                fields[into] += (formats.from_json(line[6:], key),)
            elif said in ("", " []"):
                into = key
                fields[into] = ()
            elif said[:2] == ' "':
                fields[key] = formats.from_json(said[1:], key)
            else:
                fields[key] = said == " true" if key == "consumed" else int(said)
        own = make(fields)
    except (ContextError, LookupError, TypeError, ValueError, AttributeError):
        return None
    return own if render(own) == text else None


def mark_consumed(text: str, where: str) -> str:
    """Return the artifact's text with `consumed: true`, otherwise byte for byte the same."""
    lines = text.split("\n")
    first = next((line for line in lines if line.lstrip().startswith("from_agent:")), "")
    margin = first[: len(first) - len(first.lstrip())]
    marked = [number for number, line in enumerate(lines) if line.startswith(f"{margin}consumed:")]
    if marked:
        lines[marked[-1]] = f"{margin}consumed: true"
        made = "\n".join(lines)
    else:
        made = text.rstrip("\n") + f"\n{margin}consumed: true\n"
    before = parse(text, where)
    try:
        fits = parse(made, where) == before.replace(consumed=True)
    except ContextError:
        fits = False
    if not fits:
        raise ContextError(f"{where}: cannot be marked: add `consumed: true` by hand")
    return made


def measure(handoff: Handoff, tokenizer: str = tokens.DEFAULT) -> int:
    """The tokens of a handoff as its limit counts them, in the reader's tokenizer."""
    return tokens.size(render(handoff), tokenizer)


def template_document(layout: Layout) -> str:
    """Return the documented template: the template of artifacts with placeholders for values."""
    body = templates.render("agent_handoff.yaml", handoff=PLACEHOLDERS)
    return templates.render(
        "agent_handoff_template.yaml",
        folder=layout.places.handoffs,
        limits=layout.limits,
        body=body.rstrip("\n"),
    )


# The store


def save(layout: Layout, handoff: Handoff) -> str:
    """Write an artifact under a new name and return its path. Call this under the lock."""
    store = files.store(folder(layout))
    text = render(handoff)
    path = files.create(os.path.join(store, handoff.name), text)
    ref, size = addresses.of(layout, path, "handoff"), tokens.estimate(text)
    named = addresses.named_in(layout, text)
    ledger.note(layout, ledger.STORED, ref, tokens=size, agent=handoff.from_agent, sources=named)
    return path


def folder(layout: Layout) -> str:
    """The store's folder. Raises ContextError if a link leads out of the repository."""
    files.inside(layout.root, layout.handoffs, "handoffs")
    return layout.handoffs


def is_name(name: str) -> bool:
    """Whether this is the file name of an artifact; other files in the folder are left alone."""
    if not (name.startswith("handoff-") and name.endswith(".yaml")):
        return False
    head, _, last = name[8:-5].rpartition("-")
    if names.is_whole(last):  # the second artifact of that second
        head, _, last = head.rpartition("-")
    return names.shape(last) == _STAMP and "-to-" in head


def listed(layout: Layout) -> list[str]:
    """The names of all artifacts in the store, sorted, readable or not."""
    try:
        with os.scandir(folder(layout)) as entries:
            return sorted(e.name for e in entries if is_name(e.name) and e.is_file())
    except FileNotFoundError:
        return []
    except NotADirectoryError:
        shown = layout.shown(layout.handoffs)
        raise ContextError(f"{shown}: a file is in the way of the store: move it") from None


def load_text(path: str, where: str) -> str:
    """Read an artifact's file. Raises ContextError for a link or a file that is far too large."""
    if os.path.islink(path) or not os.path.isfile(path):
        raise ContextError(f"{where}: is not a regular file")
    size = os.stat(path).st_size
    if size > _MOST_BYTES:
        raise ContextError(
            f"{where}: {size} bytes is too large for a handoff: at most {_MOST_BYTES}"
        )
    try:
        return files.read(path)
    except ContextError as error:
        raise ContextError(str(error).replace(path, where)) from None


def load(layout: Layout, name: str) -> Handoff:
    """Load the artifact `name`. Raises ContextError if it cannot be read."""
    path = os.path.join(folder(layout), name)
    where = layout.shown(path)
    return parse(load_text(path, where), where)


def load_all(layout: Layout, wanted: list[str] | None = None) -> Loaded[Handoff]:
    """Load the artifacts with these names, in that order; by default all, sorted by name."""
    wanted = listed(layout) if wanted is None else wanted
    place = folder(layout)
    paths = [os.path.join(place, name) for name in wanted]
    return stores.load(layout, paths, lambda path: load(layout, os.path.basename(path)))


def read(layout: Layout, wanted: list[str]) -> tuple[dict[str, Handoff], tuple[str, ...]]:
    """Return the readable artifacts by name, and a message for each that cannot be read."""
    found = load_all(layout, wanted)
    known = {os.path.basename(path): handoff for path, handoff in found}
    return known, tuple(names.one_line(f"{one}; skipped") for one in found.broken)

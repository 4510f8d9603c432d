"""Artifacts: what one agent leaves for the next in place of its whole profile.

    <handoffs>/handoff-<from>-to-<to>-<YYYYMMDDTHHMMSSZ>.yaml      one per switch; never in git

File names are for people; only the contents count, and `sequence` gives the order of switches.
manuals/handoffs.md describes the format.
"""

from __future__ import annotations

import os

from contextkit.base import addresses, files, formats, ledger, names, shelf, templates, tokens
from contextkit.base.agents import identify
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.settings import Limits
from contextkit.base.stores import Loaded, files_in
from contextkit.base.type_names import Any, Iterable
from contextkit.base.version import refuse_newer

Fields = dict[str, Any]  # the values of a handoff by name, as given

VERSION = "1.0"
LISTS = ("decisions", "files_modified", "blockers", "rejected")  # the fields that may be cut short
TEXTS = ("from_agent", "to_agent", "next_action", "story_id", "story_path", "story_status",
         "current_task", "branch", "last_command")  # fmt: skip
IDENTITY = ("story_id", "story_path", "current_task", "branch")  # never cut
MOST_SENTENCES = 2  # in a next_action
NO_ACTION = "next_action: is missing: say what the incoming agent should do"
_MOST_BYTES = 8_192  # limit for an artifact: more than 500 tokens can have, and YAML is slow
_STAMP = "00000000T000000Z"
_ENDS = (". ", "! ", "? ")
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
    "timestamp": "{ISO 8601, UTC}",
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
    facts_kept: str = ""  # `12/15`: hard facts kept of the input, once something was cut

    def check(self) -> None:
        for field, agent in (("from", self.from_agent), ("to", self.to_agent)):
            if identify(agent, field) != agent:
                raise bad_input(f"{field}: {agent!r}: ids are lowercase, without @")
        if self.from_agent == self.to_agent:
            raise bad_input(f"to: {self.to_agent} cannot hand over to itself")
        if not self.next_action:
            raise bad_input(NO_ACTION)
        if self.version.partition(".")[0] != VERSION.partition(".")[0]:
            refuse_newer(self.version, VERSION, "version", status=2)
            shown = names.one_line(self.version)[:20]
            raise bad_input(f"version: {shown!r} is not supported here, {VERSION} is")

    @property
    def name(self) -> str:
        """The file name for these contents."""
        stamp = "".join(char for char in self.timestamp if char not in "-:")
        return f"handoff-{self.from_agent}-to-{self.to_agent}-{stamp}.yaml"


def make(fields: Fields) -> Handoff:
    """Make a handoff from typed fields. Raises ContextError naming the invalid one."""
    values = {name: fields[name] for name in Handoff.fields() if name in fields}
    for name, field in (("from_agent", "from"), ("to_agent", "to")):
        values[name] = identify(values.get(name, ""), field)
    for name in (*LISTS, "resolved"):
        unfilled = PLACEHOLDERS.get(name, ())
        values[name] = _clean_items(item for item in values.get(name, ()) if item not in unfilled)
    for name, text in values.items():
        if isinstance(text, str):
            values[name] = _clean(name, text)
    values.setdefault("next_action", "")
    return Handoff(**{**values, "version": values.get("version") or VERSION})


def render(handoff: Handoff) -> str:
    """The text of the artifact."""
    return templates.render("agent_handoff.yaml", handoff=handoff)


def parse(text: str, where: str = "handoff") -> Handoff:
    """Parse an artifact, also one from another tool. Raises ContextError for anything else.

    Unknown keys are ignored, ids may start with `@`, and a list may be a plain text.
    """
    own = _parse_own(text)
    if own:
        return own
    try:
        return make(read_fields(text, where)[0])
    except ContextError as error:
        message = str(error)
        raise bad_input(message if message.startswith(where) else f"{where}: {message}") from None


def _parse_own(text: str) -> Handoff | None:
    """Parse an artifact exactly as `render` writes it, without YAML's cost; else None.

    This need not be strict: the result counts only if rendering it gives the same text.
    """
    lines = [line for line in text.split("\n")[1:-1] if not line.endswith((" []", "context:"))]
    plain = (line if line.startswith("    - ") else line.strip() for line in lines)
    try:
        fields = formats.plain_yaml("\n".join(plain)) or {}
        own: Handoff = formats.build_known(Handoff, fields, "handoff")
    except ContextError:
        return None
    return own if render(own) == text else None


def mark_consumed(text: str, where: str) -> str:
    """The artifact's text with `consumed: true`, otherwise byte for byte the same."""
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


def consume(layout: Layout, path: str) -> bool:
    """Mark an artifact as acted upon, under the lock; whether it was not yet. ContextError."""
    where = layout.shown(path)
    text = load_text(path, where)
    if parse(text, where).consumed:
        return False
    files.write(path, mark_consumed(text, where))
    ledger.note(layout, ledger.CONSUMED, addresses.of(layout, path, "handoff"))
    return True


def merge(ours: bytes, theirs: bytes) -> bytes | None:
    """Merge two states of one artifact: what was consumed in either is. None for two artifacts."""
    try:
        text = ours.decode("utf-8")
        own, other = parse(text), parse(theirs.decode("utf-8"))
        if own.replace(consumed=other.consumed) != other:
            return None
        return mark_consumed(text, "handoff").encode() if other.consumed else ours
    except (ContextError, UnicodeDecodeError):
        return None


def measure(handoff: Handoff, tokenizer: str = tokens.DEFAULT) -> int:
    """The tokens of a handoff as its limit counts them, in the reader's tokenizer."""
    return tokens.size(render(handoff), tokenizer)


def sentences(text: str) -> str:
    """The first two sentences of a line; one ends with `.`, `!` or `?` and a space."""
    end = 0
    for _ in range(MOST_SENTENCES):
        ends = [at + 1 for at in (text.find(mark, end) for mark in _ENDS) if at >= 0]
        if not ends:
            return text
        end = min(ends)
    return text[:end]


def template_document(layout: Layout) -> str:
    """The documented template: the template of artifacts with placeholders for values."""
    values = {name: PLACEHOLDERS.get(name, getattr(Handoff, name, "")) for name in Handoff.fields()}
    body = templates.render("agent_handoff.yaml", handoff=values)
    values = {"folder": layout.places.handoffs, "limits": layout.limits, "body": body.rstrip("\n")}
    return templates.render("agent_handoff_template.yaml", **values)


def save(layout: Layout, handoff: Handoff, name: str = "") -> str:
    """Write an artifact under a new name, or in place of one; return its path. Under the lock."""
    text = render(handoff)
    path = os.path.join(files.store(layout.handoffs), name or handoff.name)
    path = files.write(path, text) if name else files.create(path, text)
    shelf.stored(layout, path, text, "handoff", handoff.from_agent)
    return path


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
    if os.path.isfile(layout.handoffs):
        shown = layout.shown(layout.handoffs)
        raise ContextError(f"{shown}: a file is in the way of the store: move it")
    return sorted(filter(is_name, files_in(layout.handoffs, ".yaml")))


def load_text(path: str, where: str) -> str:
    """Read an artifact's file. Raises ContextError for a link or a file that is far too large."""
    if os.path.islink(path) or not os.path.isfile(path):
        raise ContextError(f"{where}: is not a regular file")
    size = os.stat(path).st_size
    if size > _MOST_BYTES:
        most = f"at most {_MOST_BYTES}"
        raise ContextError(f"{where}: {size} bytes is too large for a handoff: {most}")
    try:
        return files.read(path)
    except ContextError as error:
        raise ContextError(str(error).replace(path, where)) from None


def load(layout: Layout, name: str) -> Handoff:
    """Load the artifact `name`. Raises ContextError if it cannot be read."""
    path = os.path.join(layout.handoffs, name)
    where = layout.shown(path)
    return parse(load_text(path, where), where)


def load_all(layout: Layout) -> Loaded[Handoff]:
    """All artifacts, sorted by name."""
    paths = [os.path.join(layout.handoffs, name) for name in listed(layout)]
    return layout.load(paths, lambda path: load(layout, os.path.basename(path)))


LIMITED = {
    "decisions": "handoff_decisions",
    "files_modified": "handoff_files",
    "blockers": "handoff_blockers",
    "rejected": "handoff_rejected",
}  # the setting for the most entries of each list


def complaints(text: str, limits: Limits, name: str = "") -> list[tuple[str, str]]:
    """(`error` or `warning`, message) pairs; `name` is the file name if in the store."""
    faults: list[tuple[str, str]] = []
    try:
        fields, dropped = read_fields(text, "handoff")
        faults += [("warning", line) for line in dropped]
        handoff = make(fields)
    except ContextError as error:
        return [("error", str(error)), *faults]
    for field, limit in LIMITED.items():
        count, most = len(fields.get(field, ())), getattr(limits, limit)
        if count > most:
            faults.append(("error", f"{field}: {count} entries, at most {most} are allowed"))
    if not tokens.within(text, most := limits.handoff_max_tokens, limits.tokenizer):
        size = tokens.size(text, limits.tokenizer)
        faults.append(("error", f"has ~{size} tokens, at most {most} are allowed"))
    for field, unfilled in PLACEHOLDERS.items():
        words = unfilled if isinstance(unfilled, tuple) else (unfilled,)
        value = fields.get(field, ())
        there = value if isinstance(value, tuple) else (value,)
        faults += [("error", f"{field}: still says {word}") for word in words if word in there]
    if not handoff.story_id:
        faults.append(("warning", "story_id: is empty"))
    if sentences(handoff.next_action) != handoff.next_action:
        faults.append(("warning", "next_action: has more than two sentences"))
    pair = f"{handoff.from_agent} and {handoff.to_agent}"
    if name and not name.startswith(f"handoff-{handoff.from_agent}-to-{handoff.to_agent}-"):
        faults.append(("error", f"its name does not fit {pair}"))
    return faults


# The field for each key: its name, or that of the make variable; a story's also in `story_context`.
LIST_KEYS = {name: name for name in (*LISTS, "resolved")} | {"files": "files_modified"}
TEXT_KEYS = {name: name for name in Handoff.fields() if name not in LIST_KEYS} | {
    "from": "from_agent", "to": "to_agent", "task": "current_task",
}  # fmt: skip
_STORY_KEYS = {k: n for k, n in TEXT_KEYS.items() if n in (*IDENTITY, "story_status")}
_CHANGES = ("created", "modified", "deleted")  # keys that may group a list of files
_ARTIFACT = frozenset(["handoff", "from_agent", "to_agent", "story_context", "next_action"])
_NOTHING = ("none", "n/a", "-")
_UNSAID = ("", "null", "~", "[]")  # in place of a list: adds nothing, closes nothing


def read_fields(text: str, where: str) -> tuple[Fields, tuple[str, ...]]:
    """The fields in an artifact or draft, and a message for everything that was dropped.

    A draft uses the artifact's layout or the names of the make variables, as YAML or JSON. Other
    fields are dropped at any depth, so that no persona, command list or tool setting gets into an
    artifact. Raises ContextError unless it is a mapping.
    """
    bare = text.lstrip("\ufeff \t\r\n")
    if bare[:1] == "{":
        document = formats.from_json(text, where)
    else:
        from contextkit.base import packages

        packages.need("yaml")
        document = _first_artifact(text, where)
    dropped: list[str] = []
    if isinstance(document, dict) and isinstance(document.get("handoff"), dict):
        dropped = [f"{key}: is not carried over" for key in document if key != "handoff"]
        document = document["handoff"]
    if not isinstance(document, dict):
        how = "write lines of `name: value`, as handoff_show prints them"
        raise bad_input(f"{where}: not a handoff: {how}")
    fields = _taken(document, TEXT_KEYS, "", dropped)
    return fields, tuple(names.one_line(line)[:200] for line in dropped)


def _first_artifact(text: str, where: str) -> Any:
    """Load a YAML file; of several documents, return the first one that is an artifact."""
    documents = "\n".join(text.splitlines()).split("\n---")
    for document in documents if len(documents) > 1 else ():
        try:
            parsed = formats.from_yaml(document.removeprefix("---"), where)
        except ContextError:
            continue
        if isinstance(parsed, dict) and not _ARTIFACT.isdisjoint(parsed):
            return parsed
    return formats.from_yaml(text, where)


def _taken(values: Fields, texts: dict[str, str], above: str, dropped: list[str]) -> Fields:
    """The fields among values as written below the key `above`; what is dropped is added."""
    fields: Fields = {}
    for key, value in values.items():
        if key == "story_context" and isinstance(value, dict) and not above:
            fields |= _taken(value, _STORY_KEYS, f"{key}.", dropped)
        elif key in texts and isinstance(value, list | dict):
            dropped.append(f"{above}{key}: is not a line of text and is not carried over")
        elif key in texts:
            name = texts[key]
            fields[name] = _clean(name, _as_text(value))
            if name == "consumed":
                fields[name] = str(value).lower() == "true"
            elif name == "sequence":
                fields[name] = int(value) if names.is_whole(str(value), 9) else 0
        elif key in LIST_KEYS and not above:
            if items := tuple(_items(key, value, dropped)):
                fields[LIST_KEYS[key]] = () if len(items) == 1 and is_nothing(items[0]) else items
        else:
            dropped.append(f"{above}{key}: is not carried over")
    return fields


def _clean(name: str, text: str) -> str:
    """Normalize a text to one line, but keep story id, story path, task and branch unchanged."""
    if name not in IDENTITY:
        return names.one_line(text)
    return text.encode("utf-8", "replace").decode("utf-8").strip()  # without lone surrogates


def _clean_items(values: Iterable[str]) -> tuple[str, ...]:
    """Normalize a list: each item on one line, blank items left out."""
    return tuple(item for item in map(names.one_line, values) if item)


def is_nothing(text: str) -> bool:
    """Whether a word in place of a list says that it is empty, as in `blockers: none`."""
    return text.strip().lower() in _NOTHING


def is_unsaid(text: str) -> bool:
    """Whether a word in place of a list says nothing, as in `blockers: []`."""
    return text.strip().lower() in _UNSAID


def _as_text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else formats.to_json(value)


def _items(key: str, value: Any, dropped: list[str]) -> list[str]:
    """The items of a list; a text is one item, and files may be grouped by change."""
    items: list[str] = []
    by_change = isinstance(value, dict) and LIST_KEYS[key] == "files_modified"
    for change, paths in value.items() if by_change else ():
        if change in _CHANGES:
            items += [f"{path} ({change})" for path in _items(key, paths, dropped)]
        else:
            dropped.append(f"{key}.{change}: is not carried over")
    if isinstance(value, dict):
        dropped += [] if by_change else [f"{key}: is not a list and is not carried over"]
        return items
    if not isinstance(value, list):
        return [] if is_unsaid(_as_text(value)) else list(_clean_items((_as_text(value),)))
    for number, item in enumerate(value, start=1):
        if isinstance(item, list | dict):
            dropped.append(f"{key}, item {number}: is not a line of text and is not carried over")
        else:
            items += _clean_items((_as_text(item),))
    return items

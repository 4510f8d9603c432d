"""Capsules: what the main agent hands to the agent that takes over.

    <capsules>/<branch as folders>/<YYYYMMDDTHHMMSSZ>.md      committed with the branch

The format is described in manuals/capsules.md. No two branches share a folder, whatever their
names, and a branch always gets the same one. Its notebooks, `PLAN.md` and `PROGRESS.md`, are read
for their latest entries: level-2 headings, by their UTC times if they have some.
"""

from __future__ import annotations

import os

from contextkit.base import files, filters, formats, git, markdown, names, stores, templates
from contextkit.base.errors import ContextError, bad_input, remark
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.stores import Loaded
from contextkit.base.type_names import Any, Collection
from contextkit.base.version import refuse_newer

HIGHLIGHTS = "Transcript Highlights"
THREADS = "Exploratory Threads & User Preferences"
CHECKLIST = "Consistency Checklist"
# The seed's seven, which every capsule must have; the outline adds threads and checklist.
SECTIONS = (
    "Mission Snapshot",
    "Key Decisions & Rationale",
    "Active Workstreams",
    "Pending Actions",
    "Knowledge Base",
    "Risks & Watchpoints",
    HIGHLIGHTS,
)
MINI_SECTIONS = ("Mission Snapshot", "Pending Actions", "Risks & Watchpoints")
CHARACTERS_PER_TOKEN = 3.75  # the seed's: 1.2k tokens, about 4.5k characters

_STAMP = "00000000T000000Z"  # the form of a capsule's name
_NO_SESSION = "<fill in the latest session marker>"
_NO_OBJECTIVE = "<the objective in one sentence>"
_PLACEHOLDERS: dict[str, None] = {}  # those of the outline, filled on first use


class Capsule(Record):
    """The front matter of a capsule; keys in this order, unknown keys are ignored."""

    branch: str
    source_session: str
    created_at: str
    primary_objective: str
    token_budget: int
    version: str = "0.1"
    mini: bool = False
    workstream: str = ""
    replaces: str = ""  # the path of the capsule before it

    def check(self) -> None:
        for name in ("branch", "source_session", "created_at", "primary_objective"):
            if not getattr(self, name).strip():
                raise bad_input(f"front matter: {name} is blank")
        if names.shape(self.created_at) != "0000-00-00T00:00:00Z":
            like = f"like 2025-10-23T18:05:00Z, not {self.created_at!r}"
            raise bad_input(f"front matter: created_at must be {like}")
        if self.version.partition(".")[0] not in ("0", "1"):
            refuse_newer(self.version, "1", "front matter", status=2)
            raise bad_input(f"front matter: {self.version[:20]!r} is not a version of a capsule")


class Stored(Record):
    """A capsule on disk; `sha256` covers the whole file."""

    capsule: Capsule
    body: str
    sha256: str


def blank(branch: str, session: str, now: int, tokens_allowed: int, **more: Any) -> Capsule:
    """The front matter of a capsule still to be written; unknown values are placeholders."""
    return Capsule(
        branch=branch, source_session=session or _NO_SESSION, created_at=names.iso(now),
        primary_objective=_NO_OBJECTIVE, token_budget=tokens_allowed, **more,
    )  # fmt: skip


def outline(capsule: Capsule, plan: str, progress: str, reminders: tuple[object, ...] = ()) -> str:
    """The capsule to fill in, with `<…>` to be replaced; `plan` and `progress` are paths."""
    return templates.render(
        "capsule_outline.md", capsule=capsule, plan=plan, progress=progress, reminders=reminders
    )


def replacing(text: str, path: str) -> str:
    """The capsule `text` whose front matter says that it replaces the one at `path`."""
    gone = [at for at, line in enumerate(text.split("\n")) if line.startswith("replaces:")]
    return _edited(text, gone, [f"replaces: {filters.quoted(path, always=True)}"])


def _edited(text: str, gone: Collection[int], added: list[str]) -> str:
    """A capsule without some lines of its front matter, and with others at its end."""
    lines = text.split("\n")
    end = markdown.front_matter(lines)
    carriage = "\r" * lines[end].endswith("\r")
    kept = [line for at, line in enumerate(lines[:end]) if at not in gone]
    added = [line + carriage for line in added]
    return "\n".join([*kept, *added, *lines[end:]]) if end else text


def front_matter(outline: str) -> str:
    """The front matter of our `outline`, between its `---` lines."""
    return outline[: outline.index("\n---\n") + 5]


def adapted(outline: str, own: str) -> str:
    """Our front matter above the sections of a host's `own` outline, as a file to fill in."""
    lines = own.split("\n")
    marks = [number for number, line in enumerate(lines) if line.rstrip() == "---"][:2]
    if len(marks) == 2 and all(":" in line for line in lines[marks[0] + 1 : marks[1]]):
        lines = lines[marks[1] + 1 :]
    return front_matter(outline) + "\n".join(lines).strip() + "\n"


def template_document(limits_tokens: int) -> str:
    """The documented template file: its purpose, and the outline with nothing filled in."""
    capsule = blank("<branch>", "", 0, limits_tokens)
    capsule = capsule.replace(created_at="0000-00-00T00:00:00Z")
    paths = ("docs/branches/<slug>/PLAN.md", "docs/branches/<slug>/PROGRESS.md")
    return templates.render(
        "context_capsule_prompt.md", capsule=capsule, outline=outline(capsule, *paths)
    )


def parse(text: str, where: str = "capsule") -> tuple[Capsule, str]:
    """Parse the front matter and the body, which is unchanged. Raises ContextError by field."""
    values, body = formats.front_matter(text, where)
    return formats.build_known(Capsule, values, f"{where}: front matter"), body


def placeholders() -> tuple[str, ...]:
    """The `<…>` phrases of our own outline."""
    if not _PLACEHOLDERS:
        whole = outline(blank("b", "", 0, 1), "p", "q")
        pieces = (piece.partition(">") for piece in whole.split("<")[1:])
        _PLACEHOLDERS.update({f"<{inside}>": None for inside, end, _ in pieces if inside and end})
    return tuple(_PLACEHOLDERS)


def unfinished(text: str) -> bool:
    """Whether `text` is one of our stubs with placeholders left."""
    is_ours = text.startswith("---\n") and "<" in text
    return is_ours and any(mark in text for mark in placeholders())


def unwrapped(reply: str) -> str:
    """The capsule in an agent's reply, without a code fence or sentences around it."""
    text = reply.replace("\r\n", "\n").lstrip("\ufeff").strip()
    lines = text.split("\n")
    marks = [at for at, line in enumerate(lines) if line.rstrip() == "---"]
    start = next((at for at in marks if ":" in "".join(lines[at + 1 : at + 2])), 0)
    start = start or int(bool(markdown.fence_of(lines[0])))
    above = next((line.strip() for line in reversed(lines[:start]) if line.strip()), "")
    fence = markdown.fence_of(above)
    if fence:
        ends = (at for at in range(len(lines) - 1, 0, -1) if lines[at].strip() == fence)
        lines = lines[: next(ends, len(lines))]
    return "\n".join(lines[start:]).strip() + "\n"


def save(layout: Layout, text: str, path: str, replace: bool = False) -> str:
    """Write a finished capsule to `path` and return its path; the caller has checked it.

    A stub there is replaced; for any other file the capsule gets `-2`, unless `replace` is set.
    """
    from contextkit.base import shelf

    with files.locked(layout.lock(path)):
        for name in [path] if replace else files.numbered(*os.path.splitext(path)):
            there = files.read_if_there(name)
            if there == text:
                return name
            if replace or there is None or unfinished(there):
                break
        files.write(name, text)
    shelf.stored(layout, name, text, "capsule")
    return name


def load(layout: Layout, path: str) -> Stored:
    """Load the finished capsule at `path`. Raises ContextError for a stub or an invalid file."""
    shown = layout.shown(path)
    text = files.read(path)
    if unfinished(text):
        raise bad_input(f"{shown}: is a stub: fill it in first")
    capsule, body = parse(text.replace("\r\n", "\n"), shown)
    return Stored(capsule=capsule, body=body, sha256=names.sha256(text.encode()))


def load_all(layout: Layout) -> Loaded[Stored]:
    """The finished capsules of every branch, oldest first in each."""
    everywhere = [path for place in folders(layout) for path in paths(place)]
    there = [p for p in everywhere if names.shape(os.path.basename(p))[:16] == _STAMP]

    def read(path: str) -> Stored | None:
        return None if unfinished(files.read(path)) else load(layout, path)

    loaded = layout.load(there, read)
    return Loaded([(path, stored) for path, stored in loaded if stored], loaded.broken)


def latest(layout: Layout, branch: str, workstream: str = "") -> str:
    """The path of a branch's newest finished capsule, by the time in its name; or ''."""
    for path in reversed(paths(folder(layout, branch))):
        try:
            if workstream and load(layout, path).capsule.workstream != workstream:
                continue
            text = files.read(path)
            if text.startswith("---") and not unfinished(text):
                return path
        except ContextError:
            continue
    return ""


def current_branch(layout: Layout, typed: str = "") -> str:
    """The branch's name, or one that stands for a detached head. Raises ContextError."""
    if typed.strip():
        return typed
    if layout.repository is None:
        raise bad_input("branch: this is not a git repository: give branch=NAME")
    head = git.head(layout.repository)
    if not (head.branch or head.commit):
        raise ContextError(f"{layout.repository.folder}/HEAD: cannot be read: give branch=NAME")
    if not head.branch:
        remark(f"HEAD is detached: writing for {head.name}; give branch=NAME to choose")
    return head.name


def folders(layout: Layout) -> list[str]:
    """Every folder below the store; the store itself holds the inbox and no capsules."""
    return sorted(folder for folder, _, _ in os.walk(layout.capsules) if folder != layout.capsules)


def folder(layout: Layout, branch: str) -> str:
    """The folder of a branch: its parts as folders, with odd characters replaced by `-`.

    If another branch has it, in whatever case, `-` and six digits of the name's digest are added.
    Raises ContextError if it is a link.
    """
    parts = [names.dashed(part.strip()) for part in branch.split("/") if part.strip()]
    parts = ["-" + part[1:] if part.startswith(".") else part for part in parts]
    plain = os.path.join(layout.capsules, *(parts or ["unnamed-branch"]))
    digest = names.sha256(branch.encode("utf-8", "replace"))
    beside = os.path.join(layout.capsules, "-".join(parts))  # if a file is in the way of `plain`
    choices = (plain, f"{plain}-{digest[:6]}", f"{beside}-{digest[:6]}", f"{beside}-{digest}")
    own = (choice for choice in choices if _holds(choice, branch))
    free = (choice for choice in choices if not _taken(layout, choice, branch))
    return next(own, "") or next(free, choices[-1])


def _taken(layout: Layout, path: str, branch: str) -> bool:
    """Whether a file of that name, in any case, or another branch's capsules are there."""
    if f"{path}/".lower().startswith(f"{layout.reminders}/".lower()):
        return True
    here = [layout.capsules]
    for part in os.path.relpath(path, layout.capsules).split(os.sep):
        here = [os.path.join(above, name) for above in here for name in stores.names_in(above)
                if name.lower() == part.lower()]  # fmt: skip
        if not all(map(os.path.isdir, here)):
            return True
    return any(_holds(place, branch) is False for place in here)


def _holds(folder: str, branch: str) -> bool | None:
    """Whether the oldest capsule in `folder` with a branch has this one; None if none has one."""
    for path in paths(folder):
        try:
            named = formats.front_matter(files.text_of(path), path)[0].get("branch")
        except ContextError:
            continue
        if named:
            return bool(named == branch)
    return None


def paths(folder: str) -> list[str]:
    """The capsules in a branch's folder, oldest first, without links; odd names come first."""
    there = stores.files_in(files.proved(os.path.join(folder, "")), ".md")
    return [os.path.join(folder, name) for name in sorted(there, key=_age)]


def _age(name: str) -> tuple[str, int, str]:
    stamp, _, number = name.removesuffix(".md").partition("-")
    time = stamp if names.shape(stamp) == _STAMP else ""
    return time, int(number) if names.is_whole(number) else 1, name


def chosen_path(layout: Layout, file: str) -> str:
    """The target given as `file=`. Raises ContextError if no file can be there."""
    if file == "-":
        raise bad_input("file: name the file to write the capsule to, not standard input")
    path = layout.typed(file, "file")
    if os.path.isdir(path):
        raise bad_input(f"file: {layout.shown(path)} is a folder: name a file in it")
    return path


def path_at(layout: Layout, branch: str, created_at: str) -> str:
    """The path for a capsule of `branch` with this `created_at`, which becomes its name."""
    stamp = created_at.replace("-", "").replace(":", "")
    return os.path.join(folder(layout, branch), stamp + ".md")


def free_path(layout: Layout, branch: str, now: int) -> str:
    """Like `path_at`, but a taken name gets `-2`."""
    return files.free(*os.path.splitext(path_at(layout, branch, names.iso(now))))


def latest_entries(path: str, count: int) -> list[str]:
    """The `count` latest entries of a notebook, newest first. Raises ContextError if unreadable."""
    return entries(files.read(path))[:count] if os.path.isfile(path) else []


def entries(text: str) -> list[str]:
    """The entries of a notebook, newest first: by the times in their headings, else the last."""
    lines = text.replace("\r\n", "\n").split("\n")
    texts = ["\n".join(lines[a:b]).strip() for _, a, b in markdown.sections(lines, 2)]
    return sorted(reversed(texts), key=time_of, reverse=True)


def time_of(entry: str) -> str:
    """The time in the heading of an entry, `2025-10-23 18:05:00`, or ''."""
    words = entry.partition("\n")[0][3:].split()
    stamp = " ".join(words[:2])
    return stamp if stamp[:4].isdigit() and stamp[4:5] == "-" else ""


# The seal of a capsule, in its front matter, records the state it was written for.
#
#     head: 3b18e512dba79e4c8300dd08aeb37f8e728b8dad
#     references:
#       - "src/app.py 9f86d081884c7d65"
#
# This is the commit and a shortened digest of every file that the capsule refers to. It is read
# and written line by line, so that the rest of the file stays unchanged byte for byte.


_HEX = frozenset("0123456789abcdef")
_DIGEST = 16  # digits kept of a digest: a seal is no signature, and tokens are expensive


class Seal(Record):
    """The seal; `digests` maps paths to digests, '' for a file that was missing."""

    head: str = ""
    digests: dict[str, str] = {}  # noqa: RUF012  (a Record is never changed)


def seal_of(text: str) -> Seal | None:
    """The seal of a capsule, or None without one that can be read."""
    try:
        values, _ = formats.front_matter(text.replace("\r\n", "\n"), "capsule")
    except ContextError:
        return None
    if not {"head", "references"} & values.keys():
        return None
    head, listed = values.get("head", ""), values.get("references", [])
    named = [str(e).rpartition(" ") for e in (listed if isinstance(listed, list) else ())]
    digests = {path or digest: digest if path else "" for path, _, digest in named}
    is_commit = isinstance(head, str) and _HEX.issuperset(head)
    return Seal(head=head if is_commit else "", digests=digests)


def unsealed(text: str) -> str:
    """The capsule without its seal."""
    return sealed(text, Seal())


def sealed(text: str, seal: Seal) -> str:
    """The capsule with this seal, replacing any other, as the last lines of its front matter."""
    lines, gone, in_list = text.split("\n"), list[int](), False
    for at in range(1, markdown.front_matter(lines)):
        line = lines[at].rstrip()
        in_list = line == "references:" or (in_list and line.startswith("  - "))
        gone += [at] if in_list or line.startswith("head: ") else []
    added = [f"head: {seal.head}"] if seal.head else []
    added += ["references:"] if seal.digests else []
    for path, digest in seal.digests.items():
        added.append(f"  - {filters.quoted(f'{path} {digest[:_DIGEST]}'.rstrip(), always=True)}")
    return _edited(text, gone, added)

"""Changes to somebody's repository: collected in a plan, shown as a diff, carried out.

Everything is computed first: a `Plan` reads the host's files and collects what to write. It is then
shown (`told`) and written (`carry_out`). What we add to a text of the host's is a marked block
(`with_block`).
"""

from __future__ import annotations

import contextlib
import difflib
import os
import re
import shutil
import tempfile
from collections import Counter

from contextkit.base import files, git, makefiles, names, stores
from contextkit.base.errors import bad_input
from contextkit.base.records import Record
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents import vendored
from contextkit.hosts.documents.vendored import Adopted

_OPEN = ">>> contextkit: added by `make adopt`, removed by `make unadopt`"
_JOINED = _OPEN + " (with the line end before)"
_CLOSE = "<<< contextkit"
HASH = "# {}"
COMMENT = "<!-- {} -->"
_NOTHING = ("", "{}", '{"version":1}')  # the rest of a file that was ours alone
_RULES = ".gitignore"
_OTHER_FOLDERS = ("contextkit", "vendor/contextkit", "third_party/contextkit", ".tools/contextkit")


class Change(Record):
    """A file to write, or to remove if `new` is None; `path` is relative to the repository."""

    path: str
    old: bytes | None
    new: bytes | None
    ours: bool = False  # a whole file of the toolkit: no diff is shown

    @property
    def state(self) -> str:
        return "new" if self.old is None else "removed" if self.new is None else "changed"


class Plan:
    """The changes to make in `into`, as new contents of files; `record` is the state afterwards."""

    def __init__(self, into: str, folder: str, link: bool) -> None:
        self.into = into
        self.record_path = vendored.LINK_RECORD if link else f"{folder}/{vendored.RECORD}"
        self.before = self.record = vendored.load(os.path.join(into, self.record_path))
        self.files: dict[str, list[str]] = {}
        self.made = list(self.before.made)
        self.texts: dict[str, str] = {}
        self.written: dict[str, Change] = {}
        self.notes: list[str] = []
        self.programs: list[str] = []  # files to make executable

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(change for change in self.written.values() if change.old != change.new)

    def read(self, path: str) -> bytes | None:
        """A host's file with the changes so far; refuses a link that leads outside."""
        shown = self._real(path)
        real = os.path.join(self.into, shown)
        if shown in self.written:
            return self.written[shown].new
        if os.path.isdir(real):
            raise bad_input(f"{path}: is a folder: move it, then run this again")
        return files.read_bytes(real) if os.path.lexists(real) else None

    def _real(self, path: str) -> str:
        """The path without links."""
        real = files.inside(self.into, os.path.join(self.into, path), path)
        return os.path.relpath(real, self.into)

    def write(self, path: str, new: bytes | None, ours: bool = False) -> None:
        shown = self._real(path)
        old = self.written[shown].old if shown in self.written else self.read(path)
        self.written[shown] = Change(path=shown, old=old, new=new, ours=ours)

    def own(self, path: str, data: bytes, program: bool = False, editable: bool = False) -> None:
        """Add a whole file of ours: replace it if it is as we left it, never the host's own.

        An edited one is renamed first, or stays if it is `editable`.
        """
        there = self.read(path)
        if there not in (None, data) and path not in self.before.files:
            self.notes.append(f"{path}: exists and is not contextkit's: left alone")
            return
        if there not in (None, data) and not vendored.is_ours(self.before, path, there or b""):
            if editable:
                self.notes.append(f"{path}: was edited: kept (remove it to get the new one)")
                self.files[path] = self.before.files[path]
                return
            aside = next(n for n in files.numbered(f"{path}.edited") if self.read(n) is None)
            self.notes.append(f"{path}: was edited: your text is kept as {aside}")
            self.write(aside, there, ours=True)
        self.files[path] = [names.sha256(data)]
        if program:
            self.programs.append(path)
        if there != data:
            self.write(path, data, ours=True)

    def edit(self, path: str, new: str) -> None:
        """Change a file of the host, with a part of ours or without it; one that was ours goes."""
        old = self.read(path)
        if "".join(new.split()) in _NOTHING and path in self.before.made:
            self.write(path, None)
            return
        data = new.encode("utf-8", "surrogateescape")
        if old is None and new and path not in self.made:
            self.made.append(path)
        if (old or b"") != data:
            self.write(path, data)

    def text(self, path: str) -> str:
        return (self.read(path) or b"").decode("utf-8", "surrogateescape")


def told(plan: Plan, whole: bool) -> str:
    """A line for each file of the host's with the lines added and removed, or the `whole` diff.

    Of our own files their count, and then the notes.
    """
    lines = []
    for change in (change for change in plan.changes if not change.ours):
        texts = ((d or b"").decode("utf-8", "surrogateescape") for d in (change.old, change.new))
        old, new = map(str.splitlines, texts)
        before = "/dev/null" if change.old is None else change.path
        after = "/dev/null" if change.new is None else change.path
        made = list(difflib.unified_diff(old, new, before, after, lineterm=""))
        made = made or [f"--- {before}", f"+++ {after}"]
        signs = [line[:1] for line in made[2:]]
        parts = [f"{sign}{signs.count(sign)}" for sign in "+-" if sign in signs]
        lines += made if whole else [f"{change.path}: {change.state}, lines {' '.join(parts)}"]
    ours = Counter(change.state for change in plan.changes if change.ours)
    counted = ", ".join(f"{count} {state}" for state, count in ours.items())
    lines += [f"files of contextkit's own: {counted}"] if ours else []
    return "\n".join([*lines, *(f"note: {note}" for note in plan.notes)])


def carry_out(plan: Plan) -> None:
    """Write the plan: a record of both states, the files, then the record of the new state.

    If this is killed in between, the next run recognizes every file as ours, in either state.
    """
    gone = not plan.record.hosts
    if not gone:
        before, both = plan.before.files, {**plan.before.files, **plan.record.files}
        between = {path: list(dict.fromkeys([*before.get(path, []), *digests]))
                   for path, digests in both.items()}  # fmt: skip
        _write_record(plan, plan.record.replace(files=between))
    for change in plan.changes:
        path = os.path.join(plan.into, change.path)
        if change.new is None:
            files.discard(path)
        else:
            files.write(path, change.new)
    for path in (os.path.join(plan.into, name) for name in plan.programs):
        if not os.access(path, os.X_OK):
            os.chmod(path, 0o755)
    _tidy(plan)
    if gone:
        _sweep(plan)
    else:
        _write_record(plan, plan.record)


def _write_record(plan: Plan, record: Adopted) -> None:
    path, text = os.path.join(plan.into, plan.record_path), vendored.render(record)
    if plan.record_path == vendored.LINK_RECORD:
        files.store(os.path.dirname(path))
    if files.read_if_there(path) != text:
        files.write(path, text)


def _tidy(plan: Plan) -> None:
    """Remove the drafts of a killed run, such as `.Makefile.….tmp` next to the Makefile.

    And the folders of files of ours that are gone, with the byte code beside those.
    """
    written = [*plan.before.files, *plan.record.files, plan.record_path, *makefiles.NAMES]
    for host in hosts.every():
        written += [host.instructions, host.settings, host.local_settings]
    own = {os.path.join(plan.into, path) for path in written if path}
    for folder in {os.path.dirname(path) for path in own}:
        for name in filter(files.is_draft, stores.names_in(folder)):
            if os.path.join(folder, name[1:-17]) in own:  # `.Makefile.….tmp`
                files.discard(os.path.join(folder, name))
    gone = plan.before.files.keys() - plan.record.files.keys()
    emptied = {folder for path in gone for folder in parents(path)}
    for folder in sorted(emptied, key=len, reverse=True):
        if folder.startswith(f"{plan.record.folder}/"):
            place = os.path.join(plan.into, folder)
            shutil.rmtree(os.path.join(place, "__pycache__"), ignore_errors=True)
            with contextlib.suppress(OSError):  # something is in it, or it is gone
                os.rmdir(place)


def _sweep(plan: Plan) -> None:
    """Clean up after the last file: leftovers of set-up, the record, and empty folders."""
    record_path = os.path.join(plan.into, plan.record_path)
    state = os.path.dirname(record_path)
    is_link = plan.record_path == vendored.LINK_RECORD
    if plan.before.hosts and os.path.isfile(os.path.join(state, ".venv", "contextkit.mk")):
        shutil.rmtree(os.path.join(state, ".venv"), ignore_errors=True)
    if is_link or plan.before.hosts:
        files.discard(record_path)
    if is_link and stores.names_in(state) == [".gitignore"]:
        files.discard(os.path.join(state, ".gitignore"))
    for path in sorted(plan.before.made, key=len, reverse=True):
        with contextlib.suppress(OSError):  # something is in it, it is gone, or it is a file
            os.rmdir(os.path.join(plan.into, path))


def with_block(text: str, lines: str, style: str) -> str:
    """Put `lines` into `text` as our marked block, where that already is or else at the end.

        # >>> contextkit: added by `make adopt`, removed by `make unadopt`
        include tools/contextkit/Makefile
        # <<< contextkit

    `style` is HASH or COMMENT. A blank line separates the block from the text before it. Line
    endings follow the text; a text without a final line ending gets one, and the first marker
    records that.
    """
    there = _marked(style).search(text)
    before, after = (text[: there.start()], text[there.end() :]) if there else (text, "")
    base = before + after
    end = "\r\n" if base.count("\r\n") * 2 > base.count("\n") else "\n"
    joined = bool(there[1]) if there else bool(text) and not text.endswith("\n")
    glue = "" if there else end * (bool(text) + joined)
    marks = style.format(_JOINED if joined else _OPEN), style.format(_CLOSE)
    block = [marks[0], *lines.rstrip("\n").split("\n"), marks[1]]
    return before + glue + "".join(line + end for line in block) + after


def block_in(text: str) -> str:
    """Our block in a document of the host; '' if there is none."""
    there = _marked(COMMENT).search(text)
    return there[0] if there else ""


def without_block(text: str, style: str) -> str:
    """Remove our blocks without a trace, each with the blank line that was put before it."""
    while there := _marked(style).search(text):
        before = text[: there.start()]
        for _ in range(2 if there[1] else 1):
            before = before.removesuffix("\n").removesuffix("\r") if before else before
        text = before + text[there.end() :]
    return text


def _marked(style: str) -> re.Pattern[str]:
    """Match our block, with the line ending that it added as the first group, if any."""
    opening, joined, closing = (re.escape(style.format(mark)) for mark in (_OPEN, _JOINED, _CLOSE))
    end = r"\r*(?:\n|\Z)"
    return re.compile(f"^(?:{opening}|({joined})){end}(?:(?s:.*?)^{closing}{end})?", re.M)


# What git would ignore: a copy that it ignores works here but is missing from every clone.
# Exceptions are tested with git's own rules before they are suggested to anybody.


def root_above(into: str) -> str:
    """The root of the repository that a folder is in, links resolved; without one, the folder."""
    repository = git.find(into)
    return os.path.realpath(repository.top if repository else into)


def below_root(into: str) -> str:
    """The way from that root down to the folder; '' for the root itself."""
    way = os.path.relpath(os.path.realpath(into), root_above(into))
    return "" if way == "." else way


def ignored(into: str, paths: list[str]) -> dict[str, str]:
    """Those of `paths` that git ignores, each with the rule: `.gitignore:3: tools/`.

    None outside a repository, or of what git tracks. Raises ContextError if git does not answer.
    """
    return _asked(into, paths) if paths and git.find(into) else {}


def _asked(folder: str, paths: list[str], *options: str) -> dict[str, str]:
    asked = (*options, "check-ignore", "-v", "-z", "--stdin")
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"".join(os.fsencode(path) + b"\0" for path in paths))
        file.flush()
        fields = git.run(folder, *asked, stdin=file.name, fine=(0, 1)).split("\0")
    rows = zip(fields[0::4], fields[1::4], fields[2::4], fields[3::4], strict=False)
    return {path: f"{source}:{line}: {pattern}" for source, line, pattern, path in rows
            if not pattern.startswith("!")}  # fmt: skip


def described(hidden: dict[str, str]) -> list[str]:
    """One line per rule: where it is, and what it ignores."""
    lines = []
    for rule in dict.fromkeys(hidden.values()):
        first, *others = [path for path, its_rule in hidden.items() if its_rule == rule]
        lines.append(f"{rule} ignores {first}{f' and {len(others)} more' if others else ''}")
    return lines


def refuse(into: str, folder: str, paths: list[str]) -> None:
    """Raise ContextError, with the ways out, if git ignores any of the files to write."""
    own = os.path.exists(os.path.join(into, folder, ".git"))  # a repository of its own
    hidden = ignored(into, [p for p in paths if not (own and p.startswith(folder + "/"))])
    if not hidden:
        return
    why = "git ignores files that would be written, so no clone would have them"
    lines = [f"{why}; nothing was written", *(f"  {line}" for line in described(hidden))]
    lines.append(f"either {mend(into, folder, hidden)}")
    copy = [path.removeprefix(folder + "/") for path in hidden if f"{folder}/" in path]
    free = (other for other in _OTHER_FOLDERS if not os.path.exists(os.path.join(into, other)))
    seen = (other for other in free if not ignored(into, [f"{other}/{path}" for path in copy]))
    if copy and (other := next(seen, "")):
        lines.append(f"or put the copy into another folder: dir={other}")
    elif copy:
        lines.append("(another folder, dir=, does not help: that line applies to every folder)")
    if not all(path.startswith(folder + "/") for path in hidden):
        lines.append("or leave a host out (hosts=NAME), or write nothing here: link=1")
    raise bad_input("\n".join(lines))


def mend(into: str, folder: str, hidden: dict[str, str]) -> str:
    """Advice on how to bring `hidden` back, if possible by a command that appends exceptions."""
    repository, top = git.find(into), root_above(into)
    start = os.path.join(below_root(into), "")
    places = dict.fromkeys(rule.partition(":")[0] for rule in hidden.values())
    deeper = [place for place in places if place.endswith(f"/{_RULES}") and place[0] != "/"]
    paths = [start + path for path in hidden]
    lines = _exceptions(repository, paths, start + folder) if repository and not deeper else []
    if not lines:
        return f"remove that line from {' and '.join(places)}"
    place = names.word(os.path.join(os.path.relpath(top, into), _RULES).removeprefix("./"))
    return f"make exceptions: printf '%s\\n' {' '.join(map(names.word, lines))} >> {place}"


def _exceptions(repository: git.Repository, paths: list[str], folder: str) -> list[str]:
    """The lines that, appended, let git see `paths` again; empty if no lines can."""
    units = dict.fromkeys(f"{folder}/" if p.startswith(f"{folder}/") else p for p in paths)
    hidden = _asked(repository.top, sorted({parent for u in units for parent in parents(u)}))
    lines = []  # what else is in an ignored folder stays ignored
    for unit in units:
        way = parents(unit)
        first = next((n for n, parent in enumerate(way) if parent in hidden), len(way))
        opened = [line for parent in way[first:] for line in (f"!/{parent}", f"/{parent}*")]
        lines += opened[:-1] if unit.endswith("/") else [*opened, f"!/{unit}"]
    text = files.read_if_there(os.path.join(repository.top, _RULES)) or ""
    start = [""] if text and not text.endswith("\n") else []
    with tempfile.TemporaryDirectory(prefix="contextkit-ignores-") as scratch:
        options = (f"--git-dir={os.path.abspath(repository.folder)}", f"--work-tree={scratch}")
        for whole in ([], [f"!/{folder}/**"]):
            tried = [*start, *dict.fromkeys([*lines, *whole])]
            files.write(os.path.join(scratch, _RULES), text + "\n".join([*tried, ""]))
            if not _asked(scratch, paths, *options):
                return tried
    return []


def parents(path: str) -> list[str]:
    """`a/` and `a/b/` for `a/b/c`, and for `a/b/`."""
    return [path[: at + 1] for at, sign in enumerate(path) if sign == "/"]

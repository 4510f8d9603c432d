"""Whether a capsule is still up to date.

    seal        record the commit and the files that it refers to
    marks       the state of each of those files: fresh, changed, or missing
    since       what has happened since it was written
    staleness   why it is not up to date, as lines; none if it is
    told        the same for the agent that gets it, in few tokens
    mentions    its references (paths, commits, URLs, notebook entries), and whether they exist

A path is looked up below the root and, if shortened, among the tracked files. A path that the text
marks as `(new)` or `(gone)` need not exist.
"""

from __future__ import annotations

import os

from contextkit.base import files, git, markdown, names, references, tokens
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Iterator, Sequence
from contextkit.capsules.documents import branches, items
from contextkit.capsules.documents import store as capsules
from contextkit.capsules.documents.store import Seal
from contextkit.text import facts

_NAMED = 3  # commits and entries that are named, and twice as many files


def seal(layout: Layout, text: str) -> str:
    """Seal the capsule `text` for the current state; if that is unchanged, so are the bytes."""
    _, body = capsules.parse(text.replace("\r\n", "\n"))
    cited = mentions(layout, body)
    named = (mention.path for mention in cited if mention.path)
    kept = references.seal(layout.root, named)
    digests = {reference.path: reference.sha256 for reference in kept}
    before = capsules.seal_of(text)
    head = git.head(layout.repository).commit
    if head and before and before.head not in ("", head):
        changes = _changes(layout, f"{before.head}..HEAD", ())
        if changes and not changes[0]:
            head = before.head  # only capsules and the like were committed since
    return capsules.sealed(text, Seal(head=head, digests=digests))


def marks(layout: Layout, text: str) -> list[tuple[str, str]]:
    """The sealed references of a capsule with their states; none without a seal."""
    sealed = capsules.seal_of(text)
    kept = references.read(sealed.digests.items() if sealed else ())
    return [(reference.path, references.state(layout.root, reference)) for reference in kept]


class Since(Record):
    """What has happened since a capsule was written, newest first.

    commits: the subject by short hash; files: what they touched; entries: the first line by
    notebook and time; marks: the state of each sealed file that is not fresh; lost: the commit it
    was sealed at, if that is gone.
    """

    commits: dict[str, str]
    files: tuple[str, ...]
    entries: dict[tuple[str, str], str]
    marks: dict[str, str]
    lost: str = ""


def since(layout: Layout, path: str, ignored: Sequence[str] = (), ask_git: bool = True) -> Since:
    """Return what has happened since the capsule at `path` was written.

    Commits do not count that change only what is contextkit's, or the root-relative paths `ignored`
    (the scope of a launch). Raises ContextError if the capsule cannot be read.
    """
    text = files.read(path)
    capsule, _ = capsules.parse(text.replace("\r\n", "\n"), layout.shown(path))
    sealed = capsules.seal_of(text)
    changed = {name: state for name, state in marks(layout, text) if state != references.FRESH}
    news = Since(commits={}, files=(), entries=dict(_entries(layout, capsule)), marks=changed)
    if layout.repository is None or not ask_git:
        return news
    sealed_at = sealed.head if sealed else ""
    here, own = git.head(layout.repository), "refs/heads/" + capsule.branch
    elsewhere = here.branch != capsule.branch and git.commit_of(layout.repository, own)
    if sealed_at and sealed_at == (elsewhere or here.commit):
        return news
    tip = own if elsewhere else "HEAD"
    changes = _changes(layout, f"{sealed_at}..{tip}", ignored) if sealed_at else None
    lost = ""
    if changes is None:
        asked = ("rev-parse", "-q", "--verify", f"{sealed_at}^0")
        exists = not sealed_at or git.output(layout.repository.top, *asked)
        lost = "" if exists else sealed_at[:12]
        # the next second: the capsule was written on top of a commit with the same second
        later = f"--since={names.moment(capsule.created_at) + 1}"
        changes = _changes(layout, tip, ignored, later) or ({}, ())
    commits, touched = changes
    return news.replace(commits=commits, files=touched, lost=lost)


def staleness(
    layout: Layout, path: str, ignored: Sequence[str] = (), ask_git: bool = True
) -> list[str]:
    """Why the capsule at `path` is not up to date, as lines; see `since`."""
    return list(_lines(since(layout, path, ignored, ask_git), _NAMED))


def told(changes: Since, most: int) -> list[str]:
    """Return what has happened as lines for an agent, within `most` tokens; the newest stays."""
    lines: list[str] = []
    for count in (5, 3, 2, 1):
        lines = [names.one_line(line) for line in _lines(changes, count)]
        if tokens.estimate("\n".join(lines)) <= most:
            return lines
    lines = [tokens.clip(line, most // 2) for line in lines]
    while tokens.estimate("\n".join(lines)) > most:
        lines.pop()
    return lines


def _lines(changes: Since, count: int) -> Iterator[str]:
    """What has happened, with so many of the commits and entries, and twice as many files."""
    if changes.lost:
        yield f"The commit it was sealed at, {changes.lost}, is gone: history was rewritten"
    if changes.commits:
        named = [f"{commit} {names.clipped(what, 60)}" for commit, what in changes.commits.items()]
        where = f", in {_some(changes.files, 2 * count)}" if changes.files else ""
        yield f"{names.counted(len(named), 'commit')}: {_some(named, count, '; ')}{where}"
    for (shown, time), what in list(changes.entries.items())[:count]:
        yield f"{shown}, {time}: {names.clipped(what, 100)}"
    if changes.marks:
        changed = [f"{path} ({state})" for path, state in changes.marks.items()]
        yield f"Not as when it was sealed: {_some(changed, 2 * count)}"


def _some(items: Sequence[str], most: int, between: str = ", ") -> str:
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return between.join(items[:most]) + more


def _changes(
    layout: Layout, span: str, ignored: Sequence[str], *more: str
) -> tuple[dict[str, str], tuple[str, ...]] | None:
    """The commits that affect what a capsule describes, and the files they touch, as in `Since`.

    `more` are options of git log; None if git has no answer.
    """
    assert layout.repository is not None
    top = layout.repository.top
    asked = git.query(
        top, "-c", "core.quotePath=false", "log", "-200", "--no-show-signature", "--no-ext-diff",
        "--name-only", "--format=%x00%h%x1f%s", *more, span, "--",
        *git.all_but(top, (*layout.ours, *map(layout.join, ignored))),
    )  # fmt: skip
    listed = asked.output()
    if asked.failed:
        return None
    commits, touched = dict[str, str](), dict[str, None]()
    for part in listed.split("\0")[1:]:
        first, *paths = part.split("\n")
        commit, _, what = first.partition("\x1f")
        commits[commit] = names.one_line(what)
        touched |= dict.fromkeys(filter(None, paths))
    return commits, tuple(touched)


def _entries(layout: Layout, capsule: capsules.Capsule) -> Iterator[tuple[tuple[str, str], str]]:
    """The notebook entries newer than the capsule: notebook, time and first line, newest first."""
    written = capsule.created_at[:10] + " " + capsule.created_at[11:19]
    for name in ("PLAN", "PROGRESS"):
        path = layout.notebook(capsule.branch.replace("/", "-"), name)
        for entry in branches.latest_entries(path, 2):
            time = branches.time_of(entry)
            if time > written:
                line = entry.partition("\n")[2].strip().partition("\n")[0]
                yield (layout.shown(path), time), line.lstrip("-*+ ")


# References in a capsule


_EXPECTED = ("(new)", "(planned)", "(gone)", "(removed)", "(deleted)")
_CALLED = frozenset("commit commits revision rev head cherry-pick reverted reverts".split())
_MOST_COMMITS = 100  # commits that git is asked about


class Mention(Record):
    """A reference: `text` in line `line` of the body, `path` if it exists, or `problem`."""

    kind: str
    text: str
    line: int
    path: str = ""
    problem: str = ""


def mentions(layout: Layout, body: str) -> list[Mention]:
    """Every reference in a capsule's body, in order of lines."""
    body = _without_checklist(body)
    lines = body.split("\n")
    tree = _Tree(layout)
    cited: list[Mention] = []
    commits = 0
    for kind, text, line in facts.find(body):
        if kind in ("path", "location"):
            mention = _path(tree, text, line, lines[line - 1])
        elif kind == "commit" and commits < _MOST_COMMITS:
            commits += 1
            mention = _commit(layout, text, line, lines[line - 1])
        elif kind == "url":
            problem = "" if _is_url(text) else f"the URL {text} has no host"
            mention = Mention(kind="url", text=text, line=line, problem=problem)
        else:
            continue
        if mention:
            cited.append(mention)
    cited += _cited_entries(tree, lines)
    return sorted(cited, key=lambda mention: mention.line)


def _without_checklist(body: str) -> str:
    """The body without the checklist's text, which names the notebooks even if there are none."""
    lines = body.split("\n")
    for title, first, end in items.sections_of(lines):
        if title == capsules.CHECKLIST:
            lines[first:end] = [""] * (end - first)
    return "\n".join(lines)


class _Tree:
    """The files of a repository, looked up on disk and, for a shortened path, in git."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self._tracked: list[str] | None = None

    def path(self, text: str) -> str:
        """The root-relative path that `text` refers to; '' if there is none."""
        plain = os.path.normpath(text)
        inside = not os.path.isabs(plain) and plain.split("/")[0] != ".."
        if inside and os.path.lexists(self.layout.join(plain)):
            return plain
        ending = "/" + plain
        return next((path for path in self.tracked if f"/{path}".endswith(ending)), "")

    @property
    def tracked(self) -> list[str]:
        if self._tracked is None:
            listed = git.output(self.layout.root, "ls-files", "-z")
            self._tracked = listed.split("\0")
        return self._tracked


def _path(tree: _Tree, text: str, line: int, whole: str) -> Mention | None:
    """A mention of a path; None for a lookalike, such as a branch, an address, or a pattern."""
    path = text.partition("#L" if "#L" in text else ":")[0]
    outside = path.startswith(("/", "~", "../")) or any(char in path for char in "*{}")
    if outside or path.startswith("@"):
        return None
    target = tree.path(path)
    if target:
        problem = _past_the_end(tree.layout.join(target), text[len(path) :])
        return Mention(kind="path", text=text, line=line, path=target, problem=problem)
    top = path.removeprefix("./").split("/")[0]
    is_file = "." in os.path.basename(path.rstrip("/"))[1:]
    if not is_file and not os.path.isdir(tree.layout.join(top)):
        return None  # `feature/my-branch`
    after = whole[whole.find(path) + len(path) :].lstrip("`*:0123456789 ").lower()
    if after.startswith(_EXPECTED):
        return None
    return Mention(kind="path", text=text, line=line, problem=f"there is no {path} here")


def _past_the_end(path: str, lines: str) -> str:
    """What is wrong with the line number, or range, after a file's name."""
    last = lines.lstrip(":").replace("#L", "").replace("L", "").split(":")[0].split("-")[-1]
    is_entry = lines[:1] == "#" and path.endswith(".md")  # which is looked up by itself
    if is_entry or not names.is_whole(last, 9) or not os.path.isfile(path):
        return ""
    there = len(files.read_bytes(path).splitlines())
    return f"{os.path.basename(path)} has {there} lines, not {last}" if int(last) > there else ""


def _commit(layout: Layout, text: str, line: int, whole: str) -> Mention | None:
    """A mention of a commit; None for a hash that is not a commit and is not called one.

    A hash alone in parentheses is one, which is how the design cites commits.
    """
    if layout.repository is None or len(text) > 40:
        return None  # 64 digits are a digest
    full = git.output(
        layout.repository.top, "rev-parse", "--verify", "--quiet", f"{text}^{{commit}}"
    )
    before = [word.strip("`*_:()[],.").lower() for word in whole[: whole.find(text)].split()]
    alone = f"({text})" in whole.replace("`", "") and not text.isalpha()
    if not full and not alone and not _CALLED.intersection(before[-2:]):
        return None
    problem = "" if full else f"there is no commit {text} here"
    return Mention(kind="commit", text=text, line=line, problem=problem)


def _is_url(url: str) -> bool:
    scheme, _, rest = url.partition("://")
    host = rest.split("/")[0].split("?")[0].rpartition("@")[2].partition(":")[0]
    valid = scheme.lower() in ("http", "https") and host.strip(".") == host and bool(host)
    return valid and all(char.isalnum() or char in ".-_" for char in host)


def _cited_entries(tree: _Tree, lines: list[str]) -> Iterator[Mention]:
    """Mentions such as `PLAN.md#next-actions`, or a notebook followed by the time of an entry."""
    for number, line in enumerate(lines, start=1):
        if ".md" not in line:
            continue
        words = [word.strip("`\"'()[]<>,;*.") for word in line.replace("](", " ").split()]
        for word in words:
            path, mark, anchor = word.partition("#")
            if not path.endswith(".md") or "://" in word:
                continue
            target = tree.path(path)
            wanted = anchor if mark else _time_after(line, path)
            if not wanted or (not target and not mark):
                continue  # a missing path is reported by itself
            problem = f"there is no {path} here"
            if target:
                there = _has_entry(tree.layout, target, wanted, bool(mark))
                problem = "" if there else f"{target} has no entry {wanted!r}"
            text = f"{path}#{wanted}" if mark else f"{path} {wanted}"
            yield Mention(kind="entry", text=text, line=number, path=target, problem=problem)


def _time_after(line: str, path: str) -> str:
    """A time such as `2025-10-23 18:05` (seconds are optional) right after a path; otherwise ''."""
    rest = line[line.find(path) + len(path) :].lstrip("`*_,:@ (—–-").replace("T", " ")
    for form in ("0000-00-00 00:00:00", "0000-00-00 00:00"):
        if names.shape(rest[: len(form)]) == form:
            return rest[: len(form)]
    return ""


def _has_entry(layout: Layout, path: str, wanted: str, is_anchor: bool) -> bool:
    try:
        text = files.read(layout.join(path))
    except ContextError:
        return False
    heads = [title for _, _, title in markdown.headings(text.split("\n"))]
    if not is_anchor:
        return any(wanted in head.replace("T", " ") for head in heads)
    last = wanted.replace("L", "").split("-")[-1]
    if wanted.startswith("L") and names.is_whole(last, 9):
        return int(last) <= len(text.splitlines())
    slug = names.slug(wanted, len(wanted))
    return any(names.slug(head, len(head)) == slug for head in heads)

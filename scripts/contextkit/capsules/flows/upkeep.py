"""What happens to a capsule once it is written: it is checked, saved, sealed, listed, and pruned.

git decides what is merged, and only clear cases are removed: the newest capsule of a branch stays
unless the branch is certainly merged, and so does anything that cannot be read.
"""

from __future__ import annotations

import os

from contextkit.base import addresses, files, git, markdown, names, redaction, references, tokens
from contextkit.base.errors import ContextError, NewerFormat, bad_input, remark
from contextkit.base.layout import Layout
from contextkit.base.records import NamedTuple, Record
from contextkit.base.settings import Limits
from contextkit.base.type_names import Callable, Iterator, Sequence
from contextkit.capsules.documents import reminders
from contextkit.capsules.documents import store as capsules
from contextkit.capsules.documents.items import carried, items, sections_of, with_carried
from contextkit.capsules.documents.store import Capsule, Seal
from contextkit.capsules.flows import given
from contextkit.text import facts, fitting

ERROR, WARNING = "error", "warning"  # an error keeps it from being saved or used in a launch
_NEXT_STEPS = ("next discovery step", "next step", "next:")


class Lint(NamedTuple):
    """A problem; `line` counts from 1 in the file, and is 0 if it concerns the whole."""

    what: str
    line: int = 0
    mend: str = ""
    severity: str = ERROR

    def formatted(self, where: str, grade: str = "") -> str:
        """`capsule.md:12: error: …: …`, the usual form that editors understand."""
        place = f"{where}:{self.line}" if self.line else where
        return ": ".join(filter(None, (place, grade, self.what, self.mend)))


def _warning(what: str, line: int = 0, mend: str = "") -> Lint:
    return Lint(what, line, mend, WARNING)


def problems(layout: Layout, text: str, where: str = "capsule", above: int = 0) -> list[str]:
    """What keeps `text` from being a finished capsule: the errors of `check`, as sentences.

    `above` is the number of lines above it.
    """
    wrong = (lint for lint in _of_text(layout, text) if lint.severity == ERROR)
    placed = (lint._replace(line=lint.line + above) if lint.line else lint for lint in wrong)
    return [lint.formatted(where) for lint in placed]


def check(layout: Layout, path: str) -> list[Lint]:
    """Every problem with the capsule at `path`, in order of lines."""
    text = files.read(path).replace("\r\n", "\n").removeprefix("\ufeff")
    findings = _of_text(layout, text)
    try:
        capsule, body = capsules.parse(text)
    except ContextError:
        return findings  # without front matter there is nothing to compare with
    stale = given.staleness(layout, path)
    findings += [_warning(f"stale: {reason}", mend="write a new one") for reason in stale]
    inbox = () if capsule.mini else reminders.load_all(layout).whole().documents
    still_open, most = reminders.newest_open(inbox), layout.limits.capsule_prompt_reminders
    for reminder in still_open[:most]:  # each is to be taken in or dismissed, and marked as done
        label = names.one_line(reminder.topic or tokens.clip(reminder.note, 12))
        done = f"make reminder_done id={reminder.id} into="
        is_in = reminder.id in body
        what = f"the reminder {reminder.id} ({label}) is {'still open' if is_in else 'not in it'}"
        mend = f"{done}{layout.shown(path)}" if is_in else f"add it, or run {done}dropped"
        findings.append(_warning(what, 0, mend))
    if len(still_open) > most:
        what = f"{len(still_open) - most} older reminders are open too"
        findings.append(_warning(what, mend="make context_reminders"))
    return sorted(findings, key=lambda finding: finding.line)


def _of_text(layout: Layout, text: str) -> list[Lint]:
    """Every problem of the text and its references, in order of lines."""
    limits = layout.limits
    mend = "remove it, use redact=1, or list it in secrets_allow"
    seal_in = capsules.seal_of(text)  # the sealed commit would look like a secret
    bare = text.replace(f"\nhead: {seal_in.head}\n", "\nhead:\n") if seal_in else text
    there = redaction.found(bare, limits.secrets_allow)[: redaction.MOST_NAMED]
    secrets = [Lint(f"looks like a secret ({s.kind})", s.line, mend) for s in there]
    try:
        capsule, body = capsules.parse(text, "")
    except ContextError as error:
        what = str(error).removeprefix(":").strip()
        head = enumerate(text.partition("\n---")[0].split("\n"), 1)
        keys = {line.partition(":")[0]: at for at, line in head if ":" in line}
        named = (keys[word] for word in what.replace(":", " ").split() if word in keys)
        return [Lint(what, next(named, 1)), *secrets]
    offset = text.count("\n") - body.count("\n")
    findings = list(_sections(capsule, body, offset, limits.capsule_highlights))
    for number, line in enumerate(text.split("\n"), start=1):
        marks = (mark for mark in capsules.placeholders() if mark in line)
        findings += [Lint(f"the placeholder {mark} is still there", number) for mark in marks]
    findings += _size(text, capsule, limits)
    for mention in (mention for mention in mentions(layout, body) if mention.problem):
        more = ", or add (new) or (gone) after it" if mention.kind == "path" else ""
        findings.append(Lint(mention.problem, offset + mention.line, f"correct it{more}"))
    return sorted([*findings, *secrets], key=lambda finding: finding.line)


def _sections(capsule: Capsule, body: str, offset: int, most: int) -> Iterator[Lint]:
    """Missing sections; more than `most` highlights; threads without a next step."""
    heads = markdown.sections(body.split("\n"), 1)
    there = {title: at + 1 for title, at, _ in heads}
    for section in capsules.MINI_SECTIONS if capsule.mini else capsules.SECTIONS:
        if section not in there:
            yield Lint(f"the section `# {section}` is missing")
    for section in () if capsule.mini else (capsules.THREADS, capsules.CHECKLIST):
        if section not in there:
            yield _warning(f"the section `# {section}` is missing")
    listed = [item for item in items(body) if item.listed]
    count = sum(item.section == capsules.HIGHLIGHTS for item in listed)
    if count > most:
        what = f"{count} transcript highlights, more than {most}"
        yield _warning(what, offset + there[capsules.HIGHLIGHTS], "keep the pivotal ones")
    for item in listed:
        lower = item.text.lower()
        is_preference = "preference" in lower.partition("\n")[0][:20]
        if item.section != capsules.THREADS or is_preference or item.closed:
            continue
        if not any(step in lower for step in _NEXT_STEPS):
            what = "an exploratory thread has no next discovery step"
            yield _warning(what, offset + item.line, "say what to find out first, or whom to ask")


def _size(text: str, capsule: Capsule, limits: Limits) -> Iterator[Lint]:
    """Check the budget without the seal, which is added later and reaches no subagent."""
    size, budget = tokens.estimate(capsules.unsealed(text)), capsule.token_budget
    if size > budget:
        lint = Lint if size > budget * tokens.CAUTION else _warning
        yield lint(f"~{size} tokens, more than its budget of {budget}", mend="shorten it")
    most, percent = limits.subagent_prompt_ceiling, limits.capsule_warn_percent
    if size * 100 > percent * most:
        what = f"~{size} tokens, above {percent} % of the {most} that a subagent's prompt may have"
        yield _warning(what, mend="shorten it, or launch with capsule_show max_tokens=")


def save(
    layout: Layout, reply: str, now: int, file: str, branch: str, overwrite: bool, redact: bool
) -> str:
    """Save the capsule in `reply`, by default in its branch's folder; return its path.

    Raises ContextError naming every error, or if it is not of `branch`; nothing is written then.
    """
    text = capsules.unwrapped(reply)
    if not text.strip():
        raise bad_input("standard input is empty: pipe the agent's reply in")
    before = reply.replace("\r\n", "\n").partition(text.strip())[0].count("\n")
    if redact:
        text, secrets = redaction.redacted(text, layout.limits.secrets_allow)
        if secrets:
            remark(f"redacted: {redaction.summary(secrets)}")
    if wrong := problems(layout, text, "reply", before):
        raise bad_input("\n".join([*wrong, "nothing was written"]))
    capsule, body = capsules.parse(text)
    if branch and branch != capsule.branch:
        raise bad_input(f"branch={branch}: the capsule says {capsule.branch!r}")
    here = git.head(layout.repository).name
    if not branch and here not in ("", capsule.branch):
        remark(f"the capsule is of {names.one_line(capsule.branch)}; this is {here}")
    path = (capsules.chosen_path(layout, file) if file
            else capsules.path_at(layout, capsule.branch, capsule.created_at))  # fmt: skip
    offset = before + text.count("\n") - body.count("\n")
    lints = _sections(capsule, body, offset, layout.limits.capsule_highlights)
    remark(*(lint.formatted("reply") for lint in lints if lint.severity == WARNING))
    text = _continued(layout, text, capsule)
    saved = capsules.save(layout, text, path, replace=overwrite)
    if saved != path:
        remark(f"{layout.shown(path)} already exists and is not a stub: saved next to it")
    _take_in(layout, text, layout.shown(saved), now)
    size = tokens.estimate(text)
    above = ": above the budget" if size > capsule.token_budget else ""
    remark(f"~{size} tokens of {capsule.token_budget}{above}")
    return saved


def _continued(layout: Layout, text: str, capsule: Capsule) -> str:
    """The capsule, with the one that it replaces and the items that it carries over."""
    before, _ = given.newest(layout, capsule.branch, capsule.workstream)
    if not before:
        return text
    shown = layout.shown(before)
    try:
        loaded = capsules.load(layout, before)
    except ContextError as error:
        remark(f"what it replaces cannot be read: {error}")
        return text
    if loaded.capsule.created_at >= capsule.created_at:
        return text
    open_ones = [] if capsule.mini else carried(loaded.body, capsules.parse(text)[1])
    text = capsules.replacing(text, shown)
    head = text[: len(text) - len(capsules.parse(text)[1])]

    def having(texts: Sequence[str]) -> str:
        taken = [item for item, own in zip(open_ones, texts, strict=True) if own]
        return head + with_carried(text[len(head) :], taken) if taken else text

    def fits(texts: Sequence[str]) -> bool:
        return tokens.estimate(capsules.unsealed(having(texts))) <= capsule.token_budget

    last_first = (([at], 0) for at in reversed(range(len(open_ones))))
    texts = fitting.fit(fitting.parts([item.text for item in open_ones], last_first), fits)
    whole, kept = having(texts), sum(map(bool, texts))
    for item in open_ones[:kept]:
        remark(f"carried over from {shown}: {names.clipped(item.bare, 80)}")
    if left := len(open_ones) - kept:
        remark(f"{names.counted(left, 'open item')} of {shown} did not fit in the budget")
    return whole


def _take_in(layout: Layout, text: str, shown: str, now: int) -> None:
    """Mark the open reminders that the capsule names as taken in."""
    try:
        noted = reminders.newest_open(reminders.load_all(layout).whole().documents)
        named = [reminder.id for reminder in reversed(noted) if reminder.id in text]
        reminders.finish(layout, layout.reminders, named, shown, now)
        remark(*([f"marked as taken in: {', '.join(named)}"] if named else ()))
    except ContextError as error:
        remark(f"no reminder was marked as taken in: {error}")


def seal(layout: Layout, path: str) -> bool:
    """Record digests and commit in the capsule at `path`; return whether that changed the file."""
    with files.locked(layout.lock(path)):
        text = files.read(path)
        new = sealed(layout, text)
        if new != text:
            files.write(path, new)
    return new != text


def sealed(layout: Layout, text: str) -> str:
    """Seal the capsule `text` for the current state; if that is unchanged, so are the bytes."""
    _, body = capsules.parse(text.replace("\r\n", "\n"))
    cited = (mention.path for mention in mentions(layout, body) if mention.path)
    digests = {named.path: named.sha256 for named in references.seal(layout.root, cited)}
    before = capsules.seal_of(text)
    head = git.head(layout.repository).commit
    if head and before and before.head not in ("", head):
        news = given.commits_in(layout, f"{before.head}..HEAD", ())
        if news and not news[0]:
            head = before.head  # only our own files were committed since
    return capsules.sealed(text, Seal(head=head, digests=digests))


def redact(layout: Layout, path: str) -> int:
    """Replace the secrets in the capsule at `path`; return their number."""
    with files.locked(layout.lock(path)):
        text, secrets = redaction.redacted(files.read(path), layout.limits.secrets_allow)
        if secrets:
            files.write(path, text)
    return len(secrets)


class Row(Record):
    """A capsule in a list: stub, finished, newer, or unreadable; `id` is its path."""

    id: str
    branch: str = ""
    created_at: str = ""
    tokens: int = 0
    state: str
    workstream: str = ""
    primary_objective: str = ""
    ref: str


def listed(layout: Layout, branch: str = "", workstream: str = "") -> list[Row]:
    """The capsules of a branch ('' for all branches), stubs included, oldest first."""
    folders = [capsules.folder(layout, branch)] if branch else capsules.folders(layout)
    rows = [row(layout, path) for folder in folders for path in capsules.paths(folder)]
    return [capsule for capsule in rows if workstream in ("", capsule.workstream)]


def row(layout: Layout, path: str) -> Row:
    """The row of the capsule at `path` in a list."""
    shown, ref = layout.shown(path), addresses.of(layout, path, "capsule")
    try:
        text = files.read(path).replace("\r\n", "\n")
        capsule, _ = capsules.parse(text, shown)
    except ContextError as error:
        state = "newer" if isinstance(error, NewerFormat) else "unreadable"
        return Row(id=shown, state=state, ref=ref)
    return Row(
        id=shown, branch=capsule.branch, created_at=capsule.created_at, ref=ref,
        tokens=tokens.estimate(capsules.unsealed(text)), workstream=capsule.workstream,
        state="stub" if capsules.unfinished(text) else "finished",
        primary_objective=capsule.primary_objective,
    )  # fmt: skip


_HEADS = "refs/heads/"
_MAINS = ("refs/heads/main", "refs/heads/master", "refs/remotes/origin/HEAD")


def prune(
    layout: Layout, now: int, keep: int = 0, older_than: str = "", merged: bool = False,
    dry_run: bool = False,
) -> dict[str, str]:  # fmt: skip
    """Remove all but the newest `keep`, what is older than a duration, or only what is `merged`.

    By default: superseded capsules older than `capsule_prune_days`, and those of merged branches.
    Returns why each goes, by its path; with `dry_run` all stay.
    """
    from contextkit.base import shelf

    usual = "0" if keep else f"{layout.limits.capsule_prune_days}d"
    age = names.seconds(older_than or usual, "older_than")
    only_merged = merged and not (keep or older_than)
    going: dict[str, str] = {}
    for folder in capsules.folders(layout):
        rows = [row(layout, path) for path in capsules.paths(folder)]
        rows = [row for row in rows if row.state == "finished"]
        arrived = _merged(layout, rows)
        going |= {row.id: f"{row.branch} is merged" for row in arrived}
        if not only_merged:
            streams = {row.workstream for row in rows}
            own = ([row for row in rows if row.workstream == name] for name in streams)
            newest = [row for stream in own for row in stream[-max(keep, 1) :]]
            old = (row for row in rows if row not in newest and row not in arrived)
            old = (row for row in old if now - names.moment(row.created_at) >= age)
            going |= dict.fromkeys((row.id for row in old), "superseded")
    for path in () if dry_run else map(layout.join, going):
        files.inside(layout.capsules, path, "capsule")
        shelf.remove(layout, path, "capsule")
    return going


def _merged(layout: Layout, rows: list[Row]) -> list[Row]:
    """The members of `rows`, all from one branch, that reached the default branch."""
    repository = layout.repository
    branches = {row.branch for row in rows}
    if repository is None or len(branches) != 1:
        return []
    refs = [git.followed(repository, place) for place in _MAINS]
    main, branch = next((ref for ref, commit in refs if commit), ""), branches.pop()
    is_main = main.rpartition(_HEADS)[2] == branch or main.endswith(f"/{branch}")
    if not main or is_main or git.head(repository).branch == branch:
        return []
    tip = git.commit_of(repository, _HEADS + branch)
    if tip:  # a commit on main's own line may be that of a new branch: unclear
        base = git.output(repository.top, "merge-base", main, tip).strip()
        line = git.output(repository.top, "rev-list", "--first-parent", main).split()
        return rows if base == tip and tip not in line else []
    if git.output(repository.top, "for-each-ref", f"refs/remotes/*/{branch}"):
        return []  # somebody else may still be working on it
    arrived = git.output(layout.root, "ls-tree", "-r", "-z", "--name-only", main, "--", ".")
    return [row for row in rows if row.id in arrived.split("\0")]


# References in a capsule. A path is looked up below the root and, if shortened, among the tracked
# files. A path that the text marks as `(new)` or `(gone)` need not exist.


_EXPECTED = ("(new)", "(planned)", "(gone)", "(removed)", "(deleted)")
_CALLED = frozenset("commit commits revision rev head cherry-pick reverted reverts".split())
_MOST_COMMITS = 100  # commits looked up in git at most
Find = Callable[[str], str]  # where a path that is mentioned is, from the root


class Mention(Record):
    """A reference: `text` in line `line` of the body, `path` if it exists, or `problem`."""

    kind: str
    text: str
    line: int
    path: str = ""
    problem: str = ""


def mentions(layout: Layout, body: str) -> list[Mention]:
    """Every reference in a capsule's body but the checklist, in order of lines."""
    lines = body.split("\n")
    for title, first, end in sections_of(lines):
        if title == capsules.CHECKLIST:
            lines[first:end] = [""] * (end - first)
    tracked = git.output(layout.root, "ls-files", "-z").split("\0")

    def there(text: str) -> str:
        """The root-relative path that a text refers to, maybe a shortened one; '' for none."""
        plain = os.path.normpath(text)
        inside = not os.path.isabs(plain) and plain.split("/")[0] != ".."
        if inside and os.path.lexists(layout.join(plain)):
            return plain
        return next((path for path in tracked if f"/{path}".endswith("/" + plain)), "")

    cited = list[Mention]()
    commits = 0
    spaced, plain = _with_blanks(there, lines)
    for kind, text, line in (*spaced, *facts.find("\n".join(plain))):
        judged = None  # the path if it exists, and the problem
        if kind in ("path", "location"):
            kind, judged = "path", _path(layout, there, text, lines[line - 1])
        elif kind == "commit" and commits < _MOST_COMMITS:
            commits += 1
            judged = _commit(layout, text, lines[line - 1])
        elif kind == "url":
            judged = "", "" if _is_url(text) else f"the URL {text} has no host"
        if judged:
            path, problem = judged
            cited.append(Mention(kind=kind, text=text, line=line, path=path, problem=problem))
    cited += _cited_entries(layout, there, plain)
    return sorted(cited, key=lambda mention: mention.line)


def _with_blanks(there: Find, lines: list[str]) -> tuple[list[facts.Fact], list[str]]:
    """Each path with blanks, which stands in backticks; and the lines without these.

    A file that is missing counts if its folder has the blank: `cat docs/a.md` is no path.
    """
    paths, plain = list[facts.Fact](), list[str]()
    for number, line in enumerate(lines, start=1):
        for text in line.split("`")[1:-1] if " " in line else ():
            place = text if "#L" in text else text.partition("#")[0]
            path = place.partition("#L" if "#L" in place else ":")[0]
            folder = os.path.dirname(path)
            is_there = " " in path and there(path)
            if is_there or (" " in folder and there(folder)):
                paths.append(("path", place, number))
                line = line.replace(f"`{text}`", "``")
        plain.append(line)
    return paths, plain


def _path(layout: Layout, there: Find, text: str, whole: str) -> tuple[str, str] | None:
    """A mentioned path; None for a lookalike, such as a branch, an address, or a pattern."""
    path = text.partition("#L" if "#L" in text else ":")[0]
    outside = path.startswith(("/", "~", "../")) or any(char in path for char in "*{}")
    if outside or path.startswith("@"):
        return None
    target = there(path)
    if target:
        return target, _past_the_end(layout.join(target), text[len(path) :])
    top = path.removeprefix("./").split("/")[0]
    is_file = "." in os.path.basename(path.rstrip("/"))[1:]
    if not is_file and not os.path.isdir(layout.join(top)):
        return None  # `feature/my-branch`
    after = whole[whole.find(path) + len(path) :].lstrip("`*:0123456789 ").lower()
    return None if after.startswith(_EXPECTED) else ("", f"there is no {path} here")


def _past_the_end(path: str, lines: str) -> str:
    """What is wrong with the line number, or range, after a file's name."""
    last = lines.lstrip(":").replace("#L", "").replace("L", "").split(":")[0].split("-")[-1]
    is_entry = lines[:1] == "#" and path.endswith(".md")  # looked up separately
    if is_entry or not names.is_whole(last, 9) or not os.path.isfile(path):
        return ""
    there = len(files.read_bytes(path).splitlines())
    return f"{os.path.basename(path)} has {there} lines, not {last}" if int(last) > there else ""


def _commit(layout: Layout, text: str, whole: str) -> tuple[str, str] | None:
    """A mentioned commit; None for digits that neither are one nor are cited as one."""
    if layout.repository is None or len(text) > 40:
        return None  # 64 digits are a digest
    asked = ("rev-parse", "--verify", "--quiet", f"{text}^{{commit}}")
    full = git.output(layout.repository.top, *asked)
    before = [word.strip("`*_:()[],.").lower() for word in whole[: whole.find(text)].split()]
    alone = f"({text})" in whole.replace("`", "") and not text.isalpha()
    if not full and not alone and not _CALLED.intersection(before[-2:]):
        return None
    return "", "" if full else f"there is no commit {text} here"


def _is_url(url: str) -> bool:
    scheme, _, rest = url.partition("://")
    host = rest.split("/")[0].split("?")[0].rpartition("@")[2].partition(":")[0]
    valid = scheme.lower() in ("http", "https") and host.strip(".") == host and bool(host)
    return valid and all(char.isalnum() or char in ".-_" for char in host)


def _cited_entries(layout: Layout, there: Find, lines: list[str]) -> Iterator[Mention]:
    """Mentions such as `PLAN.md#next-actions`, or a notebook followed by the time of an entry."""
    for number, line in enumerate(lines, start=1):
        if ".md" not in line:
            continue
        words = [word.strip("`\"'()[]<>,;*.") for word in line.replace("](", " ").split()]
        for word in words:
            path, mark, anchor = word.partition("#")
            if not path.endswith(".md") or "://" in word:
                continue
            target = there(path)
            wanted = anchor if mark else _time_after(line, path)
            if not wanted or (not target and not mark):
                continue  # a missing path is reported by itself
            problem = f"there is no {path} here"
            if target:
                has_it = _has_entry(layout, target, wanted, bool(mark))
                problem = "" if has_it else f"{target} has no entry {wanted!r}"
            text = f"{path}#{wanted}" if mark else f"{path} {wanted}"
            yield Mention(kind="entry", text=text, line=number, path=target, problem=problem)


def _time_after(line: str, path: str) -> str:
    """A time such as `2025-10-23 18:05` (seconds are optional) right after a path; otherwise ''."""
    rest = line[line.find(path) + len(path) :].lstrip("`*_,:@ (—–-").replace("T", " ")
    forms = ("0000-00-00 00:00:00", "0000-00-00 00:00")
    return next((rest[: len(form)] for form in forms if names.shape(rest).startswith(form)), "")


def _has_entry(layout: Layout, path: str, wanted: str, is_anchor: bool) -> bool:
    text = files.text_of(layout.join(path))
    heads = [title for _, _, title in markdown.headings(text.split("\n"))]
    if not is_anchor:
        return any(wanted in head.replace("T", " ") for head in heads)
    last = wanted.replace("L", "").split("-")[-1]
    if wanted.startswith("L") and names.is_whole(last, 9):
        return int(last) <= len(text.splitlines())
    return names.slug(wanted, len(wanted)) in {names.slug(head, len(head)) for head in heads}

"""Whether a capsule still says how things are.

seal        record the commit and the files that it refers to
marks       each of those files: fresh, changed or missing
staleness   why it is not up to date, a reason each; none where it is
seen        those of the reasons that need no call of git
"""

from __future__ import annotations

from contextkit.base import files, git, references
from contextkit.base.layout import Layout
from contextkit.capsules.documents import notebooks, seals
from contextkit.capsules.documents import store as capsules
from contextkit.capsules.documents.seals import Seal
from contextkit.capsules.flows import cited

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_TOLD = 3  # commits or files that a reason names


def seal(layout: Layout, text: str) -> str:
    """The capsule `text` sealed as things are now; once more without a change: the same bytes."""
    _, body = capsules.parse(text.replace("\r\n", "\n"))
    found = cited.find(layout, body)
    named = (mention.path for mention in found if mention.path)
    kept = references.seal(layout.root, named)
    digests = {reference.path: seals.short(reference.sha256) for reference in kept}
    before = seals.of(text)
    head = git.head(layout.repository).commit if layout.repository else ""
    if head and before and _is_here(layout, before.head):
        if not _changes(layout, before.head, "HEAD", ()):
            head = before.head  # only capsules and the like were committed since
    return seals.sealed(text, Seal(head=head, digests=digests))


def marks(layout: Layout, text: str) -> list[tuple[str, str]]:
    """The sealed references of a capsule, each with what has become of it; none without a seal."""
    sealed = seals.of(text)
    return (
        [(path, _state(layout, path, was)) for path, was in sealed.digests.items()]
        if sealed
        else []
    )


def _state(layout: Layout, path: str, was: str) -> str:
    now = references.seal(layout.root, [path])
    digest = seals.short(now[0].sha256) if now else ""
    if not digest:
        return references.MISSING
    return references.FRESH if digest == was else references.CHANGED


def staleness(layout: Layout, path: str, ignored: Sequence[str] = ()) -> list[str]:
    """Why the capsule at `path` is stale, a sentence each; empty when it is not.

    A commit since changes anything but capsules, inbox, registry and the root-relative paths
    `ignored` (the scope of a launch); a notebook entry is newer; a sealed file is another.
    """
    text = files.read(path)
    capsule, _ = capsules.parse(text.replace("\r\n", "\n"), layout.shown(path))
    sealed = seals.of(text)
    commits = _commits(layout, capsule, sealed.head if sealed else "", ignored)
    return [*commits, *seen(layout, capsule, text)]


def seen(layout: Layout, capsule: capsules.Capsule, text: str) -> list[str]:
    """The reasons that can be seen without asking git, for a hook: notebooks and sealed files."""
    marked = marks(layout, text)
    return [
        *_entries(layout, capsule),
        *(f"{name}: {state} since it was sealed" for name, state in marked
          if state != references.FRESH),
    ]  # fmt: skip


def _commits(
    layout: Layout, capsule: capsules.Capsule, head: str, ignored: Sequence[str]
) -> list[str]:
    if layout.repository is None:
        return []
    own = "refs/heads/" + capsule.branch
    tip = own if git.commit_of(layout.repository, own) else "HEAD"
    if head and not _is_here(layout, head):
        return [f"the commit it was sealed at, {head[:12]}, is not here: history was rewritten"]
    found = _changes(layout, head or _after(capsule.created_at), tip, ignored)
    if not found:
        return []
    more = ", …" if len(found) > _TOLD else ""
    count = "a commit" if len(found) == 1 else f"{len(found)} commits"
    return [f"{count} since: {', '.join(found[:_TOLD])}{more}"]


def _is_here(layout: Layout, commit: str) -> bool:
    """Whether the repository has this commit."""
    top = layout.repository.top if layout.repository else ""
    return bool(commit and git.output(top, "rev-parse", "-q", "--verify", f"{commit}^0"))


def _after(created_at: str) -> str:
    """The second after: a commit of the same second is what the capsule was written on."""
    from datetime import datetime

    return f"--since={int(datetime.fromisoformat(created_at).timestamp()) + 1}"


def _changes(layout: Layout, since: str, tip: str, ignored: Sequence[str]) -> list[str]:
    """The short hashes of commits that change what a capsule tells of, newest first.

    `since` is a commit, or an option of git log.
    """
    assert layout.repository is not None
    top = layout.repository.top
    where = git.all_but(top, (*layout.ours, *map(layout.join, ignored)))
    span = (since, tip) if since.startswith("--") else (f"{since}..{tip}",)
    listed = git.output(top, "log", "-200", "--no-show-signature", "--format=%h", *span, "--",
                        *where)  # fmt: skip
    return listed.split()


def _entries(layout: Layout, capsule: capsules.Capsule) -> list[str]:
    """The notebooks of the branch that have an entry newer than the capsule."""
    written = capsule.created_at[:10] + " " + capsule.created_at[11:19]
    found = []
    for name in ("PLAN", "PROGRESS"):
        path = layout.notebook(capsule.branch.replace("/", "-"), name)
        for entry in notebooks.latest(path, 1):
            time = notebooks.time_of(entry)
            if time > written:
                found.append(f"{layout.shown(path)} has an entry of {time}")
    return found

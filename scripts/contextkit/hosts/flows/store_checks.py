"""Checks of every store: what git sees, what is outdated, stuck, left over or unreadable.

The stores are declared in `base/stores.py`.
"""

from __future__ import annotations

import fcntl
import os
import time

from contextkit.base import files, git, ledger, stores, version
from contextkit.base.errors import UPGRADE, ContextError
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.capsules.documents import store as capsules
from contextkit.hosts.documents import makefiles, vendored
from contextkit.hosts.documents.contracts import find
from contextkit.hosts.flows import adoption, git_ignores
from contextkit.payloads.documents import store as payloads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from contextkit.base.stores import Store

_COMMITTED = ("README.md", ".gitkeep", ".gitignore")
_DRAFT_AGE = 3600  # seconds
_PATIENCE = 1.0  # seconds that a lock may stay held while doctor looks
_SHOWN = 5  # broken files per store


class Finding(Record):
    """What is wrong, in which area, and how to fix it; a `note` is nothing to worry about."""

    area: str
    problem: str
    mend: str
    note: bool = False


# What git sees


def ignored(layout: Layout) -> list[Finding]:
    """Find stores that should be ignored by git: each has its own rule, and no file is tracked."""
    found = []
    for folder in _ephemeral(layout):
        shown = layout.shown(folder)
        rules = files.read_if_there(os.path.join(folder, ".gitignore")) or ""
        if "*" not in rules.split():
            mend = f"printf '*\\n' > '{shown}/.gitignore'"
            found.append(Finding(area="ignore", problem=f"{shown}: git sees it", mend=mend))
        tracked = _tracked(layout, folder)
        if tracked:
            problem = f"{shown}: git tracks {len(tracked)} of its files, such as {tracked[0]}"
            mend = f"git rm -r --cached '{shown}'"
            found.append(Finding(area="ignore", problem=problem, mend=mend))
    return found


def _ephemeral(layout: Layout) -> list[str]:
    return [folder for folder in layout.ephemeral if os.path.isdir(folder)]


def _tracked(layout: Layout, folder: str) -> list[str]:
    if layout.repository is None:
        return []
    paths = git.run(layout.root, "ls-files", "-z", "--", folder).split("\0")
    return [path for path in paths if path and os.path.basename(path) not in _COMMITTED]


def ignored_copies(layout: Layout) -> list[Finding]:
    """Find files that adopt wrote and git ignores: they are missing from every clone."""
    found = []
    for folder in _copies_of_us(layout):
        adopted = vendored.load(os.path.join(folder, vendored.RECORD))
        top = folder.removesuffix("/" + adopted.folder)
        paths = [*adopted.files, f"{adopted.folder}/{vendored.RECORD}", *_host_files(top, adopted)]
        hidden = git_ignores.find(top, paths)
        if hidden:
            mend = git_ignores.mend(top, adopted.folder, hidden)
            problem = f"{'; '.join(git_ignores.described(hidden))}: no clone has that"
            found.append(Finding(area="ignore", problem=problem, mend=mend))
    return found


def _host_files(top: str, adopted: vendored.Adopted) -> list[str]:
    """Return the files of a host that contain a part of adopt's."""
    wanted = [find(host).instructions for host in adopted.hosts]
    wanted += [find(host).settings for host in adopted.hosts]
    return [path for path in [*wanted, *makefiles.NAMES] if os.path.isfile(os.path.join(top, path))]


# Our copies


def drift(layout: Layout) -> list[Finding]:
    """Find unedited copies of our documents that are older than this toolkit."""
    template = stores.sealed_copy(capsules.template_document(layout.limits.capsule_max_tokens))
    current = {layout.capsule_template: template}
    for name, text in payloads.store_documents().items():
        current[os.path.join(layout.payloads, name)] = text
    found = []
    for path, text in current.items():
        there = files.read_if_there(path)
        if text and there and there != text and stores.is_our_copy(there):
            found.append(_old(layout.shown(path), "make context_init"))
    return found + _adopted(layout)


def _adopted(layout: Layout) -> list[Finding]:
    """Check what adopt put into the repository: all there, and as new as the toolkit."""
    found = []
    for folder in _copies_of_us(layout):
        adopted = vendored.load(os.path.join(folder, vendored.RECORD))
        top = folder.removesuffix("/" + adopted.folder)
        skills = (adoption.skills(find(host)) for host in adopted.hosts)
        current = {path: text for one in skills for path, text in one.items()}
        for path in adopted.files:
            place = os.path.join(top, path)
            there = files.read_bytes(place) if os.path.lexists(place) else None  # may be binary
            shown = layout.shown(place)
            if there is None:
                mend = "make adopt into=."
                found.append(Finding(area="copies", problem=f"{shown}: is missing", mend=mend))
            elif not vendored.is_ours(adopted, path, there):
                stays = path.endswith("/SKILL.md")
                mend = (
                    "it stays as it is" if stays else "the next adopt keeps your text beside ours"
                )
                problem = f"{shown}: was edited"
                found.append(Finding(area="copies", problem=problem, mend=mend, note=True))
            elif path in current and current[path].encode("utf-8") != there:
                found.append(_old(shown, "make adopt into=."))
    return found


def _copies_of_us(layout: Layout) -> list[str]:
    """Return the folders in the repository that adopt put a copy into."""
    places = (version.TOOLKIT, layout.join(adoption.folder_of(layout.root)))
    return [
        place
        for place in dict.fromkeys(map(os.path.realpath, places))
        if place.startswith(f"{layout.root}/")
        and os.path.isfile(os.path.join(place, vendored.RECORD))
    ]


def _old(shown: str, mend: str) -> Finding:
    return Finding(area="copies", problem=f"{shown}: is a copy of an older version", mend=mend)


# What is stuck or left over


def locks(layout: Layout) -> list[Finding]:
    """Find locks that a process keeps holding; one whose process is gone is free."""
    found = []
    for path in _walk(layout.state):
        if path.endswith(".lock") and _is_held(path):
            shown = layout.shown(path)
            mend = f"see which process it is: fuser '{shown}'"
            found.append(Finding(area="locks", problem=f"{shown}: is held", mend=mend))
    return found


def _is_held(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return False
            except OSError:
                if time.monotonic() > end:
                    return True
                time.sleep(0.05)
    finally:
        os.close(descriptor)


def drafts(layout: Layout) -> list[Finding]:
    """Find unfinished drafts of processes that were killed over an hour ago."""
    oldest = time.time() - _DRAFT_AGE
    found = []
    for folder in (*_ephemeral(layout), layout.capsules):
        old = [path for path in _walk(folder) if _is_old_draft(path, oldest)]
        if old:
            shown = layout.shown(folder)
            problem = f"{shown}: {len(old)} unfinished drafts of processes that were killed"
            mend = f"find '{shown}' -name '.*.tmp' -mmin +60 -delete"
            found.append(Finding(area="drafts", problem=problem, mend=mend))
    return found


def _walk(folder: str) -> Iterator[str]:
    """Yield every file below a folder, sorted by name; none if there is no folder."""
    for here, inside, found in os.walk(folder):
        inside.sort()
        yield from (os.path.join(here, name) for name in sorted(found))


def _is_old_draft(path: str, oldest: float) -> bool:
    try:
        return files.is_draft(os.path.basename(path)) and os.stat(path).st_mtime < oldest
    except OSError:
        return False


# What is lost


def history(layout: Layout) -> list[Finding]:
    """Check the ledger, since no command reports when it cannot be written or read."""
    folder = ledger.folder(layout)
    if not os.path.lexists(folder):
        return []
    if not os.path.isdir(folder):
        return [_lost(layout, folder, "is not a folder")]
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return [_lost(layout, folder, "you have no permission to read and write there")]
    found = []
    for path in ledger.months(layout):
        try:
            os.close(os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK))
        except OSError as error:
            found.append(_lost(layout, path, f"cannot be read and written ({error.strerror})"))
    return found


def _lost(layout: Layout, path: str, reason: str) -> Finding:
    shown = layout.shown(path)
    mend = f"make it yours (chmod u+rwX), or: mv '{shown}' '{shown}.old'"
    return Finding(area="ledger", problem=f"{shown}: {reason}: its history is lost", mend=mend)


# What cannot be read


def documents(layout: Layout) -> list[Finding]:
    """Find the documents in each declared store that cannot be read, up to a fixed number."""
    return [one for store in stores.with_documents() for one in _broken(layout, store)]


def _broken(layout: Layout, store: Store) -> list[Finding]:
    area = store.label
    try:
        broken = stores.module(store).load_all(layout).broken
    except ContextError as error:
        return [_unreadable(area, str(error), store.mend)]
    except OSError as error:
        problem = f"{error.filename}: {error.strerror}"
        return [Finding(area=area, problem=problem, mend="check its permissions")]
    found = [_unreadable(area, str(one), store.mend) for one in broken[:_SHOWN]]
    if len(broken) > _SHOWN:
        problem = f"{len(broken) - _SHOWN} more files cannot be read"
        found.append(Finding(area=area, problem=problem, mend=store.mend))
    return found


def _unreadable(area: str, said: str, mend: str) -> Finding:
    """Return the finding for one document; for one of a newer contextkit, upgrade."""
    problem, newer, _ = said.partition(f": {UPGRADE}")
    return Finding(area=area, problem=problem, mend=UPGRADE if newer else mend)


LOOKS: tuple[Callable[[Layout], list[Finding]], ...] = (
    ignored,
    ignored_copies,
    drift,
    locks,
    drafts,
    history,
    documents,
)

"""Which documents here another machine wrote, as a pull noted it: `.contextkit/sync/from`.

A line is the machine's name, the digest of the text, its path, and its address, between tabs. A
document whose text is another one now is not the other machine's any more. Each pull makes the file
again if it is lost.
"""

from __future__ import annotations

from contextkit.base import files, names
from contextkit.base.errors import ContextError
from contextkit.base.type_names import Iterable, Iterator

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.base.layout import Layout


def save(layout: Layout, rows: Iterable[tuple[str, str, str, str]]) -> None:
    """Replace the list: (machine's name, digest, path relative to the root, address) each."""
    text = "".join("\t".join(map(names.one_line, row)) + "\n" for row in rows)
    try:
        before = files.read_if_there(layout.origins) or ""
    except ContextError:  # not text any more
        before = ""
    if text != before:
        files.write(layout.origins, text, derived=True)


def elsewhere(layout: Layout) -> dict[str, str]:
    """The machine of each document here that another machine wrote, by address."""
    return {ref: machine for _, ref, machine in _found(layout)}


def paths(layout: Layout) -> dict[str, str]:
    """The machine of each document here that another machine wrote, by absolute path."""
    return {path: machine for path, _, machine in _found(layout)}


def _found(layout: Layout) -> Iterator[tuple[str, str, str]]:
    try:
        listed = files.read_if_there(layout.origins) or ""
    except ContextError:
        return
    for line in listed.splitlines():
        machine, digest, shown, ref = (*line.split("\t"), "", "", "", "")[:4]
        path = layout.join(shown)
        try:
            is_still_theirs = names.sha256(files.read_bytes(path)) == digest
        except (ContextError, OSError):
            continue
        if is_still_theirs:
            yield path, ref, machine

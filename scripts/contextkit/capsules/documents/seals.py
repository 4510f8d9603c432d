"""The seal of a capsule: what it was written on, in its own front matter.

    head: 3b18e512dba79e4c8300dd08aeb37f8e728b8dad
    references:
      - "src/app.py 9f86d081884c7d65"

The commit, and the beginning of a digest for every file that the capsule refers to. Read and
written line by line, so that everything else in the file stays as it is, byte for byte.
"""

from __future__ import annotations

from contextkit.base import filters, formats
from contextkit.base.errors import ContextError
from contextkit.base.records import Record

_HEX = frozenset("0123456789abcdef")
_DIGEST = 16  # digits of a digest that are kept: a seal is no signature, and tokens are dear


class Seal(Record):
    """`digests` is the beginning of a digest for each path; empty for a file that was missing."""

    head: str = ""
    digests: dict[str, str] = {}  # noqa: RUF012  (a Record is never changed)


def short(digest: str) -> str:
    """What is kept of a digest."""
    return digest[:_DIGEST]


def of(text: str) -> Seal | None:
    """The seal of a capsule; None for one that has none. What cannot be read is left out."""
    head, digests = "", {}
    ours = _seal_lines(text.split("\n"))
    for line in (text.split("\n")[at].strip() for at in ours):
        if line.startswith("head:"):
            head = line[5:].strip() if _HEX.issuperset(line[5:].strip()) else ""
        elif line.startswith("- "):
            try:
                entry = formats.from_json(line[2:], "references")
            except ContextError:
                continue
            path, _, digest = str(entry).rpartition(" ")
            digests[path or digest] = digest if path else ""
    return Seal(head=head, digests=digests) if ours else None


def unsealed(text: str) -> str:
    """The capsule without its seal."""
    lines = text.split("\n")
    ours = set(_seal_lines(lines))
    return "\n".join(line for at, line in enumerate(lines) if at not in ours) if ours else text


def sealed(text: str, seal: Seal) -> str:
    """The capsule with this seal in the place of any other: the last lines of its front matter."""
    lines = unsealed(text).split("\n")
    end = _front_matter_end(lines)
    if end < 0:
        return text
    carriage = "\r" * lines[end].endswith("\r")
    added = [f"head: {seal.head}"] if seal.head else []
    added += ["references:"] if seal.digests else []
    for path, digest in seal.digests.items():
        added.append(f"  - {filters.quoted(f'{path} {digest}'.rstrip(), always=True)}")
    return "\n".join([*lines[:end], *(line + carriage for line in added), *lines[end:]])


def _front_matter_end(lines: list[str]) -> int:
    """The index of the closing `---`; -1 without front matter."""
    if lines[0].rstrip() != "---":
        return -1
    return next((at for at, line in enumerate(lines) if at and line.rstrip() == "---"), -1)


def _seal_lines(lines: list[str]) -> list[int]:
    """The indexes of the lines that are the seal."""
    found = []
    in_list = False
    for at in range(1, _front_matter_end(lines)):
        line = lines[at].rstrip()
        in_list = line == "references:" or (in_list and line.startswith("  - "))
        if in_list or line.startswith("head: "):
            found.append(at)
    return found

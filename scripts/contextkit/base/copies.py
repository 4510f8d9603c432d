"""Copies of our documents in a host's repository: refreshed while nobody has edited them.

A copy ends with a line that carries the digest of what stands above it. A copy whose digest
still fits is ours; anything else belongs to the host and is never overwritten.
"""

from __future__ import annotations

from contextkit.base import names

_MARK = "<!-- contextkit: copy sha256="


def sealed(text: str, lead: str = "") -> str:
    """`text` with the line that later tells whether somebody edited it.

    `lead` begins that line where the document has comments of its own: `# ` in YAML.
    """
    body = text.rstrip("\n") + "\n" + lead
    return f"{body}{_MARK}{_digest(body)} -->\n"


def is_ours(text: str) -> bool:
    """Whether `text` is a copy that nobody has edited."""
    body, mark, rest = text.rpartition(_MARK)
    return bool(mark) and rest.strip() == f"{_digest(body)} -->"


def _digest(body: str) -> str:
    """The same for both kinds of line ends: git may have changed them."""
    return names.sha256(body.replace("\r\n", "\n").encode("utf-8"))

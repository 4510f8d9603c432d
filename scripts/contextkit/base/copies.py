"""Copies of our documents in a host's repository, refreshed as long as nobody has edited them.

A copy ends with a line that holds the digest of everything above it. If the digest still matches,
the copy is ours; anything else belongs to the host and is never overwritten.
"""

from __future__ import annotations

from contextkit.base import names

_MARK = "<!-- contextkit: copy sha256="


def sealed(text: str, lead: str = "") -> str:
    """`text` plus the line that later shows whether somebody edited it.

    `lead` starts that line where the document has its own comment syntax: `# ` in YAML.
    """
    body = text.rstrip("\n") + "\n" + lead
    return f"{body}{_MARK}{_digest(body)} -->\n"


def is_ours(text: str) -> bool:
    """Whether `text` is a copy that nobody has edited."""
    body, mark, rest = text.rpartition(_MARK)
    return bool(mark) and rest.strip() == f"{_digest(body)} -->"


def _digest(body: str) -> str:
    """A digest that is the same for both kinds of line ends, since git may convert them."""
    return names.sha256(body.replace("\r\n", "\n").encode("utf-8"))

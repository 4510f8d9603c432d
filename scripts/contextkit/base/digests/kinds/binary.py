"""Bytes that are not text: their format, judging by the first bytes, and their number."""

from __future__ import annotations

from contextkit.base.digests import encodings
from contextkit.base.digests.reading import Unit


def is_it(text: str) -> int:
    """By bytes that never occur in text."""
    return 99 if encodings.decoded(text[:8192])[1] == "binary" else 0


def units(text: str) -> list[Unit]:
    """A single unit: the format and the size."""
    if not text:
        return []
    data = getattr(text, "whole", text).encode("utf-8", "surrogateescape")
    form = next((name for mark, name in encodings.MAGIC if data.startswith(mark)), "binary data")
    said = f"{form}, {len(data)} bytes, no text"
    return [Unit(1, "binary", said, 2.0, 1, "binary", derived=True)]

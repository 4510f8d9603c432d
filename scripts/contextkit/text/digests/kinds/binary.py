"""Bytes that are not UTF-8: UTF-16 and Latin-1 are decoded, and what is not text is described.

Texts are read with surrogate escapes, so each such byte is U+DC80 to U+DCFF.
"""

from __future__ import annotations

from contextkit.base.expressions import Pattern
from contextkit.text.digests.reading import Unit

_MARKS = (("utf-32", b"\xff\xfe\0\0"), ("utf-32", b"\0\0\xfe\xff"),
          ("utf-16", b"\xff\xfe"), ("utf-16", b"\xfe\xff"))  # fmt: skip
_SAMPLE = 4096  # bytes that are examined
_ESCAPED = Pattern("[\udc80-\udcff]")  # bytes that are not UTF-8
_FORMATS = (
    (b"\x89PNG", "PNG image"), (b"\xff\xd8\xff", "JPEG image"), (b"GIF8", "GIF image"),
    (b"%PDF", "PDF document"), (b"PK\x03\x04", "ZIP archive"), (b"\x1f\x8b", "gzip archive"),
    (b"\x7fELF", "ELF program"), (b"SQLite format 3", "SQLite database"), (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ", "xz archive"), (b"\x28\xb5\x2f\xfd", "zstd archive"), (b"RIFF", "RIFF media"),
    (b"\x00asm", "WebAssembly module"), (b"\xca\xfe\xba\xbe", "Java class"),
)  # fmt: skip


def confidence(text: str) -> int:
    """The confidence by bytes that never occur in text."""
    return 99 if decoded(text[:8192])[1] == "binary" else 0


def units(text: str) -> list[Unit]:
    """A single unit: the format and the size."""
    if not text:
        return []
    data = getattr(text, "whole", text).encode("utf-8", "surrogateescape")
    form = next((name for mark, name in _FORMATS if data.startswith(mark)), "binary data")
    description = f"{form}, {len(data)} bytes, no text"
    return [Unit(1, "binary", description, 2.0, 1, "binary", derived=True)]


def decoded(text: str) -> tuple[str, str]:
    """The readable text and its encoding: '' for UTF-8, `binary` if it is not text."""
    if "\0" not in text and (text.isascii() or not _ESCAPED.search(text)):
        return text, ""
    data = text.encode("utf-8", "surrogateescape")
    for name, mark in _MARKS:
        if data.startswith(mark):
            return data.decode(name, "replace"), name.upper()
    if guessed := _without_mark(data):
        return data.decode(guessed, "replace"), "UTF-16"
    sample = data[:_SAMPLE]
    control = sum(byte < 32 and byte not in b"\t\n\r\f\x1b" for byte in sample)
    is_format = any(data.startswith(mark) for mark, _ in _FORMATS)
    if is_format or b"\0" in sample or control * 50 > len(sample):
        return text, "binary"
    return data.decode("cp1252", "replace"), "Latin-1"


def _without_mark(data: bytes) -> str:
    """`utf-16-le` or `utf-16-be` if the data looks like it without a byte order mark; else ''.

    In Latin letters, nearly every other byte is zero.
    """
    sample = data[:_SAMPLE]
    half = len(sample) // 2
    if half < 4:
        return ""
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd * 10 > half * 8 and even * 10 < half:
        return "utf-16-le"
    return "utf-16-be" if even * 10 > half * 8 and odd * 10 < half else ""

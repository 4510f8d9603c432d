"""What a remote keeps under a key: compressed, and bounded in size when it is unpacked."""

from __future__ import annotations

import zlib

from contextkit.base.errors import ContextError

DAMAGED = b""  # in place of what a key cannot open


class Unreadable(ContextError):
    """What is on the remote cannot be unpacked; it may be whole the next time."""


def pack(data: bytes) -> bytes:
    return zlib.compress(data, 6)


def unpack(data: bytes, most: int, where: str) -> bytes:
    """The text in a parcel. Raises ContextError where it is damaged or exceeds `most` bytes."""
    if data == DAMAGED:
        raise Unreadable(f"{where}: is damaged, or encrypted with another key")
    if data.startswith(b"age-encryption.org/"):
        raise ContextError(f"{where}: is encrypted: name its key file, sync_key in contextkit.yaml")
    work = zlib.decompressobj()
    try:
        text = work.decompress(data, most + 1)
    except zlib.error:
        raise Unreadable(f"{where}: is damaged") from None
    if len(text) > most or not work.eof:
        raise ContextError(f"{where}: larger than {most} bytes, or cut short")
    return text

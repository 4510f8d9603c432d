"""Parcels: what a remote stores under a key, compressed, with a bound on the unpacked size."""

from __future__ import annotations

import zlib

from contextkit.base.errors import ContextError

DAMAGED = b""  # stands for an object that a key cannot open


class Unreadable(ContextError):
    """What is on the remote cannot be unpacked; it may be intact next time."""


def pack(data: bytes) -> bytes:
    return zlib.compress(data, 6)


def unpack(data: bytes, most: int, where: str) -> bytes:
    """Unpack a parcel. Raises ContextError if it is damaged or exceeds `most` bytes unpacked."""
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

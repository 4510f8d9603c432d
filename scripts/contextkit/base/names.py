"""Times, stamps and names: everything that becomes part of a path or a heading.

A time is a whole number of seconds since 1970, UTC. `datetime` is imported only when
CONTEXT_NOW has to be read, since most commands would pay for it and not use it.
"""

from __future__ import annotations

import os
import time

from contextkit.base.errors import bad_input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_ZEROS = {ord(digit): "0" for digit in "123456789"}
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


def now() -> int:
    """The time of this command: CONTEXT_NOW (ISO 8601, UTC unless it says a zone) or the clock."""
    given = os.environ.get("CONTEXT_NOW", "")
    if not given:
        return int(time.time())
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(given)
    except ValueError:
        raise bad_input(f"CONTEXT_NOW is not an ISO 8601 time: {given!r}") from None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def iso(moment: int) -> str:
    """`2025-10-23T18:05:00Z`, as documents carry it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


def stamp(moment: int) -> str:
    """`20251023T180500Z`, as file names carry it; sorts by time."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(moment))


def clock(moment: int) -> str:
    """`2025-10-23 18:05:00 UTC`, as headings for people carry it."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(moment))


def compact(moment: int) -> str:
    """`20251023-180500`, as the registry and the ids in it carry it."""
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime(moment))


def moment(text: str) -> int:
    """The time that the digits of any form above tell, in seconds; 0 for anything else."""
    digits = text.replace("-", "").replace(":", "").replace("T", "").rstrip("Z")
    if not (digits.isascii() and digits.isdigit()):  # none of the forms that we write
        digits = "".join(char for char in text if char.isascii() and char.isdigit())
    digits = digits[:14]
    if len(digits) < 14:
        return 0
    midnight = _midnights.get(digits[:8])
    if midnight is None:
        midnight = _midnights[digits[:8]] = _midnight(digits)
    return midnight + int(digits[8:10]) * 3600 + int(digits[10:12]) * 60 + int(digits[12:14])


_midnights: dict[str, int] = {}  # many documents are of the same few days


def _midnight(digits: str) -> int:
    """When the day begins that `YYYYMMDD` names, in seconds."""
    year, month, day = int(digits[:4]), int(digits[4:6]), int(digits[6:8])
    years, months = (year - 1, month + 9) if month < 3 else (year, month - 3)  # March comes first
    days = 365 * years + years // 4 - years // 100 + years // 400 + (153 * months + 2) // 5 + day
    return (days - 719_469) * 86_400


def seconds(duration: str) -> int:
    """`90s`, `30m`, `24h`, `7d` as seconds; a bare number is seconds. Raises ContextError."""
    digits, unit = (duration[:-1], duration[-1]) if duration[-1:] in _UNITS else (duration, "s")
    if not is_whole(digits, 9):
        raise bad_input(f"{duration!r} is not a duration: write 90s, 30m, 24h or 7d")
    return int(digits) * _UNITS[unit]


def dashed(text: str) -> str:
    """`text` with every run of characters outside `A-Za-z0-9._-` made one `-`."""
    kept = ""
    in_gap = False
    for char in text:
        if char in _SAFE:
            kept += char
        elif not in_gap:
            kept += "-"
        in_gap = char not in _SAFE
    return kept


def slug(text: str, longest: int = 50) -> str:
    """`text` in lower case, one hyphen for whatever is not a-z or 0-9; empty if nothing is left.

    Accents are taken off first: `Über uns` is `uber-uns`.
    """
    if not text.isascii():
        import unicodedata

        text = unicodedata.normalize("NFKD", text)
        text = "".join(char for char in text if not unicodedata.combining(char))
    plain = "".join(c if c.isascii() and c.isalnum() else " " for c in text.lower())
    return "-".join(plain.split())[:longest].rstrip("-")


def safe(text: str) -> bool:
    """Whether a text of somebody else's may be the name of a folder of ours."""
    return 0 < len(text) <= 200 and text[0] not in ".-" and _SAFE.issuperset(text)


def sha256(data: bytes) -> str:
    """The SHA-256 digest in hexadecimal."""
    return sha256_of((data,))


def sha256_of(pieces: Iterable[bytes]) -> str:
    """The SHA-256 digest, in hexadecimal, of bytes that need not all be in memory.

    By Python's own module where there is one: `hashlib` loads OpenSSL, a third of a bare start.
    """
    digest = _new_sha256()
    for piece in pieces:
        digest.update(piece)
    return str(digest.hexdigest())


_sha256: Any = None  # kept, since a module that is not there is looked for each time


def _new_sha256() -> Any:
    global _sha256
    if _sha256 is None:
        _sha256 = _find_sha256()
    return _sha256()


def _find_sha256() -> Any:
    for module in ("_sha2", "_sha256", "hashlib"):  # of 3.12 and newer, of 3.11, of any
        try:
            return __import__(module).sha256
        except (ImportError, AttributeError):
            continue
    raise RuntimeError("this Python has no SHA-256")


def shape(text: str) -> str:
    """`text` with every digit as 0: what form of time or number it has."""
    return text.translate(_ZEROS)


def one_line(text: str) -> str:
    """`text` on one line: every run of white space or control characters becomes one blank.

    What is shown in a table or put into a heading goes through here, so that no text of a
    user can add a row or send an escape sequence to a terminal.
    """
    if text.isprintable():
        if " " not in text:
            return text
    else:
        text = "".join(char if char.isprintable() else " " for char in text)
    return " ".join(text.split())


def clipped(text: str, most: int) -> str:
    """`text` in at most `most` characters: of a longer one the beginning, and `…`."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def is_whole(text: str, most: int = 18) -> bool:
    """Whether `text` is a whole number: 1 to `most` digits, 0 to 9 and nothing else."""
    return 0 < len(text) <= most and text.isascii() and text.isdigit()


def brief(text: str, longest: int = 80) -> str:
    """A value as a message quotes it: on one line, and without its middle where it is long."""
    return spoken(text, longest)


def quoted(text: str) -> str:
    """`text` in quotes for a message, brief."""
    return repr(brief(text))


def shortened(line: str, longest: int) -> str:
    """A line without its middle where it is longer than `longest`: advice stands at the end."""
    end = longest // 3
    return line if len(line) <= longest else f"{line[: longest - end - 1]}…{line[-end:]}"


def spoken(line: str, longest: int = 600) -> str:
    """A line for a terminal: no control character, no escape sequence, and not endless."""
    if not line.isprintable():
        line = "".join(char if char.isprintable() else " " for char in line)
    return shortened(line, longest)


def nearest(name: str, known: object, alike: float = 0.5) -> str:
    """` (did you mean 'x'?)` for the known name most like `name`; empty if none is.

    `alike`: how much of both names has to agree, from 0 to 1.
    """
    if not known:
        return ""
    import difflib

    close = difflib.get_close_matches(name, list(known), n=1, cutoff=alike)  # type: ignore[call-overload]
    return f" (did you mean {close[0]!r}?)" if close else ""


def fingerprint(data: bytes, modulus: int = (1 << 61) - 1) -> int:
    """A number that tells two texts apart by accident, not by intent; no import needed."""
    return int.from_bytes(data, "big") % modulus

"""Times, names, and short texts: everything that becomes part of a path, heading, or message.

A time is a whole number of seconds since 1970, UTC; few commands need `datetime`.
"""

from __future__ import annotations

import os
import sys
import time

from contextkit.base import errors
from contextkit.base.errors import bad_input
from contextkit.base.type_names import Any, Collection, Iterable, Mapping

SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
_DIGITS = frozenset("0123456789")
_PLAIN = SAFE.union("@%+=:,/")  # of a shell's word that needs no quotes
_ZEROS = {ord(digit): "0" for digit in "123456789"}
_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
PRINTED = 600  # characters of a line on a terminal


def now() -> int:
    """The time of this command: CONTEXT_NOW (ISO 8601, UTC unless it has a zone) or the clock."""
    text = os.environ.get("CONTEXT_NOW", "")
    if not text:
        return int(time.time())
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise bad_input(f"CONTEXT_NOW is not an ISO 8601 time: {text!r}") from None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp())


def iso(moment: int) -> str:
    """Format a time for documents: `2025-10-23T18:05:00Z`."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))


def stamp(moment: int) -> str:
    """Format a time for file names: `20251023T180500Z`, which sorts by time."""
    return time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(moment))


def clock(moment: int) -> str:
    """Format a time for headings that people read: `2025-10-23 18:05:00 UTC`."""
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(moment))


def compact(moment: int) -> str:
    """Format a time for the registry and its ids: `20251023-180500`."""
    return time.strftime("%Y%m%d-%H%M%S", time.gmtime(moment))


def moment(text: str) -> int:
    """Parse any of the forms above into seconds, without `datetime`; 0 for anything else."""
    digits = "".join(filter(_DIGITS.__contains__, text))[:14]
    if len(digits) < 14:
        return 0
    date, clock = divmod(int(digits), 1_000_000)
    year, month, day = date // 10_000, date // 100 % 100, date % 100
    years, months = (year - 1, month + 9) if month < 3 else (year, month - 3)  # from March on
    leaps = years // 4 - years // 100 + years // 400
    days = 365 * years + leaps + (153 * months + 2) // 5 + day - 719_469  # since 1970
    return days * 86_400 + clock // 10_000 * 3600 + clock // 100 % 100 * 60 + clock % 100


def seconds(duration: str, field: str = "") -> int:
    """`90s`, `30m`, `24h`, `7d` as seconds; a bare number is seconds.

    Raises ContextError, which names the `field`.
    """
    digits, unit = (duration[:-1], duration[-1]) if duration[-1:] in _UNITS else (duration, "s")
    if not is_whole(digits, 9):
        what = f"{field}: {duration!r}" if field else repr(duration)
        raise bad_input(f"{what} is not a duration: write 90s, 30m, 24h or 7d")
    return int(digits) * _UNITS[unit]


def age(since: int, now: int, units: str = "dhms") -> str:
    """How long ago a moment was, in the largest of these units that it fills: `3d`, `5h`, `40s`."""
    passed = max(0, now - since)
    unit = next((unit for unit in units if passed >= _UNITS[unit]), units[-1])
    return f"{passed // _UNITS[unit]}{unit}"


def dashed(text: str) -> str:
    """`text` with every run of characters outside `A-Za-z0-9._-` replaced by one `-`."""
    kept = "".join(char if char in SAFE else " " for char in text)
    while "  " in kept:
        kept = kept.replace("  ", " ")
    return kept.replace(" ", "-")


def slug(text: str, longest: int = 50) -> str:
    """`text` in lower case without accents, a hyphen for what is not a-z or 0-9; '' for nothing."""
    if not text.isascii():
        import unicodedata

        text = unicodedata.normalize("NFKD", text)
        text = "".join(char for char in text if not unicodedata.combining(char))
    plain = "".join(c if c.isascii() and c.isalnum() else " " for c in text.lower())
    return "-".join(plain.split())[:longest].rstrip("-")


def identifier(name: str) -> str:
    """The name of a file as that of a module: `payload.md` becomes `payload_md`."""
    return name.replace(".", "_").replace("-", "_")


def safe(text: str) -> bool:
    """Whether text from elsewhere is safe as the name of one of our folders."""
    return 0 < len(text) <= 200 and text[0] not in ".-" and SAFE.issuperset(text)


def sha256(data: bytes) -> str:
    """The SHA-256 digest of `data` in hexadecimal."""
    if len(data) > _LONG:  # it takes longer than to load what is ten times as fast
        import hashlib

        return hashlib.sha256(data).hexdigest()
    return sha256_of((data,))


_LONG = 200_000  # bytes


_sha256: Any = None  # cached, since Python looks for a missing module on each import


def _find_sha256() -> Any:
    loaded = ("hashlib",) * ("hashlib" in sys.modules)  # the fastest, if it need not be loaded
    for module in (*loaded, "_sha2", "_sha256", "hashlib"):  # in 3.12 and newer, in 3.11, in any
        try:
            return __import__(module).sha256
        except (ImportError, AttributeError):
            continue
    raise RuntimeError("this Python has no SHA-256")


def sha256_of(pieces: Iterable[bytes]) -> str:
    """The SHA-256 digest of bytes that need not all be in memory, cheaper than `hashlib`."""
    global _sha256
    _sha256 = _sha256 or _find_sha256()
    digest = _sha256()
    for piece in pieces:
        digest.update(piece)
    return str(digest.hexdigest())


def shape(text: str) -> str:
    """`text` with every digit replaced by 0, which shows the form of a time or number."""
    return text.translate(_ZEROS)


def one_line(text: str) -> str:
    """`text` on one line: each run of whitespace or control characters becomes one space.

    All that tables and headings show goes through here: no text can add a row or an escape.
    """
    text = text if text.isprintable() else _printable(text)
    return " ".join(text.split()) if " " in text else text


def _printable(text: str) -> str:
    return "".join(char if char.isprintable() else " " for char in text)


def clipped(text: str, most: int) -> str:
    """`text` in at most `most` characters; a longer one is cut and ends in `…`."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"


def clipped_at_space(text: str, most: int) -> str:
    """As `clipped`, but a longer text is cut at a space if there is one in its second half."""
    if len(text) <= most:
        return text
    space = text.rfind(" ", most // 2, most)
    return text[: space if space > 0 else most - 1].rstrip(" .,;:…") + "…"


def clipped_start(text: str, most: int) -> str:
    """The end of `text` in at most `most` characters, for a path; a cut one starts with `…`."""
    return text if len(text) <= most else "…" + text[1 - most :].lstrip()


def clipped_around(text: str, words: Iterable[str], most: int) -> str:
    """`text` on one line; of a longer one `most` characters, from just before one of `words`."""
    line = one_line(text)
    if len(line) <= most:
        return line
    lower = line.lower()
    places = [place for word in words if (place := lower.find(word)) >= 0]
    at = max(0, min(places, default=0) - most // 3)
    return ("…" if at else "") + line[at : at + most] + ("…" if at + most < len(line) else "")


def is_whole(text: str, most: int = 18) -> bool:
    """Whether `text` is a whole number of 1 to `most` ASCII digits and nothing else."""
    return 0 < len(text) <= most and text.isascii() and text.isdigit()


def count(text: str) -> int | None:
    """A whole number as people write it: `~150,000` or `150_000`; None for any other text."""
    digits = text.strip().lstrip("~ ").replace(",", "").replace("_", "")
    return int(digits) if is_whole(digits, 12) else None


def counted(count: int, what: str) -> str:
    """`1 session`, `2 sessions`: a count with its noun, whose plural ends in s."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def lines(first: int, last: int) -> str:
    """`line 7`, `lines 7-9`."""
    return f"lines {first}-{last}" if last > first else f"line {first}"


def quoted(text: str) -> str:
    """`text` in quotes for a message, shortened by `brief`."""
    return repr(brief(text))


def call(target: str, /, **variables: str) -> str:
    """A command to paste into a shell, whatever a document is called: `make target name=value`."""
    return " ".join(["make", target, *(f"{n}={word(v)}" for n, v in variables.items() if v)])


def word(text: str) -> str:
    """`text` as one word of a shell's command, in quotes if it needs any."""
    if text and _PLAIN.issuperset(text):
        return text
    return "'" + text.replace("'", "'\\''") + "'"


def shortened(line: str, longest: int) -> str:
    """A line over `longest` characters without its middle, since advice comes at the end."""
    end = longest // 3
    return line if len(line) <= longest else f"{line[: longest - end - 1]}…{line[-end:]}"


def brief(text: str, longest: int = 80) -> str:
    """A value as quoted in a message: no control characters, a long one without its middle."""
    return shortened(text if text.isprintable() else _printable(text), longest)


def nearest(name: str, available: object, alike: float = 0.6) -> str:
    """` (did you mean 'x'?)` for the most similar known name, at least `alike` (0 to 1), or ''."""
    if not available:
        return ""
    import difflib

    close = difflib.get_close_matches(name, list(available), n=1, cutoff=alike)  # type: ignore[call-overload]
    return f" (did you mean {close[0]!r}?)" if close else ""


def fingerprint(data: bytes, modulus: int = (1 << 61) - 1) -> int:
    """A number that tells texts apart by accident, not by intent; needs no import."""
    return int.from_bytes(data, "big") % modulus


# How lists are told from sentences, and what says that a bar without blanks is part of an item:
# code, a type, a pipeline.
_FEW = 3  # words of an item that a list with commas may have
_IN_SENTENCES = frozenset("and are for is of on the to until was with".split())
_CODE = frozenset("`\"'()[]{}^$*+\\<>=&")
_AROUND_A_BAR = frozenset(
    "none null nil undefined int str string number bool boolean float any object bytes"
    " grep sort head tail wc sed awk tee jq xargs less cut uniq tr cat".split()
)


def meant_word(typed: str, allowed: Collection[str], alike: Mapping[str, str], field: str) -> str:
    """The allowed word that `typed` stands for, by `alike`; `typed` itself if that is not clear.

    Every key of `alike` is words in lowercase, separated by blanks, with the allowed word.
    """
    if typed in allowed:
        return typed
    plain = typed.strip().strip(".!").replace("_", " ").replace("-", " ").lower()
    exact = {name.replace("_", " ").lower(): name for name in allowed}
    aliases = {alias: name for words, name in alike.items() for alias in words.split()}
    choice = exact.get(plain) or aliases.get(plain.replace(" ", ""), "")
    if not choice:
        return typed
    errors.remarks.append(f"{field}={typed.strip()[:60]}: read as {choice}")
    return choice


def meant_items(name: str, value: str, as_paths: bool = False) -> list[str]:
    """The items of the list `name`: one a line, or separated by ` | ` or, if clear, by a bar."""
    listed = [i.strip() for line in value.split("\n") for i in line.split(" | ") if i.strip()]
    if len(listed) != 1 or "|" not in listed[0]:
        if len(listed) == 1 and not as_paths and _may_be_items(listed[0]):
            errors.remarks.append(f"{name}: read as one item; ` | ` or a line each makes several")
        return listed
    parts = [part.strip() for part in listed[0].split("|")]
    aspects = [part.partition("=")[0].replace(" ", "") for part in parts if "=" in part]
    is_named = len(aspects) == len(parts) and all(map(str.isalpha, aspects))
    if not (is_named or _are_items(listed[0], parts)):
        return listed
    errors.remarks.append(f"{name}: read as {len(parts)} items: {' | '.join(parts)[:200]}")
    return parts


def meant_paths(name: str, value: str) -> list[str]:
    """As `meant_items` for a list of paths, which commas, semicolons or blanks may separate too.

    `src/a.py, src/b.py` is two items, as is `a.py - the form; b.py - the list`, unless there is
    such a file; in words about one path, a comma is only a comma.
    """
    is_one = "\n" not in value.strip() and not os.path.lexists(value.strip())
    for mark in (",", None) if is_one else ():
        parts = [part.strip() for part in value.replace(";", ",").split(mark) if part.strip()]
        described = sum(" - " in part for part in parts)
        if len(parts) > 1 and described in (0, len(parts)) and all(map(is_path, parts)):
            errors.remarks.append(f"{name}: read as {len(parts)} items: {' | '.join(parts)[:200]}")
            return parts
    return meant_items(name, value, as_paths=True)


def meant_words(name: str, value: str) -> list[str]:
    """The words of the list `name`, separated by blanks or commas; prose is told of."""
    words = value.replace(",", " ").split()
    is_mixed = "," in value and any(len(part.split()) > 1 for part in value.split(","))
    if is_mixed or not _IN_SENTENCES.isdisjoint(words):
        errors.remarks.append(f"{name}: read as {len(words)} items: {' | '.join(words)[:200]}")
    return words


def path_of(item: str) -> str:
    """The path in an item of a list of paths: `a.py - what it is for`, `a.py (modified)`."""
    return item.partition(" - ")[0].partition(" (")[0].strip().strip("`")


def is_path(item: str) -> bool:
    """Whether an item of a list of paths is one by its look, or there is such a file."""
    path = path_of(item)
    suffix = path.rpartition(".")[2]
    has_suffix = suffix != path and suffix[:1].isalpha() and suffix.isalnum()
    has_blank = any(map(str.isspace, path))
    is_named_so = ("/" in path or has_suffix) and not has_blank
    return is_named_so or os.path.lexists(path)


def _may_be_items(value: str) -> bool:
    """Whether a text may be meant as a list with commas: a few words between each two of them."""
    parts = [part.split() for part in value.replace(";", ",").split(",")]
    return len(parts) > 1 and all(0 < len(words) <= _FEW for words in parts)


def _are_items(value: str, parts: list[str]) -> bool:
    """Whether a text is clearly a list with bars between its parts, and no code, path or phrase."""
    words = [part.lower().split() for part in parts]
    even = all(len(some) == 1 for some in words) or all(len(some) > 1 for some in words)
    if not even or not _CODE.isdisjoint(value) or os.path.lexists(value):
        return False
    return _AROUND_A_BAR.isdisjoint(word for some in words for word in (some[0], some[-1]))

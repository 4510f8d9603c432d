"""Hard facts in a text, which a summary must not drop silently.

    path        src/app.py, ./run, `setup.cfg`
    location    src/app.py:42, src/app.py:10-20, src/app.py#L42
    url         https://example.org/x
    commit      80ea710
    id          P1-2, ABC-123, CVE-2024-3094, a UUID
    version     1.2.3, v2.0
    number      52 ms, 33%, 4,500 tokens
    error       ENOENT, TypeError, `fatal: not a git repository`
    prohibition a sentence with "must not", "never", "do not" …

Facts are found word by word without `re`, since importing it and compiling patterns would cost a
command half a bare interpreter start.
"""

from __future__ import annotations

from contextkit.base.type_names import Iterable, Iterator

Fact = tuple[str, str, int]  # kind, text, line from 1

_OPENING = "`\"'([{<|,;“‘*"
_CLOSING = "`\"')]}>|,;!?”’*.:"
_FILES = frozenset(
    "c cc cfg conf cpp cs css csv go h html ini java js json jsx kt lock log md mdc mjs php pl py "
    "rb rs rst sh sql swift tf toml ts tsx txt vue xml yaml yml".split()
)
_PRODUCTS = frozenset(
    "node.js vue.js next.js nuxt.js express.js react.js three.js d3.js commander.js".split()
)
_UNITS = frozenset(
    "% ms s sec secs min mins h hr hrs d ns us µs x × b kb mb gb tb kib mib gib k m "
    "seconds second minutes minute hours hour days day weeks months years bytes tokens token "
    "lines line files file words characters chars percent times requests users calls commits "
    "tests processes rows entries items cores threads hz mhz ghz px fps qps rps usd eur".split()
)
_CODES = frozenset(
    "EACCES EADDRINUSE EAGAIN EBUSY ECONNREFUSED ECONNRESET EEXIST EINVAL EISDIR EMFILE ENOENT "
    "ENOMEM ENOSPC ENOTDIR ENOTEMPTY EPERM EPIPE EROFS ETIMEDOUT SIGKILL SIGSEGV SIGTERM".split()
)
_NUMERIC = frozenset("0123456789.,-–~+<>≤≥±$€£")
_HEX = frozenset("0123456789abcdef")
_IN_PATHS = frozenset("/._-~@+{}*%")
_FORBIDS = ("must not", "never", "do not", "don't", "don’t", "not recommended", "forbidden",
            "prohibited", "not allowed", "shall not")  # fmt: skip
_REPORTS = ("error:", "fatal:", "panic:", "traceback ", "exception:", "warning:")
_ENDS = (". ", "! ", "? ", " |")  # of a sentence or a table cell
_MARKS = " \t\r>`*-#|"
_LONGEST = 200  # characters of a sentence or an error line that count as one fact


def find(text: str) -> list[Fact]:
    """Every distinct fact in `text` with the line of its first occurrence, in that order."""
    seen: dict[tuple[str, str], int] = {}
    for source in (_in_sentences(text), _in_words(text)):
        for fact, number in source:
            seen[fact] = min(number, seen.get(fact, number))
    facts = [(kind, value, number) for (kind, value), number in seen.items()]
    return sorted(facts, key=lambda fact: fact[2])


def share(whole: str, text: str) -> str:
    """`12/87`: the facts of `whole` that its replacement `text` carries, of all; '' of no text."""
    facts = find(whole)
    return f"{kept(facts, text)}/{len(facts)}" if whole else ""


def carried(texts: Iterable[str], whole: Iterable[Fact]) -> list[frozenset[tuple[str, str]]]:
    """The facts of each of the texts that are also facts of the `whole`, without their lines."""
    pairs = {(kind, value) for kind, value, _ in whole}
    return [frozenset((kind, value) for kind, value, _ in find(t)) & pairs for t in texts]


def kept(facts: list[Fact], text: str) -> int:
    """How many of `facts` are also in `text`."""
    there = {(kind, value) for kind, value, _ in find(text)}
    there |= {("path", value.partition(":")[0]) for kind, value in there if kind == "location"}
    text = _plain(text) + "\n"
    return sum((kind, value) in there or _is_quoted(kind, value, text) for kind, value, _ in facts)


def _is_quoted(kind: str, sentence: str, text: str) -> bool:
    """Whether a sentence appears whole in `text`, even if table rows were turned into sentences."""
    at = text.find(sentence) if kind in ("prohibition", "error") and " " in sentence else -1
    return at >= 0 and text[at + len(sentence)] in "\n.:;!?"


def _plain(sentence: str) -> str:
    return sentence.replace("**", "").replace("`", "")


_KNOWN: dict[str, tuple[str, str] | None] = {}  # the fact, if any, that each word so far is


def _in_words(text: str) -> Iterator[tuple[tuple[str, str], int]]:
    """The facts that are one or two words, with their lines."""
    if "](" in text:
        text = text.replace("](", " ")  # the label and the address of a link
    words = set(text.split())  # most words occur again
    for word in words.difference(_KNOWN):
        _KNOWN[word] = _of_word(word)
    facts = {word: fact for word in words if (fact := _KNOWN[word])}
    for number, line in enumerate(text.split("\n"), start=1):
        there = line.split()
        if facts.keys().isdisjoint(there):
            continue
        for index, word in enumerate(there):
            if word not in facts:
                continue
            kind, value = facts[word]
            if kind != "bare":
                yield (kind, value), number
            elif index + 1 < len(there):
                unit = there[index + 1].lstrip(_OPENING).rstrip(_CLOSING)
                if unit.lower() in _UNITS:
                    yield ("number", f"{value} {unit}"), number


def _of_word(word: str) -> tuple[str, str] | None:
    """The fact in a word; ("bare", number) for a number whose unit may be the next word."""
    core = word.lstrip(_OPENING).rstrip(_CLOSING)
    if core.isalpha() or not core:
        named = len(core) > 5 and core.endswith(("Error", "Exception"))
        is_error = core[:1].isupper() and (named or core in _CODES)
        return ("error", core) if is_error else None
    if "://" in core and "http" in core:
        text = word[word.find("http") :]
        end = min((at for at in map(text.find, "()[]<>\"'`|") if at >= 0), default=len(text))
        return "url", text[:end].rstrip(".,;:*_")
    if ("/" in core or "." in core) and (path := _path(word, core)):
        return path
    if _is_commit(core):
        return "commit", core
    if _is_id(core):
        return "id", core
    if _is_version(core):
        return "version", core
    return _number(word, core) if core[0] in _NUMERIC else None


def _is_commit(core: str) -> bool:
    sized = 7 <= len(core) <= 40 or len(core) == 64
    return sized and _HEX.issuperset(core) and not core.isdigit()


def _is_id(core: str) -> bool:
    """Whether a word is an id: `ABC-123`, `P1-2`, `CVE-2024-3094`, or a UUID."""
    head, hyphen, rest = core.partition("-")
    if not (hyphen and rest):
        return False
    if len(core) == 36 and core.count("-") == 4:
        return _HEX.issuperset(core.replace("-", "").lower())
    spelled = head[:1].isalpha() and head.isalnum() and head.isupper()
    named = spelled and 1 < len(head) < 11
    return named and rest.replace("-", "").isdigit() and rest[-1] != "-"


def _is_version(core: str) -> bool:
    """Whether a word is a version: `1.2.3` (at least two dots), or `v` and a number with a dot."""
    parts = core.removeprefix("v").split(".")
    if len(parts) < (2 if core[0] == "v" else 3) or not all(parts):
        return False
    return all(part.isdigit() and part.isascii() for part in parts[:-1]) and parts[-1][0].isdigit()


def _path(word: str, core: str) -> tuple[str, str] | None:
    """A path, perhaps with a line; None for other words with a slash or a dot."""
    bare = word.lstrip("`\"'([{<|")
    if bare.startswith(("**/", "*.")):  # a glob, not emphasis
        core = bare.rstrip(_CLOSING)
    path, colon, place = core.partition("#L" if "#L" in core else ":")
    name = path.rstrip("/").rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    if name.lower() in _PRODUCTS or path.startswith("//") or path.count("{") != path.count("}"):
        return None
    if "/" in path:
        has_suffix = suffix.isalnum() and suffix[0].isalpha()
        is_file = bool(dot and stem) and has_suffix
        is_deep = path.count("/") > 1 and any(char in "-_." for char in path)
        looks_so = is_file or is_deep or path[0] in "./~"
        valid = looks_so and len(path) > 3 and any(map(str.isalpha, path))
    else:
        valid = bool(dot and stem and suffix.lower() in _FILES)
    if not valid or not all(char.isalnum() or char in _IN_PATHS for char in path):
        return None
    return ("location", core) if colon and place[:1].isdigit() else ("path", path)


def _number(word: str, core: str) -> tuple[str, str] | None:
    """A number with its unit; ("bare", number) if the unit can only be the next word."""
    end = len(core) - len(core.lstrip("0123456789.,-–~+<>≤≥±$€£"))
    if not any(map(str.isdigit, core[:end])):
        return None
    unit = core[end:].lower()
    if unit or core[0] in "$€£":
        return ("number", core) if not unit or unit.split("/")[0] in _UNITS else None
    return None if word[-1] in ".):" else ("bare", core)  # `7. Tokens` is a list item


def _in_sentences(text: str) -> Iterator[tuple[tuple[str, str], int]]:
    """The facts that are a sentence or a message, with their lines."""
    lower = text.lower()
    if len(lower) != len(text):  # the capital İ becomes two characters
        lower = "".join(char.lower()[:1] for char in text)
    for phrases, said_at in ((_FORBIDS, _forbidding), (_REPORTS, _reporting)):
        for phrase in phrases:
            at, number, counted = lower.find(phrase), 1, 0
            while at >= 0:
                number, counted = number + text.count("\n", counted, at), at
                fact, end = said_at(text, at, at + len(phrase))
                if fact:
                    yield fact, number
                at = lower.find(phrase, end)


def _line_around(text: str, at: int, end: int) -> tuple[int, int]:
    """The line that contains at:end, limited to what can matter, since lines may be endless."""
    first = max(0, at - _LONGEST)
    last = text.find("\n", end, end + _LONGEST)
    return max(first, text.rfind("\n", first, at) + 1), last if last >= 0 else end + _LONGEST


def _forbidding(text: str, at: int, end: int) -> tuple[tuple[str, str] | None, int]:
    """The sentence around a prohibiting phrase that stands as separate words, and where it ends."""
    before, after = text[at - 1 : at] or " ", text[end : end + 1] or " "
    if before not in " \t\n\"'“‘(*_>|`" or after not in " \t\r\n\"'”’)*_.,;:!?|`":
        return None, end
    first, last = _line_around(text, at, end)
    starts = [text.rfind(mark, first, at) for mark in (*_ENDS, "| ")]
    ends = [text.find(mark, end, last) for mark in _ENDS]
    start = max([first, *(index + 2 for index in starts if index >= 0)])
    end = min([index for index in ends if index >= 0], default=last)
    sentence = _plain(text[start:end]).strip(_MARKS).rstrip(".!?")
    return ("prohibition", sentence[:_LONGEST]), end


def _reporting(text: str, at: int, end: int) -> tuple[tuple[str, str] | None, int]:
    """The error message at `at` if it starts its line, is in quotes, or names its class."""
    first, last = _line_around(text, at, end)
    start = at
    while start > first and text[start - 1].isalnum():
        start -= 1
    before = text[first:start]
    opening = before[-1:] if before[-1:] in ("`", '"', "'") else ""
    if not opening and before.strip(_MARKS) and start == at:
        return None, end  # about an error, not one
    stop = text.find(opening or ". ", at, last)
    message = _plain(text[start : stop if stop >= 0 else last]).strip(_MARKS)[:_LONGEST]
    return ("error", message) if message.partition(":")[2].strip(_MARKS) else None, end

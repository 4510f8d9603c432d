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
_NUMERIC = "0123456789.,-–~+<>≤≥±$€£"
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
    text = _unmarked(text)
    seen: dict[tuple[str, str], int] = {}
    for fact, number in (*_in_sentences(text), *_in_words(text)):
        seen[fact] = min(number, seen.get(fact, number))
    facts = [(kind, value, number) for (kind, value), number in seen.items()]
    return sorted(facts, key=lambda fact: fact[2])


def _unmarked(text: str) -> str:
    """The text without the marks around the values of JSON and the paths of a diff."""
    if text.lstrip()[:1] in ("{", "["):
        text = text.replace("\\n", " | ").replace('\\"', "'").replace('"', " | ")
    if "diff --git a/" in text:
        text = text.replace(" a/", " ").replace(" b/", " ").replace("/dev/null", "")
    return text


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
        for word, following in zip(there, [*there[1:], ""], strict=True):
            kind, value = facts.get(word, ("", ""))
            if kind == "bare":
                unit = following.lstrip(_OPENING).rstrip(_CLOSING)
                kind, value = "number" if unit.lower() in _UNITS else "", f"{value} {unit}"
            if kind:
                yield (kind, value), number


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
    for kind, fits in (("commit", _is_commit), ("id", _is_id), ("version", _is_version)):
        if fits(core):
            return kind, core
    return _number(word, core) if core[0] in _NUMERIC else None


def _is_commit(core: str) -> bool:
    sized = 7 <= len(core) <= 40 or len(core) == 64
    return sized and _HEX.issuperset(core) and not core.isdigit()


def _is_id(core: str) -> bool:
    """Whether a word is an id: `ABC-123`, `P1-2`, `CVE-2024-3094`, or a UUID."""
    head, _, rest = core.partition("-")
    if len(core) == 36 and core.count("-") == 4:
        return _HEX.issuperset(core.replace("-", "").lower())
    spelled = head[:1].isalpha() and head.isalnum() and head.isupper()
    named = spelled and 1 < len(head) < 11
    return named and rest.replace("-", "").isdigit() and rest[-1] != "-"


def _is_version(core: str) -> bool:
    """Whether a word is a version: `1.2.3` (at least two dots), or `v` and a number with a dot."""
    *numbers, last = core.removeprefix("v").split(".")
    is_dotted = len(numbers) > (0 if core[0] == "v" else 1) and last[:1].isdigit()
    return is_dotted and all(number.isdigit() and number.isascii() for number in numbers)


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
    rest = core.lstrip(_NUMERIC)
    if not any(map(str.isdigit, core[: len(core) - len(rest)])):
        return None
    unit = rest.lower()
    if unit or core[0] in "$€£":
        return ("number", core) if not unit or unit.split("/")[0] in _UNITS else None
    return None if word[-1] in ".):" else ("bare", core)  # `7. Tokens` is a list item


def _in_sentences(text: str) -> Iterator[tuple[tuple[str, str], int]]:
    lower = text.lower()
    if len(lower) != len(text):  # the capital İ becomes two characters
        lower = "".join(char.lower()[:1] for char in text)
    for phrases, said_at in ((_FORBIDS, _forbidding), (_REPORTS, _reporting)):
        for phrase in phrases:
            at, number, counted = lower.find(phrase), 1, 0
            while at >= 0:
                number, counted = number + text.count("\n", counted, at), at
                end = at + len(phrase)  # of the line, what can matter, since lines may be endless
                before = text[max(0, at - _LONGEST) : at].rpartition("\n")[2]
                after = text[end : end + _LONGEST].partition("\n")[0]
                fact, used = said_at(before, text[at:end], after)
                if fact:
                    yield fact, number
                at = lower.find(phrase, end + used)


def _forbidding(before: str, phrase: str, after: str) -> tuple[tuple[str, str] | None, int]:
    """The sentence around a prohibiting phrase of words of its own; how much of `after` it took."""
    is_apart = (before[-1:] or " ") in " \t\"'“‘(*_>|`"
    if not is_apart or (after[:1] or " ") not in " \t\r\"'”’)*_.,;:!?|`":
        return None, 0
    for mark in _ENDS:
        before, after = before.rpartition(mark)[2], after.partition(mark)[0]
    sentence = _plain(before.rpartition("| ")[2] + phrase + after).strip(_MARKS).rstrip(".!?")
    return ("prohibition", sentence[:_LONGEST]), len(after)


def _reporting(before: str, phrase: str, after: str) -> tuple[tuple[str, str] | None, int]:
    """The error message if it starts its line, is in quotes, or names its class."""
    begun = len(before)
    while begun and before[begun - 1].isalnum():
        begun -= 1
    before, word = before[:begun], before[begun:]
    opening = before[-1:] if before[-1:] in ("`", '"', "'") else ""
    if before.strip(_MARKS) and not (opening or word):
        return None, 0  # about an error, not one
    message = word + (phrase + after).partition(opening or ". ")[0].partition(" |")[0]
    message = _plain(message).strip(_MARKS)[:_LONGEST]
    return ("error", message) if message.partition(":")[2].strip(_MARKS) else None, 0

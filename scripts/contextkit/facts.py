"""Hard facts of a text: what a summary must not lose without saying so.

    path        src/app.py, ./run, `setup.cfg`
    location    src/app.py:42, src/app.py:10-20, src/app.py#L42
    url         https://example.org/x
    commit      80ea710
    number      52 ms, 33%, 4,500 tokens
    error       ENOENT, TypeError, `fatal: not a git repository`
    prohibition a sentence with "must not", "never", "do not" …

Found word by word, without `re`: its import and the compiling of patterns would cost a
command half a bare interpreter start.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Fact = tuple[str, str, int]  # kind, the text, the line from 1

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
_ENDS = (". ", "! ", "? ", " |")  # of a sentence, or of a table's cell
_MARKS = " \t>`*-#|"
_LONGEST = 200  # characters of a sentence or an error line that count as one fact


def find(text: str) -> list[Fact]:
    """Every different fact of `text` with the line where it stands first, in that order."""
    lower = text.lower()
    forbids = [phrase for phrase in _FORBIDS if phrase in lower]
    reports = [phrase for phrase in _REPORTS if phrase in lower]
    known: dict[str, tuple[str, str] | None] = {}  # most words of a text come again
    seen: dict[tuple[str, str], int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        for fact in _of_sentences(line, forbids, reports) if forbids or reports else ():
            seen.setdefault(fact, number)
        for fact in _of_words(line, known):
            seen.setdefault(fact, number)
    return [(kind, value, number) for (kind, value), number in seen.items()]


def kept(facts: list[Fact], said: str) -> int:
    """How many of `facts` the text `said` carries too."""
    there = {(kind, value) for kind, value, _ in find(said)}
    said = _plain(said) + "\n"
    return sum((kind, value) in there or _is_quoted(kind, value, said) for kind, value, _ in facts)


def _is_quoted(kind: str, sentence: str, said: str) -> bool:
    """Whether a sentence stands whole in `said`, also where a row of a table is made one of it."""
    at = said.find(sentence) if kind in ("prohibition", "error") and " " in sentence else -1
    return at >= 0 and said[at + len(sentence)] in "\n.:;!?"


def _plain(sentence: str) -> str:
    return sentence.replace("**", "").replace("`", "")


def _of_sentences(line: str, forbids: list[str], reports: list[str]) -> Iterator[tuple[str, str]]:
    lower = line.lower() if line.isascii() else _lower(line)
    for phrase in reports:
        if phrase in lower:
            yield from _reported(line, lower.index(phrase))
    for phrase in forbids:
        if phrase in lower:
            yield from _forbidden(line, lower, phrase)


def _lower(line: str) -> str:
    """In lower case, each character where it was: the capital İ becomes two otherwise."""
    lower = line.lower()
    return lower if len(lower) == len(line) else "".join(c.lower()[:1] for c in line)


def _of_words(line: str, known: dict[str, tuple[str, str] | None]) -> Iterator[tuple[str, str]]:
    words = (line.replace("](", " ") if "](" in line else line).split()
    for index, word in enumerate(words):
        if word not in known:
            known[word] = _of_word(word)
        found = known[word]
        if found and found[0] == "bare":
            after = words[index + 1] if index + 1 < len(words) else ""
            unit = after.lstrip(_OPENING).rstrip(_CLOSING)
            found = ("number", f"{found[1]} {unit}") if unit.lower() in _UNITS else None
        if found:
            yield found


def _of_word(word: str) -> tuple[str, str] | None:
    """The fact that a word is; ("bare", number) where the next word must be its unit."""
    core = word if word.isalpha() else word.lstrip(_OPENING).rstrip(_CLOSING)
    if not core or core.isalpha():
        return ("error", core) if _is_error(core) else None
    if "://" in core and "http" in core:
        return "url", _url(word[word.find("http") :])
    found = _path(word, core) if "/" in core or "." in core else None
    if found:
        return found
    if _is_commit(core):
        return "commit", core
    return _number(word, core) if core[0] in _NUMERIC else None


def _is_error(word: str) -> bool:
    return word in _CODES or (len(word) > 5 and word.endswith(("Error", "Exception")))


def _is_commit(core: str) -> bool:
    sized = 7 <= len(core) <= 40 or len(core) == 64
    return sized and _HEX.issuperset(core) and not core.isdigit()


def _url(text: str) -> str:
    end = min((at for at in map(text.find, "()[]<>\"'`|") if at >= 0), default=len(text))
    return text[:end].rstrip(".,;:*_")


def _path(word: str, core: str) -> tuple[str, str] | None:
    """A path, perhaps with a place in it; None for anything else that has a slash or a dot."""
    bare = word.lstrip("`\"'([{<|")
    if bare.startswith(("**/", "*.")):  # a glob, no emphasis
        core = bare.rstrip(_CLOSING)
    path, colon, place = core.partition("#L" if "#L" in core else ":")
    name = path.rstrip("/").rpartition("/")[2]
    stem, dot, suffix = name.rpartition(".")
    if name.lower() in _PRODUCTS or path.startswith("//") or path.count("{") != path.count("}"):
        return None
    if "/" in path:
        known = bool(dot and stem and suffix.isalnum() and suffix[0].isalpha())
        known = known or path[0] in "./~" or (path.count("/") > 1 and any(c in "-_." for c in path))
        known = known and len(path) > 3 and any(map(str.isalpha, path))
    else:
        known = bool(dot and stem and suffix.lower() in _FILES)
    if not known or not all(char.isalnum() or char in _IN_PATHS for char in path):
        return None
    return ("location", core) if colon and place[:1].isdigit() else ("path", path)


def _number(word: str, core: str) -> tuple[str, str] | None:
    """A number with its unit; ("bare", number) where the unit can only be the next word."""
    end = len(core) - len(core.lstrip("0123456789.,-–~+<>≤≥±$€£"))
    if not any(map(str.isdigit, core[:end])):
        return None
    unit = core[end:].lower()
    if unit or core[0] in "$€£":
        return ("number", core) if not unit or unit.split("/")[0] in _UNITS else None
    return None if word[-1] in ".):" else ("bare", core)  # `7. Tokens` is an item of a list


def _forbidden(line: str, lower: str, phrase: str) -> Iterator[tuple[str, str]]:
    """Each sentence with `phrase` in it, as words of their own."""
    at = lower.find(phrase)
    while at >= 0:
        end = at + len(phrase)
        before, after = line[at - 1 : at] or " ", line[end : end + 1] or " "
        if before in " \t\"'“‘(*_>|`" and after in " \t\"'”’)*_.,;:!?|`":
            first = max(0, at - _LONGEST)
            starts = [line.rfind(mark, first, at) for mark in (*_ENDS, "| ")]
            start = max([first, *(found + 2 for found in starts if found >= 0)])
            ends = [line.find(mark, end, end + _LONGEST) for mark in _ENDS]
            end = min([e for e in ends if e >= 0], default=len(line))
            said = _plain(line[start:end]).strip(_MARKS + "\r").rstrip(".!?")
            yield "prohibition", said[:_LONGEST]
        at = lower.find(phrase, end)


def _reported(line: str, at: int) -> Iterator[tuple[str, str]]:
    """The error message at `at`, when it begins its line, stands in quotes, or names its class."""
    start = at
    while start and line[start - 1].isalnum():
        start -= 1
    before = line[max(0, start - 40) : start]
    opening = before[-1:] if before[-1:] in ("`", '"', "'") else ""
    if not opening and before.strip(_MARKS) and start == at:
        return  # about an error, not one
    end = line.find(opening or ". ", at)
    said = _plain(line[start : end if end >= 0 else len(line)][:_LONGEST]).strip(_MARKS + "\r")
    if said.partition(":")[2].strip(_MARKS):  # more than a label
        yield "error", said

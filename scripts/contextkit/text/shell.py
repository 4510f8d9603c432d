"""Read a shell command as far as a decision about it needs, and no further.

    parse("cd a && FOO=1 pytest -q 2>&1 | tee log")

gives the simple commands with their words, and the operators between them; None for anything that
is not plain: substitutions, here-documents, redirections into files, background, groups, loops.
"""

from __future__ import annotations

from contextkit.base.records import NamedTuple

_BLANK = " \t"
_ENDS = " \t\n;&|<>()"
_RESERVED = frozenset(
    "if then elif else fi for while until do done case esac in select function coproc { } !"
    " [[ ]]".split()
)
_HARMLESS = ("2>&1", "2>/dev/null", "2> /dev/null")  # redirections that keep the output as it is


class Simple(NamedTuple):
    """A command without operators. `start` and `end` are its place in the text.

    assigned: the variables set in front of it. words: without quotes. after: the operator that
    follows: `|`, `&&`, `||`, `;`, a line break, or empty.
    """

    assigned: tuple[str, ...]
    words: tuple[str, ...]
    start: int
    end: int
    after: str

    @property
    def name(self) -> str:
        """The program's name without its folder."""
        return self.words[0].rpartition("/")[2] if self.words else ""


def parse(text: str) -> list[Simple] | None:
    """The simple commands of `text` in order; None if there is anything else in it."""
    commands: list[Simple] = []
    at = 0
    while at < len(text):
        at = _skip(text, at)
        read = _simple(text, at)
        if read is None:
            return None
        if read.words or read.assigned:
            commands.append(read)
        elif read.after not in ("", "\n"):
            return None  # a command is missing
        at = read.end + len(read.after)
    return None if commands and commands[-1].after in ("|", "&&", "||") else commands


def _simple(text: str, start: int) -> Simple | None:
    """The command that begins at `start`, with its end; it may have no words."""
    assigned: list[str] = []
    words: list[str] = []
    at = start
    while at < len(text) and not _operator(text, at):
        after = next((at + len(some) for some in _HARMLESS if text.startswith(some, at)), 0)
        if after and text[after : after + 1] in _ENDS:
            at = _skip(text, after)
            continue
        read = _word(text, at)
        if read is None:
            return None
        word, end, quoted = read
        if not words and not quoted and word in _RESERVED:
            return None
        name, equals, _ = text[at:end].partition("=")
        is_variable = equals and name.removesuffix("+").isidentifier() and name.isascii()
        (assigned if is_variable and not words else words).append(word)
        at = _skip(text, end)
    return Simple(tuple(assigned), tuple(words), start, at, _operator(text, at))


def _skip(text: str, at: int) -> int:
    while at < len(text):
        if text[at] in _BLANK:
            at += 1
        elif text.startswith("\\\n", at):
            at += 2
        elif text[at] == "#" and (at == 0 or text[at - 1] in _ENDS):
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
        else:
            break
    return at


def _operator(text: str, at: int) -> str:
    """The operator at `at`; empty for a lone `&` and anything else."""
    two = text[at : at + 2]
    if two in ("&&", "||"):
        return two
    is_one = two[:1] in ("|", ";", "\n") and two not in ("|&", ";;")
    return two[:1] if is_one else ""  # a line break means what `;` does


def _word(text: str, at: int) -> tuple[str, int, bool] | None:
    """The word at `at`, its end, and whether it has quotes; None if it is not plain."""
    pieces: list[str] = []
    quoted = False
    first = at
    while at < len(text) and text[at] not in _ENDS:
        char = text[at]
        if char == "`" or (char == "$" and text[at + 1 : at + 2] in ("(", "'", '"')):
            return None
        if char == "\\":
            pieces.append(text[at + 1 : at + 2].strip("\n"))  # a line goes on
            at, quoted = at + 2, True
        elif char in "'\"":
            end = _closing(text, at)
            if end < 0:
                return None
            inside = text[at + 1 : end]
            pieces.append(inside if char == "'" else _unescaped(inside))
            at, quoted = end + 1, True
        else:
            pieces.append(char)
            at += 1
    return ("".join(pieces), at, quoted) if at > first else None


def _unescaped(text: str) -> str:
    """The text between double quotes, without the backslashes that have a meaning there."""
    parts = text.split("\\\\")
    for escaped, char in (('\\"', '"'), ("\\$", "$"), ("\\`", "`"), ("\\\n", "")):
        parts = [part.replace(escaped, char) for part in parts]
    return "\\".join(parts)


def _closing(text: str, at: int) -> int:
    """Where the quotes that open at `at` close; -1 if nowhere, or not plain inside."""
    if text[at] == "'":
        return text.find("'", at + 1)
    place = at + 1
    while place < len(text) and text[place] != '"':
        if text[place] == "`" or text.startswith("$(", place):
            return -1
        place += 2 if text[place] == "\\" else 1
    return place if place < len(text) else -1

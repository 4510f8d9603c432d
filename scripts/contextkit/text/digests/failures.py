"""What went wrong in the output of a tool, besides tests: each error once, with its place.

    failures.errors(text, used)         list[Failure], and the lines that say so
    failures.place_in(line)                the place that a line reports: `src/a.py:17`

Errors that differ only in numbers are one, with its count. `failed_tests` finds the tests.
"""

from __future__ import annotations

import json
import re

from contextkit.base.expressions import Pattern
from contextkit.base.records import NamedTuple
from contextkit.text.digests import failure_words, folding, lines, reading
from contextkit.text.digests.lines import Lines

_SUMS_UP = Pattern(  # a line about several failures, or about none in particular
    r"^(?:=== [A-Z]+ |make(?:\[\d+\])?: (?:\*\*\* Waiting|Target )|\[  FAILED  \] \d+ tests?,"
    r"|(?:[|+] )*(?:Exception Group )?Traceback \(most"
    r"|.*\(FAILED - \d+\)$|\[\w+\]$|The following tests FAILED)"
    r"|^FAILED \(|^(?:\[\w+\] )?(?:FAIL(?:ED|URE|URES)?|Failures?|Errors?)\W*$"
    r"|^✖ (?:\d+ problems?\b|.*:$)|(?<![.:\w])\d+ (?:fail|error)\w*\b"
    r"|^(\W)\1\1\W*(?:[^\W_]+\W+){0,3}\1\1$"
    r"|^(?:[A-Z]\w+ {2,})+[A-Z]\w+$"  # the header of a table
    r"|^\W?(?:INFO|DEBUG|NOTICE|TRACE)\b|^(?:at |\d+ - )|^\W*\w+(?: \w+)?:$"
)
_TITLE = r"\W{3,}(?:fatal )?(?:error|failure|exception|panic)\W{3,}$"  # of the lines below it
_TITLED = Pattern(_TITLE, re.I)
_LOUD = Pattern(r"\b[A-Z]{4,}\b|^\W*\[[a-z]+(?: [a-z]+)?\]")  # or a mark in brackets
_DOTS = Pattern(r"\.{6,}")  # between a check and its result
_ENDING = (  # of a file whose lines can be cited
    r"(?:pyi?|[cm]?[jt]sx?|vue|svelte|go|rs|rb|java|kts?|scala|groovy|[ch](?:c|h|pp|xx|s)?|fs|vb"
    r"|php|p[lm]|t|sh|bash|lua|swift|mm?|exs?|erl|hs|ml|clj|dart|jl|zig|nim|sql|s?css|html|xml"
    r"|json|ya?ml|toml|md|txt|tf|f(?:90|95|or)?)"
)
_PLACE = Pattern(
    r'File "(?P<file>[^"]+)", line (?P<at>\d+)'
    rf"|(?<![\w@./\\-])(?P<colons>[\w@./\\-]+\.{_ENDING}:\d+(?::\d+)?)\b(?!\()"
    rf"|(?<![\w./\\-])(?P<spelled>[\w./\\-]+\.{_ENDING})[:,]? ?line (?P<number>\d+)"
    r"|(?<![\w./\\-])(?P<brackets>[\w./\\-]+\.(?:tsx?|cs|vb|fs|cpp|c|h)\(\d+(?:,\d+)?\))"
)
POINTS = Pattern(  # a line that reports a place, or the first of a trace
    r"^(?:-->|❯|(?:test )?at |in |└|╭─\[|# \.?/|#\d+ |Location:|Origin:|on |\(|(?:E +)?File \""
    r"|thread '|note: )"
    rf"|^[\w@./\\-]+\.{_ENDING}(?::\d+|\(\d+)|\bpanicked at |[(\[][^()\[\]\s]+:\d+[)\]]:?$"
)
_SAID_BY = Pattern(r"^(?:[\w.-]+ )?[\w./-]+(?:\[\d+\]|(?<=kernel)): +")  # in a system's log
_WARNING = Pattern(r"\w+Warning: ")
_FIELDS = tuple(
    "msg message error errors reason detail exception rc code exit_code status stderr".split()
)
_EMPTY = Pattern(r", \"\w+\": (?:\"\"|\[\]|\{\}|null)(?=[,}])")  # an empty field
EXCEPTION = Pattern(r"^[\w.$]*(?:Error|Exception|Warning)\b(?::|$)")
_NUMBERED_NAME = Pattern(r"^[a-z]+\d[\w.-]*: ")
_UNSAID = Pattern(  # a failure that the next line explains
    rf"(?i:{_TITLE})|.*(?::|\| FAIL \|)$|(?:(?:\[\w+\] )?(?:ERROR|FAIL(?:ED)?) in )?\S+\.\w+"
    r"(?: \(\S+\))?(?: \d+:[\d-]+|\(\d+,\d+\))?$|(?:=+ )?\S+ FAIL(?:ED)?$"
)
_SOURCE = Pattern(r"^(?:\d+ +\|(?: .*[^|])?$|\d+\t|\^|(?:#\d+ +)?0x\w+ in )")  # quoted, or a frame
_FRAME = Pattern(r"(?:at|by|#\d+) +0x[\da-fA-F]+")
_TASK = Pattern(r"(?:TASK|RUNNING HANDLER) \[(.+)\] \*+$")
_LONGEST = 260  # characters shown of a failure
_READ = 500  # characters read of a line
_FIRST, _BRIEF = 5, 60  # words of a line that names what failed; characters of its last part
_NEAR = 4  # lines below an error that may explain or place it
_PLACES, _FEW = 20, 3  # errors of one form whose places are looked up; places shown
_REMARK = Pattern(r"\([^()]*\)")  # in an event, the usual reason of something
_FRAMES = 200  # lines of a trace above its exception


class Failure(NamedTuple):
    """What failed: its line, from 0, the text to show, the name to list it by, and its count.

    Without a text, it stands for failures that are only counted.
    """

    line: int
    said: str
    name: str
    times: int = 1


def shown(line: str, most: int = _LONGEST) -> str:
    """At most `most` characters of a line: its beginning, and its end, where the cause often is."""
    line = _telling(line) if len(line) > most else line
    return reading.both_ends(
        " ".join(lines.MARKS_IN_A_ROW.sub(" ", _DOTS.sub(" … ", line)).split()), most
    )


def _telling(line: str) -> str:
    """A long line with an object in JSON, of which only the fields about a failure are left."""
    start, end = line.find('{"'), line.rfind("}") + 1
    try:
        value = json.loads(line[start:end]) if 0 <= start < end else {}
    except ValueError:
        return str(_EMPTY.sub("", line))
    told = [f"{name}: {value[name]}" for name in _FIELDS if value.get(name) not in (None, "", [])]
    return f"{line[:start]}{', '.join(told)} … {line[end:]}" if told else line


def place_in(line: str) -> str:
    """The place that a line reports, unless it lies in a library: `src/a.py:17`."""
    match = _PLACE.search(line) if POINTS.search(line) else None
    if not match or any(part in line for part in (*lines.THEIRS, "Warning: ")):
        return ""
    if match["file"]:
        return f"{match['file']}:{match['at']}"
    if match["spelled"]:
        return f"{match['spelled']}:{match['number']}"
    return re.sub("^//+", "/", match["colons"] or match["brackets"])


def with_place(text: str, place: str) -> str:
    """`text` with a place behind it, unless it names one."""
    return f"{text} ({place})" if place and not _PLACE.search(text) else text


def errors(text: Lines, used: set[int]) -> tuple[list[Failure], set[int]]:
    """Each distinct error outside of tests with its count, and the lines of them all."""
    same: dict[str, list[int]] = {}
    unused = [at for at in text.failing if at not in used]
    text.forms.make(unused)
    for at in unused:
        continued = at and text.bare[at].startswith("E   ") and text.bare[at - 1].startswith("E   ")
        if not continued:
            same.setdefault(_form(text, at), []).append(at)
    errors: dict[str, Failure] = {}
    seen: set[int] = set()
    for at_all in same.values():
        at = min(at_all, key=lambda n: (len(text.bare[n]) >= _LONGEST, n))
        if at in seen or _is_aside(text, at):
            continue
        line = _REMARK.sub("", text.bare[at]) if text.is_event(at) else text.bare[at]
        if not (_fails(line) or _heads_a_trace(text, at)):
            continue
        message, more = _error(text, at)
        seen.update(at_all, more, *(_below(text, n) for n in at_all if more))
        if len(at_all) > 1:
            all_said = (_error(text, n)[0] if more else text.bare[n] for n in sorted(at_all))
            message = shown(folding.alike(all_said, 4 * _LONGEST, named=True))
        near = [] if _PLACE.search(message) else [_near(text, n) for n in at_all[:_PLACES]]
        places = [*dict.fromkeys(filter(None, near))]
        place = ", ".join(places[:_FEW]) + ", …" * (len(places) > _FEW)
        times = f" (x{len(at_all)})" if len(at_all) > 1 else ""
        if message in errors:
            errors[message] = errors[message]._replace(times=errors[message].times + len(at_all))
        else:
            whole = f"{with_place(message, place)}{times}"
            errors[message] = Failure(at, whole, places[0] if places else message, len(at_all))
    return list(errors.values()), seen


def _form(text: Lines, at: int) -> str:
    """The form by which equal errors are counted: no numbers, and in a log no names either.

    The number in the name of a tox environment stays.
    """
    line = text.bare[at]
    if line.startswith("CONFLICT"):
        return line
    is_event = text.all[at][:_READ].strip() != line
    form = lines.without_names(text.forms[at]) if is_event else text.forms[at]
    named = _NUMBERED_NAME.match(line)
    below = (text.forms[n] for n in _below(text, at)[-1:])
    return " ".join([named[0] if named else "", form, *below])


def _fails(line: str) -> bool:
    """Whether a line reports a failure rather than just mentioning one.

    Such a line reports it in capitals, in its first words, behind its place, or its last colon.
    """
    if _TITLED.match(line):
        return True
    line = _SAID_BY.sub("", line)
    is_title = line.isupper() and ":" not in line
    if is_title or _SUMS_UP.search(line) or _SOURCE.match(line):
        return False
    words, (_, colon, last) = line.split(), line.rpartition(": ")
    if len(words) > 2 and (place := _PLACE.match(line)):
        return failure_words.says_failure(line[place.end() :])
    says = failure_words.says_failure if " " in last else failure_words.says_failed
    is_brief = bool(colon) and len(last) < _BRIEF
    is_last = is_brief and last[0].isalpha() and says(last)
    is_loud = any(map(failure_words.says_failure, _LOUD.findall(line)))
    is_said = is_loud or failure_words.says_failed(" ".join(words[:_FIRST]))
    return is_last or is_said or line.startswith(failure_words.OF_PYTEST)


def _is_aside(text: Lines, at: int) -> bool:
    """Whether a line is a heading with a rule below, or a warning that was not raised."""
    warns = bool(_WARNING.match(text.bare[at])) and not _own_frame(text, at)
    return warns or text.is_underlined(at)


def _heads_a_trace(text: Lines, at: int) -> bool:
    """Whether the frames of a trace are below a line, as valgrind and sanitizers print them."""
    return any(_FRAME.match(text.bare[below]) for below in text.below(at, 1))


def _error(text: Lines, at: int) -> tuple[str, set[int]]:
    """The text of an error and the other lines that explain it."""
    line, more = text.bare[at], _below(text, at)
    if not more:
        step = _step(text, at) if line.startswith("fatal: [") else ""
        return shown(step + line + text.all[at][_READ : _READ * 8]), set()
    told = [at, *more] if len(more) < _NEAR - 1 else more[-2:]
    rest = text.paragraph(more[-1])[1:]
    return shown(" ".join(text.bare[n] for n in (*told, *rest))), {*more, *rest}


def _step(text: Lines, at: int) -> str:
    """The task of a play in which a host failed: `Render settings: `."""
    above = map(text.all.__getitem__, range(at - 1, max(-1, at - _FRAMES), -1))
    task = next(filter(None, map(_TASK.match, above)), None)
    return f"{task[1]}: " if task else ""


def _below(text: Lines, at: int) -> list[int]:
    """The lines below an error that explain it; all before the last are places."""
    below: list[int] = []
    while len(below) < _NEAR and _UNSAID.match(text.bare[at]):
        at = next((n for n in text.below(at, 2) if text.bare[n].strip("=-")), -1)
        if at < 0:
            break
        below.append(at)
    return below


def raised(text: Lines, at: int) -> str:
    """An exception at the end of a trace, with the place of its innermost own frame."""
    message = shown(text.bare[at])
    if message.endswith(":"):
        message = shown(" ".join([message, *(text.bare[n] for n in text.below(at, 1))]))
    return with_place(message, _near(text, at))


def _own_frame(text: Lines, at: int) -> str:
    """The innermost frame of the user's own code in the Python trace that ends at a line."""
    for number in range(at - 1, max(-1, at - _FRAMES), -1):
        read = text.bare[number].removeprefix("| ")
        if not read or read.startswith("Traceback"):
            break
        if read.startswith('File "') and (place := place_in(read)):
            return place
    return ""


def _near(text: Lines, at: int) -> str:
    """The place above an exception in a Python trace, in its frames, or in one of the next lines.

    Of the next lines, only the first may report one, or those in a frame of terraform.
    """
    if EXCEPTION.match(text.bare[at]) and (place := _own_frame(text, at)):
        return place
    in_frame = text.all[at][:1] == "│"
    near = text.below(at, _NEAR)
    first = next((n for n in near if lines.is_frame(text.all[n][:_READ])), at + 1)
    for number in (*text.below(at, 1), *text.below(first - 1, _FRAMES)):
        line = text.all[number][:_READ] if text.all[number][:1] == "#" else text.bare[number]
        is_frame = line.startswith(("at ", "by ", "#")) or (
            in_frame and text.all[number][:1] == "│"
        )
        if text.fails(number) and _fails(line):
            break
        if (is_frame or number == at + 1) and (place := place_in(line)):
            return place
        if not is_frame and number > at + 1:
            break
    return ""

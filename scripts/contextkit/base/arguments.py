"""Command options as data, and the values given in a call.

The small loop here reads a well-formed call (`--name=value …`); anything else goes to the argparse
parser that `usage.py` builds from the same options. A property test checks that the two agree.
"""

from __future__ import annotations

import os

from contextkit.base import names
from contextkit.base.commands import Option
from contextkit.base.errors import bad_input

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Raw = dict[str, list[str]]  # each option's values as typed

_NO = ("", "0", "no", "false", "off")
_YES = ("1", "yes", "true", "on")


def read_plain(options: tuple[Option, ...], argv: list[str]) -> Raw | None:
    """Parse `--name=value`, `--name value`, `--flag`, `-m value`, positionals; None for others."""
    spelled = {f"--{s}" if len(s) > 1 else f"-{s}": o for o in options for s in o.spellings}
    spelled.update((f"--{option.single}", option) for option in options if option.single)
    places = [option for option in options if option.positional]
    raw: Raw = {}
    position = 0
    while position < len(argv):
        word = argv[position]
        position += 1
        if not word.startswith("-"):
            if not places:
                return None
            raw.setdefault(places.pop(0).name, []).append(word)
            continue
        name, equals, value = word.partition("=")
        if word[:2] in spelled:  # `-mtext`; and argparse reads `-m=text` as `text`
            name, value = word[:2], word[2:].removeprefix("=")
            equals = "" if len(word) == 2 else "="
        found = spelled.get(name)
        if found is None:
            return None
        if not equals:
            if found.kind == "flag":
                value = "1"
            elif position < len(argv) and not argv[position].startswith("-"):
                value = argv[position]
                position += 1
            else:
                return None
        add(raw, found, name[2:], value)
    return raw


def add(raw: Raw, option: Option, spelling: str, value: str) -> None:
    """Record a value; a whole list is split into items, a repeatable single item is not."""
    values = raw.setdefault(option.name, [])
    if option.single == spelling and spelling:
        values.append(value)
    elif option.kind == "items":
        values += [i.strip() for line in value.split("\n") for i in line.split(" | ") if i.strip()]
    elif option.kind == "words":
        values += value.replace(",", " ").split()
    else:
        values.append(value)


def missing(options: tuple[Option, ...], raw: Raw) -> list[Option]:
    """The required options that are absent or blank."""
    return [o for o in options if o.required and not any(map(str.strip, raw.get(o.name, [])))]


def typed(options: tuple[Option, ...], raw: Raw) -> dict[str, Any]:
    """Convert each option to its type. Raises ContextError naming an invalid one."""
    return {option.name: _value(option, raw.get(option.name, [])) for option in options}


def _value(option: Option, given: list[str]) -> Any:
    given = [_utf8(option, value) for value in given]
    if option.kind in ("items", "words"):
        return tuple(value for value in given if value.strip())
    last = given[-1] if given else ""
    if option.kind == "flag":
        if last.lower() not in (*_NO, *_YES):
            raise bad_input(f"{option.name}={names.brief(last)}: write 1 for yes, 0 for no")
        return last.lower() in _YES
    if option.kind == "whole":
        if not last:
            return None
        if not (names.is_whole(last) and int(last)):
            raise bad_input(f"{option.name}={names.brief(last)}: must be a whole number from 1")
        return int(last)
    if option.choices and last and last not in option.choices:
        allowed = ", ".join(option.choices)
        raise bad_input(f"{option.name}={names.brief(last)}: must be one of {allowed}")
    return last.removeprefix(f"{option.address}:") if option.address else last


def _utf8(option: Option, value: str) -> str:
    """Decode an argument from the bytes that were typed, which are UTF-8 whatever the locale."""
    if value.isascii():
        return value
    try:
        return os.fsencode(value).decode("utf-8")
    except UnicodeError:
        raise bad_input(f"{option.name}: is not valid UTF-8") from None

"""Secrets in a text: found, named by kind and line, replaced, never shown.

    found      where they are
    redacted   the text with `(redacted github-token)` in the place of each
    checked    for what somebody typed: refused, or redacted on request
    typed, cleaned   the same two for all fields of a document at once

Every text that is stored or handed to an agent goes through here. `secret_search.py` looks, by
the rules of `secret_rules.py`; both are imported only for a text that has something to look at.
A finding holds its place and never its value, so neither a message nor a traceback can show it.
"""

from __future__ import annotations

from contextkit.base.errors import bad_input
from contextkit.base.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from contextkit.base.secret_search import Place

# What a line with a named secret holds, in any case: a part of the name, and what joins a value.
_NAMES = ("pass", "pwd", "token", "secret", "key", "auth", "credential")
_JOINTS = ("=", ":", ">", "is ", "was ", "--")
_CARRIERS = ("bearer ", "basic ")
_DIGITS = frozenset("0123456789")
_SHORTEST = 15  # characters of a token, the beginning that its issuer gave it included
_LONG = 30  # characters of a word that may be a token without a digit
_REPEATED = 8  # characters of a value that is looked for in the rest of the text
_MOST_REPEATED = 50  # different values that are


class Secret(Record):
    """`line` counts from 1, `span` is where the value begins and ends in the text."""

    kind: str
    line: int
    span: tuple[int, ...]


def found(text: str, allowed: Iterable[str] = ()) -> tuple[Secret, ...]:
    """Every secret of `text` in order.

    `allowed` names kinds to skip, and texts: a value that contains one is not a secret.
    """
    if not _worth_a_search(text):
        return ()
    from contextkit.base import secret_search

    allowed = tuple(allowed)
    places = list(secret_search.places(text))
    if not places:
        return ()
    secrets: list[Secret] = []
    line = at = end = 0
    places += _again(text, places)
    known = [(start, stop) for kind, start, stop in places if kind in allowed]
    places = [p for p in places if p[0] != "random" or not _is_within(p, known)]
    for kind, start, stop in sorted(places, key=lambda place: (place[1], -place[2])):
        if kind in allowed or any(known in text[start:stop] for known in allowed):
            continue
        start = max(start, end)  # of two that overlap the second has only what is left
        if start >= stop:
            continue
        line, at, end = line + text.count("\n", at, start), start, stop
        secrets.append(Secret(kind=kind, line=line + 1, span=(start, stop)))
    return tuple(secrets)


def _is_within(place: Place, spans: list[tuple[int, int]]) -> bool:
    return any(start <= place[1] and place[2] <= stop for start, stop in spans)


def _worth_a_search(text: str) -> bool:
    """Whether there can be a secret at all: a cheap look, which is right when it says no."""
    lower = text.lower()
    if "-----BEGIN " in text or ("://" in text and "@" in text) or _has(lower, _CARRIERS):
        return True
    if _has(lower, _NAMES):
        if any(_has(line, _NAMES) and _has(line, _JOINTS) for line in lower.split("\n")):
            return True
    return any(
        len(word) >= _SHORTEST and (len(word) >= _LONG or not _DIGITS.isdisjoint(word))
        for word in text.split()
    )


def _has(text: str, literals: tuple[str, ...]) -> bool:
    return any(map(text.__contains__, literals))


def redacted(text: str, allowed: Iterable[str] = ()) -> tuple[str, tuple[Secret, ...]]:
    """`text` without the values of its secrets, and what they were."""
    secrets = found(text, allowed)
    pieces, at = [], 0
    for secret in secrets:
        start, end = secret.span
        pieces += [text[at:start], mark(secret.kind)]
        at = end
    return "".join([*pieces, text[at:]]), secrets


def mark(kind: str) -> str:
    """What stands in the place of a secret; breaks neither YAML nor JSON nor Markdown."""
    return f"(redacted {kind})"


def checked(text: str, field: str, allowed: Iterable[str] = (), redact: bool = False) -> str:
    """`text` as it was typed, if no secret is in it; redacted where `redact` says so.

    Raises ContextError naming kind and line of each, and the ways on.
    """
    if redact:
        return redacted(text, allowed)[0]
    secrets = found(text, allowed)
    if secrets:
        raise bad_input(
            "\n".join([*(f"{field}:{s.line}: {told(s)}" for s in secrets), "nothing was written"])
        )
    return text


def typed(values: Any, allowed: Iterable[str], redact: bool = False, field: str = "") -> Any:
    """`checked` for every text in lists and fields: a secret is named by the field it stands in."""
    return _each(values, field, lambda text, name: checked(text, name, allowed, redact))


def cleaned(values: Any, allowed: Iterable[str]) -> Any:
    """`redacted` for every text in lists and fields: for what no person typed."""
    return _each(values, "", lambda text, _: redacted(text, allowed)[0])


def _each(value: Any, field: str, change: Callable[[str, str], str]) -> Any:
    """`value` with every text in it changed; what is neither text, list nor fields stays."""
    if isinstance(value, str):
        return change(value, field)
    if isinstance(value, list | tuple):
        named = [(f"{field} {number}", item) for number, item in enumerate(value, 1)]
        return type(value)(_each(item, name, change) for name, item in named)
    if isinstance(value, dict):
        return {name: _each(item, str(name), change) for name, item in value.items()}
    return value


def summary(secrets: Iterable[Secret]) -> str:
    """How many of each kind: `2 github-token, 1 jwt`."""
    counts: dict[str, int] = {}
    for secret in secrets:
        counts[secret.kind] = counts.get(secret.kind, 0) + 1
    return ", ".join(f"{count} {kind}" for kind, count in counts.items())


def told(secret: Secret) -> str:
    """A finding in words, with what to do."""
    return (
        f"looks like a secret ({secret.kind}): remove it, use redact=1, "
        "or list it under secrets_allow in contextkit.yaml"
    )


def _again(text: str, places: list[Place]) -> list[Place]:
    """Where a value that was found stands once more, whatever is around it there."""
    values = {text[start:stop]: kind for kind, start, stop in places if stop - start >= _REPEATED}
    found: list[Place] = []
    for value, kind in list(values.items())[:_MOST_REPEATED]:
        at = text.find(value)
        while at >= 0:
            found.append((kind, at, at + len(value)))
            at = text.find(value, at + len(value))
    return found

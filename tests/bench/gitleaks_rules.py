"""Values that a gitleaks configuration would call secrets, made at random from its expressions.

The configuration is read as data: `rules` of a TOML file, each with `id`, `regex`, `keywords`
and maybe `secretGroup`. https://github.com/gitleaks/gitleaks, config/gitleaks.toml
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

PRINTABLE = [chr(code) for code in range(33, 127)]
WORD = [char for char in PRINTABLE if char.isalnum() or char == "_"]
# Their secret is in a context (a header, a URL, YAML) that a value alone does not have.
IN_CONTEXT = frozenset(
    "curl-auth-header curl-auth-user generic-api-key kubernetes-secret-yaml"
    " nuget-config-password private-key sidekiq-sensitive-url".split()
)
FORMS = (
    '{name}Token="{value}"', "{name}_token: {value}", '{{"{name}_token": "{value}"}}',
    "export {capitals}_TOKEN={value}", "{name}Token = '{value}'", '{name}_api_key := "{value}"',
)  # fmt: skip


class Sample(NamedTuple):
    """A value in two contexts; `secret` is the part that gitleaks itself would report."""

    rule: str
    secret: str
    assigned: str
    alone: str


def samples(path: str, each: int = 3, seed: int = 8) -> Iterator[Sample]:
    """Make `each` values by each rule."""
    rng = random.Random(seed)
    rules = tomllib.loads(Path(path).read_text(encoding="utf-8"))["rules"]
    for rule in rules:
        if "regex" not in rule or rule["id"] in IN_CONTEXT:
            continue
        tree = parser.parse(_in_python(rule["regex"]))
        name = "".join(filter(str.isalnum, rule.get("keywords", ["service"])[0])) or "service"
        for _ in range(each):
            groups: dict[int, str] = {}
            whole = _made(tree, rng, groups)
            value = (groups.get(rule.get("secretGroup", 1)) or whole).strip("'\"` ")
            secret = groups.get(rule.get("secretGroup", 0)) or _first(groups) or whole
            form = rng.choice(FORMS)
            yield Sample(
                rule["id"],
                secret.strip("'\"` "),
                form.format(name=name, capitals=name.upper(), value=value),
                in_a_sentence(value),
            )


def in_a_sentence(value: str) -> str:
    return f"We deployed with {value} yesterday, and it worked."


def _first(groups: dict[int, str]) -> str:
    """The first group that is not empty: what gitleaks reports if a rule names none."""
    return next((groups[number] for number in sorted(groups) if groups[number]), "")


def _in_python(expression: str) -> str:
    """Go's dialect in Python's, as far as these rules use it; case does not matter here."""
    for go, python in (("[[:alnum:]]", "[a-zA-Z0-9]"), ("(?i)", ""), ("(?s)", ""), ("\\z", "\\Z")):
        expression = expression.replace(go, python)
    return expression


def _made(tree: Any, rng: random.Random, groups: dict[int, str]) -> str:
    """One text that the parsed expression matches; `groups` gets what its groups hold."""
    made = ""
    for operation, value in tree:
        name = str(operation)
        if name == "LITERAL":
            made += chr(value)
        elif name == "ANY":
            made += rng.choice("abcdefghij")
        elif name == "IN":
            made += rng.choice(_class(value))
        elif name in ("MAX_REPEAT", "MIN_REPEAT"):
            least, most, inside = value
            most = least if name == "MIN_REPEAT" else min(int(most), least + 12)
            for _ in range(rng.randint(least, most)):
                made += _made(inside, rng, groups)
        elif name == "SUBPATTERN":
            text = _made(value[3], rng, groups)
            if value[0]:
                groups[value[0]] = text
            made += text
        elif name == "BRANCH":
            made += _made(rng.choice(value[1]), rng, groups)
    return made


def _class(items: Any) -> list[str]:
    chars: set[str] = set()
    inverted = False
    for operation, value in items:
        name = str(operation)
        if name == "NEGATE":
            inverted = True
        elif name == "LITERAL":
            chars.add(chr(value))
        elif name == "RANGE":
            chars |= {chr(code) for code in range(value[0], min(value[1], 126) + 1)}
        elif name == "CATEGORY":
            chars |= {c for c in PRINTABLE if re.match(_CATEGORIES[str(value)], c)}
    return sorted(set(PRINTABLE) - chars if inverted else chars & set(PRINTABLE)) or [" "]


_CATEGORIES = {
    "CATEGORY_DIGIT": r"\d", "CATEGORY_WORD": r"\w", "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S", "CATEGORY_NOT_DIGIT": r"\D", "CATEGORY_NOT_WORD": r"\W",
}  # fmt: skip

"""Strings from the tests of gitleaks and trufflehog, read as data from checkouts of theirs.

    harmless(gitleaks)    what its rules must not report: `cmd/generate/config/rules/*.go`
    wanted(trufflehog)    what its detectors must find: `pkg/detectors/**/*_test.go`

https://github.com/gitleaks/gitleaks, https://github.com/trufflesecurity/trufflehog
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

RULES = "cmd/generate/config/rules"
DETECTORS = "pkg/detectors"
_SHORTEST = 8
_LIST = re.compile(r"fps := \[\]string\{(.*?)\n\t\}", re.DOTALL)
_COMMENT = re.compile(r"(?m)^\s*//.*$")
_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`([^`]*)`')
_WANTED = re.compile(r'want:\s*\[\]string\{"((?:[^"\\\n]|\\.)*)"\}')
# Those of two parts (a key and its host, a user and a password) are found by their parts.
_IN_PARTS = ("@", ":", ".com", ".io", ".net", " ", "\\")


def harmless(folder: Path) -> list[str]:
    """Every string that a rule of gitleaks must leave alone."""
    found = []
    for path in sorted((folder / RULES).glob("*.go")):
        for strings in _LIST.findall(path.read_text(encoding="utf-8")):
            for quoted, raw in _STRING.findall(_COMMENT.sub("", strings)):
                found += [raw or text for text in _unquoted(quoted)]
    return [text for text in found if len(text) > _SHORTEST]


def _unquoted(text: str) -> Iterator[str]:
    """A Go string without its escapes; nothing if JSON has no such escape."""
    try:
        yield json.loads(f'"{text}"'.replace("\\x60", "`").replace("\\'", "'"))
    except ValueError:
        return


def wanted(folder: Path) -> list[tuple[str, str]]:
    """The detector and the value of up to three strings per test of trufflehog."""
    found = []
    for path in sorted((folder / DETECTORS).rglob("*_test.go")):
        if "integration" in path.name:
            continue
        values = sorted(set(_WANTED.findall(path.read_text(encoding="utf-8"))))
        values = [value for value in values[:3] if not any(map(value.__contains__, _IN_PARTS))]
        found += [(path.parent.name, value) for value in values if len(value) >= _SHORTEST]
    return found

"""Whether a host would run a command without asking, so that it may run it wrapped as well.

The wrapper adds words that the user did not type, so the host would ask about them; a hook can
answer that question. It does so only if the host would not have asked about the command alone: each
part of it is allowed by a rule in the settings, or only reads. The user's own rules to deny or ask
still apply, since the wrapped command contains the typed one unchanged.
"""

from __future__ import annotations

import os

from contextkit.base import files, formats, stores
from contextkit.hosts.documents.contracts import Host
from contextkit.text.shell import Simple

# Modes in which rules decide; in others, a model does.
_ASKING = ("default", "acceptEdits", "dontAsk")
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./,:=@%+-~^ '\"")
_GIT = ("status", "log", "diff", "show")
_RUNS = ("-exec", "-delete", "-ok", "-fprint", "-fls", "--output", "--ext-diff", "-O",
         "--open-files")  # fmt: skip


def would_run(host: Host, mode: str, command: str, parts: list[Simple]) -> bool:
    """Whether the host runs each part of `command` in this mode without a question."""
    if mode not in _ASKING or any(map(os.path.exists, host.managed)):
        return False
    texts = []
    for part in parts:  # as the host compares it: without harmless redirections
        text = command[part.start : part.end].strip()
        for ending in ("2>&1", "2>/dev/null", "2> /dev/null"):
            text = text.removesuffix(ending).rstrip()
        texts.append(text)
    if not all(_PLAIN.issuperset(text) for text in texts):
        return False
    rules = _rules(host, "allow")
    return all(
        any(_allows(rule, text) for rule in rules) or _only_reads(part)
        for text, part in zip(texts, parts, strict=True)
    )


def are_named(host: Host, root: str, parts: list[Simple]) -> bool:
    """Whether a rule that does not allow names a word, or a policy file one of the programs."""
    ruled = {_program(rule) for kind in ("deny", "ask") for rule in _rules(host, kind)}
    if "*" in ruled or any({part.name, *part.words} & ruled for part in parts):
        return True
    texts = []
    for place in host.policies:
        folder = os.path.join(root, place.replace("~", host.folder(), 1))
        paths = [os.path.join(folder, name) for name in stores.names_in(folder)]
        texts += [files.read_if_there(path) or "" for path in paths]
    return any(f"{mark}{part.name}{mark}" in text for text in texts for part in parts
               for mark in "\"'")  # fmt: skip


def _allows(rule: str, text: str) -> bool:
    """Whether a rule such as `Bash(npm test:*)` allows a command."""
    if rule in ("Bash", "Bash(*)", "Bash(:*)"):
        return True
    inside = rule.removeprefix("Bash(").removesuffix(")")
    beginning = inside[:-2] if inside[-2:] in (":*", " *") else inside
    if len(inside) != len(rule) - 6 or "*" in beginning:
        return False
    return text == beginning or (beginning != inside and text.startswith(beginning + " "))


def _only_reads(part: Simple) -> bool:
    """Whether a command is one that hosts run without asking, inside the project."""
    words = part.words
    outside = any(word.startswith(("/", "~")) or ".." in word for word in words[1:])
    if part.assigned or outside or any(word.startswith(_RUNS) for word in words):
        return False
    asks_git = words[0] == "git" and any(word in _GIT for word in words[1:2])
    return words[0] in ("ls", "cd") or asks_git


def _program(rule: str) -> str:
    """The program that a rule is about; `*` for every one, empty for another tool."""
    if not rule.startswith("Bash"):
        return ""
    inside = rule.removeprefix("Bash").strip("()").split(" ")[0].partition(":")[0]
    return inside if inside and "*" not in inside else "*"


def _rules(host: Host, kind: str) -> list[str]:
    """The user's rules and those of the project, which allow only if the user trusts it."""
    if not host.rules:
        return []
    project = os.environ.get(host.project, "")
    paths = [os.path.join(host.folder(), "settings.json")]
    if project and (kind != "allow" or _is_trusted(host, project)):
        paths += [os.path.join(project, path) for path in host.rules]
    listed = (formats.inside(_settings(path), "permissions").get(kind) for path in paths)
    every = (rule for rules in listed if isinstance(rules, list) for rule in rules)
    return [rule for rule in every if isinstance(rule, str)]


def _is_trusted(host: Host, project: str) -> bool:
    """Whether the user has told the host to trust the project's settings."""
    folder = os.environ.get(host.home[0]) or os.path.expanduser("~")
    projects = formats.inside(_settings(os.path.join(folder, host.trusts)), "projects")
    entry = [formats.inside(projects, name) for name in (os.path.realpath(project), project)]
    return next(filter(None, entry), {}).get("hasTrustDialogAccepted") is True


def _settings(path: str) -> dict[str, object]:
    """The object in a file; an empty one for anything else."""
    return formats.object_in((files.read_if_there(path) or "").encode())

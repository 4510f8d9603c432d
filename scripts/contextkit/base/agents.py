"""Agent names, and how a prompt addresses one at its beginning: `@qa …`, `/AIOS:agents:qa …`."""

from __future__ import annotations

from contextkit.base import names
from contextkit.base.errors import bad_input

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
_CHARACTERS = _LETTERS | frozenset("0123456789-")
_LONGEST = 64  # characters in an id: two of them, a stamp, and a suffix must fit in a file name
_AFTER = ",:;.!?"  # punctuation allowed between a name and the space after it
_SEEKERS = ("explore", "search", "lookup", "question")
_QUESTIONS = frozenset("where what which who when why how is are does do did can has have".split())
_LONGEST_QUESTION = 80  # words of a task that may be a question
# Agents that judge the work of others do not see those agents' view of it unless asked to.
_JUDGES = ("review", "audit", "critic", "senior_architect", "senior-architect")


def is_id(text: str) -> bool:
    """Whether `text` is words of a-z and 0-9 joined by single hyphens, starting with a letter."""
    spelled = text[:1] in _LETTERS and _CHARACTERS.issuperset(text) and len(text) <= _LONGEST
    in_path = "-to-" in text  # a file name contains `<from>-to-<to>`
    return spelled and all(text.split("-")) and not in_path


def identify(text: str, field: str) -> str:
    """The id that `qa`, `@qa`, or `QA` stands for. Raises ContextError naming `field`."""
    identity = text.strip().removeprefix("@").lower()
    if not identity:
        raise bad_input(f"{field}: is missing: the id of an agent, such as qa")
    if not is_id(identity):
        asked = "a-z, 0-9 and single hyphens, starting with a letter, without -to- inside"
        raise bad_input(f"{field}: {names.one_line(text)[:80]!r} is not an agent id: {asked}")
    return identity


def judges(name: str) -> bool:
    """Whether an agent with this name judges the work of others, such as a reviewer or auditor."""
    lower = name.lower()
    return any(word in lower for word in _JUDGES)


def asks(kind: str, task: str) -> bool:
    """Whether an agent of this kind, with this task, only explores or answers a question."""
    lower = kind.lower()
    if "general" in lower:
        return False
    words = task.lower().split()
    begins_so = bool(words) and words[0].strip("#*_") in _QUESTIONS
    is_question = begins_so or task.strip().endswith("?")
    explores = any(word in lower for word in _SEEKERS)
    return explores or (is_question and len(words) <= _LONGEST_QUESTION)


def recognized(prompt: str, prefixes: tuple[str, ...]) -> tuple[str, str] | None:
    """The agent that a prompt addresses at its very beginning, and the text after it; or None.

    An email address (`a@dev.com`) or a path (`@src/app.py`) does not address an agent.
    """
    text = prompt.lstrip()
    for prefix in filter(None, prefixes):
        begins, rest = text[: len(prefix)].lower() == prefix.lower(), text[len(prefix) :]
        name, *others = rest.split(maxsplit=1) if begins and rest[:1].strip() else [""]
        if name[-1:] in _AFTER:
            name = name[:-1]
        if is_id(name.lower()):
            return name.lower(), "".join(others).strip()
    return None

"""Check a capsule line by line, as far as its text alone allows.

An error keeps it from being saved or used in a launch; a warning is for its author. What only the
repository can tell (references, drift, reminders) is checked in `flows/upkeep.py`.
"""

from __future__ import annotations

from contextkit.base import markdown, redaction, tokens
from contextkit.base.errors import ContextError
from contextkit.base.records import Record
from contextkit.base.settings import Limits
from contextkit.capsules.documents import store as capsules
from contextkit.capsules.documents.store import Capsule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ERROR, WARNING = "error", "warning"
HIGHLIGHTS = "Transcript Highlights"
THREADS = "Exploratory Threads & User Preferences"
CHECKLIST = "Consistency Checklist"
_NEXT_STEPS = ("next discovery step", "next step", "next:")


class Lint(Record):
    """A problem; `line` counts from 1 in the file, and is 0 if it concerns the whole."""

    severity: str
    line: int
    what: str
    mend: str = ""

    def formatted(self, where: str) -> str:
        """`capsule.md:12: error: …: …`, the usual form that editors understand."""
        place = f"{where}:{self.line}" if self.line else where
        mend = f": {self.mend}" if self.mend else ""
        return f"{place}: {self.severity}: {self.what}{mend}"


def problems(text: str, where: str = "capsule") -> list[str]:
    """What keeps `text` from being a finished capsule, as sentences; empty if nothing does.

    Secrets are not covered: the caller that saves decides whether they are refused or redacted.
    """
    try:
        capsule, body = capsules.parse(text, where)
    except ContextError as error:
        return [str(error)]
    found = [*_sections(capsule, body), *_placeholders(text), *_size(text, capsule, Limits())]
    return [
        f"{f'{where}:{f.line}' if f.line else where}: {f.what}" + (f": {f.mend}" if f.mend else "")
        for f in found
        if f.severity == ERROR
    ]


def findings(text: str, limits: Limits) -> list[Lint]:
    """Every problem in the text, in order of lines."""
    secrets = [
        Lint(
            severity=ERROR,
            line=secret.line,
            what=f"looks like a secret ({secret.kind})",
            mend="remove it, use redact=1, or list it under secrets_allow in contextkit.yaml",
        )
        for secret in redaction.found(text, limits.secrets_allow)
    ]
    try:
        capsule, body = capsules.parse(text, "")
    except ContextError as error:
        what = str(error).removeprefix(":").strip()
        return [Lint(severity=ERROR, line=_line_of(text, what), what=what), *secrets]
    offset = text.count("\n") - body.count("\n")
    found = [
        *_sections(capsule, body),
        *_placeholders(text),
        *_size(text, capsule, limits),
        *_highlights(body, offset, limits.capsule_highlights),
        *_threads(body, offset),
        *secrets,
    ]
    return sorted(found, key=lambda finding: finding.line)


def _line_of(text: str, what: str) -> int:
    """The line of the front matter whose key a sentence names; the first line if it names none."""
    lines = text.partition("\n---")[0].split("\n")
    keys = {
        line.partition(":")[0]: number for number, line in enumerate(lines, start=1) if ":" in line
    }
    return next((keys[word] for word in what.replace(":", " ").split() if word in keys), 1)


def headings(body: str) -> dict[str, int]:
    """The level-1 headings of a body, each with its line in the body."""
    return {
        line[2:].strip(): number
        for number, line in markdown.outside_fences(body)
        if line.startswith("# ")
    }


def _sections(capsule: Capsule, body: str) -> Iterator[Lint]:
    there = headings(body)
    for section in capsules.MINI_SECTIONS if capsule.mini else capsules.SECTIONS:
        if section not in there:
            yield Lint(severity=ERROR, line=0, what=f"the section `# {section}` is missing")
    for section in () if capsule.mini else (THREADS, CHECKLIST):
        if section not in there:
            yield Lint(severity=WARNING, line=0, what=f"the section `# {section}` is missing")


def _placeholders(text: str) -> Iterator[Lint]:
    marks = capsules.placeholders()
    for number, line in enumerate(text.split("\n"), start=1):
        for mark in marks:
            if mark in line:
                what = f"the placeholder {mark} is still there"
                yield Lint(severity=ERROR, line=number, what=what)


def _size(text: str, capsule: Capsule, limits: Limits) -> Iterator[Lint]:
    """Check the budget without the seal, which is added later and reaches no subagent."""
    size = tokens.estimate(capsules.unsealed(text))
    if size > capsule.token_budget:
        is_error = size > capsule.token_budget * tokens.CAUTION
        yield Lint(
            severity=ERROR if is_error else WARNING,
            line=0,
            what=f"~{size} tokens, more than its budget of {capsule.token_budget}",
            mend="shorten it",
        )
    ceiling = limits.subagent_prompt_ceiling
    if size * 100 > limits.capsule_warn_percent * ceiling:
        yield Lint(
            severity=WARNING,
            line=0,
            what=f"~{size} tokens, above {limits.capsule_warn_percent} % of the {ceiling} that a "
            "subagent's prompt may have",
            mend="shorten it, or launch with capsule_show max_tokens=",
        )


def _highlights(body: str, offset: int, most: int) -> Iterator[Lint]:
    count = len(_items(body, HIGHLIGHTS))
    if count > most:
        yield Lint(
            severity=WARNING,
            line=offset + headings(body)[HIGHLIGHTS],
            what=f"{count} transcript highlights, more than {most}",
            mend="keep the pivotal ones",
        )


def _threads(body: str, offset: int) -> Iterator[Lint]:
    for number, item in _items(body, THREADS):
        lower = item.lower()
        if "preference" in lower.partition("\n")[0][:20]:
            continue
        if not any(step in lower for step in _NEXT_STEPS):
            yield Lint(
                severity=WARNING,
                line=offset + number,
                what="an exploratory thread has no next discovery step",
                mend="say what to find out first, or whom to ask",
            )


def _items(body: str, section: str) -> list[tuple[int, str]]:
    """The list items of a section with their lines, including what is indented below them."""
    found: list[tuple[int, str]] = []
    inside = False
    for number, line in markdown.outside_fences(body):
        if line.startswith("# "):
            inside = line[2:].strip() == section
        elif inside and line[:2] in markdown.BULLETS:
            found.append((number, line))
        elif inside and found and line[:1] in (" ", "\t"):
            found[-1] = found[-1][0], f"{found[-1][1]}\n{line}"
    return found

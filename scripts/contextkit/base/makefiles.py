"""What our Makefile says: targets, their variables and their help.

Read by `make help`, by the page of targets and, when a variable is not understood, by the
refusal. Nothing here is on a command's ordinary way.
"""

from __future__ import annotations

import os
import re

from contextkit.base import names
from contextkit.base.errors import bad_input
from contextkit.base.layout import toolkit
from contextkit.base.records import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_TARGET = re.compile(r"^(?P<name>[a-z_]+):.*?## (?P<help>.*)$")
_INPUT = re.compile(r'"\$\$(\w+)"')
_SCRIPT = re.compile(r"call CONTEXTKIT_SCRIPT,(\w+)(?: (\w+))?\)")
CHECKOUT = "This checkout"  # the section of the targets that a host does not get


class Target(Record):
    """One documented target: `variables` in the order of its recipe."""

    name: str
    section: str
    help: str
    variables: tuple[str, ...]
    script: str = ""
    command: str = ""


def targets(text: str = "") -> list[Target]:
    """The targets with a `##` comment in the Makefile `text` (ours by default), in order."""
    if not text:
        with open(toolkit("Makefile"), encoding="utf-8") as file:
            text = file.read()
    found: list[Target] = []
    section = ""
    documented = False  # whether the recipe that follows belongs to the last one found
    for line in text.replace("\\\n", " ").split("\n"):
        match = _TARGET.match(line)
        if line.startswith("##@ "):
            section = line[4:]
        elif match:
            found.append(Target(**match.groupdict(), section=section, variables=()))
            documented = True
        elif not line.startswith("\t"):
            documented = documented and ":" not in line
        elif documented and not found[-1].script:
            called = _SCRIPT.search(line)
            found[-1] = found[-1].replace(
                variables=tuple(_INPUT.findall(line)),
                script=called[1] if called else "",
                command=(called[2] or "") if called else "",
            )
    return found


def refuse_unknown(unknown: list[str], known: list[str]) -> None:
    """Raise ContextError for a lower-case variable that neither we nor any Makefile know.

    `V=1`, `CFLAGS=` and what another goal of the same call or the host's own Makefiles use are
    none of our business.
    """
    goals = os.environ.get("CONTEXTKIT_GOALS", "").split()
    others = {v for target in targets() if target.name in goals for v in target.variables}
    for name in unknown:
        lower = re.fullmatch(r"[a-z][^A-Z]*", name)
        if lower and name not in others and not _defined_somewhere(name):
            raise bad_input(
                f"there is no variable {name}={names.nearest(name, known)};"
                f" this target takes {', '.join(known)}"
            )


def _defined_somewhere(name: str) -> bool:
    """Whether a Makefile that was read for this call assigns the variable `name`."""
    assigns = re.compile(
        rf"^\s*(?:(?:override|export|private|define)\s+)*{re.escape(name)}\s*(?:[:?+!]*=|$)", re.M
    )
    return any(assigns.search(text) for text in _makefiles())


def _makefiles() -> Iterator[str]:
    """The text of each Makefile of this call; a path with blanks is several words of the list."""
    words = os.environ.get("CONTEXTKIT_MAKEFILES", "").split()
    for start in range(len(words)):
        for end in range(start, len(words)):
            path = " ".join(words[start : end + 1])
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    yield file.read()
            except OSError:
                continue  # generated, or not where a path ends


def help_text(inside_host: bool = False) -> str:
    """The targets by section, a line each; those of the checkout itself are left out in a host."""
    lines: list[str] = []
    section = ""
    for target in targets():
        if inside_host and target.section == CHECKOUT:
            continue
        if target.section != section:
            section = target.section
            lines += ["", section]
        lines.append(f"  {target.name:<16} {target.help}")
        if target.variables:
            given = " ".join(
                f"{name}=" for name in target.variables if name not in ("root", "json")
            )
            lines += [f"  {'':<16} {given}"] if given else []
    lines += [
        "",
        "Every target takes root=DIR; those that read take json=1. More: manuals/README.md",
    ]
    return "\n".join(lines).strip("\n")

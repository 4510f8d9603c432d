"""Makefiles: what ours declares, and what a host's include and define.

They are read, not run, so targets that make generates while running are not seen. Commands that
succeed load this only for help, adopt and doctor.
"""

from __future__ import annotations

import os
import re
import textwrap

from contextkit.base import files, names, outgoing
from contextkit.base.commands import Command, options_of, program
from contextkit.base.errors import bad_input
from contextkit.base.records import Record
from contextkit.base.type_names import Iterable, Iterator
from contextkit.base.version import toolkit

# A line of the Makefile, or of checkout.mk, where a recipe that calls a script may follow.
_LINE = re.compile(
    r"^contextkit\.(?P<name>[a-z_]+) *= *(?P<script>\w+)(?: (?P<command>\w+))?.*?## (?P<help>.*)$"
)
_RULE = re.compile(r"^(?P<name>[a-z_]+):.*?## (?P<help>.*)$")
_HOST_RULE = re.compile(r"^(?P<names>[^\s#:=][^:=#]*)::?(?![:=])")
_PREFIX = re.compile(
    r"^[ \t]*(?:override[ \t]+)?CONTEXTKIT_PREFIX[ \t]*:?:?=[ \t]*(\S+)", re.MULTILINE
)
_CALL = re.compile(r"call CONTEXTKIT_RUN,(\w+)(?: (\w+))?\)")
_INCLUDE = re.compile(r"^[^\S\n]*[-s]?include[^\S\n]+(.*)", re.MULTILINE)
_BEFORE = "(?:override|export|private|define)"  # a variable that is assigned
_MOST = 50  # Makefiles of a host that are read
_COLUMNS, _MARGIN = 79, 20  # of help: its width, and where the text beside the names begins
NAMES = ("GNUmakefile", "makefile", "Makefile")  # make uses the first that exists
CHECKOUT = "Checkout"  # the section of the targets that hosts do not get
# The verbs of a day, in the order in which help lists them.
DAY = ("payload_store", "payload_show", "payload_find", "memory_checkpoint", "memory_recover",
       "handoff_switch", "capsule_prompt", "remember_later", "subagent_launch", "verdict_start",
       "verdict_gate", "context_status")  # fmt: skip


class Target(Record):
    """One documented target; without a script it has its own recipe."""

    name: str
    section: str
    help: str
    script: str = ""
    command: str = ""

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of its command's options, in order."""
        command = command_of(self)
        return tuple(option.name for option in options_of(command)) if command else ()


def targets(text: str = "") -> list[Target]:
    """The targets with a `##` comment in the Makefile `text` (ours by default), in order."""
    pages = (("Makefile",), ("scripts", "checkout.mk"))
    text = text or "\n".join(files.read(toolkit(*page)) for page in pages)
    declared: list[Target] = []
    section = ""
    ruled = False  # whether the next recipe line belongs to the last target found
    for line in text.split("\n"):
        match = _LINE.match(line) or _RULE.match(line)
        called = _CALL.search(line) if ruled and line.startswith("\t") else None
        if line.startswith("##@ "):
            section = line[4:]
        elif match:
            fields = {name: value or "" for name, value in match.groupdict().items()}
            declared.append(Target(**fields, section=section))
        elif called:
            declared[-1] = declared[-1].replace(script=called[1], command=called[2] or "")
        ruled = _RULE.match(line) is not None
    return declared


def command_of(target: Target) -> Command | None:
    """The command that a target calls, or None if it calls no script."""
    if not target.script:
        return None
    called = program(target.script)
    return called.named(target.command or called.default)


def refuse_unknown(unknown: list[str], options: list[str]) -> None:
    """Raise ContextError for a lower-case variable that no target called and no Makefile has."""
    goals = os.environ.get("CONTEXTKIT_GOALS", "").split()
    others = {
        variable
        for target in targets()
        if any(goal == target.name or goal.endswith(f"_{target.name}") for goal in goals)
        for variable in target.variables
    }  # a goal may have a prefix before the target's name
    for name in unknown:
        if name in others or not re.fullmatch(r"[a-z][^A-Z]*", name):
            continue
        assigns = rf"(?m)^\s*(?:{_BEFORE}\s+)*{re.escape(name)}\s*(?:[:?+!]*=|$)"
        if not any(re.search(assigns, text) for _, text in read_by_make()):
            raise bad_input(
                f"there is no variable {names.brief(name)}={names.nearest(name, options)};"
                f" this target takes {', '.join(options)}"
            )


def read_by_make() -> Iterator[tuple[str, str]]:
    """Path and text of each Makefile that make read, listed as words; a path may be several."""
    words = os.environ.get("CONTEXTKIT_MAKEFILES", "").split()
    for start in range(len(words)):
        for end in range(start, len(words)):
            path = " ".join(words[start : end + 1])
            try:
                with open(path, encoding="utf-8", errors="replace") as file:
                    yield path, file.read()
            except OSError:
                continue  # generated, or not the end of a path


def ours_in(texts: Iterable[tuple[str, str]]) -> tuple[dict[str, str], str]:
    """The targets of a host's Makefiles with names of ours, each with its place; our prefix."""
    ours = {target.name for target in targets() if target.section != CHECKOUT}
    places, phony = dict[str, str](), dict[str, str]()
    prefix = "context_"
    for path, text in texts:
        prefix = (_PREFIX.findall(text) or [prefix])[-1]
        for number, line in enumerate(text.replace("\\\n", "  ").split("\n"), 1):
            rule = _HOST_RULE.match(line)
            named = rule["names"].split() if rule else []
            declared = line[rule.end() :].partition("#")[0] if rule and ".PHONY" in named else ""
            for taken, stated in ((places, named), (phony, declared.split())):
                for name in filter(ours.__contains__, stated):
                    taken.setdefault(name, f"{path}:{number}")
    alone = {name: place for name, place in phony.items() if name not in places}
    return places | alone, prefix  # of what is only phony, make runs no other rule


def _names_in(texts: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Our name for each target whose plain name the host's Makefiles have taken."""
    places, prefix = ours_in(texts)
    return {name: prefix + name for name in places if not name.startswith("context_")}


def help_text(inside_host: bool = False, everything: bool = False, topic: str = "") -> str:
    """The verbs of a day; all targets with their variables, those of one system, or one target.

    In a host, those for this checkout are left out, and names are as there. Raises ContextError.
    """
    copy = os.path.realpath(toolkit()) + os.sep
    hosts = ((p, t) for p, t in read_by_make() if not os.path.realpath(p).startswith(copy))
    renamed = _names_in(hosts) if inside_host else {}
    listed = [t for t in targets() if not inside_host or t.section != CHECKOUT]
    listed = [t for t in listed if not ((command := command_of(t)) and command.now)]
    systems = {target.section.split()[0].lower(): target.section for target in listed}
    if not (everything or topic):
        return "\n".join(_day(listed, renamed, inside_host, systems))
    sections = [
        section
        for name, section in systems.items()
        if not topic or name.rstrip("s") == topic.rstrip("s")  # `verdict` and `verdicts` are one
    ]
    if not sections and (named := [t for t in targets() if topic in (t.name, renamed.get(t.name))]):
        return "\n".join(_explained(named[0], renamed))
    if not sections:
        raise bad_input(f"there is no system {names.quoted(topic)}: {', '.join(systems)}")
    lines: list[str] = []
    for section in sections:
        lines += ["", section]
        for target in (t for t in listed if t.section == section):
            lines += _lines(target, renamed)
            shown = (f"{n}=" for n in target.variables if n not in ("root", "json"))
            lines += _wrapped(" ".join(shown))
    return "\n".join([*lines[1:], "", "Every target takes root=DIR; those that read take json=1."])


def _day(
    listed: list[Target], renamed: dict[str, str], inside_host: bool, systems: Iterable[str]
) -> list[str]:
    named = inside_host and not os.environ.get(outgoing.COMMAND)
    word = "context_help" if named else "help"
    verbs = [target for name in DAY for target in listed if target.name == name]
    brief = [verb.replace(help=re.split(r"[:;] ", verb.help)[0]) for verb in verbs]
    own = ["  adopt into=DIR     use contextkit in your repository"] if not inside_host else []
    return [
        "contextkit carries context from one agent to the next. Everyday commands:",
        "",
        *(line for target in brief for line in _lines(target, renamed)),
        *own,
        "",
        f"make {word} SYSTEM    one system, with its variables:",
        f"    {' '.join(systems)}",
        f"make {word} all=1     every target",
    ]


def _explained(target: Target, renamed: dict[str, str]) -> list[str]:
    command = command_of(target)
    options = options_of(command) if command else ()
    told = [line for option in options for line in row(f"{option.name}=", option.help)]
    return [*_lines(target, renamed), *told]


def _wrapped(text: str) -> list[str]:
    """The lines of `text`, wrapped beside the names of the targets within 80 columns."""
    margin = " " * (_MARGIN + 1)
    return textwrap.wrap(text, _COLUMNS, initial_indent=margin, subsequent_indent=margin,
                         break_long_words=False, break_on_hyphens=False)  # fmt: skip


def _lines(target: Target, renamed: dict[str, str]) -> list[str]:
    return row(renamed.get(target.name, target.name), target.help)


def row(name: str, text: str) -> list[str]:
    """The lines of help on what is called so; a long name has one of its own."""
    first, *more = _wrapped(text)
    if len(name) > _MARGIN - 2:
        return [f"  {name}", first, *more]
    return [f"  {name:<{_MARGIN - 2}}{first[_MARGIN:]}", *more]


def unknown_goals(goals: list[str]) -> str:
    """A message for goals that no Makefile knows, with the nearest target for each."""
    available = [target.name for target in targets()]
    unknown = [goal for goal in goals if goal not in available]
    lines = [f"there is no target {names.quoted(g)}{names.nearest(g, available)}" for g in unknown]
    return "\n".join([*lines, "`make help` lists them"])


def taken(into: str, folder: str) -> list[str]:
    """A sentence for each target of a host that has a name of ours; our `folder` is skipped."""
    places, prefix = ours_in(_texts(into, folder))
    return [f"{place}: {_sentence(name, prefix)}" for name, place in places.items()]


def _sentence(name: str, prefix: str) -> str:
    if name.startswith("context_"):
        return f"has a target `{name}`, and so do we: rename yours"
    return f"has a target `{name}` of its own: it stays; contextkit's is `make {prefix}{name}`"


def renamed(text: str, into: str, folder: str) -> str:
    """`text` with our long names where the host in `into` has targets of the short ones."""
    for name, ours in _names_in(_texts(into, folder)).items():
        text = re.sub(rf"(`|make -s ){name}\b", rf"\1{ours}", text)
    return text


def _texts(into: str, folder: str) -> list[tuple[str, str]]:
    """(path, text) of the host's Makefile and of the files that it includes by name."""
    start = next((n for n in NAMES if os.path.isfile(os.path.join(into, n))), "")
    texts: dict[str, str] = {}
    waiting = [start] if start else []
    while waiting and len(texts) < _MOST:
        path = waiting.pop(0)
        whole = os.path.join(into, path)
        inside = f"{os.path.normpath(path)}/".startswith(folder + "/")
        if path in texts or inside or not os.path.isfile(whole):
            continue
        texts[path] = _text(whole)
        waiting += includes(texts[path])
    return list(texts.items())


def _text(path: str) -> str:
    return files.read_bytes(path).decode("utf-8", "replace")


def includes(text: str) -> list[str]:
    """The files that a Makefile includes, as they are written."""
    lines = [line.partition("#")[0] for line in _INCLUDE.findall(text)]
    return [name for line in lines for name in line.split()]


def included(into: str) -> list[str]:
    """The folders whose Makefile is included by one that make might read in `into`."""
    there = [path for name in NAMES if os.path.isfile(path := os.path.join(into, name))]
    named = [name for path in there for name in includes(_text(path))]
    return [name.removesuffix("/Makefile") for name in named if name.endswith("/Makefile")]

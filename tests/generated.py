"""make manual: write the pages that are made from the code; test_manuals.py compares them."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

import yaml

CHECKOUT = Path(__file__).resolve().parent.parent
if __name__ == "__main__":
    sys.path.insert(0, str(CHECKOUT / "scripts"))

import diagram  # noqa: E402
import plugins  # noqa: E402
from contextkit.base import makefiles, stores  # noqa: E402
from contextkit.base.commands import Option  # noqa: E402
from contextkit.hosts.documents import contracts  # noqa: E402

PAGE = CHECKOUT / "manuals" / "make-targets.md"
INSTALLS = (CHECKOUT / "README.md", CHECKOUT / "manuals" / "hosts.md")
PICTURE = CHECKOUT / "manuals" / "systems.svg"
STRUCTURE = CHECKOUT / "manuals" / "structure.md"
VARIABLES = CHECKOUT / "scripts" / "contextkit" / "base" / "host_variables.py"
VARIABLES_HEAD = '''\
"""The environment variables that hosts set for what they start.

Written by `make manual` from the hosts' declarations, which would take a command that only asks
for its session too long to load; do not edit.
"""
'''
STORES = ("<!-- stores: written by `make manual` -->\n", "<!-- end of stores -->\n")
HEAD = """\
# Make targets

Every target, its variables, and the script behind it. Three that most readers came for:

    make capsule_prompt stub=1          the prompt that has your agent write a capsule, and a stub
    make remember_later m="…"           a note for the next capsule
    make context_status                 what is stored, open or stale

Every target takes `root=DIR`: the repository to work in, where it is not the one around the current
directory. A list takes one item a line, or items separated by ` | `; a flag takes 1 or 0.

<!-- Written by `make manual` from the Makefile and the scripts' tables; do not edit. -->
"""


def make_targets() -> str:
    """The page of targets, from the Makefile and the command tables of the scripts."""
    lines = [HEAD]
    section = ""
    for target in makefiles.targets():
        if target.section != section:
            section = target.section
            lines.append(f"\n## {section}\n")
        command = makefiles.command_of(target)
        script = f" (`scripts/{target.script}.py{' ' * bool(target.command)}{target.command}`)"
        lines.append(f"### `make {target.name}`{script if target.script else ''}\n")
        lines.append(f"{target.help[:1].upper()}{target.help[1:]}.\n")
        if command and command.options:
            lines += ["| variable | option | what |", "|---|---|---|"]
            lines += [row(option) for option in command.options]
            lines.append("")
    text = "\n".join(lines).replace("\n\n\n", "\n\n")
    return re.sub(r"\.\.\n", ".\n", text).rstrip("\n") + "\n"


def row(option: Option) -> str:
    typed = f"`{option.name}=`" + (" (needed)" if option.required else "")
    spelled = " ".join(f"`{spelling}`" for spelling in option.spellings)
    spelled += f" `--{option.single}` (one, repeatable)" if option.single else ""
    what = option.help + (f": {', '.join(option.choices)}" if option.choices else "")
    return f"| {typed} | {spelled} | {what} |".replace("\n", " ")


def picture() -> str:
    return diagram.draw(PICTURE.with_suffix(".txt").read_text(encoding="utf-8"))


def structure() -> str:
    """The page of the structure with the table of stores as the code declares them."""
    head, begin, rest = STRUCTURE.read_text(encoding="utf-8").partition(STORES[0])
    _, end, tail = rest.partition(STORES[1])
    rows = ["| what | where | setting | in git |", "|---|---|---|---|"]
    kinds = {store.kind: store for store in stores.STORES}
    for store in stores.STORES:
        inside = f"{kinds[store.within].place}/" if store.within else ""
        place = f"`{inside}{store.place}{'' if store.is_file else '/'}`"
        setting = f"`{store.setting}`" if store.setting else ""
        held = {stores.COPY: " (a copy of ours)", stores.HOST: " (yours, only read)"}
        what = store.kind.replace("_", " ") + held.get(store.holds, "")
        rows.append(f"| {what} | {place} | {setting} | {'yes' if store.in_git else 'no'} |")
    for place in stores.CACHES:
        rows.append(f"| a cache: it may vanish | `.contextkit/{place}` | | no |")
    for path in sorted((CHECKOUT / "templates" / "processes").glob("*.yaml")):
        output = yaml.safe_load(path.read_text(encoding="utf-8"))["output_dir"]
        setting = f"`processes.{path.stem}.output_dir`"
        rows.append(f"| reviews of {path.stem} | `{output}/` | {setting} | no |")
    return head + begin + "\n".join(rows) + "\n" + end + tail


def host_variables() -> str:
    """The module that tells which host a command runs in, from what each host declares."""
    names = [name for host in contracts.every() for name in host.sessions]
    marks = [(name, host.name) for host in contracts.every() for name in host.marks + host.sessions]
    lines = [VARIABLES_HEAD, "SESSIONS = (  # that hold the session's id"]
    lines += [*(f'    "{name}",' for name in names), ")"]
    lines += ["MARKS = (  # that show which host it is"]
    lines += [*(f'    ("{name}", "{host}"),' for name, host in marks), ")"]
    return "\n".join(lines) + "\n"


def repository() -> str:
    """The repository's address as hosts take it, OWNER/REPO: of pyproject.toml alone."""
    with open(CHECKOUT / "pyproject.toml", "rb") as file:
        url: str = tomllib.load(file)["project"]["urls"]["Repository"]
    return url.removeprefix("https://github.com/")


def addressed(page: Path, address: str) -> str:
    """A page with that address wherever it has one; a line that installs the plugin has one."""
    text = page.read_text(encoding="utf-8")
    (there,) = re.findall(r"^    claude plugin marketplace add (\S+) &&", text, re.M)
    return text.replace(there, address)


def pages() -> dict[Path, str]:
    """Every page that is made from the code, and its text."""
    installs = {page: addressed(page, repository()) for page in INSTALLS}
    plugin = {CHECKOUT / path: text for path, text in plugins.files().items()}
    code = {VARIABLES: host_variables()}
    return {
        PAGE: make_targets(),
        PICTURE: picture(),
        STRUCTURE: structure(),
        **code,
        **plugin,
        **installs,
    }


if __name__ == "__main__":
    for path, text in pages().items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(path.relative_to(CHECKOUT))

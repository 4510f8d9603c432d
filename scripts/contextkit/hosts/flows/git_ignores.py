"""What git would ignore of an adoption's files, and how to bring it back.

A copy that git ignores works here but is missing from every clone. Exceptions are tested with git's
own rules before they are suggested to anybody.
"""

from __future__ import annotations

import os
import shlex
import tempfile

from contextkit.base import files, git
from contextkit.base.errors import bad_input

_RULES = ".gitignore"
_OTHER_FOLDERS = ("contextkit", "vendor/contextkit", "third_party/contextkit", ".tools/contextkit")


def find(into: str, paths: list[str]) -> dict[str, str]:
    """Return those of `paths`, relative to `into`, that git ignores; none outside a repository.

    Each with the rule that says so: `.gitignore:3: tools/`. Files that git already tracks are not
    ignored. Raises ContextError if git refuses to answer.
    """
    return _asked(into, paths) if paths and git.find(into) else {}


def _asked(folder: str, paths: list[str], *options: str) -> dict[str, str]:
    asked = (*options, "check-ignore", "-v", "-z", "--stdin")
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"".join(os.fsencode(path) + b"\0" for path in paths))
        file.flush()
        fields = git.run(folder, *asked, stdin=file.name, fine=(0, 1)).split("\0")
    rows = zip(fields[0::4], fields[1::4], fields[2::4], fields[3::4], strict=False)
    return {
        path: f"{source}:{line}: {pattern}"
        for source, line, pattern, path in rows
        if not pattern.startswith("!")
    }


def described(found: dict[str, str]) -> list[str]:
    """Return one line per rule: where it is, and what it ignores."""
    lines = []
    for rule in dict.fromkeys(found.values()):
        first, *others = [path for path, its_rule in found.items() if its_rule == rule]
        more = f" and {len(others)} more" if others else ""
        lines.append(f"{rule} ignores {first}{more}")
    return lines


def refuse(into: str, folder: str, paths: list[str]) -> None:
    """Raise ContextError, with the ways out, if git ignores any of the files to write."""
    own = os.path.exists(os.path.join(into, folder, ".git"))  # a repository of its own
    ignored = find(into, [p for p in paths if not (own and p.startswith(folder + "/"))])
    if not ignored:
        return
    lines = [
        "git ignores files that would be written, so no clone would have them; nothing was written"
    ]
    lines += [f"  {line}" for line in described(ignored)]
    lines.append(f"either {mend(into, folder, ignored)}")
    copy = [path.removeprefix(folder + "/") for path in ignored if f"{folder}/" in path]
    other = _other_folder(into, copy)
    if copy and other:
        lines.append(f"or put the copy into another folder: dir={other}")
    elif copy:
        lines.append("(another folder, dir=, does not help: that line counts in every folder)")
    if not all(path.startswith(folder + "/") for path in ignored):
        lines.append("or leave a host out (hosts=NAME), or write nothing here: link=1")
    raise bad_input("\n".join(lines))


def _other_folder(into: str, paths: list[str]) -> str:
    """Return a folder for the copy in which git ignores none of `paths`; empty if there is none."""
    for folder in _OTHER_FOLDERS:
        there = os.path.exists(os.path.join(into, folder))
        if not (there or find(into, [f"{folder}/{path}" for path in paths])):
            return folder
    return ""


def mend(into: str, folder: str, found: dict[str, str]) -> str:
    """Say how to bring `found` back.

    That is a command that appends exceptions to the repository's rules, if those can do it.
    """
    repository = git.find(into)
    top = os.path.realpath(repository.top) if repository else into
    below = os.path.relpath(os.path.realpath(into), top)
    start = "" if below == "." else below + "/"
    paths = [start + path for path in found]
    lines = _exceptions(repository, paths, start + folder) if repository else []
    if not lines:
        places = dict.fromkeys(rule.partition(":")[0] for rule in found.values())
        return f"remove that line from {' and '.join(places)}"
    place = shlex.quote(os.path.join(os.path.relpath(top, into), _RULES).removeprefix("./"))
    return f"make exceptions: printf '%s\\n' {shlex.join(lines)} >> {place}"


def _exceptions(repository: git.Repository, paths: list[str], folder: str) -> list[str]:
    """Return the lines that, appended, let git see `paths` again; empty if no lines can."""
    with tempfile.TemporaryDirectory(prefix="contextkit-ignores-") as scratch:
        text = _copy_rules(repository.top, scratch, paths)
        options = (f"--git-dir={os.path.abspath(repository.folder)}", f"--work-tree={scratch}")
        parents = {parent for path in paths for parent in _parents(path)}
        hidden = _asked(scratch, sorted(parents), *options)
        units = list(dict.fromkeys(folder if p.startswith(folder + "/") else p for p in paths))
        lines = [line for unit in units for line in _lines(unit, unit == folder, hidden)]
        start = [""] if text and not text.endswith("\n") else []
        for whole in ([], [f"!/{folder}/**"]):
            tried = [*start, *dict.fromkeys([*lines, *whole])]
            files.write(os.path.join(scratch, _RULES), text + "\n".join([*tried, ""]))
            if not _asked(scratch, paths, *options):
                return tried
    return []


def _copy_rules(top: str, scratch: str, paths: list[str]) -> str:
    """Copy the folders of `paths` with only their ignore rules; return the text of the top's."""
    for parent in {"", *(parent for path in paths for parent in _parents(path))}:
        os.makedirs(os.path.join(scratch, parent), exist_ok=True)
        rules = files.read_if_there(os.path.join(top, parent, _RULES))
        if rules:
            files.write(os.path.join(scratch, parent, _RULES), rules)
    return files.read_if_there(os.path.join(top, _RULES)) or ""


def _parents(path: str) -> list[str]:
    """Return `a` and `a/b` for `a/b/c`."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]


def _lines(path: str, is_folder: bool, hidden: dict[str, str]) -> list[str]:
    """Return exceptions for one path; what else is in an ignored folder stays ignored."""
    chain = [*_parents(path), *([path] if is_folder else [])]
    first = next((n for n, parent in enumerate(chain) if parent in hidden), len(chain))
    lines = []
    for parent in chain[first:]:
        lines += [f"!/{parent}/"] + ([] if parent == path else [f"/{parent}/*"])
    return lines if is_folder and lines else [*lines, f"!/{path}/**" if is_folder else f"!/{path}"]

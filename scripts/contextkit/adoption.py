"""The flow of bringing contextkit into a repository, and of taking it out again.

Everything is computed first (`adopt` and `unadopt` give a `Plan`), shown, and then written
(`adoption_steps.py`), the record first: what a crash left half done is completed by running the
same command again.
"""

from __future__ import annotations

import os

from contextkit import (
    adoption_texts,
    git,
    hook_settings,
    hosts,
    marker_blocks,
    packages,
)
from contextkit import vendoring as vendored
from contextkit.adoption_work import Plan, Work
from contextkit.errors import ContextError, bad_input
from contextkit.hosts import Host
from contextkit.vendoring import Adopted

_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # the first that is there is make's
_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/")
_INSTRUCTIONS = {"claude": "CLAUDE.md", "codex": "AGENTS.md"}
_LOCAL = hosts.CLAUDE.settings.replace(".json", ".local.json")  # for one machine, not for git


def adopt(into: str, folder: str, names: tuple[str, ...], link: bool) -> Plan:
    """What is to be done to bring contextkit into `into`; ContextError for what cannot be."""
    _check(into, folder, names)
    work = Work(into, _record_path(folder, link))
    if link:
        work.notes += _link(work, names)
    else:
        _vendor(work, folder)
        _makefile(work, folder)
        _settings_file(work)
        for name in names:
            _host(work, hosts.HOSTS[name], folder)
        for name in set(work.before.hosts) - set(names):
            _leave(work, hosts.HOSTS[name])
    if git.find(into) is None:
        work.notes.append("this is no git repository: documents land in the folder itself")
    for path in work.before.files:
        if path not in work.files:
            _drop(work, path)
    made = tuple(dict.fromkeys([*work.made, *_new_folders(work)]))
    record = Adopted(folder=folder, hosts=names, files=work.files, made=made, emptied=work.emptied)
    return work.plan(record)


def hosts_of(into: str, folder: str) -> tuple[str, ...]:
    """The hosts that a repository was adopted for; none where it was not."""
    return vendored.load(os.path.join(into, _record_path(folder, link=False))).hosts


def _record_path(folder: str, link: bool) -> str:
    return os.path.join(".contextkit", "adopted.json") if link else f"{folder}/{vendored.RECORD}"


def _check(into: str, folder: str, names: tuple[str, ...]) -> None:
    if not os.path.isdir(into):
        raise bad_input(f"into: {into!r} is no folder: name the repository that shall get it")
    if f"{into}/".startswith(packages.TOOLKIT + "/"):
        raise bad_input("into: is this checkout itself: name the repository that shall get it")
    parts = folder.split("/")
    if not _SAFE.issuperset(folder) or not all(parts) or {".", ".."} & set(parts):
        allowed = "a relative path of A-Z a-z 0-9 . _ - (make's include takes no blanks)"
        raise bad_input(f"dir: {folder!r} must be {allowed}")
    unknown = [name for name in names if name not in hosts.HOSTS]
    if unknown or not names:
        raise bad_input(f"hosts: {' '.join(unknown)!r} must be some of {' '.join(hosts.HOSTS)}")


def _vendor(work: Work, folder: str) -> None:
    """The copy itself; a checkout of the toolkit that lies there already stays as it is."""
    place = os.path.join(work.into, folder)
    if os.path.realpath(place) == os.path.realpath(packages.TOOLKIT):
        own = {p: d for p, d in work.before.files.items() if p.startswith(folder + "/")}
        work.files |= own
        work.notes.append(f"{folder}: is this toolkit itself: used as it is")
        return
    if os.path.isdir(place) and os.listdir(place) and not work.before.hosts:
        raise bad_input(
            f"{folder}: is there and adopt did not put it there: move it, or name another with dir="
        )
    for path, (data, program) in vendored.toolkit_files().items():
        work.own(f"{folder}/{path}", data, program)


def _makefile(work: Work, folder: str) -> None:
    there = os.listdir(work.into)
    path = next((name for name in _MAKEFILES if name in there), "Makefile")
    text = work.text(path)
    rest = marker_blocks.take_out(text, marker_blocks.HASH)
    if any(_includes_us(line, folder) for line in rest.splitlines()):
        work.notes.append(f"{path}: includes {folder}/Makefile already")
        if rest != text:
            work.edit(path, rest)
        return
    work.edit(path, marker_blocks.put(text, adoption_texts.include(folder), marker_blocks.HASH))


def _includes_us(line: str, folder: str) -> bool:
    words = line.split()
    return len(words) > 1 and words[0].lstrip("-s") == "include" and f"{folder}/Makefile" in words


def _settings_file(work: Work) -> None:
    repository = git.find(work.into)
    if repository and os.path.realpath(repository.top) != os.path.realpath(work.into):
        top = os.path.relpath(repository.top, work.into)
        work.notes.append(f"documents and contextkit.yaml belong to the repository's root, {top}")
        return
    path = "contextkit.yaml"
    if work.read(path) is None or path in work.before.files:
        data = adoption_texts.settings().encode("utf-8")
        there = work.read(path)
        if there is None or vendored.is_ours(work.before, path, there):
            work.own(path, data)
            return
    work.notes.append(f"{path}: is yours: left alone")


def _host(work: Work, host: Host, folder: str) -> None:
    """Hooks, skills and the paragraph of one host."""
    handlers = hook_settings.wanted(host, folder)
    _merge(work, host.settings, handlers)
    for path, text in adoption_texts.skills(host.name).items():
        work.own(path, text.encode("utf-8"))
    path = _INSTRUCTIONS[host.name]
    text = work.text(path)
    if host.name == "claude" and any(line.strip() == "@AGENTS.md" for line in text.splitlines()):
        path = "AGENTS.md"
        text = work.text(path)
    block = marker_blocks.put(text, adoption_texts.paragraph(), marker_blocks.COMMENT)
    work.edit(path, block)


def _merge(work: Work, path: str, handlers: dict[str, dict[str, object]]) -> None:
    before = work.before.emptied.get(path, {})
    try:
        text = (work.read(path) or b"").decode("utf-8")
    except UnicodeDecodeError:
        raise bad_input(f"{path}: is not UTF-8: convert it first; nothing was written") from None
    merged, emptied = hook_settings.merged(text, handlers, before, path)
    if emptied:
        work.emptied[path] = emptied
    work.edit(path, merged)


def _link(work: Work, names: tuple[str, ...]) -> list[str]:
    """Hooks that start this checkout, in the settings that are not for git; nothing else."""
    notes = [f"commands: make -f '{packages.TOOLKIT}/Makefile' context_help"]
    if "codex" in names:
        notes.append("codex: has no settings that stay on this machine: left out with link=1")
    if "claude" in names:
        committed = hosts.CLAUDE.settings
        settings = work.text(committed)
        if "scripts/hook.sh" in settings:
            raise bad_input(f"{committed}: has our hooks already: make unadopt first")
        _merge(work, _LOCAL, hook_settings.wanted(hosts.CLAUDE, packages.TOOLKIT))
        if not _is_ignored(work.into):
            notes.append(f"{_LOCAL}: see that git ignores it")
    return notes


def _is_ignored(into: str) -> bool:
    import subprocess

    command = ["git", "-C", into, "check-ignore", "-q", _LOCAL]
    try:
        return subprocess.run(command, capture_output=True).returncode == 0
    except OSError:
        return False


def _new_folders(work: Work) -> list[str]:
    """Folders that the changes will make, as `path/`, the deepest first."""
    found: dict[str, None] = {}
    for path in [*work.changes, work.record_path]:
        folder = os.path.dirname(path)
        while folder and not os.path.isdir(os.path.join(work.into, folder)):
            found[folder + "/"] = None
            folder = os.path.dirname(folder)
    return sorted(found, key=len, reverse=True)


def _drop(work: Work, path: str) -> None:
    """Take away a whole file of ours; one that was edited stays."""
    there = work.read(path)
    if there is None:
        return
    if vendored.is_ours(work.before, path, there):
        work.write(path, None, ours=True)
    else:
        work.notes.append(f"{path}: was edited: it stays")


def unadopt(into: str, folder: str, names: tuple[str, ...], link: bool) -> Plan:
    """What is to be done to take out exactly what adopt put in; documents stay.

    With `names` only what belongs to those hosts, as long as others are left.
    """
    _check(into, folder, names or tuple(hosts.HOSTS))
    work = Work(into, _record_path(folder, link))
    others = tuple(name for name in work.before.hosts if name not in names)
    if names and others:
        return adopt(into, folder, others, link)
    for name in (name for name in _MAKEFILES if name in os.listdir(into)):
        _restore(work, name, marker_blocks.take_out(work.text(name), marker_blocks.HASH))
    for host in hosts.HOSTS.values():
        _leave(work, host)
    _take_hooks_out(work, _LOCAL)
    for path in work.before.files:  # last: until then make finds what the Makefile includes
        _drop(work, path)
    if not (work.changes or work.before.files):
        raise ContextError(f"{into}: contextkit was not adopted here: nothing to take out")
    return work.plan(Adopted(folder=folder))


def _leave(work: Work, host: Host) -> None:
    """Take our hooks and our paragraph out of what belongs to one host."""
    _take_hooks_out(work, host.settings)
    path = _INSTRUCTIONS[host.name]
    if work.read(path) is not None:
        _restore(work, path, marker_blocks.take_out(work.text(path), marker_blocks.COMMENT))


def _take_hooks_out(work: Work, path: str) -> None:
    text = work.text(path)
    if text.strip():
        _restore(work, path, hook_settings.removed(text, work.before.emptied.get(path, {}), path))


def _restore(work: Work, path: str, text: str) -> None:
    """A host's file without our part; it goes where it was ours alone."""
    empty = not text.strip() or text.strip() == "{}"
    if empty and path in work.before.made:
        work.write(path, None)
    else:
        data = text.encode("utf-8", "surrogateescape")
        if data != work.read(path):
            work.write(path, data)

"""Bring contextkit into a repository, and take it out again.

Everything is computed first (`adopt` and `unadopt` return a `Plan`), shown, and then written
(`adoption_steps.py`), starting with the record: running the same command again completes what a
crash interrupted.
"""

from __future__ import annotations

import os

from contextkit.base import git, version
from contextkit.base.errors import ContextError, bad_input
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents import settings as hook_settings
from contextkit.hosts.documents import vendored
from contextkit.hosts.documents.vendored import Adopted
from contextkit.hosts.flows import adoption_parts, git_ignores, taken_names
from contextkit.hosts.flows.adoption_plan import Plan, Work

FOLDER = "tools/contextkit"  # the default folder for the copy
_SAFE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-/")


def adopt(into: str, folder: str, names: tuple[str, ...], link: bool) -> Plan:
    """Plan how to bring contextkit into `into`; raises ContextError if that is not possible."""
    _check(into, folder, names)
    work = Work(into, _record_path(folder, link))
    if link:
        work.notes += _link(work, names)
    else:
        _vendor(work, folder)
        work.notes += taken_names.find(into, folder)
        adoption_parts.makefile(work, folder)
        adoption_parts.settings_file(work)
        for host in map(hosts.find, names):
            adoption_parts.host(work, host, folder)
            if host.below and host.name not in work.before.hosts:
                work.notes.append(f"{host.title} {hosts.SUBFOLDER}: {host.below}")
        for name in set(work.before.hosts) - set(names):
            adoption_parts.leave(work, hosts.find(name))
    if git.find(into) is None:
        work.notes.append("not a git repository: documents go into the folder itself")
    for path in work.before.files:
        if path not in work.files:
            adoption_parts.drop(work, path)
    made = tuple(dict.fromkeys([*work.made, *_new_folders(work)]))
    record = Adopted(folder=folder, hosts=names, files=work.files, made=made, emptied=work.emptied)
    if not link:
        record = record.replace(toolkit=version.VERSION, remote=vendored.source())
        git_ignores.refuse(into, folder, _written(work, record))
    return work.plan(record)


def _written(work: Work, record: Adopted) -> list[str]:
    """Return everything that must be in git for a clone to have it."""
    changed = [path for path, change in work.changes.items() if change.new is not None]
    return list(dict.fromkeys([*changed, *record.files, work.record_path]))


def hosts_of(into: str, folder: str) -> tuple[str, ...]:
    """Return the hosts that a repository was adopted for; empty if it was not adopted."""
    return vendored.load(os.path.join(into, _record_path(folder, link=False))).hosts


def folder_of(into: str) -> str:
    """Return the folder of the repository's copy: this toolkit, or the one its Makefile includes.

    The default is `tools/contextkit`.
    """
    own = os.path.relpath(version.TOOLKIT, into)
    for folder in (own, *adoption_parts.included(into)):
        if vendored.load(os.path.join(into, folder, vendored.RECORD)).folder == folder:
            return folder
    return FOLDER


def _record_path(folder: str, link: bool) -> str:
    return os.path.join(".contextkit", "adopted.json") if link else f"{folder}/{vendored.RECORD}"


def _check(into: str, folder: str, names: tuple[str, ...]) -> None:
    if not os.path.isdir(into):
        raise bad_input(f"into: {into!r} is not a folder: name the repository to adopt into")
    if f"{into}/".startswith(version.TOOLKIT + "/"):
        raise bad_input("into: is this checkout itself: name the repository to adopt into")
    parts = folder.split("/")
    if not _SAFE.issuperset(folder) or not all(parts) or {".", ".."} & set(parts):
        allowed = "a relative path of A-Z a-z 0-9 . _ - (make's include allows no spaces)"
        raise bad_input(f"dir: {folder!r} must be {allowed}")
    if parts[0] in (".git", ".contextkit"):
        raise bad_input(f"dir: git does not see what is in {parts[0]}: name another folder")
    known = hosts.names_of_hosts()
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise bad_input(f"hosts: {' '.join(unknown)!r} must be some of {' '.join(known)}")


def _vendor(work: Work, folder: str) -> None:
    """Add the copy itself; if the folder is this very toolkit, it stays as it is."""
    place = os.path.join(work.into, folder)
    if os.path.realpath(place) == os.path.realpath(version.TOOLKIT):
        own = {p: d for p, d in work.before.files.items() if p.startswith(folder + "/")}
        work.files |= own
        work.notes.append(f"{folder}: is this toolkit itself: used as is")
        return
    if os.path.isdir(place) and os.listdir(place) and not work.before.hosts:
        raise bad_input(
            f"{folder}: exists and was not added by adopt: move it, or name another with dir="
        )
    if work.before.hosts:
        work.notes.append(f"{folder}: {_versions(work.before.toolkit)}")
    for path, (data, program) in vendored.toolkit_files().items():
        work.own(f"{folder}/{path}", data, program)


def _versions(there: str) -> str:
    """Say how the version `there` in a copy relates to ours."""
    ours = version.VERSION
    if not version.is_version(there):
        return f"a copy from before versions were recorded becomes {ours}"
    if there == ours:
        return f"has this version, {ours}, already"
    if version.order(there) > version.order(ours):
        return f"has a newer version, {there}: this replaces it with {ours}"
    return f"{there} becomes {ours}"


def _link(work: Work, names: tuple[str, ...]) -> list[str]:
    """Add hooks that start this checkout to the settings that git ignores, and nothing else."""
    notes = [f"commands: make -f '{version.TOOLKIT}/Makefile' context_help"]
    for host in map(hosts.find, names):
        local = host.local_settings
        if not local:
            why = "has no settings that stay on this machine: left out with link=1"
            notes.append(f"{host.name}: {why}")
            continue
        if "scripts/hook.sh" in work.text(host.settings):
            raise bad_input(f"{host.settings}: has our hooks already: make unadopt first")
        outputs = adoption_parts.replaces_outputs(work.into)
        wanted = hook_settings.wanted(host, version.TOOLKIT, outputs)
        adoption_parts.merge(work, local, wanted, hook_settings.matchers(host, outputs))
        if not git_ignores.find(work.into, [local]):
            notes.append(f"{local}: make sure that git ignores it")
    return notes


def _new_folders(work: Work) -> list[str]:
    """Return the folders that the changes will create, as `path/`, deepest first."""
    found: dict[str, None] = {}
    for path in [*work.changes, work.record_path]:
        folder = os.path.dirname(path)
        while folder and not os.path.isdir(os.path.join(work.into, folder)):
            found[folder + "/"] = None
            folder = os.path.dirname(folder)
    return sorted(found, key=len, reverse=True)


def unadopt(into: str, folder: str, names: tuple[str, ...], link: bool) -> Plan:
    """Plan how to take out exactly what adopt put in; documents stay.

    With `names`, take out only what belongs to those hosts, as long as others are left.
    """
    _check(into, folder, names or hosts.names_of_hosts())
    work = Work(into, _record_path(folder, link))
    others = tuple(name for name in work.before.hosts if name not in names)
    if names and others:
        return adopt(into, folder, others, link)
    adoption_parts.leave_makefiles(work)
    for host in hosts.every():
        adoption_parts.leave(work, host)
        if host.local_settings:
            adoption_parts.take_hooks_out(work, host.local_settings)
    for path in work.before.files:  # last: until then make finds the included Makefile
        adoption_parts.drop(work, path)
    if not (work.changes or work.before.files):
        raise ContextError(f"{into}: contextkit was not adopted here: nothing to remove")
    return work.plan(Adopted(folder=folder))

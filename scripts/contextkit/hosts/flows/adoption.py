"""Bring contextkit into a repository, and take it out again: which files change, and how.

`adopt` and `unadopt` return a plan (`changes.py`) and write nothing. Carrying it out starts with
the record, so running the same command again completes what a crash interrupted.
"""

from __future__ import annotations

import json
import os

from contextkit.base import files, git, makefiles, markdown, templates, version
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.filters import quoted
from contextkit.base.layout import Layout
from contextkit.base.names import SAFE, clipped
from contextkit.base.settings import Limits, Places
from contextkit.base.type_names import Any
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents import settings, vendored
from contextkit.hosts.documents.contracts import Host
from contextkit.hosts.documents.vendored import Adopted
from contextkit.hosts.flows import changes
from contextkit.hosts.flows.changes import Plan
from contextkit.payloads.documents import receipts

FOLDER = "tools/contextkit"  # the default folder for the copy
_SAFE = SAFE.union("/")
_SHARED = "AGENTS.md"  # imported by the instructions of a host that does not read it by itself
SKILL = "contextkit"
GUIDE = "guide.md"
ROOT = "the root of the repository"
_MAKE = "make -s"  # in front of a command, where the project has our targets
_WHEN = {
    "Payloads": "before returning or pasting a long text; to read what was stored",
    "Reviews": "when several agents review something (`verdict_start`, `verdict_gate`), or you do",
    "Handoffs": 'when the user switches agents ("@qa"), or you take over',
    "Memory": '"save progress", a complex decision, unsure what to do next, after a compaction',
    "Capsules": "before starting a subagent that must know what you know; notes for later",
}


def adopt(
    into: str, folder: str, names: tuple[str, ...], link: bool = False, copy: bool = False
) -> Plan:
    """Plan how to bring contextkit, or a `copy` of it, into `into`. Raises ContextError.

    Without `names` of hosts for those of before, or else the usual ones.
    """
    _check(into, folder, names)
    plan = Plan(into, folder, link)
    names = names or plan.before.hosts or hosts.defaults()
    plan.record = Adopted(folder=folder, hosts=names)
    if link:
        _link(plan, names)
    else:
        _add_all(plan, copy)
    if git.find(into) is None:
        plan.notes.append("not a git repository: documents go into the folder itself")
    elif changes.below_root(into):
        top = os.path.relpath(changes.root_above(into), os.path.realpath(into))
        plan.notes.append(f"documents and contextkit.yaml belong to the repository's root, {top}")
    for path in plan.before.files:
        if path not in plan.files:
            _drop(plan, path)
    written = [*plan.written, plan.record_path]
    folders = dict.fromkeys(folder for path in written for folder in changes.parents(path)
                            if not os.path.isdir(os.path.join(into, folder)))  # fmt: skip
    made = tuple(dict.fromkeys([*plan.made, *sorted(folders, key=len, reverse=True)]))
    plan.record = plan.record.replace(files=plan.files, made=made, texts=plan.texts)
    if not link:  # everything that must be in git for a clone to have it
        changed = [path for path, change in plan.written.items() if change.new is not None]
        paths = dict.fromkeys([*changed, *plan.files, plan.record_path])
        changes.refuse(into, folder, list(paths))
    return plan


def _add_all(plan: Plan, copy: bool) -> None:
    """Add the toolkit, the include and the files of each host; record the origin."""
    folder, kind = plan.record.folder, "copy" if copy else plan.before.kind
    pin = vendored.Pin() if kind == "copy" else vendored.pin()
    _vendor(plan, folder, pin)
    plan.notes += makefiles.taken(plan.into, folder)
    _add_include(plan, folder)
    if not pin.commit and not changes.below_root(plan.into):
        path = "contextkit.yaml"  # of comments
        there = plan.read(path)
        if there is None or vendored.is_ours(plan.before, path, there):
            plan.own(path, all_settings().encode("utf-8"))
        else:
            plan.notes.append(f"{path}: is yours: left alone")
    for host in map(hosts.find, plan.record.hosts):
        _add_host(plan, host, folder)
        if host.below and host.name not in plan.before.hosts:
            plan.notes.append(f"{host.title} {hosts.SUBFOLDER}: {host.below}")
    for name in set(plan.before.hosts) - set(plan.record.hosts):
        _leave(plan, hosts.find(name))
    kind, remote = "wrapper" if pin.commit else kind, pin.origin or vendored.source()
    plan.record = plan.record.replace(
        toolkit=version.VERSION, remote=remote, kind=kind, commit=pin.commit
    )


def record_of(into: str) -> Adopted:
    """The record of adopt in a repository, of this toolkit or of the one its Makefile includes.

    Its `folder` is that of the wrapper or copy, whether it exists or not.
    """
    own = os.path.relpath(version.TOOLKIT, into)
    for folder in (own, *makefiles.included(into), FOLDER):
        record = vendored.load(os.path.join(into, folder, vendored.RECORD))
        if record.folder == folder:
            return record
    return Adopted(folder=FOLDER)


def top_of(layout: Layout) -> str:
    """Where hosts are started: the nearest folder that adopted this toolkit, else the root."""
    own = vendored.load(os.path.join(version.TOOLKIT, vendored.RECORD)).folder
    top = os.path.realpath(version.TOOLKIT).removesuffix(f"/{own}")
    if own and f"{top}/".startswith(f"{layout.root}/"):
        return top
    place = layout.here
    while place.startswith(f"{layout.root}/"):
        if record_of(place).hosts:
            return place
        place = os.path.dirname(place)
    return layout.root


def adopted(layout: Layout) -> tuple[str, Adopted]:
    """The folder where hosts are started, and what adopt recorded there."""
    top = top_of(layout)
    return top, record_of(top)


def installed(layout: Layout, host: Host) -> list[tuple[str, dict[str, Any]]]:
    """(event, handler) for each of our hooks in a host's settings. Raises ContextError."""
    texts = {path: files.read_if_there(path) or "" for path in settings_files(layout, host)}
    return [hook for path, text in texts.items() if text.strip()
            for hook in settings.read(text, layout.shown(path))]  # fmt: skip


def settings_files(layout: Layout, host: Host) -> list[str]:
    """The files in a repository that may hold a host's hooks."""
    names = filter(None, (host.settings, host.local_settings))
    return [os.path.join(top_of(layout), name) for name in names]


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
    declared = hosts.names_of_hosts()
    if unknown := [name for name in names if name not in declared]:
        raise bad_input(f"hosts: {' '.join(unknown)!r} must be some of {' '.join(declared)}")


def _vendor(plan: Plan, folder: str, pin: vendored.Pin) -> None:
    """Add the wrapper or the copy; if the folder is this very toolkit, it stays as it is."""
    place = os.path.join(plan.into, folder)
    if os.path.realpath(place) == os.path.realpath(version.TOOLKIT):
        own = {p: d for p, d in plan.before.files.items() if p.startswith(folder + "/")}
        plan.files |= own
        plan.notes.append(f"{folder}: is this toolkit itself: used as is")
        return
    if os.path.isdir(place) and os.listdir(place) and not plan.before.hosts:
        why = "exists and was not added by adopt: move it, or name another with dir="
        raise bad_input(f"{folder}: {why}")
    if plan.before.hosts:
        plan.notes.append(f"{folder}: {_versions(plan.before.toolkit)}")
    plan.notes += vendored.notes(pin) if pin.commit else []
    ours = vendored.wrapper_files(pin) if pin.commit else vendored.toolkit_files()
    for path, (data, program) in ours.items():
        plan.own(f"{folder}/{path}", data, program)
    plan.own(f"{folder}/{GUIDE}", makefiles.renamed(guide(), plan.into, folder).encode("utf-8"))


def _versions(there: str) -> str:
    """A note on how the version `there` in a copy relates to ours."""
    ours = version.VERSION
    if not version.is_version(there):
        return f"a copy from before versions were recorded becomes {ours}"
    if there == ours:
        return f"already has this version, {ours}"
    if version.order(there) > version.order(ours):
        return f"has a newer version, {there}: this replaces it with {ours}"
    return f"{there} becomes {ours}"


def _link(plan: Plan, names: tuple[str, ...]) -> None:
    """Add hooks that start this checkout to the settings that git ignores, and nothing else."""
    plan.notes.append(f"commands: make -f '{version.TOOLKIT}/Makefile' context_help")
    for host in map(hosts.find, names):
        local = host.local_settings
        if not local:
            why = "has no settings that stay on this machine: left out with link=1"
            plan.notes.append(f"{host.name}: {why}")
            continue
        if hosts.LAUNCHER in plan.text(host.settings):
            raise bad_input(f"{host.settings}: already has our hooks: run make unadopt first")
        _merge_hooks(plan, local, host, version.TOOLKIT)
        if not changes.ignored(plan.into, [local]):
            plan.notes.append(f"{local}: make sure that git ignores it")


def unadopt(into: str, folder: str, names: tuple[str, ...], link: bool) -> Plan:
    """Plan how to take out exactly what adopt put in, or what belongs to the hosts `names`."""
    _check(into, folder, names)
    plan = Plan(into, folder, link)
    others = tuple(name for name in plan.before.hosts if name not in names)
    if names and others:
        return adopt(into, folder, others, link)
    for name in (name for name in makefiles.NAMES if name in os.listdir(into)):
        plan.edit(name, changes.without_block(plan.text(name), changes.HASH))
    for host in hosts.every():
        _leave(plan, host)
        if host.local_settings:
            _remove_hooks(plan, host.local_settings)
    for path in plan.before.files:  # last: until then make finds the included Makefile
        _drop(plan, path)
    if not (plan.written or plan.before.files):
        raise ContextError(f"{into}: contextkit was not adopted here: nothing to remove")
    plan.record = Adopted(folder=folder)
    return plan


def _add_include(plan: Plan, folder: str) -> None:
    """Put the line that includes our Makefile into the file that make reads."""
    path = next((name for name in makefiles.NAMES if name in os.listdir(plan.into)), "Makefile")
    text = plan.text(path)
    rest = changes.without_block(text, changes.HASH)
    if f"{folder}/Makefile" in makefiles.includes(rest):
        plan.notes.append(f"{path}: includes {folder}/Makefile already")
        if rest != text:
            plan.edit(path, rest)
        return
    plan.edit(path, changes.with_block(text, f"include {folder}/Makefile", changes.HASH))


def _add_host(plan: Plan, host: Host, folder: str) -> None:
    """Add the hooks, skills and paragraph of one host."""
    _merge_hooks(plan, host.settings, host, folder)
    path, place = f"{host.skills}/{SKILL}/SKILL.md", place_of(plan.into)
    plan.own(path, skill(f"{folder}/{GUIDE}", place=place).encode("utf-8"), editable=True)
    imports = map(str.strip, plan.text(host.instructions).splitlines())
    path = _SHARED if f"@{_SHARED}" in imports else host.instructions
    text = plan.text(path)
    shown = makefiles.renamed(card(f"{folder}/{GUIDE}", place=place), plan.into, folder)
    new = changes.with_block(text, shown, changes.COMMENT)
    if lost := [line for line in changes.block_in(text).splitlines() if line not in new]:
        why = "contextkit owns the part between its marks; put your own lines below it"
        plan.notes.append(f"{path}: {why}: replaced {quoted(clipped(lost[-1], 60), always=True)}")
    plan.edit(path, new)


def _merge_hooks(plan: Plan, path: str, host: Host, toolkit: str) -> None:
    """Merge our hooks into a settings file, and record its text where that has to be restored."""
    outputs = bool(Layout(plan.into).limits.hook_tool_output_tokens)
    before = plan.before.texts.get(path)
    try:
        text = (plan.read(path) or b"").decode("utf-8")
    except UnicodeDecodeError:
        raise bad_input(f"{path}: is not UTF-8: convert it first; nothing was written") from None
    wanted = settings.wanted(host, toolkit, outputs)
    merged, before = settings.merged(text, wanted, before, path, host.flat)
    if before is not None:
        plan.texts[path] = before
    plan.edit(path, merged)


def _drop(plan: Plan, path: str) -> None:
    """Remove a whole file of ours; an edited one stays."""
    there = plan.read(path)
    if there is None:
        return
    if vendored.is_ours(plan.before, path, there):
        plan.write(path, None, ours=True)
    else:
        plan.notes.append(f"{path}: was edited: it stays")


def _leave(plan: Plan, host: Host) -> None:
    """Remove our hooks and our paragraph from the files of one host."""
    _remove_hooks(plan, host.settings)
    text = plan.text(host.instructions)
    plan.edit(host.instructions, changes.without_block(text, changes.COMMENT))


def _remove_hooks(plan: Plan, path: str) -> None:
    text = plan.text(path)
    if text.strip():
        plan.edit(path, settings.removed(text, plan.before.texts.get(path), path))


def guide(run: str = _MAKE) -> str:
    """The pages of the skill, in one file; `run` stands before each command."""
    return templates.render("guide.md", run=run, asked=receipts.ASKED)


def skill(path: str, run: str = _MAKE, place: str = ROOT) -> str:
    """The SKILL.md, which names the pages in the guide at `path` by their lines.

    `run` stands before each command, which is called from `place`.
    """
    spans = markdown.sections(guide(run).splitlines(), 1)
    titled = [(heading.partition(":")[0], at + 1, last) for heading, at, last in spans]
    pages = [{"name": title, "when": _WHEN[title], "first": first, "last": last}
             for title, first, last in titled]  # fmt: skip
    return templates.render("skill.md", guide=path, pages=pages, where=_where(run, place))


def card(path: str, place: str = ROOT) -> str:
    """The card for AGENTS.md and CLAUDE.md."""
    return templates.render("card.md", guide=path, where=_where(_MAKE, place))


def place_of(into: str) -> str:
    """Where commands are called, in words: a repository may have more than one project."""
    below = changes.below_root(into)
    return f"`{below}` of the repository" if below and below.isprintable() else ROOT


def _where(run: str, place: str) -> str:
    """The sentence on how commands are called."""
    return f"Call each command as `{run} NAME variable=…`{f' from {place}' * (run == _MAKE)}."


def all_settings() -> str:
    """A `contextkit.yaml` with every setting and its default, all commented out."""
    kinds = (("Limits", Limits()), ("Paths, relative to the root", Places()))
    sections = [
        {"title": title, "rows": [{"name": n, "value": json.dumps(v, ensure_ascii=False)}
                                  for n, v in vars(kind).items()]}
        for title, kind in kinds
    ]  # fmt: skip
    return templates.render("contextkit.yaml", sections=sections)


# Targets that only read what was stored: a host need not ask before them.
_READING = ("payload_show", "payload_find", "payload_list", "context_show", "context_status",
            "verdict_show", "handoff_show", "memory_recover", "reminders")  # fmt: skip


def offered(chosen: tuple[str, ...], link: bool) -> list[str]:
    """Rules that a user may add to a host's settings, so that reading asks no permission."""
    lines = []
    for host in (host for host in map(hosts.find, chosen) if host.allows):
        path, key, rule = host.allows
        path, run = (host.local_settings, hosts.door()) if link else (path, _MAKE)
        asks = "asks before commands. To let these, which only read, run without asking"
        lines.append(f"{host.title} {asks}, add to {key} in {path}:")
        lines += [f'  "{rule.format(command=f"{run} {name}")}",' for name in _READING]
    return lines

"""The parts of an adoption: what goes into each of a host's files, and how it comes out again."""

from __future__ import annotations

import os

from contextkit.base import files, git
from contextkit.base.errors import bad_input
from contextkit.base.layout import Layout
from contextkit.hosts.documents import contracts as hosts
from contextkit.hosts.documents import marker_blocks, settings, vendored
from contextkit.hosts.documents.contracts import Host
from contextkit.hosts.flows import adoption_texts
from contextkit.hosts.flows.adoption_plan import Work

_IMPORTED = ("AGENTS.md",)  # by the instructions file of a host that does not read it by itself
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")  # make uses the first that exists


def host_files() -> tuple[str, ...]:
    """Return the project files that may contain a part of ours."""
    found = [*MAKEFILES, *_IMPORTED]
    for host in hosts.every():
        found += [host.instructions, host.settings, host.local_settings]
    return tuple(dict.fromkeys(filter(None, found)))


def makefile(work: Work, folder: str) -> None:
    """Put the line that includes our Makefile into the file that make reads."""
    there = os.listdir(work.into)
    path = next((name for name in MAKEFILES if name in there), "Makefile")
    text = work.text(path)
    rest = marker_blocks.take_out(text, marker_blocks.HASH)
    if any(_includes_us(line, folder) for line in rest.splitlines()):
        work.notes.append(f"{path}: includes {folder}/Makefile already")
        if rest != text:
            work.edit(path, rest)
        return
    work.edit(path, marker_blocks.put(text, adoption_texts.include(folder), marker_blocks.HASH))


def _includes_us(line: str, folder: str) -> bool:
    return f"{folder}/Makefile" in _included(line)


def _included(line: str) -> list[str]:
    words = line.split()
    return words[1:] if words and words[0].lstrip("-s") == "include" else []


def included(into: str) -> list[str]:
    """Return the folders whose Makefile is included by one that make might read in `into`."""
    found = [name for name in MAKEFILES if os.path.isfile(os.path.join(into, name))]
    texts = [files.read_bytes(os.path.join(into, name)) for name in found]
    lines = [line for text in texts for line in text.decode("utf-8", "replace").splitlines()]
    words = [word for line in lines for word in _included(line)]
    return [word.removesuffix("/Makefile") for word in words if word.endswith("/Makefile")]


def leave_makefiles(work: Work) -> None:
    """Remove our line from every file that make might read."""
    for name in (name for name in MAKEFILES if name in os.listdir(work.into)):
        restore(work, name, marker_blocks.take_out(work.text(name), marker_blocks.HASH))


def settings_file(work: Work) -> None:
    """Add a `contextkit.yaml` of comments at the repository's root, unless there is one."""
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


def host(work: Work, host: Host, folder: str) -> None:
    """Add the hooks, skills and paragraph of one host."""
    outputs = replaces_outputs(work.into)
    handlers = settings.wanted(host, folder, outputs)
    merge(work, host.settings, handlers, settings.matchers(host, outputs), host.flat)
    for path, text in adoption_texts.skills(host).items():
        work.own(path, text.encode("utf-8"), editable=True)
    path = host.instructions
    text = work.text(path)
    for other in _IMPORTED:
        if any(line.strip() == f"@{other}" for line in text.splitlines()):
            path, text = other, work.text(other)
    block = marker_blocks.put(text, adoption_texts.paragraph(), marker_blocks.COMMENT)
    work.edit(path, block)


def replaces_outputs(into: str) -> bool:
    """Return whether the settings there ask to replace long outputs of tools."""
    return bool(Layout(into).limits.hook_tool_output_tokens)


def merge(
    work: Work,
    path: str,
    handlers: dict[str, dict[str, object]],
    only: dict[str, str],
    flat: bool = False,
) -> None:
    """Merge our hooks into a settings file and record which containers were empty before."""
    before = work.before.emptied.get(path, {})
    try:
        text = (work.read(path) or b"").decode("utf-8")
    except UnicodeDecodeError:
        raise bad_input(f"{path}: is not UTF-8: convert it first; nothing was written") from None
    merged, emptied = settings.merged(text, handlers, before, path, only, flat)
    if emptied:
        work.emptied[path] = emptied
    work.edit(path, merged)


def drop(work: Work, path: str) -> None:
    """Remove a whole file of ours; an edited one stays."""
    there = work.read(path)
    if there is None:
        return
    if vendored.is_ours(work.before, path, there):
        work.write(path, None, ours=True)
    else:
        work.notes.append(f"{path}: was edited: it stays")


def leave(work: Work, host: Host) -> None:
    """Remove our hooks and our paragraph from the files of one host."""
    take_hooks_out(work, host.settings)
    path = host.instructions
    if work.read(path) is not None:
        restore(work, path, marker_blocks.take_out(work.text(path), marker_blocks.COMMENT))


def take_hooks_out(work: Work, path: str) -> None:
    """Remove our hooks from a settings file."""
    text = work.text(path)
    if text.strip():
        restore(work, path, settings.removed(text, work.before.emptied.get(path, {}), path))


def restore(work: Work, path: str, text: str) -> None:
    """Restore a host's file without our part; remove it if it was ours alone."""
    empty = "".join(text.split()) in ("", "{}", '{"version":1}')
    if empty and path in work.before.made:
        work.write(path, None)
    else:
        data = text.encode("utf-8", "surrogateescape")
        if data != work.read(path):
            work.write(path, data)

"""Upgrades: find a newer contextkit, show what is new in it, and install it.

A copy in a host is replaced by the newer toolkit's own `adopt`, which keeps settings, stores and
edited files. A checkout is moved forward by git.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile

from contextkit.base import files, git, version
from contextkit.base.commands import Arguments
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.type_names import Callable
from contextkit.hosts.documents import vendored
from contextkit.hosts.flows import adoption

_CHANGELOG = "CHANGELOG.md"
_VERSION_FILE = "scripts/contextkit/base/version.py"
_STATED = re.compile(r'^VERSION = "([^"]+)"$', re.MULTILINE)
_SECTION = re.compile(r"^## (.*)\n?((?:(?!## ).*\n?)*)", re.MULTILINE)
_ENTRY = re.compile(r"^- .*(?:\n  .*\S.*)*", re.MULTILINE)


def upgrade(layout: Layout, args: Arguments) -> str:
    """Update this toolkit, or the wrapper of it around the current folder; say what is new.

    args.to: a folder, a URL, a version, tag or branch; empty: the newest.
    """
    if vendored.is_checkout():
        return _checkout(layout.here, args)
    if vendored.pin().commit:
        top, adopted = adoption.adopted(layout)
    else:
        adopted = vendored.load(os.path.join(version.TOOLKIT, vendored.RECORD))
        top = os.path.realpath(version.TOOLKIT).removesuffix(f"/{adopted.folder}")
    if not adopted.hosts or top == os.path.realpath(version.TOOLKIT):
        why = "is neither a git checkout nor what adopt made: unpack a newer release in its place"
        raise ContextError(f"{version.TOOLKIT}: {why}")
    folder = os.path.join(layout.here, args.to)
    if args.to and os.path.isdir(folder):
        return _copy(os.path.realpath(folder), adopted, top, args, args.to)
    with tempfile.TemporaryDirectory(prefix="contextkit-upgrade-") as scratch:
        remote, ref = _remote(scratch, args.to, adopted.remote)
        source = os.path.join(scratch, "contextkit")
        named = () if ref == "HEAD" else ("--branch", ref)
        git.run(scratch, "clone", "-q", "--depth=1", *named, "--", remote, source)
        return _copy(source, adopted, top, args, f"{remote} {ref}")


def _remote(folder: str, to: str, recorded: str) -> tuple[str, str]:
    """The repository that is meant or recorded, and its tag or branch, or the newest version."""
    is_url = "://" in to or ("@" in to and ":" in to)
    remote, wanted = (to, "") if is_url else (recorded, to)
    if not remote:
        raise bad_input(
            "to: nothing here records where it came from: name a newer checkout, to=DIR, or a git"
            " repository, to=URL"
        )
    if remote.startswith("-"):
        raise bad_input(f"to: {remote!r} is not a git repository")
    listed = git.run(folder, "ls-remote", "--tags", "--heads", "--refs", "--", remote).split("\n")
    refs = [line.split("\t")[1].split("/", 2)[2] for line in listed if "\t" in line]
    versions = sorted(filter(version.is_version, refs), key=version.order)
    if not wanted:
        released = [release for release in versions if "-" not in release]
        return remote, (released or ["HEAD"])[-1]
    for name in (wanted, f"v{wanted}"):
        if name in refs:
            return remote, name
    newest = ", ".join(reversed(versions[-5:])) or "no versions"
    raise bad_input(f"to: {wanted!r} is not a folder, and not in {remote}, which has {newest}")


def _copy(source: str, adopted: vendored.Adopted, top: str, args: Arguments, place: str) -> str:
    """Have the toolkit in `source` adopt the repository `top` again."""
    lines = _news(lambda name: files.read_if_there(os.path.join(source, name)), place, args.force)
    command = [_python(source), os.path.join(source, "scripts", "adopt.py"), "adopt",
               f"--into={top}", f"--dir={adopted.folder}"]  # fmt: skip
    command += ["--dry-run"] if args.dry_run else []
    kept = {
        k: v for k, v in os.environ.items() if not k.startswith(("CONTEXTKIT_", "MAKE", "MFLAGS"))
    }
    done = subprocess.run(command, env=kept, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").replace("adopt: ", "").strip()
        raise ContextError(f"{reason or 'adopt failed'}\nnothing was upgraded")
    return "\n".join([*lines, done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")])


def _python(source: str) -> str:
    """An interpreter with everything that the toolkit in `source` needs."""
    own = os.path.join(source, ".venv", "bin", "python")
    if os.access(own, os.X_OK):
        return own
    locks = [os.path.join(place, "requirements.lock") for place in (source, version.TOOLKIT)]
    if files.read_if_there(locks[0]) != files.read_if_there(locks[1]):
        command = ["python3", os.path.join(source, "scripts", "setup.py")]
        if subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr).returncode:
            raise ContextError("the newer contextkit could not be set up: nothing was upgraded")
        return own
    return sys.executable


def _news(read: Callable[[str], str | None], place: str, force: bool) -> list[str]:
    """Lines on the version of a toolkit and what is new in it, found without running it."""
    match = _STATED.search(read(_VERSION_FILE) or "")
    if match is None or not version.is_version(match[1]):
        raise bad_input(f"to: {place}: is not a contextkit that states its version")
    newer, here = match[1], version.VERSION
    head = f"from {here} to {newer} ({place})"
    if version.order(newer) < version.order(here):
        if not force:
            raise bad_input(
                f"to: {newer} is older than {here}, which is here: force=1 goes back to it"
                " (documents in newer formats are then not read)"
            )
        return [head, "goes back to an older version"]
    own = files.read_if_there(os.path.join(version.TOOLKIT, _CHANGELOG)) or ""
    entries = new_entries(own, read(_CHANGELOG) or "")
    return [head, *(["what is new:", *entries] if entries else ["nothing new in its changelog"])]


def _checkout(here: str, args: Arguments) -> str:
    """Move this checkout to a newer commit, as far as git can without losing any."""
    top = version.TOOLKIT
    if git.run(top, "status", "--porcelain", "--untracked-files=no").strip():
        raise ContextError(f"{top}: has changes that are not committed: commit them first")
    folder = os.path.join(here, args.to)
    if args.to and os.path.isdir(folder):
        remote, ref = os.path.realpath(folder), "HEAD"
    else:
        remote, ref = _remote(top, args.to, vendored.source())
    git.run(top, "fetch", "-q", "--no-tags", "--", remote, ref)
    target = git.run(top, "rev-parse", "FETCH_HEAD^{commit}").strip()
    place = f"{remote} {ref}" if ref != "HEAD" else remote
    lines = _news(
        lambda name: git.run(top, "show", f"{target}:{name}", fine=(0, 128)), place, args.force
    )
    has_it = not git.run(top, "rev-list", "-n1", target, "^HEAD")
    goes_on = not git.run(top, "rev-list", "-n1", "HEAD", f"^{target}")
    if has_it and not args.force:
        return f"{version.VERSION} is here, and {place} has nothing newer"
    if args.dry_run:
        return "\n".join(lines)
    if goes_on:
        git.run(top, "merge", "-q", "--ff-only", target)
    elif args.force:
        git.run(top, "checkout", "-q", "--detach", target)
    else:
        raise ContextError(
            f"{top}: has commits of its own, which {place} lacks: merge it yourself, or go there"
            " without them: force=1"
        )
    return "\n".join(lines)


def new_entries(old: str, new: str) -> list[str]:
    """The entries of `new` that `old` lacks, as lines under their headings."""
    present = {_plain(entry) for _, entries in sections(old) for entry in entries}
    lines: list[str] = []
    for title, entries in sections(new):
        fresh = [entry for entry in entries if _plain(entry) not in present]
        if fresh:
            lines += [title, *(line for entry in fresh for line in entry.split("\n"))]
    return lines


def release_notes(text: str, number: str) -> str:
    """The entries of a version, without its heading; empty if it has none."""
    bodies = (body for title, body in _SECTION.findall(text) if title.split()[:1] == [number])
    return str(next(bodies, "")).strip("\n")


def sections(text: str) -> list[tuple[str, list[str]]]:
    """(title, entries) of each version; an entry is a list item with its lines."""
    return [(title.strip(), _ENTRY.findall(body)) for title, body in _SECTION.findall(text)]


def _plain(entry: str) -> str:
    """Join an entry's lines, so that rewrapping does not make it a new entry."""
    return " ".join(entry.split())

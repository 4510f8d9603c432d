"""What a host repository carries of the toolkit: which files, and who owns them.

    <dir>/.adopted.json      what adopt put where, with the digest of each file
    <dir>/Makefile           of a wrapper: includes the toolkit's, and has make fetch a missing one
    <dir>/install.sh         fetches a commit and proves its hash
    <dir>/scripts/hook.sh    starts a hook with that toolkit

A file whose digest is in that record is ours, and an upgrade replaces it; anything else there
belongs to the host. A copy has no tests, benchmarks and CI pipeline, which the host's own test run
would pick up. A wrapper names a toolkit by its commit hash; the toolkit lies in the user's data
folder, in `contextkit/<version>` (with the beginning of the hash if another commit of that version
is there). A file `pinned-<hash>` in it names its origin.
"""

from __future__ import annotations

import os
import sys

from contextkit.base import files, formats, git, names, templates, version
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.records import Record

RECORD = ".adopted.json"
LINK_RECORD = ".contextkit/adopted.json"  # of an adoption without a copy; git ignores it
_SHIPPED = ("Makefile", "LICENSE", "README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md",
            ".gitignore", "pyproject.toml", "requirements.txt", "requirements.lock", "scripts",
            "templates", "manuals")  # fmt: skip
_NOT_SHIPPED = (".pyc", ".tmp")
_MARK = "pinned-"
_SHORT = 12  # digits of a commit in a folder's name
_INSTALL = os.path.join(os.path.dirname(__file__), "..", "install.sh")
_PLAIN = names.SAFE.union("~:/@+%")  # characters that mean nothing to make and the shell


class Adopted(Record):
    """What adopt did in a host; paths are relative to the host."""

    version: int = 1
    toolkit: str = ""  # the version of contextkit in the copy; empty if unknown
    remote: str = ""  # the git repository that newer ones come from
    kind: str = ""  # `wrapper`, or `copy` if one was asked for; empty in old records, of copies
    commit: str = ""  # what a wrapper is pinned to
    folder: str = ""
    hosts: tuple[str, ...] = ()
    # Whole files of ours, each with its possible digests (two while an upgrade is under way).
    files: dict[str, list[str]] = {}  # noqa: RUF012
    made: tuple[str, ...] = ()  # host files and folders that did not exist before
    # The original text of settings, if `settings.removed` needs it.
    texts: dict[str, str] = {}  # noqa: RUF012

    def check(self) -> None:
        """Check a record from the host: no path may lead outside."""
        for path in (*self.files, *self.made, *self.texts):
            if os.path.isabs(path) or ".." in path.split("/"):
                raise bad_input(f"{RECORD}: {path!r} must be a path inside the repository")
        if not all(isinstance(text, str) for text in self.texts.values()):
            raise bad_input(f"{RECORD}: `texts` may hold only texts")


def parse(text: str, where: str) -> Adopted:
    """Parse a record; raises ContextError for an unknown version, ignores unknown keys."""
    fields = formats.object_from_json(text, where)
    version.require(fields, "version", 1, where)
    adopted: Adopted = formats.build_known(Adopted, fields, where)
    return adopted


def render(adopted: Adopted) -> str:
    return formats.to_json(adopted) + "\n"


def load(path: str) -> Adopted:
    """Load the record at `path`; empty if nothing was adopted."""
    text = files.read_if_there(path)
    return Adopted() if text is None else parse(text, path)


def source() -> str:
    """The git URL of this toolkit or that of its copy, without a password; '' if unknown."""
    if not is_checkout():
        return load(os.path.join(version.TOOLKIT, RECORD)).remote
    url = git.run(version.TOOLKIT, "config", "--get", "remote.origin.url", fine=(0, 1)).strip()
    scheme, separator, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}" if separator else url


def is_checkout() -> bool:
    """Whether this toolkit is its own git checkout, not a copy or an unpacked archive."""
    return os.path.exists(os.path.join(version.TOOLKIT, ".git"))


def is_ours(adopted: Adopted, path: str, data: bytes) -> bool:
    """Whether the file `path` with the content `data` is as adopt left it."""
    return names.sha256(data) in adopted.files.get(path, ())


def toolkit_files() -> dict[str, tuple[bytes, bool]]:
    """The files of a copy: path -> (content, whether executable)."""
    tracked = _tracked()
    tops = list(map(version.toolkit, _SHIPPED))
    wholes = [top for top in tops if os.path.isfile(top)]
    for folder, inside, here in (step for top in tops for step in os.walk(top)):
        inside[:] = sorted(name for name in inside if name != "__pycache__")
        names_there = sorted(name for name in here if not name.endswith(_NOT_SHIPPED))
        wholes += [os.path.join(folder, name) for name in names_there]
    shipped = {os.path.relpath(whole, version.TOOLKIT): whole for whole in wholes}
    return {path: (files.read_bytes(whole), os.access(whole, os.X_OK))
            for path, whole in shipped.items() if tracked is None or path in tracked}  # fmt: skip


def _tracked() -> set[str] | None:
    """The files that git tracks in a checkout; None in a release archive or a copy."""
    if not is_checkout():
        return None
    try:
        return set(git.run(version.TOOLKIT, "ls-files", "-z").split("\0"))
    except ContextError:
        return None


class Pin(Record):
    """A commit of contextkit and the git URL that it can be fetched from; empty if unknown."""

    commit: str = ""
    origin: str = ""


def pin() -> Pin:
    """The commit of this toolkit; empty for a copy or an unpacked archive."""
    if is_checkout():
        commit = git.run(version.TOOLKIT, "rev-parse", "--verify", "HEAD", fine=(0, 128)).strip()
        origin = source()
        return Pin(commit=commit, origin=origin if _PLAIN.issuperset(origin) else "")
    for name in (name for name in os.listdir(version.TOOLKIT) if name.startswith(_MARK)):
        origin = files.read(version.toolkit(name)).strip()
        return Pin(commit=name.removeprefix(_MARK), origin=origin)
    return Pin()


def wrapper_files(pinned: Pin) -> dict[str, tuple[bytes, bool]]:
    """The files of a wrapper: path -> (content, whether executable)."""
    values = {"version": version.VERSION, "commit": pinned.commit, "short": pinned.commit[:_SHORT]}
    makefile = templates.render("wrapper.mk", origin=pinned.origin, **values)
    hook = templates.render("wrapper_hook.sh", **values)
    install = files.read_bytes(_INSTALL)
    return {"Makefile": (makefile.encode("utf-8"), False), "install.sh": (install, True),
            "scripts/hook.sh": (hook.encode("utf-8"), True)}  # fmt: skip


def notes(pinned: Pin) -> list[str]:
    """Notes on what a wrapper of this checkout does not bring to others."""
    if not is_checkout():
        return []
    remarks = []
    if git.run(version.TOOLKIT, "status", "--porcelain", "--untracked-files=no").strip():
        remarks.append("this checkout has uncommitted changes, which are not included")
    if not pinned.origin:
        why = "this checkout has no remote `origin`: other clones cannot fetch it"
        remarks.append(f"{why}; use copy=1")
        return remarks
    origin = names.clipped(pinned.origin, 60)
    if git.is_local(pinned.origin):
        why = "is a folder on this machine, which others cannot fetch from"
        remarks.append(f"{origin} {why}: git remote set-url origin URL, or use copy=1")
    if not git.run(version.TOOLKIT, "branch", "-r", "--contains", pinned.commit).strip():
        remarks.append(f"push {pinned.commit[:12]} to {origin}: others fetch it there")
    return remarks


def place(pinned: Pin) -> str:
    """Put this toolkit into the user's data folder, if it is not there; return the folder."""
    if not is_checkout():
        return version.TOOLKIT
    try:
        return _installed(version.TOOLKIT, pinned.commit, pinned.origin)
    except ContextError as error:
        raise ContextError(f"{error}; copy=1 adopts a copy") from None


def _installed(source: str, commit: str, origin: str) -> str:
    """Put a commit of `source` into the user's data folder; return the folder."""
    import subprocess

    command = ["sh", _INSTALL, source, commit, version.VERSION, origin]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode:
        error = done.stderr.decode("utf-8", "replace").strip().removeprefix("contextkit: ")
        raise ContextError(error or "the toolkit could not be installed")
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def main() -> int:
    """The entry point of an installation from git, `uvx --from git+… contextkit TARGET name=value`.

    It puts the commit that it came from into the user's data folder, and calls the target there.
    """
    import json
    import subprocess
    from importlib import metadata

    text = metadata.distribution("contextkit").read_text("direct_url.json")
    source = json.loads(text or "{}")
    commit = source.get("vcs_info", {}).get("commit_id", "")
    try:
        if not commit:
            raise ContextError("was not installed from git: clone it and use `make`")
        there = _installed(source["url"], commit, source["url"])
    except ContextError as error:
        sys.stderr.write(f"contextkit: {error}\n")
        return 1
    setup = subprocess.run(["python3", os.path.join(there, "scripts", "setup.py")])
    door = [os.path.join(there, "bin", "contextkit"), *sys.argv[1:]]
    return (setup.returncode and 1) or subprocess.run(door).returncode

"""A remote that is a git repository: one ref per machine, each push one commit without parents.

    refs/contextkit/<machine>      the tree of `manifests`, as far as this machine needs it

git's object store is content-addressed, so only new content is sent. History does not grow, and a
plain clone, which takes branches and tags, gets none of it. What was fetched is kept in a separate
repository in the user's cache folder, so neither `git log --all` nor `git gc` in the user's
repository sees it, and nobody else writes its settings; how to reach remotes is taken from the
user's. Losing it costs one fetch.

A remote that is a path on this machine is somebody's repository, too: the git that serves it runs
none of its hooks.

A commit without parents does not tell git what the other side has, so git would send everything
again. If old commits are marked shallow, git looks at their trees as well, so every known commit is
marked shallow.
"""

from __future__ import annotations

import functools
import os
import re
import shutil

from contextkit.base import files, git, names, owned
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Iterable, Iterator
from contextkit.machines.documents import manifests
from contextkit.machines.flows.engines import Elsewhere, Engine, Sending

REFS = "refs/contextkit/"
_WHOSE = "description"  # the file in it that names its root
_AUTHOR = b"contextkit <contextkit@localhost> 0 +0000"
# Sections of the user's own settings that say how to reach a remote.
_REACHED_BY = ("remote.", "url.", "http.", "credential.", "core.sshcommand", "core.gitproxy",
               "protocol.", "ssh.")  # fmt: skip
_SAFE = ("-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
         "-c", "core.fsmonitor=false", "-c", "push.recurseSubmodules=no",
         "-c", "protocol.ext.allow=never",
         "-c", "fetch.fsckObjects=true", "-c", "http.lowSpeedLimit=1",
         "-c", "http.lowSpeedTime=60")  # fmt: skip
# The same for the other end of a local path, which does not see our options.
_SERVED = ("git -c core.hooksPath=/dev/null -c core.alternateRefsCommand=: -c gc.auto=0"
           " -c core.fsmonitor=false -c receive.autogc=false")  # fmt: skip


class Git(Engine):
    """The remote of this name or URL."""

    def __init__(self, layout: Layout, remote: str, address: str) -> None:
        """`remote` is a name or URL as git takes it, `address` the URL it stands for."""
        self._remote, self._address = remote, address
        self._top = layout.repository.top if layout.repository else layout.root
        self._folder = folder(layout)
        self._repository = layout.repository
        self._ours = (f"--git-dir={self._folder}", *_SAFE)
        if not os.path.isfile(os.path.join(self._folder, "HEAD")):
            _forget_removed(os.path.dirname(self._folder))
            files.make_folder(self._folder)
            git.run(self._top, "init", "--quiet", "--bare", "--template=", self._folder)
            files.write(os.path.join(self._folder, _WHOSE), layout.root + "\n")

    def heads(self) -> dict[str, bytes]:
        """Fetch what is new on every machine's ref; return the head of each, by machine id."""
        self._mark_shallow()
        self._git(
            "fetch", "--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--no-filter",
            "--no-recurse-submodules", "--force", *self._served("upload-pack"), "--", self._remote,
            f"+{REFS}*:{self._here()}*",
        )  # fmt: skip
        listed = self._git("for-each-ref", "--format=%(refname)", self._here()).splitlines()
        machines = filter(manifests.is_id, (ref.removeprefix(self._here()) for ref in listed))
        keys = {f"{machine}:{manifests.head_key(machine)}": machine for machine in machines}
        return {keys[key]: data for key, data in self._read(keys)}

    def get(self, machine: str, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """(key, value) for the keys that the machine has; `heads` has fetched them."""
        for name, data in self._read(f"{machine}:{key}" for key in keys):
            yield name.partition(":")[2], data

    def _read(self, wanted: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Each existing `machine:key` with its content, all read by one process."""
        keys, here = list(wanted), self._here()
        path = os.path.join(self._folder, f"wanted-{os.getpid()}")
        files.write(path, "".join(f"{here}{key}\n" for key in keys), derived=True)
        try:
            answer = self._git("cat-file", "--batch", stdin=path)
        finally:
            files.discard(path)
        data, at = answer.encode("utf-8", "surrogateescape"), 0
        for key in keys:  # `<digest> <kind> <size>`, then the content; or `<name> missing`
            head, _, _ = data[at:].partition(b"\n")
            at += len(head) + 1
            fields = head.split()
            if len(fields) == 3:
                end = at + int(fields[2])
                yield key, data[at:end]
                at = end + 1

    def put(self, sending: Sending) -> int:
        """Replace the last commit with one of the new keys and the old ones that are kept.

        Raises Elsewhere if the ref is not the one that we last saw.
        """
        self._check(sending)
        machine = sending.machine
        ref = self._here() + machine
        old = self._oid(ref)
        new = self._commit(sending, old)
        self._mark_shallow(old)
        try:
            self._git(
                "push", "--quiet", "--no-verify", f"--force-with-lease={REFS}{machine}:{old}",
                *self._served("receive-pack"), "--", self._remote, f"{new}:{REFS}{machine}",
            )  # fmt: skip
        except ContextError as error:
            if "stale info" in str(error):
                raise Elsewhere(str(error)) from None
            raise
        self._git("update-ref", ref, new)
        return sending.size

    def forget(self, machine: str) -> None:
        """Remove the ref of a machine, there and here."""
        self._git(
            "push", "--quiet", "--no-verify", *self._served("receive-pack"), "--", self._remote,
            f":{REFS}{machine}",
        )  # fmt: skip
        self._git("update-ref", "-d", self._here() + machine)

    def _commit(self, sending: Sending, old: str) -> str:
        """Commit, without parents, the tree of `old` less the keys that go, plus what is sent."""
        work = f"refs/heads/work-{os.getpid()}"
        stream = [b"commit %s\ncommitter %s\ndata 0\n\n" % (work.encode(), _AUTHOR)]
        if old:
            tree = self._git("rev-parse", f"{old}^{{tree}}").strip()
            stream.append(f'M 040000 {tree} ""\n'.encode())
            listed = self._git("ls-tree", "-r", "-z", "--name-only", old).split("\0")
            gone = [name for name in listed if name and name not in sending.keep]
            stream += [b"D %s\n" % os.fsencode(name) for name in gone]
        head = (manifests.head_key(sending.machine), sending.head)
        for key, data in (*sending.objects.items(), sending.manifest, head):
            stream.append(b"M 100644 inline %s\ndata %d\n%s\n" % (key.encode(), len(data), data))
        stream.append(b"done\n")
        path = os.path.join(self._folder, f"stream-{os.getpid()}")
        files.write(path, stream, derived=True)
        try:
            self._git("fast-import", "--quiet", "--done", "--force", stdin=path)
        finally:
            files.discard(path)
        new = self._oid(work)
        self._git("update-ref", "-d", work)
        return new

    def _here(self) -> str:
        """The prefix of the local refs for this remote's machines."""
        return f"refs/remotes/{names.sha256(self._address.encode())[:16]}/"

    def _oid(self, ref: str) -> str:
        return self._git("rev-parse", "--verify", "--quiet", ref, fine=(0, 1)).strip()

    def _mark_shallow(self, *more: str) -> None:
        listed = self._git("for-each-ref", "--format=%(objectname)", "refs/remotes/")
        commits = sorted({commit for commit in (*listed.split(), *more) if commit})
        path = os.path.join(self._folder, "shallow")
        if commits:
            files.write(path, "".join(f"{commit}\n" for commit in commits), derived=True)
        else:
            files.discard(path)

    def _served(self, program: str) -> tuple[str, ...]:
        """The option that keeps a remote on this machine from running anything of its own."""
        others = self._git("config", "--get-all", f"remote.{self._remote}.pushurl", fine=(0, 1))
        for named in (self._remote, *others.splitlines()):
            address = self._git("ls-remote", "--get-url", "--", named).strip()
            if git.is_local(address):
                return (f"--{program}={_SERVED} {program}",)
        return ()

    @functools.cached_property
    def _settings(self) -> dict[str, str]:
        """The user's settings for reaching remotes, as environment variables for git."""
        if self._repository is None:
            return {}
        listed = git.run(
            self._top, "config", "--includes", "--list", "--show-scope", "--null", fine=(0, 1)
        ).split("\0")
        taken = []
        for scope, setting in zip(listed[::2], listed[1::2], strict=False):
            name, equals, value = setting.partition("\n")
            if scope in ("local", "worktree") and name.lower().startswith(_REACHED_BY):
                if not name.endswith((".fetch", ".push", ".mirror", ".prune", ".tagopt",
                                      ".promisor", ".partialclonefilter")):  # fmt: skip
                    taken.append((name, f"{name}={value}" if equals else name, value))
        # In the form of `git -c`: git before 2.31 does not know GIT_CONFIG_COUNT, which is needed
        # only for a name that itself contains `=`.
        escaped = [option.replace("'", r"'\''") for name, option, _ in taken if "=" not in name]
        plain = [f"'{option}'" for option in escaped]
        given_already = os.environ.get("GIT_CONFIG_PARAMETERS", "")
        variables = {"GIT_CONFIG_PARAMETERS": " ".join([*plain, given_already]).strip()}
        count = int(os.environ.get("GIT_CONFIG_COUNT", "0") or 0)
        for name, _, value in taken:
            if "=" in name:
                variables |= {f"GIT_CONFIG_KEY_{count}": name, f"GIT_CONFIG_VALUE_{count}": value}
                count += 1
        return {**variables, "GIT_CONFIG_COUNT": str(count)}

    def _git(self, *arguments: str, stdin: str = os.devnull, fine: tuple[int, ...] = (0,)) -> str:
        """The output of git in our repository; raises ContextError on failure."""
        settings = {**self._settings, "GIT_TERMINAL_PROMPT": "0"}
        try:
            return git.run(self._top, *self._ours, *arguments, stdin=stdin, fine=fine, **settings)
        except ContextError as error:
            where = f"remote {self._remote}: " * (arguments[0] in ("fetch", "push"))
            problem = re.sub(r"://[^/@\s]*@", "://", f"{where}{error}")  # without a password
            raise ContextError(problem) from None


def folder(layout: Layout) -> str:
    """The repository that keeps what was fetched for this root, in the user's cache folder."""
    name = names.sha256(os.fsencode(layout.root))[:16]
    return os.path.join(owned.user_folder("CACHE"), "sync", name)


def _forget_removed(place: str) -> None:
    """Remove what was fetched for roots that are no longer there."""
    for entry in os.scandir(place) if os.path.isdir(place) else ():
        root = files.first_line(os.path.join(entry.path, _WHOSE))
        if root and not os.path.isdir(root):
            shutil.rmtree(entry.path, ignore_errors=True)

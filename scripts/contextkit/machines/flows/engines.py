"""Where manifests and objects are kept: a folder, an object store, git; encrypted or not."""

from __future__ import annotations

import base64
import contextlib
import functools
import json
import os
import re
import shutil

from contextkit.base import files, git, names, owned, packages
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Any, Callable, Iterable, Iterator, T
from contextkit.machines.documents import manifests

_AT_ONCE = 64  # concurrent requests
_SEALED = "sealed"  # the field of an outer head that holds the real one


class Elsewhere(ContextError):
    """The head on the remote is not our last one: another folder uses our id."""


class Sending(NamedTuple):
    """What a push writes under a machine's keys: objects, then their manifest, then the head.

    `keep` has every key that is needed from now on, `before` the digest in our last head.
    """

    machine: str
    objects: dict[str, bytes]
    manifest: tuple[str, bytes]
    head: bytes
    keep: frozenset[str]
    before: str

    @property
    def last(self) -> tuple[tuple[str, bytes], ...]:
        """The manifest and the head, each with its key."""
        return self.manifest, (manifests.head_key(self.machine), self.head)

    @property
    def size(self) -> int:
        """The number of bytes to send."""
        return sum(map(len, self.objects.values())) + sum(len(data) for _, data in self.last)


class Engine:
    """The interface for push and pull; network and disk errors are ContextErrors with its name.

    It keeps the tree of `manifests` at `where`; each kind of remote adds how keys are stored.
    """

    def __init__(self, where: str) -> None:
        self._where = where

    def _machines(self) -> list[str]:
        """The names of the folders of machines."""
        raise NotImplementedError

    def _write(self, keys: dict[str, bytes]) -> None:
        """Write keys, in any order; they are there for good when this returns."""
        raise NotImplementedError

    def get(self, machine: str, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """(key, value) for the keys that exist, in any order; without a machine, heads of many."""
        raise NotImplementedError

    def forget(self, machine: str) -> None:
        """Remove everything that a machine wrote and no other one needs."""
        raise NotImplementedError

    def heads(self) -> dict[str, bytes]:
        """The head of every machine, by its id."""
        machines = filter(manifests.is_id, self._machines())
        keys = {manifests.head_key(machine): machine for machine in machines}
        return {keys[key]: data for key, data in self.get("", keys)}

    def put(self, sending: Sending) -> int:
        """Send it; the bytes sent. Raises Elsewhere if the head there is not our last one."""
        machine, key = sending.machine, manifests.head_key(sending.machine)
        there = dict(self.get(machine, [key])).get(key)
        if (manifests.parse_head(there, machine).digest if there else "") != sending.before:
            raise Elsewhere(f"another folder pushes as {machine}")
        self._send(sending)
        return sending.size

    def _send(self, sending: Sending) -> None:
        for keys in (sending.objects, *({key: data} for key, data in sending.last)):
            self._write(keys)


class Folder(Engine):
    """The remote `file:///path`: a mounted share, a USB stick, a test; each key is a file."""

    def __init__(self, path: str) -> None:
        super().__init__(path.rstrip("/"))
        files.keep(self._where, self._where)  # others write there, too

    def _machines(self) -> list[str]:
        place = os.path.join(self._where, "machines")
        return os.listdir(place) if os.path.lexists(place) else []

    def get(self, machine: str, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        for key in keys:
            path = os.path.join(self._where, key)
            missing = contextlib.suppress(FileNotFoundError, NotADirectoryError)
            with missing, open(files.opened(path), "rb") as file:
                yield key, file.read(manifests.MOST_MANIFEST + 1)

    def _write(self, keys: dict[str, bytes]) -> None:
        for key, data in keys.items():
            path = os.path.join(self._where, key)
            if not (key.startswith("objects/") and os.path.exists(path)):
                files.write(path, data)
        files.settle()

    def forget(self, machine: str) -> None:
        place = os.path.join(self._where, "machines", machine)
        files.proved(os.path.join(place, ""))
        for name in sorted(os.listdir(place), key=lambda name: name != "head.json"):
            os.unlink(os.path.join(place, name))
        os.rmdir(place)


class Objects(Engine):
    """The remote `s3://`, `gs://` or `az://`: a bucket and a key prefix, through obstore.

    Credentials and region come from the variables and files that each provider documents. Requests
    run concurrently. Loading the package takes as long as a bare start, so the first request does.
    """

    @functools.cached_property
    def _obstore(self) -> Any:
        wanted, why = "obstore>=0.12,<0.13", "object stores need"
        return packages.optional("obstore", "obstore.store", requirement=wanted, purpose=why)

    @functools.cached_property
    def _store(self) -> Any:
        from datetime import timedelta

        retries = {"max_retries": 3, "retry_timeout": timedelta(seconds=20)}
        options: dict[str, Any] = {"retry_config": retries}
        if os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://"):
            options["client_options"] = {"allow_http": True}
        with self._errors():
            return self._obstore.store.from_url(self._where, **options)

    def _machines(self) -> list[str]:
        with self._errors():
            listed = self._obstore.list_with_delimiter(self._store, "machines")
        return [str(prefix).rstrip("/").rpartition("/")[2] for prefix in listed["common_prefixes"]]

    def get(self, machine: str, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        wanted = list(keys)
        for key, data in zip(wanted, _at_once(self._get, wanted), strict=True):
            if data is not None:
                yield key, data

    def _write(self, keys: dict[str, bytes]) -> None:
        _at_once(self._put, keys, keys.values())

    def forget(self, machine: str) -> None:
        with self._errors():
            self._obstore.delete(self._store, [manifests.head_key(machine)])
            for batch in list(self._obstore.list(self._store, f"machines/{machine}/")):
                self._obstore.delete(self._store, [entry["path"] for entry in batch])

    def _get(self, key: str) -> bytes | None:
        with self._errors(), contextlib.suppress(FileNotFoundError):
            result = self._obstore.get(self._store, key)
            if result.meta["size"] <= manifests.MOST_MANIFEST:
                return bytes(result.bytes())
        return None

    def _put(self, key: str, data: bytes) -> None:
        with self._errors():
            self._obstore.put(self._store, key, data, use_multipart=False)

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn errors inside into a ContextError with the name of the remote."""
        try:
            yield
        except ContextError:
            raise
        except Exception as error:  # each provider has its own exceptions
            first = next((line for line in str(error).splitlines() if line.strip()), repr(error))
            raise ContextError(f"remote {self._where}: {first.strip()[:300]}") from None


def _at_once(ask: Callable[..., T], *each: Iterable[Any]) -> list[T]:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        return list(pool.map(ask, *each))


REFS = "refs/contextkit/"
_WHOSE = "description"  # the file in it that names its root
_AUTHOR = b"contextkit <contextkit@localhost> 0 +0000"
# Sections of the user's own settings that say how to reach a remote.
_REACHED_BY = ("remote.", "url.", "http.", "credential.", "core.sshcommand", "core.gitproxy",
               "protocol.", "ssh.")  # fmt: skip
_MOVES = (".fetch", ".push", ".mirror", ".prune", ".tagopt", ".promisor", ".partialclonefilter")
_SAFE = ("-c", "core.hooksPath=/dev/null", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
         "-c", "core.fsmonitor=false", "-c", "push.recurseSubmodules=no",
         "-c", "protocol.ext.allow=never",
         "-c", "fetch.fsckObjects=true", "-c", "http.lowSpeedLimit=1",
         "-c", "http.lowSpeedTime=60")  # fmt: skip
# The same for the other end of a local path, which does not see our options.
_SERVED = ("git -c core.hooksPath=/dev/null -c core.alternateRefsCommand=: -c gc.auto=0"
           " -c core.fsmonitor=false -c receive.autogc=false")  # fmt: skip


class Git(Engine):
    """The remote of a git repository: one ref per machine, each push one commit without parents.

    `refs/contextkit/<machine>` is the tree of `manifests`, as far as this machine needs it. git's
    object store is content-addressed, so only new content is sent. What was fetched is kept in a
    repository in the user's cache folder, so the user's own shows none of it, and nobody else
    writes its settings; how to reach remotes is taken from the user's. Losing it costs one fetch.

    A remote that is a path on this machine is somebody's repository, too: the git that serves it
    runs none of its hooks. A commit without parents does not tell git what the other side has. If
    old commits are marked shallow, git looks at their trees as well, so each known one is marked.
    """

    def __init__(self, layout: Layout, remote: str, address: str) -> None:
        """`remote` is a name or URL as git takes it, `address` the URL it stands for."""
        self._remote, self._address = remote, address
        self._top = layout.repository.top if layout.repository else layout.root
        self._folder = folder(layout)
        self._repository = layout.repository
        self._ours = (f"--git-dir={self._folder}", *_SAFE)
        if not os.path.isfile(os.path.join(self._folder, "HEAD")):
            place = os.path.dirname(self._folder)  # what was fetched for roots that are gone, goes
            for entry in os.scandir(place) if os.path.isdir(place) else ():
                root = files.first_line(os.path.join(entry.path, _WHOSE))
                if root and not os.path.isdir(root):
                    shutil.rmtree(entry.path, ignore_errors=True)
            files.make_folder(self._folder)
            git.run(self._top, "init", "--quiet", "--bare", "--template=", self._folder)
            files.write(os.path.join(self._folder, _WHOSE), layout.root + "\n")

    def _machines(self) -> list[str]:
        """The names of the refs of machines; fetches what is new on every one."""
        self._mark_shallow()
        self._git(
            "fetch", "--quiet", "--prune", "--no-tags", "--no-write-fetch-head", "--no-filter",
            "--no-recurse-submodules", "--force", *self._served("upload-pack"), "--", self._remote,
            f"+{REFS}*:{self._here()}*",
        )  # fmt: skip
        listed = self._git("for-each-ref", "--format=%(refname)", self._here()).splitlines()
        return [ref.removeprefix(self._here()) for ref in listed]

    def get(self, machine: str, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """(key, value) for the keys that exist, read by one process; `heads` has fetched them.

        Without a machine, each key is looked for on the ref of the one that it names.
        """
        wanted, here = list(keys), self._here()
        blobs = [f"{here}{machine or key.split('/')[1]}:{key}\n" for key in wanted]
        answer = self._fed("".join(blobs), "cat-file", "--batch")
        data, at = answer.encode("utf-8", "surrogateescape"), 0
        for key in wanted:  # `<digest> <kind> <size>`, then the content; or `<name> missing`
            head, _, _ = data[at:].partition(b"\n")
            at += len(head) + 1
            fields = head.split()
            if len(fields) == 3:
                end = at + int(fields[2])
                yield key, data[at:end]
                at = end + 1

    def _send(self, sending: Sending) -> None:
        """Replace the last commit with one of the new keys and the old ones that are kept.

        Raises Elsewhere if the ref is not the one that we last saw.
        """
        name, ref = REFS + sending.machine, self._here() + sending.machine
        old = self._oid(ref)
        new = self._commit(sending, old)
        self._mark_shallow(old)
        try:
            self._push(f"{new}:{name}", f"--force-with-lease={name}:{old}")
        except ContextError as error:
            if "stale info" in str(error):
                raise Elsewhere(str(error)) from None
            raise
        self._git("update-ref", ref, new)

    def forget(self, machine: str) -> None:
        """Remove the ref of a machine, there and here."""
        self._push(f":{REFS}{machine}")
        self._git("update-ref", "-d", self._here() + machine)

    def _push(self, what: str, *options: str) -> None:
        served = self._served("receive-pack")
        self._git("push", "--quiet", "--no-verify", *options, *served, "--", self._remote, what)

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
        for key, data in (*sending.objects.items(), *sending.last):
            stream.append(b"M 100644 inline %s\ndata %d\n%s\n" % (key.encode(), len(data), data))
        stream.append(b"done\n")
        self._fed(stream, "fast-import", "--quiet", "--done", "--force")
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
        addresses = (self._git("ls-remote", "--get-url", "--", named).strip()
                     for named in (self._remote, *others.splitlines()))  # fmt: skip
        is_here = any(map(git.is_local, addresses))
        return (f"--{program}={_SERVED} {program}",) if is_here else ()

    @functools.cached_property
    def _settings(self) -> dict[str, str]:
        """The user's settings for reaching remotes, as environment variables for git."""
        if self._repository is None:
            return {}
        listed = git.run(
            self._top, "config", "--includes", "--list", "--show-scope", "--null", fine=(0, 1)
        ).split("\0")
        # In the form of `git -c`: git before 2.31 does not know GIT_CONFIG_COUNT, which is needed
        # only for a name that itself contains `=`.
        variables: dict[str, str] = {}
        plain = []
        count = int(os.environ.get("GIT_CONFIG_COUNT", "0") or 0)
        for scope, setting in zip(listed[::2], listed[1::2], strict=False):
            name, _, value = setting.partition("\n")
            reaches = name.lower().startswith(_REACHED_BY) and not name.endswith(_MOVES)
            if scope not in ("local", "worktree") or not reaches:
                continue
            if "=" in name:
                variables |= {f"GIT_CONFIG_KEY_{count}": name, f"GIT_CONFIG_VALUE_{count}": value}
                count += 1
            else:
                option = setting.replace("\n", "=", 1).replace("'", r"'\''")
                plain.append(f"'{option}'")
        plain.append(os.environ.get("GIT_CONFIG_PARAMETERS", ""))
        variables["GIT_CONFIG_PARAMETERS"] = " ".join(plain).strip()
        return {**variables, "GIT_CONFIG_COUNT": str(count)}

    def _fed(self, data: str | list[bytes], *arguments: str) -> str:
        """The output of git with this on its standard input."""
        path = os.path.join(self._folder, f"given-{os.getpid()}")
        files.write(path, data, derived=True)
        try:
            return self._git(*arguments, stdin=path)
        finally:
            files.discard(path)

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


class Key:
    """One age identity: its holder can read and write, anyone else can do neither."""

    def __init__(self, text: str, where: str) -> None:
        lines = [line.strip() for line in text.splitlines()]
        keys = [line for line in lines if line and not line.startswith("#")]
        if len(keys) != 1 or not keys[0].startswith("AGE-SECRET-KEY-1"):
            raise bad_input(f"sync_key: {where}: must hold one age key, as age-keygen writes it")
        self._age = packages.optional(
            "pyrage", requirement="pyrage>=1.2,<2", purpose="sync_key needs"
        )
        try:
            self._identity = self._age.x25519.Identity.from_str(keys[0])
        except self._age.IdentityError:
            raise bad_input(f"sync_key: {where}: its age key is damaged") from None
        self._secret = bytes.fromhex(names.sha256(b"contextkit names\n" + keys[0].encode()))

    def digest(self, text: str) -> str:
        """A digest of `text` (64 hexadecimal digits) that only this key can make."""
        import hmac

        return hmac.new(self._secret, text.encode(), "sha256").hexdigest()

    def encrypted(self, data: bytes) -> bytes:
        return bytes(self._age.encrypt(data, [self._identity.to_public()]))

    def decrypted(self, data: bytes) -> bytes | None:
        """The plain text; None if it was encrypted with another key or changed since."""
        try:
            return bytes(self._age.decrypt(data, [self._identity]))
        except self._age.DecryptError:
            return None


def key_of(layout: Layout) -> Key:
    """The key in the file that `sync_key` names, which no repository holds. Raises ContextError."""
    named = layout.limits.sync_key
    path = os.path.realpath(os.path.join(layout.root, os.path.expanduser(named)))
    tops = [layout.root, *([layout.repository.top] if layout.repository else [])]
    if any(path.startswith(os.path.realpath(top) + os.sep) for top in tops):
        raise bad_input(f"sync_key: {named} is in the repository: keep the key outside of it")
    return Key(files.read(path), named)


class Sealed(Engine):
    """`engine`, with everything that is read and written passed through `key`.

    An object is named by a keyed digest, so nobody can test a guess at its text. A head leaves the
    machine's id, the number, the time and the amount of data readable.
    """

    def __init__(self, engine: Engine, key: Key) -> None:
        self._engine, self._key = engine, key

    def heads(self) -> dict[str, bytes]:
        """The head of every machine; one not encrypted with our key is returned as is."""
        heads = self._engine.heads()
        for machine, head in heads.items():
            with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
                data = base64.b64decode(json.loads(head)[_SEALED])
                heads[machine] = self._key.decrypted(data) or head
        return heads

    def get(self, machine: str, keys: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """(key, value) for the keys that exist; DAMAGED for an object sealed by another key.

        Raises ContextError for a manifest that our key cannot open.
        """
        meant = {self._name(key): key for key in keys}
        for name, data in self._engine.get(machine, meant):
            text = self._key.decrypted(data)
            if text is None and name.startswith("objects/"):
                text = manifests.DAMAGED
            if text is None:
                raise ContextError(
                    f"what {machine} pushed is not encrypted with the key of sync_key: push it"
                    f" again with that key, after `make context_remotes forget={machine}`"
                )
            yield meant[name], text

    def put(self, sending: Sending) -> int:
        key, (name, manifest) = self._key, sending.manifest
        objects = {self._name(k): key.encrypted(data) for k, data in sending.objects.items()}
        inner = manifests.parse_head(sending.head, sending.machine)
        head: dict[str, Any] = {  # the fields an engine needs, and the whole one encrypted inside
            **vars(inner), "name": sending.machine, "signature": "",
            "chain": list(map(key.digest, inner.chain)), "digest": key.digest(inner.digest),
            _SEALED: base64.b64encode(key.encrypted(sending.head)).decode(),
        }  # fmt: skip
        return self._engine.put(sending._replace(
            objects=objects, manifest=(name, key.encrypted(manifest)),
            head=(json.dumps(head) + "\n").encode(), keep=frozenset(map(self._name, sending.keep)),
            before=key.digest(sending.before) if sending.before else "",
        ))  # fmt: skip

    def forget(self, machine: str) -> None:
        self._engine.forget(machine)

    def _name(self, key: str) -> str:
        folder, _, digest = key.rpartition("/")
        if not folder.startswith("objects/"):
            return key
        return manifests.object_key(self._key.digest(digest))

"""Layout(root): every path of the toolkit. No other module joins folder names.

The root is where documents are stored: `--root`, else CONTEXT_ROOT, else the git top level above
the current directory, else that directory itself.
"""

from __future__ import annotations

import errno
import os
import time

from contextkit.base import errors, files, git, names, owned, settings, stores
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.settings import Limits, Places
from contextkit.base.stores import Broken, Loaded
from contextkit.base.type_names import Callable, Iterable, T

_SWEEP_PAUSE = 3600  # seconds between sweeps of idle sessions in passing
_CLONES = "sandboxes"  # clones and worktrees of subagents, in the state


# What lies in the state folder, by its name in a layout.
_IN_STATE = {
    "ended": "ended",  # sessions that ended and can still be resumed
    "running": "sessions",  # those that hosts run here, to notice dead ones
    "swept": "swept",  # touched by each sweep of idle sessions in passing
    "hooks": "hooks",  # what hooks know about subagents, and their errors
    "own_session": "session",  # the id that we generated
    "ledger": "ledger",  # what happened
    "index": "ledger/search.sqlite",
    "machine": "machine",  # the id of this one
    "sync": "sync",  # what it knows of others
    "origins": "sync/from",  # which documents here others wrote
}
# What the process kit that contextkit originated in keeps, likewise, below the root.
_IN_KIT = {
    "sessions": ".parallelus/sessions",  # pointers to them
    "markers": "docs/parallelus/self-improvement/markers",  # of retrospectives, one per branch
}


class Layout:
    """The paths of one repository, all absolute.

    Those of the stores have the names of their settings; `state` holds locks, caches and sessions.
    """

    capsules: str
    reminders: str
    registry: str
    payloads: str
    handoffs: str
    handoff_template: str  # a copy of the form, for people and agents
    memory: str
    verdicts: str
    state: str
    ended: str
    running: str
    swept: str
    hooks: str
    own_session: str
    ledger: str
    index: str
    machine: str
    sync: str
    origins: str
    sessions: str
    markers: str
    limits: Limits  # in force here
    places: Places  # the documented ones in force here, relative to the root

    def __init__(self, root: str = "") -> None:
        """Find the root and read its settings. Raises ContextError if it is not a folder."""
        self.here = os.getcwd()
        self.repository = git.find(root or self.here)
        self.root = find_root(root, self.repository)
        self._places: dict[str, str] = {}  # by kind
        self._proved: set[str] = set()  # the stores in use, found to be real folders of ours
        self.settings, self.held = settings.load(self.root)
        if self.settings:  # a wrong one is refused, whatever the command
            self.limits = settings.chosen(Limits, self.settings)
            self.places = settings.chosen(Places, self.settings)

    def __getattr__(self, name: str) -> object:
        """Prove a place, or make the default `limits` or `places`, on first use."""
        made: object
        if name in ("limits", "places"):
            made = Limits() if name == "limits" else Places()
        elif name in _IN_STATE:
            made = os.path.join(self.state, _IN_STATE[name])
        elif name in _IN_KIT:
            made = os.path.join(self.root, _IN_KIT[name])
        elif name == "state" or name in stores.SETTINGS:
            made = self.store(stores.SETTINGS[name].kind if name != "state" else name)
        else:
            raise AttributeError(name)
        setattr(self, name, made)
        return made

    def allowed(self) -> tuple[str, ...]:
        """The settings' exemptions from secrets, read only if something may be one."""
        return self.limits.secrets_allow

    def needs_trust(self, *named: str) -> str:
        """The sentence about those of these settings that are held back; empty if none is."""
        held = self.held.intersection(named)
        if not held:
            return ""
        verb = "is" if len(held) == 1 else "are"
        listed = ", ".join(sorted(held))
        return f"{settings.SETTINGS}: {listed} {verb} not trusted yet: make context_trust"

    def mention(self, *named: str) -> None:
        """Say, once, which of these settings would have mattered here but are held back."""
        errors.remark(*filter(None, [self.needs_trust(*named)]))

    def join(self, *parts: str) -> str:
        """Join path segments below the root."""
        return os.path.join(self.root, *parts)

    def shown(self, path: str) -> str:
        """`path` as it is printed and stored: relative to the root."""
        return os.path.relpath(path, self.root)

    def found(self, path: str) -> str:
        """A root-relative path as it is found from here: as it is in the root, else absolute."""
        return path if self.here == self.root else self.join(path)

    def typed(self, path: str, field: str) -> str:
        """Resolve a path as typed, and inside the root."""
        return files.inside(self.root, os.path.join(self.here, self.reached(path)), field)

    def reached(self, path: str) -> str:
        """A path as typed in the current directory; or as we print it, if only the root has it.

        What may be a new file here is one: the root counts where its folder is not here either.
        """
        if self.here == self.root or not path or "\0" in path:
            return path
        has_folder = os.path.isdir(os.path.dirname(os.path.join(self.here, path)))
        return self.join(path) if os.path.lexists(self.join(path)) and not has_folder else path

    def store(self, kind: str) -> str:
        """Where the documents of a kind are: a folder, or one file that holds them all.

        Raises ContextError if a store of ours is reached through a link, or is not ours.
        """
        place, store = self.place(kind), stores.BY_KIND[kind]
        if kind in self._proved:
            return place
        if store.within:
            self.store(store.within)
        if kind == "state":
            owned.check(place, self.repository)
        if store.holds != stores.HOST and not store.is_file:
            files.keep(self.root, place, hidden=kind in stores.HIDDEN)
        elif store.holds != stores.HOST and place.startswith(f"{self.root}/"):
            files.proved(place, self.root)
        self._proved.add(kind)
        return place

    def place(self, kind: str) -> str:
        """Like `store`, without a check that it exists and is ours: for comparing paths."""
        if kind not in self._places:
            store = stores.BY_KIND[kind]
            named = os.environ.get(store.variable, "") if store.variable else ""
            named = named or str(self.settings.get(store.setting, store.place))
            above = self.place(store.within) if store.within else self.root
            self._places[kind] = os.path.join(above, named)
        return self._places[kind]

    def load(self, paths: Iterable[str], read: Callable[[str], T]) -> Loaded[T]:
        """Apply `read` to each of the `paths`; files removed in the meantime are left out."""
        loaded: Loaded[T] = Loaded()
        for path in paths:
            try:
                loaded.append((path, read(path)))
            except (ContextError, OSError) as error:
                reason = error.strerror if isinstance(error, OSError) else ""
                if os.path.lexists(path):
                    loaded.broken.append(self.broken(path, reason or str(error)))
        return loaded

    def broken(self, path: str, reason: str) -> Broken:
        """Describe an unreadable file; a path that begins the reason is not repeated."""
        shown = self.shown(path)
        plain = reason.removeprefix(f"{path}: ").removeprefix(f"{shown}: ")
        return Broken(path=shown, reason=plain)

    def sweep(self, written: set[str]) -> None:
        """Remove old drafts of killed writers from the stores used and the `written` folders.

        Each store at most once an hour, by the time of a mark. Never fails.
        """
        try:
            marks = os.path.join(self.state, "drafts")
            due = [kind for kind in self._proved if files.is_old(os.path.join(marks, kind))]
            there = os.path.isdir(self.state)
            if not due or not (there or written):
                return
            if there:
                files.make_folder(marks)
                for kind in due:
                    files.touch(os.path.join(marks, kind))
            now = time.time()
            for folder in filter(os.path.isdir, written.union(*map(self._swept_folders, due))):
                files.sweep(folder, now)
        except (ContextError, OSError):
            pass

    def _swept_folders(self, kind: str) -> list[str]:
        store = stores.BY_KIND[kind]
        if store.holds == stores.HOST or store.within:
            return []  # nothing of ours, or part of another store that is swept too
        place = self.store(kind)
        place = os.path.dirname(place) if store.is_file else place
        if os.path.islink(place):
            return []
        return [place] if store.is_file else stores.folders(place, apart=_CLONES)

    def of_worktree(self, named: str) -> Layout:
        """The layout of another worktree, given its path, its folder's name, or its branch.

        Raises ContextError listing the worktrees for anything else but ''.
        """
        if not named:
            return self
        if self.repository is None:
            raise bad_input(f"worktree={named[:60]}: there is no git repository here")
        trees = git.worktrees(self.repository)
        wanted = os.path.realpath(os.path.join(self.here, os.path.expanduser(named)))
        for top, branch in trees.items():
            if named in (branch, os.path.basename(top)) or wanted == os.path.realpath(top):
                return Layout(top)
        available = ", ".join(names.one_line(branch or top) for top, branch in trees.items())
        raise bad_input(
            f"worktree={named[:60]}: not a worktree of this repository; available: {available}"
        )

    @property
    def ours(self) -> tuple[str, ...]:
        """The absolute paths, existing or not, of contextkit's own files, which are not work.

        None of it is part of a diff or a review, and none makes a capsule stale.
        """
        from contextkit.base.version import TOOLKIT

        kept = (s.kind for s in stores.STORES if s.holds != stores.HOST and not s.within)
        own = os.path.relpath(os.path.realpath(TOOLKIT), os.path.realpath(self.root))
        is_copy = own.split("/")[0] not in (".", "..")  # not in contextkit's own checkout
        return (*map(self.place, kept), *([self.join(own)] if is_copy else []))

    @property
    def capsule_template(self) -> str:
        """The host's own outline, or a copy of ours."""
        self.mention("capsule_template")
        return self.store("capsule_template")

    def run(self, identity: str) -> str:
        """The folder with a subagent's prompt, log, and exit status."""
        return os.path.join(self.state, "subagents", identity)

    def sandbox(self, identity: str) -> str:
        """The clone or worktree of a subagent."""
        return os.path.join(self.state, _CLONES, identity)

    def role_files(self, name: str) -> tuple[str, ...]:
        """The files that may contain the text of a role: the host's own places first, then ours."""
        from contextkit.base import version

        self.mention("roles")
        ours = version.toolkit("templates", "roles")
        folders = (self.place("role"), self.join("templates/roles"), ours)
        return tuple(os.path.join(folder, name + ".md") for folder in folders)

    def profiles(self, agent: str) -> list[str]:
        """The files that may contain the profile of an agent; the first one that exists counts."""
        self.mention("handoff_profiles")
        return [self.join(p.replace("{agent}", agent)) for p in self.limits.handoff_profiles]

    def memory_folder(self, kind: str) -> str:
        """`research_plans`, `findings`, `checkpoints` or `context_snapshots` of external memory."""
        return os.path.join(self.memory, kind)

    def memory_archive(self, task: str, kind: str) -> str:
        """The folder for the memory of a finished task; `kind` as above."""
        return os.path.join(self.store("archived"), task, kind)

    def memory_state(self, name: str) -> str:
        """Memory state beside the documents: `current`, `<task>.phase`."""
        return os.path.join(self.state, "memory", name)

    def notebook(self, slug: str, name: str) -> str:
        """The branch notebook `PLAN` or `PROGRESS`: its path, whether it exists or not."""
        path = os.path.join(self.place("notebook"), slug, name + ".md")
        older = self.join("docs", {"PLAN": "plans"}.get(name, name.lower()), slug + ".md")
        return older if os.path.isfile(older) and not os.path.isfile(path) else path

    def was_swept(self, now: int) -> bool:
        """Whether such a sweep was within the last hour."""
        return 0 <= now - stores.modified(self.swept) < _SWEEP_PAUSE

    def exclude(self, path: str, below: str = "") -> None:
        """Have git ignore `path` (or what is `below` it) on every branch, unless it is tracked.

        The line goes into the file that is local to this clone, if git's folder may be written.
        """
        if self.repository is None:
            return
        relative = os.path.relpath(path, self.repository.top)
        if relative.split("/")[0] == "..":
            return
        rules = os.path.join(self.repository.common, "info", "exclude")
        line = f"/{relative}{below}"
        if line in (files.read_if_there(rules) or "").split("\n"):
            return
        with files.locked(self.lock(os.path.join(self.state, "exclude"))):
            if line not in (files.read_if_there(rules) or "").split("\n"):
                try:
                    files.append(rules, line)
                except OSError as error:
                    if error.errno not in (errno.EROFS, errno.EACCES, errno.EPERM):
                        raise

    def lock(self, path: str) -> str:
        """The lock file that guards changes to the shared file `path`."""
        name = self.shown(path).replace("%", "%25").replace("/", "%2F")
        short = os.fsdecode(os.fsencode(name)[-200:])  # a name has at most 255 bytes
        return os.path.join(self.state, "locks", short + ".lock")


def find_root(chosen: str, repository: git.Repository | None) -> str:
    """The folder that documents are stored in, as the module says, with links followed."""
    named = chosen or os.environ.get("CONTEXT_ROOT", "")
    if not named:
        return os.path.realpath(repository.top if repository else os.getcwd())
    if not os.path.isdir(named):
        raise bad_input(f"root: {named!r} is not a folder")
    return os.path.realpath(named)


def hooks_folder(root: str) -> str:
    """`Layout.hooks` for a repository whose settings cannot be read."""
    return os.path.join(root, ".contextkit", "hooks")

"""Layout(root): every path of the toolkit. Nothing else joins folder names.

The root is where documents land: `--root`, else CONTEXT_ROOT, else the git top level above
the current directory, else that directory itself.
"""

from __future__ import annotations

import os

from contextkit.base import files, git, stores
from contextkit.base.errors import bad_input
from contextkit.base.limits import Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.base.settings import Places, Values

SETTINGS = "contextkit.yaml"  # at the root; most repositories have none, and pay nothing for it


class Layout:
    """The paths of one repository, all absolute."""

    def __init__(self, root: str = "") -> None:
        """Find the root and read its settings. Raises ContextError if it is not a folder."""
        self.here = os.getcwd()
        self.repository = git.find(root or self.here)
        self.root = find_root(root, self.repository)
        self.used: set[str] = set()  # the stores that were asked for
        self.settings: Values = {}
        self._limits: Limits | None = None
        self._places: Places | None = None
        if os.path.lexists(self.join(SETTINGS)):
            from contextkit.base import settings

            self.settings = settings.load(self.root)
            self._limits = settings.chosen(Limits, self.settings)
            self._places = settings.chosen(settings.Places, self.settings)

    @property
    def limits(self) -> Limits:
        """The numbers in force here."""
        self._limits = self._limits or Limits()
        return self._limits

    @property
    def places(self) -> Places:
        """The documented places in force here, relative to the root."""
        if self._places is None:
            from contextkit.base import settings

            self._places = settings.Places()
        return self._places

    def join(self, *parts: str) -> str:
        """A path below the root."""
        return os.path.join(self.root, *parts)

    def shown(self, path: str) -> str:
        """`path` as it is printed and stored: relative to the root."""
        return os.path.relpath(path, self.root)

    def typed(self, path: str, field: str) -> str:
        """A path that a user typed: relative to the current directory, and inside the root."""
        return files.inside(self.root, os.path.join(self.here, path), field)

    def store(self, kind: str) -> str:
        """Where the documents of a kind are: a folder, or one file that holds them all."""
        self.used.add(kind)
        return self._place(kind)

    def _place(self, kind: str) -> str:
        store = stores.named(kind)
        given = os.environ.get(store.variable, "") if store.variable else ""
        if given:
            return self.join(given)
        if store.within:
            return os.path.join(self.store(store.within), store.place)
        return self.join(str(self.settings.get(store.setting, store.place)))

    def make_store(self, kind: str) -> str:
        """Make the folder of a kind that is not in git, so that git does not see it; returns it."""
        store = stores.named(kind)
        if store.within:
            return os.path.join(self.make_store(store.within), store.place)
        return files.store(self.store(kind), store.rules)

    def sweep(self, written: set[str]) -> None:
        """Have the drafts of killed writers removed from the stores that were used.

        That is done once an hour a store. Folders that were `written` elsewhere are looked at too.
        """
        marks = os.path.join(self.state, "drafts")
        due = [kind for kind in self.used if files.is_old(os.path.join(marks, kind))]
        if due:
            from contextkit.base import drafts

            drafts.sweep(self, due, written)

    @property
    def ours(self) -> tuple[str, ...]:
        """Every store, inbox, registry, the copies of context_init, and a copy of the toolkit.

        Absolute paths of files and folders, there or not: no work of the repository's own, so
        no part of a diff, a review or what makes a capsule stale.
        """
        places = [
            self._place(store.kind)
            for store in stores.STORES
            if store.holds != stores.HOST and not store.within
        ]
        from contextkit.base.version import TOOLKIT

        own = os.path.relpath(os.path.realpath(TOOLKIT), os.path.realpath(self.root))
        is_copy = own.split("/")[0] not in (".", "..")  # not the checkout at work on itself
        return (*places, self.join(own)) if is_copy else tuple(places)

    @property
    def ephemeral(self) -> tuple[str, ...]:
        """The folders that git must not see, there or not."""
        kinds = [s.kind for s in stores.STORES if not (s.in_git or s.within or s.is_file)]
        return tuple(self._place(kind) for kind in kinds)

    @property
    def capsules(self) -> str:
        return self.store("capsule")

    @property
    def reminders(self) -> str:
        return self.store("reminder")

    @property
    def capsule_template(self) -> str:
        """A host's own outline, or a copy of ours."""
        return self.store("capsule_template")

    @property
    def registry(self) -> str:
        """Which subagents there are; SUBAGENT_REGISTRY_FILE names another, relative to the root."""
        return self.store("subagent")

    def run(self, identity: str) -> str:
        """Where a subagent's prompt, log and exit status lie."""
        return os.path.join(self.state, "subagents", identity)

    def sandbox(self, identity: str) -> str:
        """The clone or worktree of a subagent."""
        return os.path.join(self.state, "sandboxes", identity)

    def role_files(self, name: str) -> tuple[str, ...]:
        """Where the text of a role may be: the host's own places first, then ours."""
        from contextkit.base import version

        own = (
            os.path.join(self._place("role"), name + ".md"),
            self.join("templates/roles", name + ".md"),
        )
        return (*own, version.toolkit("templates", "roles", name + ".md"))

    @property
    def payloads(self) -> str:
        return self.store("payload")

    @property
    def handoffs(self) -> str:
        return self.store("handoff")

    @property
    def handoff_template(self) -> str:
        """A copy of the form that artifacts have, for people and agents."""
        return self.store("handoff_template")

    def profiles(self, agent: str) -> list[str]:
        """Where the profile of an agent may be, the first that exists counts."""
        return [self.join(p.replace("{agent}", agent)) for p in self.limits.handoff_profiles]

    @property
    def ended(self) -> str:
        """Sessions that ended and can still be resumed."""
        return os.path.join(self.state, "ended")

    @property
    def memory(self) -> str:
        return self.store("memory")

    def memory_folder(self, kind: str) -> str:
        """`research_plans`, `findings`, `checkpoints` or `context_snapshots` of external memory."""
        return os.path.join(self.memory, kind)

    def memory_archive(self, task: str, kind: str = "") -> str:
        """Where the memory of a task goes when it is done; `kind` as above."""
        return os.path.join(self.memory, "archive", task, kind)

    def memory_state(self, name: str) -> str:
        """What is known about memory beside the documents: `current`, `<task>.phase`."""
        return os.path.join(self.state, "memory", name)

    @property
    def verdicts(self) -> str:
        """CLAVAIN_VERDICT_DIR names another place, relative to the root."""
        return self.store("verdict")

    @property
    def sessions(self) -> str:
        """Where the process kit that contextkit grew up in keeps its session pointers."""
        return self.join(".parallelus", "sessions")

    def retro_marker(self, slug: str) -> str:
        return self.join("docs", "parallelus", "self-improvement", "markers", slug + ".json")

    def notebook(self, slug: str, name: str) -> str:
        """The branch notebook `PLAN` or `PROGRESS`: where it is, or where it would be."""
        path = os.path.join(self._place("notebook"), slug, name + ".md")
        older = self.join("docs", {"PLAN": "plans"}.get(name, name.lower()), slug + ".md")
        return older if os.path.isfile(older) and not os.path.isfile(path) else path

    @property
    def state(self) -> str:
        """Locks, caches and sessions; never in git."""
        return self.store("state")

    @property
    def swept(self) -> str:
        """Touched by each sweep of idle sessions that happens in passing."""
        return os.path.join(self.state, "swept")

    @property
    def hooks(self) -> str:
        """What hooks know of subagents, and what went wrong in them."""
        return hooks_folder(self.root)

    def exclude(self, path: str, below: str = "") -> None:
        """Have git pass over `path` (or what is `below` it) on every branch, unless it tracks it.

        The line goes where git keeps what is of this clone alone; a pull or checkout cannot
        take it away, and nothing of the host's is touched.
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
            before = files.read_if_there(rules) or ""
            if line not in before.split("\n"):
                gap = "\n" if before and before[-1] != "\n" else ""
                files.append(rules, f"{gap}{line}\n")

    def lock(self, path: str) -> str:
        """The lock file under which the shared file `path` is changed."""
        name = self.shown(path).replace("%", "%25").replace("/", "%2F")
        short = os.fsdecode(os.fsencode(name)[-200:])  # a name has at most 255 bytes
        return os.path.join(files.store(self.state), "locks", short + ".lock")


def find_root(given: str, repository: git.Repository | None) -> str:
    """The folder that documents land in, as the module says; links are followed."""
    named = given or os.environ.get("CONTEXT_ROOT", "")
    if not named:
        return os.path.realpath(repository.top if repository else os.getcwd())
    if not os.path.isdir(named):
        raise bad_input(f"root: {named!r} is not a folder")
    return os.path.realpath(named)


def hooks_folder(root: str) -> str:
    """`Layout.hooks` of a repository whose settings cannot be read."""
    return os.path.join(root, ".contextkit", "hooks")

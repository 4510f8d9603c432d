"""The stores: what is kept where, one declaration each, from which everything else is derived.

The documents (fields, `parse`, `render`) are in the module that a store names. Every command
imports this, so it is only data: modules are loaded on request.
"""

from __future__ import annotations

import os

from contextkit.base import names
from contextkit.base.errors import ContextError
from contextkit.base.records import Declaration
from contextkit.base.type_names import Any, Iterable, ModuleType, T

# What a place holds:
DOCUMENTS = "documents"  # documents written by contextkit
COPY = "copy"  # a copy of one of our documents, made by context_init
HOST = "host"  # the host's own files, which are only read
MARK = ".from-"  # precedes the machine in the name of another one's text, kept beside ours


class Store(Declaration):
    """A place and its contents. Without `module` it only holds other stores."""

    kind: str  # of the addresses `kind:name`
    place: str  # relative to the root, or to the store `within`
    within: str = ""
    setting: str = ""  # its name in contextkit.yaml; empty: it cannot be moved
    variable: str = ""  # an environment variable that sets another place for one call
    holds: str = DOCUMENTS
    is_file: bool = False  # all documents in one file
    in_git: bool = False
    rules: str = "*\n"  # its .gitignore after context_init, if it is kept out of git
    label: str = ""  # its name in doctor and status
    system: str = ""  # the line of context_status that covers it; default: its own label
    suffix: str = ""  # of its files, if each document is a file; addresses leave it out
    form: str = ""  # how its file names begin, with digits as 0
    module: str = ""  # has `load_all(layout)`, and usually `parse` and `render`
    mend: str = "fix the file, or remove it"
    travels: tuple[str, ...] = ()  # the parts that go to other machines, as file name patterns
    acts: bool = False  # agents obey what is there, so its place holds only once it is trusted
    merges: bool = False  # `module` has `merge(ours, theirs)` for two versions of a document


_PAYLOAD_RULES = "*\n!README.md\n!.gitkeep\n!.gitignore\n"


_IN_MEMORY: Any = {"within": "memory", "label": "memory", "suffix": ".md",
                   "mend": "make memory_check says how to fix it"}  # fmt: skip

# In the order in which settings are shown.
STORES: tuple[Store, ...] = (
    Store(kind="capsule", setting="capsules", place="parallelus/manuals/capsules", in_git=True,
          label="capsules", suffix=".md", form="00000000T000000Z",
          module="capsules.documents.store",
          travels=("*.md", "*/*.md", "*/*/*.md", "*/*/*/*.md")),
    Store(kind="reminder", setting="reminders",
          place="parallelus/manuals/capsules/remember-later.md", is_file=True, in_git=True,
          label="reminders", module="capsules.documents.reminders", mend="fix the file",
          travels=("*",), merges=True),
    Store(kind="subagent", setting="registry", place="parallelus/manuals/subagent-registry.json",
          variable="SUBAGENT_REGISTRY_FILE", is_file=True, label="subagents",
          module="subagents.documents.registry", mend="fix the file (a merge?), or move it away"),
    Store(kind="capsule_template", setting="capsule_template", holds=COPY, is_file=True,
          place="parallelus/manuals/templates/context_capsule_prompt.md", in_git=True, acts=True),
    Store(kind="scope_template", setting="scope_template", holds=COPY, is_file=True, in_git=True,
          place="parallelus/manuals/templates/subagent_scope_template.md", acts=True),
    Store(kind="orchestration", setting="orchestration", holds=COPY, is_file=True, in_git=True,
          place="parallelus/manuals/subagent-session-orchestration.md", acts=True),
    Store(kind="role", setting="roles", place="parallelus/engine/prompts/agent_roles", holds=HOST,
          in_git=True, acts=True),
    Store(kind="notebook", setting="notebooks", place="docs/branches", holds=HOST, in_git=True),
    Store(kind="payload", setting="payloads", place="shared/payloads", rules=_PAYLOAD_RULES,
          label="payloads", suffix=".md", module="payloads.documents.store",
          mend="run make context_doctor mend=1, or remove the file",
          travels=("*/*.md",)),
    Store(kind="handoff", setting="handoffs", place=".aios/handoffs", label="handoffs",
          suffix=".yaml", form="handoff-", module="handoffs.documents.artifacts",
          travels=("handoff-*.yaml",), merges=True),
    Store(kind="handoff_template", setting="handoff_template", holds=COPY, is_file=True,
          place=".aios-core/development/templates/agent-handoff-tmpl.yaml", in_git=True, acts=True),
    Store(kind="memory", setting="memory", place=".temp/memory"),
    Store(kind="plan", place="research_plans", module="memory.documents.plans",
          travels=("*.md",), **_IN_MEMORY),
    Store(kind="finding", place="findings", module="memory.documents.findings",
          travels=("*.md",), **_IN_MEMORY),
    Store(kind="merged", place="findings", form="merged_", module="memory.documents.merged",
          **_IN_MEMORY),
    Store(kind="checkpoint", place="checkpoints", form="cp_", travels=("*.json",),
          module="memory.documents.checkpoints", **{**_IN_MEMORY, "suffix": ".json"}),
    Store(kind="snapshot", place="context_snapshots", form="snap_", travels=("*.md",),
          module="memory.documents.snapshots", **_IN_MEMORY),
    Store(kind="archived", within="memory", place="archive",
          travels=("*/*/*.md", "*/*/*.json")),
    Store(kind="verdict", setting="verdicts", place=".clavain/verdicts",
          variable="CLAVAIN_VERDICT_DIR", label="verdicts", suffix=".json",
          module="reviews.documents.verdicts",
          mend="run make verdict_write again, or remove the file",
          travels=("*.json", "runs/*/*.json")),
    Store(kind="state", place=".contextkit"),
    Store(kind="run", within="state", place="runs", label="review runs", system="verdicts",
          suffix=".json", module="reviews.documents.runs",
          mend="run make verdict_start again, and remove the file",
          travels=("*.json", "*.listing"), merges=True),
)  # fmt: skip

# The precious stores are above. These are rebuilt from them and may vanish at any time, so nothing
# waits until they are on disk. They are in the store `state`.
CACHES = ("settings", "drafts", "swept", "open-reviews", "ledger/search.sqlite")

BY_KIND = {store.kind: store for store in STORES}
# By the setting in contextkit.yaml that moves it, in order.
SETTINGS = {store.setting: store for store in STORES if store.setting}
# The settings whose folders hold our documents; none of them may contain another.
FOLDERS = tuple(s.setting for s in STORES if s.setting and s.holds == DOCUMENTS and not s.is_file)
# The settings that name templates and roles, which agents obey.
ACTING = tuple(store.setting for store in STORES if store.acts)
# The kinds whose folders git must not see.
HIDDEN = tuple(s.kind for s in STORES if not (s.in_git or s.within or s.is_file))


def names_in(folder: str) -> list[str]:
    """The names in a folder, sorted; none if it is missing or cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def modified(path: str) -> float:
    """When a file was last modified, in seconds since 1970; infinity for one that is gone."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return float("inf")


def files_in(folder: str, suffix: str) -> list[str]:
    """The names of the plain files in a folder that end in `suffix`, without drafts and links."""
    try:
        with os.scandir(folder) as entries:
            plain = [e.name for e in entries if e.is_file(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return [name for name in plain if name.endswith(suffix) and name[0] != "."]


def folders(place: str, apart: str = "") -> list[str]:
    """A folder and all those below it; none if it is missing. Any named `apart` are left out."""
    paths = []
    for folder, inside, _ in os.walk(place):
        inside[:] = [name for name in inside if name != apart]
        paths.append(folder)
    return paths


def with_documents() -> list[Store]:
    """The stores that doctor and status read."""
    return [store for store in STORES if store.module]


def module(store: Store) -> ModuleType:
    """The module that reads and writes its documents, imported on first use."""
    from importlib import import_module

    return import_module(f"contextkit.{store.module}")


# Copies of our documents, refreshed as long as nobody has edited them. A copy ends with a line that
# holds the digest of everything above it; if that still matches, the copy is ours.


_COPY_MARK = "<!-- contextkit: copy sha256="


def sealed_copy(text: str, lead: str = "") -> str:
    """`text` plus the line that shows whether somebody edited it; `lead` makes it a comment."""
    body = text.rstrip("\n") + "\n" + lead
    return f"{body}{_COPY_MARK}{_digest(body)} -->\n"


def is_our_copy(text: str) -> bool:
    """Whether `text` is a copy that nobody has edited; any other belongs to the host."""
    body, mark, rest = text.rpartition(_COPY_MARK)
    return bool(mark) and rest.strip() == f"{_digest(body)} -->"


def _digest(body: str) -> str:
    """A digest that is the same for both kinds of line ends, since git may convert them."""
    return names.sha256(body.replace("\r\n", "\n").encode("utf-8"))


class Broken(Declaration):
    """A file that cannot be parsed: `path` relative to the root, and the reason."""

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


class Loaded(list[tuple[str, "T"]]):
    """(absolute path, document) of each readable document, in the order of the store.

    Unreadable ones are in `broken`. Files whose names are not those of documents are in neither.
    """

    def __init__(self, pairs: Iterable[tuple[str, T]] = (), broken: Iterable[Broken] = ()) -> None:
        super().__init__(pairs)
        self.broken = list(broken)

    @property
    def documents(self) -> list[T]:
        """The documents without their paths."""
        return [document for _, document in self]

    def noting(self, messages: list[str]) -> Loaded[T]:
        """This object after adding a sentence to `messages` for each broken file."""
        messages += map(str, self.broken)
        return self

    def whole(self) -> Loaded[T]:
        """This object. Raises ContextError if any file is broken."""
        if self.broken:
            raise ContextError("; ".join(map(str, self.broken)))
        return self

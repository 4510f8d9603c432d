"""Which documents a push or pull selects: all, or some kinds, one session, task or run."""

from __future__ import annotations

import json
import os

from contextkit.base import names, sessions
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.machines.documents import manifests
from contextkit.machines.flows import shares
from contextkit.memory.flows import upkeep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.machines.flows.inventory import Texts

MEMORY = ("plan", "finding", "checkpoint", "snapshot", "archived")
_WORDS = {"all": (), "memory": MEMORY, "review": ("run", "verdict", shares.OUTPUT)}


class Choice(Record):
    """A selection: `kinds` (empty: the default kinds), and whose; an empty name matches all."""

    kinds: tuple[str, ...] = ()
    session: str = ""
    task: str = ""
    run: str = ""

    @property
    def is_all(self) -> bool:
        return not (self.kinds or self.session or self.task or self.run)

    def takes(self, name: str, about: str = "") -> bool:
        """Return whether a document is selected; `about` is the task or run that it names."""
        kind, path = name.partition("/")[::2]
        of = path.partition("/")[0] if kind == manifests.ENDED else kind
        kinds = self.kinds or shares.by_default()
        if of not in kinds and not (of == "memory" and set(kinds) & set(MEMORY)):
            return False
        first = path.removeprefix(f"{of}/").partition("/")[0]
        if self.session and (of != "payload" or first != self.session):
            return False
        if self.task and not self._is_of_task(of, path, about):
            return False
        return not self.run or self._is_of_run(kind, path, about)

    def _is_of_task(self, kind: str, path: str, about: str) -> bool:
        parts = path.split("/")
        of_archive = kind == "archived" and parts[0] == self.task
        ended = kind == "memory" and parts[-1] == self.task
        return (kind in MEMORY and about == self.task) or of_archive or ended

    def _is_of_run(self, kind: str, path: str, about: str) -> bool:
        if kind == "run":
            return path.rpartition(".")[0] == self.run
        if kind == "verdict":
            return about == self.run or path.startswith(f"runs/{self.run}/")
        return kind == shares.OUTPUT and path.startswith(f"{self.run}/")


def make(what: tuple[str, ...], session: str, task: str, run: str) -> Choice:
    """Parse the selection that was typed. Raises ContextError for a kind that does not travel."""
    known = shares.kinds()
    kinds: list[str] = []
    for word in what:
        if word in _WORDS:
            kinds += _WORDS[word] or known
        elif word in known:
            kinds.append(word)
        else:
            raise bad_input(f"what: {word[:40]!r} does not travel{names.nearest(word, known)}")
    if session:
        sessions.check(session)
    return Choice(
        kinds=tuple(dict.fromkeys(kinds)), session=session, task=task, run=run.removeprefix("run:")
    )


def about(layout: Layout, chosen: list[str], texts: Texts) -> dict[str, str]:
    """Return the task or run of those documents that name one."""
    found = {}
    for name in chosen:
        kind, path = name.partition("/")[::2]
        if kind == "verdict" and "/" not in path:
            found[name] = _said(texts[name](), "run")
        elif kind == "checkpoint":
            found[name] = _said(texts[name](), "task_id")
        elif kind == "plan":
            found[name] = path.removesuffix(".md")
    if any(name.startswith(("finding/", "snapshot/")) for name in chosen):
        found |= _tasks(layout)
    return {name: task for name, task in found.items() if task}


def _said(data: bytes, key: str) -> str:
    try:
        found = json.loads(data)
    except ValueError:
        return ""
    return str(found.get(key) or "") if isinstance(found, dict) else ""


def _tasks(layout: Layout) -> dict[str, str]:
    """Return the task of each finding, merged finding and snapshot here."""
    kinds = {"findings": "finding", "context_snapshots": "snapshot"}
    try:
        listed = upkeep.listed(layout, "", [])
    except ContextError:
        return {}
    return {
        f"{kinds[folder]}/{os.path.basename(one.path)}": one.task
        for one in listed
        if (folder := os.path.basename(os.path.dirname(one.path))) in kinds
    }

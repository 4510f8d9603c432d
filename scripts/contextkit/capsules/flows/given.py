"""The capsule that an agent starts with, and what has changed since: for commands and hooks.

It is the branch's newest finished one, however old. A branch without one has that of the branch it
was made from, and so on; for a worktree it may be in that branch's own work tree.
"""

from __future__ import annotations

from contextkit.base import git, lineage, names, redaction, tokens
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Iterator, Sequence
from contextkit.capsules.documents import items
from contextkit.capsules.documents import store as capsules
from contextkit.capsules.flows import drift

_SINCE_TOKENS = 150  # of what has changed since


class Given(Record):
    """A capsule for a subagent: `whole` is its body, `body` what the subagent gets of it.

    path: relative to the root; news: what has changed since, a line each, without secrets.
    """

    path: str
    body: str
    whole: str
    sha256: str
    created_at: str
    tokens: int
    trimmed: bool = False
    news: tuple[str, ...] = ()

    def cut(self, body: str, trimmed: bool = True) -> Given:
        """The same capsule with this as what the subagent gets."""
        return self.replace(body=body, tokens=tokens.estimate(body), trimmed=trimmed)


def newest(layout: Layout, branch: str, workstream: str = "") -> tuple[str, str]:
    """The path of the newest capsule for `branch`, and the branch that it is of; both may be ''."""
    for name, where in places(layout, branch) if branch else ():
        path = capsules.latest(where, name, workstream)
        if path:
            return path, name
    return "", ""


def places(layout: Layout, branch: str) -> Iterator[tuple[str, Layout]]:
    """Each branch that `branch` comes from, itself first, with the root to look in."""
    yield branch, layout
    if layout.repository is None:
        return
    trees: dict[str, str] = {}
    for name in lineage.ancestors(layout.repository, branch):
        if name == branch:
            continue
        yield name, layout
        trees = trees or {on: top for top, on in git.worktrees(layout.repository).items()}
        if trees.get(name, layout.repository.top) != layout.repository.top:
            yield name, Layout(trees[name])


def at(layout: Layout, path: str, branch: str, ignored: Sequence[str] = ()) -> Given:
    """Load the capsule at `path` for an agent on `branch`; `ignored` as in `drift.since`.

    Raises ContextError for a stub, or a file that is not a capsule.
    """
    found = capsules.load(layout, path)
    body = items.for_subagent(found.body)
    of = found.capsule.branch
    news = drift.told(drift.since(layout, path, ignored), _SINCE_TOKENS)
    if branch and of != branch:
        news.insert(0, f"It is of the branch {names.one_line(of)}")
    return Given(
        path=layout.shown(path),
        body=body,
        whole=found.body,
        sha256=found.sha256,
        created_at=found.capsule.created_at,
        tokens=tokens.estimate(body),
        news=tuple(redaction.cleaned(news, layout.limits.secrets_allow)),
    )

"""Save what an agent replied to the capsule prompt.

The reply is checked as `capsule_check` checks it. What the capsule before it held open and the
reply leaves out is carried over, and the reminders that it names are marked as taken in.
"""

from __future__ import annotations

from contextkit.base import names, redaction, tokens
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.capsules.documents import branches, items, reminders
from contextkit.capsules.documents import store as capsules
from contextkit.capsules.documents.store import Capsule
from contextkit.capsules.flows import given, upkeep


def save(
    layout: Layout, reply: str, now: int, file: str, branch: str, overwrite: bool, redact: bool
) -> tuple[str, list[str]]:
    """Save the capsule in `reply`, by default in its branch's folder; return its path and messages.

    Raises ContextError naming every error, or if it is not of `branch`; nothing is written then.
    """
    text, said = capsules.unwrapped(reply), list[str]()
    if redact:
        text, secrets = redaction.redacted(text, layout.limits.secrets_allow)
        said += [f"redacted: {redaction.summary(secrets)}"] if secrets else []
    if not text.strip():
        raise bad_input("standard input is empty: pipe the agent's reply in")
    wrong = upkeep.problems(layout, text, "reply")
    if wrong:
        raise bad_input("\n".join([*wrong, "nothing was written"]))
    capsule, _ = capsules.parse(text)
    path = _path(layout, capsule, file, branch)
    text, more = _continued(layout, text, capsule)
    saved = capsules.save(layout, text, path, replace=overwrite)
    if saved != path:
        more.append(f"{layout.shown(path)} already exists and is not a stub: saved beside it")
    more += _taken_in(layout, text, layout.shown(saved), now)
    size = tokens.estimate(text)
    above = ": above the budget" if size > capsule.token_budget else ""
    more.append(f"~{size} tokens of {capsule.token_budget}{above}")
    return saved, [*said, *more]


def _path(layout: Layout, capsule: Capsule, file: str, branch: str) -> str:
    """The capsule's target: `file=`, or the file in the branch's folder for its `created_at`."""
    if branch and branch != capsule.branch:
        raise bad_input(f"branch={branch}: the capsule says {capsule.branch!r}")
    if file:
        return branches.chosen_path(layout, file)
    return branches.path_at(layout, capsule.branch, capsule.created_at)


def _continued(layout: Layout, text: str, capsule: Capsule) -> tuple[str, list[str]]:
    """The capsule with what it replaces and what it carries over, and messages."""
    before, _ = given.newest(layout, capsule.branch, capsule.workstream)
    if not before:
        return text, []
    shown = layout.shown(before)
    try:
        found = capsules.load(layout, before)
    except ContextError as error:
        return text, [f"what it replaces cannot be read: {error}"]
    if found.capsule.created_at >= capsule.created_at:
        return text, []
    open_ones = items.carried(found.body, capsules.parse(text)[1])
    text = capsules.replacing(text, shown)
    if capsule.mini or not open_ones:
        return text, []
    head = text[: len(text) - len(capsules.parse(text)[1])]
    kept = len(open_ones)
    whole = text
    while kept:
        whole = head + items.with_carried(text[len(head) :], open_ones[:kept])
        if tokens.estimate(capsules.unsealed(whole)) <= capsule.token_budget:
            break
        kept -= 1
    said = [f"carried over from {shown}: {names.clipped(one.bare, 80)}" for one in open_ones[:kept]]
    left = len(open_ones) - kept
    if left:
        said.append(f"{names.counted(left, 'open item')} of {shown} did not fit in the budget")
    return (whole if kept else text), said


def _taken_in(layout: Layout, text: str, shown: str, now: int) -> list[str]:
    """Mark the open reminders that the capsule names as taken in; return messages."""
    try:
        found = reminders.load_all(layout).whole().documents
        named = [one.id for one in found if not one.done and one.id in text]
        reminders.finish(layout, layout.reminders, named, shown, now)
    except ContextError as error:
        return [f"no reminder was marked as taken in: {error}"]
    return [f"marked as taken in: {', '.join(named)}"] if named else []

"""Automatic snapshots: made from what the store knows, when there is no time to write one.

Called by `memory_status` in the save zone, and by hosts before they compact a context. So it starts
no process, and leaves out what it cannot read instead of failing.
"""

from __future__ import annotations

import os

from contextkit.base import facts, files, git, names, redaction, references
from contextkit.base.layout import Layout
from contextkit.memory.documents import checkpoints, findings, sections, snapshots
from contextkit.memory.documents import store as memory
from contextkit.memory.documents.sections import FileNote
from contextkit.memory.flows import saving

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.memory.documents.checkpoints import Checkpoint
    from contextkit.memory.documents.findings import Finding
    from contextkit.memory.documents.plans import Plan
    from contextkit.memory.documents.snapshots import Snapshot

_FINDINGS = 5  # the newest findings whose summaries are included
_FILES = 30  # files in play, at most
_UNSAID = "No summary was given: this was put together from the plan, the findings and git."


def complete(layout: Layout, path: str, summary: str) -> None:
    """Put the host's summary of a conversation before what the snapshot took from its transcript.

    Raises ContextError if the file is no longer a readable snapshot.
    """
    with files.locked(layout.lock(path)):
        made = snapshots.load(path)
        before = "" if made.summary == _UNSAID else made.summary
        whole = "\n\n".join(filter(None, (_clean(layout, summary), before)))
        files.write(path, snapshots.render(made.replace(summary=sections.clean(whole))))


def make(
    layout: Layout,
    *,
    reason: str,
    now: int,
    tokens: int = 0,
    task: str = "",
    summary: str = "",
    modified: tuple[FileNote, ...] = (),
    transcript: str = "",
) -> Snapshot:
    """Make a snapshot of `task`, by default the current one.

    `modified` are files known to have changed, relative to the root; `transcript` is the path of
    the session's transcript, from which the events since the last save are taken. Without a task or
    anything stored, the snapshot holds just what was given.
    """
    task = task or memory.current_task(layout)
    plan = saving.known_plan(layout, task) if task else None
    recent = findings.load_all(layout, task)[: -_FINDINGS - 1 : -1] if task else []
    saved = checkpoints.load_all(layout, task) if task else []
    checkpoint = saved[-1][1] if saved else None
    caught, edited, whole = (
        _caught_up(layout, transcript, checkpoint) if transcript else ("", (), "")
    )
    in_play = _files_in_play((*modified, *edited), recent)
    paths = [saving.path_of(file.path) for file in in_play]
    decisions = [q.text for q in plan.questions if not q.answered] if plan else []
    made = snapshots.make(
        timestamp=names.iso(now),
        reason=reason,
        summary="\n\n".join(filter(None, (_clean(layout, summary).strip(), caught))) or _UNSAID,
        tokens=tokens,
        task_id=task,
        phase=memory.current_phase(layout, task) or (checkpoint.phase if checkpoint else ""),
        agents=checkpoint.active_agents if checkpoint else (),
        important=_clean(layout, _important(layout, plan, recent)),
        files=[file.replace(note=_clean(layout, file.note)) for file in in_play],
        decisions=[_clean(layout, text) for text in decisions],
        resume=_clean(layout, _resume(task, plan, checkpoint)),
        digests=references.seal(layout.root, paths),
    )
    whole = "\n".join([whole, *(text for _, one in recent for text in one.texts())]).strip()
    return made.replace(facts_kept=facts.share(whole, snapshots.render(made))) if whole else made


def _caught_up(
    layout: Layout, transcript: str, checkpoint: Checkpoint | None
) -> tuple[str, tuple[FileNote, ...], str]:
    """What the session did since the last save, the files it edited, and all that was said."""
    from contextkit.memory.flows import transcripts

    since = max(last_save(layout), checkpoint.timestamp if checkpoint else "")
    limits = layout.limits
    found = transcripts.catch_up(
        transcript, since, root=layout.root, allowed=limits.secrets_allow, in_hook=True,
        tokenizer=limits.tokenizer,
    )  # fmt: skip
    edited = tuple(FileNote(path=path, note="edited") for path in found.edited)
    return found.text, edited, found.whole


def last_save(layout: Layout) -> str:
    """When the last snapshot of any task was taken, or '' for never."""
    taken = snapshots.load_all(layout)
    return taken[-1][1].timestamp if taken else ""


def _clean(layout: Layout, text: str) -> str:
    """Redact secrets in `text`: nobody reviews an automatic snapshot before it is saved."""
    return redaction.redacted(text, layout.limits.secrets_allow)[0]


def _files_in_play(
    modified: tuple[FileNote, ...], recent: list[tuple[str, Finding]]
) -> list[FileNote]:
    """The modified files, then those that the latest findings name, without duplicates."""
    found = {file.path: file for file in modified}
    for _, finding in recent:
        for file in finding.files:
            found.setdefault(file.path, file)
    return list(found.values())[:_FILES]


def _important(layout: Layout, plan: Plan | None, recent: list[tuple[str, Finding]]) -> str:
    paragraphs = []
    if plan and plan.objective:
        paragraphs.append(f"Objective: {plan.objective}")
    if plan and plan.strategy:
        paragraphs.append(f"Strategy: {plan.strategy}")
    if plan and plan.constraints:
        paragraphs.append("Constraints: " + "; ".join(plan.constraints))
    for path, finding in recent:
        found = names.one_line(finding.summary or "; ".join(finding.discoveries[:3]))
        paragraphs.append(f"{finding.agent} found: {found} ({layout.shown(path)})")
    where = _git_state(layout)
    return "\n\n".join([*paragraphs, *([where] if where else [])])


def _git_state(layout: Layout) -> str:
    """The branch and commit, read from git's files."""
    if layout.repository is None:
        return ""
    head = git.head(layout.repository)
    at = f" at {head.commit[:12]}" if head.commit else ", without a commit yet"
    return f"Git: branch {head.branch or '(none, detached)'}{at}."


def _resume(task: str, plan: Plan | None, checkpoint: Checkpoint | None) -> str:
    lines = []
    if checkpoint and checkpoint.next_action:
        lines.append(f"Next action of {checkpoint.checkpoint_id}: {checkpoint.next_action}")
    if plan:
        lines += [f"{n}. {names.one_line(text)}" for n, text in enumerate(plan.next_actions, 1)]
    if task:
        lines.append(f"`make memory_recover task={task}` prints the plan and the findings.")
    return "\n".join(lines)


def uncommitted(layout: Layout) -> tuple[FileNote, ...]:
    """The changes since the last commit, for a caller that has the time to run git.

    Raises ContextError or OSError if git fails or nothing can be written.
    """
    if layout.repository is None:
        return ()
    from contextkit.base import changes

    found = changes.uncommitted(layout)
    top = layout.repository.top
    notes = []
    for change in found:
        path = os.fsencode(layout.shown(os.path.join(top, change.path))).decode("utf-8", "replace")
        if not path.startswith("../"):
            notes.append(FileNote(path=path, note=change.state))
    return tuple(notes)

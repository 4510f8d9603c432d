"""The prompt that has a main agent write its capsule, with the context that it needs for that."""

from __future__ import annotations

import os

from contextkit.base import files, git, names, redaction, sessions, stores, templates, tokens
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Iterable
from contextkit.capsules.documents import branches, reminders
from contextkit.capsules.documents import store as capsules
from contextkit.capsules.documents.reminders import Reminder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.capsules.flows.known import Quote

_NOT_FOUND = "(no file detected)"
_MOST_GAPS = 10  # capsule gaps that are quoted
# Tokens quoted from each entry, reminder, commit, and line of what the stores know; the first that
# makes the prompt fit is used.
_ROOM = ((160, 70, 40, 60), (90, 45, 30, 40), (45, 25, 20, 25), (0, 15, 0, 15), (0, 0, 0, 0))


class Request(Record):
    """The user's options for `capture`; everything but `now` has a default."""

    now: int
    branch: str = ""
    session: str = ""
    file: str = ""
    plan_slug: str = ""
    reminder_file: str = ""
    reminders: bool = True
    tokens: int | None = None
    version: str = "0.1"
    mini: bool = False
    workstream: str = ""


class Captured(Record):
    """The prompt, the capsule's path, the outline for a stub, and the warnings."""

    prompt: str
    path: str
    stub: str
    warnings: tuple[str, ...] = ()


class _Block(Record):
    title: str
    text: str


class _Material(Record):
    """What the repository offers for the capsule, newest first."""

    plan: str
    progress: str
    plan_entries: tuple[str, ...]
    progress_entries: tuple[str, ...]
    commits: tuple[str, ...]
    open_reminders: tuple[Reminder, ...]
    gaps: tuple[str, ...]
    known: tuple[object, ...]  # of `known.Quote`
    warnings: tuple[str, ...]


def capture(layout: Layout, request: Request) -> Captured:
    """Make the prompt for the main agent to write its capsule; nothing is written.

    Raises ContextError if there is no branch to write about or a path is not acceptable.
    """
    branch, detached = current_branch(layout, request.branch)
    slug = _slug(branch, request.plan_slug.strip())
    inbox = layout.typed(request.reminder_file or layout.reminders, "reminders")
    stream = names.one_line(request.workstream)
    known, unread = _known(layout, branch, stream, request.now)
    material = _gather(layout, slug, "" if detached else branch, inbox if request.reminders else "")
    clean = (one.replace(lines=_clean(layout, one.lines)) for one in known)
    material = material.replace(known=tuple(clean))
    session = sessions.find(layout, request.session, slug)
    limits = layout.limits
    usual = limits.capsule_mini_tokens if request.mini else limits.capsule_max_tokens
    budget = request.tokens or usual
    replaces = next((one.path for one in known if one.path), "")
    capsule = capsules.blank(
        branch, session, request.now, budget, request.version, request.mini, stream, replaces
    )
    if request.file:
        path = branches.chosen_path(layout, request.file)
    else:
        path = branches.free_path(layout, branch, request.now)
    notes = names.one_line(material.plan), names.one_line(material.progress)
    outline = capsules.outline(capsule, *notes)
    own, template = host_outline(layout)
    values = {
        "capsule": capsule,
        "branch": names.one_line(branch),
        "target": layout.shown(path),
        "template": template,
        "session": session,
        "tokens": budget,
        "characters": f"{round(budget * capsules.CHARACTERS_PER_TOKEN):,}",
        "highlights": limits.capsule_highlights,
        "plan_note": _note(layout, material.plan),
        "progress_note": _note(layout, material.progress),
        "inbox": layout.shown(inbox),
        "replaces": replaces,
        "reminders": request.reminders,
        "open_count": len(material.open_reminders),
        "outline": own or outline,
        "front_matter": capsules.front_matter(outline) if own else "",
    }
    prompt, cut = _fitted(layout, material, values)
    quoted = material.open_reminders[: limits.capsule_prompt_reminders]
    clipped = (r.replace(note=tokens.clip(r.note, _ROOM[0][1])) for r in quoted)
    stub = capsules.outline(capsule, *notes, tuple(clipped))
    stub = capsules.adapted(stub, own) if own else stub
    warnings = (*detached, *material.warnings, *unread, *cut)
    return Captured(prompt=prompt, path=path, stub=stub, warnings=warnings)


def _known(layout: Layout, branch: str, workstream: str, now: int) -> tuple[list[Quote], list[str]]:
    """What the stores know, as `known.quotes`; in a new repository there is nothing to look for."""
    stores_there = (layout.capsules, layout.memory, layout.handoffs, layout.store("run"))
    if not any(map(os.path.isdir, stores_there)):
        return [], []
    from contextkit.capsules.flows import known

    return known.quotes(layout, branch, workstream, now)


def current_branch(layout: Layout, given: str) -> tuple[str, tuple[str, ...]]:
    """The unmodified branch name, and a warning if it stands for a detached head.

    Raises ContextError if the name cannot be determined.
    """
    if given.strip():
        return given, ()
    if layout.repository is None:
        raise bad_input("branch: this is not a git repository: give branch=NAME")
    head = git.head(layout.repository)
    if head.branch:
        return head.branch, ()
    if not head.commit:
        raise ContextError(f"{layout.repository.folder}/HEAD: cannot be read: give branch=NAME")
    return head.name, (f"HEAD is detached: writing for {head.name}; give branch=NAME to choose",)


def _slug(branch: str, chosen: str) -> str:
    slug = chosen or branch.replace("/", "-")
    if "/" in slug or not slug.strip("."):
        field = "plan_slug" if chosen else "branch"
        raise bad_input(f"{field}: {slug!r} cannot be the name of a notebook folder")
    return slug


def host_outline(layout: Layout) -> tuple[str, str]:
    """The host's own outline, unmodified ('' for ours), and its name in the prompt."""
    path = layout.capsule_template
    shown = layout.shown(path)
    text = files.read_if_there(path) or ""
    if not text.strip():
        return "", f"template: `{shown}`, contextkit's own until that file holds one"
    if stores.is_our_copy(text):
        return "", f"template: `{shown}`"
    return text.strip() + "\n", f"the repository's own template, `{shown}`"


def _gather(layout: Layout, slug: str, branch: str, inbox: str) -> _Material:
    """Collect from the notebooks `slug`, from `branch` ('': HEAD), and from `inbox`, if any."""
    limits = layout.limits
    plan, progress = layout.notebook(slug, "PLAN"), layout.notebook(slug, "PROGRESS")
    entries: list[tuple[str, ...]] = []
    warnings = []
    for notebook in (plan, progress):
        try:
            found = branches.latest_entries(notebook, limits.capsule_prompt_entries)
        except ContextError as error:
            found = []
            warnings.append(str(error))
        entries.append(tuple(found))
    log = []
    if layout.repository is not None:
        log = git.log(layout.repository, branch, limits.capsule_prompt_commits)
    try:
        gaps = _gaps(layout, branch)
    except ContextError as error:
        gaps = []
        warnings.append(f"capsule gaps left out: {error}")
    noted = reminders.load_all(layout, inbox).whole().documents if inbox else []
    open_ones = [reminder for reminder in noted if not reminder.done]
    newest = sorted(reversed(open_ones), key=lambda r: r.taken, reverse=True)
    quoted = newest[: limits.capsule_prompt_reminders]
    return _Material(
        plan=layout.shown(plan),
        progress=layout.shown(progress),
        plan_entries=_clean(layout, entries[0]),
        progress_entries=_clean(layout, entries[1]),
        commits=_clean(
            layout, (f"{sha} {when[:10]} {names.one_line(what)}" for sha, when, what in log)
        ),
        open_reminders=(*(_without_secrets(layout, r) for r in quoted), *newest[len(quoted) :]),
        gaps=_clean(layout, gaps),
        known=(),
        warnings=tuple(warnings),
    )


def _clean(layout: Layout, texts: Iterable[str]) -> tuple[str, ...]:
    """The texts without secrets, since the prompt goes to an agent and its provider."""
    return tuple(redaction.cleaned(list(texts), layout.limits.secrets_allow))


def _without_secrets(layout: Layout, reminder: Reminder) -> Reminder:
    note, step, topic = _clean(layout, (reminder.note, reminder.next_step, reminder.topic))
    return reminder.replace(note=note, next_step=step, topic=topic)


def _gaps(layout: Layout, branch: str) -> list[str]:
    """The gaps reported by subagents of the branch that no newer capsule can contain yet."""
    if not branch or not os.path.exists(layout.registry):
        return []
    from contextkit.subagents.documents import registry

    newest = os.path.basename(capsules.latest(layout, branch))
    return registry.open_gaps(layout, branch, newest[:16])


def _note(layout: Layout, path: str) -> str:
    shown = f"`{names.one_line(path)}`"
    return shown if os.path.isfile(layout.join(path)) else f"{shown} {_NOT_FOUND}"


def _fitted(
    layout: Layout, material: _Material, values: dict[str, object]
) -> tuple[str, tuple[str, ...]]:
    """The prompt within its cap: quotes from the repository are shortened, the task never is."""
    cap = layout.limits.capsule_prompt_tokens
    for room in _ROOM:
        information = _information(layout, material, room)
        prompt = templates.render("capsule_prompt.md", information=information, **values)
        fits = tokens.within(prompt, cap, layout.limits.tokenizer)
        if fits:
            break
    notes = []
    if room is not _ROOM[0]:
        notes.append(f"quoted fewer notebooks, commits and reminders to stay within {cap} tokens")
    if not fits:
        size = tokens.size(prompt, layout.limits.tokenizer)
        notes.append(f"the prompt has ~{size} tokens, above {cap}: the outline itself is long")
    return prompt, tuple(notes)


def _information(layout: Layout, material: _Material, room: tuple[int, ...]) -> list[_Block]:
    entry_room, reminder_room, commit_room, known_room = room
    blocks = []
    quotes: tuple[Quote, ...] = material.known if known_room else ()  # type: ignore[assignment]
    for quote in quotes:
        lines = [tokens.clip(line, known_room) for line in quote.lines]
        blocks.append(_Block(title=f"{quote.title}:", text="\n".join(lines)))
    if material.gaps and reminder_room:
        lines = [tokens.clip(gap, reminder_room) for gap in material.gaps[-_MOST_GAPS:]]
        title = "Capsule gaps: what subagents missed in the last capsule"
        blocks.append(_Block(title=title, text="\n".join(lines)))
    for path, entries in (
        (material.plan, material.plan_entries),
        (material.progress, material.progress_entries),
    ):
        if entries and entry_room:
            text = "\n\n".join(tokens.clip(entry, entry_room) for entry in entries)
            title = f"Latest entries of `{names.one_line(path)}`:"
            blocks.append(_Block(title=title, text=text))
    if material.commits and commit_room:
        text = "\n".join(tokens.clip(commit, commit_room) for commit in material.commits)
        blocks.append(_Block(title="Latest commits, newest first:", text=text))
    shown = material.open_reminders[: layout.limits.capsule_prompt_reminders]
    if shown and reminder_room:
        lines = [tokens.clip(_line(reminder), reminder_room) for reminder in shown]
        more = len(material.open_reminders) - len(shown)
        lines += [f"{more} more: `make reminders`"] if more else []
        blocks.append(_Block(title="Open reminders, newest first:", text="\n".join(lines)))
    return blocks


def _line(reminder: Reminder) -> str:
    topic = f" ({reminder.topic})" if reminder.topic else ""
    step = f" → next: {reminder.next_step}" if reminder.next_step else ""
    tags = f" [{', '.join(reminder.tags)}]" if reminder.tags else ""
    return names.one_line(f"{reminder.id} {reminder.taken[:10]}{topic} {reminder.note}{step}{tags}")

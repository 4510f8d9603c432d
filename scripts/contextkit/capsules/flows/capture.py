"""The prompt that has a main agent write its capsule, with the context that it needs for that."""

from __future__ import annotations

import os

from contextkit.base import files, git, names, redaction, sessions, stores, templates, tokens
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import Record
from contextkit.base.type_names import Iterable, Sequence
from contextkit.capsules.documents import branches, reminders
from contextkit.capsules.documents import store as capsules
from contextkit.capsules.documents.reminders import Reminder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from contextkit.capsules.flows.known import Quote

_NOT_FOUND = "(no file detected)"
# Tokens quoted from each entry, reminder, commit, and line of what the stores know, at first; what
# does not fit is cut to the shares in turn, all alike.
_ENTRY, _REMINDER, _COMMIT, _KNOWN = 160, 70, 40, 60
_SHARES = (60, 30, 0)  # percent


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


class _Quoted(Record):
    """Texts of one source, and a line that follows them if any is quoted."""

    title: str
    texts: tuple[str, ...]
    between: str = "\n"
    more: str = ""


def _quoted(
    title: str, texts: Iterable[str], room: int, between: str = "\n", more: str = ""
) -> _Quoted:
    """Quote each of the texts in at most `room` tokens."""
    short = tuple(tokens.clip(text, room) for text in texts)
    return _Quoted(title=f"{title}:", texts=short, between=between, more=more)


def capture(layout: Layout, request: Request) -> Captured:
    """Make the prompt for the main agent to write its capsule; nothing is written.

    Raises ContextError if there is no branch to write about or a path is not acceptable.
    """
    branch, detached = current_branch(layout, request.branch)
    slug = _slug(branch, request.plan_slug.strip())
    inbox = layout.typed(request.reminder_file or layout.reminders, "reminders")
    stream = names.one_line(request.workstream)
    known, unread = _known(layout, branch, stream, request.now)
    plan, progress = (layout.notebook(slug, name) for name in ("PLAN", "PROGRESS"))
    noted = _open_reminders(layout, inbox) if request.reminders else []
    entries, unopened = _entries(layout, plan, progress)
    quoted = [_quoted(one.title, _clean(layout, one.lines), _KNOWN) for one in known]
    quoted += [*entries, *_commits(layout, "" if detached else branch), *_noted(layout, noted)]
    session = request.session.strip() or sessions.named(layout, slug)[0]
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
    notes = names.one_line(layout.shown(plan)), names.one_line(layout.shown(progress))
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
        "plan_note": _note(layout, plan),
        "progress_note": _note(layout, progress),
        "inbox": layout.shown(inbox),
        "replaces": replaces,
        "reminders": request.reminders,
        "open_count": len(noted),
        "outline": own or outline,
        "front_matter": capsules.front_matter(outline) if own else "",
    }
    prompt, cut = _fitted(layout, quoted, values)
    clipped = (r.replace(note=tokens.clip(r.note, _REMINDER))
               for r in noted[: limits.capsule_prompt_reminders])  # fmt: skip
    stub = capsules.outline(capsule, *notes, tuple(clipped))
    stub = capsules.adapted(stub, own) if own else stub
    warnings = (*detached, *unopened, *unread, *cut)
    return Captured(prompt=prompt, path=path, stub=stub, warnings=warnings)


def _known(layout: Layout, branch: str, workstream: str, now: int) -> tuple[list[Quote], list[str]]:
    """What the stores know, as `known.quotes`; in a new repository there is nothing to look for."""
    stores_there = (
        layout.capsules, layout.memory, layout.handoffs, layout.store("run"), layout.registry,
    )  # fmt: skip
    if not any(map(os.path.exists, stores_there)):
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


def _entries(layout: Layout, *notebooks: str) -> tuple[list[_Quoted], list[str]]:
    """The latest entries of each notebook, and what could not be read."""
    found, said = [], []
    for path in notebooks:
        try:
            texts = branches.latest_entries(path, layout.limits.capsule_prompt_entries)
        except ContextError as error:
            said.append(str(error))
            continue
        title = f"Latest entries of `{names.one_line(layout.shown(path))}`"
        found.append(_quoted(title, _clean(layout, texts), _ENTRY, "\n\n"))
    return found, said


def _commits(layout: Layout, branch: str) -> list[_Quoted]:
    if layout.repository is None:
        return []
    log = git.log(layout.repository, branch, layout.limits.capsule_prompt_commits)
    lines = [f"{sha} {when[:10]} {names.one_line(what)}" for sha, when, what in log]
    return [_quoted("Latest commits, newest first", _clean(layout, lines), _COMMIT)]


def _open_reminders(layout: Layout, inbox: str) -> list[Reminder]:
    """The open reminders, newest first; those that are quoted are without secrets."""
    noted = reminders.load_all(layout, inbox).whole().documents
    open_ones = [reminder for reminder in reversed(noted) if not reminder.done]
    newest = sorted(open_ones, key=lambda r: r.taken, reverse=True)
    most = layout.limits.capsule_prompt_reminders
    return [*(_without_secrets(layout, r) for r in newest[:most]), *newest[most:]]


def _noted(layout: Layout, noted: list[Reminder]) -> list[_Quoted]:
    shown = noted[: layout.limits.capsule_prompt_reminders]
    more = f"{len(noted) - len(shown)} more: `make reminders`" if len(noted) > len(shown) else ""
    return [_quoted("Open reminders, newest first", map(_line, shown), _REMINDER, more=more)]


def _clean(layout: Layout, texts: Iterable[str]) -> tuple[str, ...]:
    """The texts without secrets, since the prompt goes to an agent and its provider."""
    return tuple(redaction.cleaned(list(texts), layout.limits.secrets_allow))


def _without_secrets(layout: Layout, reminder: Reminder) -> Reminder:
    note, step, topic = _clean(layout, (reminder.note, reminder.next_step, reminder.topic))
    return reminder.replace(note=note, next_step=step, topic=topic)


def _note(layout: Layout, path: str) -> str:
    shown = f"`{names.one_line(layout.shown(path))}`"
    return shown if os.path.isfile(path) else f"{shown} {_NOT_FOUND}"


def _fitted(
    layout: Layout, quoted: list[_Quoted], values: dict[str, object]
) -> tuple[str, tuple[str, ...]]:
    """The prompt within its cap: quotes from the repository are shortened, the task never is."""
    cap, tokenizer = layout.limits.capsule_prompt_tokens, layout.limits.tokenizer
    texts = [text for one in quoted for text in one.texts]

    def made(texts: Sequence[str]) -> str:
        rest = iter(texts)
        information = []
        for one in quoted:
            own = [text for _, text in zip(one.texts, rest, strict=False) if text]
            if own:
                text = one.between.join([*own, *filter(None, (one.more,))])
                information.append({"title": one.title, "text": text})
        return templates.render("capsule_prompt.md", information=information, **values)

    prompt = made(texts)
    if tokens.within(prompt, cap, tokenizer):
        return prompt, ()
    from contextkit.text import fitting

    steps = list(enumerate(_SHARES))
    parts = [
        fitting.Part(text, tuple((step, len(text) * share // 100) for step, share in steps), 20)
        for text in texts
    ]
    prompt = made(fitting.fit(parts, lambda texts: tokens.within(made(texts), cap, tokenizer)))
    notes = [f"quoted fewer notebooks, commits and reminders to stay within {cap} tokens"]
    if not tokens.within(prompt, cap, tokenizer):
        size = tokens.size(prompt, tokenizer)
        notes.append(f"the prompt has ~{size} tokens, above {cap}: the outline itself is long")
    return prompt, tuple(notes)


def _line(reminder: Reminder) -> str:
    topic = f" ({reminder.topic})" if reminder.topic else ""
    step = f" → next: {reminder.next_step}" if reminder.next_step else ""
    tags = f" [{', '.join(reminder.tags)}]" if reminder.tags else ""
    return names.one_line(f"{reminder.id} {reminder.taken[:10]}{topic} {reminder.note}{step}{tags}")

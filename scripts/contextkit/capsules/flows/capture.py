"""The prompt that asks a main agent for its capsule, with the context that it needs for that."""

from __future__ import annotations

import os

from contextkit.base import files, git, names, redaction, sessions, stores, templates, tokens
from contextkit.base.errors import ContextError, bad_input, remark
from contextkit.base.layout import Layout
from contextkit.base.records import Declaration, Record
from contextkit.base.type_names import Callable, Sequence
from contextkit.capsules.documents import reminders
from contextkit.capsules.documents import store as capsules
from contextkit.capsules.documents.reminders import Reminder

_NOT_FOUND = " (no file detected)"
# Tokens quoted at first from each entry, reminder, commit, and line about the stores; unless all of
# it fits, every quote is cut to these shares in turn.
_ENTRY, _REMINDER, _COMMIT, _KNOWN, _REVIEW = 160, 70, 40, 60, 100
_SHARES = (60, 30, 0)  # percent
_MOST_GAPS = 10
_MOST = 5  # findings, decisions, or dismissals that are quoted
_GAPS = "Capsule gaps: what subagents missed in the last capsule"
_DISMISSED = "*.dismissed.json"


class Request(Record):
    """The options of `capsule_prompt` under their names; everything but `now` has a default."""

    now: int
    branch: str = ""
    session: str = ""
    file: str = ""
    plan_slug: str = ""
    reminders: str = ""
    no_reminders: bool = False
    tokens: int | None = None
    version: str = ""
    mini: bool = False
    workstream: str = ""


class Captured(Record):
    """The prompt, the capsule's path, and the outline for a stub."""

    prompt: str
    path: str
    stub: str


class Quote(Declaration):
    """Texts of one source, each cut to some tokens, and a line that follows them if any is quoted.

    path: of the capsule that the new one replaces, if the texts are from it
    """

    title: str
    texts: Sequence[str]
    room: int = _KNOWN
    between: str = "\n"
    more: str = ""
    path: str = ""


def capture(layout: Layout, request: Request) -> Captured:
    """Make the prompt for the main agent to write its capsule; nothing is written.

    Raises ContextError if there is no branch to write about or a path is not acceptable.
    """
    branch = capsules.current_branch(layout, request.branch)
    slug = _slug(branch, request.plan_slug.strip())
    inbox = layout.typed(request.reminders or layout.reminders, "reminders")
    stream = names.one_line(request.workstream)
    stored = _known(layout, branch, stream, request.now)
    plan, progress = (layout.notebook(slug, name) for name in ("PLAN", "PROGRESS"))
    noted = () if request.no_reminders else reminders.load_all(layout, inbox).whole().documents
    waiting = reminders.newest_open(noted)
    shown = waiting[: layout.limits.capsule_prompt_reminders]
    quotes = [*stored, *_entries(layout, plan, progress), *_commits(layout, branch)]
    session = request.session.strip() or sessions.named(layout, slug)[0]
    limits = layout.limits
    usual = limits.capsule_mini_tokens if request.mini else limits.capsule_max_tokens
    capsule = capsules.blank(
        branch, session, request.now, request.tokens or usual,
        version=request.version or "0.1", mini=request.mini, workstream=stream,
        replaces=next((quote.path for quote in stored if quote.path), ""),
    )  # fmt: skip
    path = (capsules.chosen_path(layout, request.file) if request.file
            else capsules.free_path(layout, branch, request.now))  # fmt: skip
    notes = names.one_line(layout.shown(plan)), names.one_line(layout.shown(progress))
    outline = capsules.outline(capsule, *notes)
    own, template = host_outline(layout)
    values = {
        "capsule": capsule, "branch": names.one_line(branch), "target": layout.shown(path),
        "template": template, "session": session, "highlights": limits.capsule_highlights,
        "characters": f"{round(capsule.token_budget * capsules.CHARACTERS_PER_TOKEN):,}",
        "plan_note": f"`{notes[0]}`{'' if os.path.isfile(plan) else _NOT_FOUND}",
        "progress_note": f"`{notes[1]}`{'' if os.path.isfile(progress) else _NOT_FOUND}",
        "inbox": layout.shown(inbox), "reminders": not request.no_reminders,
        "open_count": len(waiting), "outline": own or outline,
        "front_matter": capsules.front_matter(outline) if own else "",
    }  # fmt: skip
    left = len(waiting) - len(shown)
    noted_ones = Quote(
        title="Open reminders, newest first", texts=list(map(reminders.line, shown)),
        room=_REMINDER, more=f"{left} more: `make context_reminders`" if left else "",
    )  # fmt: skip
    prompt = _fitted(layout, [*quotes, noted_ones], values)
    cleaned = [redaction.cleaned(vars(r), limits.secrets_allow) for r in shown]
    clipped = (Reminder(**{**r, "note": tokens.clip(r["note"], _REMINDER)}) for r in cleaned)
    stub = capsules.outline(capsule, *notes, tuple(clipped))
    stub = capsules.adapted(stub, own) if own else stub
    return Captured(prompt=prompt, path=path, stub=stub)


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


def _entries(layout: Layout, *notebooks: str) -> list[Quote]:
    """The latest entries of each notebook that can be read."""
    quotes = []
    for path in notebooks:
        try:
            texts = capsules.latest_entries(path, layout.limits.capsule_prompt_entries)
        except ContextError as error:
            remark(str(error))
            continue
        title = f"Latest entries of `{names.one_line(layout.shown(path))}`"
        quotes.append(Quote(title=title, texts=texts, room=_ENTRY, between="\n\n"))
    return quotes


def _commits(layout: Layout, branch: str) -> list[Quote]:
    if layout.repository is None:
        return []
    head, most = git.head(layout.repository), layout.limits.capsule_prompt_commits
    is_detached = branch == head.name and not head.branch
    log = git.log(layout.repository, "" if is_detached else branch, most)
    lines = [f"{sha} {when[:10]} {names.one_line(what)}" for sha, when, what in log]
    return [Quote(title="Latest commits, newest first", texts=lines, room=_COMMIT)]


def _fitted(layout: Layout, quoted: list[Quote], values: dict[str, object]) -> str:
    """The prompt within its cap: quotes (without secrets) are shortened, the task never is."""
    cap, tokenizer = layout.limits.capsule_prompt_tokens, layout.limits.tokenizer
    allowed = layout.limits.secrets_allow
    texts = [tokens.clip(names.one_line(text) if quote.between == "\n" else text, quote.room)
             for quote in quoted
             for text in redaction.cleaned(list(quote.texts), allowed)]  # fmt: skip

    def made(texts: Sequence[str]) -> str:
        rest = iter(texts)
        information = []
        for quote in quoted:
            own = [text for _, text in zip(quote.texts, rest, strict=False) if text]
            if own:
                text = quote.between.join([*own, *filter(None, (quote.more,))])
                information.append({"title": f"{quote.title}:", "text": text})
        return templates.render("capsule_prompt.md", information=information, **values)

    prompt = made(texts)
    if tokens.within(prompt, cap, tokenizer):
        return prompt
    from contextkit.text import fitting

    steps = list(enumerate(_SHARES))
    cuts = ([(step, len(text) * share // 100) for step, share in steps] for text in texts)
    parts = [fitting.Part(text, tuple(own), 20) for text, own in zip(texts, cuts, strict=True)]
    prompt = made(fitting.fit(parts, lambda texts: tokens.within(made(texts), cap, tokenizer)))
    remark(f"quoted fewer notebooks, commits and reminders to stay within {cap} tokens")
    if not tokens.within(prompt, cap, tokenizer):
        size = tokens.size(prompt, tokenizer)
        remark(f"the prompt has ~{size} tokens, above {cap}: the outline itself is long")
    return prompt


def _known(layout: Layout, branch: str, workstream: str, now: int) -> list[Quote]:
    """Everything readable that may be quoted, the most important first."""
    looks: tuple[tuple[str, Callable[[], list[Quote]]], ...] = (
        (layout.capsules, lambda: _capsule(layout, branch, workstream)),
        (layout.memory, lambda: _task(layout, now)),
        (layout.verdicts, lambda: _reviews(layout)),
        (layout.handoffs, lambda: _decisions(layout, branch)),
        (layout.root, lambda: _dismissals(layout)),
        (layout.registry, lambda: [Quote(title=_GAPS, texts=gaps(layout, branch)[-_MOST_GAPS:])]),
    )
    quotes = list[Quote]()
    for place, look in looks:
        try:
            quotes += look() if os.path.exists(place) else ()
        except (ContextError, OSError) as error:
            remark(f"left out: {error}")
    return [quote for quote in quotes if quote.texts]


def _capsule(layout: Layout, branch: str, workstream: str) -> list[Quote]:
    from contextkit.capsules.flows import given

    path, _ = given.newest(layout, branch, workstream)
    if not path:
        return []
    from contextkit.capsules.documents import items

    before = given.at(layout, path, branch)
    title = f"From `{before.path}`, the capsule that this one replaces"
    title += ": decisions, threads and preferences that are still open"
    still_open = [item.bare for item in items.carried(before.whole, "")]
    news = Quote(title=f"What has changed since `{before.path}`", texts=before.news)
    return [Quote(title=title, texts=still_open, path=before.path), news]


def _task(layout: Layout, now: int) -> list[Quote]:
    from contextkit.memory.flows import recovery

    recovered = recovery.load(layout, "", now, _MOST)
    if recovered.empty or not recovered.task:
        return []
    state = recovered.state
    lines = [f"Next: {state.next_action}"] if state.next_action else []
    lines += [f"Open: {step}" for step in (*state.in_progress, *state.pending)]
    lines += [f"{f.agent} ({f.status}): {f.summary}" for f in recovered.findings[:_MOST]]
    phase = f", in {recovered.phase}" if recovered.phase else ""
    title = f"The open task `{recovered.task}`{phase}, and what was found"
    return [Quote(title=title, texts=lines)]


def _reviews(layout: Layout) -> list[Quote]:
    """The results of the open reviews, with their P0 findings in words."""
    from contextkit.reviews.flows import blockers

    lines = blockers.lines(layout)[:_MOST]
    return [Quote(title="Open reviews, worst first", texts=lines, room=_REVIEW)]


def _decisions(layout: Layout, branch: str) -> list[Quote]:
    from contextkit.handoffs.documents import artifacts

    own = [handoff for _, handoff in artifacts.load_all(layout) if handoff.branch == branch]
    last = max(own, key=lambda handoff: (handoff.timestamp, handoff.sequence), default=None)
    if last is None:
        return []
    from contextkit.handoffs.flows import fitting
    from contextkit.reviews.flows import blockers

    # reviews are quoted as they are now
    others = (b for b in fitting.apart("blockers", last.blockers) if not blockers.reviewer(b))
    blocked = [f"Blocked: {blocker}" for blocker in others]
    rejected = [f"Rejected: {approach}" for approach in last.rejected]
    title = f"Decisions of the last handoff, {last.from_agent} to {last.to_agent}"
    return [Quote(title=title, texts=[*last.decisions, *blocked, *rejected])]


def _dismissals(layout: Layout) -> list[Quote]:
    if layout.repository is None:
        return []
    asked = ("ls-files", "-co", "--exclude-standard", "-z", "--", _DISMISSED)
    listed = git.output(layout.root, *asked).split("\0")
    there = [name for name in listed if name and os.path.isfile(layout.join(name))]
    if not there:
        return []
    from contextkit.reviews.documents import dismissals

    rows = [row for name in there for row in dismissals.parse(files.read(layout.join(name)), name)]
    newest = sorted(rows, key=lambda row: row.at, reverse=True)[:_MOST]
    return [Quote(title="Dismissed findings", texts=[f"{r.title}: {r.reason}" for r in newest])]


def gaps(layout: Layout, branch: str) -> list[str]:
    """The gaps reported by subagents of a branch that no newer capsule can contain yet."""
    if not branch:
        return []
    from contextkit.subagents.documents import registry

    newest = os.path.basename(capsules.latest(layout, branch))
    return registry.open_gaps(layout, branch, newest[:16])

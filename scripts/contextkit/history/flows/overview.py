"""All systems at once: the settings in force, the documented files, and a status line for each."""

from __future__ import annotations

import os
from functools import partial

from contextkit.base import files, formats, git, ledger, names, settings, stores, templates, tokens
from contextkit.base.errors import ContextError, remarks
from contextkit.base.layout import Layout
from contextkit.base.settings import SETTINGS
from contextkit.base.stores import is_our_copy, sealed_copy
from contextkit.base.type_names import Callable, Collection, Iterable
from contextkit.base.version import VERSION, toolkit
from contextkit.capsules.documents import reminders
from contextkit.capsules.documents import store as capsules
from contextkit.capsules.flows.capture import gaps as open_gaps
from contextkit.handoffs.documents import artifacts as handoffs
from contextkit.handoffs.documents import state as handoff_state
from contextkit.history.flows import traces
from contextkit.hosts.documents.contracts import every
from contextkit.hosts.flows import adoption, changes, runner
from contextkit.memory.flows import recovery, upkeep
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.flows import retention
from contextkit.reviews.documents import processes, runs, verdicts
from contextkit.reviews.flows import blockers
from contextkit.subagents.documents import registry
from contextkit.subagents.flows import background

Facts = dict[str, object]


def settings_in_force(layout: Layout) -> list[Facts]:
    """For each setting: `id` (its name), `value`, and `from` (or that it is held back)."""
    sources = {name: "yours" for name in layout.settings}
    sources |= dict.fromkeys(settings.of_repository(layout.root), SETTINGS)
    sources |= dict.fromkeys(layout.held, "untrusted")
    rows: list[tuple[str, object, str]] = [("root", layout.root, "this call")]
    for record in (layout.limits, layout.places):
        for name in record.fields():
            rows.append((name, getattr(record, name), sources.get(name, "default")))
    for process in processes.configured(layout):
        source = SETTINGS if processes.is_set(layout, process.name) else "default"
        for name, value in vars(process).items():
            if name != "name" and value not in ("", (), 0):
                rows.append((f"processes.{process.name}.{name}", value, source))
    return [{"id": name, "value": value, "from": source} for name, value, source in rows]


def copies(layout: Layout) -> dict[str, str]:
    """Our documents that a repository gets copies of: their texts by path."""
    layout.mention("scope_template", "orchestration", "handoff_template")
    scope = toolkit("templates", "subagent_scope_template.md")
    manual = toolkit("manuals", "subagent-session-orchestration.md")
    own = {
        layout.capsule_template: capsules.template_document(layout.limits.capsule_max_tokens),
        layout.store("scope_template"): files.text_of(scope),
        layout.store("orchestration"): files.text_of(manual),
    }
    return {
        **{path: sealed_copy(text) for path, text in own.items() if text},
        layout.handoff_template: sealed_copy(handoffs.template_document(layout), "# "),
        os.path.join(layout.payloads, "README.md"): payloads.store_documents()["README.md"],
    }


def initialize(layout: Layout, dry_run: bool) -> list[tuple[str, str]]:
    """Create or refresh documented files; (path, `made` | `refreshed` | `kept`) pairs."""
    ours, steps = copies(layout), []
    inbox = templates.render("reminder_inbox.md")
    others = {layout.reminders: inbox, os.path.join(layout.payloads, ".gitkeep"): ""}
    for path, text in {**ours, **others}.items():
        real = files.inside(layout.root, path, layout.shown(path))
        there = files.read_if_there(real)
        stale = path in ours and there not in (None, text) and is_our_copy(there or "")
        state = "made" if there is None else "refreshed" if stale else "kept"
        steps.append((layout.shown(path), real, text, state))
    if not dry_run:
        for _, real, text, state in steps:
            try:
                if state == "refreshed":
                    files.write(real, text)
                elif state == "made":
                    files.create(real, text, exact=True)
            except FileExistsError:
                pass  # another process just made it, and an inbox may already hold a reminder
        reminders.keep_mergeable(layout, os.path.realpath(layout.reminders))
        payloads.document_store(layout)
    return [(shown, state) for shown, _, _, state in steps]


def status(
    layout: Layout, documents: Collection[traces.Delivery] | None = None
) -> list[dict[str, object]]:
    """A row per system: `id`, `status` (a line for people), and each value in that line.

    `which` has the documents that need something, each as `ref` and `why`. The line also reports
    what cannot be read. `documents` are those of the ledger, if they are known.
    """
    if documents is None:
        documents = traces.of_documents(ledger.read(layout)).values()
    totals = traces.by_system(documents)
    rows = []
    for system, report in _reports().items():
        try:
            facts = report(layout)
        except ContextError as error:
            facts = {"status": str(error)}
        except OSError as error:
            facts = {"status": f"{error.filename}: cannot be read: {error.strerror}"}
        if system in totals:
            line = "; ".join([str(facts["status"]), *_delivered(system, totals[system])])
            facts |= {"status": line, "delivery": totals[system]}
        rows.append({"id": system, **facts})
    card = sum(int(str(row.get("card_cost", 0))) for row in rows)
    return [*rows, {"id": "net", **_net(documents, card)}]


def _net(documents: Iterable[traces.Delivery], card: int) -> Facts:
    """The tokens kept out of contexts, less all that went in instead, with card and skill."""
    spent = traces.spent(documents, card)
    costs = ", ".join(f"{name} ~{spent[key]}" for key, name in _COSTS.items() if spent[key])
    return {
        "status": f"~{spent['net']} tokens stayed out of contexts, of ~{spent['stored']} written"
        f"{'; went in instead: ' * bool(costs)}{costs}",
        **spent,
    }  # fmt: skip


_COSTS = {"receipts": "receipts", "asked": "second turns", "shown": "opened again",
          "card": "card and skill"}  # fmt: skip

# What to do if a value in a system's facts is not 0 or empty: a sentence, and the command.
_TO_DO = (
    ("capsules", "to_write", "a capsule is a stub: have your agent write it",
     "capsule_prompt file={}"),
    ("payloads", "broken", "{}", "context_doctor"),
    ("handoffs", "not_consumed", "{} not consumed", "handoff_show ref={waits}"),
    ("handoffs", "to_mend", "{} to fix or look at", "handoff_list"),
    ("memory", "stale", "the checkpoint is stale", "memory_recover"),
    ("verdicts", "to_look_at", "{} to look at", "verdict_table view=attention"),
    ("verdicts", "left_by", "an earlier run left something open", "verdict_gate run={}"),
    ("verdicts", "runs", "runs not judged: {}", "verdict_runs"),
    ("subagents", "failed", "{} failed", "subagent_status"),
    ("subagents", "gaps", "{} found missing from the capsule", "capsule_prompt"),
    ("hosts", "failures", "{} failures noted", "context_doctor"),
)  # fmt: skip


def to_do(rows: list[Facts]) -> list[Facts]:
    """What needs doing, with the command for it: `id`, `said`, `command`."""
    facts = {str(row["id"]): row for row in rows}
    unread = [row for row in rows if set(row) <= {"id", "status", "delivery"}]
    needs: list[Facts] = [
        {"id": row["id"], "said": row["status"], "command": "context_doctor"} for row in unread
    ]
    for system, name, wording, command in _TO_DO:
        values = facts.get(system, {}).get(name)
        for value in values if isinstance(values, list) else [values] * bool(values):
            call = command.format(names.word(str(value)), waits=facts[system].get("waits"))
            needs.append({"id": system, "said": wording.format(value), "command": call})
    return needs


def in_short(rows: list[Facts]) -> str:
    """One line about everything stored here."""
    facts = {str(row["id"]): row for row in rows}
    parts = [
        names.counted(int(str(facts[system].get(name) or 0)), noun)
        for system, name, noun in (
            ("payloads", "count", "payload"), ("capsules", "count", "capsule"),
            ("reminders", "open", "open note"), ("handoffs", "count", "handoff"),
            ("memory", "tasks", "task"), ("verdicts", "count", "verdict"),
        )
        if facts.get(system, {}).get(name)
    ]  # fmt: skip
    return ", ".join(parts) or "nothing yet"


_CONSUMED = ("memory", "verdicts")  # handoffs have words of their own


def _delivered(system: str, totals: dict[str, int]) -> list[str]:
    """The documents never delivered, opened or consumed, and what became of the tokens."""
    never = ("delivered", "opened", *(("consumed",) if system in _CONSUMED else ()))
    never = () if system == "reminders" else never  # it is not noted who sees one
    parts = [f"{count} never {what}" for what in never if (count := totals[f"never_{what}"])]
    if totals["stored"]:
        kinds = ("tokens stored", "injected", "shown", "saved")
        counts = [f"~{totals[kind.split()[-1]]} {kind}" for kind in kinds]
        parts.append(f"so far {', '.join(counts)}")
    return parts


def _reports() -> dict[str, Callable[[Layout], Facts]]:
    """The status function of each system; other declared stores just count their documents."""
    own = (_capsules, _reminders, _payloads, _handoffs, _memory, _verdicts, _subagents)
    reports: dict[str, Callable[[Layout], Facts]] = {r.__name__.strip("_"): r for r in own}
    for store in stores.with_documents():
        if (store.system or store.label) not in reports:
            reports[store.label] = partial(_counted, store)
    own_version = {"status": f"contextkit {VERSION}", "version": VERSION}
    return {**reports, "hosts": _hosts, "version": lambda _: dict(own_version)}


def _counted(store: stores.Store, layout: Layout) -> Facts:
    loaded = stores.module(store).load_all(layout)
    broken = len(loaded.broken)
    doubt = f"; {broken} cannot be read" if broken else ""
    return {"status": f"{len(loaded)} stored{doubt}", "stored": len(loaded), "broken": broken}


def _capsules(layout: Layout) -> Facts:
    head = git.head(layout.repository)
    paths = capsules.paths(capsules.folder(layout, head.branch)) if head.branch else []
    where = f"on {head.branch}" if head.branch else "no branch is checked out"
    facts: Facts = {"branch": head.branch, "count": len(paths)}
    if not paths:
        return {"status": f"none {where}" if head.branch else where, **facts}
    newest = files.read(paths[-1])
    state = "a stub" if capsules.unfinished(newest) else "finished"
    size = tokens.estimate(capsules.unsealed(newest))  # as its budget counts it
    name = os.path.basename(paths[-1])
    return {
        "status": f"{len(paths)} {where}; newest {name}: {state}, ~{size} tokens",
        **facts,
        "newest": layout.shown(paths[-1]),
        "state": state.removeprefix("a "),
        "stub": state == "a stub",
        "to_write": layout.shown(paths[-1]) if state == "a stub" else "",
        "tokens": size,
    }


def _reminders(layout: Layout) -> Facts:
    entries = reminders.load_all(layout).whole().documents
    still_open = len(reminders.newest_open(entries))
    done = len(entries) - still_open
    return {"status": f"{still_open} open, {done} done", "open": still_open, "done": done}


def _payloads(layout: Layout) -> Facts:
    sessions = payloads.sessions_in(layout)
    entries, broken = [], []
    for session in sessions:
        try:
            entries += payloads.entries(layout, session)
        except ContextError as error:
            broken.append(str(error))
    stored = sum(entry["tokens"] for entry in entries)
    counted = f"{len(entries)} in {names.counted(len(sessions), 'session')}"
    return {
        "status": "; ".join([f"{counted}; ~{names.counted(stored, 'token')} stored", *broken]),
        "count": len(entries), "sessions": len(sessions), "tokens": stored,
        "broken": "; ".join(broken),
    }  # fmt: skip


def _handoffs(layout: Layout) -> Facts:
    before = len(remarks)
    state = handoff_state.current(layout)
    problems = remarks[before:]
    kept = state.artifacts
    waiting = [{"ref": f"handoff:{name.removesuffix('.yaml')}", "why": handoff.next_action}
               for name, handoff in state.waiting(state.everywhere()).items()]  # fmt: skip
    size = sum(handoffs.measure(handoff, layout.limits.tokenizer) for handoff in kept.values())
    there = [(state.active, ""), *((view.active, key) for key, view in state.views.items()
                                   if key != state.session)]  # fmt: skip
    who = [f"{agent} in {session}" if session else agent for agent, session in there if agent]
    active = f"{', '.join(who[:3])} is active" if who else "no agent is active"
    doubt = f"; {len(problems)} to fix or look at" if problems else ""
    return {
        "status": f"{active}; {len(kept)} kept (~{size} tokens),"
        f" {len(waiting)} not consumed{doubt}",
        "active": state.active, "count": len(kept), "tokens": size, "not_consumed": len(waiting),
        "to_mend": len(problems), "which": waiting,
        **({"waits": waiting[0]["ref"]} if waiting else {}),
    }  # fmt: skip


def _memory(layout: Layout) -> Facts:
    listed = upkeep.listed(layout)
    if not listed:
        return {"status": "nothing stored", "count": 0, "tasks": 0, "tokens": 0}
    stored = sum(tokens.estimate(files.read(document["path"])) for document in listed)
    tasks = {document["task"] for document in listed}
    documents, of = names.counted(len(listed), "document"), names.counted(len(tasks), "task")
    line = f"{documents} of {of}, ~{names.counted(stored, 'token')} stored"
    facts: Facts = {"count": len(listed), "tasks": len(tasks), "tokens": stored}
    saved = recovery.load(layout, "", names.now())
    if saved.checkpoint is None:
        return {"status": f"{line}; no checkpoint", **facts}
    stale = ", stale" if saved.stale else ""
    phase = saved.phase or saved.checkpoint.phase
    age = f"its checkpoint {saved.age // 3600} h old{stale}"
    return {
        "status": f"{line}; {saved.task} is in {phase}, {age}",
        **facts, "task": saved.task, "phase": phase, "age": saved.age, "stale": bool(saved.stale),
    }  # fmt: skip


def _verdicts(layout: Layout) -> Facts:
    entries, open_ones = verdicts.load_all(layout).documents, blockers.still_open(layout)
    left_by = list(dict.fromkeys(each["left_by"] for each in open_ones if "left_by" in each))
    urgent = [{"ref": _ref(e), "why": f"{e['status']} {e['summary']}"} for e in open_ones]
    earlier = sum("left_by" in each for each in open_ones)
    also = f", {earlier} left open by earlier runs" if earlier else ""
    statuses = [entry["status"] for entry in entries]
    is_run = os.path.isdir(layout.store("run"))
    going = len(runs.live(layout, names.now())) if is_run else 0
    return {
        "status": f"{verdicts.counts(entries)}; {len(urgent) - earlier} to look at{also}",
        "count": len(entries), "to_look_at": len(urgent) - earlier, "which": urgent,
        "runs": going, **({"left_by": left_by} if left_by else {}),
        "statuses": {status: statuses.count(status) for status in sorted(set(statuses))},
    }  # fmt: skip


def _ref(entry: verdicts.Entry) -> str:
    run = f"runs/{entry['left_by']}/" if "left_by" in entry else ""
    return f"verdict:{run}{verdicts.encode(entry['agent'])}"


def _subagents(layout: Layout) -> Facts:
    rows = registry.rows(layout)
    states = [background.outcome(layout, row)[0] for row in rows]
    running = sum(state in registry.ACTIVE for state in states)
    dead = [{"ref": f"subagent:{row['id']}", "why": state}
            for row, state in zip(rows, states, strict=True)
            if state in ("failed", "timed_out")]  # fmt: skip
    gaps = len(open_gaps(layout, git.head(layout.repository).branch))
    missing = names.counted(gaps, "capsule gap")
    return {
        "status": f"{running} of {len(rows)} still open, {len(dead)} failed; {missing}",
        "count": len(rows), "open": running, "failed": len(dead), "which": dead, "gaps": gaps,
    }  # fmt: skip


def _hosts(layout: Layout) -> Facts:
    """The hosts that have contextkit's hooks here, and the number of failures they noted."""
    titles = [host.title for host in every() if adoption.installed(layout, host)]
    noted = runner.noted(layout.hooks)
    count = len(noted)
    line = f"hooks of {' and '.join(titles)}" if titles else "not adopted: no hooks are installed"
    card = standing_cost(layout)
    if card:
        each = f"~{card['card_tokens']} tokens a request"
        line += f"; card and skill {each}, {card['requests']} requests seen"
    advice = ": make context_doctor shows them" if count else ""
    return {
        "status": f"{line}; {names.counted(count, 'failure')} noted{advice}",
        "hosts": titles,
        "failures": count,
        "which": [{"ref": "", "why": line} for line in noted[-_NOTED:]],
        **card,
    }


# What contextkit costs in every request: its card in the instructions, its skill's description.
# Requests are those in the transcripts of sessions of this repository.


_NOTED = 5  # failures that a row names
_NEW, _REPEATED = 1.25, 0.1
_MOST_READ = 64 << 20  # bytes of a transcript


def tokens_a_request(layout: Layout) -> int:
    """The tokens of the card and of the skill's description; 0 if neither is installed here."""
    cards = [changes.block_in(files.read_if_there(layout.join(host.instructions)) or "")
             for host in every()]  # fmt: skip
    skills = [files.read_if_there(layout.join(f"{host.skills}/contextkit/SKILL.md")) or ""
              for host in every()]  # fmt: skip
    listed = [text[4:].partition("\n---\n")[0] for text in skills if text[:4] == "---\n"]
    return sum(max(map(tokens.estimate, texts), default=0) for texts in (cards, listed))


def standing_cost(layout: Layout) -> dict[str, int]:
    """The cost of card and skill so far; empty if neither is installed.

    `card_tokens` for each of the `requests`; `card_cost` in tokens at the price of new input: with
    a cache for prompts, 1.25 for a text that is new in a session, 0.1 for each repetition.
    """
    each = tokens_a_request(layout)
    if not each:
        return {}
    new = requests = 0
    for path in retention.transcripts(layout):
        data = formats.beginning(path, _MOST_READ)
        new += 1
        requests += data.count(b'"type":"assistant"') or data.count(b'"token_count"')
    cost = round(each * (_NEW * new + _REPEATED * max(0, requests - new)))
    return {"card_tokens": each, "requests": requests, "card_cost": cost}

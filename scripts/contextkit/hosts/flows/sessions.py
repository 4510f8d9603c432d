"""The start and the end of a session: what it or a subagent is told, what ends and comes back.

In between, a context that is full or about to be compacted is saved.

A session that ends removes its file (`runner.note_session`). If the file is there but the process
is gone, the session died, and the next session learns of it once.
"""

from __future__ import annotations

import os
import time

from contextkit.base import addresses, files, formats, ledger, names, sessions, shelf, stores
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any, Iterable, Iterator
from contextkit.hosts.documents import seen_agents
from contextkit.hosts.documents.contracts import NOTHING, Answer, HookInput

_WARNINGS = 3  # warnings of recovery shown
_NAMED = 8  # payloads listed by id
_TAIL = 1 << 17  # bytes at the end of a transcript with the last prompt and message
_MEETING = 120  # seconds between a turn's end and a compaction that share one snapshot
_KEPT = 30 * 86_400  # seconds for which hosts keep a conversation that may be resumed
_LAST = 8 << 20  # bytes at the end of a transcript that are read
_CALL = "call:"  # before the id of a call, as the recipient of what it showed
_DEAD = 20  # files of dead sessions that are read


def command(layout: Layout, hook: HookInput) -> Answer:
    """Say how a plugin's commands are called here."""
    named = os.environ["CONTEXTKIT_COMMAND"]
    return Answer(context=f"Call `contextkit NAME …` as `{named} NAME …` here.")


def reminders(layout: Layout, hook: HookInput) -> Answer:
    """A line with the number of open reminders."""
    from contextkit.capsules.documents import reminders as inbox

    count = len(inbox.newest_open(inbox.load_all(layout).whole().documents))
    are, them = ("is", "it") if count == 1 else ("are", "them")
    summary = f"{names.counted(count, 'reminder')} {are} open"
    line = f"{summary}: `make context_reminders` shows {them}."
    return Answer(context=line) if count else NOTHING


def handoff(layout: Layout, hook: HookInput) -> Answer:
    """A line about the newest handoff that nobody has consumed; a resumed agent is active again."""
    from contextkit.handoffs.documents import state

    if hook.text("source") == "resume":
        state.resume_session(layout, hook.session)
    stored = state.current(layout)
    waiting = stored.waiting(stored.everywhere())
    if not waiting:
        return NOTHING
    name, document = next(iter(waiting.items()))
    ref = name.removesuffix(".yaml")
    who = f"A handoff from {document.from_agent} to {document.to_agent} is not consumed"
    line = f"{who}: `make handoff_show ref={ref}` shows it."
    return Answer(context=line, refs=(f"handoff:{ref}",))


def brief(layout: Layout, hook: HookInput) -> Answer:
    """A new subagent's briefing: the newest capsule for the branch, else a handoff."""
    from contextkit.base import git
    from contextkit.subagents.flows import prompts

    lines = formats.tail(hook.text("transcript_path"), _TAIL).split(b"\n")
    calls = (line for line in reversed(lines) if b'"subagent_type"' in line)
    asked = (formats.inside(part, "input") for part in _parts(calls))
    own = next((call for call in asked if call.get("subagent_type") == hook.agent_type), {})
    task, branch = str(own.get("prompt") or ""), git.head(layout.repository).name
    text = prompts.brief(layout, branch, hook.agent_type, task)
    return Answer(context=text, refs=tuple(addresses.named_in(layout, text.partition("\n")[0])))


def saved(layout: Layout, hook: HookInput) -> Answer:
    """The saved context: all of it if the context was lost, else a line on the open task."""
    source = hook.text("source")
    goes_on = source in ("compact", "resume")
    dead, transcript = _take_dead(layout, hook.session)
    died, answer, session = "", NOTHING, ""
    if source == "clear":  # told once
        cleared = layout.memory_state("cleared")
        session = files.first_line(cleared)
        files.discard(cleared)
    if goes_on:
        answer, session = _recovered(layout), hook.session if source == "compact" else ""
    elif dead:
        from contextkit.memory.documents import store

        died = f"The last session here, {dead[:12]}, ended unexpectedly."
        answer, session = _recovered(layout, transcript, store.own_task(layout, dead)), dead
    stored = _payloads(layout, hook, session)
    is_told = goes_on or (dead and stored)
    if answer == NOTHING and not is_told:
        died, answer = "", _open_task(layout)
    return answer.replace(context="\n".join(filter(None, (died, answer.context, stored))))


def unseen(layout: Layout, hook: HookInput, answer: Answer) -> Answer:
    """The part of an answer that is new to this conversation since its last compaction."""
    if answer == NOTHING or not hook.session:
        return answer
    path = told(layout, hook.session)
    keys = frozenset((files.read_if_there(path) or "").split("\n"))
    before = keys if hook.text("source") in ("compact", "resume") else frozenset[str]()
    lines = [line for line in answer.context.split("\n") if _key(line) not in before]
    quoted = _new_of(answer.quoted, before)
    shown = [*answer.context.split("\n"), *answer.quoted.split("\n")]
    try:
        shelf.forget(os.path.dirname(path), time.time() - _KEPT)
        files.write(path, "\n".join(sorted(keys | set(map(_key, shown)))), derived=True)
    except (OSError, ContextError):
        pass  # where nothing can be written, it is told again
    if quoted != answer.quoted and quoted:
        answer = answer.replace(origin=f"{answer.origin}, what changed since you last saw it")
    fresh = answer.replace(context="\n".join(lines).strip("\n"), quoted=quoted)
    return fresh if fresh.context or fresh.quoted else NOTHING


def _new_of(text: str, before: frozenset[str]) -> str:
    """The lines of a text that are not among `before`, below their headings."""
    if not any(_key(line) in before for line in text.split("\n") if line.strip("#- ")):
        return text
    kept: list[str] = []
    heading = ""
    for line in text.split("\n"):
        if line.startswith("#"):
            heading = line
        elif line.strip() and _key(line) not in before:
            kept += [heading, line] if heading else [line]
            heading = ""
    return "\n".join(kept)


def _key(line: str) -> str:
    """The key by which a line is recognized, without its age, which changes by itself."""
    text = line.partition(", ")[0] if line.startswith("- Saved: ") else line.strip()
    return names.sha256(text.encode("utf-8", "replace"))[:16]


def told(layout: Layout, session: str) -> str:
    """The file of what a conversation was told, up to its last compaction."""
    return layout.memory_state(f"told/{sessions.key(session) or '-'}")


def _payloads(layout: Layout, hook: HookInput, session: str) -> str:
    """A line with the ids of the session's newest payloads, also of one that ended."""
    if not sessions.is_name(session):
        return ""
    from contextkit.payloads.documents import store
    from contextkit.payloads.flows import retention

    places = (os.path.join(layout.payloads, session), *retention.ended(layout, session)[::-1])
    place = next((place for place in places if os.path.isdir(place)), "")
    ids = [os.path.basename(path)[:-3] for path in store.documents_in(place)] if place else []
    if not ids:
        return ""
    where = "this session" if session == hook.session else "the session before"
    newest = ", ".join(f"`{name}`" for name in ids[: -_NAMED - 1 : -1])
    more = f" and {len(ids) - _NAMED} older" if len(ids) > _NAMED else ""
    return f"Stored in {where}: {newest}{more}: `make payload_show ref=…` shows one."


def _open_task(layout: Layout) -> Answer:
    """A line with the open task and when it was last saved, or one with each of several."""
    from contextkit.base import git
    from contextkit.capsules.flows import given as given_capsules
    from contextkit.memory.documents import store
    from contextkit.memory.flows import recovery_report

    for branch, where in given_capsules.places(layout, git.head(layout.repository).name):
        tasks = store.candidates(where, starts=True) if os.path.isdir(where.memory) else ()
        last = {task: recovery_report.last_saved(where, task) for task in tasks}
        tree = "" if where.root == layout.root else f" worktree={branch}"
        listed = "; ".join(f"`{task}`, {saved}" for task, saved in last.items())
        if len(last) > 1:
            command = f"`make memory_recover task=…{tree}` prints one"
            return Answer(context=f"{len(tasks)} tasks are open: {listed}: {command}.")
        for task, saved in last.items():
            command = f"`make memory_recover task={task}{tree}` prints what is known"
            return Answer(context=f"The task `{task}` is open, {saved}: {command}.")
    return NOTHING


def _recovered(layout: Layout, transcript: str = "", task: str = "") -> Answer:
    """The recovery report of a task, by default the session's, within the host's limits.

    `transcript` is that of a session that died: its work since the last save is included, and this
    session takes up its task.
    """
    from contextkit.memory.documents import store
    from contextkit.memory.flows import recovery, recovery_report

    starts = bool(transcript or task)
    recovered = recovery.load(layout, task, names.now(), transcript=transcript, starts=starts)
    if recovered.candidates:
        return Answer(context=recovery_report.of_candidates(layout, recovered))
    is_saved = not recovered.empty or bool(recovered.caught)
    if not (is_saved or recovered.notes):
        return NOTHING
    if starts and recovered.task:
        store.take_up(layout, recovered.task)
    limits = layout.limits
    task = names.one_line(recovered.task)
    what, of = (f"The task `{task}`", f" task={task}") if task else ("Work without a task", "")
    lines = [f"{what} was saved here: `make memory_recover{of}` prints all of it."] * is_saved
    lines += [names.one_line(warning)[:200] for warning in recovered.warnings[:_WARNINGS]]
    budget = min(limits.memory_recover_tokens, limits.hook_context_tokens * 9 // 10)
    text = recovery_report.make(layout, recovered, budget).text
    while len(text) > limits.hook_context_characters * 9 // 10 and budget > recovery_report.LEAST:
        budget = budget * 4 // 5
        text = recovery_report.make(layout, recovered, budget).text
    refs = tuple(addresses.of(layout, layout.join(path), kind) for kind, path in recovered.named)
    origin = f"the memory of {task or 'this repository'}"
    return Answer(context="\n".join(lines), quoted=text, origin=origin, refs=refs)


def switch_agent(layout: Layout, hook: HookInput) -> Answer:
    """Switch to the agent that the prompt begins with."""
    from contextkit.base import agents, redaction
    from contextkit.handoffs.flows import switch

    limits = layout.limits
    prompt = redaction.redacted(hook.text("prompt"), limits.secrets_allow)[0]
    how = limits.hook_context_characters, limits.hook_context_tokens, hook.text("transcript_path")
    text = switch.switch_from_prompt(layout, prompt, names.now(), *how)
    if text is None:
        called = agents.recognized(hook.text("prompt"), limits.handoff_prefixes)
        if called and not os.path.exists(os.path.join(layout.here, called[0])):
            text = switch.nobody(layout, called[0])
    return Answer(context=text or "", is_prompt=True)


def _take_dead(layout: Layout, besides: str) -> tuple[str, str]:
    """The session besides `besides` that died last, and its transcript; forget all dead ones."""
    there = [name for name in stores.names_in(layout.running) if not files.is_draft(name)]
    dead = []
    for name in there[-_DEAD:]:
        if name != besides and not sessions.lives(layout, name):
            path = os.path.join(layout.running, name)
            try:
                moment, text = os.stat(path).st_mtime, files.text_of(path)
                os.unlink(path)
            except FileNotFoundError:
                continue  # another session that starts tells of it
            ledger.note(layout, ledger.DIED, f"session:{name}", session=name)
            dead.append((moment, name, text.partition("\n")[2].strip()))
    return max(dead)[1:] if dead else ("", "")


def start(layout: Layout, hook: HookInput) -> None:
    """Restore what a resumed session stored; end unused sessions."""
    from contextkit.payloads.flows import retention

    now = names.now()
    if hook.session:
        retention.wake(layout, hook.session, now)
    retention.sweep_in_passing(layout, now, hook.session)
    seen_agents.sweep(layout, now)


def finish(layout: Layout, hook: HookInput) -> None:
    """End a session's payloads and active agent; both come back if it is resumed."""
    if os.path.isdir(os.path.join(layout.payloads, hook.session)):
        note_opened(layout, hook.session, hook.text("transcript_path"))
    if hook.text("reason") == "clear":  # the next session may need what this one stored
        files.write(layout.memory_state("cleared"), hook.session + "\n", derived=True)
    end(layout, hook.session)


def end(layout: Layout, session: str) -> list[str]:
    """End a session: its payloads (resumable), active agent and state, with a line for each."""
    from contextkit.payloads.flows import retention

    sessions.check(session)
    now = names.now()
    done = retention.end(layout, session, now)
    lines = [done or f"session {session}: ended, no payloads were stored"]
    if not done:
        retention.note_end(layout, session, lines[0], now)
        ledger.note(layout, ledger.ENDED, f"session:{session}", session=session)
    ledger.sweep(layout, now)
    if seen_agents.forget(layout, session):
        lines.append(f"session {session}: hooks' records of its subagents were removed")
    files.discard(os.path.join(layout.running, session))
    if os.path.isdir(layout.handoffs):
        from contextkit.handoffs.documents import state

        if agent := state.reset(layout, session):
            lines.append(f"session {session}: {agent} is no longer the active agent")
    sessions.forget(layout, session)
    return lines


def note_opened(layout: Layout, session: str, transcript: str) -> None:
    """Note in the ledger, once, which payloads the session opened with its host's own tools.

    No hook sees that, but the transcript has it, with the tokens of each result.
    """
    from contextkit.base import tokens

    lines = formats.tail(transcript, _LAST).split(b"\n")
    store = layout.shown(layout.payloads) + "/"
    opened: dict[str, str] = {}  # the payload's address, by the id of the call
    for part in _parts(line for line in lines if store.encode() in line):
        call = str(part.get("id") or part.get("call_id") or "")
        _, _, named = str(part.get("input") or part.get("arguments") or "").partition(store)
        path, ends, _ = named.partition(".md")
        ref = addresses.of(layout, layout.join(f"{store}{path}.md")) if ends else ""
        opened |= {call: ref} if call and ref else {}
    if not opened:
        return
    noted = {event.get("to", "") for event in ledger.read(layout) if event["event"] == ledger.SHOWN}
    sizes: dict[str, int] = {}
    ids = [call.encode() for call in opened]
    for part in _parts(line for line in lines if any(call in line for call in ids)):
        call = str(part.get("tool_use_id") or part.get("call_id") or "")
        result = formats.texts_of(part.get("content") or part.get("output"))
        if result and call in opened and _CALL + call not in noted:
            sizes[call] = tokens.estimate(result)
    for call, size in sizes.items():
        where = _CALL + call
        ledger.note(layout, ledger.SHOWN, opened[call], tokens=size, to=where, session=session)


def _parts(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """The calls and results in lines of a transcript, of either form."""
    for line in map(formats.object_in, lines):
        if payload := formats.inside(line, "payload"):
            yield payload
        content = formats.inside(line, "message").get("content")
        if isinstance(content, list):
            yield from (block for block in content if isinstance(block, dict))


def when_full(layout: Layout, hook: HookInput) -> None:
    """Write a snapshot if the context has entered the save zone since the last one."""
    from contextkit.memory.documents import context_window

    count, window = _usage(hook)
    message, path = hook.text("last_assistant_message").strip(), hook.text("transcript_path")
    is_end = hook.declared.ours == "Stop" and hook.session and message
    if is_end and os.path.isfile(path):
        words = formats.to_json(message.split("\n", 1)[0][:60]).strip().strip('"').encode("utf-8")
        if words not in formats.tail(path, _TAIL):  # the turn's last message is not written yet
            files.write(seen_agents.path(layout, hook.session, seen_agents.BEHIND), "")
    if count:
        zone, saved_at = context_window.look(layout, *_whose(layout, hook), count, window)
        if zone.name == context_window.SAVE and not saved_at:
            _save_once(layout, hook, count)


def catch_up(layout: Layout, hook: HookInput) -> None:
    """Do what the end of a turn could not, as the transcript was not written by then."""
    files.discard(seen_agents.path(layout, hook.session, seen_agents.BEHIND))
    when_full(layout, hook)


def before(layout: Layout, hook: HookInput) -> None:
    """Save everything known before the host compacts the context."""
    files.discard(told(layout, hook.session))
    path = _save_once(layout, hook, _usage(hook)[0], _MEETING)
    files.write(seen_agents.path(layout, hook.session, seen_agents.COMPACTION), path + "\n")


def after(layout: Layout, hook: HookInput) -> None:
    """Add the host's summary to this compaction's snapshot; create one if there is none.

    The analysis that led to the summary is left out.
    """
    from contextkit.memory.documents import context_window
    from contextkit.memory.flows import saving

    context_window.forget(layout, *_whose(layout, hook))
    text = hook.text("compact_summary")
    _, opened, rest = text.rpartition("<summary>")
    summary = rest.partition("</summary>")[0] if opened else text.rpartition("</analysis>")[2]
    summary = summary.strip() or text.replace("<analysis>", "").strip()
    mark = seen_agents.path(layout, hook.session, seen_agents.COMPACTION)
    waiting = layout.join((files.read_if_there(mark) or "").strip())
    if os.path.isfile(waiting):
        files.discard(mark)
        try:
            if summary:
                saving.complete_snapshot(layout, waiting, summary)
            return
        except ContextError:
            pass  # it was edited in the meantime: both are kept
    _save(layout, hook, names.now(), summary=summary)


def _save_once(layout: Layout, hook: HookInput, count: int, *within: int) -> str:
    """Save a snapshot, unless there is one of this moment; return its path."""
    from contextkit.memory.documents import context_window

    now, transcript = names.now(), hook.text("transcript_path")

    def save() -> str:
        return _save(layout, hook, now, tokens=count, transcript=transcript)

    return context_window.once(layout, *_whose(layout, hook), save, now, *within)[0]


def _save(layout: Layout, hook: HookInput, now: int, **more: Any) -> str:
    from contextkit.memory.documents import snapshots
    from contextkit.memory.flows import saving

    reason = "manual" if hook.text("trigger") == "manual" else "token_limit"
    made = saving.automatic_snapshot(layout, reason=reason, now=now, **more)
    return layout.shown(snapshots.save(layout, made, now))


def _whose(layout: Layout, hook: HookInput) -> tuple[str, str]:
    """The session and the task that a context belongs to."""
    from contextkit.memory.documents import store

    return hook.session or sessions.find_current(layout), store.current_task(layout)


def _usage(hook: HookInput) -> tuple[int, int]:
    """The tokens of the context and the size of its window; 0 for what is unknown."""
    from contextkit.memory.documents import context_window

    path = hook.text("transcript_path")
    try:
        return context_window.usage(path) if os.path.isfile(path) else (0, 0)
    except ContextError:  # the format of another host
        return 0, 0

"""The start and the end of a session: what it or a subagent learns, what ends and comes back.

    .contextkit/sessions/<session>      two lines: its host's process id, and its transcript

A session that ends removes its file. If the file is there but the process is gone, the session
died, and the next session learns of it once.
"""

from __future__ import annotations

import os
import time

from contextkit.base import addresses, files, formats, ledger, names, sessions, stores
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any, Iterable, Iterator
from contextkit.hosts.documents import contracts, seen_agents
from contextkit.hosts.documents.contracts import NOTHING, Answer, HookInput

_WARNINGS = 3  # warnings of recovery shown
_NAMED = 8  # payloads listed by id
_TAIL = 1 << 17  # bytes at the end of a transcript that are searched for an agent's prompt
_KEPT = 30 * 86_400  # seconds for which hosts keep a conversation that may be resumed
_LAST = 8 << 20  # bytes at the end of a transcript that are looked at
_CALL = "call:"  # before the id of a call, as the recipient of what it showed
_DEAD = 20  # files of dead sessions that are looked at


# The start


def command(layout: Layout, given: HookInput) -> Answer:
    """Say how a plugin's commands are called here."""
    named = os.environ["CONTEXTKIT_COMMAND"]
    return Answer(context=f"Call `contextkit NAME …` as `{named} NAME …` here.")


def reminders(layout: Layout, given: HookInput) -> Answer:
    """Return a line with the number of open reminders."""
    from contextkit.capsules.documents import reminders as inbox

    count = len(inbox.newest_open(inbox.load_all(layout).whole().documents))
    if not count:
        return NOTHING
    summary = f"{names.counted(count, 'reminder')} {'is' if count == 1 else 'are'} open"
    return Answer(context=f"{summary}: `make reminders` shows them.")


def handoff(layout: Layout, given: HookInput) -> Answer:
    """Return a line about the newest handoff that nobody has consumed.

    A resumed session's active agent becomes active again.
    """
    from contextkit.handoffs.documents import state

    if given.text("source") == "resume":
        state.resume_session(layout, given.session)
    waiting = state.waiting(layout, state.everywhere(state.current(layout)[0]))
    if not waiting:
        return NOTHING
    name, document = waiting
    ref = name.removesuffix(".yaml")
    who = f"A handoff from {document.from_agent} to {document.to_agent} is not consumed"
    line = f"{who}: `make handoff_show ref={ref}` shows it."
    return Answer(context=line, refs=(f"handoff:{ref}",))


def brief(layout: Layout, given: HookInput) -> Answer:
    """Return a new subagent's briefing: the newest capsule for the branch, else a handoff."""
    from contextkit.base import git
    from contextkit.capsules.documents import store as capsules

    apart = layout.repository is not None and layout.repository.folder != layout.repository.common
    if not (apart or os.path.isdir(layout.handoffs) or capsules.folders(layout)):
        return NOTHING
    from contextkit.subagents.flows import prompts

    branch = git.head(layout.repository).name
    text = prompts.brief(layout, branch, given.agent_type, _task_of(given))
    return Answer(context=text, refs=tuple(addresses.named_in(layout, text.partition("\n")[0])))


def _task_of(given: HookInput) -> str:
    """Return the prompt of the agent that starts, from the end of the transcript; '' if unknown."""
    lines = formats.tail(given.text("transcript_path"), _TAIL).split(b"\n")
    calls = (line for line in reversed(lines) if b'"subagent_type"' in line)
    for part in _parts(calls):
        asked = formats.inside(part, "input")
        if asked.get("subagent_type") == given.agent_type:
            return str(asked.get("prompt") or "")
    return ""


def saved(layout: Layout, given: HookInput) -> Answer:
    """Return what was saved: all of it if the context is lost, else a line on the open task."""
    source = given.text("source")
    dead, transcript = _take_dead(layout, given.session)
    if source in ("compact", "resume"):
        recovered = _recovered(layout)
        stored = _payloads(layout, given.session) if source == "compact" else ""
        return recovered.replace(context="\n".join(filter(None, (recovered.context, stored))))
    cleared = _take_cleared(layout) if source == "clear" else ""
    before = dead or cleared
    stored = _payloads(layout, before) if before else ""
    if dead:
        from contextkit.memory.documents import store

        recovered = _recovered(layout, transcript, store.own_task(layout, dead))
        died = f"The last session here, {dead[:12]}, ended unexpectedly."
        if recovered != NOTHING or stored:
            lines = filter(None, (died, recovered.context, stored))
            return recovered.replace(context="\n".join(lines))
    line = _open_task(layout)
    return line.replace(context="\n".join(filter(None, (line.context, stored))))


def unseen(layout: Layout, given: HookInput, answer: Answer) -> Answer:
    """Return what of an answer this conversation has not been told since its last compaction.

    What a resumed conversation was told before, it still holds; a host may also start one twice.
    """
    if answer == NOTHING or not given.session:
        return answer
    path = _told(layout, given.session)
    keys = frozenset((files.read_if_there(path) or "").split("\n"))
    before = keys if given.text("source") in ("compact", "resume") else frozenset[str]()
    lines = [line for line in answer.context.split("\n") if _key(line) not in before]
    quoted = _new_of(answer.quoted, before)
    told = [*answer.context.split("\n"), *answer.quoted.split("\n")]
    try:
        _sweep(os.path.dirname(path))
        files.write(path, "\n".join(sorted(keys | set(map(_key, told)))), derived=True)
    except (OSError, ContextError):
        pass  # where nothing can be written it is told again
    if quoted != answer.quoted and quoted:
        answer = answer.replace(origin=f"{answer.origin}, what changed since you last saw it")
    fresh = answer.replace(context="\n".join(lines).strip("\n"), quoted=quoted)
    return fresh if fresh.context or fresh.quoted else NOTHING


def _sweep(folder: str) -> None:
    """Forget what conversations were told that no host can resume any more."""
    oldest = time.time() - _KEPT
    for name in stores.names_in(folder):
        path = os.path.join(folder, name)
        if os.stat(path).st_mtime < oldest:
            files.discard(path)


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
    """What recognizes a line, without what changes by itself: how long ago it was saved."""
    text = line.partition(", ")[0] if line.startswith("- Saved: ") else line.strip()
    return names.sha256(text.encode("utf-8", "replace"))[:16]


def _told(layout: Layout, session: str) -> str:
    return layout.memory_state(f"told/{sessions.key(session) or '-'}")


def forget_told(layout: Layout, session: str) -> None:
    """Forget what a conversation was told: a compaction drops it, so it may be said again."""
    files.discard(_told(layout, session))


def _payloads(layout: Layout, session: str) -> str:
    """Return a line with the ids of the session's newest payloads, also of one that ended."""
    from contextkit.payloads.documents import store
    from contextkit.payloads.flows import retention

    if not sessions.is_name(session):
        return ""
    places = (os.path.join(layout.payloads, session), *retention.ended(layout, session)[::-1])
    place = next((place for place in places if os.path.isdir(place)), "")
    ids = [os.path.basename(path)[:-3] for path in store.documents_in(place)] if place else []
    if not ids:
        return ""
    newest = ", ".join(f"`{name}`" for name in ids[: -_NAMED - 1 : -1])
    more = f" and {len(ids) - _NAMED} older" if len(ids) > _NAMED else ""
    return f"Stored in this session: {newest}{more}: `make payload_show ref=…` shows one."


def _open_task(layout: Layout) -> Answer:
    """Return a line with the open task and when it was last saved, or one with each of several.

    A worktree without one of its own is told of that of the branch it was made from.
    """
    from contextkit.base import git
    from contextkit.capsules.flows import given as given_capsules
    from contextkit.memory.documents import store
    from contextkit.memory.flows import recovery_report

    for branch, where in given_capsules.places(layout, git.head(layout.repository).name):
        tasks = store.candidates(where, starts=True)
        if not tasks or not os.path.isdir(where.memory):
            continue
        tree = "" if where.root == layout.root else f" worktree={branch}"
        entries = [
            f"`{task}`, last saved {recovery_report.last_saved(where, task)}" for task in tasks
        ]
        if len(tasks) == 1:
            command = f"`make memory_recover task={tasks[0]}{tree}` prints what is known"
            return Answer(context=f"The task `{tasks[0]}` is open{entries[0][len(tasks[0]) + 2:]}:"
                                  f" {command}.")  # fmt: skip
        command = f"`make memory_recover task=…{tree}` prints one"
        return Answer(context=f"{len(tasks)} tasks are open: {'; '.join(entries)}: {command}.")
    return NOTHING


def _recovered(layout: Layout, transcript: str = "", task: str = "") -> Answer:
    """Return what recovery prints about a task, by default the session's, in the host's limits.

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
    task = names.one_line(recovered.task or "unknown")
    command = (
        f"make memory_recover task={recovered.task}" if recovered.task else "make memory_recover"
    )
    lines = [f"The task `{task}` was saved here: `{command}` prints all of it."] * is_saved
    lines += [names.one_line(warning)[:200] for warning in recovered.warnings[:_WARNINGS]]
    budget = min(limits.memory_recover_tokens, limits.hook_context_tokens * 9 // 10)
    text = recovery_report.make(layout, recovered, budget).text
    while len(text) > limits.hook_context_characters * 9 // 10 and budget > recovery_report.LEAST:
        budget = budget * 4 // 5
        text = recovery_report.make(layout, recovered, budget).text
    refs = tuple(addresses.of(layout, layout.join(path), kind) for kind, path in recovered.named)
    origin = f"the memory of {task}"
    return Answer(context="\n".join(lines), quoted=text, origin=origin, refs=refs)


# Which sessions run here


def note(layout: Layout, given: HookInput) -> None:
    """Record the session with its host's process."""
    host = contracts.find(given.host)
    process = os.environ.get(host.process, "") if host.process else ""
    number = process if process.isdigit() else str(os.getppid())
    files.write(_record(layout, given.session), f"{number}\n{given.text('transcript_path')}\n")


def _record(layout: Layout, session: str) -> str:
    return os.path.join(layout.running, session or "unknown")


def _take_dead(layout: Layout, besides: str) -> tuple[str, str]:
    """Return the session that died last and its transcript, and forget all dead sessions.

    Both are empty if none has died. A session whose process exists is running; `besides` is the
    session that asks.
    """
    there = [name for name in stores.names_in(layout.running) if not files.is_draft(name)]
    dead = []
    for name in there[-_DEAD:]:
        if name != besides and not sessions.lives(layout, name):
            path = _record(layout, name)
            transcript = (files.read_if_there(path) or "").partition("\n")[2].strip()
            dead.append((os.stat(path).st_mtime, name, transcript))
    for _, name, _ in dead:
        ledger.note(layout, ledger.DIED, f"session:{name}", session=name)
        files.discard(_record(layout, name))
    return max(dead)[1:] if dead else ("", "")


def note_cleared(layout: Layout, session: str) -> None:
    """Record that the user cleared this session: the next one may need what it stored."""
    files.write(layout.memory_state("cleared"), session + "\n", derived=True)


def _take_cleared(layout: Layout) -> str:
    """Return the session that was cleared just now, once."""
    path = layout.memory_state("cleared")
    session = files.first_line(path)
    files.discard(path)
    return session if sessions.is_name(session) else ""


# What ends with a session, and comes back if it is resumed


def start(layout: Layout, session: str) -> None:
    """Start or resume a session: restore what it stored; end idle sessions."""
    from contextkit.payloads.flows import retention

    now = names.now()
    if session:
        retention.wake(layout, session, now)
    retention.sweep_in_passing(layout, now, session)
    seen_agents.sweep(layout, now)


def end(layout: Layout, session: str) -> list[str]:
    """End a session: its payloads (resumable), active agent and state. Return one line for each.

    One line goes into the session's summary, or into the payloads' own log.
    """
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
    files.discard(_record(layout, session))
    if os.path.isdir(layout.handoffs):
        from contextkit.handoffs.documents import state

        if agent := state.end_session(layout, session):
            lines.append(f"session {session}: {agent} is no longer the active agent")
    sessions.forget(layout, session)
    return lines


# What it opened again after it had the receipt


def note_opened(layout: Layout, session: str, transcript: str) -> None:
    """Note in the ledger, once, what the session opened of its payloads by its host's own tools.

    A receipt names a file and lines, which the host's Read or a shell command opens, and no hook
    sees that; the transcript tells it, with the tokens of each result.
    """
    from contextkit.base import tokens

    lines = formats.tail(transcript, _LAST).split(b"\n")
    opened = dict(_calls(layout, lines))
    if not opened:
        return
    shown = {event.get("to", "") for event in ledger.read(layout) if event["event"] == ledger.SHOWN}
    for call, result in dict(_results(lines, opened)).items():
        if _CALL + call not in shown:
            size, where = tokens.estimate(result), _CALL + call
            ledger.note(layout, ledger.SHOWN, opened[call], tokens=size, to=where, session=session)


def _calls(layout: Layout, lines: list[bytes]) -> Iterator[tuple[str, str]]:
    """Yield the id of each call that names a payload's file, and the payload's address."""
    store = layout.shown(layout.payloads) + "/"
    for part in _parts(line for line in lines if store.encode() in line):
        call = part.get("id") or part.get("call_id")
        _, _, named = str(part.get("input") or part.get("arguments") or "").partition(store)
        path, ends, _ = named.partition(".md")
        ref = addresses.of(layout, layout.join(f"{store}{path}.md")) if ends else ""
        if call and ref:
            yield str(call), ref


def _results(lines: list[bytes], opened: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the id of each of these calls with what it returned."""
    ids = [call.encode() for call in opened]
    for part in _parts(line for line in lines if any(call in line for call in ids)):
        result = part.get("content") or part.get("output")
        call = str(part.get("tool_use_id") or part.get("call_id") or "")
        if result and call in opened:
            yield call, result if isinstance(result, str) else formats.texts_of(result)


def _parts(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the calls and results in lines of a transcript, of either form."""
    for line in map(formats.object_in, lines):
        if payload := formats.inside(line, "payload"):
            yield payload
        content = formats.inside(line, "message").get("content")
        if isinstance(content, list):
            yield from (block for block in content if isinstance(block, dict))

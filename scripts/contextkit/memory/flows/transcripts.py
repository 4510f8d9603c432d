"""Transcripts: tell the next session what the last one did after its last save.

A session that dies does not save its end, but the host's transcript has it. Claude Code writes one
JSONL file per session and Codex a rollout; both are read as the same events. At most the last 2 MB
are read. Nothing is invented: every text is quoted, and secrets are redacted before it is cut.
"""

from __future__ import annotations

import itertools
import os
import re

from contextkit.base import formats, markdown, names, outgoing, redaction, templates, tokens
from contextkit.base.records import Record
from contextkit.base.settings import Limits
from contextkit.base.type_names import Any, Sequence
from contextkit.hosts.documents import contracts
from contextkit.text import fitting
from contextkit.text.digests import failure_words
from contextkit.text.fitting import Part

Line = dict[str, Any]

MOST = 2 << 20  # bytes to read from the end of a transcript
MESSAGES, ROLLOUT = "messages", "rollout"  # transcript formats
FAILED, PASSED, RUNNING, REFUSED = "failed", "passed", "running", "refused"
ASKED, SAID, RAN, EDITED, CHOSE, STEPS = "asked", "said", "ran", "edited", "chose", "steps"

# Text that hosts insert as if the user had typed it, besides their tags.
_NOT_TYPED = (
    "# AGENTS.md instructions", "[Request interrupted", "Caveat: The messages below",
    "This session is being continued from a previous", "Warning: The maximum number of",
)  # fmt: skip
_REMINDER = re.compile(
    r"<system-reminder>(?:(?!<system-reminder>).)*?</system-reminder>\s*", re.DOTALL
)
_SLASH = re.compile(r"<command-name>\s*(/?[^<]+?)\s*</command-name>")
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_TYPED_SHELL = re.compile(r"<bash-input>(.*?)</bash-input>", re.DOTALL)
# The host's own commands; they say nothing about what the user wants done.
_HOUSEKEEPING = frozenset(
    "/clear /compact /exit /quit /model /config /status /context /cost /resume /login /logout /help"
    " /mcp /permissions /init /hooks /agents /doctor /usage /effort /memory /plugin /rewind".split()
)
_EDITS = {"Edit": "file_path", "MultiEdit": "file_path", "Write": "file_path",
          "NotebookEdit": "notebook_path"}  # fmt: skip
_SHELLS = ("Bash", "shell", "exec_command", "shell_command", "local_shell", "container.exec",
           "unified_exec")  # fmt: skip
_PATCHED = re.compile(
    r"^\*\*\* (?:Update|Add|Delete) File: (.+)$|^\*\*\* Move to: (.+)$", re.MULTILINE
)
_HEREDOC = re.compile(
    r"(?:>>?|\btee\s+(?:-a\s+)?)\s*([\w./@+-]+)\s*<<"
    r"|<<-?\s*['\"]?\w+['\"]?\s*>>?\s*([\w./@+-]+)"
)
_EXIT = re.compile(r"(?:exited with code|[Ee]xit code:?|exit status:?)\s*(-?\d+)")
_REJECTED = ("doesn't want to proceed", "was rejected", "rejected by user", "user rejected",
             "denied by the user")  # fmt: skip
_FRAME = (
    "Exit code", "Chunk ID:", "Wall time:", "Process exited", "Original token count", "Output:",
    "Total output lines", "<error>", "</error>", "Error: Exit code",
)  # fmt: skip


class Event(Record):
    """One event; `at` is UTC, as in `2026-11-22T05:13:12`, or empty.

    `text` is the request, statement, command, file, choice, or step; `state` and `why` say how a
    command ended or how far a step has come.
    """

    kind: str
    at: str = ""
    text: str = ""
    state: str = ""
    why: str = ""


def read(path: str, most: int = MOST) -> Conversation:
    """Read the end of the conversation in a transcript; empty if unreadable. Never raises."""
    lines = formats.tail(path, most).split(b"\n")
    parsed = [line for line in map(formats.object_in, lines) if line]
    conversation = Conversation()
    if any("payload" in line and "type" in line for line in parsed):
        conversation = _Rollout(parsed)
    elif any("sessionId" in line or "uuid" in line for line in parsed):
        conversation = _Messages()
    for line in parsed:
        moment = line.get("timestamp")
        if isinstance(moment, str) and len(moment) > 18:
            conversation.at = moment[:19]
        try:
            conversation.take(line)
        except (AttributeError, TypeError, ValueError, KeyError):
            continue  # a line in a format not known yet
    conversation.finish()
    return conversation


class Conversation:
    """The end of a session: calls wait for their result, and events stay in call order.

    folder: the session's working directory; form: of the transcript, '' if it is not a known one
    """

    form = ""

    def __init__(self) -> None:
        self.folder = ""
        self.session = ""
        self.at = ""
        self.events: list[Event] = []
        self._calls: dict[str, list[int]] = {}  # event indexes of each unfinished call
        self._steps: dict[str, Event] = {}

    def add(self, kind: str, text: str, state: str = "", why: str = "") -> None:
        if text := text.strip():
            self.events.append(Event(kind=kind, at=self.at, text=text, state=state, why=why))

    def known(self, folder: object, session: object) -> None:
        self.folder = folder if isinstance(folder, str) and folder else self.folder
        self.session = session if isinstance(session, str) and session else self.session

    def called(self, call: str, kind: str, text: str) -> None:
        """Record a call that runs a command or edits a file, until its result is known."""
        if text.strip():
            self._calls.setdefault(call, []).append(len(self.events))
            self.add(kind, text, RUNNING)

    def ended(self, call: str, state: str, why: str = "") -> None:
        """Record a call's result; a command that passed also edited the files named in it."""
        for at in self._calls.pop(call, []):
            event = self.events[at] = self.events[at].replace(state=state, why=why)
            written = _HEREDOC.findall(event.text) if "<<" in event.text else []
            paths = dict.fromkeys([*_patched(event.text), *map("".join, written)])
            for path in paths if (event.kind, state) == (RAN, PASSED) else ():
                if not path.startswith(("/dev/", "/tmp/")):
                    self.add(EDITED, path, PASSED)

    def answered(self, call: str, failed: bool, text: str, code: int | None = None) -> None:
        """Record the result of a call that the user may have refused."""
        if any(words in text[:300] for words in _REJECTED):
            reasons = [text.partition(mark)[2].strip() for mark in ("the user said:", "Reason:")]
            reason = next((reason for each in reasons if (reason := each.partition("\n")[0])), "")
            self.ended(call, REFUSED, f"refused by the user{': ' * bool(reason)}{reason}")
        else:
            self.ended(call, FAILED if failed else PASSED, _why(text, code) if failed else "")

    def typed(self, text: str) -> None:
        """Record the user's words, which hosts surround with text of their own."""
        text = _REMINDER.sub("", text).strip()
        is_of_host = text[:1] == "<" and outgoing.is_tag(text[1:])
        if shell := _TYPED_SHELL.search(text):
            self.add(ASKED, "! " + shell[1].strip())
        elif slash := _SLASH.search(text):
            arguments = _ARGUMENTS.search(text)
            name = "/" + slash[1].lstrip("/")
            if name not in _HOUSEKEEPING:
                self.add(ASKED, f"{name} {arguments[1].strip() if arguments else ''}")
        elif not (is_of_host or text.startswith(_NOT_TYPED)):
            self.add(ASKED, text)

    def list_steps(self, steps: list[tuple[str, str]]) -> None:
        self._steps = {
            text: Event(kind=STEPS, at=self.at, text=text, state=state) for text, state in steps
        }

    def take(self, line: Line) -> None:
        """Read a line; there is nothing to read in an unknown form."""

    def finish(self) -> None:
        """Drop edits that failed, and add the steps as they are at the end."""
        done = (e for e in self.events if e.kind != EDITED or e.state in (PASSED, RUNNING))
        self.events = [*done, *self._steps.values()]


class _Messages(Conversation):
    """Claude Code: `{"type": "user", "message": {"content": …}, "timestamp": …, …}` per line."""

    form = MESSAGES

    def __init__(self) -> None:
        super().__init__()
        self._asked: dict[str, str] = {}  # tool calls whose result is a choice, by call id
        self._tasks: dict[str, tuple[str, str]] = {}

    def take(self, line: Line) -> None:
        self.known(line.get("cwd"), line.get("sessionId"))
        if line.get("isSidechain"):
            return
        kind, attached = line.get("type"), formats.inside(line, "attachment")
        if attached.get("type") == "queued_command":
            self.typed(formats.texts_of(attached.get("prompt")))
        if kind not in ("user", "assistant") or line.get("isMeta") or line.get("isCompactSummary"):
            return
        content = line["message"]["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        results = [block for block in blocks if block.get("type") == "tool_result"]
        for block in blocks if kind == "assistant" else results:
            (self._reply if kind == "assistant" else self._result)(block)
        if kind == "user" and not results:
            self.typed(formats.texts_of(blocks))

    def _reply(self, block: Line) -> None:
        call, name, fields = str(block.get("id", "")), block.get("name"), block.get("input") or {}
        if block.get("type") == "text":
            self.add(SAID, block["text"])
        elif name in _EDITS:
            self.called(call, EDITED, str(fields.get(_EDITS[name], "")))
        elif name == "Bash":
            self.called(call, RAN, str(fields.get("command", "")))
        elif name == "TodoWrite":
            rows = fields.get("todos") or []
            self.list_steps([(str(r["content"]), str(r.get("status", ""))) for r in rows])
        elif name in ("AskUserQuestion", "ExitPlanMode", "TaskCreate"):
            self._asked[call] = str(fields.get("plan") or fields.get("subject") or "") or name
        elif name == "TaskUpdate":
            self._task(str(fields.get("taskId", "")), "", str(fields.get("status") or ""))

    def _task(self, number: str, subject: str, state: str) -> None:
        old = self._tasks.get(number, ("", "pending"))
        self._tasks[number] = (subject or old[0], state or old[1])
        named = [(text, state) for text, state in self._tasks.values() if text]
        self.list_steps([step for step in named if step[1] != "deleted"])

    def _result(self, block: Line) -> None:
        call = str(block.get("tool_use_id", ""))
        text = formats.texts_of(block.get("content"))
        failed, what = bool(block.get("is_error")), self._asked.pop(call, "")
        if not what:
            self.answered(call, failed, text)
        elif match := re.search(r"Task #(\d+) created", text):
            self._task(match[1], what, "pending")
        elif what == "AskUserQuestion" and not failed:
            # `User has answered your questions: "Which cache?"="Redis". You can …`
            answered = text.partition("questions:")[2] or text
            self.add(CHOSE, answered.partition(". You can now")[0])
        elif not failed:
            first = what.strip().partition("\n")[0]
            self.add(CHOSE, f"Plan approved: {markdown.heading(first)[1] or first}")


class _Rollout(Conversation):
    """Codex: `{"timestamp": …, "type": "response_item", "payload": {"type": …, …}}` per line.

    A user message is an event and also an item among the host's own; the events win.
    """

    form = ROLLOUT

    def __init__(self, lines: list[Line]) -> None:
        super().__init__()
        events = (line for line in lines if line.get("type") == "event_msg")
        self._told = {str(formats.inside(line, "payload").get("type")) for line in events}

    def take(self, line: Line) -> None:
        kind, payload = line.get("type"), line["payload"]
        call, what = str(payload.get("call_id") or payload.get("id") or ""), payload.get("type")
        if kind in ("session_meta", "turn_context"):
            self.known(payload.get("cwd"), payload.get("id"))
        elif kind == "event_msg" and what == "user_message":
            self.typed(payload["message"])
        elif kind == "event_msg" and what == "agent_message":
            self.add(SAID, payload["message"])
        elif kind == "event_msg" and what == "exec_command_end":
            output = str(payload.get("aggregated_output") or payload.get("stderr") or "")
            self._ended(call, payload.get("exit_code"), output)
        elif kind == "event_msg" and what == "patch_apply_end":
            self.ended(call, PASSED if payload.get("success") else FAILED)
        elif kind == "response_item" and what == "message":
            self._message(payload)
        elif kind == "response_item" and str(what).endswith("_call"):
            self._call(call, payload)
        elif kind == "response_item" and str(what).endswith("_call_output"):
            self._output(call, payload)

    def _message(self, payload: Line) -> None:
        text, role = formats.texts_of(payload.get("content")), payload.get("role")
        if role == "user" and "user_message" not in self._told:
            self.typed(text)
        elif role == "assistant" and "agent_message" not in self._told:
            self.add(SAID, text)

    def _call(self, call: str, payload: Line) -> None:
        name = str(payload.get("name", ""))
        raw = payload.get("arguments", payload.get("input", payload.get("action", "")))
        fields = formats.scan_json(raw) if isinstance(raw, str) and raw[:1] == "{" else raw
        text = fields if isinstance(fields, str) else ""
        fields = fields if isinstance(fields, dict) else {}
        if name == "apply_patch":
            for path in _patched(text or str(fields.get("input", ""))):
                self.called(call, EDITED, path)
        elif name == "update_plan":
            rows = fields.get("plan") or []
            self.list_steps([(str(r["step"]), str(r.get("status", ""))) for r in rows])
        elif name in _SHELLS or payload.get("type") == "local_shell_call":
            command = fields.get("command", fields.get("cmd", text))
            if isinstance(command, list):  # `["bash", "-lc", "make test"]` is `make test`
                words = [str(word) for word in command]
                inner = len(words) == 3 and words[1] in ("-lc", "-c")
                command = words[2] if inner else " ".join(words)
            self.called(call, RAN, str(command))

    def _output(self, call: str, payload: Line) -> None:
        output = payload.get("output", "")
        code: object = None
        if isinstance(output, dict):
            code = 0 if output.get("success", True) else 1
            output = output.get("content", "")
        text = formats.texts_of(output)
        if text[:1] == "{":
            try:
                result = formats.scan_json(text)
                text, code = str(result["output"]), result["metadata"]["exit_code"]
            except (ValueError, KeyError, TypeError):
                pass
        elif match := _EXIT.search(text[:400]):
            code = int(match[1])
        self._ended(call, code, text)

    def _ended(self, call: str, code: object, text: str) -> None:
        status = code if type(code) is int else None
        if status is not None or "session ID" not in text[:300]:  # otherwise it is still running
            self.answered(call, bool(status), text, status)


def _patched(patch: str) -> list[str]:
    return [(first or second).strip() for first, second in _PATCHED.findall(patch)]


def _why(text: str, code: int | None = None) -> str:
    """Why a command failed, as in `exit 1: AssertionError: …`: its last line about trouble."""
    match = _EXIT.search(text[:400])
    status = code if code is not None else int(match[1]) if match else None
    lines = [line.strip() for line in text[-20_000:].split("\n")]
    lines = [line for line in lines if line and not line.startswith(_FRAME)]
    reasons = list(filter(failure_words.says_failure, lines)) or lines
    ended = f"exit {status}" if status is not None else "failed"
    return f"{ended}: {reasons[-1][:300]}" if reasons else ended


MOST_TOKENS = 800
_HOOK_BYTES = 256 << 10  # bytes of a transcript that a hook reads
_HOOK_CHARACTERS = 32_000  # characters of its events
_DECIDES = re.compile(
    r"\b(?:decid(?:ed|e|ing)|decisions?|chose|chosen|choosing|opt(?:ed|ing) for|go(?:ing)? with"
    r"|settled on|agreed|rejected|ruled out|instead of|rather than|in favou?r of|won't|will not"
    r"|must not|entschieden|entscheidung|stattdessen|verworfen|nehmen wir|décidé|décision"
    r"|decidid[oa]|decisión|decidi(?:mos|u)|decisão)\b|决定|決定|採用",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?。])\s+|\n+")
_EDITED = "Files edited"  # all in one line
_LATE = 1 << 20  # the steps of cutting before the last request is cut; later ones are multiples
_USUAL = Limits()
_OPEN = ("in_progress", "pending")


class CaughtUp(Record):
    """The events since a save; `text` has them within the requested tokens, '' if there are none.

    `whole` is everything said and done, as far as it was read.
    """

    host: str = ""
    session: str = ""
    requests: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    running: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    open_steps: tuple[str, ...] = ()
    last_said: str = ""
    text: str = ""
    whole: str = ""


def catch_up(
    path: str,
    since: str = "",
    root: str = "",
    limits: Limits = _USUAL,
    in_hook: bool = False,
) -> CaughtUp:
    """The work of the session with the transcript `path` since `since` (ISO, UTC). Never raises.

    Paths are made relative to `root` and to the session's folder. A host waits for a hook, so with
    `in_hook` only the last events are read: 256 KB of the file, 32,000 characters of their text.
    """
    conversation = read(path, _HOOK_BYTES if in_hook else MOST)
    events = [each for each in conversation.events if not each.at or each.at >= since[:19]]
    events = [
        Event(**redaction.cleaned(vars(event), limits.secrets_allow))
        for event in (_last(events, _HOOK_CHARACTERS) if in_hook else events)
    ]
    hosts = contracts.every() if conversation.form else ()
    ran = [e for e in events if e.kind == RAN]
    steps = [e for e in events if e.kind == STEPS and e.state in _OPEN]
    caught = CaughtUp(
        host=next((host.title for host in hosts if host.transcript_form == conversation.form), ""),
        session=conversation.session,
        requests=_texts(events, ASKED),
        edited=_edited(events, root, conversation.folder),
        failed=_failed(ran),
        running=tuple(_command(e.text) for e in ran if e.state == RUNNING),
        decisions=_decisions(events),
        open_steps=tuple(f"{names.one_line(e.text)} ({e.state.replace('_', ' ')})" for e in steps),
        last_said=(_texts(events, SAID) or ("",))[-1],
        whole="\n".join(filter(None, (text for e in events for text in (e.text, e.why)))),
    )
    return caught.replace(text=_fitted(caught, limits.tokenizer))


def _last(events: list[Event], most: int) -> list[Event]:
    """The last events that hold at most `most` characters, and at least one."""
    held = itertools.accumulate(len(e.text) + len(e.why) for e in reversed(events))
    return events[-max(1, sum(size <= most for size in held)) :]


def _texts(events: list[Event], kind: str) -> tuple[str, ...]:
    """The texts of a kind, in order; a repeated text counts at its last place."""
    return tuple(dict.fromkeys(e.text for e in reversed(events) if e.kind == kind))[::-1]


def _edited(events: list[Event], *folders: str) -> tuple[str, ...]:
    """The files edited, most recent first."""
    above = [place.rstrip("/") + "/" for folder in filter(None, folders)
             for place in (folder, os.path.realpath(folder))]  # fmt: skip
    paths: dict[str, None] = {}
    for path in reversed(_texts(events, EDITED)):
        for place in above:
            path = path.removeprefix(place)
        paths[names.one_line(path)] = None
    return tuple(paths)


def _failed(ran: list[Event]) -> tuple[str, ...]:
    """The commands that failed and did not pass later, most recent first."""
    last: dict[str, Event] = {}
    for event in (event for event in reversed(ran) if event.state != RUNNING):
        last.setdefault(event.text, event)
    failed = [event for event in last.values() if event.state != PASSED]
    return tuple(f"{_command(e.text)} ({names.one_line(e.why)[:200]})" for e in failed)


def _command(text: str) -> str:
    """A command as a one-line code span, clipped if long."""
    first = names.clipped(names.one_line(text), 120)
    return f"`{first.replace('`', chr(39))}`"


def _decisions(events: list[Event]) -> tuple[str, ...]:
    """The choices made, and the sentences in which the agent states a decision, newest first."""
    texts = []
    for event in reversed(events):
        if event.kind == CHOSE:
            texts.append(event.text)
        elif event.kind == SAID:
            text = "\n".join(line for _, line in markdown.outside_fences(event.text))
            sentences = [s for s in _SENTENCE.split(text) if _DECIDES.search(s)]
            texts += [s.strip().lstrip("#>-*+ ").replace("**", "") for s in reversed(sentences)]
    clean = [names.one_line(text)[:400] for text in texts]
    return tuple(dict.fromkeys(text for text in clean if len(text) > 11))


def _fitted(caught: CaughtUp, tokenizer: str) -> str:
    """The part that fits; earlier requests are cut first, then long lists, then the dialogue."""
    earlier = [Part(text, ((at, 0),)) for at, text in enumerate(caught.requests[:-1])]
    last = [Part(text, ((_LATE, 1200), (3 * _LATE, 500), (5 * _LATE, 60)))
            for text in caught.requests[-1:]]  # fmt: skip
    last_said = Part(caught.last_said, ((len(earlier), 900), (_LATE + 1, 400), (3 * _LATE + 1, 0)))
    lists = {
        _EDITED: caught.edited, "Commands that failed": caught.failed,
        "Running when it ended": caught.running, "Decisions": caught.decisions,
        "Open steps": caught.open_steps,
    }  # fmt: skip
    listed = [
        Part(text, (((1 if row >= 6 else 3 if row >= 2 else 5) * _LATE - 1 - row, 0),))
        for texts in lists.values()
        for row, text in enumerate(texts)
    ]

    def made(kept: Sequence[str]) -> str:
        quoted = iter([text.replace("\r\n", "\n").replace("\n", "\n> ") for text in kept])
        requests = [text for _, text in zip(caught.requests, quoted, strict=False)]
        statement, rest = next(quoted), iter(kept[len(requests) + 1 :])
        shown = []
        for name, entries in lists.items():
            own = [text for _, text in zip(entries, rest, strict=False) if text]
            more = f" (+{len(entries) - len(own)} more)" if len(own) < len(entries) else ""
            line = ", ".join(own) if name == _EDITED else ""
            shown += [{"heading": name, "line": line, "texts": own, "more": more}] if own else []
        return templates.render(
            "catch_up.md", requests=[text for text in requests if text], last=statement,
            earlier=requests.count(""), lists=shown,
        ).strip()  # fmt: skip

    def fits(kept: Sequence[str]) -> bool:
        return tokens.within(made(kept), MOST_TOKENS, tokenizer)

    fitted = fitting.fit([*earlier, *last, last_said, *listed], fits)
    return made(fitted) if fits(fitted) else ""

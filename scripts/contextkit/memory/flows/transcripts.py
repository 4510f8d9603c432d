"""Transcripts: tell the next session what the last one did after its last save.

A session that dies does not save its end, but the host's transcript has it: the user's last
requests, the files edited, the commands that failed, the decisions and the open steps. `catch_up`
summarizes them in few tokens. Nothing is invented: every text is quoted from the transcript, and
secrets are redacted before anything is cut.
"""

from __future__ import annotations

import os
import re

from contextkit.base import markdown, names, redaction, stores, templates, tokens
from contextkit.base.records import Record
from contextkit.base.settings import Limits
from contextkit.base.type_names import Sequence
from contextkit.hosts.documents import contracts
from contextkit.memory.documents import conversations
from contextkit.memory.documents.conversations import Event
from contextkit.text import fitting
from contextkit.text.fitting import Part

MOST_TOKENS = 800
_HOOK_BYTES = 256 << 10  # bytes of a transcript that a hook reads
_HOOK_CHARACTERS = 32_000  # characters of its events
_LAST_DAYS = 14  # day folders to search for a session, at most
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
    """What happened since a save; `text` tells it within the requested tokens, '' if nothing did.

    Paths in `edited` are relative to the session's folder if below it. `whole` is all that was said
    and done, as far as it was read.
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

    @property
    def empty(self) -> bool:
        return not self.text


def catch_up(
    path: str,
    since: str = "",
    root: str = "",
    limits: Limits = _USUAL,
    in_hook: bool = False,
) -> CaughtUp:
    """Return what the session with the transcript `path` did since the time `since` (ISO, UTC).

    Reads at most the last 2 MB and never raises for its contents. Paths are made relative to `root`
    and to the session's folder. A host waits for a hook, so with `in_hook` only the last events are
    read: 256 KB of the file, 32,000 characters of their text.
    """
    conversation = conversations.read(path, _HOOK_BYTES if in_hook else conversations.MOST)
    events = [each for each in conversation.events if not each.at or each.at >= since[:19]]
    events = _redacted(_last(events, _HOOK_CHARACTERS) if in_hook else events, limits.secrets_allow)
    hosts = contracts.every() if conversation.form else ()
    ran = [e for e in events if e.kind == conversations.RAN]
    steps = [e for e in events if e.kind == conversations.STEPS and e.state in _OPEN]
    caught = CaughtUp(
        host=next((host.title for host in hosts if host.transcript_form == conversation.form), ""),
        session=conversation.session,
        requests=_texts(events, conversations.ASKED),
        edited=_edited(events, root, conversation.folder),
        failed=_failed(ran),
        running=tuple(_command(e.text) for e in ran if e.state == conversations.RUNNING),
        decisions=_decisions(events),
        open_steps=tuple(f"{names.one_line(e.text)} ({e.state.replace('_', ' ')})" for e in steps),
        last_said=(_texts(events, conversations.SAID) or ("",))[-1],
        whole="\n".join(filter(None, (text for e in events for text in (e.text, e.why)))),
    )
    return caught.replace(text=_fitted(caught, MOST_TOKENS, limits.tokenizer))


def _last(events: list[Event], most: int) -> list[Event]:
    """The last events that hold at most `most` characters, and at least one."""
    held, first = 0, len(events)
    for number in range(len(events) - 1, -1, -1):
        held += len(events[number].text) + len(events[number].why)
        if held > most and first < len(events):
            break
        first = number
    return events[first:]


def _redacted(events: list[Event], allowed: tuple[str, ...]) -> list[Event]:
    def clean(text: str) -> str:
        return redaction.redacted(text, allowed)[0] if text else text

    return [event.replace(text=clean(event.text), why=clean(event.why)) for event in events]


def _texts(events: list[Event], kind: str) -> tuple[str, ...]:
    """The texts of a kind, in order; a repeated text counts where it was said last."""
    last = {each.text: number for number, each in enumerate(events) if each.kind == kind}
    return tuple(sorted(last, key=lambda text: last[text]))


def _edited(events: list[Event], *folders: str) -> tuple[str, ...]:
    """The files edited, most recent first."""
    paths = []
    for event in reversed(events):
        if event.kind == conversations.EDITED:
            path = event.text
            for folder in filter(None, folders):
                for spelling in (folder, os.path.realpath(folder)):
                    path = path.removeprefix(spelling.rstrip("/") + "/")
            paths.append(names.one_line(path))
    return tuple(dict.fromkeys(paths))


def _failed(ran: list[Event]) -> tuple[str, ...]:
    """The commands that failed and did not pass later, most recent first."""
    ended: dict[str, Event] = {}
    for event in ran:
        if event.state != conversations.RUNNING:
            ended.pop(event.text, None)
            ended[event.text] = event
    return tuple(
        f"{_command(e.text)} ({names.one_line(e.why)[:200]})"
        for e in reversed(ended.values())
        if e.state != conversations.PASSED
    )


def _command(text: str) -> str:
    """A command as a one-line code span, clipped if long."""
    first = names.clipped(names.one_line(text), 120)
    return f"`{first.replace('`', chr(39))}`"


def _decisions(events: list[Event]) -> tuple[str, ...]:
    """The choices made, and the sentences in which the agent states a decision, newest first."""
    texts = []
    for event in reversed(events):
        if event.kind == conversations.CHOSE:
            texts.append(event.text)
        elif event.kind == conversations.SAID:
            text = "\n".join(line for _, line in markdown.outside_fences(event.text))
            sentences = [s for s in _SENTENCE.split(text) if _DECIDES.search(s)]
            texts += [s.strip().lstrip("#>-*+ ").replace("**", "") for s in reversed(sentences)]
    clean = [names.one_line(text)[:400] for text in texts]
    return tuple(dict.fromkeys(text for text in clean if len(text) > 11))


# Fitting into the requested tokens


def _fitted(caught: CaughtUp, max_tokens: int, tokenizer: str) -> str:
    """What happened, as much of it as fits."""

    def fits(kept: Sequence[str]) -> bool:
        return tokens.within(_rendered(caught, kept), max_tokens, tokenizer)

    fitted = fitting.fit(_parts(caught), fits)
    return _rendered(caught, fitted) if fits(fitted) else ""


def _lists(caught: CaughtUp) -> dict[str, tuple[str, ...]]:
    return {
        _EDITED: caught.edited, "Commands that failed": caught.failed,
        "Running when it ended": caught.running, "Decisions": caught.decisions,
        "Open steps": caught.open_steps,
    }  # fmt: skip


def _parts(caught: CaughtUp) -> list[Part]:
    """What is cut, in this order: earlier requests, long lists, what was said and asked last."""
    earlier = [Part(text, ((at, 0),)) for at, text in enumerate(caught.requests[:-1])]
    last = [Part(text, ((_LATE, 1200), (3 * _LATE, 500), (5 * _LATE, 60)))
            for text in caught.requests[-1:]]  # fmt: skip
    last_said = Part(caught.last_said, ((len(earlier), 900), (_LATE + 1, 400), (3 * _LATE + 1, 0)))
    listed = [
        Part(text, (((1 if row >= 6 else 3 if row >= 2 else 5) * _LATE - 1 - row, 0),))
        for texts in _lists(caught).values()
        for row, text in enumerate(texts)
    ]
    return [*earlier, *last, last_said, *listed]


def _rendered(caught: CaughtUp, kept: Sequence[str]) -> str:
    count = len(caught.requests)
    requests, last, rest = kept[:count], kept[count], list(kept[count + 1 :])
    lists = []
    for heading, entries in _lists(caught).items():
        texts, rest = list(filter(None, rest[: len(entries)])), rest[len(entries) :]
        if texts:
            more = f" (+{len(entries) - len(texts)} more)" if len(texts) < len(entries) else ""
            line = ", ".join(texts) if heading == _EDITED else ""
            lists.append({"heading": heading, "line": line, "texts": texts, "more": more})
    return templates.render(
        "catch_up.md",
        requests=[_quoted(text) for text in requests if text],
        earlier=sum(not text for text in requests),
        lists=lists,
        last=_quoted(last),
    ).strip()


def _quoted(text: str) -> str:
    """`text` as a Markdown quote, without the first `> `."""
    return text.replace("\r\n", "\n").replace("\n", "\n> ")


# Where hosts keep transcripts


def newest(root: str, without: str = "", after: str = "") -> str:
    """Return the transcript of the last session, of any host, that worked in `root`, or ''.

    `without` is the id of a session to skip, usually the calling one. Only transcripts written
    since the time `after` count.
    """
    limit = names.moment(after)
    kept = [folder for host in contracts.every() for folder in folders(host, root)]
    recent = [file for folder in kept for file in _files(folder) if file[0] >= limit]
    for _, path in sorted(recent, reverse=True)[:40]:
        if without and without in os.path.basename(path):
            continue
        folder = conversations.folder_of(path)
        if folder and os.path.realpath(folder) == os.path.realpath(root):
            return path
    return ""


def folders(host: contracts.Host, root: str) -> list[str]:
    """The folders where a host keeps a project's transcripts: by path, or the last few days'."""
    kept = os.path.join(host.folder(), host.transcripts) if host.transcripts else ""
    if kept.endswith("{days}"):
        days = [os.path.dirname(kept)]
        for _ in range(3):  # year, month, day
            days = [os.path.join(at, name) for at in days for name in stores.names_in(at)
                    if name.isdigit()]  # fmt: skip
            days = sorted(days)[-_LAST_DAYS:]
        return days
    paths = dict.fromkeys((root, os.path.realpath(root))) if kept else ()
    # as hosts turn a path into the name of a folder
    dashed = ("".join(c if c.isalnum() and c.isascii() else "-" for c in path) for path in paths)
    return [kept.replace("{project}", name) for name in dashed]


def _files(folder: str) -> list[tuple[float, str]]:
    files = []
    for name in stores.names_in(folder):
        path = os.path.join(folder, name)
        if name.endswith(".jsonl") and os.path.isfile(path):
            files.append((os.stat(path).st_mtime, path))
    return files

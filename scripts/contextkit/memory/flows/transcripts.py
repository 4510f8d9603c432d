"""Transcripts: tell the next session what the last one did after its last save.

A session that dies does not save its end, but the host's transcript has it: the user's last
requests, the files edited, the commands that failed, the decisions and the open steps. `catch_up`
summarizes them in few tokens. Nothing is invented: every text is quoted from the transcript, and
secrets are redacted before anything is cut.
"""

from __future__ import annotations

import os
import re

from contextkit.base import names, redaction, templates, tokens
from contextkit.base.records import Record
from contextkit.base.type_names import Iterable
from contextkit.hosts.documents import contracts
from contextkit.memory.documents import conversations
from contextkit.memory.documents.conversations import Event

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
_HEADING = 9  # tokens of a heading and the lines around it
_OPEN = ("in_progress", "pending")


class CaughtUp(Record):
    """What happened since a save; `text` tells it within the requested tokens.

    Empty if nothing did. Paths in `edited` are relative to the session's folder if below it.
    `left_out` counts what the text does not mention.
    """

    host: str = ""
    session: str = ""
    path: str = ""
    since: str = ""
    ended: str = ""
    requests: tuple[str, ...] = ()
    edited: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    running: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    open_steps: tuple[str, ...] = ()
    last_said: str = ""
    text: str = ""
    left_out: int = 0
    whole: str = ""  # all that was said and done since, as far as it was read

    @property
    def empty(self) -> bool:
        return not self.text


def catch_up(
    path: str,
    since: str = "",
    max_tokens: int = MOST_TOKENS,
    root: str = "",
    allowed: Iterable[str] = (),
    in_hook: bool = False,
    tokenizer: str = tokens.DEFAULT,
) -> CaughtUp:
    """Return what the session with the transcript `path` did since the time `since` (ISO, UTC).

    Reads at most the last 2 MB and never raises for its contents. Paths are made relative to `root`
    and to the session's folder; `allowed` is as for `redaction`. A host waits for a hook, so with
    `in_hook` only the last events are read: 256 KB of the file, 32,000 characters of their text.
    """
    found = conversations.read(path, _HOOK_BYTES if in_hook else conversations.MOST)
    events = [each for each in found.events if not each.at or each.at >= since[:19]]
    events = _redacted(_last(events, _HOOK_CHARACTERS) if in_hook else events, tuple(allowed))
    caught = CaughtUp(
        host=_title(found.form),
        session=found.session,
        path=path,
        since=since,
        ended=f"{found.ended}Z" if found.ended else "",
        requests=_texts(events, conversations.ASKED),
        edited=_edited(events, root, found.folder),
        failed=_failed(events),
        running=tuple(
            _command(e.text)
            for e in events
            if e.kind == conversations.RAN and e.state == conversations.RUNNING
        ),
        decisions=_decisions(events),
        open_steps=tuple(
            f"{names.one_line(e.text)} ({e.state.replace('_', ' ')})"
            for e in events
            if e.kind == conversations.STEPS and e.state in _OPEN
        ),
        last_said=(_texts(events, conversations.SAID) or ("",))[-1],
        whole="\n".join(filter(None, (text for e in events for text in (e.text, e.why)))),
    )
    happened = (
        caught.requests or caught.edited or caught.failed or caught.running or caught.decisions
    )
    if not happened and not caught.last_said:
        return CaughtUp(path=path)
    return _fitted(caught, max_tokens, tokenizer)


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
    found = []
    for event in reversed(events):
        if event.kind == conversations.EDITED:
            path = event.text
            for folder in filter(None, folders):
                for known in (folder, os.path.realpath(folder)):
                    path = path.removeprefix(known.rstrip("/") + "/")
            found.append(names.one_line(path))
    return tuple(dict.fromkeys(found))


def _failed(events: list[Event]) -> tuple[str, ...]:
    """The commands that failed and did not pass later, most recent first."""
    ended: dict[str, Event] = {}
    for event in events:
        if event.kind == conversations.RAN and event.state != conversations.RUNNING:
            ended.pop(event.text, None)
            ended[event.text] = event
    bad = (conversations.FAILED, conversations.REFUSED)
    return tuple(
        f"{_command(e.text)} ({names.one_line(e.why)[:200]})"
        for e in reversed(ended.values())
        if e.state in bad
    )


def _command(text: str) -> str:
    """A command as a one-line code span, clipped if long."""
    first = names.clipped(names.one_line(text), 120)
    return f"`{first.replace('`', chr(39))}`"


def _decisions(events: list[Event]) -> tuple[str, ...]:
    """The choices made, and the sentences in which the agent states a decision, newest first."""
    found = []
    for event in reversed(events):
        if event.kind == conversations.CHOSE:
            found.append(event.text)
        elif event.kind == conversations.SAID:
            said = [s for s in _SENTENCE.split(_without_code(event.text)) if _DECIDES.search(s)]
            found += [_bare(sentence) for sentence in reversed(said)]
    clean = [names.one_line(text)[:400] for text in found]
    return tuple(dict.fromkeys(text for text in clean if len(text) > 11))


def _bare(sentence: str) -> str:
    return sentence.strip().lstrip("#>-*+ ").replace("**", "")


def _without_code(text: str) -> str:
    from contextkit.base import markdown

    return "\n".join(line for _, line in markdown.outside_fences(text))


# Fitting into the requested tokens


class _Selection:
    """What is included so far, and how many tokens are left."""

    def __init__(self, room: int) -> None:
        self.room = room
        self.requests: list[str] = []
        self.edited: list[str] = []
        self.lists: dict[str, list[str]] = {}
        self.last = ""

    def take(self, place: list[str], text: str, most: int, cut: bool = False) -> bool:
        """Add `text` to `place` if it fits into `most` tokens; with `cut`, add what fits of it."""
        most = min(most, self.room)
        size = tokens.estimate(text) + (3 if place else _HEADING)
        if size > most and cut and most > 20:
            text = tokens.clip(text[: 20 * most], most - 12) + " (cut)"
            size = tokens.estimate(text) + 3
        if size > most:
            return False
        place.append(text)
        self.room -= size
        return True


def _fitted(caught: CaughtUp, max_tokens: int, tokenizer: str) -> CaughtUp:
    """Return `caught` with its text: the last request first, then a share for each kind.

    What one kind does not need goes to the others: earlier requests, then what was said last.
    """
    room = int(max_tokens / tokens.CAUTION) - 16  # room for the heading of the requests
    while True:
        chosen, count = _select(caught, max(room, 12))
        text = _rendered(chosen, caught)
        if tokens.within(text, max_tokens, tokenizer) or room < 12:
            break
        room = min(room * 9 // 10, room * max_tokens // tokens.size(text, tokenizer))
    return caught.replace(text=text if room >= 12 else "", left_out=count)


def _select(caught: CaughtUp, room: int) -> tuple[_Selection, int]:
    chosen = _Selection(room)
    asked = list(reversed(caught.requests))
    if asked:
        chosen.take(chosen.requests, asked[0], room * 2 // 5, cut=True)
    lists = {"Commands that failed": caught.failed, "Running when it ended": caught.running,
             "Decisions": caught.decisions, "Open steps": caught.open_steps}  # fmt: skip
    left: list[tuple[list[str], str]] = []
    share = max(room // 8, 24)
    for place, texts in ((chosen.edited, caught.edited), *((chosen.lists.setdefault(h, []), t)
                                                         for h, t in lists.items())):  # fmt: skip
        spent = 0
        for text in texts:
            before = chosen.room
            if spent < share and chosen.take(place, text, share, cut=place is not chosen.edited):
                spent += before - chosen.room
            else:
                left.append((place, text))
    for text in asked[1:]:
        if not chosen.take(chosen.requests, text, room):
            break  # a gap between two requests would mislead
    left = [(place, text) for place, text in left if not chosen.take(place, text, room)]
    if caught.last_said:
        said: list[str] = []
        chosen.take(said, caught.last_said, max(room // 6, chosen.room), cut=True)
        chosen.last = "".join(said)
    return chosen, len(left) + len(caught.requests) - len(chosen.requests)


def _rendered(chosen: _Selection, caught: CaughtUp) -> str:
    edited = ", ".join(chosen.edited)
    if len(chosen.edited) < len(caught.edited):
        edited += f" (+{len(caught.edited) - len(chosen.edited)} more)"
    return templates.render(
        "catch_up.md",
        requests=[_quoted(text) for text in reversed(chosen.requests)],
        earlier=len(caught.requests) - len(chosen.requests),
        edited=edited.strip(),
        lists=[{"heading": h, "texts": texts} for h, texts in chosen.lists.items() if texts],
        last=_quoted(chosen.last),
    ).strip()


def _quoted(text: str) -> str:
    """`text` as a Markdown quote, without the first `> `."""
    return text.replace("\r\n", "\n").replace("\n", "\n> ")


# Where hosts keep transcripts


def _title(form: str) -> str:
    """The name of the host with this transcript format."""
    known = (host.title for host in contracts.every() if host.transcript_form == form)
    return next(known, "") if form else ""


def newest(root: str, without: str = "", after: str = "") -> str:
    """Return the transcript of the last session, of any host, that worked in `root`, or ''.

    `without` is the id of a session to skip, usually the calling one. Only transcripts written
    since the time `after` count.
    """
    limit = names.moment(after)
    kept = [folder for host in contracts.every() for folder in folders(host, root)]
    found = [one for folder in kept for one in _files(folder) if one[0] >= limit]
    for _, path in sorted(found, reverse=True)[:40]:
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
            days = [os.path.join(at, name) for at in days for name in _names(at) if name.isdigit()]
            days = sorted(days)[-_LAST_DAYS:]
        return days
    paths = dict.fromkeys((root, os.path.realpath(root))) if kept else ()
    return [kept.replace("{project}", _dashed(path)) for path in paths]


def _dashed(path: str) -> str:
    """A path as hosts turn it into a folder name: every other character becomes a hyphen."""
    return "".join(char if char.isalnum() and char.isascii() else "-" for char in path)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _files(folder: str) -> list[tuple[float, str]]:
    found = []
    for name in _names(folder):
        path = os.path.join(folder, name)
        if name.endswith(".jsonl") and os.path.isfile(path):
            found.append((os.stat(path).st_mtime, path))
    return found

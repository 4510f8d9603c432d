"""Save a note for the next context capsule; list what is open; mark what was taken up."""

from __future__ import annotations

import os

from contextkit.base import cli, names, redaction
from contextkit.base.commands import JSON, REDACT, Arguments, Option, Program, Rows, command
from contextkit.base.errors import bad_input
from contextkit.base.layout import Layout
from contextkit.base.type_names import Any
from contextkit.capsules.documents import reminders

_TEXTS = (".md", ".markdown", ".txt")  # suffixes of files that may be an inbox
INBOX = Option("file", "another inbox inside the repository", also=("capsule-file",))


@command(
    "save a note for the next capsule",
    Option("m", "what to remember", also=("message",), required=True),
    Option("topic", "a word to find it by"),
    Option("next_step", "what to do about it first"),
    Option("tags", "separated by spaces or commas", kind="words", single="tag"),
    INBOX,
    REDACT,
)
def add(layout: Layout, args: Arguments) -> str:
    path = inbox(layout, args)
    typed = {name: getattr(args, name) for name in ("m", "topic", "next_step", "tags")}
    note, topic, step, tags = redaction.typed(typed, layout.allowed, args.redact).values()
    made = reminders.make(note, topic, step, tags, names.now())
    saved = reminders.save(layout, path, made)
    return f"Reminder {saved.id} saved to {layout.shown(path)} at {saved.taken}"


@command(
    "list the open reminders",
    Option("tag", "only those with this tag"),
    Option("topic", "only those on this topic"),
    Option("all", "include those that are done", kind="flag"),
    INBOX,
    JSON,
)
def list_(layout: Layout, args: Arguments) -> Rows:
    topic = names.one_line(args.topic)
    loaded = reminders.load_all(layout, inbox(layout, args)).whole()
    listed = [r for r in loaded.documents if args.all or not r.done]
    listed = [r for r in listed if not args.tag or args.tag in r.tags]
    listed = [r for r in listed if topic in ("", r.topic)]
    place = "" if args.file else "reminder:"  # an address refers to the inbox in the settings
    return Rows(
        columns=(("id", "id"), ("taken", "taken"), ("state", "state"), ("topic", "topic"),
                 ("note", "note", _summary)),
        rows=[{**vars(r), "state": "done" if r.done else "open", "ref": place and place + r.id}
              for r in listed],
        nothing="No reminders." if args.all else "No open reminders.",
    )  # fmt: skip


def _summary(row: dict[str, Any]) -> str:
    step = f" → {row['next_step']}" if row["next_step"] else ""
    tags = f" [{', '.join(row['tags'])}]" if row["tags"] else ""
    return f"{row['note']}{step}{tags}"


@command(
    "mark reminders as done",
    Option("id", "as `reminders` shows them", kind="words", required=True, positional=True),
    Option("into", "where it went: a capsule, a plan entry, or dropped"),
    INBOX,
    REDACT,
)
def done(layout: Layout, args: Arguments) -> str:
    ids = [word.removeprefix("reminder:") for word in args.id]  # an address is accepted too
    into = names.one_line(redaction.checked(args.into, "into", layout.allowed, args.redact))
    opened = reminders.finish(layout, inbox(layout, args), ids, into, names.now())
    for identity in (wanted for wanted in ids if wanted not in opened):
        cli.say(f"{identity} was already done; nothing changed")
    return "\n".join(ids)


def inbox(layout: Layout, args: Arguments) -> str:
    if not args.file:
        return layout.typed(layout.reminders, "reminders")
    if args.file == "-":
        raise bad_input("file: an inbox is a file, not standard input")
    path = layout.typed(args.file, "file")
    if not path.endswith(_TEXTS) and os.path.isfile(path):
        shown = names.brief(args.file)
        raise bad_input(f"file: {shown} is no inbox, such as notes.md: name it in m= instead")
    return path


PROGRAM = Program(name="remember_later", about=__doc__ or "", default="add",
                  commands=(add, list_, done))  # fmt: skip

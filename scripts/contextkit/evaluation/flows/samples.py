"""The texts that are tried, each with what we hand over in its place."""

from __future__ import annotations

import os

from contextkit.base import files, names, redaction, tokens
from contextkit.base.errors import ContextError, bad_input
from contextkit.base.layout import Layout
from contextkit.base.records import NamedTuple
from contextkit.base.type_names import Iterator
from contextkit.payloads.documents import receipts
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.documents.receipts import Receipt
from contextkit.payloads.flows import telling
from contextkit.text import blocks

_LARGEST = 400_000  # characters of a text; a model could not read a longer one whole
_SMALLEST = 500  # tokens below which nothing is stored
_HEADINGS, _TITLE = 60, 80  # headings of an outline, and characters of each


class Sample(NamedTuple):
    """`whole` is the text, `handed_over` what stands in its place; both without secrets."""

    name: str
    kind: str
    whole: str
    handed_over: str


def stored(layout: Layout) -> Iterator[Sample]:
    """Every payload, recovery and handoff that is stored here."""
    for payload in payloads.load_all(layout).documents:
        yield from _text(layout, f"payload:{payload.topic}", payload.content, payload.topic)
    yield from _recoveries(layout)
    yield from _handoffs(layout)


def in_folder(layout: Layout, folder: str) -> Iterator[Sample]:
    """Every text in a folder, as if it had just been stored."""
    if not os.path.isdir(folder):
        raise bad_input(f"folder: {names.quoted(folder)} is not a folder")
    for here, inside, file_names in os.walk(folder):
        inside.sort()
        for name in sorted(file_names):
            path = os.path.join(here, name)
            try:
                text = files.read(path)
            except ContextError:
                continue  # not a text
            yield from _text(layout, os.path.relpath(path, folder), text, name)


def _text(layout: Layout, name: str, text: str, topic: str) -> Iterator[Sample]:
    if len(text) > _LARGEST or tokens.estimate(text) <= _SMALLEST:
        return
    bare = Receipt(path=name, rows=(), key_findings="", tokens_stored=tokens.estimate(text))
    told = telling.tell(layout, telling.Asked(bare, topic, text)).receipt
    yield _clean(layout, Sample(name, told.kind or "text", text, receipts.render(told)))


def _recoveries(layout: Layout) -> Iterator[Sample]:
    """For each task, all that is stored about it, and what a fresh agent is told."""
    from contextkit.memory.flows import recovery, recovery_report, upkeep

    by_task: dict[str, list[str]] = {}
    for document in upkeep.listed(layout):
        by_task.setdefault(document["task"], []).append(document["path"])
    for task, paths in sorted(by_task.items()):
        whole = "\n\n".join(files.read(path) for path in paths)
        recovered = recovery.load(layout, task, names.now())
        made = recovery_report.make(layout, recovered, layout.limits.memory_recover_tokens)
        if tokens.estimate(whole) > _SMALLEST and tokens.estimate(made.text) < tokens.estimate(
            whole
        ):
            yield _clean(layout, Sample(f"plan:{task}", "recovery", whole, made.text))


def _handoffs(layout: Layout) -> Iterator[Sample]:
    """For each artifact whose story is there, the story and the artifact itself."""
    from contextkit.handoffs.documents import artifacts, state

    current, _ = state.current(layout)
    by_path, _ = artifacts.read(layout, state.everywhere(current))
    for path, handoff in by_path.items():
        story = files.read_if_there(layout.join(handoff.story_path)) if handoff.story_path else None
        artifact = files.read(path)
        if story and tokens.estimate(story) > tokens.estimate(artifact):
            name = f"handoff:{os.path.basename(path)}"
            yield _clean(layout, Sample(name, "handoff", f"{artifact}\n\n{story}", artifact))


def _clean(layout: Layout, sample: Sample) -> Sample:
    allowed = layout.limits.secrets_allow
    return sample._replace(
        whole=redaction.redacted(sample.whole, allowed)[0],
        handed_over=redaction.redacted(sample.handed_over, allowed)[0],
    )


def head_and_tail(text: str, size: int) -> str:
    """The beginning and the end of a text, half of `size` tokens each."""
    if tokens.estimate(text) <= size:
        return text
    lines = text.split("\n")
    head = tokens.clip(text, size // 2, mark="")
    tail_lines = tokens.largest(
        len(lines), lambda n: tokens.estimate("\n".join(lines[len(lines) - n :])) <= size // 2
    )
    tail = "\n".join(lines[len(lines) - tail_lines :]) if tail_lines else ""
    return f"{head}\n[…]\n{tail}"


def outline(text: str) -> str:
    """The headings of a text with their lines, or its number of lines where it has none."""
    heads = [head for head in blocks.blocks(text) if head.kind == "heading"]
    rows = [f"{head.first}-{head.last}: {head.title[:_TITLE]}" for head in heads[:_HEADINGS]]
    count = text.count("\n") + 1
    return "\n".join(rows) or f"(no headings; lines 1 to {count})"

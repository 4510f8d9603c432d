"""Storing and reading payloads, in small sessions and in one of 10,000."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

from measure import Case
from places import SCRIPTS, script

FIVE_THOUSAND_TOKENS = 16_000  # characters, by an exact count


def reports(characters: int) -> str:
    """Reports as agents write them, one after the other: no sentence occurs twice.

    Words are made of syllables, so that no step can be cheap because it saw a word before.
    """
    chance = random.Random(16)
    text = ""
    while len(text) < characters:
        text += "".join(f"{line}\n" for line in _report(chance))
    return text[:characters]


def _report(chance: random.Random) -> Iterator[str]:
    """The lines of one report: prose, items with bold labels, tables, code, priorities."""
    words = [_word(chance) for _ in range(700)]

    def said(count: int) -> str:
        found = chance.choices(words, k=count)
        if count > 4 and chance.random() < 0.5:
            place = (
                f"`src/{chance.choice(words)}/{chance.choice(words)}.py:{chance.randrange(900)}`"
            )
            amount = f"{chance.randrange(2, 900)} {chance.choice(('ms', 'lines', 'tokens', '%'))}"
            found.insert(chance.randrange(2, count), chance.choice((place, amount, "must not")))
        return " ".join(found).capitalize()

    yield f"# {said(5)}\n\n**Date**: 2026-01-02\n**Status**: done\n"
    for number in range(14):
        yield f"## {number + 1}. {said(4)}\n"
        yield f"{said(16)}. {said(22)}, {said(9)} ({said(6)}). {said(14)}.\n"
        for _ in range(5):
            yield f"- **{said(2)}**: {said(12)}; see [{said(2)}](https://example.org/{words[0]})."
        yield f"\n### P{number % 3}: {said(4)}\n\n1. {said(15)}.\n2. {said(11)}.\n"
        yield f"| {said(2)} | {said(2)} | {said(2)} |\n|---|---|---|"
        for _ in range(4):
            yield f"| {said(3)} | {said(5)} | {chance.randrange(900)} ms |"
        yield f"\n```python\ndef {words[number]}() -> int:\n    return {number}\n```\n"


def _word(chance: random.Random) -> str:
    syllables = chance.choices(
        "ca re to li men dis pro ver ent ing sta ble un ma po se".split(), k=3
    )
    return "".join(syllables[: chance.randrange(1, 4)])


def payload_cases(folder: Path) -> list[Case]:
    """Storing 5,000 tokens to 10 MB; adding, listing and searching at 10, 1,000 and 10,000."""
    os.environ["SESSION_ID"] = "bench"
    report = folder / "report.md"
    report.write_text(reports(FIVE_THOUSAND_TOKENS), encoding="utf-8")
    large, huge = folder / "large.md", folder / "huge.md"
    megabyte = reports(1 << 20)
    large.write_text(megabyte, encoding="utf-8")
    huge.write_text(megabyte * 10, encoding="utf-8")
    store = script("payload_store.py", "--topic=bench", "--source=bench")
    found = [
        Case("payload_store (5k tokens)", [*store, "--session=new"], 6, stdin=str(report)),
        Case("payload_store (1 MB)", [*store, "--session=large"], 8, stdin=str(large)),
        Case("payload_store (10 MB)", [*store, "--session=huge"], 60, stdin=str(huge), rounds=5),
        Case("payload_store passes through", store, 2.5, stdin="contextkit.txt"),
    ]
    Path("contextkit.txt").write_text("short", encoding="utf-8")
    for count in (10, 1_000, 10_000):
        session = f"s{count}"
        fill(folder, session, count)
        at = f"at {count:,}"
        found += [
            Case(f"payload_store {at}", [*store, f"--session={session}"], stdin=str(report)),
            Case(f"payload_list {at}", script("payload_store.py", "list", f"--session={session}")),
            Case(f"payload_find {at}",
                 script("payload_store.py", "find", "--query=app.py", f"--session={session}")),
        ]  # fmt: skip
    return found


def fill(folder: Path, session: str, count: int) -> None:
    """A session with `count` payloads, written by the library itself."""
    sys.path.insert(0, str(SCRIPTS))
    from contextkit.base.layout import Layout
    from contextkit.payloads.documents import store as payloads

    layout = Layout(str(folder))
    payloads.prepare_store(layout)
    into = Path(payloads.folder(layout, session))
    into.mkdir()
    entries = []
    for number in range(count):
        payload = payloads.Payload(
            topic=f"topic {number}", source="bench", created_at="2025-10-23T18:05:00Z", tokens=9,
            summary="One sentence. Another one.", content=f"See src/app.py:{number} for more.\n",
        )  # fmt: skip
        path = into / f"20251023-180500-topic-{number}.md"
        path.write_text(payloads.render(payload), encoding="utf-8")
        entries.append(payloads.entry(str(path), payload))
    head = {"sessionId": session, "createdAt": "2025-10-23T18:05:00Z"}
    text = payloads.render_manifest(head, entries)
    (into / payloads.MANIFEST).write_text(text, encoding="utf-8")

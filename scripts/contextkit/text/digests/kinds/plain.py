"""Unstructured prose: its sentences."""

from __future__ import annotations

from contextkit.text.digests import reading, weighing
from contextkit.text.digests.reading import Unit


def confidence(text: str) -> int:
    """Any text qualifies."""
    return 1


def units(text: str) -> list[Unit]:
    """One unit per sentence; the first one counts more."""
    found: list[Unit] = []
    for block in reading.blocks(text):
        for said in reading.sentences(reading.plain(block.text)):
            shown = reading.clause(said)
            if len(shown) > 8 and not weighing.is_label(shown):
                weight = weighing.of_sentence(shown) * (1.0 if found else 2.0)
                found.append(Unit(block.line, "", shown, weight))
    if not found and text.strip():  # one very long word
        found = [Unit(1, "", " ".join(text[:200].split())[:120], 1.0)]
    return found

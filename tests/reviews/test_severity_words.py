"""vocabulary.py: severities, ids, labels, and verdicts, word by word."""

from __future__ import annotations

import pytest
from contextkit.reviews.documents import vocabulary


@pytest.mark.parametrize(
    ("line", "severity", "raw", "identity", "title", "marked"),
    [
        ("[P0] x", "P0", "P0", "", "x", True),
        ("[P0]x", "P0", "P0", "", "x", True),
        ("P2 : x", "P2", "P2", "", "x", True),
        ("P2-1. P1: x", "P1", "P1", "P2-1", "x", True),
        ("P2 x", "P2", "P2", "", "x", False),
        ("Critical things", "", "", "", "Critical things", False),
    ],
)
def test_a_line_begins_with_a_severity_or_an_id(
    line: str, severity: str, raw: str, identity: str, title: str, marked: bool
) -> None:
    head = vocabulary.Head(line)
    assert (head.severity, head.raw, head.id) == (severity, raw, identity)
    assert (head.title, head.marked) == (title, marked)


@pytest.mark.parametrize(
    ("identity", "severity"),
    [("P0-1", "P0"), ("P0", "P0"), ("P0X", ""), ("P01", ""), ("IMP-2", "IMP"), ("FD-P1", "")],
)
def test_an_id_carries_the_severity_that_it_begins_with(identity: str, severity: str) -> None:
    assert vocabulary.severity_of_id(identity) == severity


@pytest.mark.parametrize(
    ("said", "word"),
    [
        ("safe", "safe"),
        ("safe.", "safe"),
        ('safe" to merge', "safe"),
        ("safe (with notes)", "safe"),
        ("safe once the tests pass.", ""),
        ('safe, said "the bot"', "safe"),
        ('safe if you ask "the bot"', ""),
        ("needs_changes soon", "needs-changes"),
        ("riskyx", ""),
    ],
)
def test_a_verdict_is_safe_only_if_nothing_takes_it_back(said: str, word: str) -> None:
    assert vocabulary.verdict_word(said) == word


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("Status: _x_", ("STATUS", "_x_")),
        ("_Status:_ x", ("STATUS", "x")),
        ("- **Status:** x", ("STATUS", "x")),
        ("| Status | x |", ("STATUS", "x")),
        ("Verdict： safe", ("VERDICT", "safe")),
        ("no label", ("", "")),
    ],
)
def test_a_label_and_its_value(line: str, label: tuple[str, str]) -> None:
    assert vocabulary.labelled(line) == label


@pytest.mark.parametrize(
    ("text", "mentioned"),
    [("a P0 row", True), ("see P1-2", True), ("P2 and p10", False), ("P0s", False), ("x", False)],
)
def test_a_serious_severity_is_mentioned_as_a_word(text: str, mentioned: bool) -> None:
    assert vocabulary.mentions_serious(text) == mentioned


def test_a_comment_is_a_whole_line_without_a_row() -> None:
    lines = ("<!-- run: 1 -->", "text -->", "<!-- open", "<!-- P0 x -->", "<!-- a | b -->")
    assert [vocabulary.is_comment(line) for line in lines] == [True, *[False] * 4]


def test_a_word_is_trimmed_to_its_letters_and_digits() -> None:
    assert [vocabulary.trimmed(word) for word in ("(P0):", "--", "a", "")] == ["P0", "", "a", ""]

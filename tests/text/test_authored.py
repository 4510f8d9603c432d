"""authored.py: what the author of a text says about the whole of it."""

from __future__ import annotations

from conftest import each
from contextkit.text import authored
from contextkit.text.digests import reading

REPORT = """\
# Parser

**Confidence:** High

## 1. Executive Summary

The parser reads every file twice. Reading once saves 52 ms.

| what | cost |
|---|---|
| read | 52 ms |

## Details

It was looked at. Risk: this one is about a detail only.

### P1-2: A recommendation that is a finding

Some words.

## Recommendations (Prioritized)

- Read once, in `src/app.py`.

## Open Questions

- Who reads it first?
"""


def told(text: str) -> list[tuple[str, str]]:
    return [(one.role, one.text) for one in authored.read(text).statements]


def test_sections_that_speak_for_the_whole_in_order_of_their_worth() -> None:
    assert told(REPORT) == [
        ("summary", "The parser reads every file twice."),
        ("summary", "Reading once saves 52 ms."),
        ("detail", "read - cost: 52 ms"),
        ("decision", "Read once, in src/app.py."),
        ("open", "Who reads it first?"),
    ]
    found = authored.read(REPORT)
    assert found.confidence == "High" and found.sums_up
    assert found.lead(2) == "The parser reads every file twice. Reading once saves 52 ms."
    assert REPORT.split("\n")[found.statements[0].line - 1].startswith("The parser reads")


@each(
    ("title", "role"),
    [("Summary (3-5 lines)", "summary"), ("TL;DR", "summary"), ("Fazit", "summary"),
     ("结论", "summary"), ("Overall Verdict: needs-changes", "verdict"), ("Резюме", "summary"),
     ("4. Prioritized Recommendations", "decision"), ("Capsule Gap", "open"),
     ("Risk Assessment", "risk"), ("Confidence Level", "confidence"),
     ("Résumé exécutif", "summary"), ("Open", "open"), ("5. Offen:", "open"), ("Open source", ""),
     ("Summary Statistics of the Runs", ""), ("P0-3: Structural hash risk", ""),
     ("Verdict Schema Lacks Versioning", ""), ("Details", ""), ("", "")],
)  # fmt: skip
def test_what_a_heading_announces(title: str, role: str) -> None:
    assert authored.role_of(title) == role


def test_a_verdict_in_a_list_is_one() -> None:
    text = (
        "### Findings Index\n- P1 | F-1 | x | It is slow\nVerdict: needs-changes\n\n### More\n\nx"
    )
    assert told(text) == [("verdict", "needs-changes")]


def test_all_of_an_answer_is_its_authors() -> None:
    found = authored.answer("It is slow.\n- Read once\nConfidence: low\n@stored: a/b.md\n")
    assert [one.text for one in found.statements] == ["It is slow.", "Read once"]
    assert found.confidence == "Low"


def test_a_confidence_that_is_explained_is_told() -> None:
    text = "# R\n\n## Summary\n\nIt is slow.\n\n## Confidence\n\nHigh, since two runs agree.\n"
    assert ("confidence", "High, since two runs agree.") in told(text)


def test_a_text_without_such_sections_has_no_author() -> None:
    assert authored.read("# A\n\nIt is slow.\n\n## B\n\nIt waits.\n") == authored.Authored()


INVESTIGATION = """\
# Empty exports

**Status: cause found and reproduced; the fix is proposed and not applied.**

## What I ruled out

1. *Disk full.* 61 % at the time.

## Cause

A job renames the partition. The exporter takes a missing table for no rows.

## Proposed fix

- Remove the `except`.
"""


def test_the_state_the_cause_and_the_fix_are_the_authors_word() -> None:
    assert told(INVESTIGATION) == [
        ("summary", "cause found and reproduced; the fix is proposed and not applied."),
        ("cause", "A job renames the partition."),
        ("cause", "The exporter takes a missing table for no rows."),
        ("decision", "Remove the except."),
    ]
    assert told("# Report\n\n**Status:** Done\n\n## Notes\n\nIt was read.\n") == []


def test_a_bold_line_above_others_is_a_heading() -> None:
    text = "I moved it.\n\n**Done**\n\n- All calls.\n\n**Not done**\n\nThe report still uses it.\n"
    assert told(text) == [("open", "The report still uses it.")]
    assert told("**Not done**\n\n**Never deploy it**\n") == []  # nothing stands below them


def test_a_name_of_few_words_is_told_with_what_is_said_of_it() -> None:
    blocks = reading.blocks(INVESTIGATION)
    assert ["Disk full. 61 % at the time."] in [
        [reading.plain(said.replace("*", "")) for said in block.statements()] for block in blocks
    ]

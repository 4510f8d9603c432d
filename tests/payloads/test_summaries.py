"""summaries.py: what is said in a few lines stands in the text, whatever the text is."""

from __future__ import annotations

import re
from bisect import bisect

import pytest
from contextkit.payloads.documents import summaries
from contextkit.payloads.documents.summaries import Row
from growth import is_in_proportion
from hypothesis import given, settings
from hypothesis import strategies as st

REPORT = """\
# Caches -- Research Report

**Date:** 2026-02-21
**Confidence Level:** HIGH (measured)

---

## Executive Summary

The cache is read 4.5 times a second, e.g. by the loader. It takes **52 ms** cold! See [the page](https://x.y/(z)
and `src/__init__.py`. A fourth sentence.

**Key findings:**

1. **Reading is slow.** It always was.
2. Nothing else is.
3. A third item.

## How it is done now

```python
# not a heading
x = "no prose. At all."
```

The loader reads `a[0](b)` and `2 ** 10` each time. More.

### A part (with a very long remark in parentheses that goes on)

| what | time |
|------|------|
| cold | 52 ms |

## Recommendations

### 1. Keep a copy

- Keep the parsed file next to the source
- And watch it

### 2. Watch the file

Watch it as follows and only so:

## Sources

- A book that is very long and says a lot. Really.
"""


def rows(text: str, most: int = 7) -> list[Row]:
    return summaries.rows(summaries.sections(text), most)


def summary(text: str) -> str:
    return summaries.summary(summaries.sections(text))


def test_a_report_is_told_in_its_own_words() -> None:
    found = summaries.sections(REPORT)
    assert summaries.summary(found) == (
        "The cache is read 4.5 times a second, e.g. by the loader. It takes 52 ms cold! "
        "See the page and src/__init__.py."
    )
    assert summaries.key_findings(found) == "Reading is slow. Nothing else is."
    assert summaries.confidence(REPORT) == "High"
    assert [(row.aspect, row.finding) for row in rows(REPORT)] == [
        ("How it is done now", "The loader reads a[0](b) and 2 ** 10 each time."),
        ("1. Keep a copy", "Keep the parsed file next to the source"),
        ("2. Watch the file", "Watch it as follows and only so"),
    ]


def test_what_decides_comes_before_what_describes_and_stands_in_the_order_of_the_text() -> None:
    assert [row.aspect for row in rows(REPORT, 2)] == ["1. Keep a copy", "2. Watch the file"]
    assert [row.aspect for row in rows(REPORT, 1)] == ["1. Keep a copy"]


SAID = "This sentence says something of interest."


def test_where_enough_is_decided_nothing_is_described() -> None:
    text = "# T\n" + "".join(f"## Part {n}\n{SAID}\n" for n in range(9))
    few = text + "## Recommendations\n" + "".join(f"### Do {n}\n{SAID}\n" for n in range(2))
    many = text + "## Recommendations\n" + "".join(f"### Do {n}\n{SAID}\n" for n in range(5))
    assert [row.aspect for row in rows(few)] == [*(f"Part {n}" for n in range(5)), "Do 0", "Do 1"]
    assert [row.aspect for row in rows(many)] == [f"Do {n}" for n in range(5)]


def test_a_short_lead_in_is_passed_over_and_a_long_one_says_something() -> None:
    table = "\n\n| a | b |\n|--|--|\n| all of it is said here | now |\n"
    assert rows("## A\nBased on production systems:" + table)[0].finding == (
        "all of it is said here: now"
    )
    lead_in = "Allow the agents to write to their own directory"
    assert rows(f"## A\n{lead_in}:{table}")[0].finding == lead_in


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ""),
        (" \r\n\t\n", ""),
        ("# Only\n## headings\n", ""),
        (SAID, SAID),
        (f"\ufeff# Title\r\n\r\n{SAID}\r\n", SAID),
        (f"---\ntitle: no prose\n---\n{SAID}", SAID),
        (f"# Title\n\n---\n\n{SAID}\n===\n", SAID),
        (f"```\ncode\n```\n{SAID}", SAID),
        (f"````md\n```\n# inner\n```\n````\n{SAID}", SAID),
        (f"~~~\n```\n~~~\n{SAID}", SAID),
        (f"```inline``` {SAID}", f"inline {SAID}"),
        ("```\nonly code\n```", "only code"),
        ('{"a": 1,\n "b": 2}', '{"a": 1, "b": 2}'),
        ("| a | b |\n|---|---|\n| one | two |", "one: two"),
        (f"<!-- a comment -->\n![image](x.png)\n{SAID}", SAID),
        ("速い。とても速い。終わり。四つ目。", "速い。 とても速い。 終わり。"),
        ("- Fast\n- Small (and cheap)\n- Clear", "Fast. Small (and cheap) Clear."),
        (f"**Date:** x\n**Author:** Ada\n\n{SAID}", SAID),
        ("It takes 52 ms. Dr. Who agrees, cf. the page. Yes.",
         "It takes 52 ms. Dr. Who agrees, cf. the page. Yes."),
        (f"{'A' * 300}. {'B' * 300}. C.", f"{'A' * 300}. {'B' * 300}."),
        ("word " * 300, "word " * 79 + "word…"),
        ("x" * 1000, "x" * 399 + "…"),
    ],
)  # fmt: skip
def test_the_summary_of_an_odd_text_is_its_first_prose(text: str, said: str) -> None:
    assert summary(text) == said


@pytest.mark.parametrize(
    ("text", "aspects"),
    [
        ("", []),
        (SAID, ["Content"]),
        (f"# One\n{SAID}\n# Two\n{SAID}", ["One", "Two"]),
        (f"# Title\n{SAID}\n## A\n{SAID}", ["A"]),
        (f"# T\n## A\n{SAID}\n## Sources\n{SAID}\n## Summary\n{SAID}", ["A"]),
        (f"# T\n## A\n{SAID}\n## A\nAnother one that says a lot.", ["A"]),
        ("# T\n## A\nToo short.\n## B\nIncomprehensibilities incomprehensibilities", ["Content"]),
        (f"# T\n## `src/x.py` and **more**\n{SAID}", ["src/x.py and more"]),
        (f"# T\n## Prefix\n{SAID}\n## Fix it\n{SAID}", ["Prefix", "Fix it"]),
        ("# 調査\n## 要約\n重要な発見です。\n## 推奨\nファイルを保持すべきである。", ["推奨"]),
    ],
)
def test_the_rows_of_an_odd_text(text: str, aspects: list[str]) -> None:
    assert [row.aspect for row in rows(text)] == aspects


def test_there_are_at_most_as_many_rows_as_asked_for() -> None:
    text = "# T\n" + "".join(f"## Part {n}\n{SAID}\n" for n in range(40))
    assert [row.aspect for row in rows(text)] == [f"Part {n}" for n in range(7)]


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("Confidence: high", "High"),
        ("- **Confidence:** Medium (3 sources)", "Medium"),
        ("confidence level: LOW.", "Low"),
        ("Confidence: maybe", ""),
        ("Confidence: Medium-High", ""),
        ("We have high confidence", ""),
        ("", ""),
    ],
)
def test_a_confidence_is_read_and_never_invented(line: str, level: str) -> None:
    assert summaries.confidence(f"# T\n\n{line}\n") == level


def test_a_confidence_far_down_is_about_something_else() -> None:
    assert summaries.confidence("\n" * 70 + "Confidence: high") == ""


words = st.text(st.sampled_from("abcXYZ019 .!?:,;'\"-–é速。#~+=/\\_\t\r"), max_size=60)
lines = st.one_of(
    words,
    words.map("## {}".format),
    words.map("- {}".format),
    words.map("3. {}".format),
    words.map("> {}".format),
    words.map("**{}** more".format),
    words.map("see [the page](https://x.y/z) and `a.py`: {}".format),
    words.map("| a | {} |".format),
    st.sampled_from(
        ["", "---", "```", "~~~~", "|---|---|", "<!-- x -->", "# Title", "Key findings:"]
    ),
)
texts = st.lists(lines, max_size=30).map("\n".join)


def letters(text: str) -> str:
    """What must agree: the letters and digits, without the addresses of links."""
    return "".join(filter(str.isalnum, re.sub(r"\]\([^)]*\)", "", text)))


def chunks(said: str, text: str) -> int:
    """How many pieces of `text` the letters of `said` are made of; many if some are in none."""
    rest, count = letters(said), 0
    while rest:
        size = bisect(range(1, len(rest) + 1), False, key=lambda n: rest[:n] not in text)
        if not size:
            return 1_000_000
        rest, count = rest[size:], count + 1
    return count


@given(texts)
@settings(max_examples=100)
def test_nothing_is_invented(text: str) -> None:
    found, there = summaries.sections(text), letters(text)
    assert chunks(summaries.summary(found), there) <= 3
    assert chunks(summaries.key_findings(found), there) <= 2
    for row in summaries.rows(found, 7):
        assert row.aspect == "Content" or letters(row.aspect) in there
        assert chunks(row.finding, there) <= (3 if row.aspect == "Content" else 1)


@given(st.text() | texts)
def test_any_text_gives_lines_that_are_neither_endless_nor_empty(text: str) -> None:
    found = summaries.sections(text)
    assert len(summaries.summary(found)) <= 1300
    assert len(list(summaries.sentences(summaries.summary(found)))) <= 9
    given_rows = summaries.rows(found, 7)
    assert len(given_rows) <= 7
    for row in given_rows:
        assert row.aspect.strip() and row.finding.strip()
        assert "\n" not in row.aspect + row.finding


@given(st.lists(st.sampled_from(["Ab. ", "Cd! ", "e.g. ", "x.y ", "(Ef?) ", "3.5 ", "速。", " "])))
def test_sentences_lose_nothing_but_blanks(parts: list[str]) -> None:
    text = "".join(parts)
    assert "".join(summaries.sentences(text)).replace(" ", "") == text.replace(" ", "")


@pytest.mark.parametrize(
    "unit",
    ["[a](b) ", "[", "](", "`", "**", "a. b ", "A. B ", "x ", "\n", "- x\n", "# A\n", "| a | b |\n",
     "```\n", "word and word\n", "!", "(", "Key finding: ", "# ",
     "A sentence about the [cache](x). "],
)  # fmt: skip
def test_time_grows_with_the_length_and_no_faster(unit: str) -> None:
    def condense(text: str) -> None:
        found = summaries.sections(text)
        summaries.summary(found), summaries.rows(found, 7), summaries.key_findings(found)
        summaries.confidence(text)

    assert is_in_proportion(condense, unit)


def test_a_line_of_a_megabyte_is_no_trouble() -> None:
    text = "A sentence about the [cache](x), which is read often. " * 20_000
    assert summary(text).startswith("A sentence about the cache, which is read often.")
    assert len(rows(text)) == 1


def test_indented_code_is_no_finding() -> None:
    said = "It is kept whole until the session ends."
    code = "    shared/payloads/ is where it all goes, sir"
    text = f"# R\n\n## On disk\n\n{code}\n\n{said}\n"
    (row,) = summaries.rows(summaries.sections(text), 7)
    assert (row.aspect, row.finding) == ("On disk", said)

"""What every digest must hold, whatever the text."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import unicodedata

from conftest import SCRIPTS, each, rounds
from contextkit.base import tokens
from contextkit.text import facts
from contextkit.text.digests import engine, kinds, reading
from growth import is_in_proportion
from hypothesis import given
from hypothesis import strategies as st

REPORT = """# Loading

## Executive Summary

The loader reads `src/app.py:42` in 52 ms for 4,500 lines.

## Recommendations

- Use `src/cache.py` with 256 MB.
- **Severity**: P1

## What we rejected

- Use `src/slow.py` in 900 ms.
"""


def summary_of(text: str, cap: int = 120) -> str:
    return engine.digest(text, cap).summary


LISTINGS = """
import random
from contextkit.text.digests import engine
names = "cache retry session router schema export report limits queue worker order index".split()
for n in (200, 600):
    for seed in range(6):
        chance = random.Random(seed)
        paths = [f"./{'/'.join(chance.choices(names, k=3))}_{i}.py" for i in range(n)]
        print(engine.digest("\\n".join(paths), 60).summary)
"""


def test_a_digest_is_the_same_in_any_process() -> None:
    said = set()
    for seed in "0134"[: rounds(2, 4)]:
        known = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(SCRIPTS)}
        done = subprocess.run([sys.executable, "-c", LISTINGS], env=known, stdout=subprocess.PIPE)
        said.add(done.stdout)
    assert len(said) == 1 and all(said)


def test_a_digest_says_what_it_keeps_of_the_facts() -> None:
    digest = engine.digest(REPORT, 200)
    assert digest.kind == "report"
    assert engine.ParsedText(REPORT).facts_kept(digest.summary) == "7/7"
    assert digest.rest == 0


def test_rows_come_in_the_order_of_the_text_with_their_lines() -> None:
    rows = engine.digest(REPORT, 200).rows
    assert [row.line for row in rows] == sorted(row.line for row in rows)
    assert ("Recommendations", "Use src/cache.py with 256 MB.", 9) in rows


def test_a_label_is_no_finding() -> None:
    assert "Severity" not in summary_of(REPORT, 400)


def test_a_heading_that_turns_the_sense_round_is_shown_with_what_stands_below() -> None:
    assert "What we rejected: Use src/slow.py in 900 ms." in summary_of(REPORT, 200)


def test_an_item_keeps_the_words_that_it_hangs_on() -> None:
    text = "# Rules\n\nDo not:\n\n- write to `src/app.py` from a hook\n- read 900 ms of logs\n"
    assert "Do not: write to src/app.py from a hook" in summary_of(text, 200)


def test_what_is_left_out_has_a_place() -> None:
    many = "# Long\n\n" + "".join(
        f"## Part {n}\n\nIt takes {n} ms in `src/p{n}.py`.\n\n" for n in range(99)
    )
    digest = engine.digest(many, 100)
    assert digest.last > digest.rest > 0
    assert "It takes" in many.split("\n")[digest.rest - 1]


def test_the_text_that_calls_something_key_is_believed() -> None:
    text = (
        "# A long study\n\nThis opens with words about nothing in particular at all.\n\n"
        "## Details\n\nIt has `a/b.py` and 12 ms.\n\n"
        "## Wichtigste Erkenntnisse\n\nDer Cache verliert nach 30 Minuten alle Daten.\n"
    )
    assert engine.digest(text, 60).key == "Der Cache verliert nach 30 Minuten alle Daten."


@each("cap", [20, 60, 150, 400])
@each("tokenizer", ["o200k", "cl100k", "claude"])
def test_a_digest_holds_its_cap(cap: int, tokenizer: str) -> None:
    digest = engine.digest(REPORT * 4, cap, tokenizer=tokenizer)
    assert tokens.within(digest.summary, cap, tokenizer)


@given(
    st.text(st.sampled_from("aB1 .\n#-|`*:/+@{}\"'[](),=<>\t~☃"), max_size=400),
    st.integers(20, 200),
)
def test_whatever_the_text_it_is_shown_twice_the_same_and_within_its_cap(
    text: str, cap: int
) -> None:
    digest = engine.digest(text, cap)
    assert digest == engine.digest(text, cap)
    assert tokens.within(digest.summary, cap)
    kept, total = map(int, engine.ParsedText(text).facts_kept(digest.summary).split("/"))
    assert 0 <= kept <= total == len(facts.find(text))


def test_every_kind_is_a_module_with_the_same_two_functions() -> None:
    for module in map(
        kinds.module, "report review diff json table listing code results binary".split()
    ):
        assert isinstance(module.confidence(""), int) and module.units("") == []


WORD = re.compile(r"[^\W_]+")
sentences = st.lists(
    st.lists(
        st.sampled_from("the parser reads `src/app.py:42` in 52 ms and must never cache "
                        "P0 risk decision fails 3 tests because of #17".split()),
        min_size=3, max_size=14,
    ).map(lambda words: " ".join(words) + "."),
    min_size=2, max_size=9,
)  # fmt: skip
reports = st.lists(
    st.one_of(
        sentences.map(" ".join),
        sentences.map(lambda lines: "\n".join(f"- {line}" for line in lines)),
        sentences.map(lambda lines: f"## {lines[0].rstrip('.')}"),
    ),
    min_size=3, max_size=20,
).map(lambda parts: "\n\n".join(["# the parser", *parts]))  # fmt: skip


@given(text=reports, cap=st.integers(60, 400))
def test_a_receipt_states_nothing_that_the_text_does_not(text: str, cap: int) -> None:
    """Every finding of a report is made of runs of words that stand in the text like that."""
    words = " ".join(WORD.findall(text.lower()))
    for row in engine.digest(text, cap).rows:
        if row.aspect in ("size", "failing", "more"):  # counted
            continue
        finding = re.sub(r" \(x\d+\)|(?:\S+ x\d+,? )+", "; ", row.finding.lower())  # counted, too
        finding, _, names = finding.partition(" more: ")
        parts = re.split(r"[;:…()]|\.(?:\s|$)|\+\d+(?: more)?| - ", finding)
        for part in [*parts, *names.split(", ")]:
            said = " ".join(WORD.findall(part))
            assert said in words, (row, text)


def test_a_text_in_a_script_without_blanks_is_shown_up_to_a_whole_character() -> None:
    said = "བོད་ཡིག་གི་ཚིག་འདི་ནི་ཧ་ཅང་རིང་པོ་ཡིན་པས་གྲངས་མང་པོ་དགོས་པ་ཡིན"
    long = said * 6
    digest = engine.digest(f"# བོད\n\n- {long}\n- {long[9:]}\n", 160)
    shown = digest.rows[0].finding.removesuffix(" … (+1 more)")
    assert 20 < len(shown) < len(long) and long.startswith(shown)
    assert unicodedata.category(long[len(shown)])[0] != "M"


def test_a_unit_is_cut_where_a_clause_ends_once_others_are_shown() -> None:
    items = [f"- The step {n} reads src/step_{n}.py:{n} and writes" for n in range(9)]
    long = "The last one waits for the lock; then it reads what the others wrote, " + "word " * 20
    digest = engine.digest("\n".join(["# Steps", *items, f"- **Key finding**: {long}"]), 60)
    for row in [digest.key, *(row.finding.removesuffix(" (+7 more)") for row in digest.rows)]:
        assert row.endswith((" …", "writes", "wrote")) and not row.endswith("word …")


def test_key_findings_are_shown_without_the_words_that_announce_them() -> None:
    text = "# T\n\nKey findings for the team:\n\n- The cache takes 52 ms.\n- It holds 4 MB.\n"
    assert "Key findings" not in engine.digest(text, 60).summary


def test_the_same_text_read_twice_is_read_whole_both_times() -> None:
    text = "# Cache\n\n" + "\n".join(f"- Step {n} reads src/step_{n}.py:{n}." for n in range(40))
    told = [engine.digest(one, 120).summary for one in (text, "".join(list(text)))]
    assert told[0] == told[1]


def test_a_statement_is_not_cut_inside_brackets() -> None:
    said = "Retry (three times, with a pause, as before) and [a, b, c] then, at last, give up"
    for between_words in (False, True):
        shown = [said[:end] for end in reading.ends(said, between_words)]
        assert shown and all(one.count("(") == one.count(")") for one in shown)
        assert all(one.count("[") == one.count("]") for one in shown)


def test_the_lines_to_open_first_are_those_with_most_of_what_is_left_out() -> None:
    parts = [
        f"It takes {n} ms in `src/p{n}.py`." if 40 < n < 60 else "So it is." for n in range(99)
    ]
    text = "# T\n\n" + "".join(f"## Part {n}\n\n{said}\n\n" for n, said in enumerate(parts))
    digest = engine.digest(text, 60)
    start, end = digest.stretch
    assert digest.rest <= start <= end <= digest.last and end - start < engine.OPENED
    assert all("takes" in line for line in text.split("\n")[start - 1 : end] if line.endswith("."))


def test_where_nothing_is_left_out_the_lines_to_open_are_those_around_a_failure() -> None:
    text = "tests/test_a.py::test_x PASSED\n" * 200 + "tests/test_b.py::test_y FAILED\n"
    digest = engine.digest(text, 200)
    assert digest.last == 0 and digest.stretch == (201, 201)


def test_the_title_of_a_text_does_not_make_it_a_list_of_sources() -> None:
    items = "".join(f"- The part `p{n}.py` is read {n + 2} times faster.\n" for n in range(9))
    text = f"# Changelog\n\n## 2.0\n\n### Features\n\n{items}"
    digest = engine.digest(text, 60)
    assert digest.kind == "report" and "times faster" in digest.summary


def test_a_long_line_with_many_brackets_is_cut_in_proportion() -> None:
    assert is_in_proportion(reading.clause, "token=[secret:assigned], ")

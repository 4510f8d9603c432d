"""receipts.py: the official decoder reads what we print, and it is never above the cap."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import toon_format
from conftest import each
from contextkit.base import tokens
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.payloads.documents import receipts
from contextkit.payloads.documents.receipts import Receipt, Row
from contextkit.payloads.flows import storing
from contextkit.text import authored, facts
from growth import calls
from hypothesis import example, given
from hypothesis import strategies as st

CORPUS = os.environ.get("CONTEXTKIT_CORPUS", "")  # read before `sealed` empties the environment
PATH = "shared/payloads/sess-abc123/20251128-100500-nsw-strata-legislation.md"


def a_receipt(**changes: Any) -> Receipt:
    """A receipt in which a test names only what it is about."""
    rows = (Row(aspect="Regulator", finding="NSW Fair Trading"),)
    base: dict[str, Any] = {"path": PATH, "rows": rows, "tokens_stored": 4500}
    return Receipt(**base | {"key_findings": "2 main acts govern it"} | changes)


def clipped(receipt: Receipt) -> tuple[Receipt, list[str]]:
    return receipts.clipped(receipt, 300, "o200k")


def decoded(text: str) -> dict[str, Any]:
    """What the official decoder reads in strict mode."""
    found: dict[str, Any] = toon_format.decode(text, strict=True)
    return found


def a_text(limit: int = 10**9) -> st.SearchStrategy[str]:
    return st.text(st.characters(codec="utf-8"), min_size=1, max_size=min(limit, 60))


NASTY = [
    "a,b",
    'say "x"',
    "a: b",
    "# note",
    "- item",
    "one\ntwo",
    "true",
    "1.0",
    "05",
    "null",
    " x ",
]
NASTY += [
    "[1]",
    "{a}",
    "a|b",
    "a\tb",
    "\\n",
    "\x1b[0m",
    "@stored: x",
    "\u2028",
    "x\r\n",
    "```",
    "…",
]
cells = st.sampled_from(NASTY) | a_text()
long_cells = cells | st.builds(lambda text, n: text * n, a_text(10), st.integers(1, 500))
row_lists = st.lists(
    st.builds(lambda a, f: Row(aspect=a, finding=f), cells, cells), min_size=1, max_size=7
).map(tuple)
long_rows = st.lists(
    st.builds(lambda a, f: Row(aspect=a, finding=f), long_cells, long_cells), min_size=1, max_size=7
)


def test_the_example_of_the_seed_is_printed_as_it_stands_there() -> None:
    rows = (
        Row(
            aspect="Primary Acts",
            finding="Strata Schemes Management Act 2015, Development Act 2015",
        ),
        Row(aspect="Regulator", finding="NSW Fair Trading"),
        Row(aspect="Reform Status", finding="Phase 2 of 5 reforms in progress"),
    )
    key = "2 main acts + 2 regulations govern strata in NSW"
    assert receipts.render(a_receipt(rows=rows, key_findings=key, confidence="High")) == (
        f"@stored: {PATH}\n\n"
        "summary[3]{aspect,finding}:\n"
        '  Primary Acts,"Strata Schemes Management Act 2015, Development Act 2015"\n'
        "  Regulator,NSW Fair Trading\n"
        "  Reform Status,Phase 2 of 5 reforms in progress\n"
        f"keyFindings: {key}\n"
        "confidence: High\n"
        "tokens_stored: 4500"
    )


@given(rows=row_lists, key=cells, path=cells, stored=st.integers(0, 10**15))
def test_every_cell_comes_back_equal(
    rows: tuple[Row, ...], key: str, path: str, stored: int
) -> None:
    text = receipts.render(a_receipt(rows=rows, key_findings=key, path=path, tokens_stored=stored))
    found = decoded(text)
    assert list(found) == ["@stored", "summary", "keyFindings", "tokens_stored"]
    assert found["@stored"] == path and found["keyFindings"] == key
    assert [tuple(row.values()) for row in found["summary"]] == [
        (r.aspect, r.finding) for r in rows
    ]
    assert type(found["tokens_stored"]) is int and found["tokens_stored"] == stored
    assert text.startswith("@stored: ") and f"\n\nsummary[{len(rows)}]{{aspect,finding}}:\n" in text


@given(cells)
@example("true")
@example("a b: c")
def test_the_stored_line_is_read_back_in_every_dress(path: str) -> None:
    receipt = receipts.render(a_receipt(path=path))
    line = receipt.split("\n")[0]
    encoded = toon_format.encode({"@stored": path})
    assert encoded.startswith('"@stored": ')
    for text in (
        line,
        encoded,
        receipt,
        f"```toon\n{receipt}\n```",
        f"  - {line}\r\n",
        f"`{line}`",
    ):
        if "`" not in path:
            assert receipts.parse_path(text) == path


@each(
    "text",
    [
        "",
        "@stored",
        "@stored:",
        '@stored: "',
        '@stored: "a',
        "@stored: 5",
        "@stored: true",
        "stored: a",
    ],
)
def test_what_is_no_stored_line_is_refused(text: str) -> None:
    with pytest.raises(ContextError, match="is not an @stored: line") as caught:
        receipts.parse_path(text)
    assert caught.value.status == 2


@given(long_rows.map(tuple), long_cells, st.sampled_from(["", "High"]), st.integers(0, 10**9))
@example(
    (Row(aspect="\U0001f600" * 400, finding="\U0001f600" * 400),), "\U0001f600" * 400, "High", 1
)
@example(  # each character costs four tokens
    (Row(aspect="\U00012000" * 400, finding="\U00012000" * 400),), "\U00012000" * 400, "High", 1
)
def test_a_receipt_is_never_above_the_cap(
    rows: tuple[Row, ...], key: str, confidence: str, stored: int
) -> None:
    given_one = a_receipt(rows=rows, key_findings=key, confidence=confidence, tokens_stored=stored)
    final, cut = clipped(given_one)
    text = receipts.render(final)
    assert tokens.within(text, 300)
    found = decoded(text)
    assert found["@stored"] == PATH and found["tokens_stored"] == stored
    assert found.get("confidence", "") == confidence
    assert 1 <= len(found["summary"]) <= len(rows)
    assert bool(cut) == (final != given_one)
    for was, now in zip(rows, final.rows, strict=False):
        assert was.finding.startswith(now.finding.removesuffix("…").rstrip())
        assert was.aspect.startswith(now.aspect.removesuffix("…").rstrip())


def rows_of(*lengths: int) -> tuple[Row, ...]:
    return tuple(Row(aspect=f"A{i}", finding="word " * n) for i, n in enumerate(lengths))


def test_the_longest_findings_are_shortened_first() -> None:
    final, cut = clipped(a_receipt(rows=rows_of(300, 8, 8)))
    assert [row.finding for row in final.rows[1:]] == ["word " * 8, "word " * 8]
    assert len(final.rows[0].finding) < 1200
    assert cut == [f"1 finding shortened by {1500 - len(final.rows[0].finding)} characters"]


def test_then_rows_go_from_the_end_and_the_key_findings_stay() -> None:
    rows = tuple(row._replace(aspect="much to say here") for row in rows_of(*[40] * 20))
    final, cut = clipped(a_receipt(rows=rows))
    assert 3 < len(final.rows) < 20 and final.key_findings == "2 main acts govern it"
    assert min(len(row.finding) for row in final.rows) > 55
    assert cut[1:] == ["row 'much to say here' left out"] * (20 - len(final.rows))


def test_the_key_findings_are_shortened_last() -> None:
    final, cut = receipts.clipped(
        a_receipt(rows=rows_of(100, 100), key_findings="key " * 400), 300, "o200k"
    )
    assert len(final.rows) == 1 and len(final.rows[0].finding) <= 60
    assert final.key_findings.startswith("key key") and len(final.key_findings) > 300
    assert cut[-1] == f"key findings shortened by {1600 - len(final.key_findings)} characters"


def test_a_row_alone_takes_the_room_that_there_is() -> None:
    final, _ = clipped(a_receipt(rows=rows_of(600)))
    assert len(final.rows) == 1 and len(final.rows[0].finding) > 800


def test_an_endless_aspect_does_not_cost_the_other_rows() -> None:
    rows = (Row(aspect="x" * 5000, finding="first"), *rows_of(5, 5))
    final, cut = clipped(a_receipt(rows=rows))
    assert len(final.rows) == 3 and cut == ["aspects shortened"]


def test_findings_of_a_megabyte_are_cut_at_once() -> None:
    def cut(times: int) -> None:
        rows = rows_of(*[2_000 * times] * 7)
        final, _ = receipts.clipped(
            a_receipt(rows=rows, key_findings="k" * 10_000 * times), 300, "o200k"
        )
        assert tokens.within(receipts.render(final), 300)

    cut(1)  # what is counted here is counted by now
    assert calls(lambda: cut(100)) < 2 * calls(lambda: cut(1))


def test_a_receipt_that_fits_is_not_touched() -> None:
    assert clipped(a_receipt()) == (a_receipt(), [])


@each(("typed", "level"), [("high", "High"), (" LOW ", "Low"), ("Medium", "Medium"), ("", "")])
def test_a_confidence_is_one_of_three(typed: str, level: str) -> None:
    assert receipts.level(typed) == level


@each("typed", ["maybe", "0.8", "High!", "very high"])
def test_any_other_confidence_is_refused(typed: str) -> None:
    with pytest.raises(ContextError, match="must be High, Medium or Low") as caught:
        receipts.level(typed)
    assert caught.value.status == 2


def test_a_finding_is_split_at_its_first_equals_sign() -> None:
    assert receipts.row(" Time = a=b\nc ") == Row(aspect="Time", finding="a=b\nc")


@each("typed", ["", "no sign", "=x", "x=", " = "])
def test_a_finding_without_both_halves_is_refused(typed: str) -> None:
    with pytest.raises(ContextError, match="must have the form Aspect=Finding") as caught:
        receipts.row(typed)
    assert caught.value.status == 2


@pytest.mark.skipif(not CORPUS, reason="CONTEXTKIT_CORPUS names no folder of real reports")
def test_real_reports_get_receipts_that_say_something(layout: Layout) -> None:
    found = sorted(Path(CORPUS).rglob("*.md"))
    assert found
    for path in found:
        text = path.read_text(encoding="utf-8")
        output = storing.Output(
            topic=path.stem, source="research", content=text, tokens=tokens.estimate(text)
        )
        stored = storing.store(layout, "s", output, 1_764_324_300)
        said = decoded(stored.receipt)
        assert tokens.within(stored.receipt, 300), path
        assert said["summary"] and said["keyFindings"], path
        if "grounded" not in said:
            assert said["facts_kept"].endswith(f"/{len(facts.find(text))}")


@pytest.mark.skipif(not CORPUS, reason="CONTEXTKIT_CORPUS names no folder of real reports")
def test_four_in_five_sentences_of_real_summaries_stand_whole(layout: Layout) -> None:
    whole = count = 0
    for path in sorted(Path(CORPUS).rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        output = storing.Output(topic=path.stem, source="research", content=text, tokens=9999)
        said = letters(storing.store(layout, "s", output, 1_764_324_300).receipt)
        summed_up = [one for one in authored.read(text).statements if one.role == "summary"]
        whole += sum(letters(one.text) in said for one in summed_up)
        count += len(summed_up)
    assert whole > 0.8 * count > 0


def letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))

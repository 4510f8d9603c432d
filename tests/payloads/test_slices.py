"""Parts of a stored text, as `payload_show` gives them."""

from __future__ import annotations

import itertools
import json
import time

import pytest
from conftest import Script
from contextkit.base import tokens
from contextkit.base.errors import ContextError
from contextkit.payloads.documents import slices
from hypothesis import given
from hypothesis import strategies as st

TEXT = (
    "# T\n\nintro\n\n## One\n\na\n\n### Inner\n\nb needle\n\n"
    "## Two\n\nc\n```\n# code\n```\nneedle\n"
)


def test_a_section_ends_where_the_next_of_its_order_begins() -> None:
    found = slices.section(TEXT, "one")
    assert found.text == "## One\n\na\n\n### Inner\n\nb needle\n"
    assert (found.first, found.last) == (5, 12)
    assert slices.section(TEXT, "## Inn").text.startswith("### Inner")


def test_an_unknown_section_is_answered_with_those_there_are() -> None:
    with pytest.raises(ContextError, match="available: T; One; Inner; Two"):
        slices.section(TEXT, "Three")


@pytest.mark.parametrize(
    ("lines", "said"),
    [("3", "intro"), ("15-15", "c"), ("7-9", "a\n\n### Inner"), ("19-", "needle\n")],
)
def test_lines_are_those_of_the_text(lines: str, said: str) -> None:
    assert slices.span(TEXT, lines).text == said


@pytest.mark.parametrize("lines", ["x", "0-3", "9-3", "-3", "1.5", "3-x"])
def test_what_are_no_lines_is_refused(lines: str) -> None:
    with pytest.raises(ContextError) as caught:
        slices.span(TEXT, lines)
    assert caught.value.status == 2


def test_lines_beyond_the_end_are_said_to_be_so() -> None:
    with pytest.raises(ContextError, match="the text has 20 lines"):
        slices.span(TEXT, "30-40")


def test_around_shows_the_first_place_and_names_the_others() -> None:
    found = slices.around(TEXT, "NEEDLE")
    assert "b needle" in found.text and found.first == 3
    assert found.note == "also in 1 other lines: 19"
    with pytest.raises(ContextError, match="does not occur in the text"):
        slices.around(TEXT, "haystack")


@given(st.text(st.sampled_from("ab \n☃"), min_size=1, max_size=300), st.integers(1, 60))
def test_a_cap_is_kept_and_says_where_it_goes_on(text: str, cap: int) -> None:
    found = slices.capped(slices.whole(text), cap, "o200k")
    assert tokens.within(found.text, cap)
    assert text.startswith(found.text)
    assert (found.more == 0) == (found.text == text)


@pytest.mark.usefixtures("repo")
def test_a_slice_of_a_payload_is_printed_with_what_comes_next_on_stderr(run: Script) -> None:
    body = "".join(f"line {n}\n" for n in range(1, 400))
    run("payload_store", "--topic=x", "--source=y", "--session=s", stdin=body)
    assert run("payload_store", "show", "latest", "--session=s", "--lines=120-122") == 0
    assert run.out == "line 120\nline 121\nline 122\n"
    assert run("payload_store", "show", "latest", "--session=s", "--max-tokens=50") == 0
    last = run.out.splitlines()[-1]
    assert last.startswith("line ") and tokens.within(run.out, 50)
    assert f"lines={int(last[5:]) + 1}-" in run.err
    assert run("payload_store", "show", "latest", "--session=s", "--lines=3", "--json") == 0
    found = json.loads(run.out)
    assert (found["first"], found["last"], found["text"]) == (3, 3, "line 3")
    assert run("payload_store", "show", "latest", "--session=s", "--lines=3", "--around=x") == 2


@pytest.mark.usefixtures("repo")
def test_the_last_line_of_a_receipt_is_a_command_that_works(run: Script) -> None:
    body = "# T\n\n" + "".join(
        f"## Part {n}\n\nIt takes {n} ms in `src/p{n}.py`.\n\n" for n in range(200)
    )
    run("payload_store", "--topic=x", "--source=y", "--session=s", stdin=body)
    command = run.out.splitlines()[-1].removeprefix("more: ").strip('"').split()
    assert command[:3] == ["make", "-s", "payload_show"]
    options = [f"--{word}" for word in command[3:]]
    assert run("payload_store", "show", *options) == 0
    assert "It takes" in run.out


@pytest.mark.usefixtures("repo")
def test_find_takes_words_that_stand_in_a_line_or_a_section(run: Script) -> None:
    body = "# T\n\n## Cache\n\nIt is slow.\nThe queue waits.\n\n## Other\n\nslow\n" + "x\n" * 900
    run("payload_store", "--topic=x", "--source=y", "--session=s", "--force", stdin=body)
    assert run("payload_store", "find", "slow is", "--json") == 0
    assert {hit["text"] for hit in json.loads(run.out)} >= {"It is slow."}
    assert run("payload_store", "find", "slow queue", "--json") == 0
    assert "Cache" in {hit["section"] for hit in json.loads(run.out)}
    assert run("payload_store", "find", "x", "--max-tokens=100") == 0
    *shown, last = run.out.splitlines()
    assert len(shown) + int(last.removeprefix("+").removesuffix(" more")) == 903
    assert tokens.within(run.out, 120)


@pytest.mark.usefixtures("repo")
def test_the_same_text_is_stored_once_and_both_receipts_point_to_it(run: Script) -> None:
    body = "It takes 52 ms. " * 200
    run("payload_store", "--topic=x", "--source=y", "--session=s", stdin=body)
    first = run.out.splitlines()[0]
    run("payload_store", "--topic=other", "--source=z", "--session=s", stdin=body)
    assert run.out.splitlines()[0] == first and "is stored already" in run.err
    run("payload_store", "list", "--session=s", "--json")
    assert len(json.loads(run.out)["payloads"]) == 1
    run("payload_store", "--topic=x", "--source=y", "--session=t", stdin=body)
    assert run.out.splitlines()[0] != first


@pytest.mark.usefixtures("repo")
def test_a_list_fits_eighty_columns_and_the_beginning_of_an_id_names_it(run: Script) -> None:
    topic = "a very long topic that says more than anybody wants to read in a table " * 2
    run(
        "payload_store",
        f"--topic={topic}",
        "--source=" + "s" * 40,
        "--session=s",
        "--force",
        stdin="x",
    )
    run("payload_store", "list", "--session=s")
    lines = run.out.splitlines()
    assert max(map(len, lines)) <= 80
    assert run("payload_store", "show", lines[1].split()[0], "--part=content") == 0
    assert run.out == "x"


@pytest.mark.usefixtures("repo")
def test_a_hit_too_long_for_the_room_is_cut_and_the_others_are_counted(run: Script) -> None:
    body = "needle " + "long words " * 60 + "\nneedle again\n"
    run("payload_store", "--topic=x", "--source=y", "--session=s", "--force", stdin=body)
    assert run("payload_store", "find", "needle", "--max-tokens=40") == 0
    hit, rest = run.out.splitlines()
    assert (
        "needle long words" in hit and hit.endswith("…") and rest == "+2 more"
    )  # its summary says it, too
    assert tokens.within(run.out, 46)


@pytest.mark.usefixtures("repo")
def test_a_search_that_takes_seconds_says_how_far_it_is(
    run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        options = ["--topic=x", "--source=y", "--session=s", "--force"]
        run("payload_store", *options, stdin=f"needle {number}\n")
    clock = itertools.count(step=2)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    assert run("payload_store", "find", "needle") == 0
    assert "payload_store: 2 payloads searched ..." in run.err
    assert len(run.out.splitlines()) == 6

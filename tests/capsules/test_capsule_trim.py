"""trim.py: what a body loses first, and that it fits."""

from __future__ import annotations

from conftest import each
from contextkit.base import tokens
from contextkit.capsules.documents.items import trimmed
from hypothesis import given
from hypothesis import strategies as st
from test_capsules import finished

BODY = finished().split("\n---\n", 1)[1]
WORDS = "the plan says what the next agent has to know about it before it starts"


def a_body(**sections: str) -> str:
    names = {
        "mission": "Mission Snapshot",
        "pending": "Pending Actions",
        "knowledge": "Knowledge Base",
        "highlights": "Transcript Highlights",
        "checklist": "Consistency Checklist",
    }
    return "\n\n".join(f"# {names[key]}\n{text}" for key, text in sections.items()) + "\n"


def room_for(body: str) -> int:
    return tokens.size(body)


def test_a_body_that_fits_is_given_back_as_it_is() -> None:
    assert trimmed(BODY, room_for(BODY)) == (BODY, [])


def test_background_goes_first_and_intent_stays() -> None:
    body = a_body(mission=f"- {WORDS}", pending=f"- [ ] {WORDS}", knowledge=f"- {WORDS}")
    text, gone = trimmed(body, room_for(body) - 1)
    assert gone == ["Knowledge Base: 1 of 1 items"]
    assert text == a_body(mission=f"- {WORDS}", pending=f"- [ ] {WORDS}")
    text, gone = trimmed(body, room_for(text) - 1)
    assert text == a_body(mission=f"- {WORDS}")
    assert gone == ["Pending Actions: 1 of 1 items", "Knowledge Base: 1 of 1 items"]


def test_what_is_blocking_or_severe_outlives_everything_but_the_intent() -> None:
    body = a_body(pending=f"- [ ] {WORDS}", checklist=f"- [ ] blocked by the review: {WORDS}")
    text, gone = trimmed(body, room_for(body) - 1)
    assert gone == ["Pending Actions: 1 of 1 items"] and "blocked by" in text


def test_of_items_without_a_date_the_last_goes_first() -> None:
    one, two, three = (f"- {name} {WORDS}" for name in ("one", "two", "ten"))
    body = a_body(mission=f"- {WORDS}", highlights="\n".join((one, two, three)))
    text, _ = trimmed(body, room_for(body) - 1)
    assert text == a_body(mission=f"- {WORDS}", highlights=f"{one}\n{two}")


@each("kept", range(1, 9))
def test_no_more_goes_than_has_to(kept: int) -> None:
    items = [f"- {number} {WORDS}" for number in range(1, 10)]
    room = room_for(a_body(highlights="\n".join(items[:kept])))
    text, gone = trimmed(a_body(highlights="\n".join(items)), room)
    assert text == a_body(highlights="\n".join(items[:kept]))
    assert gone == [f"Transcript Highlights: {9 - kept} of 9 items"]


def test_each_section_that_stays_keeps_its_heading() -> None:
    blocked = f"- [ ] blocked by the review: {WORDS}"
    body = a_body(mission=f"- {WORDS}", pending=f"- [ ] {WORDS}", checklist=blocked)
    text, _ = trimmed(body, room_for(body) - 1)
    assert text == a_body(mission=f"- {WORDS}", checklist=blocked)


@each("tokenizer", ["o200k", "cl100k", "claude"])
def test_of_one_long_item_a_beginning_stays_however_little_room_there_is(tokenizer: str) -> None:
    for room in (1, 2, 3, 5, 9, 12):
        text, gone = trimmed(a_body(mission=f"- {WORDS} " * 90), room, tokenizer)
        assert gone == ["the rest was cut"]
        assert text == "…\n" or tokens.within(text, room, tokenizer)


def test_the_newest_of_a_section_stays() -> None:
    old, new = f"- 2025-10-01 09:00 {WORDS}", f"- 2025-10-22 09:00 {WORDS}"
    for items in ((old, new), (new, old)):
        body = a_body(highlights="\n".join(items))
        text, gone = trimmed(body, room_for(body) - 1)
        assert text == a_body(highlights=new)
        assert gone == ["Transcript Highlights: 1 of 2 items"]


def test_the_time_of_day_counts_and_of_equals_the_first_stays() -> None:
    for first, second in (
        ("2025-10-22 09:00", "2025-10-22 10:00"),
        ("2025-10-21", "2025-10-22"),
        ("2025-10-21:", "2025-10-22,"),
    ):
        old, new = f"- {first} {WORDS}", f"- {second} {WORDS}"
        for items in ((old, new), (new, old)):
            for mark in ("- ", "- [ ] ", "10. ", ""):
                own = [item.replace("- ", mark) for item in items]
                body = a_body(highlights="\n\n".join(own))
                kept = new.replace("- ", mark)
                assert trimmed(body, room_for(body) - 1)[0] == a_body(highlights=kept)
    body = a_body(highlights=f"- one {WORDS}\n- two {WORDS}")
    assert trimmed(body, room_for(body) - 1)[0] == a_body(highlights=f"- one {WORDS}")


def test_an_item_with_a_code_block_goes_without_the_one_before_it() -> None:
    kept = f"- one {WORDS}"
    more = "```sh\nmake x\n```\n - and a detail\n\n and a paragraph of it"
    body = a_body(highlights=f"{kept}\n- two {WORDS}\n{more}")
    text, gone = trimmed(body, room_for(body) - 1)
    assert text == a_body(highlights=kept) and gone == ["Transcript Highlights: 1 of 2 items"]


def test_an_item_goes_with_what_is_indented_below_it_and_a_code_block_stays_whole() -> None:
    code = "```sh\n# Knowledge Base\n- no item\n\nmake x\n```"
    body = a_body(pending=f"- [ ] {WORDS}\n  - detail\n{code}", highlights=f"- {WORDS}\n  - more")
    text, _ = trimmed(body, room_for(body) - 1)
    assert text == a_body(pending=f"- [ ] {WORDS}\n  - detail\n{code}")


def test_where_nothing_fits_whole_the_beginning_of_the_most_important_does() -> None:
    body = a_body(mission=f"- {WORDS} {WORDS}", knowledge=f"- {WORDS}\n- {WORDS}")
    text, gone = trimmed(body, 12)
    assert text.startswith("# Mission Snapshot\n- the plan") and text.endswith("…\n")
    assert gone == ["Knowledge Base: 2 of 2 items", "the rest was cut"]


@each("tokenizer", ["o200k", "cl100k", "claude"])
@each("text", ["word ", "é😀,.\n12 ", "登录令牌", "x7Qz9"])
def test_what_is_cut_is_within_the_tokens_and_uses_half_of_them(text: str, tokenizer: str) -> None:
    body = a_body(mission=f"- {text * 300}")
    for most in range(12, 200, 8):
        cut, _ = trimmed(body, most, tokenizer)
        assert tokens.within(cut, most, tokenizer)
        assert most < 40 or not tokens.within(cut, most // 2, tokenizer)


@given(st.lists(st.text(max_size=60), max_size=12), st.integers(8, 200))
def test_whatever_is_asked_for_is_kept_to(lines: list[str], most: int) -> None:
    body = BODY + "\n".join(lines)
    text, gone = trimmed(body, most)
    assert tokens.size(text) <= most
    assert bool(gone) == (text != body)
    assert trimmed(text, most) == (text, [])

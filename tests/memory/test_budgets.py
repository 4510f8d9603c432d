"""budgets.py: what is printed whole, in short, or only named."""

from __future__ import annotations

from contextkit.base import tokens
from contextkit.memory.flows import budgets
from contextkit.memory.flows.budgets import Omitted, Part
from hypothesis import given
from hypothesis import strategies as st

LONG = "The parser takes 52 ms. " * 200
parts = st.builds(
    Part,
    text=st.text(max_size=40) | st.integers(1, 300).map(lambda n: LONG[: n * 16]),
    heading=st.sampled_from(["", "Plan"]),
    short=st.sampled_from(["", "in short"]),
    path=st.sampled_from(["", "a.md"]),
    first=st.booleans(),
)


def test_what_fits_is_whole() -> None:
    given = [Part(text="one"), Part(text="two", path="b.md")]
    assert budgets.fit(given, 100) == budgets.Fitted(parts=tuple(given), left_out=())


def test_what_comes_first_is_cut_and_the_first_of_the_others_gets_what_is_left() -> None:
    given = [
        Part(text=LONG, path="plan.md", first=True),
        Part(text=LONG, short="in short", path="a.md"),
        Part(text="small", path="b.md"),
    ]
    found = budgets.fit(given, 300)
    assert found.parts[0].text.startswith("The parser") and found.parts[0].text.endswith("…")
    assert found.parts[1].text.endswith("…") and found.parts[2].text == "small"
    assert [part.path for part in found.left_out] == ["plan.md", "a.md"]


def test_all_get_a_little_before_the_first_gets_more() -> None:
    given = [Part(text=LONG, short=f"short {n}", path=f"{n}.md") for n in range(5)]
    room = tokens.estimate(LONG) + 250
    texts = [part.text for part in budgets.fit(given, room).parts]
    assert [texts[0], *texts[2:]] == [LONG, "short 2", "short 3", "short 4"]
    assert len("short 1") < len(texts[1]) < len(LONG)  # and the second what is left then


def test_a_fence_that_is_cut_is_closed() -> None:
    text = "What it says.\n\n  ~~~~py\n" + "  print('## no heading')\n" * 200 + "  ~~~~\n"
    (cut,) = budgets.fit([Part(text=text)], 100).parts
    assert cut.text.endswith("\n…\n  ~~~~")


@given(st.lists(parts, max_size=12), st.integers(60, 3000))
def test_a_fit_stays_in_its_room_and_loses_no_path(given: list[Part], room: int) -> None:
    found = budgets.fit(given, room)
    used = sum(tokens.estimate(part.text) + tokens.estimate(part.heading) for part in found.parts)
    assert used <= room
    named = [part.path for part in found.left_out]
    for part in given:
        assert not (part.path and part.text) or part in found.parts or part.path in named


def test_the_list_of_what_is_left_out_ends_in_how_many_more() -> None:
    found = budgets.list_left_out(
        tuple(Omitted(path=f"{n}.md", tokens=9) for n in range(100)), 200, "ask"
    )
    assert found[0] == "0.md (~9 tokens)" and found[-1] == f"and {101 - len(found)} more; ask"
    assert sum(map(tokens.estimate, found)) <= 210
    assert budgets.list_left_out((Omitted(path="a.md", tokens=3),), 100, "ask") == (
        "a.md (~3 tokens)",
    )

"""legends.py: what a text says about its own signs, words and numbers."""

from __future__ import annotations

from conftest import each
from contextkit.reviews.documents import legends


@each(
    ("meanings", "grades"),
    [
        ("STOP=I block it TALK=we speak IDEA=as you like", "P0 P2 P3"),
        ("IDEA=as you like TALK=we speak STOP=I block it", "P3 P2 P0"),
        ("Green=cosmetic Amber=to discuss Red=we stop here", "P3 P2 P0"),
        ("tier-1=x tier-2=y tier-3=z", "P0 P1 P2"),
        ("1=cosmetic 2=x 3=y 4=blocker", "P3 P2 P1 P0"),
        ("tier-3=cosmetic tier-1=x tier-2=y", "P3 P0 P1"),
        ("a=one b=two c=three", ""),  # nothing tells the order
        ("1=one 2=two 3=three", ""),
        ("one=x two=critical three=y", ""),
        ("STOP=I block it IDEA=as you like", ""),  # no scale
        ("blocker=minor next=x last=y", "P0 P2 P0"),  # no word is milder than it says itself
    ],
)
def test_a_scale_is_known_by_what_is_said_of_some_of_its_words(meanings: str, grades: str) -> None:
    marked = meanings.replace("=", "\0=").split("\0")
    names = [part.rsplit(" ", 1)[-1].lstrip("=") for part in marked[:-1]]
    told = [part[1:].rsplit(" ", 1)[0] for part in marked[1:-1]] + [marked[-1][1:]]
    read = legends.scale(dict(zip(names, told, strict=True)))
    assert " ".join(read[name] for name in names if read) == grades


def test_a_legend_of_objects_holds_for_ranges() -> None:
    tree = {"x": [{"scale": {"9-10": "critical", "7-8": "high", "1-6": "cosmetic"}}]}
    told = legends.of_tree(tree)
    assert (told["10"], told["9"], told["7"], told["4"]) == ("P0", "P0", "P1", "P3")
    assert "11" not in told


@each(
    ("row", "expected"),
    [
        ("STOP: it is lost", "[P0]: it is lost"),
        ("**STOP** it is lost", "[P0] it is lost"),
        ("| a | STOP | b |", "| a | P0  | b |"),
        ("2.1 Names: STOP. They differ.", "2.1 [P0] Names. They differ."),
        ("Rating: STOP", "Rating: [P0]"),
        ("STOP it at once", "STOP it at once"),
        ("we STOP here", "we STOP here"),
    ],
)
def test_a_word_of_a_legend_grades_where_a_grade_may_stand(row: str, expected: str) -> None:
    legend = "Key: STOP = I block it; TALK = we speak; IDEA = as you like."
    assert legends.graded([legend, "", row]) == [legend, "", expected]


@each("row", ["Red: the sign of the shop", "| Red | #f00 |"])
def test_a_word_of_a_known_scale_alone_grades_nothing(row: str) -> None:
    assert legends.graded([row]) == [row]


def test_a_list_of_labels_is_no_legend() -> None:
    rows = ["## Findings", "", "- Issue: it is lost", "- Effort: high", "- Fix: must be fixed"]
    assert legends.graded(rows) == rows

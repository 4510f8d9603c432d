"""shell.py: what is read of a command, and that everything unusual is left alone."""

from __future__ import annotations

import shlex

from conftest import each
from contextkit.base import names
from contextkit.text import shell
from hypothesis import example, given
from hypothesis import strategies as st


def told(text: str) -> list[tuple[tuple[str, ...], str]] | None:
    found = shell.parse(text)
    return None if found is None else [(one.words, one.after) for one in found]


def test_words_operators_and_places() -> None:
    text = "cd a && FOO=1 BAR= pytest -q 2>&1 | tee 'a b'; echo x"
    found = shell.parse(text)
    assert found is not None
    assert [(one.assigned, one.words, one.after) for one in found] == [
        ((), ("cd", "a"), "&&"),
        (("FOO=1", "BAR="), ("pytest", "-q"), "|"),
        ((), ("tee", "a b"), ";"),
        ((), ("echo", "x"), ""),
    ]
    assert text[found[1].start : found[1].end] == "FOO=1 BAR= pytest -q 2>&1 "


@each(
    ("text", "expected"),
    [
        ("", []),
        ("  # nothing", []),
        ("a # b | c\nd", [(("a",), "\n"), (("d",), "")]),
        ("a |\n\n b", [(("a",), "|"), (("b",), "")]),
        ("a \\\n b", [(("a", "b"), "")]),
        ("\"a;b\" 'c|d' e\\ f g#h", [(("a;b", "c|d", "e f", "g#h"), "")]),
        ("'if' x", [(("if", "x"), "")]),
        ("/usr/bin/a $X ${Y} *.py", [(("/usr/bin/a", "$X", "${Y}", "*.py"), "")]),
        ("a 2>/dev/null || b", [(("a",), "||"), (("b",), "")]),
        ('a "b \\" \\$c \\\\ \\d"', [(("a", 'b " $c \\ \\d'), "")]),
        ('a\\\nb "c\\\nd"', [(("ab", "cd"), "")]),
        ("A+=1 a", [(("a",), "")]),
        ("time a | b", [(("time", "a"), "|"), (("b",), "")]),
    ],
)
def test_what_is_plain_is_read(text: str, expected: object) -> None:
    assert told(text) == expected


@each(
    "text",
    ["a &", "a & b", "a > f", "a>f", "a >> f", "a 2> f", "a < f", "cat <<E\nx\nE", "a <<< x",
     "a $(b)", "a `b`", "a \"$(b)\"", "a \"`b`\"", "a <(b)", "(a)", "{ a; }", "! a", "a |& b",
     "a $'x'", "if a; then b; fi", "for x in 1; do a; done", "while a; do b; done", "f() { a; }",
     "[[ -f x ]]", "a ||", "a &&", "a |", "| a", "&& a", "; a", "a ;; b", "a 'b", 'a "b', "a; | b",
     "a 2>/dev/null.log", "a 2>&10", "case x in x) a;; esac"],
)  # fmt: skip
def test_what_is_not_plain_is_left_alone(text: str) -> None:
    assert shell.parse(text) is None


@given(st.lists(st.text(min_size=1).filter(lambda word: "\0" not in word), min_size=1))
@example(["if"])
def test_quoted_words_come_back(words: list[str]) -> None:
    found = shell.parse("x " + " ".join(map(names.word, words)))
    assert found is not None and found[0].words == ("x", *words)
    assert shlex.split(" ".join(map(names.word, words))) == words


@given(st.text())
def test_whatever_is_typed_it_ends(text: str) -> None:
    found = shell.parse(text)
    assert found is None or all(one.words or one.assigned for one in found)

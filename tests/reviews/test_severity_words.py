"""vocabulary.py and heads.py: severities, ids, labels, and verdicts, word by word."""

from __future__ import annotations

from conftest import SCRIPTS, each
from contextkit.reviews.documents import heads, vocabulary


@each(
    ("line", "severity", "raw", "identity", "title", "marked"),
    [
        ("[P0] x", "P0", "P0", "", "x", True),
        ("[P0]x", "P0", "P0", "", "x", True),
        ("P2 : x", "P2", "P2", "", "x", True),
        ("P2-1. P1: x", "P1", "P1", "P2-1", "x", True),
        ("P2 x", "P2", "P2", "", "x", False),
        ("Critical things", "", "", "", "Critical things", False),
        ("**[F1] P0 x**", "P0", "P0", "F1", "x", True),
        ("[Q7] [P0] x", "P0", "P0", "Q7", "x", True),
        ("[P2] P0-1: x", "P0", "P2", "P0-1", "x", True),
        ("P0 P1 x", "P0", "P0", "", "x", True),
        ("P0: P1: x", "P0", "P0", "", "x", True),
        ("(P1) x", "P1", "P1", "", "x", True),
        ("( P1 ): x", "P1", "P1", "", "x", True),
        ("P0) x", "P0", "P0", "", "x", True),
        ("High. x", "P1", "High", "", "x", True),
        ("High) x", "P1", "High", "", "x", True),
        ("High - x", "P1", "High", "", "x", True),
        ("High   : x", "P1", "High", "", "x", True),
        ("P0—x", "P0", "P0", "", "x", True),
        ("P0", "P0", "P0", "", "", True),
        ("Q7: Q8: x", "", "", "Q7", "Q8: x", True),
        ("F1 x", "", "", "", "F1 x", False),
        ("[x] P0", "", "", "", "[x] P0", False),
        ("[] P0 x", "", "", "", "[] P0 x", False),
        ("[P0 x", "P0", "P0", "", "x", False),
    ],
)
def test_a_line_begins_with_a_severity_or_an_id(
    line: str, severity: str, raw: str, identity: str, title: str, marked: bool
) -> None:
    head = heads.read(line)
    assert (head.severity, head.raw, head.id) == (severity, raw, identity)
    assert (head.title, head.marked) == (title, marked)


@each(
    ("identity", "severity"),
    [
        *(("P0-1", "P0"), ("P0", "P0"), ("P0X", ""), ("P01", ""), ("IMP-2", "IMP"), ("FD-P1", "")),
        *(("**p0-1**", "P0"), ("P1_2", "P1"), ("P1a-2", ""), ("P01-2", ""), ("P", "")),
    ],
)
def test_an_id_carries_the_severity_that_it_begins_with(identity: str, severity: str) -> None:
    assert vocabulary.severity_of_id(identity) == severity


@each(
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
        ("riskyx y", ""),
        ("risky: yes", "risky"),
        ("needs-changes | risky", ""),
        ("safe — x", "safe"),
        ("safe - x", "safe"),
        ("safe: x", "safe"),
        ("safe x", ""),
        ("safe | risky", ""),
        ("safe, not unsafe", ""),
        ("safe. " + "x" * 500 + " risky", ""),
        ("SAFE", "safe"),
        ("error: x", "error"),
        ("errors", ""),
        ("not safe", ""),
    ],
)
def test_a_verdict_is_safe_only_if_nothing_takes_it_back(said: str, word: str) -> None:
    assert vocabulary.verdict_word(said) == word


@each(
    ("line", "label"),
    [
        ("Status: _x_", ("STATUS", "_x_")),
        ("_Status:_ x", ("STATUS", "x")),
        ("- **Status:** x", ("STATUS", "x")),
        ("| Status | x |", ("STATUS", "x")),
        ("Verdict： safe", ("VERDICT", "safe")),
        ("no label", ("", "")),
        ("| Status | x | y |", ("", "")),
        ("| Status |", ("", "")),
        ("}Status: x", ("}STATUS", "x")),
        ("Status: a: b：c", ("STATUS", "a: b:c")),
        ("Status： a：b", ("STATUS", "a：b")),
        ("a" * 38 + ": x", ("A" * 38, "x")),
        ("a" * 50 + ": x", ("", "")),
    ],
)
def test_a_label_and_its_value(line: str, label: tuple[str, str]) -> None:
    assert vocabulary.labelled(line) == label


@each(
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


@each(
    ("text", "severity"),
    [
        *(("P0", "P0"), ("must fix", "P1"), ("Must_Fix", "P1"), ("high/medium", "P1")),
        *(("(Critical)", "P0"), ("🔴 Critical", "P0"), ("🔴", "P0"), ("— P0 —", "P0")),
        *(("critical path", ""), ("P0 1", ""), ("", ""), ("P0 " * 19, "P0"), ("P0 " * 30, "")),
    ],
)
def test_a_severity_is_a_word_for_one_or_several(text: str, severity: str) -> None:
    assert vocabulary.severity(text) == severity


@each("text", ["Q7", "P0-1", "**P0-1**", "AR_1", "AR-001", "x1" * 11])
def test_an_id_begins_with_a_letter_and_has_a_digit(text: str) -> None:
    assert vocabulary.is_id(text)


@each("text", ["7Q", "Q", "AR", "7", "Q7!", "AR 1", "", "x1" * 20])
def test_what_is_not_an_id(text: str) -> None:
    assert not vocabulary.is_id(text)


def test_a_line_says_nothing_only_with_words_for_nothing() -> None:
    for text in ("None found.", "no", "no P0", "(none)", "none " * 15):
        assert vocabulary.says_nothing(text), text
    for text in ("nothing here", "found", "", "none of them", "none " * 30):
        assert not vocabulary.says_nothing(text), text


@each(
    ("line", "stated"),
    [
        ("**Verdict:** `safe`", "safe"),
        ("Overall verdict: x y", "x y"),
        ("FINAL VERDICT: RISKY", "RISKY"),
        ("My verdict: safe", None),
        ("The verdict is in", None),
        ("Status: safe", None),
    ],
)
def test_a_line_states_a_verdict_by_its_label(line: str, stated: str | None) -> None:
    assert vocabulary.verdict(line) == stated


def test_a_verdict_in_other_words_passes_only_if_nothing_in_it_fails() -> None:
    for said in ("PASS with notes", "LGTM!", "ok", "approved"):
        assert vocabulary.passes(said), said
    for said in ("pass | fail", "passed, one failed", "not a pass", "passing", "2 pass"):
        assert not vocabulary.passes(said), said
    assert not vocabulary.passes("pass. " + "x" * 500 + " fail")


def test_every_list_of_words_is_read_and_holds_no_word_twice() -> None:
    files = (SCRIPTS / "contextkit/reviews").rglob("*.py")
    code = "".join(path.read_text(encoding="utf-8") for path in files).replace("'", '"')
    for name, words in vocabulary.LISTS.items():
        kind, _, rest = name.partition(" ")
        called = {**dict.fromkeys(("any", "needs", "sign"), f'any_of("{rest}"'),
                  **dict.fromkeys(("letter", "column"), f"{kind} {{")}  # fmt: skip
        assert called.get(kind, f'"{name}"') in code, name
        assert kind in ("any", "needs") or len({*words}) == len(words), name

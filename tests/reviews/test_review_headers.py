"""headers.py: what an agent says of itself in a few lines, and when that is believed."""

from __future__ import annotations

from conftest import each
from contextkit.reviews.documents import headers
from contextkit.reviews.documents.headers import STATUSES, Header
from growth import is_in_proportion
from hypothesis import given
from hypothesis import strategies as st

LINES = {
    "TYPE": "verdict",
    "STATUS": "CLEAN",
    "MODEL": "sonnet",
    "TOKENS_SPENT": "12500",
    "FILES_CHANGED": "[src/__init__.py, b.go]",
    "FINDINGS_COUNT": "0",
    "SUMMARY": "All is well.",
    "DETAIL_PATH": ".clavain/verdicts/fd__x.md",
}
TAIL = """\
--- VERDICT ---
STATUS: {status}
FILES: 2 changed
FINDINGS: {findings}
SUMMARY: Two small things
---"""


def lines(**changes: str) -> str:
    """The eight lines; a test names only those it is about."""
    return "\n".join(f"{key}: {value}" for key, value in {**LINES, **changes}.items())


def tail(status: str = "pass", findings: str = "2 (P0: 0, P1: 0, P2: 2)") -> str:
    return TAIL.format(status=status, findings=findings)


def header(text: str) -> Header:
    found = headers.parse(text)
    assert found is not None
    return found


def status(text: str) -> str:
    return header(text).status


# Eight lines


def test_eight_lines_are_read_key_by_key() -> None:
    assert header(lines() + "\n\nThe review.\n") == Header(
        form="lines",
        status="CLEAN",
        type="verdict",
        model="sonnet",
        tokens_spent=12_500,
        files_changed=("src/__init__.py", "b.go"),
        summary="All is well.",
        detail_path=".clavain/verdicts/fd__x.md",
    )


@each("word", STATUSES)
def test_every_status_of_the_contract_is_known(word: str) -> None:
    assert (status(lines(STATUS=word)), header(lines(STATUS=word)).flags) == (word, ())


@each("dress", ["{}", "**{}**", "- {}", "\ufeff{}", "\n\n{}", "<!-- x -->\n{}"])
def test_the_lines_may_be_dressed_up(dress: str) -> None:
    text = "\n".join(dress.format(line) if "\n" not in dress else line for line in
                     lines(STATUS="FAILED").split("\n"))  # fmt: skip
    assert status(dress.format(text) if "\n" in dress else text) == "FAILED"
    assert status(lines(STATUS="FAILED").lower().replace("\n", "\r\n")) == "FAILED"


@each(
    ("given", "files"),
    [("[]", ()), ("none", ()), ('["a.go", "b c.go"]', ("a.go", "b c.go")),
     ("a.go,b.go", ("a.go", "b.go"))],
)  # fmt: skip
def test_changed_files_are_a_list_in_whatever_form(given: str, files: tuple[str, ...]) -> None:
    assert header(lines(FILES_CHANGED=given)).files_changed == files


@each(
    ("given", "number", "flags"),
    [("~12,500", 12_500, ()), ("12.5k", 0, ("bad_number",)), ("-3", 0, ("bad_number",)),
     ("", 0, ()), ("9" * 400, 0, ("bad_number",)), ("800 tokens", 800, ())],
)  # fmt: skip
def test_a_number_that_is_none_counts_as_nothing(
    given: str, number: int, flags: tuple[str, ...]
) -> None:
    found = header(lines(TOKENS_SPENT=given))
    assert (found.tokens_spent, found.flags) == (number, flags)


def test_only_the_beginning_of_a_text_can_be_this_header() -> None:
    assert headers.parse("The agent is asked to write:\n\n" + lines()) is None
    assert headers.parse("```\n" + lines() + "\n```\n") is None
    assert headers.parse("STATUS: CLEAN\nMODEL: x\n") is None
    assert headers.parse("# Review\n\n**Status:** draft\n") is None


def test_two_statuses_count_as_the_stricter() -> None:
    assert status("STATUS: FAILED\n" + lines()) == "FAILED"
    assert status(lines() + "\nSTATUS: BLOCKED") == "BLOCKED"


# The tail block


@each("after", ["", "\n", "\n<!-- flux-drive:complete -->\n", "\n\n \n"])
@each("before", ["", "A review.\n\n", "### Findings Index\nVerdict: risky\n\n"])
def test_the_tail_block_is_found_with_and_without_a_sentinel(before: str, after: str) -> None:
    found = header(before + tail("fail", "3 (P0: 1, P1: 0, P2: 2)") + after)
    assert (found.form, found.status) == ("tail", "NEEDS_ATTENTION")
    assert (found.findings_count, found.summary) == (3, "Two small things")


@each(
    ("word", "expected"),
    [("pass", "CLEAN"), ("warn", "NEEDS_ATTENTION"), ("fail", "NEEDS_ATTENTION"),
     ("error", "ERROR"), ("retry", "ERROR"), ("PASS", "CLEAN"), ("passed?", "NEEDS_ATTENTION"),
     ("pass|fail|warn", "NEEDS_ATTENTION"), ("", "NEEDS_ATTENTION"), ("ok", "NEEDS_ATTENTION")],
)  # fmt: skip
def test_its_words_are_translated_and_an_unknown_one_never_passes(word: str, expected: str) -> None:
    assert status(tail(word)) == expected


@each(
    ("findings", "flag"),
    [("1 (P0: 1, P1: 0, P2: 0)", "verdict_mismatch"), ("0 (P0: 0, P1: 2)", "verdict_mismatch"),
     ("1 (critical: 1)", "verdict_mismatch"), ("3", "bad_number"), ("some", "bad_number"),
     ("", "bad_number"), ("2 (P0: x, P1: 0)", "bad_number"), ("2 (sev9: 2)", "bad_number")],
)  # fmt: skip
def test_a_pass_is_believed_only_with_counts_that_agree(findings: str, flag: str) -> None:
    found = header(tail("pass", findings))
    assert found.status == "NEEDS_ATTENTION" and flag in found.flags


@each("findings", ["0", "none", "0 (P0: 0, P1: 0, P2: 0)", "4 (P2: 1, IMP: 3)"])
def test_counts_without_p0_and_p1_agree_with_a_pass(findings: str) -> None:
    assert header(tail("pass", findings)).flags == ()


@each("missing", ["STATUS", "FINDINGS", "\n---"])
def test_a_block_that_is_not_whole_does_not_pass(missing: str) -> None:
    text = tail().removesuffix(missing) if missing == "\n---" else "\n".join(
        line for line in tail().split("\n") if not line.startswith(missing)
    )  # fmt: skip
    assert status(text) == "NEEDS_ATTENTION"


def test_a_pass_counts_only_at_the_end_and_a_fail_anywhere() -> None:
    assert headers.parse(tail() + "\n\nThat is what the other agent said.\n") is None
    assert status(tail("fail") + "\n\nThat is what the other agent said.\n") == "NEEDS_ATTENTION"
    assert headers.parse("```\n" + tail() + "\n```\n") is None
    assert headers.parse("> " + tail().replace("\n", "\n> ") + "\n") is None


# One line


@each(
    ("line", "expected", "summary"),
    [
        ("VERDICT: CLEAN", "CLEAN", ""),
        ("**VERDICT:** NEEDS_ATTENTION — five things", "NEEDS_ATTENTION", "five things"),
        ("VERDICT: NEEDS_ATTENTION one thing", "NEEDS_ATTENTION", "one thing"),
        ("VERDICT: QUESTION which file?", "NEEDS_ATTENTION", "which file?"),
        ("VERDICT: FAILED the build", "FAILED", "the build"),
        ("VERDICT: ERROR no answer", "ERROR", "no answer"),
        ("VERDICT: error handling is missing", "NEEDS_ATTENTION", "handling is missing"),
        ("VERDICT: CLEAN except for the login", "NEEDS_ATTENTION", "except for the login"),
        ("VERDICT: CLEANUP", "NEEDS_ATTENTION", ""),
        ("VERDICT: CLEAN|NEEDS_ATTENTION", "NEEDS_ATTENTION", "|NEEDS_ATTENTION"),
        ("VERDICT: UNKNOWN", "NEEDS_ATTENTION", ""),
        ("VERDICT: safe", "CLEAN", ""),
        ("VERDICT: needs changes", "NEEDS_ATTENTION", ""),
    ],
)
def test_one_line_is_read_word_by_word(line: str, expected: str, summary: str) -> None:
    found = header(f"Work.\n\n{line}\n")
    assert (found.form, found.status, found.summary) == ("single", expected, summary)


def test_the_last_line_counts() -> None:
    assert status("VERDICT: NEEDS_ATTENTION x\nfixed\nVERDICT: CLEAN\n") == "CLEAN"
    assert status("VERDICT: CLEAN\nbut\nVERDICT: NEEDS_ATTENTION x\n") == "NEEDS_ATTENTION"


@each(
    "text",
    [
        "VERDICT: CLEAN\n\nwas what I was told to say.\n",
        "VERDICT: CLEAN\n\n## Findings\n",
        "VERDICT: CLEAN\n\n```\nmore\n",
        "```\nVERDICT: CLEAN\n```\n",
        "> VERDICT: CLEAN\n",
        "Verdict: safe\n",
        "verdict: clean\n",
        "The VERDICT: CLEAN\n",
    ],
)
def test_a_pass_that_may_be_quoted_is_no_header(text: str) -> None:
    assert headers.parse(text) is None


def test_a_pass_in_the_wrong_place_leaves_what_failed_before() -> None:
    assert status("VERDICT: FAILED x\n\nVERDICT: CLEAN\n\nand so on\n") == "FAILED"


# Together


def test_of_several_forms_the_strictest_status_counts() -> None:
    text = lines() + "\n\nWork.\n\n" + tail("fail", "3 (P0: 1, P1: 0, P2: 2)")
    found = header(text)
    assert (found.form, found.status) == ("lines", "NEEDS_ATTENTION")
    assert (found.flags, found.model) == (("verdict_mismatch",), "sonnet")
    assert found.findings_count == 3
    assert status(lines() + "\n\nWork.\n\n" + tail() + "\nVERDICT: CLEAN\n") == "CLEAN"
    assert status(lines() + "\n\nWork.\n\n" + tail() + "\nVERDICT: BLOCKED\n") == "BLOCKED"


@each("text", ["", "\n", "\ufeff", "Prose.\n", "### Findings Index\nVerdict: safe"])
def test_a_text_without_a_header_has_none(text: str) -> None:
    assert headers.parse(text) is None


words = st.sampled_from(
    ["STATUS: CLEAN", "STATUS: fail", "TYPE: verdict", "MODEL: x", "SUMMARY: y", "FILES: 1 changed",
     "FINDINGS: 1 (P0: 1)", "FINDINGS: 0", "--- VERDICT ---", "---", "VERDICT: CLEAN",
     "VERDICT: FAILED", "VERDICT:", "```", "# x", "prose", "", "<!-- a:complete -->", "|", "STATUS"]
)  # fmt: skip


@given(st.lists(words))
def test_no_order_of_lines_passes_that_says_otherwise(found: list[str]) -> None:
    got = headers.parse("\n".join(found))
    if got and got.passes():
        assert not {"STATUS: fail", "# x", "prose"} & set(found[-1:])
        assert "FINDINGS: 1 (P0: 1)" not in found or got.form != "tail"
    if found[-1:] == ["VERDICT: FAILED"] and "```" not in found:
        assert got and not got.passes()


@given(st.text(st.one_of(st.sampled_from("-:|*`VERDICT \nSTAUS()P0,"), st.characters())))
def test_no_text_is_too_odd_for_a_header(text: str) -> None:
    for before in ("", "--- VERDICT ---\n", "VERDICT: ", "TYPE: x\nMODEL: y\nSTATUS: "):
        found = headers.parse(before + text)
        assert found is None or found.status in STATUSES


@each("piece", ["VERDICT: CLEAN\n", "--- VERDICT ---\n", "STATUS: x\n", "x: ", "-"])
def test_reading_a_header_takes_time_in_proportion(piece: str) -> None:
    assert is_in_proportion(headers.parse, piece)

"""telling.py: what a receipt says of a text that its author has summed up."""

from __future__ import annotations

import re
import string

from contextkit.base import tokens
from contextkit.base.layout import Layout
from contextkit.payloads.flows import storing

NOW = 1_764_324_300  # 2025-11-28 10:05:00 UTC
SENTENCES = [
    f"Part {i} reads its settings {i} times a second, so that {i}0 ms go by before it answers"
    for i in range(2, 10)
]
FINDINGS = "".join(
    f'- P{i % 3} | P{i % 3}-{i} | "Part {i}" | A lock of kind {"abcdefghij"[i]} is never released\n'
    for i in range(9)
)


def receipt(layout: Layout, content: str) -> str:
    output = storing.Output(topic="Speed", source="x", content=content, tokens=9999)
    return storing.store(layout, "s", output, NOW).receipt


def review(summary: list[str]) -> str:
    listed = "\n".join(f"- {one}." for one in summary)
    prose = "The lock is described here. It is held in src/lock.py:9 for 40 ms.\n" * 9
    return (
        f"# Review\n\n### Findings Index\n{FINDINGS}Verdict: needs-changes\n\n"
        f"## Summary\n\n{listed}\n\n## Details\n\n{prose}"
    )


def test_a_summary_that_fits_is_whole_before_anything_is_extracted(layout: Layout) -> None:
    said = receipt(layout, review(SENTENCES))
    assert all(one in said for one in SENTENCES) and tokens.within(said, 300)
    assert "The lock is described here" not in said


def test_what_the_summary_of_a_review_does_not_name_is_named_by_its_id(layout: Layout) -> None:
    said = receipt(layout, review(SENTENCES))
    assert "P0 left out,P0-0; P0-3; P0-6" in said and "P1 left out,P1-1; P1-4; P1-7" in said


def test_a_section_of_the_author_is_told_once(layout: Layout) -> None:
    options = "".join(
        f"### Option {n}\n\nThe store {n} answers in {3 * n + 5} ms at p95 with {n + 1} writers"
        f" (measured by bench/store{n}.py:{n + 7}). It needs `pip install store{n}`, which the user"
        f" forbids. Its revocation takes {2 * n} s.\n\n"
        for n in range(60)
    )
    advice = (
        "1. Write src/session.py with `sqlite3`, table `sessions(id, user, expires)`.\n"
        "2. Remove the print in src/login.py:3.\n3. Do not use JWT.\n"
    )
    said = receipt(
        layout,
        "# How to store login sessions\n\n## Summary\nUse server-side sessions in SQLite; signed"
        " cookies were rejected because they cannot be revoked. The token must not be printed:"
        f" src/login.py:3 prints it today.\n\n## Findings\n\n{options}## Recommendations\n{advice}"
        "\n## Open questions\n- How long does a session live?\n",
    )
    assert said.count("Do not use JWT") == said.count("Recommendations") == 1


def test_many_that_the_summary_does_not_name_are_counted(layout: Layout) -> None:
    more = "".join(
        f'- P0 | P0-{i} | "Part {i}" | Lock {i} is never released\n' for i in range(9, 30)
    )
    text = review(SENTENCES).replace("Verdict:", f"{more}Verdict:")
    assert "P0-9; P0-10; P0-11; +18 more" in receipt(layout, text)


def test_a_review_with_room_is_told_by_its_findings(layout: Layout) -> None:
    said = receipt(layout, review(SENTENCES[:1]))
    assert "left out" not in said
    assert "A lock of kind a is never released" in said


def test_few_sentences_are_cut_and_those_the_longest(layout: Layout) -> None:
    long = ["It was measured in three ways, " + "each of which has its own doubts, " * 9] * 2
    wanted = [*SENTENCES[:2], *long, *SENTENCES[2:]]
    text = "# Report\n\n## Summary\n\n" + "\n".join(f"- {one}." for one in wanted)
    said = receipt(layout, text + "\n\n## Details\n\n" + "Nothing else was found.\n" * 9)
    assert all(one in said for one in SENTENCES)
    assert "It was measured in three ways" in said and long[0] not in said


def a_report(summary: str, names: list[str]) -> str:
    named = "".join(f"### {name}\n\nIt saves some ms.\n\n" for name in names)
    return f"# Loading\n\n## Executive Summary\n\n{summary}\n\n## Recommendations\n\n{named}"


def test_what_a_summary_itself_recommends_stands_whole_and_what_is_left_is_counted(
    layout: Layout,
) -> None:
    parts = enumerate(string.ascii_letters[:38], start=2)
    many = [f"The part {name} of all parts reads {n}0 settings from {n} files" for n, name in parts]
    summary = "\n".join(f"{n}. {one}." for n, one in enumerate(many, start=1))
    advice = "**Recommended strategy:** Cache the parsed file by inode, in one place for all parts."
    said = receipt(layout, a_report(f"{summary}\n\n{advice}", ["R1: Cache"]))
    assert advice.partition(":** ")[2] in said and "+" in said
    (left,) = re.findall(r"\+(\d+) more: lines (\d+)-(\d+)", said)
    assert int(left[0]) == int(left[2]) - int(left[1]) + 1


def test_a_long_sentence_is_cut_without_what_it_says_in_brackets(layout: Layout) -> None:
    modes = "The loader has 5 modes (first, second, third, fourth, and fifth), which it reads"
    long = (
        f"{modes} from the settings in the order of their names, before it has any file of its own"
    )
    summary = [*SENTENCES, long, *map("Also {}".format, SENTENCES[:3])]
    said = receipt(layout, a_report("\n".join(f"- {one}." for one in summary), ["R1: Cache"]))
    assert "The loader has 5 modes (…)" in said and "(first" not in said


def test_many_lines_that_differ_in_numbers_only_are_told_as_one(layout: Layout) -> None:
    lines = "".join(f"Order {4000 + n} was settled in {n} ms by worker 1\n" for n in range(60))
    text = f"# Audit\n\n## Findings\n\n{SENTENCES[0]}.\n\n## Unverified\n\n{lines}"
    said = receipt(layout, text)
    assert "Order 4000…4059 was settled in 0…59 ms by worker 1 (x60)" in said
    assert "Order 4001" not in said


def test_many_items_that_differ_in_numbers_only_are_told_as_one_unless_each_has_a_place(
    layout: Layout,
) -> None:
    items = "".join(f"- Order {4000 + n} was settled in {n} ms by worker 1\n" for n in range(60))
    for heading in ("Findings", "Summary"):
        said = receipt(layout, f"# Audit\n\n{SENTENCES[0]}.\n\n## {heading}\n\n{items}")
        assert said.count("Order 4000…4059 was settled in 0…59 ms by worker 1 (x60)") == 1
        assert "Order 4001" not in said
    placed = items.replace(" by", " in src/order.py:7 by")
    said = receipt(layout, f"# Audit\n\n{SENTENCES[0]}.\n\n## Findings\n\n{placed}")
    assert "(x60)" not in said


def test_a_question_is_told_before_many_equal_items_and_items_left_out_are_counted(
    layout: Layout,
) -> None:
    ways = "".join(f"- {one}.\n" for one in SENTENCES[:3])
    items = "".join(f"- src/part{n}.py:1 was read in {n} ms, nothing of note\n" for n in range(40))
    asked = "Is the pipe closed? Nobody could say."
    said = receipt(layout, f"# Ways\n\n## Rejected\n\n{ways}\n## Open\n\n{asked}\n\n{items}")
    assert asked in said and said.count("nothing of note") == 1
    assert "src/part0…part39.py:1 was read in 0…39 ms, nothing of note (x40)" in said
    assert all(one in said for one in SENTENCES[:3])
    long = "".join(f"- The way {way} {'is long and ' * 20}ends.\n" for way in "abcdefgh")
    said = receipt(layout, f"# Ways\n\n## Rejected\n\n{ways}{long}")
    assert f"(+{11 - said.count('reads its') - said.count('The way')} more)" in said


def test_what_is_left_to_a_person_is_told_although_the_summary_fills_the_receipt(
    layout: Layout,
) -> None:
    cause = "".join(f"The loader {n} reads all of its files again in {n} ms. " for n in range(9))
    text = (
        a_report("\n".join(f"- {one}." for one in SENTENCES), ["R1: Cache"])
        + f"\n\n## Root cause\n\n{cause}\n\n## To do by a human\n\n"
        + "- Call the seven customers before Friday.\n- Approve `doubles.csv`.\n"
    )
    said = receipt(layout, text)
    assert "Call the seven customers before Friday." in said and "+1 more: line " in said


def test_what_the_author_tells_is_not_named_as_left_out(layout: Layout) -> None:
    same = "Details of the runs that were looked at, one by one, and of what each printed. " * 12
    text = "# Why\n\n## Summary\n\nA retried job settles twice because the state is read early."
    text += " Do not switch it on before migration 0093.\n\n## Findings\n\n"
    names = ("The state is read before the lock", "The lock is early", "Totals are rounded twice")
    for number, name in enumerate(names, 1):
        seen = f"It was seen {number * 3} times in May, for {number * 100} orders."
        text += f"### {number}. {name}\n\n`p{number}.py:{number}` does it. {seen} {same}\n\n"
    text += (
        "## Next steps\n\n- Hold the lock in a.py:1\n- Replay May\n\n## Open\n\n- Who owns it?\n"
    )
    said = receipt(layout, text)
    assert "Who owns it?" in said and not re.search(r"^more: line ", said, re.M)


def test_a_finding_that_is_shown_is_not_counted_as_left_out(layout: Layout) -> None:
    text = (
        "# Report\n\n## Summary\n\nThe parser reads the file twice.\n\n## Recommendations\n\n"
        "- P1: Cache the file by inode in a.py:2.\n- Then measure again.\n"
    )
    said = receipt(layout, text)
    assert said.count("P1: Cache the file by inode") == 1
    assert "+1 more" not in said and "P1,+" not in said


def test_of_a_text_that_is_shown_whole_no_lines_are_named_and_the_topic_is_no_content(
    layout: Layout,
) -> None:
    said = receipt(layout, "hi\n")
    assert "  Topic,Speed\nkeyFindings: hi\n" in said and "Content" not in said
    assert "more:" not in said
    said = receipt(layout, "The parser reads the file twice.\nIt takes 40 ms of 52 ms.\n")
    assert "It takes 40 ms" in said and "more:" not in said

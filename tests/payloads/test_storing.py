"""storing.py: from a text to a receipt."""

from __future__ import annotations

import os
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
import toon_format
from conftest import each
from contextkit.base import files, ledger, owned
from contextkit.base.errors import ContextError, remarks
from contextkit.base.layout import Layout
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.documents.receipts import Row
from contextkit.payloads.flows import storing
from contextkit.payloads.flows.storing import Output, Stored
from contextkit.text.digests import outputs

NOW = 1_764_324_300  # 2025-11-28 10:05:00 UTC
DAY = 86_400
TEXT = """\
# Title

## Cache

The cache takes 52 ms in `src/a.py`. It is slow.

## Queue

The queue is never emptied by anyone.
"""


def an_output(**changes: Any) -> Output:
    base: dict[str, Any] = {"topic": "Speed", "source": "research", "content": TEXT, "tokens": 600}
    return Output(**base | changes)


def store(layout: Layout, session: str = "s", now: int = NOW, **changes: Any) -> Stored:
    return storing.store(layout, session, an_output(**changes), now)


def decoded(stored: Stored) -> dict[str, Any]:
    found: dict[str, Any] = toon_format.decode(stored.receipt, strict=True)
    return found


def payload_of(stored: Stored) -> payloads.Payload:
    return payloads.load(stored.path, "x")


def test_what_the_author_leaves_out_is_taken_from_the_text(layout: Layout) -> None:
    stored = store(layout)
    assert decoded(stored) == {
        "@stored": "shared/payloads/s/20251128-100500-speed.md",
        "summary": [
            {"aspect": "Queue", "finding": "The queue is never emptied by anyone."},
        ],
        "keyFindings": "The cache takes 52 ms in src/a.py.",
        "tokens_stored": 600,
        "kind": "report",
        "facts_kept": "3/3",
        "more": "lines 17-25",
    }
    payload = payload_of(stored)
    assert (
        payload.summary
        == "The cache takes 52 ms in src/a.py. The queue is never emptied by anyone."
    )
    assert (payload.content, payload.tokens, payload.sources) == (TEXT, 600, ())
    assert not remarks


def test_a_long_text_is_read_in_memory_that_does_not_grow_with_it(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    for bound in ("_LARGEST", "_HEAD", "_TAIL"):
        monkeypatch.setattr(outputs, bound, getattr(outputs, bound) // 40)
    _, small, large = (_peak(layout, count) for count in (100, 3_500, 7_000))
    assert large < 1.5 * small, "its bytes, and the megabytes that are read"


def _peak(layout: Layout, count: int) -> int:
    text = "".join(f"Part {n} → ends with 52 ms.\n" for n in range(count))
    tracemalloc.start()
    try:
        stored = store(layout, content=text, tokens=1_000_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert payload_of(stored).content == text
    return peak


def test_what_the_author_says_is_used_as_given(layout: Layout) -> None:
    rows = (Row(aspect="A\tspect", finding="two\nlines, quoted"),)
    said: dict[str, Any] = {"summary": "One.\n Two.", "key_findings": "The\nkey."}
    sources = (" https://x.y\n- z ", "\n")
    stored = store(layout, rows=rows, confidence="Low", sources=sources, **said)
    found = decoded(stored)
    assert found["summary"] == [{"aspect": "A\tspect", "finding": "two\nlines, quoted"}]
    assert (found["keyFindings"], found["confidence"]) == ("The key.", "Low")
    payload = payload_of(stored)
    assert (payload.summary, payload.sources) == ("One. Two.", ("https://x.y - z",))


@pytest.mark.parametrize(
    ("summary", "count"), [("One.", 1), ("A. B.", 2), ("A. B. C.", 3), ("A. B. C. D.", 4)]
)
def test_a_summary_of_other_than_two_or_three_sentences_is_noted(
    layout: Layout, summary: str, count: int
) -> None:
    note = f"summary: should be two to three sentences, not {count}"
    store(layout, summary=summary)
    assert remarks == ([] if count in (2, 3) else [note])


def test_of_too_many_findings_the_first_seven_are_in_the_receipt(layout: Layout) -> None:
    rows = tuple(Row(aspect=f"A{n}", finding="f") for n in range(9))
    stored = store(layout, rows=rows)
    assert len(decoded(stored)["summary"]) == 7
    assert remarks == ["findings: 9 given, the first 7 are in the receipt"]


def test_what_was_cut_from_the_receipt_is_noted(layout: Layout) -> None:
    store(layout, rows=(Row(aspect="A", finding="word " * 900),))
    (note,) = remarks
    assert note.startswith("receipt: 1 finding shortened by ")


@each("content", ["x", "```\ncode()\n```", "|a|\n|-|", "# T", "\x00\x01 \x1b[0m", "---\n---", "- "])
def test_any_text_gets_a_summary_a_row_and_a_key_finding(layout: Layout, content: str) -> None:
    stored = store(layout, content=content)
    found = decoded(stored)
    assert found["summary"][0]["finding"] and found["keyFindings"]
    assert payload_of(stored).content == content and payload_of(stored).summary


@pytest.mark.parametrize("changes", [{"topic": "a\nb"}, {"source": " "}, {"content": " \n"}])
def test_what_cannot_be_stored_is_refused_before_anything_is_made(
    layout: Layout, changes: dict[str, Any]
) -> None:
    with pytest.raises(ContextError) as caught:
        an_output(**changes)
    assert caught.value.status == 2
    with pytest.raises(ContextError):
        store(layout, **changes)
    assert os.listdir(layout.root) == [".git"]


# path=


def keep(layout: Layout, path: str, overwrite: bool = False, **changes: Any) -> Stored:
    target = storing.check_target(layout, path, overwrite)
    return storing.store_at(layout, target, an_output(**changes), NOW, overwrite)


def test_a_text_is_kept_exactly_where_it_was_asked_for_and_nowhere_else(layout: Layout) -> None:
    stored = keep(layout, "docs/deep/report.md")
    assert decoded(stored)["@stored"] == "docs/deep/report.md"
    assert payload_of(stored).content == TEXT
    assert not Path(layout.payloads).exists() and os.listdir("docs/deep") == ["report.md"]


@pytest.mark.parametrize("name", ["data.json", "log.txt"])
def test_another_format_than_markdown_holds_the_text_alone(layout: Layout, name: str) -> None:
    keep(layout, name, content='{"a": 1}\r\n')
    assert Path(name).read_bytes() == b'{"a": 1}\r\n'


def test_a_file_that_is_there_is_replaced_only_when_asked(layout: Layout) -> None:
    Path("x.txt").write_text("old", "utf-8")
    with pytest.raises(ContextError, match=r"x\.txt already exists"):
        keep(layout, "x.txt")
    assert Path("x.txt").read_text("utf-8") == "old"
    keep(layout, "x.txt", overwrite=True)
    assert Path("x.txt").read_text("utf-8") == TEXT


def test_a_file_that_appears_in_between_is_not_replaced(layout: Layout) -> None:
    target = storing.check_target(layout, "x.md", False)
    Path("x.md").write_text("old", "utf-8")
    with pytest.raises(FileExistsError):
        storing.store_at(layout, target, an_output(), NOW, False)
    assert Path("x.md").read_text("utf-8") == "old" and os.listdir(".") in (
        [".git", "x.md"],
        ["x.md", ".git"],
    )


@pytest.mark.parametrize(
    ("path", "complaint"),
    [
        ("../x.md", "outside"),
        ("/tmp/x.md", "outside"),
        ("link/x.md", "outside"),
        ("x.py", "must end in .md"),
        ("x", "must end in .md"),
        (".md", "must end in .md"),
        ("shared/payloads/s/x.md", "not a place to keep"),
        (".git/x.txt", "not a place to keep"),
        (".contextkit/x.md", "not a place to keep"),
        ("dir.md", "already exists"),
    ],
)
def test_a_place_where_nothing_may_be_kept_is_refused(
    layout: Layout, tmp_path: Path, path: str, complaint: str
) -> None:
    Path("link").symlink_to(tmp_path)
    Path("dir.md").mkdir()
    with pytest.raises(ContextError, match=complaint) as caught:
        storing.check_target(layout, path, False)
    assert caught.value.status == 2


# A writer of the user's


def writer(layout: Layout, command: str) -> Layout:
    folder = owned.user_folder("CONFIG")
    files.write(os.path.join(folder, "contextkit.yaml"), f"receipt_writer: '{command}'\n")
    return Layout()


PLAIN = "The reader opens src/app.py:42 and closes it after 52 ms. " * 40


def test_a_writer_of_the_users_writes_the_receipt_and_is_checked(layout: Layout) -> None:
    made = writer(layout, "cat >prompt; echo It takes 52 ms, not 77 ms.")
    stored = store(made, content=PLAIN)
    found = decoded(stored)
    assert found["keyFindings"] == "It takes 52 ms, not 77 ms."
    assert (found["grounded"], found["not in the report"]) == ("1/2", "77 ms")
    prompt = Path(os.path.expanduser("~"), "prompt").read_text("utf-8")
    assert PLAIN.strip() in prompt and "at most 250 tokens" in prompt
    (asked,) = [one for one in ledger.read(made) if one["event"] == ledger.ASKED]
    assert asked["agent"] == "receipt_writer"


@pytest.mark.parametrize("command", ["exit 3", "sleep 30", "true", "/no/such/program"])
def test_without_an_answer_in_time_the_extract_stands(
    layout: Layout, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = store(layout, content=PLAIN, session="other").receipt.partition("\n")[2]
    monkeypatch.setattr("contextkit.payloads.flows.storing._WRITER_SECONDS", 0.3)
    stored = store(writer(layout, command), content=PLAIN)
    assert stored.receipt.partition("\n")[2] == expected


def test_a_repository_names_no_writer(layout: Layout) -> None:
    files.write(layout.join("contextkit.yaml"), "receipt_writer: 'touch fell; echo x'\n")
    stored = store(Layout(), content=PLAIN)
    assert "facts_kept" in stored.receipt and not os.path.exists(layout.join("fell"))


def test_what_is_secret_is_not_handed_to_a_writer(layout: Layout) -> None:
    made = writer(layout, "cat >prompt")
    store(made, content=f"{PLAIN}\nexport GITHUB_TOKEN=ghp_{'a1B2' * 9}\n")
    assert "ghp_a1" not in Path(os.path.expanduser("~"), "prompt").read_text("utf-8")


def test_an_equal_text_of_a_second_agent_keeps_its_own_topic_and_source(layout: Layout) -> None:
    first, second = store(layout), store(layout, topic="Cache", source="fd-speed")
    third = store(layout, topic="Cache", source="fd-speed")
    assert second.path == third.path != first.path
    assert [note.partition(":")[0] for note in remarks] == ["the same text is stored already"]
    told = [(one.topic, one.source) for one in map(payload_of, (first, second))]
    assert told == [("Speed", "research"), ("Cache", "fd-speed")]

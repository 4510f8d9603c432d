"""The manifest: what is spliced is what would be rendered, and nothing foreign is spliced into."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from conftest import each
from contextkit.base.errors import ContextError
from contextkit.payloads.documents import store
from growth import calls
from hypothesis import example, given
from hypothesis import strategies as st

HEAD = {"sessionId": "s", "createdAt": "2025-10-23T18:05:00Z"}
TOTAL = "totalTokensStored"

any_text = st.text(st.characters(codec="utf-8", exclude_characters="\ufffe\uffff"))
nasty = any_text | st.sampled_from(
    ['\n  ],\n  "totalTokensStored": 7\n}\n', "\n    }", '"', "\\", ": ["]
)
entries = st.lists(
    st.builds(
        lambda i, t, s: {"id": i, "tokens": t, "summary": s}, nasty, st.integers(0, 10**15), nasty
    )
)


def rendered(found: list[dict[str, Any]]) -> bytes:
    return store.render_manifest(HEAD, found).encode()


def spliced(data: bytes, entry: dict[str, Any]) -> bytes | None:
    """The index after an entry was added; None, and the file as it was, if that was refused."""
    path = Path("m.json")
    path.write_bytes(data)
    done = store.splice("m.json", entry)
    assert [found.name for found in Path().iterdir()] == ["m.json"]
    assert done or path.read_bytes() == data
    return path.read_bytes() if done else None


@given(entries)
def test_adding_one_after_the_other_is_rendering_all_at_once(found: list[dict[str, Any]]) -> None:
    data: bytes | None = rendered(found[:1])
    for number, entry in enumerate(found[1:], start=2):
        assert data is not None
        data = spliced(data, entry)
        assert data == rendered(found[:number])
    assert data is not None and json.loads(data)[TOTAL] == sum(e["tokens"] for e in found)


@each("size", [1, 2, 1 << 17, (1 << 18) - 200, 1 << 18, (1 << 18) + 200, 1 << 20])
def test_an_index_of_any_size_is_copied_whole(size: int) -> None:
    first, second = {"id": "a", "tokens": 1, "summary": "é" * size}, {"id": "b", "tokens": 2}
    assert spliced(rendered([first]), second) == rendered([first, second])


def test_an_index_that_cannot_be_replaced_stays_and_leaves_no_draft(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    first = rendered([{"id": "z", "tokens": 1}])
    Path("m.json").write_bytes(first)
    Path("m.json").chmod(0o640)
    with pytest.raises(OSError, match="No space"):
        store.splice("m.json", {"id": "a", "tokens": 1})
    assert os.listdir() == ["m.json"] and Path("m.json").read_bytes() == first
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    assert store.splice("m.json", {"id": "a", "tokens": 1})
    assert Path("m.json").stat().st_mode & 0o777 == 0o640


def test_the_last_id_is_read_without_parsing() -> None:
    assert store.last_id(rendered([])) == ""
    two = [{"id": "20251128-100500-a", "tokens": 1}, {"id": "20251128-100500-b-2", "tokens": 2}]
    assert store.last_id(rendered(two)) == "20251128-100500-b-2"
    assert store.last_id(json.dumps({"payloads": two}).encode()) == ""


@given(entries)
@example([{"id": "\x00\x7f\x85\u2028\U0001f600", "tokens": 0, "summary": "\\u0041"}])
def test_an_index_is_json_that_says_what_was_put_in(found: list[dict[str, Any]]) -> None:
    data = rendered(found)
    total = sum(entry["tokens"] for entry in found)
    assert json.loads(data) == {**HEAD, "payloads": found, TOTAL: total}
    assert list(json.loads(data)) == ["sessionId", "createdAt", "payloads", TOTAL]
    assert store.parse_manifest(data, "x") == json.loads(data)


def test_what_json_can_say_and_we_never_write_is_kept() -> None:
    entry = {"id": "a", "tokens": 1, "odd": [None, True, {"x": 1.5}], "none": None, "yes": True}
    assert json.loads(rendered([entry]))["payloads"] == [entry]
    more = spliced(rendered([entry]), {"id": "b", "tokens": 2})
    assert more is not None
    assert [one["id"] for one in json.loads(more)["payloads"]] == ["a", "b"]


ONE = rendered([{"id": "a", "tokens": 4500}])


@each(
    "data",
    [
        b"",
        b"{}",
        json.dumps({**HEAD, "payloads": [], TOTAL: 0}).encode(),
        json.dumps({**HEAD, "payloads": [], TOTAL: 0}, indent=2).encode(),
        ONE + b"\n",
        ONE[:-1],
        ONE.replace(b"\n", b"\r\n"),
        ONE.replace(b"4500\n}", b"04500\n}"),
        ONE.replace(b"4500\n}", b"-4500\n}"),
        ONE.replace(b"4500\n}", b"4500.0\n}"),
        ONE.replace(b"4500\n}", b"\n}"),
        ONE.replace(b"\n    }\n", b"\n    },\n"),
        ONE.replace(TOTAL.encode(), b"total"),
        ONE.replace(b"4500\n}", b"9" * 300 + b"\n}"),
        '{\n  "x": "²"\n  ],\n  "totalTokensStored": ²\n}\n'.encode(),
    ],
)
def test_nothing_is_spliced_into_what_is_not_byte_for_byte_ours(data: bytes) -> None:
    assert data != ONE
    assert spliced(data, {"id": "b", "tokens": 1}) is None


@given(st.data())
def test_a_spliced_index_whose_tail_was_touched_is_never_made_worse(data: st.DataObject) -> None:
    at = data.draw(st.integers(len(ONE) - 40, len(ONE) - 1))
    touched = ONE[:at] + bytes([data.draw(st.integers(0, 255))]) + ONE[at + 1 :]
    more = spliced(touched, {"id": "b", "tokens": 1})
    if more is not None:
        assert len(json.loads(more)["payloads"]) == 2


@each(
    ("text", "complaint"),
    [
        ("", "not valid JSON in line 1"),
        ("{", "not valid JSON"),
        ('{\n"payloads": [}', "not valid JSON in line 2"),
        ("[]", "is not a JSON object"),
        ("{}", "has no list of payloads"),
        ('{"payloads": {}}', "has no list of payloads"),
        ('{"payloads": [1]}', "has no list of payloads"),
        ('{"payloads": [{"id": "a"}]}', "has no list of payloads"),
        ('{"payloads": [{"id": 1, "tokens": 1}]}', "has no list of payloads"),
        ('{"payloads": [{"id": "a", "tokens": true}]}', "has no list of payloads"),
        ('{"payloads": [{"id": "a", "tokens": -1}]}', "has no list of payloads"),
        ('{"payloads": [{"id": "a", "tokens": ' + "9" * 5000 + "}]}", "not valid JSON"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_parse_says_what_is_wrong(text: str, complaint: str) -> None:
    with pytest.raises(ContextError, match=f"^m.json: .*{complaint}"):
        store.parse_manifest(text.encode(), "m.json")


@given(st.binary() | st.text(st.sampled_from('{}[]":,payloads id tokens 10\n')).map(str.encode))
def test_garbage_is_a_context_error_or_an_index(data: bytes) -> None:
    try:
        store.parse_manifest(data, "x")
    except ContextError:
        pass
    assert isinstance(store.last_id(data), str)


def test_adding_to_ten_thousand_entries_does_no_more_than_adding_to_ten() -> None:
    entry = {"id": "a" * 40, "tokens": 1, "summary": "s" * 200, "sha256": "0" * 64}

    def add(entries: int) -> int:
        Path("m.json").write_bytes(rendered([entry] * entries))
        return calls(lambda: store.splice("m.json", entry))

    assert add(10_000) < 1.5 * add(10)

"""documents/store.py: the file of a payload first, then a session's folder with its manifest."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import each
from contextkit.base import names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.documents.store import Payload
from hypothesis import example, given
from hypothesis import strategies as st

NOW = 1_764_324_300  # 2025-11-28 10:05:00 UTC
ID = "20251128-100500-nsw-strata"
SEED_KEYS = "id path topic source tokens createdAt summary".split()
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")


def a_payload(**changes: Any) -> Payload:
    """A payload in which a test names only what it is about."""
    base: dict[str, Any] = {"topic": "NSW Strata", "source": "research", "tokens": 4500}
    said = {
        "content": "The text.\n",
        "created_at": names.iso(NOW),
        "summary": "Two acts govern it. A third is coming.",
    }
    return Payload(**base | said | changes)


pieces = st.sampled_from(
    ["word ", "\n", "\r\n", "\r", "# T\n", "\n## Full Content\n\n", "\n\n---\n\n## Sources\n\n",
     "- x\n", "```\n", "\n## Summary\n\n", "\n\n---\n", "**Tokens:** 1\n", "{{ x }}", "{% raw %}",
     "é", "\x00", "\u2028", "<!-- contextkit: bytes=3 sha256=ab -->\n"]
)  # fmt: skip
chars = st.characters(codec="utf-8")
contents = st.lists(pieces | st.text(chars, max_size=3)).map("".join).filter(str.strip)
one_line = st.text(chars).map(names.one_line).filter(bool).map(lambda text: text[:200].strip())
sources = st.lists(one_line).map(tuple)


@given(
    content=contents,
    topic=one_line,
    source=one_line,
    summary=one_line | st.just(""),
    sources=sources,
    tokens=st.integers(0, 10**15),
)
@example(
    content="a", topic="x", source="y:** z", summary="**Source:** forged", sources=(), tokens=0
)
def test_parse_undoes_render_whatever_the_content_is(**values: Any) -> None:
    payload = a_payload(**values)
    data = payloads.render(payload).encode()
    assert payloads.parse(data) == payload
    start, end = payloads.span(data, "x")
    assert data[start:end] == payload.content.encode()


def without_last_line(payload: Payload) -> bytes:
    data = payloads.render(payload).encode()
    return data[: data.rstrip(b"\n").rindex(b"\n") + 1]


@given(contents, sources.filter(bool))
def test_a_payload_with_sources_is_read_without_its_last_line(
    content: str, sources: tuple[str, ...]
) -> None:
    payload = a_payload(content=content, sources=sources)
    assert payloads.parse(without_last_line(payload)) == payload


@given(contents.filter(lambda text: "---\n\n## Sources" not in text and "contextkit" not in text))
@example("in a block:\n```\n\n---\n\n## Sources\n\n- x\n```\nand on")
def test_a_payload_without_sources_is_read_without_its_last_line(content: str) -> None:
    payload = a_payload(content=content)
    assert payloads.parse(without_last_line(payload)) == payload


WRITTEN_BY_HAND = """\
# NSW Strata

**Generated:** 2025-11-28T10:05:00Z
**Source:** research
**Tokens:** ~8500

---

## Summary

Short.

---

## Full Content

First.

---

## Sources

- quoted, not ours

---

Second.

---

## Sources

- https://example.org
"""


def test_a_file_that_another_tool_wrote_is_split_at_its_last_sources() -> None:
    payload = payloads.parse(WRITTEN_BY_HAND.encode())
    assert (payload.topic, payload.source, payload.tokens) == ("NSW Strata", "research", 8500)
    assert payload.content == WRITTEN_BY_HAND.split("Content\n\n")[1].rpartition("\n\n---")[0]
    assert payload.sources == ("https://example.org",)


SOUND = payloads.render(a_payload())


@each(
    ("text", "complaint"),
    [
        ("", "no `## Full Content`"),
        ("# T\n\nhello\n", "no `## Full Content`"),
        (SOUND.replace("# NSW", "NSW"), "its head is missing"),
        (SOUND.replace("4500", "many"), "its head is missing"),
        (SOUND.replace("4500", "²"), "its head is missing"),
        (SOUND.replace("**Tokens:**", "Tokens:"), "its head is missing"),
        (SOUND.replace("2025-11-28T", "yesterday "), "must be like 2025-"),
        (SOUND.replace("The text", "A text"), "the file was changed"),
        (SOUND.replace("bytes=10", "bytes=9"), "the file was changed"),
        (SOUND.replace("bytes=10", "bytes=" + "9" * 17), "the file was changed"),
        (SOUND.replace("sha256=", "sha256=0"), "the file was changed"),
    ],
)
def test_parse_says_what_is_wrong(text: str, complaint: str) -> None:
    assert text != SOUND
    with pytest.raises(ContextError, match=f"^p.md: .*{complaint}"):
        payloads.parse(text.encode(), "p.md")


@given(st.data())
def test_a_changed_file_is_read_as_it_was_or_refused(data: st.DataObject) -> None:
    sound = payloads.render(a_payload(content="One.\n\nTwo.", sources=("x",))).encode()
    at = data.draw(st.integers(0, len(sound) - 1))
    byte = bytes([data.draw(st.integers(0, 255))])
    cut = data.draw(st.booleans())
    try:
        read = payloads.parse(sound[:at] if cut else sound[:at] + byte + sound[at + 1 :])
    except ContextError:
        return
    assert read.content == "One.\n\nTwo." or b"sha256=" not in sound[:at]


@each("field", ["topic", "source"])
@each("value", ["", "  ", "a\nb", "a\rb", "a\x1b[0m", "a\u2028b", "\x85", "x" * 201])
def test_a_topic_and_a_source_are_a_line(field: str, value: str) -> None:
    with pytest.raises(ContextError, match=f"^{field}: .*a line of up to 200") as caught:
        a_payload(**{field: value})
    assert caught.value.status == 2


@each("topic", ["日本語　の調査", "a\u00a0b", "👩\u200d💻", "!!!", "x" * 200])
def test_any_line_of_text_may_be_a_topic(topic: str) -> None:
    assert payloads.render(a_payload(topic=topic)).startswith(f"# {topic}\n\n**Generated:**")


@each("content", ["", " \r\n\t ", "\u3000"])
def test_blank_content_is_refused(content: str) -> None:
    with pytest.raises(ContextError, match="the content is empty"):
        a_payload(content=content)


@each("changes", [{"summary": "a\nb"}, {"sources": ("a\n- b",)}, {"created_at": ""}])
def test_what_would_not_be_read_back_cannot_exist(changes: dict[str, Any]) -> None:
    with pytest.raises(ContextError):
        a_payload(**changes)


# The disk


def save(layout: Layout, session: str = "s", now: int = NOW, **changes: Any) -> Path:
    payload = a_payload(**{"created_at": names.iso(now), **changes})
    return Path(payloads.save(layout, session, payload, now))


def manifest(layout: Layout, session: str = "s") -> dict[str, Any]:
    """The manifest, after what must hold for every manifest was looked at."""
    folder = Path(layout.payloads) / session
    found: dict[str, Any] = json.loads((folder / "manifest.json").read_text("utf-8"))
    assert list(found) == ["sessionId", "createdAt", "payloads", "totalTokensStored"]
    assert found["sessionId"] == session and TIME.fullmatch(found["createdAt"])
    assert found["totalTokensStored"] == sum(entry["tokens"] for entry in found["payloads"])
    for entry in found["payloads"]:
        assert list(entry) == [*SEED_KEYS, "sha256", "bytes"]
        assert entry["path"] == entry["id"] + ".md" and (folder / entry["path"]).is_file()
        assert TIME.fullmatch(entry["createdAt"]) and type(entry["tokens"]) is int
        assert re.fullmatch(r"\d{8}-\d{6}-[a-z0-9]+(-[a-z0-9]+)*\.md", entry["path"])
        stamp = re.sub(r"[-:TZ]", "", entry["createdAt"])
        assert entry["id"].replace("-", "")[:14] == stamp
        assert len(entry["summary"].splitlines()) < 2
        assert len(entry["summary"].removesuffix("...")) <= 200
    return found


def test_an_entry_says_what_the_file_says(layout: Layout) -> None:
    path = save(layout, content="Größe\n")
    assert path == Path(layout.root, "shared/payloads/s", f"{ID}.md")
    assert manifest(layout)["payloads"] == [
        {
            "id": ID,
            "path": f"{ID}.md",
            "topic": "NSW Strata",
            "source": "research",
            "tokens": 4500,
            "createdAt": "2025-11-28T10:05:00Z",
            "summary": "Two acts govern it. A third is coming.",
            "sha256": names.sha256("Größe\n".encode()),
            "bytes": 8,
        }
    ]
    assert payloads.load(str(path), "x") == a_payload(content="Größe\n")
    assert payloads.entries(layout, "s") == manifest(layout)["payloads"]
    assert {os.stat(path).st_mtime, os.stat(path.with_name("manifest.json")).st_mtime} == {NOW}


def test_entries_stand_in_the_order_of_storing_and_the_session_began_with_the_first(
    layout: Layout,
) -> None:
    for number, topic in enumerate(["zeta", "alpha", "mid"]):
        save(layout, topic=topic, now=NOW + number, tokens=10)
    found = manifest(layout)
    assert [entry["topic"] for entry in found["payloads"]] == ["zeta", "alpha", "mid"]
    assert found["createdAt"] == "2025-11-28T10:05:00Z" and found["totalTokensStored"] == 30
    assert payloads.latest(layout, "s").endswith("-mid.md")


def test_the_same_topic_in_the_same_second_is_a_second_file(layout: Layout) -> None:
    first = save(layout, content="one")
    before = first.read_bytes()
    assert [save(layout).name, save(layout).name] == [f"{ID}-2.md", f"{ID}-3.md"]
    assert first.read_bytes() == before
    assert len(manifest(layout)["payloads"]) == 3
    assert payloads.latest(layout, "s").endswith("-3.md")


@given(st.text(chars, max_size=120).filter(lambda text: text.strip() and text.isprintable()))
@example("日本語の調査")
@example("!!!")
@example("a" * 49 + " -b")
def test_any_topic_makes_a_file_name(topic: str) -> None:
    stem = names.slug(topic) or "payload"
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", stem) and len(stem) <= 50


def test_a_long_summary_is_shortened_in_the_manifest_only(layout: Layout) -> None:
    summary = ("word " * 60).strip() + "."
    path = save(layout, summary=summary)
    assert payloads.load(str(path), "x").summary == summary
    assert manifest(layout)["payloads"][0]["summary"] == ("word " * 40).strip() + "..."


def test_two_sessions_know_nothing_of_each_other(layout: Layout) -> None:
    save(layout, "a", topic="one")
    save(layout, "b", topic="two")
    assert [entry["topic"] for entry in manifest(layout, "a")["payloads"]] == ["one"]
    assert [entry["topic"] for entry in manifest(layout, "b")["payloads"]] == ["two"]
    assert payloads.sessions_in(layout) == ["a", "b"]


def test_when_the_manifest_cannot_be_written_the_payload_goes_too(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(layout)
    before = {
        path: path.read_bytes() for path in Path(layout.payloads).rglob("*") if path.is_file()
    }

    def full(source: str, target: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space"):
        save(layout, topic="other")
    after = {path: path.read_bytes() for path in Path(layout.payloads).rglob("*") if path.is_file()}
    assert after == before


def test_the_store_explains_itself_once(layout: Layout) -> None:
    payloads.prepare_store(layout)
    payloads.document_store(layout)
    store = Path(layout.payloads)
    assert (store / ".gitignore").read_text("utf-8") == "*\n!README.md\n!.gitkeep\n!.gitignore\n"
    assert sorted(os.listdir(store)) == [".gitignore", ".gitkeep", "README.md"]
    (store / "README.md").write_text("mine", "utf-8")
    payloads.document_store(layout)
    assert (store / "README.md").read_text("utf-8") == "mine"


def test_only_folders_that_a_session_can_have_are_sessions(layout: Layout) -> None:
    assert payloads.sessions_in(layout) == []
    save(layout)
    store = Path(layout.payloads)
    for name in ("my notes", ".hidden", "x" * 65):
        (store / name).mkdir()
    (store / "file").touch()
    (store / "link").symlink_to(store / "s")
    assert payloads.sessions_in(layout) == ["s"]


def test_links_are_no_store_no_session_and_no_payload(layout: Layout, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / f"{ID}.md").write_text(SOUND, "utf-8")
    store = Path(layout.payloads)
    store.parent.mkdir(parents=True)
    store.symlink_to(elsewhere)
    with pytest.raises(ContextError, match="shared/payloads: is a symbolic link"):
        save(Layout(layout.root))  # as the next command: it looks once
    store.unlink()
    store.mkdir()
    (store / "s").symlink_to(elsewhere)
    with pytest.raises(ContextError, match="shared/payloads/s: is a symbolic link"):
        save(layout)
    (store / "s").unlink()
    (store / "s").mkdir()
    (store / "s" / f"{ID}-9.md").symlink_to(elsewhere / f"{ID}.md")
    assert payloads.documents(layout, "s") == []
    assert os.listdir(elsewhere) == [f"{ID}.md"]


# Repair


def test_a_sound_session_needs_no_repair(layout: Layout) -> None:
    save(layout)
    before = manifest(layout)
    assert payloads.repair(layout, "s", NOW) == []
    assert manifest(layout) == before
    assert payloads.repair(layout, "nobody", NOW) == []
    assert not Path(layout.payloads, "nobody").exists()


def test_without_a_manifest_all_is_found_again(layout: Layout) -> None:
    for number in range(3):
        save(layout, topic=f"t{number}", now=NOW + number, sources=("https://x.y",))
    before = manifest(layout)
    Path(layout.payloads, "s", "manifest.json").unlink()
    assert len(payloads.repair(layout, "s", NOW)) == 3
    assert manifest(layout) == before


@pytest.mark.parametrize(
    "broken", [b"", b'{"payloads": [', b"\xff", b"[]", b'{"payloads": [{"id": 1}]}']
)
def test_a_broken_manifest_is_kept_aside(layout: Layout, broken: bytes) -> None:
    save(layout)
    before = manifest(layout)
    path = Path(layout.payloads, "s", "manifest.json")
    path.write_bytes(broken)
    with pytest.raises(ContextError, match="fix it with make context_doctor mend=1"):
        payloads.entries(layout, "s")
    said = payloads.repair(layout, "s", NOW)
    assert (
        said[0] == "manifest.json could not be read: kept as manifest.json.broken-20251128T100500Z"
    )
    assert manifest(layout) == before
    assert (path.parent / "manifest.json.broken-20251128T100500Z").read_bytes() == broken
    assert payloads.repair(layout, "s", NOW) == []


def test_an_empty_session_keeps_the_time_when_it_began(layout: Layout) -> None:
    save(layout).unlink()
    payloads.repair(layout, "s", NOW + 999)
    assert manifest(layout)["createdAt"] == "2025-11-28T10:05:00Z"
    assert manifest(layout)["payloads"] == []


def test_files_that_no_manifest_lists_are_listed_in_the_order_of_storing(layout: Layout) -> None:
    save(layout), save(layout), save(layout, now=NOW - 5)
    Path(layout.payloads, "s", "manifest.json").unlink()
    payloads.repair(layout, "s", NOW)
    listed = [entry["id"] for entry in manifest(layout)["payloads"]]
    assert listed == ["20251128-100455-nsw-strata", ID, f"{ID}-2"]


@pytest.mark.parametrize(
    "change",
    [
        lambda entry: [entry, entry],
        lambda entry: [{key: entry[key] for key in entry if key != "createdAt"}],
        lambda entry: [entry | {"path": "../../secret.md"}],
        lambda entry: [entry | {"summary": None}],
        lambda entry: [entry, entry | {"id": "../x", "path": "../x.md"}],
    ],
)
def test_an_entry_that_is_odd_is_made_again_from_its_file(layout: Layout, change: Any) -> None:
    save(layout)
    before = manifest(layout)
    path = Path(layout.payloads, "s", "manifest.json")
    path.write_text(json.dumps(before | {"payloads": change(before["payloads"][0])}), "utf-8")
    assert payloads.repair(layout, "s", NOW)
    assert manifest(layout) == before


def test_a_file_that_is_no_payload_is_left_alone_and_named(layout: Layout) -> None:
    save(layout)
    notes = Path(layout.payloads, "s", "notes.md")
    notes.write_bytes(b"my notes \xff")
    (said,) = payloads.repair(layout, "s", NOW)
    assert said.startswith("notes.md: is not a payload") and said.endswith("left alone")
    assert notes.read_bytes() == b"my notes \xff"
    assert len(manifest(layout)["payloads"]) == 1


def test_storing_into_a_manifest_that_somebody_else_wrote_mends_it(layout: Layout) -> None:
    save(layout)
    path = Path(layout.payloads, "s", "manifest.json")
    path.write_text(json.dumps(json.loads(path.read_text("utf-8"))), "utf-8")
    save(layout, topic="second")
    assert [entry["topic"] for entry in manifest(layout)["payloads"]] == ["NSW Strata", "second"]
    path.write_text("{", "utf-8")
    save(layout, topic="third")
    assert len(manifest(layout)["payloads"]) == 3


def test_what_killed_processes_left_is_removed_after_an_hour(layout: Layout) -> None:
    path = save(layout)
    draft = path.parent / f".{path.name}.0123456789ab.tmp"
    draft.write_text("half", "utf-8")
    os.utime(draft, (NOW, NOW))
    assert payloads.repair(layout, "s", NOW + 3000) == []
    assert payloads.repair(layout, "s", NOW + 4000) == ["1 unfinished drafts removed"]
    assert not draft.exists()

"""verdicts.py: the pure half first, then the disk."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from conftest import each
from contextkit.base import files, ledger
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.reviews.documents import verdicts
from contextkit.reviews.documents.verdicts import STATUSES, Verdict
from hypothesis import example, given
from hypothesis import strategies as st

LEGACY_V1 = {  # as the old library wrote it, key for key
    "type": "verdict",
    "status": "CLEAN",
    "model": "haiku",
    "tokens_spent": 1200,
    "files_changed": [],
    "findings_count": 0,
    "summary": "nothing found",
    "detail_path": ".clavain/verdicts/fd-safety.md",
    "timestamp": "2026-02-17T00:10:34Z",
}


def a_verdict(**changes: Any) -> Verdict:
    """A verdict in which a test names only what it is about."""
    return Verdict(**{"agent": "ui", "status": "CLEAN", "summary": "fine"} | changes)


def an_entry(**changes: Any) -> verdicts.Entry:
    return {"agent": "ui", "status": "CLEAN", "summary": "fine"} | changes


names = st.text(st.characters(codec="utf-8", exclude_characters="/"), min_size=1, max_size=40)


@given(agent=names, other=names)
@example(agent="interflux:review:fd-x", other="interflux:review")
@example(agent=".hidden", other="-option")
def test_a_name_comes_back_and_no_two_share_a_file(agent: str, other: str) -> None:
    try:
        first, second = verdicts.encode(agent), verdicts.encode(other)
    except ContextError:
        return
    assert verdicts.decode(first) == agent
    assert (first == second) == (agent == other)
    assert first[0] not in ".-" and first.isascii() and "/" not in first


def test_a_file_name_that_is_no_code_is_the_agents_name() -> None:
    for stem in ("100%", "a%zz", "a%FFb"):
        assert verdicts.decode(stem) == stem


@each(
    "agent",
    ["", " ", ".", "..", "a/b", "../../x", "./../../x", "/../x", "/abs", "a\nb", "a\0b", "x" * 300],
)
def test_a_name_that_can_be_no_file_is_refused(agent: str) -> None:
    with pytest.raises(ContextError, match="cannot be the name"):
        verdicts.encode(agent)


def test_a_name_has_at_most_200_bytes() -> None:
    assert verdicts.encode("x" * 200) == "x" * 200
    assert len(verdicts.encode("é" * 33 + "xx")) == 200
    for name in ("x" * 201, "é" * 33 + "xxx"):
        with pytest.raises(ContextError, match="cannot be the name"):
            verdicts.encode(name)


@each("agent", ["fd-safety", "Explore", "a.b_c-1", "_a", "7a"])
def test_an_ordinary_name_stays_as_it_is(agent: str) -> None:
    assert verdicts.encode(agent) == agent


def test_an_unknown_status_needs_attention_and_is_quoted() -> None:
    for status in (*STATUSES, "SKIPPED_SHIP_CLASS"):
        assert verdicts.understood(status, "fine") == (status, "fine")
    assert verdicts.understood("CLEAR\n", "fine") == ("NEEDS_ATTENTION", "CLEAR: fine")
    assert len(verdicts.understood("x" * 900, "fine")[1]) < 60


@given(status=st.sampled_from(STATUSES), summary=st.text(), tokens=st.integers(0, 10**15))
def test_parse_gives_back_what_render_wrote(status: str, summary: str, tokens: int) -> None:
    text = verdicts.render(a_verdict(status=status, summary=summary, tokens_spent=tokens))
    entry = verdicts.parse(text.encode(), "ui")
    said = summary.encode("utf-8", "replace").decode().replace("\ufffe", "\ufffd")
    assert entry["status"] == status and entry["tokens_spent"] == tokens
    assert entry["summary"] == said.replace("\uffff", "\ufffd")


def test_a_verdict_names_its_format_and_has_the_old_keys_even_if_empty() -> None:
    assert json.loads(verdicts.render(a_verdict(summary=""))) == {
        "type": "verdict", "status": "CLEAN", "model": "", "tokens_spent": 0, "files_changed": [],
        "findings_count": 0, "summary": "", "detail_path": "", "timestamp": "", "session_id": "",
        "agent": "ui", "format": 1,
    }  # fmt: skip


@each("number", [0, 1, "1", "x", None, [], 1.5])
def test_only_a_newer_format_is_an_error(number: object) -> None:
    entry = verdicts.parse(json.dumps({"status": "CLEAN", "format": number}).encode(), "x")
    assert entry["status"] == "CLEAN" or number == "x"


def test_a_newer_format_is_an_error_that_is_seen() -> None:
    entry = verdicts.parse(b'{"status": "CLEAN", "format": 2}', "x")
    assert entry["status"] == "ERROR" and "newer" in entry["summary"]


@given(data=st.binary(max_size=200))
def test_whatever_is_in_a_file_is_a_row_and_never_an_exception(data: bytes) -> None:
    entry = verdicts.parse(data, "x")
    row = verdicts.table([entry])
    assert row.count("\t") == 2 and len(row.splitlines()) == 1
    verdicts.counts([entry]), verdicts.attention_rows([entry]), verdicts.tokens([entry])


@each(
    "text", ["", "[]", "{", '{"status": null}', '{"status": "CLEAN"} {}', '{"status": 3}', "null"]
)
def test_what_cannot_be_read_is_an_error_that_is_seen(text: str) -> None:
    entry = verdicts.parse(text.encode(), "x")
    assert entry["status"] == "ERROR" and verdicts.needs_attention([entry]) == [entry]
    assert verdicts.broken([entry])


def test_a_status_with_a_tab_or_a_line_break_is_one_line() -> None:
    entry = verdicts.parse(b'{"status": "NOT\\tSO\\nCLEAN"}', "x")
    assert verdicts.counts([entry]) == "1 NOT SO CLEAN"


def test_files_of_others_are_read_as_they_are() -> None:
    old = verdicts.parse(json.dumps(LEGACY_V1).encode(), "fd-safety")
    assert (old["agent"], old["summary"]) == ("fd-safety", "nothing found")
    hand = {"agent": "fd-x", "status": "SKIPPED_SHIP_CLASS", "reason": "docs only", "ts": 1}
    entry = verdicts.parse(json.dumps(hand).encode(), "fd-x")
    assert verdicts.table([entry]) == "SKIPPED_SHIP_CLASS\tfd-x\tdocs only"
    assert verdicts.counts([old, entry]) == "1 CLEAN, 1 SKIPPED_SHIP_CLASS"
    assert "null" not in verdicts.table([verdicts.parse(b'{"status":"CLEAN","summary":null}', "y")])


def test_a_row_is_one_line_of_three_columns_without_escapes() -> None:
    row = verdicts.table([an_entry(summary="a\nb\tc\x1b[31md\r" + "x" * 5000)])
    assert row.count("\t") == 2 and "\x1b" not in row and "\n" not in row and len(row) <= 160


def test_counts_come_in_the_old_order() -> None:
    entries = [an_entry(status=status) for status in reversed(STATUSES)]
    assert verdicts.counts(entries) == ", ".join(f"1 {status}" for status in STATUSES)
    assert verdicts.counts([]) == "0 verdicts"
    twice = [an_entry(), an_entry(status="ODD"), an_entry(), an_entry()]
    assert verdicts.counts(twice) == "3 CLEAN, 1 ODD"
    assert verdicts.counts(twice, legacy=True) == "3 CLEAN"


def test_a_crashed_reviewer_is_seen_and_the_old_set_can_be_had() -> None:
    entries = [an_entry(agent=status, status=status) for status in (*STATUSES, "ODD", "SKIPPED_X")]
    urgent = [entry["status"] for entry in verdicts.needs_attention(entries)]
    assert urgent == ["NEEDS_ATTENTION", "BLOCKED", "ERROR", "PARTIAL", "FAILED", "ODD"]
    legacy = [entry["status"] for entry in verdicts.needs_attention(entries, legacy=True)]
    assert legacy == ["NEEDS_ATTENTION", "FAILED"]


def test_attention_rows_have_the_finding_ids_only_if_asked_for() -> None:
    entries = [
        an_entry(findings=["P0-1", "P1-2"], findings_count=2, detail_path="a.md"),
        an_entry(),
    ]
    assert verdicts.attention_rows(entries) == "ui\t2\ta.md\nui\t0\t"
    assert verdicts.attention_rows(entries, True) == "ui\t2\ta.md\tP0-1 P1-2\nui\t0\t"


@each(
    "spent",
    [1.5, "12k", None, -1, -1.0, -3.0, 1e15, 1e20, float("inf"), float("nan"), True, [1],
     "x[$(touch pwned)]"],
)  # fmt: skip
def test_a_number_that_is_none_is_named_and_not_counted(spent: object) -> None:
    total, odd = verdicts.tokens([an_entry(tokens_spent=1200), an_entry(tokens_spent=spent)])
    assert total == 1200 and odd == ["ui"]


def test_tokens_of_a_file_without_the_key_are_none() -> None:
    assert verdicts.tokens([an_entry(tokens_spent=1200), an_entry()]) == (1200, [])


def test_whole_floats_count() -> None:
    for spent in (0.0, 1200.0, 999_999_999_999_999.0):
        assert verdicts.tokens([an_entry(tokens_spent=spent)]) == (int(spent), [])


def test_the_second_verdict_replaces_the_first(layout: Layout) -> None:
    verdicts.save(layout, a_verdict(summary="looking"))
    path = verdicts.save(layout, a_verdict(summary="found"))
    assert [entry["summary"] for entry in verdicts.load_all(layout).documents] == ["found"]
    assert sorted(os.listdir(os.path.dirname(path))) == [".gitignore", "ui.json"]


def test_one_verdict_is_loaded_by_its_agent_from_the_flat_store_or_that_of_a_run(
    layout: Layout, tmp_path: Path
) -> None:
    verdicts.save(layout, a_verdict(agent="a:b", summary="of the run"), str(tmp_path / "run"))
    verdicts.save(layout, a_verdict(agent="a:b"))
    flat, of_run = (verdicts.load(layout, "a:b", store) for store in ("", str(tmp_path / "run")))
    assert flat and of_run and (flat["summary"], of_run["summary"]) == ("fine", "of the run")
    assert verdicts.load(layout, "b") is None


def test_rows_are_sorted_by_the_name_that_is_shown(layout: Layout) -> None:
    for agent in ("b", "a:z", "a-b"):
        verdicts.save(layout, a_verdict(agent=agent))
    assert [entry["agent"] for entry in verdicts.load_all(layout).documents] == ["a-b", "a:z", "b"]


def test_odd_things_in_the_store_hide_nothing(layout: Layout) -> None:
    store = Path(verdicts.save(layout, a_verdict())).parent
    (store / "dir.json").mkdir()
    (store / "link.json").symlink_to("nowhere")
    (store / "fifo.json").touch()
    (store / ".hidden.json").write_text("{}", encoding="utf-8")
    (store / "notes.md").write_text("prose", encoding="utf-8")
    found = {entry["agent"]: entry["status"] for entry in verdicts.load_all(layout).documents}
    assert found == {"ui": "CLEAN", "dir": "ERROR", "link": "ERROR", "fifo": "ERROR"}


def test_an_agent_whose_file_name_begins_with_a_code_is_seen(layout: Layout) -> None:
    verdicts.save(layout, a_verdict(agent="(a) reviewer"))
    assert [entry["agent"] for entry in verdicts.load_all(layout).documents] == ["(a) reviewer"]


def test_a_verdict_that_is_removed_while_the_store_is_read_is_no_error(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts.save(layout, a_verdict())
    monkeypatch.setattr(os, "listdir", lambda _: ["gone.json", "ui.json"])
    found = verdicts.load_all(layout)
    assert [entry["agent"] for entry in found.documents] == ["ui"] and not found.broken


def test_a_pipe_in_the_store_stops_nothing(layout: Layout) -> None:
    store = Path(verdicts.save(layout, a_verdict())).parent
    os.mkfifo(store / "pipe.json")
    found = {entry["agent"]: entry["status"] for entry in verdicts.load_all(layout).documents}
    assert found == {"ui": "CLEAN", "pipe": "ERROR"}


def test_a_verdict_is_synced_to_disk_unless_it_can_be_derived_again(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts.save(layout, a_verdict())  # the store is made once
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    verdicts.save(layout, a_verdict(sha256="0" * 64))
    assert not synced
    verdicts.save(layout, a_verdict())
    assert synced


def test_a_verdict_is_written_although_the_store_is_cleaned_meanwhile(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = files.write
    cleaned: list[str] = []
    written: list[str] = []

    def clean_first(path: str, *given: Any) -> str:
        if path.endswith("ui.json") and len(cleaned) < 3:
            cleaned.append(path)
            shutil.rmtree(os.path.dirname(path))
            raise FileNotFoundError(path)
        written.append(os.path.basename(path))
        return write(path, *given)

    monkeypatch.setattr(files, "write", clean_first)
    store = Path(verdicts.save(layout, a_verdict())).parent
    assert len(cleaned) == 3 and sorted(os.listdir(store)) == [".gitignore", "ui.json"]
    assert written.count("ui.json") == 1


def test_a_store_that_is_removed_right_before_the_write_is_hidden_from_git_again(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = files._draft
    removed: list[str] = []

    def remove_first(path: str, *given: Any, **more: Any) -> str:
        if path.endswith("ui.json") and not removed:
            removed.append(path)
            shutil.rmtree(os.path.dirname(path))
        return draft(path, *given, **more)

    monkeypatch.setattr(files, "_draft", remove_first)
    store = Path(verdicts.save(layout, a_verdict())).parent
    assert removed and sorted(os.listdir(store)) == [".gitignore", "ui.json"]


def test_the_ledger_knows_the_file_and_the_run_of_a_verdict(layout: Layout) -> None:
    verdicts.save(layout, a_verdict(detail_path="shared/payloads/s/x.md", run="r-1"), tokens=7)
    verdicts.save(layout, a_verdict())
    first, second = ledger.read(layout)
    assert first["from"] == ["payload:s/x", "run:r-1"]
    assert first["tokens"] == 7 and "tokens" not in second and not second["from"]


def test_a_link_at_the_final_name_is_not_written_through(layout: Layout, tmp_path: Path) -> None:
    target = tmp_path / "package.json"
    target.write_text("mine", encoding="utf-8")
    store = Path(verdicts.save(layout, a_verdict(agent="x"))).parent
    (store / "ui.json").symlink_to(target)
    with pytest.raises(ContextError, match="symbolic link"):
        verdicts.save(layout, a_verdict())
    assert target.read_text(encoding="utf-8") == "mine"


def test_clean_leaves_what_agents_wrote(layout: Layout) -> None:
    store = Path(verdicts.save(layout, a_verdict())).parent
    (store / "ui.md").write_text("prose", encoding="utf-8")
    (store / ".ui.json.0123.tmp").touch()
    assert verdicts.clean(layout) == [".ui.json.0123.tmp", "ui.json"]
    assert sorted(path.name for path in store.iterdir()) == [".gitignore", "ui.md"]
    assert verdicts.clean(layout) == []


def test_clean_asks_about_each_verdict_by_the_agent_in_its_name(layout: Layout) -> None:
    store = Path(verdicts.save(layout, a_verdict())).parent
    for name in ("a%3Aquality", "fd-x"):
        (store / f"{name}.json").write_text('{"status": "CLEAN"}', encoding="utf-8")
    removed = verdicts.clean(layout, lambda entry: entry["agent"] == "a:quality")
    assert removed == ["fd-x.json", "ui.json"]


def test_a_verdict_that_another_process_removes_meanwhile_does_not_stop_the_cleaning(
    layout: Layout,
) -> None:
    for agent in "abc":
        store = Path(verdicts.save(layout, a_verdict(agent=agent))).parent

    def keep(entry: verdicts.Entry) -> bool:
        (store / "b.json").unlink(missing_ok=True)
        return False

    assert verdicts.clean(layout, keep) == ["a.json", "c.json"]


def test_the_variable_of_the_old_library_names_the_store(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLAVAIN_VERDICT_DIR", "x")
    assert verdicts.save(layout, a_verdict()) == os.path.join(layout.root, "x", "ui.json")


def test_a_row_has_at_most_160_characters_and_a_legacy_one_all_of_its_summary() -> None:
    for length in (100, 145, 151, 152, 160, 200, 400):
        entry = an_entry(summary="x" * length)
        whole = f"CLEAN\tui\t{'x' * length}"
        assert verdicts.table([entry], legacy=True) == whole
        row = verdicts.table([entry])
        assert row == whole if len(whole) <= 160 else len(row) <= 160 and row.endswith("…")


def test_a_long_file_is_read_to_its_end(layout: Layout) -> None:
    for size in (65_535, 65_536, 200_000):
        path = Path(verdicts.save(layout, a_verdict()))
        entry = {**LEGACY_V1, "note": ""}
        entry["note"] = "x" * (size - len(json.dumps(entry)))
        path.write_text(json.dumps(entry), encoding="utf-8")
        assert path.stat().st_size == size
        loaded = verdicts.load_all(layout)
        assert [one["summary"] for one in loaded.documents] == ["nothing found"]
        assert loaded.broken == []

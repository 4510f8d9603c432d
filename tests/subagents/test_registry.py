"""registry.py: rows as they stand, one writer at a time, gaps."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import each, ended, forked, git
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.subagents.documents import registry
from hypothesis import given
from hypothesis import strategies as st

FILE = Path("parallelus/manuals/subagent-registry.json")
FOREIGN: list[Any] = [
    {"id": "20251009-000000-x", "launcher_handle": {"pane_id": "%1"}, "zz": [1, 2.5, None]},
    {"slug": "without an id"},
    "a word",
    7,
]


def put(value: object) -> None:
    FILE.parent.mkdir(parents=True, exist_ok=True)
    FILE.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")


def there() -> Any:
    return json.loads(FILE.read_text(encoding="utf-8"))


def a_row(identity: str, **fields: Any) -> dict[str, Any]:
    return {"id": identity, "slug": "x", "status": "running", **fields}


cells = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
rows = st.lists(cells | st.dictionaries(st.text(max_size=5), cells, max_size=2), max_size=3)


@given(rows=rows)
def test_parse_undoes_render(rows: list[Any]) -> None:
    assert registry.parse(registry.render(rows)) == rows


@given(text=st.text() | st.sampled_from(["[", "{}", "null", '[{"id": 1}]', "[" * 9999]))
def test_parse_raises_nothing_but_context_errors(text: str) -> None:
    try:
        registry.parse(text)
    except ContextError:
        pass


def test_rows_of_others_stay_where_and_as_they_are(layout: Layout) -> None:
    put(FOREIGN)
    registry.add(layout, "20251023-180500-a", lambda identity: a_row(identity))
    registry.update(layout, "20251009-000000-x", status="finished")
    registry.note_gaps(layout, "20251009-000000-x", ["which token?"], 0)
    registry.remove(layout, "20251023-180500-a")
    first, *rest = there()
    assert rest == FOREIGN[1:]
    assert list(first)[:3] == ["id", "launcher_handle", "zz"]
    assert {name: first[name] for name in FOREIGN[0]} == FOREIGN[0]
    assert [row["id"] for row in registry.rows(layout)] == ["20251009-000000-x"]


def test_an_id_that_is_taken_gets_a_number(layout: Layout) -> None:
    refused = iter([None, None])

    def make(identity: str) -> dict[str, Any] | None:
        return next(refused, a_row(identity)) if identity != "a" else a_row("a")

    assert registry.add(layout, "a", make)["id"] == "a"
    assert registry.add(layout, "a", make)["id"] == "a-4"


@pytest.mark.parametrize("text", ["{}", "[", '[\n<<<<<<< ours\n{"id": "a"}\n]', "null", "\x00"])
def test_a_broken_registry_is_said_and_never_written(layout: Layout, text: str) -> None:
    put(text)
    for act in (
        lambda: registry.rows(layout),
        lambda: registry.add(layout, "a", a_row),
        lambda: registry.update(layout, "a", status="x"),
    ):
        with pytest.raises(ContextError, match=r"subagent-registry\.json.*move it away"):
            act()
    assert FILE.read_text(encoding="utf-8") == text


def test_what_changes_nothing_writes_nothing(layout: Layout) -> None:
    put('[\n {"id": "a"}\n]\n')
    before = FILE.read_bytes(), os.stat(FILE).st_mtime_ns
    registry.update(layout, "a", id="a")
    registry.note_gaps(layout, "a", [], 0)
    assert (FILE.read_bytes(), os.stat(FILE).st_mtime_ns) == before


def test_an_unknown_id_is_refused_with_the_nearest(layout: Layout) -> None:
    put([a_row("20251023-180500-alpha")])
    with pytest.raises(ContextError, match="did you mean '20251023-180500-alpha'"):
        registry.update(layout, "20251023-180500-alpa", status="x")


def test_another_place_may_be_named_but_none_outside(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SUBAGENT_REGISTRY_FILE", "here/r.json")
    registry.add(layout, "a", a_row)
    assert json.loads(Path("here/r.json").read_text(encoding="utf-8"))[0]["id"] == "a"
    monkeypatch.setenv("SUBAGENT_REGISTRY_FILE", "../r.json")
    with pytest.raises(ContextError, match="lies outside"):
        registry.rows(Layout(layout.root))


def test_ten_writers_at_once_keep_ten_rows(layout: Layout) -> None:
    def write(number: int) -> None:
        for _ in range(5):
            registry.add(layout, "20251023-180500-same", a_row)
            registry.note_gaps(layout, "20251023-180500-same", [f"gap {number}"], 0)

    assert ended([forked(partial(write, number)) for number in range(10)]) == [0] * 10
    found = registry.rows(layout)
    assert len({row["id"] for row in found}) == 50
    assert len(registry.gaps_of(found[0])) == 10


@each(
    ("line", "gap"),
    [
        ("Capsule Gap: which token?", "which token?"),
        ("- **Capsule Gap:** the port of `api`", "the port of `api"),
        ("  * capsule gap : \x1b[31mred", "[31mred"),
        ("## Capsule Gap: a heading", "a heading"),
        ("Capsule Gap:", None),
        ("Capsule Gaps: none", None),
        ("there is no Capsule Gap: here", None),
    ],
)
def test_a_gap_is_a_line_that_begins_with_the_words(line: str, gap: str | None) -> None:
    found = registry.gaps_in(f"before\n{line}\nafter\n{line}")
    assert found == ([gap] if gap else [])


def test_open_gaps_are_of_the_branch_and_newer_than_its_capsule(layout: Layout) -> None:
    put(
        [
            a_row("a", source_branch="b", capsule_gaps=["old"], capsule_gaps_at="20251023-100000"),
            a_row(
                "b", source_branch="b", capsule_gaps=["new", 7], capsule_gaps_at="20251023-120000"
            ),
            a_row(
                "c", source_branch="other", capsule_gaps=["no"], capsule_gaps_at="20251023-120000"
            ),
            a_row("d", source_branch="b", capsule_gaps="odd"),
        ]
    )
    assert registry.open_gaps(layout, "b") == ["old (a)", "new (b)"]
    assert registry.open_gaps(layout, "b", "2025-10-23T11:00:00Z") == ["new (b)"]


def test_a_registry_never_blocks_a_checkout(layout: Layout) -> None:
    git("branch", "other")
    registry.add(layout, "a", lambda identity: a_row(identity))
    git("add", "-A")
    assert git("ls-files") == "" and git("status", "--porcelain") == ""
    git("checkout", "-q", "other")
    registry.update(layout, "a", status="finished")
    git("checkout", "-q", "feature/demo")
    assert [row["status"] for row in registry.rows(layout)] == ["finished"]


def test_a_registry_that_the_host_tracks_is_used_where_it_lies(layout: Layout) -> None:
    put(FOREIGN)
    git("add", "-f", str(FILE))
    git("commit", "-qm", "the host's own")
    registry.add(layout, "a", lambda identity: a_row(identity))
    assert [row["id"] for row in registry.rows(layout)] == ["20251009-000000-x", "a"]
    assert git("status", "--porcelain") == f" M {FILE}\n"


def test_a_row_is_found_by_slug_as_the_latest_or_by_its_beginning() -> None:
    rows = [
        a_row("20251023-180500-x", status="finished"),
        a_row("20251023-180501-x"),
        a_row("20251023-180502-x", status="failed"),
        a_row("20251024-180502-y", slug="y", status="finished"),
    ]
    assert registry.find(rows, "x")["id"] == "20251023-180501-x"
    assert registry.find(rows, "y")["id"] == "20251024-180502-y"
    assert registry.find(rows, "latest")["id"] == "20251023-180501-x"
    assert registry.find(rows[2:], "latest")["id"] == "20251024-180502-y"
    assert registry.find(rows, "20251024")["id"] == "20251024-180502-y"
    for wrong in ("20251023", "", "z"):
        with pytest.raises(ContextError, match="no subagent"):
            registry.find(rows, wrong)


def test_a_subagent_that_names_gaps_without_end_fills_no_registry(layout: Layout) -> None:
    put([a_row("a")])
    for turn in range(3):
        gaps = [f"gap {turn} {number}" for number in range(30)]
        registry.note_gaps(layout, "a", gaps, 0)
    (row,) = registry.rows(layout)
    assert registry.gaps_of(row) == [f"gap 0 {number}" for number in range(20)]


@each(
    ("text", "gaps"),
    [
        ("## Capsule Gap\n\nWhich port does the service take?\n\nMore about it.\n", ["Which port"]),
        (
            "## Capsule Gaps\n- which port\n- which key\n\n## Next\n- no gap\n",
            ["which p", "which k"],
        ),
        ("Capsule gap - which port\n", ["which port"]),
        ("**Capsule Gap** — which port\n", ["which port"]),
        ("Capsule Gaps:\n1. which port\n2. which key\n", ["1. which port", "2. which key"]),
        ("### Capsule gaps\n\nNone.\n", []),
        ("Capsule Gap: none\n", []),
        ("The capsule gap is small.\nA capsule gapless thing\n", []),
    ],
)
def test_a_gap_in_any_form_is_a_gap(text: str, gaps: list[str]) -> None:
    found = registry.gaps_in(text)
    assert len(found) == len(gaps)
    assert all(gap.startswith(begin) for gap, begin in zip(found, gaps, strict=True)), found

"""tables.py: rows as people see them, and as programs get them."""

from __future__ import annotations

import ast
import json

import pytest
from conftest import SCRIPTS
from contextkit.base import cli, tables
from contextkit.base.commands import JSON, Answer, Arguments, Program, Rows, command
from contextkit.base.layout import Layout
from contextkit.base.records import Record


class Item(Record):
    id: str
    tokens: int
    last_seen: str = ""
    note: str = ""


COLUMNS = (
    ("item", "id"),
    ("Last Seen (UTC)", "last_seen"),
    ("size", "tokens", lambda row: f"~{row.tokens}"),
    ("note", "note"),
)
ITEMS = [Item(id="a", tokens=3, last_seen="now"), Item(id="long one", tokens=12, note="x\ty\x1b")]


def test_columns_line_up_under_their_headings_a_line_a_row() -> None:
    assert tables.of(Rows(columns=COLUMNS, rows=ITEMS)).split("\n") == [
        "item      Last Seen (UTC)  size  note",
        "a         now              ~3",
        "long one                   ~12   x y",
    ]


def test_a_total_and_what_stands_below_follow_rows_only() -> None:
    rows = Rows(
        columns=COLUMNS[::2],
        rows=ITEMS,
        total=Item(id="all", tokens=15),
        below="\n(tokens)",
        nothing="No items.",
    )
    assert tables.of(rows).split("\n")[-3:] == ["all       ~15", "", "(tokens)"]
    none = Rows(columns=COLUMNS, rows=[], nothing="No items.", below="more")
    assert tables.of(none) == "No items."


def test_programs_get_typed_fields_under_the_names_of_the_table_too() -> None:
    assert tables.data(Rows(columns=COLUMNS, rows=ITEMS[:1])) == [
        {"id": "a", "tokens": 3, "last_seen": "now", "note": "", "size": 3}
    ]
    assert tables.data(Rows(columns=(("with", "a"),), rows=[{"id": 1, "a": (2,)}])) == [
        {"id": 1, "a": (2,), "with": (2,)}
    ]


def answered(answer: str | Answer | Rows, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    @command("look", JSON)
    def look(layout: Layout, args: Arguments) -> str | Answer | Rows:
        cli.put("a part")
        return answer

    program = Program(name="tool", about="", default="look", commands=(look,))
    status = cli.run(program, list(words))
    out, err = capsys.readouterr()
    return f"{status} {out}{err}"


def test_the_command_line_shows_rows_as_a_table_or_as_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = Rows(columns=(("item", "id"),), rows=[{"id": "a", "n": 1}], status=1)
    assert answered(rows, capsys) == "1 a part\nitem\na\n"
    shown = answered(rows, capsys, "--json")
    assert shown[:2] == "1 " and json.loads(shown[2:]) == [{"id": "a", "n": 1}]
    none = Rows(columns=(("item", "id"),), rows=[])
    assert json.loads(answered(none, capsys, "--json")[2:]) == []


def test_an_answer_has_text_for_people_and_data_for_programs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer = Answer(text="two", exact=True, status=3, data=lambda: {"n": 2}, talk="so\nit is")
    assert answered(answer, capsys) == "3 a part\ntwotool: so\ntool: it is\n"
    shown = answered(answer, capsys, "--json=1")
    assert shown[:2] == "3 " and json.loads(shown[2:]) == {"n": 2}
    assert json.loads(answered(Answer(text="", data=[]), capsys, "--json")[2:]) == []
    assert answered(Answer(text="kept"), capsys, "--json") == "0 kept\n"


def test_no_command_decides_how_it_is_shown() -> None:
    for path in SCRIPTS.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if "args.json" in text else ():
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert (node.value.id, node.attr) != ("args", "json"), path


def test_on_a_terminal_a_wide_column_is_cut_or_goes_on_below(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tables, "_terminal_width", lambda: 20)
    rows = [{"id": "memory", "status": "one two three four five"}, {"id": "b", "status": ""}]
    columns = (("system", "id"), ("status", "status"))
    assert tables.of(Rows(columns=columns, rows=rows)).split("\n")[1] == "memory  one two thr…"
    assert tables.of(Rows(columns=columns, rows=rows, wrap=True)).split("\n") == [
        "system  status",
        "memory  one two",
        "        three four",
        "        five",
        "b",
    ]


@pytest.mark.parametrize("wrap", [False, True])
def test_on_a_terminal_that_is_too_narrow_for_the_columns_each_row_is_a_paragraph(
    monkeypatch: pytest.MonkeyPatch, wrap: bool
) -> None:
    monkeypatch.setattr(tables, "_terminal_width", lambda: 30)
    rows = [{"id": "memory/of-a-task", "state": "in work", "at": "10:05", "why": "a long reason"},
            {"id": "b", "state": "", "at": "-", "why": "none"}]  # fmt: skip
    columns = (("System", "id"), ("State", "state"), ("At", "at"), ("Why", "why"))
    assert tables.of(Rows(columns=columns, rows=rows, wrap=wrap)).split("\n") == [
        "memory/of-a-task",
        "    State in work; At 10:05;",
        "    Why a long reason",
        "b",
        "    Why none",
    ]

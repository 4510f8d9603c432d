"""formats.py: text becomes checked records here, or a sentence that names what is wrong."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import SCRIPTS, each
from contextkit.base import filters, formats
from contextkit.base.errors import ContextError
from contextkit.base.records import Record
from hypothesis import given
from hypothesis import strategies as st

marks = "-:[]{}&*!|>'\"#%@`~,? \n\r\tab01\x00\x07é\ud800\ufeff"
anything_typed = st.text(st.sampled_from(marks)) | st.text(st.characters())
texts = st.text(st.characters(exclude_categories=["Cs"]))
fields = st.dictionaries(texts, texts, max_size=4)


class Note(Record):
    name: str
    count: int = 0
    sure: bool = False
    tags: tuple[str, ...] = ()


def a_note(**changes: Any) -> Note:
    return Note(**{"name": "n"} | changes)


def refusal(read: Callable[..., object], *arguments: object) -> str:
    with pytest.raises(ContextError) as refused:
        read(*arguments)
    return str(refused.value)


@pytest.fixture
def soon() -> Iterator[None]:
    """The test ends, which it would not if an alias or a bracket cost twice the one before it."""

    def late(number: int, frame: object) -> None:
        raise AssertionError("a minute of the processor, and no end")

    before = signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, 60)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


# YAML


@each(
    "scalar",
    ["no", "010", "1.10", "0x1f", "1e3", "null", "~", "True", ".inf", "12:30:00", "2025-10-23",
     "2025-10-23T18:05:00Z", "<<", "=", "none"],
)  # fmt: skip
def test_a_yaml_scalar_is_the_text_that_stands_there(scalar: str) -> None:
    assert formats.from_yaml(f"branch: {scalar}\nlist: [{scalar}]\n", "f") == {
        "branch": scalar,
        "list": [scalar],
    }


@given(fields)
def test_what_a_yaml_writer_wrote_is_read_back(values: dict[str, str]) -> None:
    assert formats.from_yaml(yaml.safe_dump(values), "f") == values


@given(anything_typed)
def test_any_text_is_read_or_refused_as_yaml(text: str) -> None:
    try:
        formats.from_yaml(text, "draft.yaml")
    except ContextError as error:
        assert str(error).startswith("draft.yaml: ") and error.status == 2


LAUGHS = "a: &a [x, x]\n" + "".join(
    f"{this}: &{this} [*{before}, *{before}]\n"
    for before, this in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.usefixtures("soon")
@each(
    ("text", "complaint"),
    [
        ("a: 1\nb: 2\na: 3\n", "in line 3: the key 'a' is given twice"),
        ("a: {b: 1, 'b': 2}\n", "the key 'b' is given twice"),
        ("? [a]\n: b\n", "not text"),
        (LAUGHS, "in line 2: aliases and tags are not read"),
        ("&a [*a]\n", "aliases"),
        ("a: !!python/object/apply:os.system [id]\n", "aliases and tags are not read"),
        ("a: !!int 5\n", "tags"),
        ("!secret a\n", "tags"),
        ("a: b\n---\nc: d\n", "in line 2: but found another document"),
        ("a: 'open\n", "not valid YAML"),
        ("a: \x07\n", "special characters are not allowed"),
        ("a: \ud800\n", "special characters are not allowed"),
        ("a: b: c\n", "in line 1: mapping values are not allowed here"),
        ("a" * 5_000_000, "larger than 65536 bytes"),
        ("[" * 20_000, "not valid YAML"),
        ("? " * 30_000, "not valid YAML"),
        ("- " * 30_000, "not valid YAML"),
    ],
)  # fmt: skip
def test_yaml_that_could_mislead_or_harm_is_refused_soon(text: str, complaint: str) -> None:
    said = refusal(formats.from_yaml, text, "draft.yaml")
    assert said.startswith("draft.yaml: ") and complaint in said


# Front matter


@given(fields, st.text(st.characters()))
def test_the_body_is_given_back_exactly_as_it_stands(values: dict[str, str], body: str) -> None:
    head = "".join(f"{filters.quoted(k, True)}: {filters.quoted(v)}\n" for k, v in values.items())
    if values:
        assert formats.front_matter(f"---\n{head}---\n{body}", "f") == (values, body)


@each("body", ["", "\n\n  text\n\n\n", " \t\n\nb", "---\nb: c\n---\n", "\r\n\r\nb", "x"])
def test_a_body_keeps_its_blank_lines(body: str) -> None:
    assert formats.front_matter(f"---\na: b\n---\n{body}", "f") == ({"a": "b"}, body)


@each(
    ("text", "values", "body"),
    [
        ("---\r\na: b\r\n---\r\n\r\nBody\r\n", {"a": "b"}, "\r\nBody\r\n"),
        ("--- \na: b\n---\t\nBody", {"a": "b"}, "Body"),
        ("---\na: b\n---", {"a": "b"}, ""),
        ("---\ncontent: c\nhandler: h\n---\nBody", {"content": "c", "handler": "h"}, "Body"),
        ("---\na: |\n  one\n  two\n---\nBody", {"a": "one\ntwo\n"}, "Body"),
    ],
)
def test_front_matter_is_lines_between_dashes(text: str, values: object, body: str) -> None:
    assert formats.front_matter(text, "f") == (values, body)


@each(
    ("text", "complaint"),
    [
        ("", "no front matter: the first line must be `---`"),
        ("# Title\n---\na: b\n---\n", "no front matter"),
        ("\n---\na: b\n---\n", "no front matter"),
        ("----\na: b\n----\n", "no front matter"),
        ("---\na: b\nBody\n", "the front matter has no closing `---`"),
        ("---", "no closing"),
        ("---\n- a\n- b\n---\n", "must be lines of `name: value`"),
        ("---\n---\nBody", "must be lines of `name: value`"),
        ("---\na: b\na: c\n---\n", "in line 3: the key 'a' is given twice"),
        ("---\na: '\n---\n", "front matter: not valid YAML"),
    ],
)
def test_front_matter_that_is_none_is_refused(text: str, complaint: str) -> None:
    said = refusal(formats.front_matter, text, "c.md")
    assert said.startswith("c.md: ") and complaint in said


@given(anything_typed)
def test_any_text_is_read_or_refused_as_front_matter(text: str) -> None:
    for document in (text, f"---\n{text}\n---\n"):
        try:
            formats.front_matter(document, "c.md")
        except ContextError as error:
            assert str(error).startswith("c.md: ")


HEAD_LINES = st.sampled_from(
    ["a: b", 'b: "x: y"', "c:", "  - one", '  - "two, 字 # no"', "d: 2025-10-23T18:05:00Z", "a: b ",
     "e:f", "---", "--- ", "g: 'h'", 'i: "\\n"', "j: yes", "k: 010", "l: ~", "m: a: b", "n: a #b",
     "  more", "- o", "# p", "", "q:  r", 's: "t" u', "...", "v: [w]", "x: &y z", "é: e", "1: 2",
     'o1: "Fix \\"login\\""', 'o2: "\\\\"', 'o3: "\\u0007\\t"', 'o4: "\\x41"', 'o5: "\\"',
     'o6: "\\ud800"',
     'o7: "a"b\\n"', 'o8: "\\u00"', 'o9: "a"b\\u0041"',
     "b_1: 24h", "b2: ~/x", "b3: 'x y'", "b4: 'a'b'", "b5: ''", " - p", "    - 'q r'", "  - - s",
     'c2: ""', "  -  x", "c: d:", "z: (a), b", 'w: "\u3000"', 'u: "\u2028"', "\tt: t", "? r"]
) | st.text(max_size=8)  # fmt: skip


@given(st.lists(HEAD_LINES, max_size=5), st.text(max_size=9))
def test_our_own_front_matter_is_read_as_the_library_reads_it(lines: list[str], body: str) -> None:
    text = "\n".join(["---", *lines, "---", body])
    own = formats._own_front_matter(text)
    if own is not None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(formats, "_own_front_matter", lambda text: None)
            assert formats.front_matter(text, "f") == own


@given(st.text('aé字😀"\\\n\t\r\x07\x85 :#{u0', max_size=20))
def test_a_scalar_that_our_filter_quoted_needs_no_yaml(text: str) -> None:
    for always in (False, True):
        own = formats._own_front_matter(f"---\na: {filters.quoted(text, always)}\n---\n")
        assert own == ({"a": text}, "")


def test_what_our_templates_write_needs_no_yaml() -> None:
    head = "branch: feature/a\ncreated_at: 2025-10-23T18:05:00Z\ntoken_budget: 1200\nmini: true\n"
    seal = 'head: 3b18e5\nreferences:\n  - "src/app.py 9f86d081"\n  - gone.py\n'
    own = formats._own_front_matter(f'---\nwhy: "a: b # c"\n{head}{seal}---\n\nBody')
    assert own is not None and own[1] == "\nBody"
    assert own[0]["why"] == "a: b # c" and own[0]["token_budget"] == "1200"
    assert own[0]["references"] == ["src/app.py 9f86d081", "gone.py"]


# Records


def test_build_makes_what_the_annotations_say() -> None:
    values = {"name": "010", "count": "010", "sure": "true", "tags": ["a", "b"]}
    made = a_note(name="010", count=10, sure=True, tags=("a", "b"))
    assert formats.build(Note, values, "f") == made
    assert formats.build(Note, {"name": "n", "count": 3, "sure": False}, "f") == a_note(count=3)


@each(
    ("values", "complaint"),
    [
        ({}, "name is missing"),
        ({"name": "n", "tagz": []}, "unknown field 'tagz' (did you mean 'tags'?)"),
        ({"name": ["n"]}, "name must be str, not ['n']"),
        ({"name": "n", "count": "many"}, "count must be int, not 'many'"),
        ({"name": "n", "count": "-1"}, "count must be int, not '-1'"),
        ({"name": "n", "count": "٣"}, "count must be int"),
        ({"name": "n", "count": "9" * 5000}, "count must be int"),
        ({"name": "n", "count": True}, "count must be int, not True"),
        ({"name": "n", "sure": "yes"}, "sure must be bool, not 'yes'"),
        ({"name": "n", "tags": "a"}, "tags must be tuple[str, ...], not 'a'"),
        ({"name": "n", "tags": ["a", {}]}, "tags must be tuple[str, ...]"),
    ],
)
def test_build_names_the_field_that_is_wrong(values: dict[str, Any], complaint: str) -> None:
    said = refusal(formats.build, Note, values, "draft.yaml")
    assert said.startswith(f"draft.yaml: {complaint}")


# JSON

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(-1e99, 1e99) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=10,
)


@given(json_values)
def test_json_is_read_back_as_it_was_written(value: object) -> None:
    text = formats.to_json(value)
    assert formats.from_json(text, "f") == json.loads(text) == value


def test_json_for_programs_is_indented_and_readable() -> None:
    assert formats.to_json([a_note(name="Grüße", tags=("a",))]) == (
        '[\n  {\n    "name": "Grüße",\n    "count": 0,\n    "sure": false,\n'
        '    "tags": [\n      "a"\n    ]\n  }\n]'
    )
    assert json.loads(formats.to_json({"notes": (a_note(),)}))["notes"][0]["name"] == "n"


@each(
    ("text", "complaint"),
    [
        ("", "not valid JSON in line 1"),
        ('{"a": 1,\n"b" 2}', "not valid JSON in line 2"),
        ("{'a': 1}", "not valid JSON in line 1"),
        ("9" * 5000, "not valid JSON"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_json_is_refused(text: str, complaint: str) -> None:
    said = refusal(formats.from_json, text, "state.json")
    assert said.startswith("state.json: ") and complaint in said


@each("text", ['{"a": 1', '{"a', '{"a" 1}', '["\\q"]'])
def test_what_is_no_json_is_refused_in_a_process_that_has_no_json_yet(text: str) -> None:
    """There the scanner itself may fail instead of saying what is wrong."""
    program = (
        "import sys; from contextkit.base import errors, formats\n"
        "try: formats.from_json(sys.argv[1], 'state.json')\n"
        "except errors.ContextError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, text],
        env={"PYTHONPATH": str(SCRIPTS)}, capture_output=True, encoding="utf-8",
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("state.json: not valid JSON in line 1\n", "")


def test_a_record_is_built_from_the_fields_that_it_knows_of_a_json_object() -> None:
    found = formats.object_from_json('{"name": "n", "later": 1, "count": 3}', "note")
    assert formats.build_known(Note, found, "note") == a_note(count=3)
    wrong = refusal(formats.build_known, Note, {"count": "many", "later": 1}, "note")
    assert wrong == refusal(formats.build, Note, {"count": "many"}, "note")
    assert refusal(formats.object_from_json, "[]", "note") == "note: is not a JSON object"
    assert refusal(formats.object_from_json, "{", "note").startswith("note: not valid JSON")


def test_the_end_of_a_log_is_read_and_of_what_is_no_file_nothing(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_bytes(b"first\nlast")
    assert (formats.tail(str(log), 4), formats.tail(str(log), 99)) == (b"last", b"first\nlast")
    os.mkfifo(tmp_path / "pipe")
    for name in ("", "none", "pipe", "\0"):
        assert formats.tail(str(tmp_path / name), 4) == b""

"""dismissals.py: which lines a dismissal is about, and when it no longer holds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import each
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.reviews.documents import dismissals
from contextkit.reviews.documents.dismissals import Dismissal
from contextkit.reviews.documents.runs import Run

RUN = Run(id="r-1", process="flux-drive", mode="review", output_dir="out", roster=("fd-a",),
          started_at="2025-10-23T18:05:00Z", revision="tree:1", target="main")  # fmt: skip
NINE = [f"line {number}" for number in range(1, 10)]


def write(lines: list[str]) -> None:
    Path("app.py").write_text("\n".join(lines) + "\n", encoding="utf-8")


def a_dismissal(layout: Layout, file: str = "app.py", line: int = 0) -> Dismissal:
    file, line, quoted = dismissals.quote(layout, RUN, file, line)
    return Dismissal(identity="f-1", agent="fd-a", id="P1-1", severity="P1", title="A word",
                     reason="So it is meant.", at="2025-10-23T18:05:00Z", run="r-1", file=file,
                     line=line, quoted=quoted)  # fmt: skip


def holds(layout: Layout, one: Dismissal, run: Run = RUN) -> bool:
    return dismissals.holds(layout, run, one)


@each("line", range(1, 10))
def test_it_holds_until_one_of_the_three_lines_around_it_changes(layout: Layout, line: int) -> None:
    write(NINE)
    one = a_dismissal(layout, line=line)
    assert (one.file, one.line) == ("app.py", line) and holds(layout, one)
    middle = min(max(line, 2), 8)  # at either end of the file, the three lines there
    for changed in range(1, 10):
        write([*NINE[: changed - 1], "other", *NINE[changed:]])
        assert holds(layout, one) == (abs(changed - middle) > 1)


@pytest.mark.parametrize("line", [1, 5, 9])
def test_it_holds_wherever_its_lines_move_and_however_they_are_indented(
    layout: Layout, line: int
) -> None:
    write(NINE)
    one = a_dismissal(layout, line=line)
    for moved in (["new", *NINE], [*NINE, "new"], ["new"] * 7 + NINE, [f"  {x}" for x in NINE]):
        write(moved)
        assert holds(layout, one)
    write(list(reversed(NINE)))
    assert not holds(layout, one)


@pytest.mark.parametrize("many", [1, 2, 3])
def test_a_short_file_counts_as_a_whole(layout: Layout, many: int) -> None:
    write(NINE[:many])
    one = a_dismissal(layout, line=many)
    assert (one.file, one.line) == ("app.py", many) and holds(layout, one)
    for changed in range(many):
        write([*NINE[:changed], "other", *NINE[changed + 1 : many]])
        assert not holds(layout, one)
    write(["new", *NINE[:many]])
    assert holds(layout, one) == (many == 3)


@pytest.mark.parametrize("line", [0, -1, 10])
def test_a_line_that_is_not_there_stands_for_the_whole_file(layout: Layout, line: int) -> None:
    write(NINE)
    one = a_dismissal(layout, line=line)
    assert (one.file, one.line) == ("app.py", 0) and holds(layout, one)
    for end in ("new", "newer", "another"):  # whichever digest sorts first
        write([*NINE, end])
        assert not holds(layout, one)


def test_a_dismissal_takes_the_place_of_no_other(layout: Layout) -> None:
    write(NINE)
    one = a_dismissal(layout)
    for identity in ("f-1", "f-3", "f-2", "f-2"):
        dismissals.add(layout, RUN, one.replace(identity=identity))
    kept = [each.identity for each in dismissals.load(layout, RUN)]
    assert kept == ["f-1", "f-2", "f-3"]


def test_a_short_file_that_grew_is_another(layout: Layout) -> None:
    write(NINE[:2])
    one = a_dismissal(layout, line=2)
    write([*NINE[4:7], *NINE[:2]])
    assert not holds(layout, one)


@pytest.mark.parametrize("line", [0, 5])
def test_it_expires_with_its_file(layout: Layout, line: int) -> None:
    write(NINE)
    one = a_dismissal(layout, line=line)
    for text in ("", None):
        Path("app.py").unlink() if text is None else Path("app.py").write_text(text, "utf-8")
        assert not holds(layout, one)


@pytest.mark.parametrize("file", ["", "gone.py", "../outside.py", "."])
def test_without_a_file_it_is_about_the_revision_that_was_reviewed(
    layout: Layout, file: str
) -> None:
    Path("../outside.py").write_text("\n".join(NINE), encoding="utf-8")
    one = a_dismissal(layout, file, 5)
    assert (one.file, one.line, one.quoted) == ("", 0, "tree:1") and holds(layout, one)
    for other in ("tree:0", "tree:2"):
        assert not holds(layout, one, RUN.replace(revision=other))


def test_the_document_is_read_as_it_was_written_and_a_second_dismissal_replaces_the_first(
    layout: Layout,
) -> None:
    one = a_dismissal(layout, "")
    other = one.replace(identity="a-1", by="Ada")
    path = dismissals.add(layout, RUN, one)
    dismissals.add(layout, RUN, other)
    dismissals.add(layout, RUN, one.replace(reason="It is still meant."))
    assert dismissals.load(layout, RUN) == [other, one.replace(reason="It is still meant.")]
    assert json.loads(Path(path).read_text(encoding="utf-8"))["format"] == 1
    assert dismissals.load(layout, RUN.replace(target="another")) == []


@each(
    "text", ["[]", "{}", '{"format": 2, "dismissed": []}', '{"format": 1}', '{"dismissed": []}',
             '{"format": 1, "dismissed": {}}', '{"format": 1, "dismissed": [{}]}'],
)  # fmt: skip
def test_what_is_not_a_document_of_dismissals_is_refused(text: str) -> None:
    with pytest.raises(ContextError):
        dismissals.parse(text)


def test_a_dismissal_without_a_place_is_read() -> None:
    named = ("identity", "agent", "id", "severity", "title", "reason", "at", "run")
    text = json.dumps({"format": 1, "dismissed": [dict.fromkeys(named, "x")]})
    (one,) = dismissals.parse(text)
    assert (one.file, one.line, one.quoted, one.by) == ("", 0, "", "")


def test_it_is_stored_beside_a_document_and_for_others_by_target(layout: Layout) -> None:
    paths = [
        layout.shown(dismissals.path(layout, RUN.replace(**changes)))
        for changes in (
            {"source": "docs/plan.md"},
            {"target": "a b"},
            {"target": "a-b"},
            {"target": "?"},
        )
    ]
    assert paths[0] == "docs/plan.md.dismissed.json"
    assert paths[1].startswith("docs/reviews/a-b-") and paths[1].endswith(".dismissed.json")
    assert paths[2] == "docs/reviews/a-b-d44362d6.dismissed.json"  # as it is in git
    assert paths[3].startswith("docs/reviews/diff-") and len(set(paths)) == 4

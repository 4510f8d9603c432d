"""runs.py: the record of a review run, and what is said of files that are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import each, git
from contextkit.base import changes
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.reviews.documents import runs
from contextkit.reviews.documents.runs import Run
from hypothesis import given
from hypothesis import strategies as st

FOLDER = Path(".contextkit/runs")
STARTED = 1_761_242_700  # 2025-10-23T18:05:00Z


def a_run(**changes: Any) -> Run:
    """A run in which a test names only what it is about."""
    values = {
        "id": "20251023T180500Z-1a2b3c",
        "process": "review",
        "mode": "review",
        "output_dir": ".clavain/reviews/current",
        "roster": ("fd-safety", "fd-quality"),
        "started_at": "2025-10-23T18:05:00Z",
    }
    return Run(**values | changes)


texts = st.text()


@given(target=texts, roster=st.lists(texts).map(tuple), small=st.booleans(), timeout=st.integers(0))
def test_parse_undoes_render(
    target: str, roster: tuple[str, ...], small: bool, timeout: int
) -> None:
    run = a_run(target=target, roster=roster, small=small, timeout=timeout)
    assert runs.parse(runs.render(run)) == run


@given(st.text())
def test_parse_raises_nothing_but_context_errors(text: str) -> None:
    with pytest.raises(ContextError):
        runs.parse(text)


@each(
    ("field", "value"),
    [
        ("id", "../x"), ("id", ""), ("id", "a\nb"), ("mode", "rhyme"), ("output_dir", "/tmp"),
        ("output_dir", "a/../../b"), ("input", "/etc/passwd"), ("started_at", "yesterday"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_run_is_refused_by_field(field: str, value: str) -> None:
    with pytest.raises(ContextError, match=field if field != "id" else "run"):
        a_run(**{field: value})


def test_an_unknown_key_is_passed_over_and_an_unknown_version_refused() -> None:
    text = runs.render(a_run())
    assert runs.parse(text.replace("{", '{"later": 1,', 1)) == a_run()
    with pytest.raises(ContextError, match="written by a newer contextkit"):
        runs.parse(text.replace('"version": 1', '"version": 2'))


def test_a_run_is_kept_and_found_again(layout: Layout) -> None:
    first, second = a_run(), a_run(id="20251023T180501Z-000000", started_at="2025-10-23T18:05:01Z")
    runs.save(layout, second)
    runs.save(layout, first)
    assert runs.load_all(layout).documents == [first, second]
    assert runs.load(layout, first.id) == first and runs.load(layout, "latest") == second
    assert git("status", "--porcelain") == ""


def test_a_broken_or_foreign_file_is_said_and_hides_no_other(layout: Layout) -> None:
    runs.save(layout, a_run())
    (FOLDER / "half.json").write_text("{", encoding="utf-8")
    (FOLDER / "other.json").write_text(runs.render(a_run()), encoding="utf-8")
    (FOLDER / "folder.json").mkdir()
    (FOLDER / ".x.json.0123456789ab.tmp").write_text("", encoding="utf-8")
    found = runs.load_all(layout)
    assert found.documents == [a_run()] and runs.load(layout, "latest") == a_run()
    assert [one.path for one in found.broken] == [
        f"{FOLDER}/folder.json", f"{FOLDER}/half.json", f"{FOLDER}/other.json",
    ]  # fmt: skip


def test_a_run_that_is_not_there_is_said_with_the_nearest(layout: Layout) -> None:
    with pytest.raises(ContextError, match="verdict_start comes first"):
        runs.load(layout, "latest")
    runs.save(layout, a_run())
    with pytest.raises(ContextError, match="did you mean '20251023T180500Z-1a2b3c'"):
        runs.load(layout, "20251023T180500Z-1a2b3d")
    with pytest.raises(ContextError, match="not a run id"):
        runs.load(layout, "../session")


def test_fields_change_without_losing_the_others(layout: Layout) -> None:
    runs.save(layout, a_run())
    runs.change(layout, a_run().id, missed=("fd-safety",))
    runs.change(layout, a_run().id, finished_at="2025-10-23T18:06:00Z")
    assert runs.load(layout, "latest") == a_run(
        missed=("fd-safety",), finished_at="2025-10-23T18:06:00Z"
    )


def test_a_run_lives_until_it_is_finished_or_too_old(repo: Path) -> None:
    (repo / "contextkit.yaml").write_text("verdict_run_lifetime: 60s\n", encoding="utf-8")
    layout = Layout()
    assert runs.is_live(layout, a_run(), STARTED + 60)
    assert not runs.is_live(layout, a_run(), STARTED + 61)
    assert not runs.is_live(layout, a_run(finished_at="2025-10-23T18:05:01Z"), STARTED)


def test_new_ids_differ_and_sort_as_they_were_made() -> None:
    made: list[Run] = []
    for n in (0, 0, 0, 0, 1, 1, 2):
        made.append(a_run(id=runs.new_id(STARTED + n, made)))
    ids = [run.id for run in made]
    assert ids == sorted(ids) and len(set(ids)) == len(ids)
    assert len({runs.new_id(STARTED, []) for _ in range(9)}) == 9


def test_a_tree_has_the_same_revision_after_its_commit(layout: Layout) -> None:
    Path("a").write_text("reviewed\n", encoding="utf-8")
    with changes.work_tree(layout) as tree:
        run = a_run(revision=tree.revision())
    Path(run.output_dir).mkdir(parents=True)
    Path(run.output_dir, "fd-safety.md").write_text("a report\n", encoding="utf-8")
    assert runs.revision_now(layout, run) == run.revision
    git("add", "a")
    git("commit", "-q", "-m", "as reviewed")
    assert runs.revision_now(layout, run) == run.revision
    Path("b").write_text("not reviewed\n", encoding="utf-8")
    assert runs.revision_now(layout, run) != run.revision


def test_a_document_has_a_revision_as_long_as_it_is_there(layout: Layout) -> None:
    Path("plan.md").write_text("a plan\n", encoding="utf-8")
    run = a_run(revision=changes.data_revision(Path("plan.md").read_bytes()), source="plan.md")
    assert runs.revision_now(layout, run) == run.revision
    Path("plan.md").write_text("another\n", encoding="utf-8")
    assert runs.revision_now(layout, run) not in ("", run.revision)
    Path("plan.md").unlink()
    assert runs.revision_now(layout, run) == ""

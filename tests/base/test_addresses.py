"""addresses.py: one name for each document, from its path and back."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import each
from contextkit.base import addresses, stores
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout

PATHS = {
    "payload:s-42/20261122-043007-auth": "shared/payloads/s-42/20261122-043007-auth.md",
    "capsule:feature/demo/20261122T043007Z": (
        "parallelus/manuals/capsules/feature/demo/20261122T043007Z.md"
    ),
    "handoff:handoff-dev-to-qa-20261122T043007Z": (
        ".aios/handoffs/handoff-dev-to-qa-20261122T043007Z.yaml"
    ),
    "plan:auth": ".temp/memory/research_plans/auth.md",
    "finding:ui_20261122T043007": ".temp/memory/findings/ui_20261122T043007.md",
    "merged:merged_20261122T043007": ".temp/memory/findings/merged_20261122T043007.md",
    "checkpoint:cp_plan_20261122T043007": ".temp/memory/checkpoints/cp_plan_20261122T043007.json",
    "snapshot:snap_20261122T043007": ".temp/memory/context_snapshots/snap_20261122T043007.md",
    "verdict:fd-safety": ".clavain/verdicts/fd-safety.json",
    "verdict:a%3Ab": ".clavain/verdicts/a%3Ab.json",
    "run:20261122T043007Z-0a1b2c": ".contextkit/runs/20261122T043007Z-0a1b2c.json",
}
NONE = (
    "shared/payloads/README.md",
    "parallelus/manuals/capsules/feature/README.md",
    ".contextkit/runs/20261122T043007Z-0a1b2c.listing",
    ".temp/memory/checkpoints/notes.json",
    "docs/guide.md",
)


def make(layout: Layout, path: str) -> str:
    place = Path(layout.join(path))
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("x\n", encoding="utf-8")
    return str(place)


@pytest.fixture
def layout(repo: Path) -> Layout:
    return Layout()


@each("ref", PATHS)
def test_an_address_is_made_from_the_path_and_finds_it_again(layout: Layout, ref: str) -> None:
    path = make(layout, PATHS[ref])
    assert addresses.of(layout, path) == ref
    assert addresses.of(layout, path, ref.partition(":")[0]) == ref
    assert addresses.find(layout, ref).path == path
    assert addresses.find(layout, PATHS[ref]).ref == ref
    kind, name = addresses.parts(ref)
    assert addresses.file_of(layout, kind, name) == path


@each("path", NONE)
def test_what_is_no_document_has_no_address(layout: Layout, path: str) -> None:
    assert addresses.of(layout, make(layout, path)) == ""
    assert not list(addresses.listed(layout))
    with pytest.raises(ContextError, match="not a document"):
        addresses.find(layout, path)


def test_every_store_with_documents_can_be_addressed() -> None:
    for store in stores.STORES:
        assert bool(store.module) == bool(store.suffix or (store.is_file and store.module))


def test_an_address_stays_when_a_document_is_put_away(layout: Layout) -> None:
    ended = make(layout, ".contextkit/ended/s-42@20261122T043007Z/20261122-043007-auth.md")
    archived = make(layout, ".temp/memory/archive/auth/findings/ui_20261122T043007.md")
    assert addresses.find(layout, "payload:s-42/20261122-043007-auth").path == ended
    assert addresses.find(layout, "finding:ui_20261122T043007").path == archived
    assert addresses.of(layout, archived) == "finding:ui_20261122T043007"


def test_a_beginning_is_enough_as_long_as_it_is_of_one_document(layout: Layout) -> None:
    make(layout, "shared/payloads/s/20261122-043007-auth.md")
    make(layout, "shared/payloads/s/20261122-043008-cache.md")
    find = addresses.find
    assert find(layout, "20261122-043008").ref == "payload:s/20261122-043008-cache"
    assert find(layout, "payload:s/20261122-043007").ref == "payload:s/20261122-043007-auth"
    with pytest.raises(ContextError, match="start of 2 documents: payload:s/2026"):
        find(layout, "20261122")
    with pytest.raises(ContextError, match="there is no document 'nothing'"):
        find(layout, "nothing")


def test_the_name_itself_is_meant_before_what_begins_with_it(layout: Layout) -> None:
    for name in ("a", "ab"):
        make(layout, f".clavain/verdicts/{name}.json")
    assert addresses.find(layout, "verdict:a").ref == "verdict:a"
    assert addresses.find(layout, "a", "verdict").ref == "verdict:a"


def test_latest_is_the_newest_by_the_time_in_its_name(layout: Layout) -> None:
    for ref in PATHS:
        make(layout, PATHS[ref])
    make(layout, ".temp/memory/findings/late_20261123T000000.md")
    assert addresses.find(layout, "latest").ref == "finding:late_20261123T000000"
    assert addresses.find(layout, "payload:latest").ref == "payload:s-42/20261122-043007-auth"
    assert addresses.find(layout, "latest", "capsule").kind == "capsule"


def test_an_agents_name_may_be_typed_as_it_is(layout: Layout) -> None:
    make(layout, ".clavain/verdicts/interflux%3Areview.json")
    assert addresses.find(layout, "verdict:interflux:review").ref == "verdict:interflux%3Areview"


def test_a_command_of_one_kind_refuses_the_address_of_another() -> None:
    assert addresses.bare("payload:s/x", "payload") == "s/x"
    assert addresses.bare("x", "payload") == "x"
    assert addresses.bare("C:x", "payload") == "C:x"
    with pytest.raises(ContextError, match="is a capsule, not a payload"):
        addresses.bare("capsule:x", "payload")


def test_a_path_outside_of_the_repository_is_no_document(layout: Layout, tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("x", encoding="utf-8")
    for ref in (str(tmp_path / "x.md"), "../x.md", "payload:../../x", "", "payload:"):
        with pytest.raises(ContextError):
            addresses.find(layout, ref)


def test_a_document_is_named_where_another_store_is_not_as_it_should_be(layout: Layout) -> None:
    path = make(layout, PATHS["capsule:feature/demo/20261122T043007Z"])
    Path(".temp").symlink_to("elsewhere")
    assert addresses.of(layout, path) == "capsule:feature/demo/20261122T043007Z"
    with pytest.raises(ContextError, match="is a symbolic link"):
        list(addresses.listed(layout, "plan"))


def test_the_documents_that_a_text_names_are_found(layout: Layout) -> None:
    for ref in PATHS:
        make(layout, PATHS[ref])
    text = (
        "Read `finding:ui_20261122T043007`, then (shared/payloads/s-42/20261122-043007-auth.md).\n"
        "@stored:.clavain/verdicts/fd-safety.json is one; finding:gone_20261122T043007 is not,"
        " nor docs/guide.md, https://example.org/x.md or a:b."
    )
    assert addresses.named_in(layout, text) == [
        "finding:ui_20261122T043007",
        "payload:s-42/20261122-043007-auth",
        "verdict:fd-safety",
    ]
    many = " ".join(f"session:s-{number}" for number in range(50))
    assert len(addresses.named_in(layout, many)) == 40

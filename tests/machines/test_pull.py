"""pull.py: what becomes of two texts of one document, of what ended, and of what is not there."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import memory_stores as stores
import pytest
from conftest import rounds
from contextkit.base import files
from contextkit.base.errors import ContextError
from contextkit.base.stores import MARK
from contextkit.handoffs.documents import artifacts
from contextkit.hosts.flows import doctor
from contextkit.machines.documents import knowledge, manifests
from contextkit.machines.flows import pull
from contextkit.machines.flows.engines import Folder
from contextkit.memory.flows import upkeep
from contextkit.payloads.flows import retention
from contextkit.reviews.documents import verdicts
from simulated_machines import Machine, killed_at

Four = tuple[Machine, ...]
UI = ".temp/memory/findings/ui_20261122T100000.md"


@pytest.fixture
def four(sealed: Path) -> Four:
    return tuple(Machine(sealed / name, f"file://{sealed}/remote") for name in "abcd")


def beside(machine: Machine) -> list[str]:
    """The texts that are kept beside the finding of the machine."""
    return sorted(path.read_text("utf-8") for path in (machine.root / UI).parent.glob(f"*{MARK}*"))


def did(machine: Machine, source: str = "") -> list[str]:
    rows = machine.pull(source=source).rows
    return [row.did for row in rows if row.did != "history"]


def sent(machine: Machine) -> list[str]:
    """What the machine sends now, without its history."""
    return [row.id for row in machine.push().rows if row.did != "history"]


def lose_notes(machine: Machine) -> None:
    """Remove what the machine noted about its remote, not what it knows of its documents."""
    for path in (machine.root / ".contextkit/sync").glob("*.json"):
        if path.name != "documents.json":
            path.unlink()


def test_a_handoff_that_was_consumed_on_either_machine_is_consumed_on_both(four: Four) -> None:
    one, other, *_ = four
    fields = {"from_agent": "dev", "to_agent": "qa", "next_action": "Test it"}
    handoff = artifacts.make({**fields, "timestamp": "2026-11-22T10:00:00Z"})
    name = artifacts.save(one.layout, handoff)
    one.push()
    other.pull()
    theirs = Path(other.layout.handoffs, os.path.basename(name))
    theirs.write_text(artifacts.mark_consumed(theirs.read_text("utf-8"), "it"), "utf-8")
    other.push()
    assert did(one) == ["merged"] and "consumed: true" in Path(name).read_text("utf-8")
    Path(name).write_text(Path(name).read_text("utf-8").replace("Test", "Ship"), "utf-8")
    one.push()
    assert did(other) == ["beside"] and "Test it" in theirs.read_text("utf-8")


@pytest.mark.parametrize(
    "edited",
    [
        f"{whose} text, edited {number} times\n"
        for whose in ("their", "your")
        for number in range(3)
    ],
)
def test_a_text_beside_ours_is_replaced_by_a_newer_one_unless_somebody_edited_it(
    four: Four, edited: str
) -> None:
    one, other, *_ = four
    one.find_out("ui", "theirs\n")
    ours = other.find_out("ui", "ours\n")
    one.push()
    rows = [(row.did, row.to) for row in other.pull().rows if row.did != "history"]
    assert rows == [("beside", f"{UI}{MARK}{one.id}")] and beside(other) == ["theirs\n"]
    one.find_out("ui", "theirs, newer\n")
    one.push()
    assert did(other) == ["beside"] and beside(other) == ["theirs, newer\n"]
    (copy,) = ours.parent.glob(f"*{MARK}*")
    copy.write_text(edited, encoding="utf-8")  # whichever digest is the greater one
    for number in range(2):
        one.find_out("ui", f"theirs, {number}\n")
        one.push()
        did(other)
        assert beside(other) == sorted([edited, f"theirs, {number}\n"])
    for machine in (one, other):
        machine.find_out("ui", "what both agree on\n")
    one.push()
    assert did(other) == [] and beside(other) == [edited]
    assert ours.read_text("utf-8") == "what both agree on\n"


@pytest.mark.parametrize("backwards", [False, True])
def test_texts_of_several_machines_are_kept_until_all_agree(four: Four, backwards: bool) -> None:
    here, *others = four
    here.find_out("ui", "ours\n")
    for machine in others:
        machine.find_out("ui", f"of {machine.root.name}\n")
        machine.push()
    for machine in sorted(others, key=lambda machine: machine.id, reverse=backwards):
        assert did(here, source=machine.id) == ["beside"]
    assert beside(here) == ["of b\n", "of c\n", "of d\n"]
    here.find_out("ui", "settled\n")
    here.push()
    for machine in others:
        machine.find_out("ui", "settled\n")
        machine.pull()
        machine.push()
        here.pull()
    assert beside(here) == []


def test_a_newer_text_replaces_its_own_older_copy_and_no_other_machine_s(four: Four) -> None:
    here, one, other, _ = four
    for machine in (here, one, other):
        machine.find_out("ui", f"of {machine.root.name}\n")
    one.push()
    other.push()
    assert did(here) == ["beside"] * 2 and did(one, source=other.id) == ["beside"]
    (copy,) = (one.root / UI).parent.glob(f"*{MARK}*")
    copy.unlink()
    one.find_out("ui", "of both\n")
    one.push()
    assert did(here) == ["beside"] and beside(here) == ["of both\n", "of c\n"]


def test_doctor_names_what_is_kept_beside_as_long_as_it_is(four: Four) -> None:
    here, there, *_ = four
    for machine in (here, there):
        machine.find_out("ui", f"of {machine.root.name}\n")
    there.push()
    here.pull()
    ((problem, mend),) = [(f.problem, f.mend) for f in doctor.kept_beside(here.layout, ())]
    assert problem.startswith(f"{UI}: ") and problem.endswith(" b has a different version of it")
    subprocess.run(mend.partition(": ")[2].partition(";")[0], shell=True, check=True, cwd=here.root)
    assert (here.root / UI).read_text("utf-8") == "of b\n"
    assert list(doctor.kept_beside(here.layout, ())) == []


def test_notes_of_two_machines_are_merged_in_both_whoever_was_first(four: Four) -> None:
    for first, second in (four[:2], (four[3], four[2])):
        first.remember("the first note")
        second.remember("the second note")
        second.push()
        assert did(first, second.id) == ["merged"]
        first.push()
        assert did(second, first.id) in (["merged"], ["taken"])
        assert first.contents() == second.contents()


def test_a_session_that_is_used_again_can_end_again(four: Four) -> None:
    one, other, *_ = four
    for number in range(3):
        one.store("s", f"auth-{number}", "text\n")
        one.push()
        assert "taken" in did(other)
        one.end("s")
        one.push()
        assert did(other) == ["ended"]
        assert not (other.root / "shared/payloads/s").exists()


def test_a_session_that_ended_elsewhere_is_not_logged_in_this_ones_summary(
    four: Four, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other, *_ = four
    one.store("s", "auth", "text\n")
    one.push()
    other.pull()
    one.end("s")
    one.push()
    (summary := tmp_path / "summary.md").write_text("# Mine\n", encoding="utf-8")
    monkeypatch.setenv("SESSION_DIR", str(tmp_path))
    assert did(other) == ["ended"] and summary.read_text(encoding="utf-8") == "# Mine\n"


def test_what_was_read_once_is_not_offered_again_by_a_machine_that_forgot_how_far_it_read(
    four: Four, sealed: Path
) -> None:
    one, other, *_ = four
    one.find_out("ui", "theirs\n")
    other.find_out("ui", "ours\n")
    one.find_out("b", "text\n")
    one.push()
    assert sorted(did(other)) == ["beside", "taken"]
    there = knowledge.load_remote(other.layout, other.remote, other.id)
    assert there.seen == {one.id: 1}
    there.seen.clear()
    knowledge.save_remote(other.layout, there, other.id)
    shutil.rmtree(sealed / "remote/objects")  # nothing is fetched either
    assert did(other) == []


def test_a_text_that_is_here_already_is_not_fetched(four: Four, sealed: Path) -> None:
    one, other, *_ = four
    for machine in (one, other):
        machine.find_out("ui", "of both\n")
        checkpoint = machine.root / ".temp/memory/checkpoints/cp_review_20251023T180459.json"
        checkpoint.parent.mkdir(parents=True)
        checkpoint.write_text('{"task_id": "t"}\n', encoding="utf-8")
    assert len(one.push().rows) == 2
    for path in (sealed / "remote/objects").rglob("*"):
        if path.is_file():
            path.unlink()
    assert did(other) == []


def test_a_session_that_is_used_again_comes_back_whole_where_it_was_removed_for_good(
    four: Four,
) -> None:
    one, other, *_ = four
    one.store("s", "first", "text\n")
    one.push()
    other.pull()
    one.end("s")
    one.push()
    assert did(other) == ["ended"]
    with other.clock() as now:
        assert retention.purge(other.layout, "s", now)
    with one.clock() as now, retention.session_lock(one.layout, "s"):
        assert retention.resume(one.layout, "s", now)
    one.store("s", "second", "text\n")
    one.push()
    assert did(other) == ["taken", "taken"]
    assert one.contents()["listed s"] == other.contents()["listed s"]


def test_a_dry_run_names_what_would_end_and_ends_nothing(four: Four) -> None:
    one, other, *_ = four
    one.store("s", "auth", "text\n")
    one.push()
    other.pull()
    one.end("s")
    one.push()
    rows = other.pull(dry_run=True).rows
    assert [(row.did, row.bytes) for row in rows if row.did != "history"] == [("ended", 0)]
    assert (other.root / "shared/payloads/s").is_dir()


@pytest.mark.parametrize("days", [-2, 2])
def test_a_verdict_of_ours_is_never_replaced_and_is_sent(sealed: Path, days: int) -> None:
    """Whatever times and counts the other machine writes: its verdict is kept beside ours."""
    one, other = Machine(sealed / "a", f"file://{sealed}/remote", days), Machine(
        sealed / "b", f"file://{sealed}/remote"
    )  # fmt: skip
    for number in range(4):
        one.conclude("another", "a second later")
        one.conclude("ui", f"theirs, {number}")
        one.push()
        other.pull()
        if not number:
            other.conclude("ui", "ours")
        said = [verdicts.load(other.layout, agent) for agent in ("another", "ui")]
        assert [entry and entry["summary"] for entry in said] == ["a second later", "ours"]
    copies = list((other.root / ".clavain/verdicts").glob(f"ui.json{MARK}*"))
    assert len(copies) == 1 and "theirs, 3" in copies[0].read_text("utf-8")
    assert sent(other) == ["verdict:ui"]


def test_what_ended_there_ends_here_and_nothing_else(four: Four) -> None:
    one, other, *_ = four
    for session in ("a", "payload", "z"):
        one.store(session, "auth", "text\n")
    one.find_out("ui", "- **Task ID:** payload\n")
    one.push()
    assert did(other) == ["taken"] * 4
    one.end("payload")
    one.push()
    report = other.pull()
    assert [(row.did, row.bytes) for row in report.rows if row.did != "history"] == [("ended", 0)]
    left = sorted(path.name for path in (other.root / "shared/payloads").iterdir() if path.is_dir())
    assert left == ["a", "z"] and (other.root / UI).is_file()
    assert did(other) == []
    assert sent(other) == [], "what others wrote is still theirs"
    one.store("a", "more", "text\n")
    one.push()
    assert did(other) == ["taken"]


def test_a_task_that_was_archived_there_is_archived_here(four: Four) -> None:
    one, other, *_ = four
    path = stores.finding(one.layout, task_id="payload")
    other.store("payload", "auth", "text\n")
    one.push()
    assert did(other) == ["taken"]
    with one.clock():
        assert upkeep.archive(one.layout, "payload")
    one.push()
    assert "ended" in did(other)
    assert not (other.root / path).exists() and "task:payload" not in sent(other)
    assert (other.root / "shared/payloads/payload").is_dir()


def test_a_document_that_is_missing_on_the_remote_is_taken_with_the_next_pull(
    four: Four, sealed: Path
) -> None:
    one, other, third, _ = four
    one.find_out("a", "of one\n")
    one.push()
    objects = sealed / "remote/objects"
    kept = {path: path.read_bytes() for path in objects.rglob("*") if path.is_file()}
    third.find_out("b", "of the third\n")
    third.push()
    for path in kept:
        path.unlink()
    rows = [row for row in other.pull().rows if row.did != "history"]
    assert sorted((row.did, row.bytes) for row in rows) == [("not taken", 0), ("taken", 13)]
    for path, data in kept.items():
        path.write_bytes(data)
    assert did(other) == ["taken"]
    assert did(other) == []


def test_a_machine_that_is_not_there_is_refused_with_those_that_are(four: Four) -> None:
    one, other, third, _ = four
    with pytest.raises(ContextError, match="no machine is 'nobody'; there: none"):
        other.pull(source="nobody")
    for machine in (one, third):
        machine.find_out("ui", "text\n")
        machine.push()
    with pytest.raises(ContextError) as refused:
        other.pull(source="nobody")
    assert all(machine.id in str(refused.value) for machine in (one, third))


def test_a_machine_is_named_by_its_name_its_id_or_how_the_id_begins(four: Four) -> None:
    one, other, third, _ = four
    for machine in (one, third):
        machine.find_out(f"of-{machine.root.name}", "text\n")
        machine.push()
    length = next(n for n in range(1, 13) if not third.id.startswith(one.id[:n]))
    assert did(other, source=one.id[:length]) == ["taken"]
    assert list(other.files()) == [".temp/memory/findings/of-a_20261122T100000.md"]
    assert did(other, source=third.known_as.name) == ["taken"]


def test_a_dry_run_says_what_would_be_taken_and_takes_nothing(four: Four) -> None:
    one, other, *_ = four
    one.find_out("ui", "text\n")
    one.remember("a note")
    one.push()
    rows = other.pull(dry_run=True).rows
    assert [(row.did, row.id) for row in rows if row.did != "history"] == [
        ("taken", "finding:ui_20261122T100000"),
        ("taken", "reminder:remember-later.md"),
    ]
    assert rows[0].bytes == 5
    assert not (other.root / UI).exists()
    assert did(other) == ["taken", "taken"]


def test_a_machine_without_news_is_not_read_again(four: Four, sealed: Path) -> None:
    one, other, *_ = four
    one.find_out("ui", "text\n")
    one.push()
    other.pull()
    (sealed / "remote/machines" / one.id / "1.json").unlink()
    report = other.pull()
    assert not report.failed and not report.rows


def test_a_machine_that_was_set_back_with_its_remote_is_read_again(
    four: Four, sealed: Path
) -> None:
    one, other, *_ = four
    one.find_out("a", "text\n")
    one.push()
    for name in ("a", "remote"):
        shutil.copytree(sealed / name, sealed / f"{name}.backup")
    one.find_out("b", "text\n")
    one.push()
    assert did(other) == ["taken", "taken"]
    for name in ("a", "remote"):
        shutil.rmtree(sealed / name)
        (sealed / f"{name}.backup").rename(sealed / name)
    assert did(other) == []
    one.find_out("c", "text\n")
    one.push()
    assert did(other) == ["taken"]


@pytest.mark.parametrize("text", ["edited meanwhile\n", "edited\n", "edited now\n", "e\n"])
def test_what_is_edited_while_a_pull_runs_is_not_overwritten(
    four: Four, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    one, other, *_ = four
    one.find_out("ui", "first\n")
    one.push()
    other.pull()
    one.find_out("ui", "second\n")
    one.push()
    unpack = manifests.unpack

    def edited_first(*given: Any) -> bytes:
        other.find_out("ui", text)
        return unpack(*given)

    monkeypatch.setattr(manifests, "unpack", edited_first)
    assert did(other) == ["beside"]
    assert (other.root / UI).read_text("utf-8") == text and beside(other) == ["second\n"]


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"format": 1, "machine": "other"}', None])
def test_a_machine_that_lost_what_it_knew_still_sends_newer_texts(
    four: Four, damage: str | None
) -> None:
    """Its count of changes would start over, and look older than what the others have."""
    one, other, *_ = four
    for number in range(3):
        path = one.find_out("ui", f"text {number}\n")
        one.push()
        other.pull()
    before = one.id
    known = one.root / ".contextkit/sync/documents.json"
    known.unlink() if damage is None else known.write_text(damage, encoding="utf-8")
    path.write_text("the newest text\n", encoding="utf-8")
    one.push()
    other.pull()
    found = [(other.root / UI).read_text("utf-8"), *beside(other)]
    assert "the newest text\n" in found
    assert one.id != before


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("first", [False, True], ids=["replaced", "new"])
def test_a_copy_of_a_pull_that_was_killed_is_replaced_by_a_newer_text(
    four: Four, first: bool, after: bool
) -> None:
    one, other, *_ = four
    for step in range(1 + after, 20, rounds(3, 1)):
        name = f"ui{step}"
        ours = one.find_out(name, "ours\n")
        one.push()
        other.find_out(name, "theirs\n")
        other.push()
        if not first:
            one.pull()
            other.find_out(name, "theirs, newer\n")
            other.push()
        with killed_at(step, after):
            one.pull()
        other.find_out(name, "theirs, the newest\n")
        other.push()
        one.pull()
        there = [path.read_text("utf-8") for path in ours.parent.glob(f"{ours.name}{MARK}*")]
        assert there == ["theirs, the newest\n"] and ours.read_text("utf-8") == "ours\n"


def test_a_text_of_ours_stays_also_where_they_knew_of_it(four: Four) -> None:
    """Who edits our text has written a text of their own; a third machine keeps the first one."""
    one, other, third, _ = four
    path = one.find_out("ui", "ours\n")
    one.push()
    assert did(other) == did(third) == ["taken"]
    other.find_out("ui", "ours, edited there\n")
    other.push()
    for machine in (one, third):
        assert did(machine) == ["beside"] and beside(machine) == ["ours, edited there\n"]
        assert (machine.root / UI).read_text("utf-8") == "ours\n"
    (copy,) = path.parent.glob(f"*{MARK}*")
    copy.rename(path)  # agreed
    one.push()
    assert did(third) == ["taken"] and beside(third) == []
    assert (third.root / UI).read_text("utf-8") == "ours, edited there\n"
    assert did(other) == []


def test_a_copy_beside_ours_that_somebody_removed_does_not_come_back(four: Four) -> None:
    """Also after a pull that was killed before it had taken anything."""
    one, other, third, _ = four
    for step in range(0, 20, rounds(3, 1)):
        name = f"ui{step}"
        for machine, text in ((one, "theirs\n"), (other, "ours\n")):
            path = machine.find_out(name, text)
        one.push()
        assert did(other) == ["beside"]
        for machine in (other, third):
            machine.find_out(f"known{step}", "of both\n")
        third.push()
        with killed_at(step):
            other.pull()
        for copy in path.parent.glob(f"{path.name}{MARK}*"):
            copy.unlink()
        other.pull()
        assert not list(path.parent.glob(f"{path.name}{MARK}*"))
        assert path.read_text("utf-8") == "ours\n"


def test_what_a_pull_took_before_it_failed_is_still_theirs(
    four: Four, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other, third, _ = four
    for machine in (one, third):
        machine.find_out(f"of-{machine.root.name}", "text\n")
        machine.push()
    get = Folder.get
    asked: list[str] = []

    def fails_later(self: Folder, machine: str, keys: Any) -> Any:
        wanted = list(keys)
        asked.extend(key for key in wanted if key.startswith("objects/"))
        if len(asked) > 1:
            raise ContextError("the network is down")
        return get(self, machine, wanted)

    with monkeypatch.context() as patch:
        patch.setattr(Folder, "get", fails_later)
        with pytest.raises(ContextError, match="network"):
            other.pull()
    assert len(other.files()) == 1
    for machine in (one, third):
        machine.find_out(f"of-{machine.root.name}", "newer text\n")
        machine.push()
    assert did(other) == ["taken", "taken"] and sent(other) == []


def test_what_is_written_while_a_pull_runs_is_sent(
    four: Four, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other, *_ = four
    one.find_out("ui", "theirs\n")
    one.push()
    unpack = manifests.unpack

    def written_first(*given: Any) -> bytes:
        other.find_out("ui", "ours\n")
        return unpack(*given)

    with monkeypatch.context() as patch:
        patch.setattr(manifests, "unpack", written_first)
        assert did(other) == ["beside"]
    assert sent(other) == ["finding:ui_20261122T100000"]
    before = other.id
    lose_notes(other)
    assert sent(other) == [] and other.id == before


def test_a_machine_that_merged_and_lost_its_notes_of_the_remote_is_still_itself(four: Four) -> None:
    here, *others = four
    for machine in four:
        machine.remember(f"the note of {machine.root.name}")
    for machine in others:
        machine.push()
    assert did(here) == ["merged"] * 3
    here.push()
    before = here.id
    lose_notes(here)
    assert sent(here) == [] and here.id == before


def test_more_documents_than_one_fetch_gets_are_all_taken(
    four: Four, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other, *_ = four
    for number in range(5):
        one.find_out(f"ui{number}", f"text {number}\n")
    one.push()
    monkeypatch.setattr(pull, "_AT_ONCE", 2)
    assert did(other) == ["taken"] * 5


def test_rows_of_another_machine_are_reported_when_they_change_something(four: Four) -> None:
    one, other, *_ = four
    one.launch("20261122-100000-ui")
    one.push()
    assert did(other) == ["merged"]
    there = knowledge.load_remote(other.layout, other.remote, other.id)
    there.seen.clear()
    knowledge.save_remote(other.layout, there, other.id)
    known = knowledge.load(other.layout, other.id)
    assert known is not None
    known.documents.clear()
    knowledge.save(other.layout, known)
    assert did(other) == [], "they are here already"


@pytest.mark.parametrize("after", [False, True])
def test_payloads_that_a_killed_pull_took_are_listed_by_the_next_one(
    four: Four, after: bool
) -> None:
    one, other, *_ = four
    for step in range(1 + after, 20, rounds(3, 1)):
        one.store(f"s{step}", "auth", "text\n")
        one.push()
        with killed_at(step, after):
            other.pull()
        other.pull()
        listed = f"listed s{step}"
        assert one.contents()[listed] == other.contents()[listed]


def test_what_is_written_just_before_a_new_text_is_stored_stays_in_place(
    four: Four, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other, *_ = four
    one.find_out("ui", "theirs\n")
    one.push()
    create = files.create

    def written_first(path: str, *given: Any, **more: Any) -> str:
        if MARK not in path:
            other.find_out("ui", "ours\n")
        return create(path, *given, **more)

    with monkeypatch.context() as patch:
        patch.setattr(files, "create", written_first)
        assert did(other) == ["beside"]
    assert (other.root / UI).read_text("utf-8") == "ours\n" and beside(other) == ["theirs\n"]


def test_a_name_beside_ours_that_is_taken_just_before_is_left_alone(
    four: Four, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other, *_ = four
    one.find_out("ui", "theirs\n")
    one.push()
    other.find_out("ui", "ours\n")
    create = files.create
    taken: list[str] = []

    def written_first(path: str, *given: Any, **more: Any) -> str:
        if MARK in path and not taken:
            taken.append(path)
            Path(path).write_text("somebody's\n", encoding="utf-8")
        return create(path, *given, **more)

    with monkeypatch.context() as patch:
        patch.setattr(files, "create", written_first)
        assert did(other) == ["beside"]
    assert beside(other) == ["somebody's\n", "theirs\n"]

    one.find_out("ui", "theirs, newer\n")
    one.push()
    assert did(other) == ["beside"]
    assert beside(other) == ["somebody's\n", "theirs, newer\n"]
    assert Path(taken[0]).read_text("utf-8") == "somebody's\n"


@pytest.mark.parametrize("after", [False, True])
def test_what_a_killed_pull_wrote_is_still_theirs(four: Four, after: bool) -> None:
    one, other, *_ = four
    for step in range(1 + after, 20, rounds(3, 1)):
        path = one.find_out(f"ui{step}", "theirs\n").relative_to(one.root)
        one.push()
        with killed_at(step, after):
            other.pull()
        other.pull()
        one.find_out(f"ui{step}", "theirs, newer\n")
        one.push()
        with killed_at(step, after):
            other.pull()
        other.pull()
        assert (other.root / path).read_text("utf-8") == "theirs, newer\n"
        assert not beside(other) and sent(other) == []


def test_a_session_or_task_with_documents_of_ours_does_not_end_here(four: Four) -> None:
    one, other, *_ = four
    one.store("s", "auth", "text\n")
    path = stores.finding(one.layout, task_id="login")
    one.push()
    other.pull()
    other.store("s", "ours", "text\n")
    (other.root / path).write_text(
        (other.root / path).read_text("utf-8") + "\nOurs.\n", encoding="utf-8"
    )
    one.end("s")
    with one.clock():
        assert upkeep.archive(one.layout, "login")
    one.push()
    rows = [row for row in other.pull().rows if row.did == "kept"]
    assert [row.id for row in rows] == ["task:login", "session:s"]
    assert all(row.to == "ended there; here it has 1 document of its own" for row in rows)
    assert (other.root / path).is_file()
    assert len(list((other.root / "shared/payloads/s").glob("*.md"))) == 2
    assert "kept" not in did(other)


def test_checkpoints_are_taken(four: Four) -> None:
    one, other, *_ = four
    name = stores.checkpoint(one.layout)
    one.push()
    assert did(other) == ["taken"] and (other.root / name).is_file()

"""retention.py: what goes, when, what comes back, and what is noted about it."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest
from conftest import each
from contextkit.base import files, names
from contextkit.base.errors import ContextError
from contextkit.base.layout import Layout
from contextkit.payloads.documents import receipts
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.flows import retention, retrieval
from contextkit.reviews.documents import verdicts
from contextkit.reviews.flows import drill_down
from growth import calls, looks
from test_payloads import a_payload, manifest

NOW = 1_764_324_300  # 2025-11-28 10:05:00 UTC
HOUR, DAY = 3600, 86_400
LOG = Path("shared/payloads/cleanup.log")
LINE = "- 2025-11-28T10:05:00Z session s: 2 payloads, 9000 tokens removed (session_end)\n"


def save(layout: Layout, session: str = "s", now: int = NOW, topic: str = "topic") -> str:
    payloads.prepare_store(layout)
    with retention.session_lock(layout, session):
        retention.resume(layout, session, now)
        payload = a_payload(topic=topic, created_at=names.iso(now))
        return payloads.save(layout, session, payload, now)


def stock(folder: str | Path) -> dict[str, bytes]:
    """Every file below a folder with what it holds."""
    below = sorted(Path(folder).rglob("*"))
    return {str(path.relative_to(folder)): path.read_bytes() for path in below if path.is_file()}


def folder(layout: Layout, session: str = "s") -> Path:
    return Path(layout.payloads, session)


def resume(layout: Layout, now: int, session: str = "s") -> bool:
    with retention.session_lock(layout, session):
        return retention.resume(layout, session, now)


def sweep(layout: Layout, now: int) -> list[str]:
    return retention.sweep(layout, now, DAY)


def test_an_ended_session_is_gone_and_noted_in_one_line(layout: Layout) -> None:
    save(layout), save(layout)
    ended = retention.end(layout, "s", NOW)
    assert f"- 2025-11-28T10:05:00Z {ended}\n" == LINE
    assert sorted(os.listdir(layout.payloads)) == [".gitignore", LOG.name]
    assert LOG.read_text("utf-8") == LINE
    assert retention.end(layout, "s", NOW) == ""
    assert LOG.read_text("utf-8") == LINE


def test_ending_a_session_that_never_stored_touches_nothing(layout: Layout) -> None:
    before = stock(layout.root)
    assert retention.end(layout, "nobody", NOW) == ""
    assert stock(layout.root) == before


def test_other_sessions_stay_as_they_are(layout: Layout) -> None:
    for session in ("s", "t", "S", "s.x"):
        save(layout, session)
    before = {session: stock(folder(layout, session)) for session in ("t", "S", "s.x")}
    retention.end(layout, "s", NOW)
    assert {session: stock(folder(layout, session)) for session in before} == before


@each("session", ["", ".", "..", "a/b", "/tmp", "x" * 65, "-a", ".a", "a b", "é"])
def test_what_is_no_session_ends_nothing(layout: Layout, session: str) -> None:
    save(layout)
    before = stock(layout.root)
    with pytest.raises(ContextError, match=r"session: .* must be 1 to 64") as caught:
        retention.end(layout, session, NOW)
    assert caught.value.status == 2
    assert stock(layout.root) == before


def test_a_session_folder_that_is_a_link_is_not_ended(layout: Layout, tmp_path: Path) -> None:
    save(layout)
    (tmp_path / "precious").write_text("x", "utf-8")
    folder(layout, "link").symlink_to(tmp_path)
    with pytest.raises(ContextError, match="symbolic link"):
        retention.end(layout, "link", NOW)
    os.utime(tmp_path, (0, 0))
    sweep(layout, NOW + 30 * DAY)
    assert (tmp_path / "precious").exists() and folder(layout, "link").is_symlink()


# Resuming


def test_within_the_grace_period_a_session_comes_back_as_it_was(layout: Layout) -> None:
    save(layout), save(layout)
    before = stock(folder(layout))
    retention.end(layout, "s", NOW)
    assert resume(layout, NOW + DAY)
    assert stock(folder(layout)) == before
    assert not resume(layout, NOW + DAY)


def test_after_the_grace_period_it_is_gone_swept_or_not(layout: Layout) -> None:
    save(layout)
    retention.end(layout, "s", NOW)
    assert not resume(layout, NOW + DAY + 1)
    assert not folder(layout).exists()
    save(layout, now=NOW + DAY + 1)
    assert len(manifest(layout)["payloads"]) == 1


def test_a_sweep_removes_what_nobody_resumed_for_good(layout: Layout) -> None:
    save(layout)
    retention.end(layout, "s", NOW)
    assert sweep(layout, NOW + DAY) == []
    assert len(os.listdir(layout.ended)) == 1
    assert sweep(layout, NOW + DAY + 1) == ["session s: removed for good"]
    assert os.listdir(layout.ended) == []
    assert LOG.read_text("utf-8").count("\n") == 1


def test_storing_into_an_ended_session_brings_the_earlier_payloads_back(layout: Layout) -> None:
    save(layout, topic="one")
    retention.end(layout, "s", NOW)
    save(layout, topic="two", now=NOW + 1)
    assert [entry["topic"] for entry in manifest(layout)["payloads"]] == ["one", "two"]


def test_what_ended_twice_in_a_second_comes_back_together(layout: Layout) -> None:
    first = save(layout)
    retention.end(layout, "s", NOW)
    payloads.save(layout, "s", a_payload(topic="topic", content="other"), NOW)  # no resume: a crash
    retention.end(layout, "s", NOW)
    assert len(os.listdir(layout.ended)) == 2
    assert resume(layout, NOW)
    listed = [entry["id"] for entry in manifest(layout)["payloads"]]
    stem = os.path.basename(first)[:-3]
    assert sorted(listed) == [stem, f"{stem}-2"]
    assert {payloads.load(str(path), "x").content for path in folder(layout).glob("*.md")} == {
        "The text.\n",
        "other",
    }


def test_the_ended_session_of_a_payload_is_known_while_it_can_come_back(layout: Layout) -> None:
    identity = Path(save(layout)).stem
    other = Path(save(layout, "t", NOW + 1)).stem
    for session in "st":
        retention.end(layout, session, NOW)
    grace = names.seconds(layout.limits.payload_grace)
    for now in (NOW, NOW + grace):
        assert retention.session_of(layout, identity, now) == "s"
        assert retention.session_of(layout, other, now) == "t"
    for name, now in ((identity, NOW + grace + 1), ("another", NOW)):
        assert retention.session_of(layout, name, now) == ""


def test_purging_leaves_nothing_to_resume(layout: Layout) -> None:
    save(layout), save(layout, "t")
    for session in ("s", "t"):
        retention.end(layout, session, NOW)
    assert retention.purge(layout, "s", NOW) == ["session s: removed for good"]
    assert retention.purge(layout, "s", NOW) == []
    assert not resume(layout, NOW) and resume(layout, NOW, "t")


def test_what_is_resumed_while_a_purge_waits_is_kept_and_not_called_removed(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(layout)
    retention.end(layout, "s", NOW)
    lock = retention.session_lock

    def late(layout: Layout, session: str) -> files.locked:
        with lock(layout, session):
            retention.resume(layout, session, NOW)
        return lock(layout, session)

    monkeypatch.setattr(retention, "session_lock", late)
    assert retention.purge(layout, "s", NOW) == [] and os.path.exists(path)


def test_what_another_sweep_removes_meanwhile_is_passed_over(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    for session, now in (("s", NOW), ("t", NOW + 1)):
        save(layout, session)
        retention.end(layout, session, now)
    lock = retention.session_lock

    def late(layout: Layout, session: str) -> files.locked:
        shutil.rmtree(Path(layout.ended, "s@20251128T100500Z"), ignore_errors=True)
        return lock(layout, session)

    monkeypatch.setattr(retention, "session_lock", late)
    assert sweep(layout, NOW + 2 * DAY) == ["session t: removed for good"]


def test_a_file_that_goes_while_a_session_is_purged_is_not_called_left_over(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(layout), save(layout)
    retention.end(layout, "s", NOW)
    unlink = os.unlink

    def twice(path: str) -> None:
        unlink(path)
        if left := sorted(Path(path).parent.glob("*.md")):
            unlink(left[0])

    monkeypatch.setattr(os, "unlink", twice)
    assert retention.purge(layout, "s", NOW) == ["session s: removed for good"]
    assert os.listdir(layout.ended) == []


# Idleness


def test_a_session_idle_for_a_day_is_kept_and_for_longer_is_ended(layout: Layout) -> None:
    save(layout)
    assert sweep(layout, NOW + DAY - 60) == []
    assert sweep(layout, NOW + DAY) == []
    assert folder(layout).is_dir()
    line = "session s: 1 payload, 4500 tokens removed (inactive_24h)"
    assert sweep(layout, NOW + DAY + 60) == [line]
    assert not folder(layout).exists()
    assert LOG.read_text("utf-8") == f"- 2025-11-29T10:06:00Z {line}\n"


def test_a_read_starts_the_day_anew(layout: Layout) -> None:
    identity = os.path.basename(save(layout))[:-3]
    assert retrieval.find(layout, identity, "s", NOW + 20 * HOUR)
    assert sweep(layout, NOW + 44 * HOUR) == []
    assert len(sweep(layout, NOW + 44 * HOUR + 60)) == 1


def test_a_store_starts_the_day_anew(layout: Layout) -> None:
    save(layout)
    save(layout, now=NOW + 20 * HOUR)
    assert sweep(layout, NOW + 44 * HOUR) == []
    assert len(sweep(layout, NOW + 44 * HOUR + 60)) == 1


def test_a_time_in_the_future_counts_as_now(layout: Layout) -> None:
    save(layout, now=NOW + 10 * DAY)
    assert sweep(layout, NOW) == []
    assert folder(layout).is_dir()


def test_the_time_without_use_is_a_setting(layout: Layout) -> None:
    Path("contextkit.yaml").write_text("payload_idle: 1h\npayload_grace: 2h\n", "utf-8")
    short = Layout()
    save(short)
    assert retention.sweep_in_passing(short, NOW + HOUR, "") == []
    assert len(retention.sweep_in_passing(short, NOW + 2 * HOUR, "")) == 1
    assert resume(short, NOW + 4 * HOUR)
    retention.end(short, "s", NOW)
    assert not resume(short, NOW + 2 * HOUR + 1)


def test_a_session_without_a_manifest_goes_by_its_folder(layout: Layout) -> None:
    save(layout)
    (folder(layout) / "manifest.json").unlink()
    os.utime(folder(layout), (NOW, NOW))
    assert sweep(layout, NOW + DAY) == []
    assert len(sweep(layout, NOW + DAY + 1)) == 1


def test_a_session_that_is_used_while_the_sweep_waits_is_kept(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(layout)
    save(layout, "t")
    identity, lock = os.path.basename(path)[:-3], retention.session_lock

    def late(layout: Layout, session: str) -> files.locked:
        retrieval.find(layout, identity, "s", NOW + 2 * DAY)
        return lock(layout, session)

    monkeypatch.setattr(retention, "session_lock", late)
    (said,) = sweep(layout, NOW + 2 * DAY)
    assert said.startswith("session t: ") and os.path.exists(path)


def test_a_session_that_another_process_ends_while_the_sweep_waits_is_not_ended_again(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(layout)
    lock = retention.session_lock

    def late(layout: Layout, session: str) -> files.locked:
        monkeypatch.setattr(retention, "session_lock", lock)
        retention.end(layout, session, NOW + 2 * DAY)
        return lock(layout, session)

    monkeypatch.setattr(retention, "session_lock", late)
    assert sweep(layout, NOW + 2 * DAY) == []
    assert "session_end" in LOG.read_text("utf-8") and LOG.read_text("utf-8").count("\n") == 1


def test_a_sweep_in_passing_spares_the_session_in_use(layout: Layout) -> None:
    save(layout), save(layout, "t")
    assert len(retention.sweep_in_passing(layout, NOW + 9 * DAY, "s")) == 1
    assert folder(layout).is_dir() and not folder(layout, "t").exists()


def test_a_sweep_in_passing_that_cannot_be_noted_ends_nothing(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(layout)

    def refused(*_: object, **__: object) -> str:
        raise OSError(errno.EROFS, "Read-only file system")

    with monkeypatch.context() as patch:
        patch.setattr(files, "write", refused)
        assert retention.sweep_in_passing(layout, NOW + 9 * DAY, "") == []
    assert len(retention.sweep_in_passing(layout, NOW + 9 * DAY, "")) == 1


def test_in_passing_nothing_waits_for_the_disk(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(layout)
    retention.sweep_in_passing(layout, NOW, "")
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    assert retention.sweep_in_passing(layout, NOW + 2 * HOUR, "") == [] == synced


def test_in_passing_there_is_one_sweep_an_hour(layout: Layout) -> None:
    save(layout)
    assert retention.sweep_in_passing(layout, NOW + DAY, "") == []
    assert retention.sweep_in_passing(layout, NOW + DAY + HOUR - 1, "") == []
    assert len(retention.sweep_in_passing(layout, NOW + DAY + HOUR, "")) == 1


def test_in_passing_a_clock_that_went_back_stops_no_sweep(layout: Layout) -> None:
    assert retention.sweep_in_passing(layout, NOW, "") == []
    save(layout)
    retention.sweep_in_passing(layout, NOW + 9 * DAY, "s")
    save(layout, "t", NOW)
    os.utime(folder(layout, "t") / payloads.MANIFEST, (NOW, NOW))
    assert retention.sweep_in_passing(layout, NOW + 9 * DAY, "s") == []  # in the same second
    assert len(retention.sweep_in_passing(layout, NOW + 9 * DAY - 1, "s")) == 1


def test_in_passing_a_few_sessions_go_at_once_and_the_rest_with_the_next_command(
    layout: Layout,
) -> None:
    for number in range(7):
        save(layout, f"s{number}")
    later = NOW + 2 * DAY
    assert [len(retention.sweep_in_passing(layout, later, "")) for _ in range(3)] == [5, 2, 0]
    much_later = later + 2 * DAY
    assert [len(retention.sweep_in_passing(layout, much_later, "")) for _ in range(3)] == [5, 2, 0]
    assert os.listdir(layout.ended) == []


def test_a_sweep_ends_and_removes_no_more_than_it_may(layout: Layout) -> None:
    for number in range(4):
        save(layout, f"old{number}")
        retention.end(layout, f"old{number}", NOW)
    for number in range(3):
        save(layout, f"idle{number}", NOW + 4 * DAY)
        os.utime(folder(layout, f"idle{number}") / payloads.MANIFEST, (NOW, NOW))
    assert len(retention.sweep(layout, NOW + 4 * DAY, DAY, most=5)) == 5
    assert not list(Path(layout.payloads).glob("idle*"))
    assert len(list(Path(layout.ended).glob("old*"))) == 2


def test_in_passing_nothing_is_made_where_nothing_is_stored(layout: Layout) -> None:
    before = stock(layout.root)
    assert retention.sweep_in_passing(layout, NOW, "") == []
    assert stock(layout.root) == before


def test_a_sweep_that_fails_in_passing_says_so_and_stops_nothing(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(layout)

    def refuse(source: str, target: str) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "rename", refuse)
    (said,) = retention.sweep_in_passing(layout, NOW + 2 * DAY, "")
    assert "sweep" in said and "Permission denied" in said
    assert folder(layout).is_dir()


# What is not ours


@pytest.mark.parametrize("number", [errno.EACCES, errno.ENOTEMPTY])
def test_a_session_that_cannot_be_renamed_stays(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    save(layout)
    before = stock(folder(layout))

    def refuse(source: str, target: str) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "rename", refuse)
    with pytest.raises((OSError, ContextError)):
        retention.end(layout, "s", NOW)
    assert stock(folder(layout)) == before


def test_what_is_not_ours_stays_in_its_place_and_is_named(layout: Layout) -> None:
    save(layout), save(layout)
    before = stock(folder(layout))
    (folder(layout) / "sub").mkdir()
    for name in ("notes.md", "sub/deep.txt", "two\nlines", ".hidden", "(1).md", "(2).tmp"):
        (folder(layout) / name).write_text("mine", "utf-8")
    ended = retention.end(layout, "s", NOW)
    removed, _, stayed = ended.partition("; not removed: ")
    assert removed.startswith("session s: 2 payloads, ")
    assert stayed == ", ".join(
        f"shared/payloads/s/{name}"
        for name in ("(1).md", "(2).tmp", ".hidden", "notes.md", "sub", "two lines")
    )
    assert stock(folder(layout)) == dict.fromkeys(
        ("(1).md", "(2).tmp", ".hidden", "notes.md", "sub/deep.txt", "two\nlines"), b"mine"
    )
    said = LOG.read_text("utf-8")
    assert said.count("\n") == 1 and "not removed: shared/payloads/s/(1).md, " in said
    assert retention.end(layout, "s", NOW) == ""
    assert resume(layout, NOW)
    assert stock(folder(layout)).items() >= before.items()
    assert len(stock(folder(layout))) == len(before) + 6


def test_a_draft_that_a_kill_left_behind_goes_with_the_session(layout: Layout) -> None:
    save(layout)
    (folder(layout) / ".payload.md.0123456789ab.tmp").touch()
    ended = retention.end(layout, "s", NOW)
    assert ended.endswith("(session_end)") and not folder(layout).exists()


def test_a_folder_without_anything_of_ours_is_never_touched(layout: Layout) -> None:
    payloads.prepare_store(layout)
    folder(layout, "archive").mkdir()
    (folder(layout, "archive") / "report.md").write_text("mine", "utf-8")
    os.utime(folder(layout, "archive"), (0, 0))
    before = stock(layout.payloads)
    assert retention.end(layout, "archive", NOW) == ""
    assert sweep(layout, NOW) == []
    assert stock(layout.payloads) == before


def test_a_payload_that_somebody_named_is_ours_once_it_is_listed(layout: Layout) -> None:
    path = Path(save(layout))
    path.rename(path.with_name("report.md"))
    payloads.repair(layout, "s", NOW)
    ended = retention.end(layout, "s", NOW)
    assert ended == "session s: 1 payload, 4500 tokens removed (session_end)"
    assert not folder(layout).exists()


def test_what_cannot_be_removed_is_noted_with_its_name(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = os.path.basename(save(layout))
    save(layout)
    retention.end(layout, "s", NOW)
    unlink = os.unlink

    def refuse(path: str) -> None:
        if path.endswith(kept):
            raise PermissionError(errno.EPERM, "Operation not permitted")
        unlink(path)

    monkeypatch.setattr(os, "unlink", refuse)
    (said,) = retention.purge(layout, "s", NOW)
    place = f".contextkit/ended/s@20251128T100500Z/{kept}"
    assert said == f"session s: could not be removed: {place}"
    assert LOG.read_text("utf-8") == LINE + f"- 2025-11-28T10:05:00Z {said}\n"


def test_on_another_file_system_the_session_is_removed_at_once(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(layout)
    (folder(layout) / "notes.txt").write_text("mine", "utf-8")

    def refuse(source: str, target: str) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "rename", refuse)
    ended = retention.end(layout, "s", NOW)
    assert ended.endswith("; not removed: shared/payloads/s/notes.txt")
    assert stock(folder(layout)) == {"notes.txt": b"mine"}


# Where it is noted


def summary(folder: Path, text: str = "# Session\n") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.md").write_text(text, "utf-8")
    return folder / "summary.md"


def test_the_end_is_noted_in_the_sessions_own_summary(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    save(layout), save(layout)
    own = summary(Path(layout.sessions, "s"), "# Session")
    retention.end(layout, "s", NOW)
    assert own.read_text("utf-8") == "# Session\n" + LINE
    assert not LOG.exists()
    host = summary(tmp_path / "host")
    monkeypatch.setenv("SESSION_DIR", str(tmp_path / "host"))
    resume(layout, NOW)
    retention.end(layout, "s", NOW)
    assert host.read_text("utf-8") == "# Session\n" + LINE
    own.unlink()
    assert retention.last_words(layout, "s") == LINE.removeprefix("- ").rstrip()
    resume(layout, NOW)
    retention.end(layout, "s", NOW, "notes/end.md")
    assert Path("notes/end.md").read_text("utf-8") == LINE


def test_the_end_of_a_session_without_payloads_is_noted_in_its_summary_alone(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    payloads.prepare_store(layout)
    retention.note_end(layout, "s", "nothing was stored", NOW)
    assert not LOG.exists()
    noted = summary(tmp_path / "any-name")
    monkeypatch.setenv("SESSION_DIR", str(noted.parent))
    retention.note_end(layout, "s", "nothing was stored", NOW)
    told = "# Session\n- 2025-11-28T10:05:00Z nothing was stored\n"
    assert noted.read_text("utf-8") == told
    target = tmp_path / "z.md"
    target.write_text("# Session\n", "utf-8")
    noted.unlink()
    noted.symlink_to(target)
    retention.note_end(layout, "s", "nothing was stored", NOW)
    assert target.read_text("utf-8") == told and noted.is_symlink()


@pytest.mark.parametrize("name", ["a", "t"])
def test_a_swept_session_is_not_noted_in_the_summary_of_another(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str
) -> None:
    save(layout), save(layout, name)
    other = summary(tmp_path / name)
    monkeypatch.setenv("SESSION_DIR", f"{tmp_path}/{name}/")
    sweep(layout, NOW + 2 * DAY)
    said, log = other.read_text("utf-8"), LOG.read_text("utf-8")
    assert f" session {name}: " in said and " session s: " in log and " session s: " not in said


def test_a_session_folder_without_a_summary_is_not_given_one(
    layout: Layout, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    save(layout)
    monkeypatch.setenv("SESSION_DIR", str(tmp_path))
    Path(layout.sessions, "s").mkdir(parents=True)
    retention.end(layout, "s", NOW)
    assert LOG.exists() and os.listdir(Path(layout.sessions, "s")) == []


@pytest.mark.parametrize("given", ["../outside.md", "/tmp/outside.md"])
def test_a_summary_file_outside_is_refused_before_anything_ends(layout: Layout, given: str) -> None:
    save(layout)
    with pytest.raises(ContextError, match=r"summary_file: .*outside") as caught:
        retention.end(layout, "s", NOW, given)
    assert caught.value.status == 2
    assert folder(layout).is_dir()


def test_the_last_words_of_a_session_are_those_of_its_last_end(layout: Layout) -> None:
    assert retention.last_words(layout, "s") == ""
    save(layout, "x-s"), save(layout)
    for now in (NOW, NOW + 60, NOW + 120):
        resume(layout, now)
        retention.end(layout, "s", now)
    retention.end(layout, "x-s", NOW)
    assert retention.last_words(layout, "s").startswith("2025-11-28T10:07:00Z session s: 1 payload")


# Size


class Name(str):
    """The name of a file, which counts how often one is compared with another."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def fill(layout: Layout, count: int) -> None:
    """Store `count` payloads and one more, which alone has a text."""
    save(layout)
    entries = []
    for number in range(count):
        identity = f"20251128-100500-topic-{number}"
        (folder(layout) / f"{identity}.md").touch()
        entries.append(
            {"id": identity, "path": f"{identity}.md", "tokens": 4500, "summary": "s" * 200}
        )
    head = {"sessionId": "s", "createdAt": names.iso(NOW)}
    text = payloads.render_manifest(head, entries)
    (folder(layout) / "manifest.json").write_text(text, "utf-8")
    os.utime(folder(layout) / "manifest.json", (NOW, NOW))


def work_of(layout: Layout, count: int) -> tuple[int, int]:
    """How many calls it takes to end a session of `count` payloads, and to resume it."""
    fill(layout, count)
    found: list[str] = []
    end = calls(lambda: found.append(retention.end(layout, "s", NOW)))
    assert f": {count + 1} payloads, {4500 * count} tokens " in found[0]
    back = calls(lambda: resume(layout, NOW))
    assert len(os.listdir(folder(layout))) == count + 2
    shutil.rmtree(folder(layout))
    return end, back


def test_an_end_takes_work_in_proportion_to_the_payloads_and_a_return_always_the_same(
    layout: Layout,
) -> None:
    work_of(layout, 1)  # what is looked up once in a process is known by now
    few, many = work_of(layout, 100), work_of(layout, 1_000)
    assert many[0] < 12 * few[0] and many[1] == few[1]


def test_an_end_compares_no_payload_with_all_the_others(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = os.listdir
    monkeypatch.setattr(os, "listdir", lambda path: [Name(name) for name in listed(path)])
    fill(layout, 300)
    Name.compared = 0
    ended = retention.end(layout, "s", NOW)
    assert ": 301 payloads" in ended
    assert retention.purge(layout, "s", NOW) == ["session s: removed for good"]
    assert Name.compared <= 300


def test_however_many_payloads_there_are_no_more_files_are_looked_at(layout: Layout) -> None:
    def looks_with(count: int) -> list[int]:
        fill(layout, count)
        return [
            looks(lambda: save(layout)),
            looks(lambda: sweep(layout, NOW + DAY)),
            looks(lambda: retention.end(layout, "s", NOW)),
            looks(lambda: resume(layout, NOW)),
            looks(lambda: sweep(layout, NOW + 2 * DAY)),
            looks(lambda: sweep(layout, NOW + 4 * DAY)),
        ]

    looks_with(1)  # what is looked up once in a process is known by now
    few, many = looks_with(5), looks_with(200)
    assert many == few and min(few) > 0
    assert not os.listdir(layout.ended)


# What a transcript lacks


def held(layout: Layout, transcript: Path | None = None) -> str:
    """A stored payload of a session whose transcript is seen, or unknown."""
    path = save(layout)
    retention.hold(layout, "s", str(transcript or ""), 30, NOW)
    return path


def test_what_replaced_text_stays_as_long_as_its_transcript(layout: Layout, tmp_path: Path) -> None:
    transcript = tmp_path / "t.jsonl"
    transcript.write_text("{}\n", encoding="utf-8")
    path = held(layout, transcript)
    assert retention.sweep(layout, NOW + 40 * DAY, DAY) == []
    retention.end(layout, "s", NOW + 40 * DAY)
    assert retention.sweep(layout, NOW + 90 * DAY, DAY) == []
    retention.wake(layout, "s", NOW + 90 * DAY)
    assert os.path.isfile(path)
    transcript.unlink()
    (said,) = retention.sweep(layout, NOW + 92 * DAY, DAY)
    assert "inactive_24h" in said and not os.path.isfile(path)
    (said,) = retention.sweep(layout, NOW + 94 * DAY, DAY)
    assert said == "session s: removed for good"


def test_without_a_transcript_that_can_be_seen_it_stays_for_thirty_days(layout: Layout) -> None:
    path = held(layout)
    retention.end(layout, "s", NOW + DAY)
    assert retention.sweep(layout, NOW + 29 * DAY, DAY) == []
    retention.wake(layout, "s", NOW + 29 * DAY)
    assert os.path.isfile(path)
    assert retention.sweep(layout, NOW + 31 * DAY, DAY)


def test_nothing_is_put_away_while_a_process_of_its_session_lives(layout: Layout) -> None:
    path = save(layout)
    files.write(os.path.join(layout.running, "s"), f"{os.getpid()}\n\n")
    assert retention.sweep(layout, NOW + 9 * DAY, DAY) == []
    files.write(os.path.join(layout.running, "s"), "999999999\n\n")
    assert retention.sweep(layout, NOW + 9 * DAY, DAY)
    assert not os.path.isfile(path)


def test_the_report_of_an_open_verdict_stays_until_that_is_closed(layout: Layout) -> None:
    path = save(layout)
    judged = verdicts.Verdict(agent="js", status="NEEDS_ATTENTION", summary="Rounding is open")
    verdicts.save(layout, judged.replace(detail_path=layout.shown(path)))
    assert retention.sweep(layout, NOW + 9 * DAY, DAY) == []
    retention.end(layout, "s", NOW + 9 * DAY)
    assert retention.mend(layout, NOW + 20 * DAY) == []
    assert drill_down.detail(layout, "js") == path and os.path.isfile(path)
    verdicts.save(layout, judged.replace(status="CLEAN", detail_path=layout.shown(path)))
    assert "inactive_24h" in retention.sweep(layout, NOW + 40 * DAY, DAY)[0]
    assert retention.sweep(layout, NOW + 42 * DAY, DAY) == ["session s: removed for good"]
    with pytest.raises(ContextError, match="session s has ended and its payloads are gone"):
        drill_down.detail(layout, "js")


# Reports of agents that died


def report(layout: Layout, agent: str, text: str = "# R\n\nIt takes 52 ms.\n") -> Path:
    path = Path(receipts.prepare(layout, agent))
    path.write_text(text, "utf-8")
    os.utime(path, (NOW, NOW))
    return path


def test_the_report_of_a_dead_agent_becomes_a_payload(layout: Layout) -> None:
    left = report(layout, "a1b2")
    assert retention.sweep_in_passing(layout, NOW + DAY, "s") == []
    assert left.exists()
    (said,) = retention.sweep_in_passing(layout, NOW + DAY + HOUR, "s")
    shown = said.removeprefix("the report of a1b2, which never ended: ")
    stored = payloads.load(shown, shown)
    assert (stored.content, stored.source) == ("# R\n\nIt takes 52 ms.\n", "a1b2")
    assert not left.exists()
    assert sweep(layout, NOW + DAY + HOUR) == []
    assert len(sweep(layout, NOW + 3 * DAY)) == 1  # ended, as any session is
    assert resume(layout, NOW + 3 * DAY, "a1b2")


def test_a_report_that_was_stored_before_a_kill_is_not_stored_twice(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = report(layout, "a1b2")

    def killed() -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(files, "settle", killed)
        with pytest.raises(KeyboardInterrupt):
            sweep(layout, NOW + 2 * DAY)
    assert left.exists()
    sweep(layout, NOW + 2 * DAY)
    assert not left.exists()
    assert len(list(folder(layout, "a1b2").glob("*.md"))) == 1


def test_reports_that_are_not_a_dead_agents_stay(layout: Layout) -> None:
    launched, fresh = report(layout, "20251128-100500-measure"), report(layout, "fresh")
    Path(layout.run("20251128-100500-measure")).mkdir(parents=True)
    os.utime(fresh, (NOW + 2 * DAY, NOW + 2 * DAY))
    linked, odd = Path(receipts.place(layout, "linked")), report(layout, "x" * 65)
    linked.symlink_to(Path("elsewhere.md").resolve())
    Path("elsewhere.md").write_text("not a report", "utf-8")
    os.utime("elsewhere.md", (NOW, NOW))
    assert sweep(layout, NOW + 2 * DAY) == []
    assert all(os.path.lexists(path) for path in (launched, fresh, linked, odd))


def test_a_report_that_is_handed_in_while_the_sweep_waits_is_passed_over(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, lock = report(layout, "a1b2"), retention.session_lock

    def late(layout: Layout, session: str) -> files.locked:
        left.unlink()
        return lock(layout, session)

    monkeypatch.setattr(retention, "session_lock", late)
    assert sweep(layout, NOW + 2 * DAY) == []
    assert not folder(layout, "a1b2").exists()


def test_a_blank_report_is_removed_without_a_word(layout: Layout) -> None:
    left = report(layout, "a1b2", " \n")
    assert sweep(layout, NOW + 2 * DAY) == []
    assert not left.exists()


def test_reports_are_taken_over_a_few_at_a_time(layout: Layout) -> None:
    for number in range(7):
        report(layout, f"agent-{number}")
    assert len(retention.sweep_in_passing(layout, NOW + 2 * DAY, "")) == 5
    assert len(retention.sweep_in_passing(layout, NOW + 2 * DAY, "")) == 2

"""context_sync.py: what is sent, refused, taken, passed over; what it prints."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import Any

import memory_stores as stores
import pytest
from conftest import Script, each
from contextkit.base import names
from contextkit.machines.documents import manifests
from contextkit.reviews.documents import verdicts
from contextkit.reviews.documents.verdicts import Verdict
from hostile_machine import foreign, put
from simulated_machines import Machine, Two

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def two(sealed: Path) -> Two:
    remote = f"file://{sealed}/remote"
    return Machine(sealed / "one", remote), Machine(sealed / "other", remote)


def in_(machine: Machine, run: Script, *arguments: str) -> int:
    return run("context_sync", *arguments, f"--root={machine.root}", f"--remote={machine.remote}")


def test_a_push_and_a_pull_say_what_moved(two: Two, run: Script) -> None:
    one, other = two
    one.find_out("ui", "# Finding\n")
    assert in_(one, run, "push", "--dry-run") == 0
    assert run.out == ("(dry run) sent finding:ui_20261122T100000\n(dry run) 1 sent: 10 bytes\n")
    assert in_(one, run, "push") == 0
    first, total = run.out.splitlines()
    assert first == "sent finding:ui_20261122T100000"
    assert total.startswith("1 sent: 10 bytes, ")
    assert in_(one, run, "push") == 0
    assert run.out == "nothing new was sent\n"
    assert in_(other, run, "pull", "--dry-run") == 0
    assert not other.contents().keys() & {".temp/memory/findings/ui_20261122T100000.md"}
    assert in_(other, run, "pull", "--json") == 0
    machine = one.known_as
    assert json.loads(run.out) == [
        {"id": "finding:ui_20261122T100000", "did": "taken", "bytes": 10,
         "machine": machine.name, "to": ""}
    ]  # fmt: skip
    assert in_(other, run, "pull") == 0
    assert run.out == "nothing new was taken\n"


def test_remotes_lists_machines_and_forgets_one(two: Two, run: Script) -> None:
    one, other = two
    assert in_(one, run, "remotes") == 0
    assert run.out == "no machine has pushed there yet\n"
    one.find_out("ui", "# Finding\n")
    one.push()
    other.find_out("qa", "# Finding\n")
    other.push()
    machine = one.known_as
    assert in_(other, run, "remotes") == 0
    assert max(map(len, run.out.splitlines())) <= 80
    assert in_(other, run, "remotes", "--json") == 0
    rows = {row["machine"]: row for row in json.loads(run.out)}
    assert len(rows) == 2
    assert {"machine", "name", "at", "documents", "bytes"} <= rows[machine.id].keys()
    assert (rows[machine.id]["documents"], rows[machine.id]["bytes"]) == (1, 10)
    assert in_(other, run, "remotes", "--forget=nobody") == 2
    assert "forget: no machine is 'nobody'" in run.err
    assert in_(other, run, "remotes", f"--forget={machine.id}") == 0
    assert in_(other, run, "remotes", "--json") == 0
    assert [row["here"] for row in json.loads(run.out)] == [True]
    one.find_out("ui2", "# Finding\n")
    assert len(one.push().rows) == 2, "who was forgotten comes back whole"


def test_a_secret_stays_here_unless_it_is_redacted(two: Two, run: Script) -> None:
    one, other = two
    one.find_out("ui", f"# Finding\n\nthe token is {TOKEN}\n")
    one.find_out("qa", "# Finding\n")
    one.store("s-1", "leak", f"line one\ntoken: {TOKEN}\n")
    payload = next((one.root / "shared/payloads/s-1").glob("*.md")).stem
    assert in_(one, run, "push") == 1
    assert "sent finding:qa_20261122T100000\n" in run.out
    assert "finding:ui_20261122T100000:3: github-token" in run.err
    assert f"refused payload:s-1/{payload}\n" in run.out
    assert TOKEN not in run.out + run.err
    objects = [path for path in remote_files(one) if "objects" in path.parts]
    assert len(objects) == 2, "the other finding and the history"
    assert not any(TOKEN.encode() in zlib.decompress(path.read_bytes()) for path in objects)
    assert in_(one, run, "push", "--redact") == 0
    assert run.out.startswith("redacted finding:ui_20261122T100000\n")
    other.pull()
    text = (other.root / ".temp/memory/findings/ui_20261122T100000.md").read_text("utf-8")
    assert text == "# Finding\n\nthe token is (redacted github-token)\n"
    assert in_(one, run, "push") == 0
    assert run.out == "nothing new was sent\n"
    contents = other.contents()
    assert contents["listed s-1"] == [payload], "a redacted payload is whole again"


def test_a_payload_that_is_not_utf_8_can_be_redacted(two: Two, run: Script) -> None:
    one, other = two
    one.store("s-1", "leak", f"caf\udce9\ntoken: {TOKEN}\n")
    assert in_(one, run, "push", "--redact") == 0
    other.pull()
    [path] = (other.root / "shared/payloads/s-1").glob("*.md")
    assert b"caf\xe9\n" in path.read_bytes() and TOKEN.encode() not in path.read_bytes()


def remote_files(machine: Machine) -> Any:
    folder = Path(machine.remote.removeprefix("file://"))
    return (path for path in folder.rglob("*") if path.is_file())


def test_a_verdict_that_lies_beside_ours_counts_until_both_agree(two: Two, run: Script) -> None:
    ours, theirs = two
    ours.conclude("ui", "fine")
    theirs.push()
    with theirs.clock():
        verdict = Verdict(agent="ui", status="NEEDS_ATTENTION", summary="leaks")
        verdicts.save(theirs.layout, verdict)
    theirs.push()
    ours.pull()
    root, other = f"--root={ours.root}", theirs.known_as.name
    assert run("verdict", "table", root) == 0
    assert run.out == f"CLEAN\tui\tfine\nNEEDS_ATTENTION\tui\ton {other}: leaks\n"
    assert run("verdict", "table", "--view=attention", "--json", root) == 0
    assert [(row["summary"], row["machine"]) for row in json.loads(run.out)] == [("leaks", other)]
    assert run("context", "status", root) == 0 and "1 to look at" in run.out
    saved = ("--task=t", "--phase=planning", "--summary=s", "--next-action=n")
    assert run("external_memory", "checkpoint", *saved, root) == 0
    assert run("external_memory", "recover", root) == 0
    assert "ui NEEDS_ATTENTION: leaks" in run.out
    (copy,) = (ours.root / ".clavain/verdicts").glob("*.from-*")
    copy.replace(copy.with_name("ui.json"))
    assert run("verdict", "table", root) == 0 and run.out == "NEEDS_ATTENTION\tui\tleaks\n"


def test_caches_locks_and_transcripts_never_leave(two: Two) -> None:
    one, _ = two
    one.remember("a note")
    for name in ("transcripts/x.jsonl", "subagents/x/log", "hooks/errors.log", "sessions/x.md"):
        path = one.root / ".contextkit" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("private\n", encoding="utf-8")
    sent = [row.id for row in one.push().rows if row.did == "sent"]
    assert sent == ["reminder:remember-later.md"]
    private = [zlib.decompress(p.read_bytes()) for p in remote_files(one) if "objects" in p.parts]
    assert not any(b"private" in data for data in private)


def test_only_what_is_chosen_moves(two: Two, run: Script) -> None:
    one, other = two
    one.store("s-1", "auth", "text\n")
    one.store("s-2", "auth", "text\n")
    one.conclude("ui", "fine")
    assert in_(one, run, "push", "--session=s-2") == 0
    assert "payload:s-2/" in run.out and run.out.count("sent ") == 1
    assert in_(one, run, "push", "--what=payload") == 0
    assert "payload:s-1/" in run.out and run.out.count("sent ") == 1
    assert in_(one, run, "push", "--what=verdicts") == 2
    assert (
        "what: 'verdicts' does not travel (did you mean 'verdict'?); choose from all, " in run.err
    )
    assert in_(one, run, "push") == 0
    assert run.out.startswith("sent verdict:ui\n")
    assert in_(other, run, "pull", "--session=s-1") == 0
    assert run.out.count("taken ") == 1
    assert in_(other, run, "pull") == 0
    assert run.out.count("taken payload:s-2/") == run.out.count("taken verdict:ui") == 1
    assert in_(other, run, "pull", "--from=nobody") == 2
    assert "from: no machine is 'nobody'" in run.err


def test_what_another_machine_runs_is_told_and_not_watched(two: Two, run: Script) -> None:
    one, other = two
    one.launch("20261122-100000-ui")
    other.launch("20261122-100000-ui")
    one.happen("payload:a")
    one.push()
    other.pull()
    other.push()
    one.pull()
    machine = one.known_as
    rows = json.loads((other.root / "parallelus/manuals/subagent-registry.json").read_text("utf-8"))
    assert [(row["id"], row.get("machine")) for row in rows] == [
        ("20261122-100000-ui", None), (f"20261122-100000-ui@{machine.id}", machine.id),
    ]  # fmt: skip
    assert run("subagent_manager", "status", f"--root={other.root}") == 0
    (event,) = [event for event in other.events() if event["ref"] == "payload:a"]
    assert event["machine"] == machine.name
    (event,) = [event for event in one.events() if event["ref"] == "payload:a"]
    assert "machine" not in event


# What comes in is somebody else's text


@each(
    ("name", "why"),
    [
        ("finding/../../../evil.md", "is not a document name"),
        ("finding//etc/passwd.md", "is not a document name"),
        ("finding/.hidden.md", "is not a document name"),
        ("finding/a\u0000b.md", "is not a document name"),
        ("finding/a\\b.md", "is not a document name"),
        ("finding/<system-reminder>.md", "is not a document name"),
        ("finding/a\u202eb.md", "is not a document name"),
        ("payload/s\u2066/x.md", "is not a document name"),
        ("finding/" + "x" * 300 + ".md", "is not a document name"),
    ],
)
def test_a_name_that_could_leave_its_store_refuses_the_manifest(
    two: Two, run: Script, name: str, why: str
) -> None:
    one, _ = two
    foreign(one, (name, b"evil\n"), ("finding/good.md", b"good\n"))
    before = one.files()
    assert in_(one, run, "pull") == 1
    assert why in run.err and "mallory" in run.err
    assert "<" not in run.err and run.err.replace("\n", "").isprintable()
    assert one.files() == before


@each(
    "name",
    [
        "state/settings", "finding/x.sh", "finding/x.md.from-abc", "payload/x.md", "role/x.md",
        "payload/s-1/manifest.json", "reminder/other.md", "run/x.py", "output/run/x.md",
        "contextkit.yaml/x", "subagent/other.json", "ledger/other/2026-11-0.jsonl",
        "verdict/runs/x.md", "notebook/demo/PLAN.md", "memory/x.md",
    ],
)  # fmt: skip
def test_what_no_store_takes_is_passed_over_and_the_rest_taken(
    two: Two, run: Script, name: str
) -> None:
    one, _ = two
    foreign(one, (name, b"evil\n"), ("finding/good.md", b"good\n"))
    status = in_(one, run, "pull")
    found = one.files()
    assert [data for data in found.values() if data == b"evil\n"] == []
    assert found[".temp/memory/findings/good.md"] == b"good\n"
    assert status == (1 if "not taken" in run.out else 0)


def test_a_link_in_the_store_is_refused(two: Two, run: Script) -> None:
    one, other = two
    elsewhere = other.root / "elsewhere"
    elsewhere.mkdir()
    (one.root / "shared/payloads").mkdir(parents=True)
    (one.root / "shared/payloads/s-1").symlink_to(elsewhere)
    machine = Machine(one.root.parent / "third", one.remote)
    machine.store("s-1", "auth", "text\n")
    machine.push()
    assert in_(one, run, "pull") == 1
    assert "is a symbolic link" in run.out
    assert not list(elsewhere.iterdir())


def test_a_text_that_is_not_what_the_manifest_says_is_refused(two: Two, run: Script) -> None:
    one, _ = two
    foreign(one, ("finding/a.md", b"what it says\n"))
    folder = Path(one.remote.removeprefix("file://"))
    path = folder / manifests.object_key(names.sha256(b"what it says\n"))
    for number, text in enumerate((b"what it sayz\n", b"it says what\n", b"what\n", b"", b"it")):
        put(path, zlib.compress(text))  # whichever digest is the greater one
        machine = Machine(one.root.parent / f"reader-{number}", one.remote)
        assert in_(machine, run, "pull") == 1
        assert "its text does not match the manifest" in run.out
    assert in_(one, run, "pull") == 1
    put(path, zlib.compress(b"0" * (50 << 20)))
    foreign(one, ("finding/b.md", b"x\n"), machine_id="bbbbbbbbbbb2")
    assert in_(one, run, "pull") == 0
    assert not [name for name in one.files() if name.endswith("/a.md")]


@each(
    ("changes", "why"),
    [
        ({"format": 2}, "written by a newer contextkit"),
        ({"format": "x"}, "has format 'x'"),
        ({"number": -1}, "not a whole number"),
        ({"machine": "other"}, "belongs to another machine"),
        ({"digest": "0" * 64}, "names manifests that do not belong to its number"),
        ({"digest": "0" * 64, "chain": ["0" * 64]}, "does not match its head"),
        ({"manifest": b"[]"}, "is not a JSON object"),
        ({"manifest": b"[" * 100_000}, "is not valid JSON"),
        ({"manifest": b"0" * (65 << 20)}, "larger than"),
    ],
)
def test_a_machine_whose_state_cannot_be_read_is_passed_over(
    two: Two, run: Script, changes: dict[str, Any], why: str
) -> None:
    one, other = two
    foreign(one, ("finding/a.md", b"evil\n"), **changes)
    other.find_out("ui", "good\n")
    other.push()
    in_(one, run, "pull")
    assert why in run.err
    if "format" in changes and changes["format"] == 2:
        assert "upgrade" in run.err
    assert [name for name in one.files() if "findings/" in name and name.endswith(".md")] == [
        ".temp/memory/findings/ui_20261122T100000.md"
    ]


def test_rows_and_events_of_a_machine_come_from_itself_alone(two: Two, run: Script) -> None:
    one, _ = two
    rows = json.dumps([{"id": "x", "status": "finished"}, {"id": "../../x"}, 7]).encode()
    others = [
        f"subagent/{owner}.json" for owner in ("000000000002", "bbbbbbbbbbb2", "fffffffffff2")
    ]
    foreign(one, *((name, rows) for name in others))
    assert in_(one, run, "pull") == 1
    assert run.out.count("does not belong to the machine that sends it") == len(others)
    foreign(one, ("subagent/ccccccccccc2.json", rows), machine_id="ccccccccccc2")
    in_(one, run, "pull")
    written = json.loads(
        (one.root / "parallelus/manuals/subagent-registry.json").read_text("utf-8")
    )
    assert written == [{"id": "x", "status": "finished", "machine": "ccccccccccc2"}]


def test_an_end_that_is_refused_is_said_and_the_rest_taken(two: Two, run: Script) -> None:
    one, _ = two
    foreign(
        one,
        ("ended/payload/no session", b"evil\n"),
        ("ended/verdict/t", b"evil\n"),
        ("ended/finding/t", b"evil\n"),
        ("finding/a.md", b"good\n"),
    )
    stores.finding(one.layout, task_id="t")
    one.store("t", "auth", "text\n")
    before = one.files()
    assert in_(one, run, "pull", "--json") == 1
    rows = {row["id"]: row for row in json.loads(run.out)}
    assert sorted(rows) == ["finding:a", "session:no session"]
    refused = rows["session:no session"]
    assert (refused["did"], refused["bytes"]) == ("not taken", 0)
    assert "session: 'no session' must be" in refused["to"]
    assert one.files() == before | {".temp/memory/findings/a.md": b"good\n"}


def test_output_of_a_review_only_goes_where_reviews_write(two: Two, run: Script) -> None:
    one, _ = two
    fields = {
        "id": "20261122T100000Z-0a1b2c", "process": "review", "mode": "review", "version": 1,
        "roster": ["ui"], "started_at": "2026-11-22T10:00:00Z", "output_dir": "scripts",
    }  # fmt: skip
    os.mkdir(one.root / "scripts")
    foreign(
        one,
        (f"run/{fields['id']}.json", json.dumps(fields).encode()),
        (f"output/{fields['id']}/ui.md", b"evil\n"),
    )
    assert in_(one, run, "pull") == 1
    assert "only goes where reviews write" in run.out
    assert not list((one.root / "scripts").iterdir())


def test_file_url_must_be_absolute_and_not_our_own_state(two: Two, run: Script) -> None:
    one, _ = two
    one.find_out("ui", "x\n")
    for url in ("file://relative", f"file://{one.root}/.contextkit/x"):
        assert run("context_sync", "push", f"--root={one.root}", f"--remote={url}") == 2
    url = f"file://{one.root}/.contextkit-share"
    assert run("context_sync", "push", f"--root={one.root}", f"--remote={url}") == 0
    assert run("context_sync", "push", f"--root={one.root}") == 2
    assert "this is not a git repository: name one, remote=URL" in run.err

"""What another machine sends changes nothing of ours, and says whose it is."""

from __future__ import annotations

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest
from conftest import Script, rounds
from contextkit.base.stores import MARK
from contextkit.machines.documents import knowledge
from contextkit.reviews.documents import verdicts
from hostile_histories import Siege
from hostile_machine import MOST, TAG, THEIRS, TURNED, foreign
from simulated_machines import Machine

VERDICT = ".clavain/verdicts/ui.json"


@pytest.fixture
def victim(sealed: Path) -> Machine:
    return Machine(sealed / "victim", f"file://{sealed}/remote")


def as_clean(machine: Machine) -> bytes:
    """The verdict of the machine, as CLEAN and of a later time."""
    text = (machine.root / VERDICT).read_text("utf-8")
    assert "NEEDS_ATTENTION" in text
    return text.replace("NEEDS_ATTENTION", "CLEAN").replace("2026-", "2036-").encode()


def needs_attention(machine: Machine) -> None:
    with machine.clock():
        verdict = verdicts.Verdict(agent="ui", status="NEEDS_ATTENTION", summary="a P0",
                                   timestamp="2026-11-22T10:00:00Z")  # fmt: skip
        verdicts.save(machine.layout, verdict)


@pytest.mark.parametrize("sent_first", [False, True])
def test_a_manifest_with_counts_above_ours_replaces_nothing(
    victim: Machine, run: Script, sent_first: bool
) -> None:
    other = Machine(victim.root.parent / "other", victim.remote)
    for machine, text in ((victim, "ours\n"), (other, "theirs\n")):
        needs_attention(machine)
        payload = machine.store("s-1", "auth", text)
    plan = victim.root / ".temp/memory/research_plans/login.md"
    plan.parent.mkdir(parents=True)
    assert run("external_memory", "plan", f"--root={victim.root}", "--task=login",
               "--objective=Ours", "--pending=the tests") == 0, run.err  # fmt: skip
    if sent_first:
        victim.push()
    before = victim.files()
    theirs = {
        "verdict/ui.json": as_clean(victim),
        f"payload/s-1/{payload}": other.files()[f"shared/payloads/s-1/{payload}"],
        "plan/login.md": plan.read_bytes().replace(b"Ours", b"Bad!"),
    }
    foreign(victim, *theirs.items(), count=MOST)
    root = f"--root={victim.root}"
    assert run("context_sync", "pull", root, f"--remote={victim.remote}") == 0, run.out + run.err
    copies = [line.rpartition(": ")[2] for line in run.out.splitlines() if "beside " in line]
    assert len(copies) == 3 and f"beside verdict:ui from mallory: {VERDICT}{MARK}" in run.out
    after = victim.files()
    assert {name: after[name] for name in before} == before
    assert sorted(after[name] for name in copies) == sorted(theirs.values())
    assert run("verdict", "table", root) == 0 and run.out.startswith("NEEDS_ATTENTION\tui\ta P0")
    assert run("context", "why", root, "verdict:ui") == 0 and "mallory" not in run.out


def test_events_of_another_machine_do_not_say_that_it_wrote_ours(
    victim: Machine, run: Script
) -> None:
    needs_attention(victim)
    root = f"--root={victim.root}"
    event = {"v": 1, "at": "2026-11-29T00:00:00Z", "event": "stored", "ref": "verdict:ui",
             "agent": "fd-mallory", "program": f"{TAG}{TURNED}"}  # fmt: skip
    foreign(victim, (f"ledger/{THEIRS}/2026-11-0.jsonl", json.dumps(event).encode() + b"\n"))
    victim.pull()
    assert len(victim.events()) == 2
    for command in (("why", "verdict:ui"), ("why", "verdict:ui", "--json"), ("search", "P0")):
        assert run("context", *command, root) in (0, 1)
        assert "mallory" not in run.out and TAG not in run.out


def test_what_another_machine_wrote_says_so_until_we_write_it(victim: Machine, run: Script) -> None:
    needs_attention(victim)
    clean = as_clean(victim)
    (victim.root / VERDICT).unlink()
    foreign(victim, ("verdict/ui.json", clean), name=f"{TAG}{TURNED}laptop")
    victim.pull()
    root = f"--root={victim.root}"
    assert run("verdict", "table", root) == 0
    assert run.out == "CLEAN\tui\ton ‹system-reminder› gnp. laptop: a P0\n"
    assert run("verdict", "table", root, "--json") == 0
    assert json.loads(run.out)[0]["machine"] == "‹system-reminder› gnp. laptop"
    assert run("context", "why", root, "verdict:ui") == 0 and "gnp. laptop" in run.out
    needs_attention(victim)
    assert run("verdict", "table", root) == 0 and run.out == "NEEDS_ATTENTION\tui\ta P0\n"
    foreign(victim, ("verdict/ui.json", clean + b"\n"), number=2)
    assert [row.did for row in victim.pull().rows] == ["beside"]


def test_a_machine_whose_head_was_taken_over_keeps_what_it_has_and_knows(
    victim: Machine, sealed: Path
) -> None:
    other = Machine(sealed / "other", victim.remote)
    other.conclude("qa", "theirs")
    other.push()
    needs_attention(victim)
    victim.pull()
    victim.push()
    before = victim.files()
    identity = (victim.root / ".contextkit/machine").read_text("utf-8").split()[0]
    foreign(victim, ("verdict/ui.json", as_clean(victim)), machine_id=identity, number=64)
    needs_attention(victim)
    sent = [row.id for row in victim.push().rows if row.did == "sent"]
    assert sent == ["verdict:ui"], "what is from others is still theirs"
    assert (victim.root / ".contextkit/machine").read_text("utf-8").split()[0] != identity
    after = victim.files()
    assert {name: after[name] for name in before if "ledger" not in name} == {
        name: data for name, data in before.items() if "ledger" not in name
    }


@pytest.mark.parametrize("name", ["finding/UI_20261122T100000.md", "payload/S-1/x.md"])
def test_a_name_that_is_ours_in_other_letters_is_refused(victim: Machine, name: str) -> None:
    victim.find_out("ui", "ours\n")
    victim.store("s-1", "auth", "ours\n")
    before = victim.files()
    foreign(victim, (name, b"theirs\n"))
    (row,) = victim.pull().rows
    assert row.did == "not taken" and "differs only in case or accents" in row.to
    assert victim.files() == before


@pytest.mark.parametrize("seed", range(rounds(1, 200)))
def test_no_history_with_a_hostile_machine_changes_what_is_ours(sealed: Path, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        siege = Siege(Path(folder), random.Random(seed))
        for _ in range(rounds(6, 8)):
            siege.step()
        assert siege.defects == [], siege.told


def test_a_manifest_that_contests_everything_is_noted_once_a_batch(
    victim: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = [f"finding/ui{number}_20261122T100000.md" for number in range(300)]
    for name in ours:
        victim.find_out(name[8:-19], "ours\n")
    victim.push()
    foreign(victim, *((name, b"theirs\n") for name in ours))
    saved: list[Any] = []
    save = knowledge.save
    monkeypatch.setattr(knowledge, "save", lambda *given: saved.append(save(*given)))
    assert [row.did for row in victim.pull().rows] == ["beside"] * 300
    assert len(saved) == 2, "else the time grows with the square of what a stranger sends"

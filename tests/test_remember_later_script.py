"""remember_later.py as its users call it, in this process."""

from __future__ import annotations

import json
from pathlib import Path

from conftest import Script

INBOX = Path("parallelus/manuals/capsules/remember-later.md")


def test_an_entry_has_heading_and_bullets_in_order(repo: Path, run: Script) -> None:
    assert run("remember_later", "--message=spike", "--topic=ux", "--next-step=look") == 0
    assert run.out.startswith("Reminder r-")
    assert str(INBOX) in run.out and "2025-10-23 18:05:00 UTC" in run.out
    entry = INBOX.read_text(encoding="utf-8").partition("## ")[2].splitlines()
    assert entry[0].startswith("2025-10-23 18:05:00 UTC <!-- r-")
    assert entry[1:4] == ["- **Topic:** ux", "- **Note:** spike", "- **Next step:** look"]


def test_a_blank_message_writes_nothing(repo: Path, run: Script) -> None:
    assert run("remember_later", "--message=  ") == 2
    assert run.out == "" and "m= is missing or blank" in run.err
    assert not Path("parallelus").exists()


def test_list_as_json_names_the_id(repo: Path, run: Script) -> None:
    run("remember_later", "--message=spike", "--tags=a,b c")
    assert run("remember_later", "list", "--json") == 0
    (found,) = json.loads(run.out)
    assert found["id"].startswith("r-") and found["tags"] == ["a", "b", "c"]

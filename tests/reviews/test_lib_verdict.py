"""lib-verdict.sh: whatever sourced the old library sources ours."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import SCRIPTS

LIBRARY = SCRIPTS / "lib-verdict.sh"
pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")


def shell(story: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """A shell that has sourced the library and goes on with `story`."""
    return subprocess.run(
        ["bash", "-c", f'. "{LIBRARY}"\n{story}'],
        env={**os.environ, **changes}, capture_output=True, encoding="utf-8",
    )  # fmt: skip


def test_a_sprint_writes_and_reads_as_before(repo: Path) -> None:
    done = shell(
        """
        verdict_init
        verdict_write fd-safety verdict CLEAN haiku "nothing found"
        verdict_write fd-quality verdict NEEDS_ATTENTION sonnet "two issues" \\
            out.md '["a.go"]' 2 1200 qg
        verdict_parse_all; echo "status $?"
        verdict_count_by_status; verdict_get_attention; verdict_total_tokens
        verdict_read fd-safety
        verdict_clean; verdict_count_by_status
        """
    )
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "NEEDS_ATTENTION\tfd-quality\ttwo issues",
        "CLEAN\tfd-safety\tnothing found",
        "status 0",
        "1 CLEAN, 1 NEEDS_ATTENTION",
        "fd-quality\t2\tout.md",
        "1200",
        "CLEAN\thaiku\tnothing found",
        "0 verdicts",
    ]


def test_the_shell_that_sources_it_stays_as_it_was(repo: Path) -> None:
    done = shell("false; case $- in *e*) echo errexit;; esac; verdict_read nobody; echo alive $?")
    assert done.stdout == "alive 1\n"


def test_a_strict_shell_survives_the_table(repo: Path) -> None:
    done = shell(
        "set -eu; verdict_write a verdict CLEAN m s; verdict_parse_all\n"
        "verdict_total_tokens; echo ok"
    )
    assert done.stdout.splitlines()[-1] == "ok"


def test_a_missing_argument_is_said_and_ends_nothing(repo: Path) -> None:
    done = shell("verdict_write a verdict CLEAN; echo alive $?")
    assert done.stdout == "alive 2\n" and "needs AGENT TYPE" in done.stderr
    assert not Path(".clavain").exists()


def test_nothing_that_is_stored_is_executed(repo: Path) -> None:
    store = Path(".clavain/verdicts")
    store.mkdir(parents=True)
    (store / "x.json").write_text(
        '{"status": "CLEAN", "summary": "$(touch pwned)", "tokens_spent": "a[$(touch pwned)]"}',
        encoding="utf-8",
    )
    done = shell(
        "verdict_total_tokens; verdict_parse_all\n"
        "verdict_write '$(touch pwned)' v CLEAN m '`touch pwned`'"
    )
    assert done.stdout.splitlines()[0] == "0" and not Path("pwned").exists()


def test_without_a_store_no_process_is_started(repo: Path, tmp_path: Path) -> None:
    nothing = tmp_path / "bin"
    nothing.mkdir()
    done = shell(
        "_VERDICT_HOME=/nowhere; verdict_parse_all; verdict_count_by_status;"
        " verdict_get_attention; verdict_total_tokens; verdict_clean",
        PATH=str(nothing) + ":" + os.environ["PATH"],
    )
    assert done.stdout == "0 verdicts\n0\n" and done.stderr == ""


def test_a_folder_below_the_root_sees_the_same_set(repo: Path) -> None:
    done = shell(
        "verdict_write a verdict CLEAN m s; mkdir -p deep/er; cd deep/er; verdict_count_by_status"
    )
    assert done.stdout == "1 CLEAN\n"


def test_the_attention_set_is_full_and_the_old_one_can_be_had(repo: Path) -> None:
    story = "verdict_write a verdict ERROR m s; verdict_get_attention | wc -l | tr -d ' '"
    assert shell(story).stdout == "1\n"
    assert shell(story, CLAVAIN_VERDICT_LEGACY="1").stdout == "0\n"

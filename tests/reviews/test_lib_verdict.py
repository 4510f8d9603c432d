"""lib-verdict.sh: whatever sourced the old library sources ours."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import LONG, SCRIPTS

LIBRARY = SCRIPTS / "lib-verdict.sh"
pytestmark = pytest.mark.skipif(not shutil.which("bash"), reason="needs bash")


def shell(
    story: str, library: Path = LIBRARY, program: str = "bash", **changes: str
) -> subprocess.CompletedProcess[str]:
    """A shell that has sourced the library and goes on with `story`."""
    return subprocess.run(
        [program, "-c", f'. "{library}"\n{story}'],
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


def copied(folder: Path) -> Path:
    """A copy of the library alone, in another folder."""
    folder.mkdir(parents=True)
    return Path(shutil.copy(LIBRARY, folder / "lib-verdict.sh"))


CIRCLE = """
verdict_write a verdict CLEAN m fine && verdict_parse_all && verdict_count_by_status
"""


@pytest.mark.parametrize("absolute", [True, False])
def test_a_link_to_it_resolves_where_it_lies(repo: Path, absolute: bool) -> None:
    hooks = repo / "hooks"
    hooks.mkdir()
    to = LIBRARY if absolute else Path(os.path.relpath(LIBRARY, hooks))
    (hooks / "lib-verdict.sh").symlink_to(to)
    done = shell(CIRCLE, library=hooks / "lib-verdict.sh")
    assert done.stdout == "CLEAN\ta\tfine\n1 CLEAN\n" and done.stderr == ""


def test_a_copy_in_a_host_finds_the_toolkit_there(repo: Path) -> None:
    (repo / "tools").mkdir()
    (repo / "tools/contextkit").symlink_to(SCRIPTS.parent)
    done = shell(CIRCLE, library=copied(repo / "hooks/deep"))
    assert done.stdout == "CLEAN\ta\tfine\n1 CLEAN\n" and done.stderr == ""


def test_a_copy_that_finds_nothing_never_reads_as_nothing_to_look_at(repo: Path) -> None:
    done = shell(
        """
        echo "status $?"
        verdict_write a verdict CLEAN m s || echo "not written"
        verdict_parse_all || echo 0
        verdict_count_by_status || echo 0
        verdict_get_attention || echo 0
        """,
        library=copied(repo / "elsewhere"),
    )
    assert done.stdout.splitlines() == [
        "status 1",
        "not written",
        "ERROR\tlib-verdict.sh\tno verdict can be read: see stderr",
        "0",
        "1 ERROR",
        "0",
        "lib-verdict.sh\t0\tlib-verdict.sh",
        "0",
    ]
    assert "there is no verdict.py" in done.stderr.splitlines()[0]


@pytest.mark.skipif(not shutil.which("dash"), reason="needs dash")
def test_in_dash_it_says_what_it_needs_before_anything_else(repo: Path) -> None:
    done = shell('echo "status $?"; verdict_count_by_status', program="dash")
    assert done.stdout == "status 1\n1 ERROR\n"
    assert done.stderr.startswith("lib-verdict.sh: needs bash or zsh")
    done = shell(CIRCLE, program="dash", _VERDICT_HOME=str(SCRIPTS))
    assert done.stdout == "CLEAN\ta\tfine\n1 CLEAN\n" and done.stderr == ""


def test_it_can_be_started_as_a_program(repo: Path) -> None:
    assert os.access(LIBRARY, os.X_OK)
    assert LIBRARY.read_text(encoding="utf-8").startswith("#!/usr/bin/env bash\n")
    assert subprocess.run([LIBRARY], check=False).returncode == 0


def test_an_unknown_status_replaces_an_old_clean(repo: Path) -> None:
    done = shell(
        """
        verdict_write a verdict CLEAN m "all fine"
        verdict_write a verdict NEEDS_CHANGES m "two issues"; echo "status $?"
        verdict_parse_all; verdict_get_attention | wc -l | tr -d ' '
        """
    )
    assert done.stdout.splitlines() == [
        "status 0",
        "NEEDS_ATTENTION\ta\tNEEDS_CHANGES: two issues",
        "1",
    ]
    assert "unknown" in done.stderr


def test_a_skipped_reviewer_is_written_and_needs_no_attention(repo: Path) -> None:
    done = shell(
        "verdict_write a verdict SKIPPED_SHIP_CLASS m 'docs only'; verdict_parse_all\n"
        "verdict_get_attention; verdict_count_by_status"
    )
    assert done.stdout == "SKIPPED_SHIP_CLASS\ta\tdocs only\n1 SKIPPED_SHIP_CLASS\n"


def test_the_folder_is_known_and_can_be_set_after_sourcing(repo: Path) -> None:
    done = shell(
        """
        echo "$VERDICT_DIR"
        mkdir below; cd below; VERDICT_DIR=mine
        verdict_write a verdict CLEAN m s; ls "$VERDICT_DIR"; verdict_count_by_status
        VERDICT_DIR=.clavain/verdicts; verdict_count_by_status
        """
    )
    assert done.stdout.splitlines() == [".clavain/verdicts", "a.json", "1 CLEAN", "0 verdicts"]
    assert shell("echo $VERDICT_DIR", CLAVAIN_VERDICT_DIR="x/y").stdout == "x/y\n"


def test_the_session_is_read_from_the_old_file_where_nothing_else_names_one(repo: Path) -> None:
    Path("session-id").write_text("of-the-file\nmore\n", encoding="utf-8")
    story = "verdict_write a verdict CLEAN m s; cat .clavain/verdicts/a.json"
    file = str(repo / "session-id")
    assert '"session_id": "of-the-file"' in shell(story, _VERDICT_SESSION_FILE=file).stdout
    named = shell(story, _VERDICT_SESSION_FILE=file, SESSION_ID="named")
    assert '"session_id": "named"' in named.stdout


def test_the_old_file_of_the_session_has_its_place(repo: Path) -> None:
    assert shell("echo $_VERDICT_SESSION_FILE").stdout == "/tmp/interstat-session-id\n"


# The page of the manual: each function, and what each block of it prints

PAGE = SCRIPTS.parent / "manuals" / "lib-verdict.md"
BLOCKS = re.findall(
    r"^## (\w+).*?^```sh\n(.*?)^```\n\n^```text\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S
)


@pytest.mark.parametrize(("name", "story", "printed"), BLOCKS, ids=[block[0] for block in BLOCKS])
def test_the_page_tells_what_a_function_prints(
    repo: Path, name: str, story: str, printed: str
) -> None:
    done = shell(story)
    assert done.stdout.replace("\t", "⇥") == printed and done.stderr == ""


def test_the_page_has_every_function_and_no_other() -> None:
    functions = re.findall(r"^(verdict_\w+)\(\)", LIBRARY.read_text("utf-8"), re.M)
    told = re.findall(r"^## (verdict_\w+)", PAGE.read_text("utf-8"), re.M)
    assert told == functions == [name for name, _, _ in BLOCKS if name != "Sourcing"]


# The contract: what a caller types, what it reads, and with which status. In this order, in one
# shell; wherever the library is sourced from.
CONTRACT = (
    ("verdict_count_by_status || echo 0", "0 verdicts", 0),
    ("verdict_parse_all", "", 0),
    ("verdict_get_attention", "", 0),
    ("verdict_total_tokens || echo 0", "0", 0),
    ("verdict_read nobody", "", 1),
    ("verdict_clean", "", 0),
    ("verdict_init", "", 0),
    ("cat .clavain/verdicts/.gitignore", "*", 0),
    ("verdict_write a verdict CLEAN haiku 'all fine'", "", 0),
    ("verdict_read a", "CLEAN\thaiku\tall fine", 0),
    ("verdict_write a verdict NEEDS_CHANGES haiku 'two issues'", "", 0),
    ("verdict_read a", "NEEDS_ATTENTION\thaiku\tNEEDS_CHANGES: two issues", 0),
    ("verdict_write b verdict SKIPPED_SHIP_CLASS none 'docs only'", "", 0),
    ("verdict_count_by_status", "1 NEEDS_ATTENTION, 1 SKIPPED_SHIP_CLASS", 0),
    ("verdict_get_attention | cut -f 1", "a", 0),
    ("verdict_write '' verdict CLEAN m s", "", 2),
    ("verdict_write c verdict CLEAN m", "", 2),
    ("verdict_write ../c verdict CLEAN m s", "", 2),
    ("verdict_write a:b:c verdict CLEAN m 'an odd name' x.md '[]' 0 40", "", 0),
    ("verdict_read a:b:c", "CLEAN\tm\tan odd name", 0),
    ("verdict_write d implementation COMPLETE m done d.md '[\"a.go\"]' 0 2 ship", "", 0),
    ("verdict_total_tokens", "42", 0),
    ("verdict_write d implementation FAILED m 'no luck' d.md nonsense many lots", "", 0),
    ("verdict_parse_all | grep -c FAILED", "1", 0),
    ("VERDICT_DIR=other; verdict_count_by_status; VERDICT_DIR=.clavain/verdicts", "0 verdicts", 0),
    ("cd below && verdict_count_by_status | tr , '\\n' | wc -l | tr -d ' '; cd ..", "4", 0),
)
PLACES = (
    "beside",
    "a link",
    "a relative link",
    "a link to a link",
    "a folder with blanks",
    "a copy",
)


@pytest.mark.parametrize("place", PLACES)
def test_the_contract_holds_wherever_the_library_is_sourced_from(repo: Path, place: str) -> None:
    library = {
        "beside": lambda: LIBRARY,
        "a link": lambda: linked(repo / "hooks", LIBRARY),
        "a relative link": lambda: linked(repo / "hooks", Path(os.path.relpath(LIBRARY, "hooks"))),
        "a link to a link": lambda: linked(repo / "more", linked(repo / "hooks", LIBRARY)),
        "a folder with blanks": lambda: linked(repo / "our own hooks", LIBRARY),
        "a copy": lambda: copied(repo / "hooks"),
    }[place]()
    (repo / "below").mkdir()
    (repo / "tools").mkdir()
    (repo / "tools/contextkit").symlink_to(SCRIPTS.parent)
    part = CONTRACT if LONG or place == "beside" else CONTRACT[:3]
    story = "\n".join(f'{call}\necho "[$?]"' for call, _, _ in part)
    done = shell(story, library=library, _VERDICT_SESSION_FILE="/nonexistent")
    expected = "".join(f"{out}\n" * bool(out) + f"[{status}]\n" for _, out, status in part)
    assert done.stdout == expected
    assert "Traceback" not in done.stderr


def linked(folder: Path, to: Path) -> Path:
    """A link to the library in a folder of the caller's own."""
    folder.mkdir()
    path = folder / "lib-verdict.sh"
    path.symlink_to(to)
    return path

"""make bench_peers: beside other tools for short outputs, and beside the originals.

    make bench_peers                              rtk and lean-ctx, from the Python index
    make bench_peers clavain=DIR parallelus=DIR   the originals, where you have them

Without a folder, rtk and lean-ctx are installed into a scratch environment and get the same
commands as ours (`peer_outputs.py`); the table says where they are ahead. `clavain` is a folder
with lib-verdict.sh somewhere in it, `parallelus` one with remember_later.py and capsule_prompt.py:
what each costs, as a ratio to a bare interpreter; then what both libraries say to the same calls
(manuals/lib-verdict.md).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import BARE, Case, measure
from places import SCRIPTS, scratch, script

ROUNDS = int(os.environ.get("ROUNDS", "20"))
OURS = SCRIPTS / "lib-verdict.sh"
_WRITE = 'verdict_write fd-a verdict CLEAN haiku "nothing found"'
_TWO = f'{_WRITE}; verdict_write fd-b verdict NEEDS_ATTENTION sonnet "two issues" b.md "[]" 2 1200'
# What is done in a fresh repository, and the last thing that is printed: the status.
PROBES = {
    "write": _WRITE,
    "read": f"{_TWO}; verdict_read fd-b",
    "read what is not there": "verdict_read nobody",
    "table": f"{_TWO}; verdict_parse_all",
    "table of nothing": "verdict_parse_all",
    "count": f"{_TWO}; verdict_count_by_status",
    "attention": f"{_TWO}; verdict_get_attention",
    "attention, a crash": "verdict_write fd-c verdict ERROR m crashed; verdict_get_attention",
    "tokens": f"{_TWO}; verdict_total_tokens",
    "clean": f"{_TWO}; verdict_clean; verdict_count_by_status",
    "a count that is none": f"{_WRITE}; verdict_write fd-a verdict BLOCKED m worse a.md '[]' x;"
    " verdict_count_by_status",
    "a summary of two lines": 'verdict_write a verdict CLEAN m "one\ntwo"; verdict_parse_all',
    "a name that leads out": 'verdict_write "./../../out" verdict CLEAN m s;'
    ' [ -e out.json ] && echo "written outside"',
    "a file that is broken": f"{_WRITE}; echo '{{' > .clavain/verdicts/x.json; verdict_parse_all",
    "a value that is a command": "verdict_init; echo '{\"tokens_spent\": \"a[$(touch ran)]\"}' >"
    ' .clavain/verdicts/x.json; (verdict_total_tokens) >/dev/null; [ -e ran ] && echo executed',
    "from a subfolder": f"{_WRITE}; mkdir sub; cd sub; verdict_count_by_status",
    "forty at once": 'for n in $(seq 40); do verdict_write a verdict CLEAN m "n $n" & done;'
    " wait; verdict_count_by_status",
}  # fmt: skip


def main() -> int:
    """Print what can be compared: with the originals that are given, else with other tools."""
    parser = argparse.ArgumentParser(description="beside the originals")
    parser.add_argument("--clavain", help="a folder with lib-verdict.sh")
    parser.add_argument("--parallelus", help="a folder with remember_later.py, capsule_prompt.py")
    options = parser.parse_args()
    library = _found(options.clavain, "lib-verdict.sh")
    scripts = [_found(options.parallelus, f"{name}.py") for name in
               ("remember_later", "capsule_prompt")]  # fmt: skip
    if not library and not any(scripts):
        import peer_outputs

        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
            peer_outputs.print_outputs(Path(made).resolve())
        return 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
        folder = Path(made).resolve()
        scratch(folder)
        print_costs(library, scripts, folder)
        os.chdir("/")
        if library:
            print()
            print_answers(library, folder / "probes")
    return 0


def _found(folder: str | None, name: str) -> Path | None:
    """The file of this name in a folder that was given, however deep."""
    if not folder:
        return None
    return next(iter(sorted(Path(folder).expanduser().resolve().rglob(name))), None)


def print_costs(library: Path | None, scripts: list[Path | None], folder: Path) -> None:
    """One row per command: the original's time, ours, both as ratios to `python -c pass`."""
    pairs: dict[str, tuple[list[str], list[str]]] = {}
    if scripts[0]:
        mine = script("remember_later.py", "--message=x")
        pairs["remember_later"] = ([sys.executable, str(scripts[0]), "--message=x"], mine)
    if scripts[1]:
        pairs["capsule_prompt"] = ([sys.executable, str(scripts[1])], script("capsule_prompt.py"))
    if library and shutil.which("jq"):
        pairs["one verdict written"] = tuple(_shell(lib, _WRITE) for lib in (library, OURS))  # type: ignore[assignment]
        for count in (10, 100):
            fill = _stored(folder / f"v{count}", count)
            for name in ("verdict_parse_all", "verdict_count_by_status"):
                both = [_shell(lib, f"{name} || :", fill) for lib in (library, OURS)]
                pairs[f"{name} of {count}"] = (both[0], both[1])
    cases = [Case("bare", BARE)]
    for name, (theirs, ours) in pairs.items():
        many = 5 if "100" in name else ROUNDS
        cases += [Case(f"{name}, theirs", theirs, rounds=many), Case(name, ours)]
    measure(cases, ROUNDS)
    bare = cases[0].median
    print(f"{'command':<34} {'original':>9} {'ours':>6}")
    for theirs_case, mine_case in zip(cases[1::2], cases[2::2], strict=True):
        ratios = theirs_case.median / bare, mine_case.median / bare
        print(f"{mine_case.name:<34} {ratios[0]:>9.1f} {ratios[1]:>6.1f}")


def _shell(library: Path, story: str, store: Path | None = None) -> list[str]:
    """A shell that sources the library and goes on, whatever the library sets."""
    where = [f"CLAVAIN_VERDICT_DIR={store}"] if store else []
    return ["env", *where, "bash", "-c", f'. "{library}"; set +e; {story}']


def _stored(folder: Path, count: int) -> Path:
    folder.mkdir()
    for number in range(count):
        text = (
            '{"type": "verdict", "status": "CLEAN", "model": "haiku", "tokens_spent": 1200,'
            ' "files_changed": [], "findings_count": 0, "summary": "nothing found",'
            f' "detail_path": "a{number}.md", "timestamp": "2025-10-23T18:05:00Z"}}\n'
        )
        (folder / f"a{number}.json").write_text(text, encoding="utf-8")
    return folder


def print_answers(library: Path, place: Path) -> None:
    """What both say to the same calls: `same`, or each of them."""
    print(f"{'call':<26} original | ours")
    for name, story in PROBES.items():
        said = [answer(lib, story, place / f"{name.replace(' ', '-')}-{lib.parent.name}")
                for lib in (library, OURS)]  # fmt: skip
        print(f"{name:<26} {'same: ' + said[0] if said[0] == said[1] else ' | '.join(said)}")


def answer(library: Path, story: str, folder: Path) -> str:
    """What a call prints and its status, in a fresh repository, on one line."""
    folder.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    done = subprocess.run(
        _shell(library, f"{story}\necho status $?"), cwd=folder, capture_output=True,
        encoding="utf-8", env={**os.environ, "_VERDICT_SESSION_FILE": "/nowhere"},
    )  # fmt: skip
    text = done.stdout.strip().replace("\t", "⇥").replace("\n", " ⏎ ")
    return text or f"nothing, and the shell ended with {done.returncode}"


if __name__ == "__main__":
    raise SystemExit(main())

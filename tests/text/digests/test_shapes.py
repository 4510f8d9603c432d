"""Outputs known by their shape alone: traces of a shell, inventories, tables, lists in lists."""

from __future__ import annotations

import json

from conftest import each
from contextkit.text.digests import engine


def told(text: str, cap: int = 250) -> str:
    """The whole digest of a text in one line."""
    return " ".join(engine.digest(text, cap).summary.split())


TRACED = "+ set -euo pipefail\n" + "".join(
    f"+ for host in a{n}\n++ seq 1 4\n+ copy_from a{n}\n+ (( n > 4 ))\n" for n in range(40)
)


def test_a_shell_that_prints_its_commands_writes_no_list_and_none_of_them_fails() -> None:
    digest = engine.digest(f"{TRACED}+ tar xf a.tar\ntar: a.tar: Cannot open: No such file\n", 250)
    assert digest.kind == "log" and digest.key == "tar: a.tar: Cannot open: No such file"
    assert "failed" not in engine.digest(TRACED, 250).summary


INVENTORY = "# Pool\n" + "".join(f"gauge_{n}_bytes:{n * 7919}\n" for n in range(40))
BAD = "last_backup_status:err\nrejected_calls:0\nsync_errors:0\nwrite_errors:12\nreads_failed:881\n"


@each("more", ["", "calls_put:n=9,usec=12,rejected=77,failed=0\n"])
def test_of_a_flat_list_of_values_states_and_counts_of_failures_come_first(more: str) -> None:
    digest = engine.digest(f"{INVENTORY}{BAD}{more}", 120)
    assert digest.key == "last_backup_status err"
    assert "write_errors: 12" in digest.summary and "reads_failed: 881" in digest.summary
    assert "sync_errors: 0" not in digest.summary
    assert ("calls_put: rejected=77" in digest.summary) == bool(more)


def unit(name: str, states: str) -> str:
    return f"  {name:<20} {states} Does what {name} does\n"


UNITS = "  UNIT                 LOAD      ACTIVE     SUB          DESCRIPTION\n" + "".join(
    unit(f"part{n}.service", f"loaded    active     {('running', 'exited ')[n % 3 == 0]}     ")
    for n in range(40)
)


def test_a_table_whose_columns_begin_below_their_names_is_no_help_and_its_odd_rows_are_told() -> (
    None
):
    again = unit("again.service", "loaded    activating auto-restart")
    gone = unit("gone.service", "not-found inactive   dead        ")
    digest = engine.digest(f"{UNITS}{again}{gone}\n42 units in all.\n", 250)
    assert digest.kind == "table" and "42 rows, 5 columns" in digest.key
    assert "again.service" in digest.summary and "ACTIVE: activating" in digest.summary
    assert "gone.service - LOAD: not-found" in digest.summary
    assert "42 units in all." in digest.summary


def test_a_total_with_fewer_cells_below_a_table_is_told() -> None:
    rows = "".join(f" {n:>3}:  {9000 - n * 13:>9}  {90000 - n * 130:>9}  C{n}\n" for n in range(60))
    head = " num  #instances     #bytes  class name\n---------------------------\n"
    assert "Total 411004 9817203" in told(f"{head}{rows}Total  411004  9817203\n")


def test_lists_in_the_objects_of_a_list_are_a_table_that_names_these_objects() -> None:
    def group(n: int, *ports: int) -> dict[str, object]:
        rules = [{"port": port, "from": f"{'10.0.0' * (port != 9200)}.0/0"} for port in ports]
        return {"id": f"sg-{n * 7919:x}", "groupName": f"web-{n}", "rules": rules}

    groups = [group(n, 443, 9100) for n in range(12)]
    text = json.dumps({"groups": [*groups, group(77, 443, 9100, 9200)]}, indent=1)
    assert "web-77 - port: 9200, from: .0/0" in told(text)


CRASHED = """\
[New Thread 0x7ffff6d (LWP 2143)]

Thread 7 "sched" received signal SIGSEGV, Segmentation fault.
[Switching to Thread 0x7ffff55 (LWP 21146)]
0x00007ffff7e1dc77 in __GI_____strtol (nptr=0x1 <error: Cannot access memory at 0x1>) at ../x/s.c:2
291\t../stdlib/strtol_l.c: No such file or directory.
#0  0x00007ffff7e1dc77 in __GI_____strtol (nptr=0x1 <error: Cannot access memory>) at ../x/s.c:291
#1  0x00007ffff7e124b0 in __GI_atoi (nptr=<optimized out>) at ./stdlib/atoi.c:27
#2  0x00005555555551ea in parse_prio (cmd=0x555555559700 "reindex") at sched.c:10
#3  0x0000555555555227 in run_job (j=0x5555555596e0, depth=0) at sched.c:11
"""


def test_a_crash_in_a_debugger_is_placed_in_the_first_frame_that_is_no_library() -> None:
    digest = engine.digest(CRASHED, 250)
    assert digest.key.endswith("SIGSEGV, Segmentation fault. (sched.c:10)")
    assert 'parse_prio (cmd=0x555555559700 "reindex")' in digest.summary
    assert "failed" not in [row.aspect for row in digest.rows]  # the debugger lacks a source

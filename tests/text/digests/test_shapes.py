"""Outputs known by their shape alone: traces of a shell, inventories, tables, lists in lists."""

from __future__ import annotations

import json

from conftest import each
from contextkit.text.digests import engine, lines


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
    assert "write_errors=12" in digest.summary and "reads_failed=881" in digest.summary
    assert "sync_errors=0" not in digest.summary
    assert ("calls_put rejected=77" in digest.summary) == bool(more)


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
    assert "failed" not in [row.aspect for row in digest.rows]  # the debugger lacks a source


def event(at: int, words: str) -> str:
    return f"26/11/27 02:{at // 60:02}:{at % 60:02} {words}\n"


SCHEDULED = "".join(
    event(n, f"INFO Scheduler: Submitting {n} missing tasks of stage {n}") for n in range(60)
)


def test_of_a_dated_log_the_line_of_the_program_itself_and_the_worst_event_are_told() -> None:
    lost = event(70, "WARN Scheduler: Lost task 17 (executor 7): ExecutorLostFailure")
    own = "sessionize: read 48211904 clicks, dropped 912033 clicks without visitor id\n"
    end = event(80, "INFO Writer: Job 7 committed 3 parts. Elapsed time: 812 ms")
    digest = engine.digest(f"{SCHEDULED}{lost}{SCHEDULED}{end}{own}", 250)
    assert "Lost task 17" in digest.key and own.strip() in digest.summary
    assert "with failure words" not in digest.summary


def test_a_reason_in_brackets_is_no_failure_of_an_event() -> None:
    pauses = "".join(event(n, f"GC({n}) Pause Young (Allocation Failure) {n}M") for n in range(90))
    digest = engine.digest(f"{pauses}Exception in thread main: OutOfMemoryError: full\n", 250)
    assert "OutOfMemoryError" in digest.key
    assert "failed" not in [row.aspect for row in digest.rows]


def test_an_event_is_not_joined_to_the_one_below_it() -> None:
    rows = [f"[{n:5}.{n:06}] disk{n % 7} is up" for n in range(40)]
    rows[3:5] = ["[    3.000003] memory map provided:", "[    4.000004] virtual disk detected"]
    units = lines.Lines("\n".join(rows)).statements()
    assert "[ 3.000003] memory map provided:" in [unit.text for unit in units]


THREADS = "".join(f'"pool-{n}" #{n} elapsed={n}.13s tid=0x{n:08x} runnable\n\n' for n in range(60))


def test_what_is_grave_is_the_key_of_a_text_that_is_no_run() -> None:
    locked = 'Found one deadlock:\n"pool-3":\n  waits for "pool-9"\n\nFound 1 deadlock.\n'
    assert "deadlock" in engine.digest(f"{THREADS}{locked}", 250).key


@each(
    ("end", "key"),
    [
        ("At least one error was detected in a.zip.", "At least one error was detected in a.zip."),
        ("✓ built in 14.62s", "✓ built in 14.62s"),
    ],
)
def test_the_last_line_that_sums_up_or_speaks_of_an_error_is_the_key(end: str, key: str) -> None:
    rows = "".join(f" testing: photos/IMG_{n}.txt   OK\n" for n in range(90))
    assert engine.digest(f"Archive: a.zip\n{rows}{end}\n", 200).key == key


def test_a_list_of_words_below_an_error_is_told_whole() -> None:
    text = "Errors were encountered while processing:\n grib-tool\n grib-portal\n grib-radar\n"
    rows = "".join(f"Setting up weather-{n} (2.4.1-1) ...\n" for n in range(40))
    assert "while processing: grib-tool grib-portal grib-radar" in told(f"{rows}{text}")


def test_an_error_that_occurs_in_a_sentence_is_no_verdict() -> None:
    row = "When the command that caused the error occurred, the device was active or idle.\n"
    text = "".join(f"Attribute {n}: {n * 7}\n" for n in range(40))
    digest = engine.digest(f"Self-assessment test result: FAILED!\n{text}{row}", 200)
    assert "occurred" not in digest.key


def test_numbers_with_a_point_are_of_one_form_whatever_they_begin_with() -> None:
    rows = "".join(f"round {n} took {n / 7 + 0.1:.3f}ms\n" for n in range(40))
    assert "(x39)" in told(rows) or "(x40)" in told(rows)


def test_of_a_wide_table_the_row_with_the_highest_value_is_told_whole() -> None:
    head = "GROUP  TOPIC   PART  CURRENT  END      LAG  CONSUMER   HOST        CLIENT\n"
    rows = "".join(
        f"bill   orders  {n:<4}  {700 + n * 37 % 300:<7}  {9000 + n * 91 % 700:<7}  {n % 5:<3}"
        f"  bill-{n * 7919:x}  /10.40.5.{n % 7}  c{n % 3}\n"
        for n in range(11, 50)
    )
    row = "bill   moves   9     701      9001     881  bill-3f25b  /10.40.5.3  c1\n"
    assert "TOPIC: moves, PART: 9" in told(f"{head}{rows}{row}{rows}")


def test_a_table_of_numbers_may_repeat_its_head_and_stand_below_other_lines() -> None:
    head = "-queue- -----io----\n run wait   in  out idle  time\n"
    rows = [f"   1    0 {n % 7:4d}  {n % 5}00   97 02:{n:02d}:00\n" for n in range(60)]
    rows[41] = "   9   31 9901 8800    1 02:41:00\n"
    parts = (head + "".join(rows[n : n + 20]) for n in range(0, 60, 20))
    digest = engine.digest("$ iowatch 60\n" + "".join(parts), 250)
    assert digest.kind == "table" and "60 rows, 6 columns: run, wait, in" in digest.key
    assert "wait: 31, in: 9901" in " ".join(digest.summary.split())

"""Each kind of text: that it is recognized, and that what decides is shown."""

from __future__ import annotations

import json
import re

from conftest import each
from contextkit.text import authored
from contextkit.text.digests import engine
from contextkit.text.digests.engine import Digest


def digest_of(text: str, kind: str, cap: int = 200) -> Digest:
    digest = engine.digest(text, cap)
    assert digest.kind == kind
    return digest


def test_one_failure_among_400_passes_is_shown_with_its_place() -> None:
    lines = [f"tests/test_api.py::test_{n} PASSED" for n in range(400)]
    lines[217] = "tests/test_api.py::test_limit FAILED"
    lines += [
        "=== FAILURES ===",
        "E       assert 200 == 429",
        "tests/test_api.py:88: AssertionError",
        "FAILED tests/test_api.py::test_limit - assert 200 == 429",
        "=== 1 failed, 399 passed in 3.21s ===",
    ]
    said = digest_of("\n".join(lines), "log").summary
    assert "1 failed, 399 passed in 3.21s" in said
    assert "tests/test_api.py::test_limit - assert 200 == 429" in said
    assert said.count("399") == 1  # what the verdict counts is not counted again
    assert "(tests/test_api.py:88)" in said and "more" not in said


def test_failures_without_room_are_counted() -> None:
    lines = [f"FAILED tests/test_{n}.py::test_x - assert {n} == 0" for n in range(80)]
    lines += ["=== 80 failed in 9.99s ==="]
    digest = digest_of("\n".join(lines), "log", 120)
    shown = digest.summary.count("FAILED tests/")
    assert f"+{80 - shown} more" in digest.summary and shown > 1


def test_a_log_that_says_no_errors_has_no_failure() -> None:
    lines = [f"2026-01-02 10:00:{n:02} INFO step {n}: 0 errors" for n in range(50)]
    assert "failed" not in digest_of("\n".join(lines), "log").summary


def test_a_log_of_a_service_shows_each_error_once_with_how_often() -> None:
    lines = [f"2026-01-02T10:00:{n:02}Z INFO request {n} took 12 ms" for n in range(40)]
    lines[5:5] = [f"2026-01-02T10:01:{n:02}Z ERROR connection 10{n} refused" for n in range(7)]
    said = digest_of("\n".join(lines), "log").summary
    assert "refused (x7)" in said and said.count("refused") == 1


def test_a_log_of_requests_shows_the_failed_ones_and_counts_the_others() -> None:
    line = (
        '10.0.0.{n} - - [12/Nov/2026:10:00:{n:02} +0000] "{what} HTTP/1.1" {status} 512 "-" "{by}"'
    )
    by = "Mozilla/5.0 (X11; Linux x86_64)"
    lines = [line.format(n=n, what=f"GET /items/{n}", status=200, by=by) for n in range(40)]
    lines[9] = line.format(n=9, what="GET /gone", status=404, by=by)
    lines[20:23] = [line.format(n=n, what="POST /orders", status=502, by=by) for n in range(20, 23)]
    said = digest_of("\n".join(lines), "log").summary
    assert 'HTTP/1.1" 200' in said and "(x36)" in said
    assert "HTTP 502: POST /orders x3" in said and said.count("POST") == 1
    assert "HTTP 404: GET /gone x1" in said


DIFF = """diff --git a/src/app.py b/src/app.py
index 111..222 100644
--- a/src/app.py
+++ b/src/app.py
@@ -1,3 +1,4 @@ def main():
 x = 1
-y = 2
+y = 3
+def added():
 z = 4
diff --git a/old.py b/old.py
deleted file mode 100644
--- a/old.py
+++ /dev/null
@@ -1,2 +0,0 @@
-a = 1
--- b = 2
diff --git a/a.py b/b.py
similarity index 100%
rename from a.py
rename to b.py
"""


def test_a_diff_shows_its_files_with_counts_and_what_happened_to_them() -> None:
    said = digest_of(DIFF, "diff").summary
    assert "3 files changed, +2 -3" in said
    assert "src/app.py +2 -1" in said
    assert "old.py +0 -2 (removed)" in said
    assert "b.py (renamed from a.py)" in said


def test_json_shows_its_shape_and_what_stands_out() -> None:
    jobs = [{"id": n, "name": f"job-{n}", "status": "ok", "seconds": n} for n in range(60)]
    jobs[41]["status"] = "failed"
    digest = digest_of(json.dumps({"run": "r-1", "jobs": jobs}, indent=1), "json")
    assert "object of 2 keys: run, jobs" in digest.summary
    assert "list of 60" in digest.summary
    assert "ok x59, failed x1" in digest.summary and "name: job-41" in digest.summary


def test_json_lines_are_a_list() -> None:
    lines = [json.dumps({"level": "info", "n": n}) for n in range(20)]
    assert "list of 20" in digest_of("\n".join(lines), "json").summary


def test_lists_of_values_in_json_are_told_by_columns() -> None:
    rows = [[n, "ok" if n != 41 else "failed", n % 7] for n in range(60)]
    said = digest_of(json.dumps(rows), "json").summary
    assert "list of 60" in said and "ok x59, failed x1" in said and "[0]: list of" not in said


def test_of_a_dump_the_rows_of_each_table_are_counted() -> None:
    parts = ["-- A dump\n"]
    for name, count in (("goods", 70), ("orders", 9)):
        parts.append(f"CREATE TABLE shop.{name} (\n    id integer NOT NULL\n);\n")
        parts += [f"INSERT INTO shop.{name} VALUES ({n}, 'x');\n" for n in range(count)]
    said = digest_of("".join(parts), "code").summary
    assert "70 rows in shop.goods; 9 rows in shop.orders" in said
    assert "86 lines, 2 definitions" in said


def test_a_table_shows_columns_ends_and_the_row_that_stands_out() -> None:
    rows = [f"node-{n},eu,{n * 3},ok" for n in range(40)]
    rows[17] = "node-17,eu,9000,failed"
    digest = digest_of("host,region,latency,state\n" + "\n".join(rows), "table")
    assert "40 rows, 4 columns: host, region, latency, state" in digest.summary
    assert "9000 (node-17)" in digest.summary and "state: failed" in digest.summary


def test_a_markdown_table_keeps_the_words_of_its_head() -> None:
    text = "| host | latency |\n|---|---|\n" + "".join(f"| h{n} | {n} ms |\n" for n in range(9))
    assert "h8 - latency: 8 ms" in digest_of(text, "table").summary


CODE = '''"""Read settings from a file."""

import os

DEFAULT_LIMIT = 500


class Settings:
    def load(self, path: str) -> dict:
        return {}


def main() -> int:
    # TODO: say which file is missing
    return 0
'''


def test_code_shows_what_it_is_and_what_it_defines() -> None:
    said = digest_of(CODE, "code").summary
    assert "Read settings from a file." in said
    assert "class Settings" in said and "def main() -> int" in said
    assert "TODO: say which file is missing" in said


TRACE = """Traceback (most recent call last):
  File "/app/src/run.py", line 12, in main
    load(path)
  File "/app/src/load.py", line 40, in load
    return json.loads(text)
  File "/usr/lib/python3.11/json/__init__.py", line 346, in loads
    return _default_decoder.decode(s)
json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)
"""


def test_a_trace_shows_the_error_and_the_innermost_own_frame() -> None:
    said = digest_of(TRACE, "trace", 90).summary
    assert "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)" in said
    assert "(/app/src/load.py:40)" in said


REVIEW = """# Review

### Findings Index
- P0 | P0-1 | "Auth" | Tokens are never checked
- P1 | P1-1 | "Auth" | Sessions outlive logout
- P1 | P1-2 | "Store" | Writes are not synced
- P2 | P2-1 | "Docs" | A typo
Verdict: risky

### P0-1. Tokens are never checked

**Location**: `src/auth.py:88`

The middleware returns before the check. Add the check to `src/auth.py:90`.
"""


def test_a_review_shows_its_verdict_and_every_finding_of_the_highest_priority() -> None:
    digest = digest_of(REVIEW, "review")
    assert "Verdict: risky" in digest.summary
    assert "P0-1 - Tokens are never checked (src/auth.py:88)" in digest.summary
    assert "P1-1" in digest.summary and "P1-2" in digest.summary


def test_a_finding_that_index_and_heading_name_is_shown_once() -> None:
    text = REVIEW.replace("P0-1", "Q-1").replace("### Q-1.", "### Q-1. P0:")
    findings = [row.finding for row in digest_of(text, "review").rows]
    assert sum("Tokens are never checked" in finding for finding in findings) == 1


def test_findings_of_a_priority_without_room_are_counted() -> None:
    rows = "".join(
        f'- P1 | P1-{n} | "S" | Something {n} that is quite wrong here\n' for n in range(60)
    )
    digest = digest_of(f"# Review\n\n### Findings Index\n{rows}Verdict: risky\n", "review", 150)
    shown = digest.summary.count("Something")
    assert f"P1: +{60 - shown} more" in digest.summary


def test_a_report_shows_or_counts_every_item_of_its_highest_priority() -> None:
    items = [f"- P0: repair shard {n} in src/shard_{n}.py:{n}, it loses writes." for n in range(30)]
    text = "\n".join(["# Plan", "", "## Actions", "", *items, "- P1: raise it to 512 MB.", ""])
    digest = digest_of(text, "report")
    shown = digest.summary.count("P0: repair")
    assert shown > 1 and f"P0: +{30 - shown} more" in digest.summary
    assert "P1: +" not in digest.summary


@each(
    ("barred", "cause"),
    [
        ("Das Laufwerk V: darf noch nicht gelöscht werden.", "Die Ursache ist ein langer Name."),
        ("La opción queda prohibida hasta nuevo aviso.", "La causa es la hora de verano."),
        ("The branch must not reach main before June.", "The cause is the early read."),
    ],
)
def test_a_report_tells_first_what_nobody_may_do_and_why(barred: str, cause: str) -> None:
    names = "Rome Oslo Bern Kyiv Lima Riga Cork Bonn Graz Lyon".split()
    steps = "".join(f"- The office of {name} moved as it had been planned.\n" for name in names)
    text = f"# Report\n\n## Course\n\n{steps}\n{barred} {cause} Lunch was late.\n"
    digest = digest_of(text, "report", 90)
    assert digest.key == barred and cause in digest.summary


@each("title", ["Background", "2. How the cache works", "Hintergrund", "Overview:"])
def test_what_must_not_be_by_design_is_not_the_key_of_a_report(title: str) -> None:
    text = (
        f"# Caches\n\n## {title}\n\n- Entries must not exceed the size of a page.\n"
        "- It must not be confused with the page cache.\n- Do not read this as criticism.\n"
        "- Never mind the details.\n\n## Findings\n\n1. p99 fell from 80 ms to 12 ms.\n"
        "2. Memory grew to 14 GB.\n\n## Recommendation\n\nAdopt Redis 7.2 with maxmemory 8 GB.\n"
    )
    rules = text.replace(f"## {title}", "## Rules")
    for cap in range(50, 90, 10):
        assert digest_of(text, "report", cap).key == "p99 fell from 80 ms to 12 ms."
        assert "p99" not in digest_of(rules, "report", cap).key


def test_a_report_tells_its_state_and_what_to_watch() -> None:
    names = "Rome Oslo Bern Kyiv Lima Riga Cork Bonn Graz Lyon".split()
    moved = "".join(f"- The office of {name} moved as it had been planned.\n" for name in names)
    text = (
        "# Move\n\n**State: done.** All offices are open since Monday.\n\n## Course\n\n"
        f"{moved}\n## The one thing to watch\n\nThe lease of Bern ends with the old contract.\n"
    )
    digest = digest_of(text, "report", 90)
    assert "The lease of Bern ends with the old contract." in f"{digest.key} {digest.summary}"
    assert authored.read(text).lead().startswith("done. All offices are open")


MARKED = """# Review

## Findings

- **[P0] Tokens are never checked** — `src/auth.py:88` — The middleware returns early. Fix it.
- [P1] src/store.py:3 — writes are not synced, they get lost
- **[P1] Sessions outlive logout** — `src/session.py:12-20` — Nobody removes them.

## Verdict

Not fit to be merged. Repair P0 first.
"""


def test_findings_that_items_mark_are_shown_by_severity_with_their_places() -> None:
    digest = digest_of(MARKED, "review")
    assert digest.key == "Verdict: Not fit to be merged. Repair P0 first."
    rows = {row.aspect: row.finding for row in digest.rows}
    assert rows["P0"] == "Tokens are never checked (src/auth.py:88)"
    assert rows["P1"] == (
        "src/store.py:3 — writes are not synced, they get lost; "
        "Sessions outlive logout (src/session.py:12-20)"
    )
    short = digest_of(MARKED, "review", 50).summary
    assert "P1: +2 more: src/store.py:3, src/session.py:12-20" in short


BELOW = """# Review of the ferry tickets

**Verdict:** needs changes

## P0 (blocking)

- tickets/sell.py:41 sells a seat twice when the boat
  is full. Somebody stays ashore.

## P1

None.

## P2 findings

{}
## Not a problem

- The lock in tickets/lock.py is short.
"""


def test_items_below_a_heading_that_is_a_severity_are_findings_told_or_counted() -> None:
    remarks = "".join(
        f"- tickets/part{n}.py:{n} is named after a {n} year old joke\n" for n in range(3, 40)
    )
    digest = digest_of(BELOW.format(remarks), "review")
    rows = {row.aspect: row.finding for row in digest.rows}
    assert digest.key == "Verdict: needs changes"
    assert rows["P0"] == (
        "tickets/sell.py:41 sells a seat twice when the boat is full. Somebody stays ashore."
    )
    assert f"+{37 - digest.summary.count('joke')} more" in digest.summary and "P1" not in rows


def test_headings_below_a_severity_are_findings_and_a_plan_by_priority_is_no_review() -> None:
    text = BELOW.format(
        "### The dock is named twice\n\nIn tickets/dock.py:3 and :9.\n\n- See there.\n"
    )
    rows = {row.aspect: row.finding for row in digest_of(text, "review").rows}
    assert rows["P2"] == "The dock is named twice (tickets/dock.py:3)"
    plan = text.replace("**Verdict:** needs changes", "Every verdict is read first.")
    assert engine.ParsedText(plan).kind == "report"


def test_sentences_below_a_severity_are_not_counted_as_findings() -> None:
    said = "".join(f"- Step {n} fails in src/step_{n}.py:{n}.\n" for n in range(40))
    digest = digest_of(f"{REVIEW}\n### P0-2. Writes are lost\n\n{said}", "review", 120)
    assert "P0: +" not in digest.summary and "P0 +" not in digest.summary


def test_prose_shows_its_sentences() -> None:
    text = "The cache in src/app.py holds 40 entries. " * 3 + "It must not grow beyond 900 MB."
    assert "It must not grow beyond 900 MB." in digest_of(text, "plain").summary


NAMED = """# Session files

## What others do

{filler}

## Recommendations

### R1: Keep the JSON files (no migration)

The 180 ms budget of src/session.py is met: loading takes 12 ms for 40 entries.

### R2: Write atomically

{filler}

### R3: Do not replay whole conversations

{filler}

### Priority matrix

| Recommendation | Effort | Priority |
|---|---|---|
| R2: Write atomically | 5 lines in src/store.py | P0 -- now |
| R1: Keep the JSON files | none | P2 |

## Numbers

| Case | Now | After P1 |
|---|---|---|
| Cold start | 300 ms | 45 ms |
"""
FILLER = " ".join(f"Tool {n} keeps {n}00 MB in var/tool_{n}.db for {n} days." for n in range(3, 40))


def test_in_a_very_long_report_the_highest_priority_is_found_and_counted_as_far_as_it_is_read() -> (
    None
):
    parts = [f"## Part {n}\n\n{FILLER}\n\n" for n in range(200)]
    parts[90] += "### P0: Repair the shard map\n\n- it loses writes in src/shard.py:9\n\n"
    said = digest_of("# Report\n\n" + "".join(parts), "report").summary
    assert "it loses writes in src/shard.py:9" in said
    parts[91:180] = [f"- P0: repair shard {n}, it loses {n} MB\n" for n in range(300)]
    said = digest_of("# Report\n\n" + "".join(parts), "report").summary
    assert re.search(r"P0: \+\d+ or more", said)
    steps = "".join(f"- Read src/{name}.py:3 once {name * 30}\n" for name in "abcdefghijk")
    rest = ("Word for word it goes on. " * 40 + "\n\n") * 200
    said = digest_of(f"# Report\n\n## Steps\n\n{steps}\n## Rest\n\n{rest}", "report", 120).summary
    assert re.search(r"\(\+\d or more\)", said)


def test_the_next_step_is_told_before_the_background() -> None:
    step = "Next step: Ines asks the harbor whether the old crane may be sold."
    past = "".join(f"The crane {name} was painted by its own crew. " for name in "abcdefghijk")
    text = f"# Cranes\n\n## Background\n\n{past}\n\n## Where we are\n\nWe wait for word. {step}\n"
    assert step in digest_of(text, "report", 90).summary


def test_an_answer_is_shown_with_the_heading_that_it_answers() -> None:
    text = f"# Formats\n\n{FILLER}\n\n## Are binary formats faster than YAML?\n\n"
    text += (
        "### Verdict: NOT recommended\n\nmsgpackr adds 150 KB to src/start.py:7, it must not.\n\n"
    )
    text += "## Verdict\n\nKeep `config.yaml`, it costs 3 ms. It must not grow above 9 KB.\n"
    rows = {row.aspect: row.finding for row in digest_of(text, "report").rows}
    assert rows["Are binary formats faster than YAML? / Verdict: NOT recommended"]
    assert rows["Verdict"]


def test_a_priority_is_read_from_a_cell_but_not_from_a_column_of_another_name() -> None:
    text = NAMED.format(filler=FILLER)
    said = digest_of(text, "report").summary
    assert "Priority: P0 -- now" in said or "P0: +1 more" in said
    assert "P1: +" not in said


def test_of_paths_the_folders_are_counted() -> None:
    paths = [f"src/{'api' if n % 3 else 'web'}/m{n}.py" for n in range(90)] + ["src/api/a.css"]
    said = digest_of("\n".join(paths), "listing").summary
    assert "91 paths in 2 folders" in said
    assert "src/api x61, src/web x30" in said and ".py x90, .css x1" in said


def test_of_the_lines_that_a_search_found_the_files_are_counted() -> None:
    hits = [f"src/m{n % 9}.py:{n}:    raise Error({n})" for n in range(90)]
    said = digest_of("\n".join(hits), "listing").summary
    assert "90 lines in 9 files" in said and "src/m0.py x10" in said and "+1 more" in said
    assert "src/m0.py:0: raise Error(0)" in said


def test_the_newest_commits_come_first_and_merges_last() -> None:
    commits = [f"{n + 0x1000000:x} Change the shape of part {n}" for n in range(90)]
    commits[1::2] = [f"{n + 0x2000000:x} Merge branch 'x{n}'" for n in range(45)]
    said = digest_of("\n".join(commits), "listing").summary
    assert "90 commits, 1000000 to 200002c" in said
    assert "1000000 Change the shape of part 0; 1000002" in said and "Merge" not in said


def test_of_a_log_of_git_the_subjects_are_shown() -> None:
    lines: list[str] = []
    for n in range(30):
        lines += [f"commit {n + (1 << 156):x}", f"Author: A{n % 2} <a@b.c>"]
        lines += [f"Date:   Mon Feb {n % 28 + 1} 10:00:00 2026 +0000", "", f"    Part {n} is new"]
        lines += ["", "    It needs src/a.py:3.", ""]
    said = digest_of("\n".join(lines), "listing").summary
    assert "30 commits, 1000000000 to 1000000000" in said
    assert "A0 x15, A1 x15" in said and "Part 0 is new" in said


def test_of_the_statistics_of_a_diff_the_largest_changes_are_shown() -> None:
    lines = [f" src/m{n}.py | {n + 1} {'+' * (n % 40 + 1)}" for n in range(90)]
    lines += [" 90 files changed, 4095 insertions(+), 12 deletions(-)"]
    said = digest_of("\n".join(lines), "diff").summary
    assert "90 files changed, 4095 insertions(+), 12 deletions(-)" in said
    assert "src/m89.py 90" in said and "src/m0.py" not in said


def test_the_tables_of_programs_are_tables() -> None:
    pods = ["NAME      READY   STATUS    AGE"]
    pods += [f"web-{n:04}  1/1     {'Failed ' if n == 7 else 'Running'}   {n}d" for n in range(60)]
    said = digest_of("\n".join(pods), "table").summary
    assert "Running x59, Failed x1" in said and "web-0007 - READY: 1/1, STATUS: Failed" in said
    rows = [
        " id | name | total",
        "----+------+-------",
        *(f" {n} | a{n} | {n % 7}" for n in range(60)),
    ]
    assert "60 rows, 3 columns: id, name, total" in digest_of("\n".join(rows), "table").summary
    tasks = ["USER  PID %CPU COMMAND", *(f"root {n} 0.{n % 10} python a b {n}" for n in range(60))]
    assert (
        "60 rows, 4 columns: USER, PID, %CPU, COMMAND"
        in digest_of("\n".join(tasks), "table").summary
    )


def summary_of(lines: list[str]) -> str:
    return engine.digest("\n".join(lines), 200).summary


def test_a_table_without_a_header_has_none_invented() -> None:
    digest = engine.digest("\n".join(f"{n}\t{n * 2}\tsrc/file{n}.py" for n in range(40)), 200)
    assert digest.kind == "table"
    assert "40 rows, 3 columns" in digest.summary and "3 columns:" not in digest.summary
    text = "\n".join(f"{'MA'[n % 7 == 3]}\tsrc/file{n}.py" for n in range(40))
    said = engine.digest(text, 200).summary
    assert "40 rows, 2 columns" in said and "M x34, A x6" in said


def test_counts_are_told_with_their_total_and_the_largest() -> None:
    rows = [f"{n * 37 % 1000:7} src/m{n}.py" for n in range(1, 60)]
    said = digest_of("\n".join([*rows, "  27642 total"]), "table").summary
    assert "59 rows" in said and "27642 - total" in said and "to 999 (src/m27.py)" in said
    assert (
        engine.ParsedText("\n".join(f"{n:4} line {n} of a file" for n in range(1, 40))).kind
        != "table"
    )


def test_lines_of_json_below_a_line_of_text_are_no_table() -> None:
    line = '{"ts": "10:00", "level": "info", "msg": "handled", "path": "/x"}'
    assert engine.ParsedText("\n".join(["starting", *[line] * 40])).kind == "json"


def test_the_columns_of_ps_are_split_although_some_are_one_space_apart() -> None:
    lines = ["UID          PID    PPID  C STIME TTY          TIME CMD"]
    lines += [
        f"root      {n:6}       1  0 16:42 ?        00:00:00 /bin/app -n {n}" for n in range(9)
    ]
    assert "8 columns: UID, PID, PPID, C, STIME, TTY, TIME, CMD" in summary_of(lines)


def test_a_graph_of_commits_is_a_listing_of_commits() -> None:
    lines = ["*   3c66e2c Merge branch 'main'", "|\\  "]
    lines += [f"| * {n:07x} Change {n}" for n in range(20)] + ["|/  ", "* abcdef0 The first"]
    assert engine.ParsedText("\n".join(lines)).kind == "listing"
    assert "22 commits, 3c66e2c to abcdef0" in summary_of(lines)


def test_the_lines_of_blame_are_no_commits() -> None:
    line = "d7114bc4 (A Person 2026-11-22 16:56:54 +0000 {n:2}) value = {n}"
    assert "commits" not in summary_of([line.format(n=n) for n in range(1, 40)])


def test_the_diff_of_a_merge_counts_its_files_and_lines() -> None:
    lines = []
    for name in ("a.py", "b.py"):
        lines += [f"diff --cc {name}", "index 656f4f9,9e35a1c..0000000", f"--- a/{name}"]
        lines += [f"+++ b/{name}", "@@@ -1,2 -1,2 +1,5 @@@", "++both", " +one"]
        lines += ["++either", "+ two", "- three", "++neither"]
    said = summary_of(lines)
    assert "2 files changed, +10 -2" in said and "a.py +5 -1" in said


def test_what_is_no_path_and_no_hit_is_not_counted_as_one_but_shown() -> None:
    denied = "find: ‘./private’: Permission denied"
    said = summary_of([*(f"./src/file{n}.py" for n in range(40)), denied])
    assert "40 paths in 1 folder" in said and denied in said
    missing = "grep: src/gone.py: No such file or directory"
    said = summary_of([*(f"src/file{n}.py:{n}: error = {n}" for n in range(40)), missing])
    assert "40 lines in 40 files" in said and missing in said


HELP = """\
Usage: stock [OPTIONS] COMMAND

Keeps the stock of several shops in one file.

Commands:
  add, a      Add an article
  move        Move articles between shops
  sell        Sell an article

Options:
  -f, --file <PATH>     The file [default: stock.db]
      --dry-run         Say what would be done
  -q, --quiet           Say nothing
"""


def test_the_help_of_a_command_is_told_by_its_use_and_its_names() -> None:
    found = digest_of(HELP, "help")
    assert found.key == "Keeps the stock of several shops in one file."
    said = {row.aspect: row.finding for row in found.rows}
    assert said[""] == "Usage: stock [OPTIONS] COMMAND"
    assert said["Commands"] == "add, move, sell"
    assert said["Options"] == "-f/--file, -q/--quiet, --dry-run"


def test_a_long_help_counts_the_names_that_it_leaves_out() -> None:
    options = "".join(f"      --option-{n:03}   Set the value {n}\n" for n in range(300))
    found = digest_of(f"{HELP}{options}", "help")
    assert {row.aspect: row.finding for row in found.rows}["names"].startswith("+")
    told = sum(row.finding.count("--") for row in found.rows)
    left = int(next(row.finding for row in found.rows if row.aspect == "names").split()[0])
    assert told + left == 303


def test_an_error_above_a_help_is_told() -> None:
    said = digest_of(f"stock: error: unknown command 'ad'\n\n{HELP}", "help").summary
    assert "unknown command 'ad'" in said


def test_a_manual_page_is_told_by_its_name_and_what_its_exit_status_means() -> None:
    page = (
        "STOCK(1)                 User Commands                STOCK(1)\n\nNAME\n"
        "       stock - keep the stock of several shops\n\nSYNOPSIS\n"
        "       stock [OPTION]... FILE\n\nOPTIONS\n"
        "       -q, --quiet\n              say nothing, with  blanks  to fill the line\n\n"
        "       of=FILE\n              write to FILE\n\n"
        "       sync\n              wait for the disk\n\n"
        "   Exit status:\n       0      if OK,\n\n       2      if the file is locked.\n\n"
        "COPYRIGHT\n       Copyright (c) somebody.\n"
    )
    found = digest_of(page, "help")
    assert found.key == "stock - keep the stock of several shops"
    said = {row.aspect: row.finding for row in found.rows}
    assert said["OPTIONS"] == "-q/--quiet, of=FILE, sync"
    assert "2 if the file is locked." in found.summary


def test_in_prose_what_was_decided_comes_first() -> None:
    talk = "It was asked why the sync stops at night, and M. Diallo told what he knows of it. " * 3
    text = f"Minutes of 3 May\n\nDiscussion. {talk}\n\n{talk}\n\nDecision. No sync before the 9th. "
    text += f"Mr. Roche tells the shops. {talk}\n\nMisc: the room is cold again. {talk}\n"
    found = digest_of(text, "plain")
    assert found.key == "Decision. No sync before the 9th."
    assert "Mr. Roche tells the shops." in found.summary


def test_prose_is_told_by_whole_sentences_though_its_lines_are_wrapped_raggedly() -> None:
    text = """\
You may lend the boat to anybody who has rowed
before, if the club at https://example.org/a/very/long/address/of/a/club/of/rowers
was told of it.
"""
    text += "".join(
        f"""
The club in {town} lends oars, and a boat for two or
more persons, to everybody who has been a member of it since
the year before.
"""
        for town in ("Ulm", "Wien", "Linz", "Passau", "Krems", "Tulln")
    )
    text += """
The club is not liable for wet clothes, lost oars, or
anything else that happens to those who borrow the boat while
the flag is down. Nobody may take it out between the end
of October and the first week of March without a second rower.
"""
    last = "Nobody may take it out between the end of October and the first week of March without "
    assert last + "a second rower." in digest_of(text, "plain", 180).summary


def test_a_sentence_about_them_is_told_with_the_one_that_says_who_they_are() -> None:
    text = "It rained. The crates hold 1,284 lamps. They must not be opened before the 4th of May. "
    text += "".join(f"The {day} was long and nothing came in. " for day in ("Monday", "Friday"))
    said = digest_of(text, "plain", 35).summary
    assert "The crates hold 1,284 lamps. They must not be opened before" in said


def test_sentences_that_differ_in_numbers_only_make_prose_no_table() -> None:
    said = (
        "Die Schleuse öffnet auch dann, wenn das Tor unten offen steht. Das liegt an gate.py:88.\n"
    )
    said += "Der Wärter sieht es nicht, weil die Lampe nach zwölf Stunden ausgeht.\n\n"
    rows = "".join(
        f"Tor {n}: Riegel {n} geprüft, Druck {n * 7} bar unauffällig.\n" for n in range(1, 40)
    )
    digest = digest_of(said + rows, "plain")
    assert "Tor 1…39: Riegel 1…39 geprüft, Druck 7…273 bar unauffällig (x39)." in digest.summary


def test_a_log_of_commits_with_their_changes_is_no_review_that_it_changes() -> None:
    review = "".join(
        f"+### P1: Finding {n}\n+\n+`src/a{n}.py:{n}` is wrong.\n" for n in range(1, 5)
    )
    commits = "".join(
        f"commit {str(n) * 40}\nAuthor: A <a@b.example>\nDate:   Mon May {n} 10:00:00 2026\n\n"
        f"    Change {n}\n\ndiff --git a/r.md b/r.md\n--- a/r.md\n+++ b/r.md\n@@ -0,0 +1,12 @@\n"
        f"{review}\n"
        for n in range(1, 5)
    )
    found = digest_of(commits, "diff")
    assert "4 commits" in found.summary and "Change 1" in found.summary


def test_a_list_of_properties_is_told_by_its_beginning_though_it_names_an_error() -> None:
    head = "File Header:\n  Type: shared object\n  Machine: x86-64\n  Entry point: 0x61d0\n"
    rows = "".join(f"  {n:3}: 0000{n:04} FUNC name{n * 7}\n" for n in range(400))
    said = engine.digest(f"{head}{rows}  x (unknown), o (OS specific)\n", 200).summary
    assert "Entry point: 0x61d0" in said and "Machine: x86-64" in said


def test_a_list_of_commands_without_usage_is_a_help() -> None:
    groups = "".join(
        f"\nCommands for {what}\n"
        + "".join(f"   {what}-{n:<8} Do the thing {n}\n" for n in range(9))
        for what in ("daily", "rare")
    )
    found = digest_of(f"See 'stock help NAME' for one of them\n{groups}", "help")
    said = {row.aspect: row.finding for row in found.rows}
    assert said["Commands for daily"].startswith("daily-0, daily-1")
    assert said["Commands for rare"].startswith("rare-0, rare-1")


def test_a_help_that_quotes_json_is_one_text() -> None:
    page = (
        "Help on module stock:\n\nNAME\n    stock - Keep the stock in JSON.\n\nDESCRIPTION\n"
        '    An example::\n\n{"article": 1}\n\nFUNCTIONS\n'
        f"    load(path, *, {', '.join(f'option_{n}=None' for n in range(9))})\n"
        "        Read the stock.\n\n    save(path)\n        Write it.\n\n"
        "    sold(path)\n        Count.\n"
    )
    found = digest_of(page, "help")
    assert {row.aspect: row.finding for row in found.rows}["FUNCTIONS"] == "load, save, sold"


def test_a_page_is_read_as_the_report_that_it_shows() -> None:
    page = (
        "<!DOCTYPE html>\n<html><head><title>Sync</title>\n<script>var failed = 'error';\n</script>"
        "</head>\n<body><nav><ul><li>Home</li></ul></nav>\n<h1>Sync</h1>\n"
        "<p>It was slow.</p>\n<h2>Decision</h2>\n<p>We keep the\n<b>nightly</b> sync, since it\n"
        "costs 3&nbsp;ms.</p>\n<ul>\n<li>It starts\nat 02:00.</li>\n<li>It writes\nto "
        "<code>/srv/sync</code>.</li></ul>\n<pre>sync --now\nsync --all</pre>\n</body></html>\n"
    )
    found = digest_of(page, "report")
    rows = {row.aspect: (row.line, row.finding) for row in found.rows}
    said = found.summary
    assert "We keep the nightly sync, since it costs 3 ms." in said
    assert "failed" not in said and "Home" not in said
    assert page.split("\n")[rows["Decision"][0] - 1].startswith(("<p>We keep", "<li>It"))


@each(
    ("line", "noun", "count"),
    [
        ("src/part_{0}/m_{0}.py", "path", 700),
        ("-rw-r--r-- 1 ada ada {0} Nov 23 02:00 m_{0}.py", "file", 700),
        ("src/m.py:{0}:import m_{0}", "line", 700),
        ("src/m.py:{0}:import m_{0}", "line", 90),
    ],
)
def test_what_is_not_told_of_a_listing_is_counted(line: str, noun: str, count: int) -> None:
    rows = engine.digest("\n".join(line.format(n) for n in range(count)), 200).rows
    said = [row.finding for row in rows if row.aspect == noun]
    (more,) = re.findall(r"\+(\d+) more", said.pop())
    assert len("; ".join(said).split("; ")) + int(more) == count


def test_a_graph_with_branches_is_no_list_of_markdown() -> None:
    commit = (
        "*   commit {0:07x}f0\n|\\  Merge: a b\n| | Author: Ada <a@b>\n"
        "| | \n| |     merge {0}\n| | \n| |     of two\n| | \n"
    )
    said = digest_of("".join(map(commit.format, range(20))), "listing").summary
    assert "20 commits" in said


def test_names_of_symbols_are_no_commits_and_a_graph_of_commits_is_one() -> None:
    symbols = "\n".join(f"{n * 4096:016x} T name_{n}" for n in range(40))
    assert "commit" not in engine.digest(symbols, 200).summary
    graph = "\n".join(f"* {n:07x}f change {n}" for n in range(30))
    assert "30 commits" in digest_of(graph, "listing").summary


def test_a_binary_file_is_no_other_file_and_nothing_is_counted_that_was_not_seen() -> None:
    diff = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n"
    diff += "Binary files a/b.png and b/b.png differ\n"
    said = digest_of(diff, "diff").summary
    assert "2 files changed, +1 -1" in said and "b/b.png (binary)" in said
    words = "diff --git a/x.md b/x.md\n--- a/x.md\n+++ b/x.md\n@@ -1 +1 @@\n a [-b-]{+c+} d\n"
    assert "+0" not in digest_of(words, "diff").summary


def test_a_report_may_quote_code_whose_comments_look_like_headings_or_have_bold_labels_only() -> (
    None
):
    code = "```sh\n" + "# first\n# second\n" * 9 + "```\n"
    prose = "It is read once and kept, and what is read is small enough for a hook.\n\n"
    quoted = f"# A\n\n{prose}{code}\n## B\n\n- one\n- two\n\n{prose}"
    labeled = f"# A\n\n**Context.** {prose}**Decision.** {prose}**Why.** {prose}"
    assert engine.ParsedText(quoted).kind == engine.ParsedText(labeled).kind == "report"


def test_comments_in_a_file_of_settings_are_no_headings() -> None:
    settings = "".join(f"# What key{n} is for\nkey{n} {n}\n\n" for n in range(20))
    assert engine.ParsedText(settings).kind != "report"


def test_the_times_of_a_runner_are_not_read() -> None:
    lines = [
        "Run make",
        "src/a.c:3:5: error: unknown type name 'x' [E1]",
        "src/b.c:4:5: error: no [E2]",
    ]
    log = "\n".join(f"2026-11-23T10:00:0{n}.1234567Z {line}" for n, line in enumerate(lines))
    assert engine.digest(log, 200).rows == engine.digest("\n".join(lines), 200).rows


def test_the_largest_shares_of_a_profile_are_told_whoever_s_code_it_is() -> None:
    shares = (31.5, 27.55, 16.13, 8.8, 3.42, 3.02, 2.28, 0.06)
    names = ["strcmp", "getc", "hash", "qsort", "malloc", "strdup", "printf", "fopen"]
    rows = "".join(
        f"  {share:5}%  app  /usr/lib/libc.so.6  [.] {name}\n"
        for share, name in zip(shares, names, strict=True)
    )
    steps = "".join(f"step {n} says something else about what it does, {n}\n" for n in range(40))
    said = engine.digest(f"# Samples: 8K\n{steps}{rows}{steps}", 120).summary
    assert all(name in said for name in names[:3])


def test_a_conflict_is_told_as_one_and_not_as_added_lines() -> None:
    text = (
        "diff --cc a.py\n--- a/a.py\n+++ b/a.py\n@@@ -1,1 -1,1 +1,5 @@@\n++<<<<<<< HEAD\n +a = 1\n"
    )
    text += "++=======\n+ a = 2\n++>>>>>>> topic\n"
    said = digest_of(text, "diff").summary
    assert "a.py (in conflict)" in said and "+3" not in said and "+5" not in said


def test_packages_named_above_messages_are_no_headings() -> None:
    packages = "".join(
        f"# example.org/{name}\n{name}/a.go:3:5: self-assignment of x\n\t{name}/b.go:4:1: no\n"
        f"{name}/c.go:9:2: unreachable code\n" for name in ("feed", "queue", "sync")
    )  # fmt: skip
    assert engine.ParsedText(packages).kind == "log"


CHAT = """\
[09:02] ada: morning! who is around?
[09:14] ines: logins fail on two old phones, white page
[09:16] ben: is it the release?
[09:44] ines: the new chain ends in a root that the old phones do not have
[09:45] tom: so not the release at all
[10:02] tom: should I roll back 5.1.0 then?
[10:03] ada: NO. please nobody roll back 5.1.0, the older one wipes the drafts
[10:04] tom: ok ok
[17:30] help-bot: daily summary: "login" 14 tickets (13 solved), "billing" 6 tickets (6 solved)
"""
MINUTES = """\
Protokoll vom 3. Mai

Anwesend: Frau Amsel, Herr Dachs. Entschuldigt: niemand.

Es wurde lange gesprochen, und jeder hat etwas dazu gesagt, was man machen kann.
Die alten Scanner werden nicht zurückgegeben, bevor die Abnahme unterschrieben ist.

Beschluss: Die neue Fassung kommt am 5. Oktober und nicht wie geplant im September.

6. Aufgaben
A1 Herr Dachs schreibt den Plan bis zum 20. September.
"""


TOLD = [  # text, key finding, what else is told, what is not
    (
        CHAT,
        "[10:03] ada: NO. please nobody roll back 5.1.0, the older one wipes the drafts",
        "do not have; [09:45] tom: so not the release at all",
        "tickets",
    ),
    (
        re.sub(r"\[(\S+)\] (\S+): ", r"\1  \2    ", CHAT),
        "10:03 ada: NO. please nobody roll back 5.1.0, the older one wipes the drafts",
        "do not have; 09:45 tom: so not the release at all",
        "tickets",
    ),
    (
        MINUTES,
        "Beschluss: Die neue Fassung kommt am 5. Oktober und nicht wie geplant im September.",
        "zurückgegeben, bevor die Abnahme unterschrieben ist.",
        "Anwesend",
    ),
]


@each("text, key, rest, aside", TOLD)
def test_of_prose_decisions_and_prohibitions_come_first_and_small_talk_last(
    text: str, key: str, rest: str, aside: str
) -> None:
    digest = engine.digest(text, 85)
    assert digest.key == key
    assert rest in digest.summary
    assert aside not in digest.summary


def test_a_severity_in_front_of_a_title_is_told_once() -> None:
    text = (
        "# Cache review\n\n**Verdict:** risky\n\n## Findings\n\n"
        "### 1. HIGH: stale rows after deletion (src/cache.py:42)\nThe key lacks the tenant.\n"
        "### 2. High: no limit on entries (src/cache.py:80)\nIt grows by 4 MB a day.\n"
    )
    rows = engine.digest(text, 220).rows
    assert "stale rows after deletion (src/cache.py:42); no limit on entries (src/cache.py:80)" in [
        row.finding for row in rows if row.aspect == "HIGH"
    ]

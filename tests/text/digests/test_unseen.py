"""Outputs of tools that were once told badly, each by a general rule."""

from __future__ import annotations

import json
import string

from conftest import each
from contextkit.text.digests import engine, folding, lines, reading

LISTED = """\
/srv/app:
total 20
drwxr-xr-x 2 root root  4096 Nov 23 10:26 .
drwxr-xr-x 9 root root  4096 Nov 23 12:01 ..
-rw-r--r-- 1 root root  1716 Nov 23 02:00 small.py
-rw-r--r-- 1 root root 94208 Nov 23 02:00 large.sql
drwxr-xr-x 2 root root  4096 Nov 23 02:00 sub

/srv/app/sub:
total 4
-rw-r--r-- 1 root root    12 Nov 23 02:00 note.txt
"""
FOUND = "".join(
    f"-rw-r--r-- 1 ada ada {1000 + n} Nov 23 02:00 /srv/app/{'ab'[n % 2]}/m{n}.py\n"
    for n in range(40)
)
TREE = """\
app@1.0.0 /srv/app
├─┬ express@4.18.2
│ ├── accepts@1.3.8
│ └── body-parser@1.20.1
├── left-pad@1.3.0
└─┬ mocha@10.2.0
  └── yargs@16.2.0
"""
GRAPH = """\
* c292c49 Rename line five
| * d07a283 Shout line five
| * 611c29a Add f30
|/
* 920afc6 Add f20
* 729373a Add f19
* 8e5540c Fix the rounding
"""
RULED = (
    """\
id   customer  total  state
---  --------  -----  ------
"""
    + "".join(f"{n:<3}  c{n % 5:<7}  {n:<5}  paid  \n" for n in range(1, 30))
    + "30   c1        9      failed\n"
)
CHAINED = """\
test_convert (bank.Accounts.test_convert) ... ERROR

======================================================================
ERROR: test_convert (bank.Accounts.test_convert)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/srv/bank.py", line 15, in test_convert
    self.rates["CHF"]
KeyError: 'CHF'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/bank.py", line 17, in test_convert
    raise RuntimeError("no rate for CHF") from e
RuntimeError: no rate for CHF

----------------------------------------------------------------------
Ran 1 test in 0.002s

FAILED (errors=1)
"""
FRAMES = "Error #{}: LEAK 150 bytes\n# 0 malloc [a.c:25]\n# 1 start [b.c:8]\n# 2 main [c.c:7]\n\n"
MAVEN = "[INFO] Compiling 2 source files\n" + "".join(
    f"[WARNING] /srv/A{n}.java:[{n},5] [DefaultPackage] No default package, please\n"
    for n in range(1, 15)
)
PYLINT = "************* Module a\n" + "".join(
    f"src/a.py:{n}: [C0103(invalid-name), ] Name n{n} is odd\n" for n in range(1, 14)
)
CPPLINT = "".join(
    f"src\\a.cpp({n}):  Tab found; use spaces  [whitespace/tab] [1]\n" for n in range(14)
)
PROPERTIES = "".join(f"{name}: {at * 17} kB\n" for at, name in enumerate(
    ["MemTotal", "MemFree", "MemAvailable", *(f"Kind{chr(65 + n)}" for n in range(26))], start=9
))  # fmt: skip

STARTED = "2015-07-29 17:{:02}:41 - INFO  [main] - Session {} was opened by client {}\n"
SERVED = "".join(STARTED.format(n % 60, n * 77, n) for n in range(300)) + "".join(
    f"2015-07-29 18:{n}:24 - WARN  [Recv:{n}] - Connection broken for id {n * 31}\n"
    for n in range(11, 51)
)
LISTED_LOG = "".join(
    f"- 11315664{n:02} 2005.11.09 dn{n} crond[29{n}]: session opened\n" for n in range(10, 60)
)
RUBOCOP = (
    "Inspecting 5 files\nC.CCC\n\nOffenses:\n\n"
    + "".join(f"app/a.rb:{n}:81: C: Line is too long. [83/80]\n  x = 1\n" for n in range(1, 20))
    + "\n5 files inspected, 19 offenses detected\n"
)
HLINT = "".join(
    f"src/A.hs:{n}:18: Suggestion: Redundant bracket\nFound:\n  (f {n})\n\n" for n in range(1, 15)
)

TEMPLATES = (
    "a.cpp:6:143: error: 'struct P' has no member named 'y'\n"
    + "".join(
        f"/usr/include/c++/12/f.h:{n}:5: note: argument deduction failed\n" for n in range(30)
    )
    + "/usr/include/c++/12/f.h:408:20: error: no match for 'operator<'\n"
)

MADE = "".join(
    f"gcc -c src/m{n}.c -o build/m{n}.o\n"
    + (f"make[1]: *** [Makefile:12: build/m{n}.o] Error 1\n" if n in (22, 33) else "")
    for n in range(10, 60)
)

VALGRIND = """\
==9== Memcheck, a memory error detector
==9== Invalid write of size 1
==9==    at 0x48: dup (kv.c:7)
==9==    by 0x49: main (main.c:12)
==9==
==9== Process terminating with default action of signal 11 (SIGSEGV)
==9==  Access not within mapped region at address 0x0
==9==    at 0x10: main (main.c:42)
==9==
==9== ERROR SUMMARY: 47 errors from 27 contexts (suppressed: 0 from 0)
"""
TIDY = "".join(
    f"/srv/app/{name}.c:{n}:5: warning: {said} [{code}]\n"
    for name, n, said, code in [
        ("main", 3, "variable name 'p' is too short", "readability-identifier-length"),
        ("kv", 9, "use of memory after it is released", "clang-analyzer-unix.Malloc"),
        *(("main", n, "'int' is a magic number", "readability-magic-numbers")
          for n in range(20, 32)),
    ]
)  # fmt: skip
RUSTC = """error[E0382]: use of moved value: `t`
  --> src/cache.rs:57:9
   |
57 |     Error::Bad(t) => t.failed(),
   |     ^ value used here after move
   |
note: this error is about a moved value
  --> src/cache.rs:50:1

error: could not compile `cache` (lib) due to 1 previous error
"""
MESON = "".join(f"[{n}/40] cc -Wl,--no-undefined t{n}.c\n" for n in range(1, 40)) + (
    "\nOk:                 12  \nExpected Fail:      0   \nFail:               0   \n"
)
PROVE = """\
t/01-grid.t ..
ok 1 - opens
not ok 2 - closes # TODO later
1..2
ok
Can't locate Geo/Shape.pm in @INC at t/06-shapes.t line 2.
Files=2, Tests=23,  0 wallclock secs
Result: FAIL
"""
COMPARED = """\
There was 1 failure:

1) CartTest::testTotal
Failed asserting that two strings are equal.
--- Expected
+++ Actual
@@ @@
-'12,00'
+'11,00'

/srv/tests/CartTest.php:9

FAILURES!
Tests: 3, Assertions: 3, Failures: 1.
"""
POSTGRES = (
    "".join(
        f'2026-11-23 20:51:{n:02}.542 UTC [1{n}] app@shop ERROR:  relation "r{n}" does not exist\n'
        for n in range(10, 30)
    )
    + "2026-11-23 20:52:01.001 UTC [99] LOG:  server process (PID 7) was terminated by signal 9\n"
)
INVALID = (
    "app@1.0.0 /srv/app\n"
    + "".join(f"├── m{n}@1.0.{n}\n" for n in range(60))
    + ('├── fdir@6.0.0 invalid: "^5" from node_modules/x\n└── UNMET DEPENDENCY ghost@1\n')
)
GFORTRAN = "".join(
    f"grid.f90:{n}:16:\n\n   {n} |     print *, a\n      |       1\nError: {said} at (1)\n"
    for n, said in ((37, "PRINT not allowed"), (41, "Missing argument"))
)
MARKDOWNLINT = "Summary: 14 error(s)\n" + "".join(
    f"docs/a.md:{n} error MD012/no-multiple-blanks Multiple blank lines\n" for n in range(1, 15)
)
BEHAVE = (
    "8 scenarios passed, 4 failed, 0 skipped\n43 steps passed, 4 failed, 4 error, 3 undefined\n"
)
LSOF = "COMMAND  PID  USER  FD  NAME\n" + "".join(
    f"python   12   root  {n}  {name}\n"
    for n, name in enumerate([*["/srv/lib/a.so"] * 40, "/srv/gone.db (deleted)"])
)
ERROR_EX = INVALID.replace("m7@", "error-ex@")
NEXT = "Failed to compile.\n\n" + "".join(
    f"./app/{page}.tsx\nModule not found: Can't resolve '{page}'\n\n" for page in ("a", "b", "c")
)
NGINX = "".join(
    f"2026/11/23 01:0{n % 10}:10 [{'error' if n > 55 else 'notice'}] {n}#{n}: worker {n} left\n"
    for n in range(60)
)
GREP_P = "".join(
    f"src/m{n}.py={n + 1}=def read_{n}(path):\nsrc/m{n}.py:{n + 5}:    return open(path)\n--\n"
    for n in range(12)
)
RANKS = "Rank  Team     Points  Change\n" + "".join(
    f"{n:<4}  team {n:<2}  {1000 - 7 * n:<6}  {n % 5}\n" for n in range(1, 41)
)
CONFLICT = """\
diff --cc src/price.py
index 1111111,2222222..0000000
--- a/src/price.py
+++ b/src/price.py
@@@ -1,5 -1,5 +1,9 @@@
  def net(price):
++<<<<<<< HEAD
 +    return price * Decimal('1.19')
++=======
+     return price * Decimal('1.07')
++>>>>>>> feature/vat
  
  def gross(price):
"""
TOLD = {
    "git grep -p": (GREP_P, "listing", ["12 lines in 12 files"]),
    "ranks": (RANKS, "table", ["40 rows, 4 columns", "720 (team 40) to 993 (team 1)"]),
    "a conflict": (CONFLICT, "diff", ["Decimal('1.19')", "Decimal('1.07')"]),
    "nginx": (NGINX, "log", ["left (x4)"]),
    "gfortran": (GFORTRAN, "log", ["grid.f90:37:16", "PRINT not allowed", "grid.f90:41:16"]),
    "markdownlint": (MARKDOWNLINT, "log", ["14 messages in 1 file: MD012 x14"]),
    "behave": (BEHAVE, "log", ["8 scenarios passed, 4 failed", "43 steps passed"]),
    "lsof": (LSOF, "table", ["/srv/gone.db (deleted)"]),
    "valgrind": (VALGRIND, "log", ["47 errors from 27 contexts", "Invalid write of size 1",
                                   "signal 11 (SIGSEGV)"]),
    "clang-tidy": (TIDY, "log", ["14 messages in 2 files (/srv/app",
                                 "use of memory after it is released", "kv.c:9:5"]),
    "cargo": (RUSTC, "log", ["use of moved value: `t`", "src/cache.rs:57:9"]),
    "meson": (MESON, "plain", ["Ok: 12; Expected Fail: 0; Fail: 0"]),
    "prove": (PROVE, "log", ["Result: FAIL", "Can't locate Geo/Shape.pm"]),
    "phpunit": (COMPARED, "log", ["Failures: 1", "CartTest::testTotal"]),
    "postgres": (POSTGRES, "log", ["terminated by signal 9", "does not exist (x20)"]),
    "npm ls, amiss": (INVALID, "listing", ["62 entries", "fdir@6.0.0 invalid", "ghost@1"]),
    "make": (MADE, "log", ["build/m22.o] Error 1", "build/m33.o] Error 1"]),
    "g++": (TEMPLATES, "log", ["no member named 'y'", "no match for 'operator<'"]),
    "zookeeper": (SERVED, "log", ["Connection broken for id 341…1550 (x40)"]),
    "thunderbird": (LISTED_LOG, "plain", ["session opened"]),
    "rubocop": (RUBOCOP, "log", ["19 offenses detected", "Line is too long. [83/80] x19"]),
    "hlint": (HLINT, "log", ["14 messages in 1 file", "Redundant bracket x14"]),
    "ls -lR": (LISTED, "listing", ["3 files and 1 folder", "large.sql 94208"]),
    "find -ls": (FOUND, "listing", ["40 files", "below /srv/app", "b/m39.py 1039"]),
    "npm ls": (TREE, "listing", ["6 entries, 3 at the top", "mocha@10.2.0", "left-pad@1.3.0"]),
    "git log --graph": (GRAPH, "listing", ["6 commits", "Shout line five"]),
    "sqlite3 -column": (RULED, "table", ["30 rows, 4 columns", "paid x29, failed x1"]),
    "unittest": (CHAINED, "log", ["RuntimeError: no rate for CHF", "/srv/bank.py:17"]),
    "drmemory": ("".join(map(FRAMES.format, range(1, 9))), "log", ["Error #1…8: LEAK 150 bytes"]),
    "maven": (MAVEN, "log", ["14 messages in 14 files", "[DefaultPackage]"]),
    "pylint": (PYLINT, "log", ["13 messages in 1 file: C0103 x13", "first at src/a.py:1"]),
    "cpplint": (CPPLINT, "log", ["whitespace/tab x14", "Tab found; use spaces x14"]),
    "modelsim": ("step 1 of 9\n" * 30 + "** Fatal: (SIGSEGV) Bad pointer\n", "log",
                 ["Fatal: (SIGSEGV) Bad pointer"]),
    "meminfo": (PROPERTIES, "plain", ["MemTotal", "MemAvailable"]),
}  # fmt: skip


@each("tool", TOLD)
def test_what_decides_is_told(tool: str) -> None:
    text, kind, parts = TOLD[tool]
    digest = engine.digest(text, 120)
    assert digest.kind == kind
    assert [part for part in parts if part not in digest.summary] == [], digest.summary


@each(
    ("text", "part"),
    [
        (RUSTC, "2 messages"),
        (RUSTC, "with failure words"),
        (MESON, "failing"),
        (PROVE, "failed: not ok"),
        (COMPARED, "file changed"),
        (POSTGRES, "exit"),
        (ERROR_EX, "amiss: error-ex@1.0.7"),
        (NEXT, "defines"),
        ("│ --- a.tgz\n├── +++ b.tgz\n" + "│ │ -x = 1\n│ │ +x = 2\n" * 40, "rows"),
    ],
)
def test_what_is_not_so_is_not_told(text: str, part: str) -> None:
    assert part not in engine.digest(text, 120).summary


SESSION = (
    "$ ruff check .\nAll checks passed!\n$ mypy .\n"
    + "".join(f"a/m{n}.py:{n + 3}: note: See the manual\n" for n in range(9))
    + "Found 1 error in 1 file (checked 48 source files)\n$ pytest -q\n....\n350 passed in 12.40s\n"
)
OVERFLOWN = "".join(
    f"==7== Invalid write of size {n}\n==7==    at 0x1{n}: fill (inv.c:{n * 5})\n==7== \n"
    for n in (4, 5)
)
COMPARED_VALUES = "".join(
    f"  {n}) Failure:\nT#test_{n} [t.rb:{n}]:\n--- expected\n+++ actual\n@@ -1 +1 @@\n"
    f"-{n}\n+{n + 1}\n\n"
    for n in range(1, 4)
)


def test_of_a_session_the_failed_command_comes_first_and_the_others_are_told() -> None:
    digest = engine.digest(SESSION, 200)
    assert digest.key.startswith("Found 1 error in 1 file")
    assert "350 passed in 12.40s" in digest.summary


def test_errors_told_as_one_have_each_its_place() -> None:
    assert "(inv.c:20, inv.c:25) (x2)" in engine.digest(OVERFLOWN * 2, 200).summary.replace(
        "x4", "x2"
    )


def test_the_difference_of_two_values_is_no_patch() -> None:
    assert "changed" not in engine.digest(COMPARED_VALUES, 300).summary


def test_the_counts_of_tests_are_those_that_the_tool_states() -> None:
    tests = "".join(f"ok {n} - case {n}\n" for n in range(1, 29))
    stated = "# tests 29\n# pass 27\n# fail 1\n# todo 1\n"
    text = f"TAP version 13\n{tests}not ok 29 - hangs\n1..29\n{stated}"
    assert engine.digest(text, 200).key == "1 failed, 1 todo, 27 passed of 29"


def test_a_success_is_not_the_key_of_a_run_in_which_something_failed() -> None:
    run = "FAIL shop/inv 0.1s\npanic: test timed out after 3s\n\nok  \tshop/tax\t0.002s\n"
    assert "FAIL" in engine.digest(run, 200).key


def test_a_name_of_several_parts_is_no_failure_but_what_is_unmet_is() -> None:
    rows = [f"loaded numpy.exceptions from cache {n}" for n in range(9)]
    assert not lines.Lines("\n".join(rows)).failing
    assert lines.Lines("dependency ghost unmet").failing == [0]


def test_a_message_that_its_tool_wraps_has_the_code_at_its_end() -> None:
    short = "".join(
        f"a.py:{n}: error: No annotation  [no-def]\n    def f{n}():\n" for n in range(9)
    )
    long = "".join(
        f"b.py:{n}: error: No annotation for one\n    or more  [no-def]\n" for n in range(9)
    )
    summary = engine.digest(short + long, 200).summary
    assert "no-def x18" in summary and "one or more" in summary


def test_the_branches_and_tags_at_a_commit_are_told_also_at_a_merge() -> None:
    log = [f"{n * 7919 + 1234567:07x} step {n} of the work" for n in range(40)]
    log[20] = "a0f00ff (HEAD -> main, tag: v2.1.0) Merge branch 'topic'"
    summary = engine.digest("\n".join(log) + "\n", 120).summary
    assert "a0f00ff (HEAD -> main, tag: v2.1.0) Merge branch" in summary


def test_of_files_that_were_checked_the_ones_that_failed_are_told() -> None:
    rows = [f"pkg/m{n % 9}/file_{n}.py: {'FAILED' if n in (41, 77) else 'OK'}" for n in range(90)]
    summary = engine.digest("\n".join(rows) + "\n", 120).summary
    assert "file_41.py FAILED" in summary and "file_77.py FAILED" in summary and "(x88)" in summary


def test_checks_whose_result_stands_behind_dots_are_told_by_name() -> None:
    checks = "".join(
        f"{name:.<60}{'Failed' if name in ('wrap', 'spelling (all files)') else 'Passed'}\n"
        for name in ("wrap", "imports", "spelling (all files)", "keys")
    )
    summary = engine.digest(checks, 80, status=1).summary
    assert "wrap … Failed" in summary and "spelling (all files) … Failed" in summary


def test_numbers_that_fall_with_some_ups_are_told_as_falling() -> None:
    falling = [f"epoch {n} loss {value}" for n, value in enumerate((90, 70, 74, 40, 44, 12, 15))]
    assert folding.alike(falling, 200) == "epoch 0…6 loss 90…12"
    mixed = [f"step {n} took {value}" for n, value in enumerate((50, 90, 10, 60))]
    assert folding.alike(mixed, 200) == "step 0…3 took 10…90"


def a_run_of_several(form: str) -> str:
    """Two of three things that run at once fail, one with an error that the other has too."""
    same = "src/db.ts(14,9): error TS2339: Property 'rate' does not exist on type 'Row'."
    said = [
        *(("shop/ui", f"step {n} of 4 is done") for n in range(1, 5)),
        *(("shop/api", f"step {n} of 3 begins") for n in range(1, 4)),
        *(("shop/tax", f"step {n} of 3 begins") for n in range(1, 4)),
        *(("shop/api", same), ("shop/tax", same)),
        ("shop/tax", "src/due.ts(8,1): error TS2307: Cannot find module 'money'."),
    ]
    lines = "".join(f"{form.format(name)}{words}\n" for name, words in said)
    return f"running 3 of 5\n{lines}\nall: 1 fine, 2 not\n"


@each("form", ["{}: ", "{}:build: ", "{} | ", "[{}] ", "{} build: "])
def test_the_same_error_of_two_things_that_run_at_once_is_told_of_each(form: str) -> None:
    name = form.strip(":| ").strip("[]")
    digest = engine.digest(a_run_of_several(form), 200, status=1)
    by_aspect = {row.aspect: row.finding for row in digest.rows}
    api, tax = (by_aspect[name.format(one)] for one in ("shop/api", "shop/tax"))
    assert "Property 'rate' does not exist" in api and "Cannot find module" not in api
    assert "Property 'rate' does not exist" in tax and "Cannot find module" in tax
    assert "errors in 2: " in digest.summary and digest.kind == "log"


def test_lines_that_begin_with_a_level_or_a_place_are_no_things_that_run_at_once() -> None:
    rows = [("a/b.c:7", "error: no x"), ("INFO", "x"), ("[error]", "failed"), ("[gw0]", "failed")]
    text = "".join(f"{name}: {said}\n" for name, said in rows * 9)
    assert "errors in" not in engine.digest(text, 200).summary


def test_lines_with_keywords_of_code_but_no_definition_are_no_code() -> None:
    text = "".join(f"@shop/a{n} imports {{\n  if (x{n}) {{\n  }}\n}}\n" for n in range(9))
    assert "definitions" not in engine.digest(text, 200).summary


DESCRIBED = (
    "Name: mill-7\nNode: n3\n"
    + "".join(f"Label {n}: v{n}\n" for n in "abcdefghij")
    + """\
Parts:
  saw:
    Probe:      every=10s #success=1 #failure=3
    State:      Waiting
      Reason:   StartLoop
    Last State: Ended
      Reason:   Error
      Exit Code: 137
    Ready:      False
    Starts:     6
  lamp:
    State:      Running
    Ready:      True
    Error Count: 2
Events:
  Kind    Reason  Age  Message
  ----    ------  ---  -------
  Normal  Made    9m   Made the saw
  Warning Dull    8m   Probe failed: answered with status: 503
"""
)


def test_a_description_tells_what_became_of_each_thing() -> None:
    digest = engine.digest(DESCRIBED, 150)
    assert digest.key == "Parts › saw › State Waiting › Reason StartLoop"
    by_aspect = {row.aspect: row.finding for row in digest.rows}
    assert by_aspect["Parts › saw"].startswith("Last State Ended › Reason Error; Exit Code 137")
    assert by_aspect["Parts › lamp"] == "Error Count 2"
    assert "Probe failed: answered with status: 503" in digest.summary


COUNTED_CALLS = "calls  errors  call\n-----  ------  -----\n" + "".join(
    f"{900 + n:<5}  {error:<6}  c_{n}\n" for n, error in enumerate(["", "", 1, 12, 700, 981, "", 3])
)


def test_of_a_column_of_errors_the_highest_is_told() -> None:
    summary = engine.digest(COUNTED_CALLS, 100).summary
    assert "1 (c_2) to 981 (c_5); next 700 (c_4), 12 (c_3)" in summary


CLICKED = """\
Running 9 tests

  ✓  1 [a] › cart.spec.ts:5:7 › cart › opens (812ms)
  ✘  2 [a] › cart.spec.ts:18:7 › cart › keeps its items (5.3s)

  1) [a] › cart.spec.ts:18:7 › cart › keeps its items ──────────────

    Error: the text of the element differs

    Expected string: "3"
    Received string: "0"
      -  waiting for the element
        at /srv/shop/cart.spec.ts:24:43

  1 failed
    [a] › cart.spec.ts:18:7 › cart › keeps its items ───────────────
  2 skipped
  6 passed (1.4m)
"""


def test_a_browser_test_is_told_once_with_the_values_that_it_compared() -> None:
    digest = engine.digest(CLICKED, 150)
    assert digest.key == "1 failed; 2 skipped; 6 passed (1.4m)"
    (failed,) = [row.finding for row in digest.rows if row.aspect == "failed"]
    assert failed.count("keeps its items") == 1
    assert 'Error: the text of the element differs, Expected string: "3"' in failed


MERGED = f"""\
$ git merge topic
CONFLICT (content): Merge conflict in src/price.py
CONFLICT (modify/delete): docs/old.md deleted in HEAD and modified in topic.  Version topic stays.
Automatic merge failed; fix conflicts and then commit the result.
$ git status
  (use "git add <file>..." to mark resolution)
	both modified:   src/price.py
$ git diff
{CONFLICT}"""


def test_a_file_in_conflict_is_told_once_and_so_is_each_conflict() -> None:
    digest = engine.digest(MERGED, 200, status=1)
    failed = [row.finding for row in digest.rows if row.aspect == "failed"]
    assert "docs/old.md deleted in HEAD" in failed[0] and "src/price.py" in failed[0]
    assert "1 file in conflict" in digest.summary and "(in conflict)" not in digest.summary
    assert digest.summary.count("Automatic merge failed") == 1


UPLOADED = "".join(
    f"upload of artifact {n} to eu-{n % 5} stored in {n * 3} ms ({'abc'[n % 3]})\n"
    + "-----ERROR: the bucket rejected the object: it differs\n" * (n == 13)
    + "--------ERROR--------\nno key for macOS\n" * (n == 33)
    + "##########ERROR in signer: no disk##########\n" * (n == 40)
    for n in range(1, 60)
)


def test_an_error_at_a_rule_of_marks_or_between_two_is_told() -> None:
    digest = engine.digest(UPLOADED, 200)
    failed = "; ".join(row.finding for row in digest.rows if row.aspect == "failed")
    assert (
        digest.kind == "log" and digest.key == "ERROR: the bucket rejected the object: it differs"
    )
    assert "ERROR no key for macOS" in failed and "ERROR in signer: no disk" in failed
    assert "(x20)" in digest.summary  # and the others are no paragraphs


REPLAYED = "".join(
    f"replay of failed batch {n * 10 - 9}..{n * 10}: done, 10 rows recovered\n"
    for n in range(1, 41)
)


@each("end", ["replayed failed batches 1-400: 400 recovered, 0 left", "errors 1-9 written: ok"])
def test_a_range_of_failures_that_were_mended_is_no_failure(end: str) -> None:
    digest = engine.digest(f"$ ./replay\n{REPLAYED}{end}\nfinished\n", 150)
    assert "failed" not in [row.aspect for row in digest.rows] and "1 line" not in digest.summary
    assert end in digest.summary


def test_a_range_of_failures_of_which_some_are_left_is_one() -> None:
    end = "replayed failed batches 1-400: 399 recovered, 1 left\n"
    assert lines.Lines(f"{REPLAYED}{end}").failing == [40]


LONG = "".join(
    f"FAILED tests/test_{name}.py::test_{name} - ValueError: {'the value that was read ' * 9}\n"
    for name in ("one", "two", "three", "four", "five", "six")
)


def test_long_failures_are_cut_before_one_of_them_is_only_counted() -> None:
    digest = engine.digest(f"{LONG}6 failed in 3.2s\n", 300)
    names = ("one", "two", "three", "four", "five", "six")
    assert [name for name in names if f"test_{name} -" not in digest.summary] == []


ADVISED = "".join(
    f"src/a.c:{n}:5: warning: {said} [{code}]\n"
    for n, (said, code) in enumerate([
        *((f"variable name 'v{n}' is too short", "naming") for n in range(20)),
        ("memory at 'p' is used after it was released", "memory"),
        *((f"consider a constant for {n}, which is magic", "magic") for n in range(20)),
        ("parentheses suggested around 'x'", "parentheses"),
        ("loop over a copy could be simplified", "loops"),
    ], start=1)
)  # fmt: skip


def test_what_a_program_does_wrong_comes_before_how_it_is_written() -> None:
    rows = [row.finding for row in engine.digest(ADVISED, 65).rows if row.aspect == "warning"]
    assert rows[0].startswith("memory memory at 'p' is used after it was released (src/a.c:21:5)")


@each("line", [
    "hint: Resolve all conflicts by hand",
    "a.py:7: note: See the page about missing imports",
    "test_order (t.RouteTest.test_order) ... expected failure",
])  # fmt: skip
def test_what_only_adds_to_a_message_or_was_expected_is_no_failure(line: str) -> None:
    assert lines.Lines(f"{line}\nstep 1 of 2\n").failing == []


def test_a_warning_that_nothing_raised_a_heading_and_a_test_to_do_are_no_failures() -> None:
    text = (
        "ResourceWarning: Enable traces to get the traceback of the error\n"
        "% errors / warnings by module\n-----------------------------\n"
        "✖ sums up (0.31ms) # not decided yet\nran 3 of 3\n"
    )
    assert "failed" not in [row.aspect for row in engine.digest(text, 120).rows]


@each("line", [
    "node.c:19:5: warning: 'copy' output truncated before its end",
    "E         ...Full output truncated, use '-vv' to show",
])  # fmt: skip
def test_a_message_about_something_truncated_does_not_say_that_the_text_is(line: str) -> None:
    assert "lacks a part" not in engine.digest(f"{line}\n" * 3 + "done\n", 120).summary


def test_a_package_is_not_amiss_by_its_name() -> None:
    tree = "app v1.0.0\n" + "".join(
        f"├── {name} v5.0.{n}\n" for n, name in enumerate(("async-timeout", "errorgroup", "a", "b"))
    ) + "└── ghost@1 missing\n"  # fmt: skip
    digest = engine.digest(tree, 120)
    assert [row.finding for row in digest.rows if row.aspect == "amiss"] == ["ghost@1 missing"]


def a_request(n: int, what: str, status: int) -> str:
    return f'10.0.0.{n} - - [04/Mar/2025:10:00:{n:02} +0000] "{what} HTTP/1.1" {status} 12 "-"\n'


def test_requests_that_were_refused_are_told_by_status_with_who_made_them() -> None:
    log = "".join(a_request(n, f"GET /items/{n}", 200) for n in range(30))
    log += a_request(7, "POST /login?next=%2F", 401) * 5 + a_request(8, "GET /old.js", 404)
    log += a_request(9, "POST /pay", 503) + a_request(7, "POST /login", 401)
    summary = engine.digest(log, 200).summary
    assert "HTTP 401: POST /login x6 (10.0.0.7 x6)" in summary
    assert "HTTP 404: GET /old.js x1" in summary and "HTTP 503: POST /pay x1" in summary


def test_a_test_is_told_by_what_it_says_and_not_by_its_source() -> None:
    text = "1..4\nok 1 opens\n" + (
        "not ok 2 shuts\n# (in test file t/door.t, line 7)\n#   `[ -e door ]' failed\n# it jams\n"
        "not ok 3 locks\n# (from function `l' in test file t/door.t, line 9)\n#   `lock' failed\n"
    )
    digest = engine.digest(text, 150)
    assert digest.key == "2 failed, 1 passed, 1 not run of 4"
    assert "it jams (t/door.t:7)" in digest.summary
    assert "locks: `lock' failed (t/door.t:9)" in digest.summary


BORDERED = " no |   who    | minutes |  state  \n----+----------+---------+---------\n" + "".join(
    f" {n:>2} | Dr. A{n % 4}   | {20 + n:>7} | {'late' if n % 3 else 'done'}    \n"
    for n in range(72)
)


def test_rows_below_a_rule_with_crosses_are_counted_without_what_follows_them() -> None:
    text = f"=== all\n{BORDERED}(72 rows)\n\nERROR: minutes of row 9 are not in the other table\n"
    summary = engine.digest(text, 150).summary
    assert "72 rows, 4 columns: no, who, minutes, state" in summary
    assert summary.startswith("ERROR: minutes of row 9") and "73" not in summary


def test_of_found_lines_the_one_that_defines_the_name_is_told() -> None:
    hits = [f"api/m{n % 30}.py:{n}:    token = old_token(user_{n})" for n in range(90)]
    hits[50] = "auth/tokens.py:31:def old_token(user, ttl=86400):"
    assert hits[50] in engine.digest("\n".join(hits) + "\n", 120).summary


def test_the_one_negative_number_of_a_column_is_told() -> None:
    rows = "".join(f"o{n},{-4999 if n == 17 else 100 + n % 9},{n % 7}\n" for n in range(60))
    assert "total: -4999" in engine.digest(f"order,total,lines\n{rows}", 150).summary


def test_a_frame_is_no_failure_by_the_name_of_its_file() -> None:
    trace = "Traceback (most recent call last):\n" + "".join(
        f'  File "/srv/crash.py", line {n}, in load\n    open(path{n})\n' for n in range(4, 9)
    )
    digest = engine.digest(f"step 1\n{trace}OSError: no such file: 'a.json'\nexit status 0\n", 200)
    assert 'File "' not in "".join(row.finding for row in digest.rows if row.aspect == "failed")


def test_messages_with_a_name_of_words_for_their_rule_are_counted_by_it() -> None:
    messages = "".join(f"shop/m{n % 3}.py:{n}:1: odd-name: Rename it, n{n}\n" for n in range(1, 15))
    messages += "shop/m1.py:9:1: no-sum Add `sum` to the row\n"
    digest = engine.digest(f"{messages}Found 15 errors.\n", 150)
    assert "15 messages in 3 files: odd-name x14, no-sum x1" in digest.summary


def test_a_module_called_traceback_is_no_failure() -> None:
    rows = "".join(f"import time: {n} | {n * 7 % 90} | part{n}\n" for n in range(9))
    digest = engine.digest(f"{rows}import time: 5 | 8 | traceback\n", 100)
    assert "failed" not in [row.aspect for row in digest.rows]


NAMES = [
    "copying shop/errorcodes.py -> build/shop",
    "fetch GET 200 https://registry.example/json-parse-errors 58ms",
    "extracting ./dist/errors/index.css",
    "linked /opt/shop/failed to its target",
    '"node_modules/assertion-error": {',
]


@each("line", NAMES)
def test_a_word_of_failure_in_a_path_or_an_address_is_none(line: str) -> None:
    assert lines.Lines(f"begun\n{line}\n").failing == []


@each("line", ["read/write error on disk 1", "cat: /srv/a.txt: No such file", "I/O error, sector 2",
               "/srv/app.js:3: error: no name"])  # fmt: skip
def test_a_failure_beside_a_path_is_one(line: str) -> None:
    assert lines.Lines(f"begun\n{line}\n").failing == [1]


TREES = """\
[ 4096]  shop/till
├── [ 1188]  __init__.py
├── [  310]  coins.py
├── [  502]  notes.py
├── [17520]  exceptions.cpython-311.pyc
└── [  104]  timeouts.py
[ 4096]  shop/mail
├── [  610]  errors.cpython-311.pyc
├── [ 1321]  sender.py
├── [  422]  reader.py
├── [  812]  parser.py
└── [  240]  timeouts.py
"""


def test_the_entries_of_two_trees_stand_under_each_and_a_name_is_not_amiss() -> None:
    digest = engine.digest(TREES, 250)
    by_aspect = {row.aspect: row.finding for row in digest.rows}
    assert "amiss" not in digest.summary
    assert "exceptions" in by_aspect["[ 4096] shop/till"]
    assert "sender.py" in by_aspect["[ 4096] shop/mail"] and "mail" not in by_aspect
    npm = TREE + "├── parse-conflict-json@5.0.1 deduped\n└── UNMET DEPENDENCY is-odd@3.0.1\n"
    amiss = [row.finding for row in engine.digest(npm, 250).rows if row.aspect == "amiss"]
    assert amiss == ["UNMET DEPENDENCY is-odd@3.0.1"]


USED = """\
Usage: till [options] <path-to-till>

Options
  -S <path-to-till>            = Name a till.
  -B <path-to-box>, --box=DIR  = Name a box.
  -C <first-coin>              = Begin with a coin.
  -D <name>=<value>            = Define a coin.
  -U <globbing_expr>           = Forget coins.
  --fresh                      = Begin afresh.
  -q/--quiet                   = Say nothing.
"""


def test_the_words_of_a_placeholder_are_no_option() -> None:
    digest = engine.digest(USED, 200)
    assert (
        digest.kind == "help" and "-S, -B/--box, -C, -D, -U, -q/--quiet, --fresh" in digest.summary
    )
    assert "/-to-" not in digest.summary and "-coin" not in digest.summary


def test_a_word_that_a_page_parts_is_whole() -> None:
    assert reading.wrapped("it was opened be‐", "fore dawn") == "it was opened before dawn"
    assert reading.wrapped("up to the cbs‐", "Größe") == "up to the cbs‐Größe"


def test_entries_of_a_listing_that_are_not_shown_are_counted() -> None:
    hits = "".join(f"shop/till_{n % 9}.py:{n}:from decimal import part_{n}\n" for n in range(700))
    digest = engine.digest(hits, 200)
    line = next(row.finding for row in digest.rows if row.aspect == "line")
    shown = line.count(":from")
    assert digest.summary.endswith(f"line: +{700 - shown} more")
    assert "… shop" not in digest.summary  # two of them are never one


def test_objects_one_after_the_other_are_rows_of_one_list() -> None:
    runs = "".join(
        f'{{\n  "run": {n},\n  "state": "{"lost" if n == 7 else "fine"}",\n  "on": "a{n % 3}"\n}}\n'
        for n in range(40)
    )
    summary = engine.digest('{\n  "all": 40\n}\n' + runs, 200).summary
    assert "list of 41: 41 objects" in summary and "lost" in summary
    assert summary.count("run, state, on") < 2


def test_the_types_below_the_names_of_columns_are_no_row() -> None:
    box = "┌──────┬────────┐\n│ zone │ fare   │\n│ text │ double │\n├──────┼────────┤\n"
    box += "".join(f"│ z{n:<3} │ {n:>6} │\n" for n in range(30)) + "└──────┴────────┘\n"
    summary = engine.digest(box, 150).summary
    assert "30 rows, 2 columns: zone, fare" in summary and "double" not in summary


def test_a_failure_below_a_number_is_told_by_its_name_and_what_differs() -> None:
    text = "".join(f"Shift#test_{n} = 0.00 s = .\n" for n in range(60))
    text += "\nFinished in 0.1s.\n\n  1) Failure:\nShift#test_print [s_test.rb:19]:\n--- expected\n"
    text += '+++ actual\n@@ -1 +1 @@\n-"Mia  early"\n+"Mia early"\n\n60 runs, 1 failures\n'
    summary = engine.digest(text, 150).summary
    assert 'Shift#test_print: expected "Mia early", actual "Mia early" (s_test.rb:19)' in summary


def test_few_errors_among_many_warnings_are_told_each_with_its_place() -> None:
    warned = "".join(f"src/m{n}.c:{n}:1: warning: unused variable 'v{n}'\n" for n in range(1, 40))
    wrong = "".join(
        f"src/{name}.c:{n}:9: error: expected type '{name}' but it is '{other}'\n"
        for n, (name, other) in enumerate((("Double", "Int"), ("Text", "Date")), start=4)
    )
    summary = engine.digest(warned + wrong, 250).summary
    assert "expected type 'Double' but it is 'Int' (src/Double.c:4:9)" in summary
    assert "expected type 'Text' but it is 'Date' (src/Text.c:5:9)" in summary


@each("form", ("{file}({line},7): {level} CS8602: {said} [{file}proj]",
               "{letter}: file:///srv/{file}:{line}:7 {said}"))  # fmt: skip
def test_messages_are_known_in_the_forms_of_their_compilers(form: str) -> None:
    rows = [form.format(file=f"Pool{n}.cs", line=n, level="warning", letter="w", said="may be null")
            for n in range(1, 20)]  # fmt: skip
    rows.append(form.format(file="Main.cs", line=88, level="error", letter="e", said="is no Long"))
    digest = engine.digest("\n".join(rows), 250)
    assert "20 messages in 20 files" in digest.summary
    error = next(row.finding for row in digest.rows if row.aspect == "error")
    assert "is no Long" in error and "Main.cs" in error and "null" not in error


def test_what_warns_among_many_that_pass_is_told() -> None:
    rows = [f"{n} of 40 PASS not_null_{n * 'x'}_id {'.' * (50 - n)} [PASS in 0.0{n % 9}s]"
            for n in range(1, 41)]  # fmt: skip
    rows[26] = "27 of 40 WARN 7 unique_order_customer ..................... [WARN 7 in 0.01s]"
    assert "WARN 7 unique_order_customer" in engine.digest("\n".join(rows), 120).summary


def test_a_license_above_an_output_is_not_told() -> None:
    legal = "Copyright (C) 2012 - 2020 The Authors\nPermission to use it is hereby granted\n"
    names = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta")
    steps = "".join(f"Pass {name} removes the {other} of {name}\n"
                    for name in names for other in names)  # fmt: skip
    summary = engine.digest("Linker 2.4\n" + legal + steps + "36 passes done\n", 100).summary
    assert "36 passes done" in summary and "hereby" not in summary and "Copyright" not in summary


def test_a_system_call_that_returns_is_no_failure_whatever_it_names() -> None:
    calls = "".join(f"rt_sigaction(SIG{name}, NULL, {{sa_flags=0}}, 8) = 0\n"
                    for name in ("ILL", "ABRT", "KILL", "SEGV") * 10)  # fmt: skip
    calls += "connect(3, {sa_family=AF_INET}, 16) = -1 ECONNREFUSED (Connection refused)\n"
    digest = engine.digest(calls, 120)
    assert "ECONNREFUSED" in digest.summary
    assert not any(row.aspect == "failed" and "SIG" in row.finding for row in digest.rows)


def test_a_host_that_failed_is_told_with_its_task_and_what_its_module_says() -> None:
    rows = [f"ok: [api-{n:02}]" for n in range(30)]
    fields = '"changed": false, "cmd": ["python3", "-c", "' + "import sys; " * 30 + '"]'
    rows.insert(0, "TASK [Check the schema] ****************************")
    rows.append(f'fatal: [api-31]: FAILED! => {{{fields}, "msg": "no such table", "rc": 3}}')
    summary = engine.digest("\n".join(rows), 150).summary
    assert "Check the schema: fatal: [api-31]: FAILED! => msg: no such table, rc: 3" in summary
    broken = "\n".join(rows).replace('"rc": 3}', '"rc"')
    assert "fatal: [api-31]" in engine.digest(broken, 150).summary


def test_the_source_that_pytest_quotes_is_not_told_beside_its_failures() -> None:
    words = ("alpha", "bravo", "carol", "delta", "early", "frank")
    rows = ["=================================== FAILURES =================================="]
    for word in words:
        rows += [
            f"___________________________________ test_{word} _____________________________",
            f"\n    def test_{word}():\n>       json.dumps({word})\n\ntests/test_{word}.py:5:",
            f"<frozen importlib.{word}>:1147: in _find_{word}",
            f"/usr/lib/python3.11/json/{word}.py:180: in default\n    def iterate({word}):",
            f"        try:\n            {word}s = iter({word})\n        else:",
            f"            return sorted({word}s, key=len)",
            f"E       TypeError: Object of type {word} is not JSON serializable",
            "----------------------------- Captured stdout call --------------------------",
            f"wrote the draft of {word}",
        ]
    rows.append("============================== 6 failed in 0.04s ==============================")
    summary = engine.digest("\n".join(rows), 500).summary
    assert "Object of type frank" in summary and "wrote the draft" in summary
    assert not [word for word in words if f"_find_{word}" in summary or f"{word}s" in summary]


def test_a_go_subtest_has_any_name() -> None:
    text = (
        "--- FAIL: TestString (0.00s)\n    --- FAIL: TestString/-3.20 (0.00s)\n"
        "        money_test.go:33: got -3.-20, want -3.20\nFAIL\nFAIL\texample.com/m\t0.02s\n"
    )
    assert "TestString/-3.20: got -3.-20" in engine.digest(text, 150).summary


def test_one_job_of_a_workflow_is_told_as_what_it_ran() -> None:
    ran = ["Run npm test", "  1) outbox loses messages:", "     AssertionError: got 987",
           "  31 passing", "  1 failing"] * 2  # fmt: skip
    rows = [f"test (20)\tTests\t2026-11-26T15:03:34.97{n:05}Z {row}" for n, row in enumerate(ran)]
    digest = engine.digest(
        "\n".join(["test (20)\tSet up\t2026-11-26T15:02:11.1769575Z Go", *rows]), 150
    )
    assert digest.kind == "log" and "2026" not in digest.summary and "1 failing" in digest.summary


def test_several_jobs_of_a_workflow_are_told_without_its_times() -> None:
    rows = [
        f"{job}\tTests\t2026-11-26T15:03:34.97{n:05}Z {row}"
        for job in ("test (20)", "test (22)")
        for n, row in enumerate(("tests/test_a.py F", f"E   ValueError: no {job[6:8]}", "1 failed"))
    ]
    summary = engine.digest("\n".join(rows), 150).summary
    assert "ValueError: no 20" in summary and "ValueError: no 22" in summary
    assert "2026" not in summary


def test_what_forces_a_replacement_comes_before_other_changes() -> None:
    changes = "".join(f"      ~ size_{n} = {n} -> {n + 1}\n" for n in range(20))
    key = '      ~ kms_key_id = "arn:' + "a" * 150 + '" -> "arn:b" # forces replacement\n'
    text = "".join(f"  # db.d{n} will be updated in-place\n{changes}" for n in range(4))
    text += f"  # db.ledger must be replaced\n{changes}{key}\nPlan: 1 to add, 4 to change.\n"
    summary = engine.digest(text, 100).summary
    assert "kms_key_id" in summary and "forces replacement" in summary


def test_where_a_searched_name_is_defined_is_told_first() -> None:
    words = ("alpha", "bravo", "carol", "delta", "early", "frank")
    rows = [f"apps/{a}/{b}.py:{n}:    {a} = get_tenant(request, strict=False)  # of {a}{b}"
            for a in words for n, b in enumerate(words, 9)]  # fmt: skip
    rows += ["core/other.py:6:def unrelated(x):  # get_tenant"]
    rows += ["core/tenancy.py:6:def get_tenant(request, *, strict=False):"]
    assert "core/tenancy.py:6:def get_tenant" in engine.digest("\n".join(rows), 150).summary


def test_the_list_below_a_verdict_is_told_with_it() -> None:
    steps = "".join(f"#{n} {n}.1 copied {chr(97 + n % 26) * 9} to /srv\n" for n in range(4, 80))
    text = f"{steps} 2 warnings found (use docker --debug to expand):\n"
    text += " - SecretInArg: a token stands in an instruction (line 14)\n"
    text += " - FromAsCasing: the casing of two words does not match (line 1)\n"
    text += "".join(f"registry/portal  3.9.{n}  {n} weeks ago  {n}31MB\n" for n in range(4))
    summary = engine.digest(text, 100).summary
    assert "SecretInArg" in summary and "FromAsCasing" in summary


def test_what_a_commit_breaks_or_takes_back_is_told_among_many() -> None:
    subjects = [f"Tidy up the {name} of part {n}" for n, name in enumerate("abcdefghijklmnop")]
    subjects[9] = 'Revert "Cache tenant rows"'
    commits = "".join(
        f"commit {n:02}{'ab12' * 9}{n:02}\nAuthor: Ada <a@b.c>\nDate:   Mon Nov 2 10:0{n % 9}\n\n"
        f"    {subject}\n\n    Because of part {n}.\n\n"
        for n, subject in enumerate(subjects)
    )
    commits = commits.replace("part 12.", "part 12.\n\n    BREAKING CHANGE: TTL is ignored now.")
    summary = engine.digest(commits, 200).summary
    assert "Revert" in summary and "TTL is ignored" in summary


def mail(sender: str, subject: str, text: str, rule: str = "", day: int = 26) -> str:
    head = f"From: {sender} <{sender.lower()}@example.org>\nDate: {day} Nov 2026, 18:42\n"
    return f"{rule}{head}Subject: {subject}\n\nHello,\n\n{text}\n\nAll the best from {sender}\n\n"


SCANNED = """\
Scan report 2026-11-26
Errors  Files  Module
     3     12  billing
ERROR: database disk is full on db-2
Uploading report... failed: 503 from s3
Job exited with code 3
"""
AFTER_TSC = """\
src/a.ts:3:7 - error TS2322: Type 'X' is not assignable to type 'Y'.

3   const a: Y = x;
          ~

Found 1 error in 1 file.

Errors  Files
     1  src/a.ts:3
$ npm run migrate
FATAL: migration 0042 failed: relation orders is missing
"""
RULED_OFF = """\
Check of the cluster
node-1 ready
10) --------
node-2 lost: connection refused
FATAL: quorum lost
exit
"""
LOGGED = """\
2026-11-26 10:00:00 - warning - slow query 0
2026-11-26 10:00:01 - warning - slow query 1
Job 7 was killed by the OOM killer
        ~~~
    Deploy of api failed: quota exceeded
"""
LOADED = "".join(
    f"etl\t{'FAILED' if n == 5 else 'ok'}\t2026-11-26T0{n}:00:00Z\tload of table {n}\n"
    for n in range(8)
)
STEPS = "".join(
    f"build\t{step}\t2026-11-26T10:00:0{n}.0000000Z ##[error]Process completed with exit code 1.\n"
    for n, step in enumerate(("Lint", "Deploy to prod"))
)
CAPTURED = """\
=================================== FAILURES ===================================
__________________________________ test_cli ___________________________________
    def test_cli():
>       assert run(["build"]) == 0
E       assert 3 == 0
tests/test_cli.py:9: AssertionError
----------------------------- Captured stdout call -----------------------------
    wrote 31 of 400 rows, then the quota of tenant 7 was used up
========================= 1 failed in 0.04s =========================
"""
NESTED = "--- FAIL: TestParse (0.00s)\n" + "".join(
    f"    --- FAIL: TestParse/{name} (0.00s)\n        parse_test.go:3{n}: {said}\n"
    for n, (name, said) in enumerate({
        "empty": "error: want nil, got EOF", "long": "error: want 3, got 9",
        "utf8": "error: bad rune", "nested": "depth = 3, want 4",
    }.items())
)  # fmt: skip


BELOW_TSC = """\
src/a.ts(3,7): error TS6133: 'x' is declared but its value is never read.
  ELIFECYCLE  Command failed with exit code 2.
  Error: Docker daemon not reachable
"""
DOCTEST = """\
=================================== FAILURES ===================================
_________________________ [doctest] mymod.total _________________________
003
004     >>> total([1, 2])
Expected:
    4
Got:
    3

/w/mymod.py:4: DocTestFailure
=========================== short test summary info ============================
FAILED mymod.py::mymod.total
============================== 1 failed in 0.05s ===============================
"""
NAMED = json.dumps([
    {"job": "test", "run": n, "status": "failed" if n == 5 else "ok", "error": "OOM" * (n == 5)}
    for n in range(12)
])  # fmt: skip


@each(
    ("text", "cap", "parts"),
    [
        (SCANNED, 200, ("disk is full", "503 from s3")),
        (AFTER_TSC, 200, ("migration 0042", "TS2322")),
        (RULED_OFF, 200, ("quorum lost", "node-2 lost")),
        (LOGGED, 200, ("OOM killer", "quota exceeded")),
        (LOADED, 200, ("FAILED",)),
        (STEPS, 200, ("Lint: ##[error]", "Deploy to prod: ##[error]")),
        (CAPTURED, 200, ("quota of tenant 7",)),
        (BELOW_TSC, 200, ("Docker daemon", "TS6133")),
        (DOCTEST, 200, ("Got: 3",)),
        (NAMED, 200, ("test - status: failed, error: OOM",)),
        ("0 tests failed:\n- everything is fine\n" + "step done\n" * 9, 90, ()),
        (f"{NESTED}FAIL\n", 220, ("EOF", "got 9", "bad rune", "want 4")),
        ("retry: error: recovered\n" + "step done\n" * 9, 80, ()),
    ],
)
def test_no_failure_is_taken_for_a_part_of_another(
    text: str, cap: int, parts: tuple[str, ...]
) -> None:
    digest = engine.digest(text, cap)
    assert [part for part in parts if part not in digest.summary] == [], digest.summary
    assert parts or not any(row.aspect == "failed" for row in digest.rows)


def test_a_word_that_breaks_nothing_is_no_break() -> None:
    commits = "".join(
        f"commit {n:02}{'ab12' * 9}{n:02}\nAuthor: Ada <a@b.c>\nDate:   Mon Nov 2 10:0{n}\n\n"
        f"    Bump part {n}\n\n    There are no\n    BREAKING changes in part {n}.\n\n"
        for n in range(8)
    )
    assert "BREAKING" not in engine.digest(commits, 200).summary
    commits += "    BREAKING CHANGE: the TTL is ignored unless\n    legacy_ttl is set.\n"
    assert "ignored unless legacy_ttl is set" in engine.digest(commits, 200).summary


def test_an_object_whose_state_is_a_failure_is_told_with_its_reason() -> None:
    states = ("CREATE_COMPLETE", "CREATE_IN_PROGRESS", "UPDATE_COMPLETE", "UPDATE_IN_PROGRESS",
              "DELETE_COMPLETE", "DELETE_IN_PROGRESS", "IMPORT_COMPLETE")  # fmt: skip
    events = [{"Id": f"thing-{n}", "Status": state, "At": f"14:0{n}"}
              for n, state in enumerate(states * 2)]  # fmt: skip
    events[5] |= {"Status": "CREATE_FAILED", "StatusReason": "backups are not enabled on primary"}
    summary = engine.digest(json.dumps({"Events": events}, indent=1), 150).summary
    assert "thing-5 - Status: CREATE_FAILED" in summary and "backups are not enabled" in summary


def test_a_type_in_brackets_is_no_code() -> None:
    rows = [f"src/A{n}.hs:{n}:14: error: Couldn't match type: [Char]" for n in range(1, 4)]
    summary = engine.digest("\n".join(rows), 150).summary
    assert "Couldn't match type: [Char]" in summary and "Char x" not in summary


def test_each_kind_of_failed_row_is_told_before_what_is_merely_odd() -> None:
    made = [(f"{90 - n}m", "Normal", "Pulled", f"pod/cart-{n:04}", f"Pulled image cart:{n % 7}")
            for n in range(40)]  # fmt: skip
    for n in range(3):
        made[5 + n] = (f"8{n}m", "Warning", "Failed", f"pod/orders-{n:04}", "Failed to pull image")
    made[19] = ("9m7s", "Warning", "FailedMount", "pod/reindex-1", "Mount failed: es is missing")
    made[39] = ("73s", "Normal", "Scaled", "pod/mailer-1", "Scaled down from 2 to 1")
    rows = [("LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"), *made]
    text = "\n".join("".join(cell.ljust(24) for cell in row).rstrip() for row in rows)
    summary = engine.digest(text, 130).summary
    assert "Failed to pull image" in summary and "es is missing" in summary


WORDS = [f"The {name} part of the run says what it did" for name in string.ascii_lowercase]


def a_stack(thread: int, frame: str) -> str:
    numbers = ", ".join(["140315995027136"] * 7)
    return (
        f'Thread {thread} (Thread 0x7f9d{thread:x}a36c0 (LWP {2800 + thread}) "bookd"):\n'
        "#0  futex_wait (private=0, expected=2) at ../sysdeps/nptl/futex-internal.h:146\n"
        f"        __ret = -512\n#1  0x000055a8cc6211df in {frame}\n        n = {thread}\n"
        "#2  0x00007f9de11381f5 in start_thread (arg=0x0) at ./nptl/pthread_create.c:442\n"
        f"        pad = {{{numbers}}}\n\n"
    )


def test_each_stack_is_told_by_the_first_frame_that_is_in_no_library() -> None:
    idle = "".join(a_stack(n, "take_job (queue=0x55a8) at pool.c:12") for n in range(9, 3, -1))
    text = a_stack(10, "post_entry (from=0x55a8) at book.c:9") + idle
    said = engine.digest(f"[New LWP 2810]\n{text}{a_stack(1, 'report (all=1) at main.c:4')}", 250)
    assert '(LWP 2810) "bookd"): #1 0x000055a8cc6211df in post_entry' in said.summary
    assert '(LWP 2801) "bookd"): #1 0x000055a8cc6211df in report' in said.summary
    assert "take_job (queue=0x55a8) at pool.c:12 (x6)" in said.summary


def test_a_stack_without_own_frames_is_not_told_with_one_of_the_next_stack() -> None:
    wait = "#0  0x7f9de1 in futex_wait (private=0) at ../sysdeps/nptl/futex.h:146"
    idle = [row for n in range(1, 9) for row in (f"Thread {n} (LWP {800 + n}):", wait)]
    own = ["Thread 9 (LWP 809):", wait, "#1  0x55a8cc in settle (o=1) at settle.c:77"]
    said = engine.digest("\n".join(["[New LWP 801]", *WORDS, *idle, *own, *WORDS]), 250).summary
    assert "Thread 9 (LWP 809): #1 0x55a8cc in settle (o=1) at settle.c:77" in said
    assert "Thread 1…8 (LWP 801…808): #0 0x7f9de1 in futex_wait" in said


def test_a_summary_among_rows_weighs_more_than_other_lines() -> None:
    rows = [f"case {name} {n % 3 + 5} s" for n, name in enumerate(string.ascii_lowercase)]
    rows[13:13] = ["found 6 tests in the folder"]
    units = lines.Lines("\n".join(["begin", "", *rows, "", *WORDS])).statements()
    weights = {unit.text: unit.weight for unit in units}
    assert weights[rows[13]] > weights[WORDS[0]]


def test_of_a_help_page_headings_of_options_are_told_with_them_alone() -> None:
    groups = ("Source", "Filter", "Pager", "Sealing")
    options = (
        f"  -{letter} --{letter * 5}=X     Do {letter} with X\n" for letter in "abcdefghijklmnop"
    )
    rows = "\n".join(
        f"{group} Options:\n{''.join(next(options) for _ in '1234')}" for group in groups
    )
    text = f"logs [OPTIONS...]\n\nQuery the logs.\n\n{rows}\nSee the logs(1) page for details.\n"
    digest = engine.digest(text, 250)
    assert digest.key == "Query the logs." and "Options: See" not in digest.summary
    assert not any(row.finding.endswith("Options:") for row in digest.rows)


def test_a_row_of_a_list_is_no_heading_of_the_rows_below_it() -> None:
    units = "".join(f"  unit-{name}.service        loaded    active    Unit {name} of it\n"
                    for name in string.ascii_lowercase)  # fmt: skip
    lost = "● vpn-site.service         not-found inactive  vpn-site.service\n"
    text = f"  UNIT                       LOAD      ACTIVE    DESCRIPTION\n{units}{lost}{units}"
    digest = engine.digest(text, 250)
    assert not any("vpn-site" in row.aspect for row in digest.rows)


def test_a_log_in_columns_with_a_question_is_no_chat() -> None:
    rows = [f"10:{n:02}:07  app   {line.lower()}" for n, line in enumerate(WORDS)]
    rows[9] = "10:09:07  app   connection to queue refused, is it running?"
    rows[20] = "10:20:07  hook  FAILED: the hook that notifies returned 3"
    digest = engine.digest("\n".join(rows), 250)
    assert digest.kind == "log" and "FAILED: the hook" in digest.key


SUITE = """\
<testsuite name="pay" tests="31" failures="1">
{}<testcase classname="pkg.Pay" name="total"><failure message="3 is not 4">
AssertionError: 3 is not 4
  at expect (node_modules/expect/index.js:8:1)
  at Object.total (src/pay.test.js:41:7)
</failure><system-out>src/other.js:3:1</system-out></testcase>
</testsuite>
""".format('<testcase classname="pkg.Pay" name="fine"/>\n' * 30)


@each("before, after", [
    ("", ""),
    ('<?xml version="1.0"?>\n', ""),
    ("[INFO] Scanning for projects...\n" * 30, "[ERROR] There are test failures.\n"),
])  # fmt: skip
def test_a_report_of_tests_in_xml_is_read_wherever_it_stands(before: str, after: str) -> None:
    told = engine.digest(before + SUITE + after, 300).summary
    assert "pkg.Pay.total: 3 is not 4 (src/pay.test.js:41:7)" in told
    assert "1 failed, 30 passed of 31" in told
    assert after.strip() in told


def test_the_tests_of_several_reports_in_xml_are_counted_together() -> None:
    told = engine.digest(SUITE + '<?xml version="1.0"?>\n' + SUITE.replace("total", "refund"), 300)
    assert "2 failed, 60 passed of 62" in told.summary
    assert "pkg.Pay.refund" in told.summary


@each("case", ['<testcase classname="c" name="fine"/>', ""])
def test_a_suite_that_fails_before_its_tests_is_no_pass(case: str) -> None:
    error = '<error message="no database"/>'
    text = f'<testsuite name="pay" errors="1">\n{error}{case}\n</testsuite>\n'
    told = engine.digest(text, 200).summary
    assert "1 error" in told and "pay: no database" in told


def test_a_failure_that_is_only_text_says_its_first_line() -> None:
    said = "<failure>\nError: 3 is not 4\n  at total (src/pay.test.js:41:7)</failure>"
    case = f'<testcase classname="c" name="x">{said}</testcase>'
    text = f'<testsuite name="s">\n{case}\n</testsuite>\n'
    assert "c.x: Error: 3 is not 4 (src/pay.test.js:41:7)" in engine.digest(text, 200).summary


def test_an_exception_below_a_failed_test_of_tap_is_its_message() -> None:
    oks = "".join(f"ok {n} keeps {n}\n" for n in range(1, 30))
    thrown = "  3 is not 4\n  AssertionError: 3 is not 4\n      at Context.<anonymous> (a.js:4:2)\n"
    for blank in ("", "\n"):
        text = f"1..30\n{oks}not ok 30 total\n{blank}{thrown}# tests 30\n# fail 1\n"
        assert "total: 3 is not 4 (a.js:4:2)" in engine.digest(text, 300).summary


def test_what_the_kernel_killed_is_the_key() -> None:
    lines = [f"[{n}.000001] usb 1-{n % 7}: device {n} of class hub is ready" for n in range(60)]
    killed = "[61.787569] Memory cgroup out of memory: Killed process 811 (report) total-vm:43kB"
    lines[5:6] = ["[5.000001] mce: [Hardware Error]: Machine check events logged"]
    assert engine.digest("\n".join([*lines, killed]), 250).key.startswith("Memory cgroup")


def test_what_a_build_by_msbuild_repeats_at_its_end_counts_once() -> None:
    errors = [f"/src/A{n}.cs({n},3): error CS0103: The name 'x{n}' does not exist [/src/a.csproj]"
              for n in range(20, 44)]  # fmt: skip
    own = ["", "Build FAILED.", "", *errors, "    0 Warning(s)", "    24 Error(s)"]
    said = engine.digest("\n".join(["  Determining projects to restore...", *errors, *own]), 250)
    assert "24 messages in 24 files" in said.summary
    assert "x24, first at /src/A20.cs(20,3)" in said.summary


def test_a_message_in_a_frame_belongs_to_the_test_above_it() -> None:
    test = ' ✘ Rounds "{0}"\n   │\n   │ {1}\n   │\n   │ /srv/CartTest.php:{0}\n   │\n\n'
    tests = [test.format(10, "Failed asserting that 3 is 4."), test.format(11, "No tax for Q")]
    said = engine.digest("".join([" ✔ Adds\n" * 30, *tests, "Tests: 32, Failures: 2.\n"]), 300)
    assert 'Rounds "10": Failed asserting that 3 is 4. (/srv/CartTest.php:10)' in said.summary
    assert 'Rounds "11": No tax for Q (/srv/CartTest.php:11)' in said.summary
    drawn = tests[0].replace("│", "┐", 1).replace("│ F", "├ F").replace("│\n\n", "┴\n\n")
    said = engine.digest("".join([" ✔ Adds\n" * 30, drawn, "Tests: 31, Failures: 1.\n"]), 300)
    assert 'Rounds "10": Failed asserting that 3 is 4. (/srv/CartTest.php:10)' in said.summary


def test_a_frame_in_a_program_below_usr_src_is_its_own() -> None:
    frames = "    at load (/usr/src/app/lib/load.js:4:9)\n    at node:internal/main:1:1\n"
    said = engine.digest(f"Error: boom\n{frames}", 99).summary
    assert "boom (/usr/src/app/lib/load.js:4:9)" in said


def test_comments_between_commands_are_no_headings() -> None:
    rows = [f"# good: [{n:040x}] step {n}\ngit bisect good {n:040x}" for n in range(30)]
    said = engine.digest(
        "\n".join([*rows, "# first bad commit: [7d87] fewer digits", "", "x"]), 200
    )
    assert said.kind != "report"


def test_of_a_list_the_number_of_its_lines_is_told() -> None:
    names = "\n".join(f"{a}{b}{c}" for a in "abcdefgh" for b in "iou" for c in ("n", "sh", "tool"))
    assert "72 lines" in engine.digest(names, 100).summary

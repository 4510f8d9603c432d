"""What a digest says is so: counts are of the whole text, and nothing is joined that is apart.

Each text is made up, after the output of a tool of which a digest once said something false.
"""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Callable

import pytest
from conftest import LONG, each
from contextkit.text.digests import engine, failure_words, folding, lines, outputs, reading
from hypothesis import given, settings
from hypothesis import strategies as st
from tool_outputs import OUTPUTS

SIZES = (1, 7, 60)


def said(text: str, cap: int = 300, status: int | None = None) -> str:
    return engine.digest(text, cap, status=status).summary


def a_log(n: int) -> str:
    events = [f"2026-01-02 10:00:{i % 60:02} INFO request took 12 ms" for i in range(30)]
    events += ["2026-01-02 10:01:00 ERROR db lost", "2026-01-02 10:01:01 WARNING slow"]
    return "\n".join(events * n)


def a_diff(n: int) -> str:
    one = (
        "diff --git a/src/a{i}.py b/src/a{i}.py\n--- a/src/a{i}.py\n+++ b/src/a{i}.py\n"
        "@@ -1,3 +1,4 @@\n x = 1\n-y = 2\n+y = 3\n+z = 4\n w = 5\n"
    )
    return "".join(one.format(i=i) for i in range(3 * n))


def a_json(n: int) -> str:
    rows = [{"id": i, "state": "failed" if i % 10 == 0 else "ok"} for i in range(20 * n)]
    return json.dumps(rows, indent=1)


def some_json_lines(n: int) -> str:
    return "\n".join(json.dumps({"n": i, "level": "info"}) for i in range(20 * n))


def a_table(n: int) -> str:
    return "host,ms,state\n" + "\n".join(f"h{i},{i % 7},ok" for i in range(30 * n))


def a_listing(n: int) -> str:
    return "\n".join(f"src/f{i % 5}/a{i}.py" for i in range(40 * n))


def some_messages(n: int) -> str:
    return "\n".join(f"src/a{i}.py:3:1: F821 undefined name 'b{i}'" for i in range(25 * n))


def a_junit(n: int) -> str:
    case = '<testcase classname="m.T" name="t{i}">{inner}</testcase>'
    bad = '<failure message="1 != 2">Traceback</failure>'
    cases = (case.format(i=i, inner=bad if i % 4 == 0 else "") for i in range(12 * n))
    return "<testsuites><testsuite>\n" + "\n".join(cases) + "\n</testsuite></testsuites>\n"


def a_go_run(n: int) -> str:
    lines = []
    for i in range(8 * n):
        test = {"Package": "a/b", "Test": f"Test{i}"}
        lines.append({"Action": "output", **test, "Output": f"    a_test.go:{i}: got 1\n"})
        lines.append({"Action": "fail" if i % 4 == 0 else "pass", **test})
    return "\n".join(map(json.dumps, lines))


def a_tap(n: int) -> str:
    lines = [f"{'not ' * (i % 5 == 0)}ok {i} - case {i}" for i in range(10 * n)]
    return "\n".join(["TAP version 13", f"1..{10 * n}", *lines])


def a_pytest(n: int) -> str:
    return "\n".join(
        f"tests/test_a.py::test_{i} {'FAILED' if i % 10 == 0 else 'PASSED'}" for i in range(30 * n)
    )


def some_runs_of_tap(n: int) -> str:
    counts = "# tests 10\n# pass 8\n# fail 2\n"
    return "".join(f"{a_tap(1)}\n{counts}" for _ in range(n))


def some_reruns_of_go(n: int) -> str:
    test = {"Package": "a/b", "Test": "TestOne"}
    run = [
        {"Action": "run", **test},
        {"Action": "output", **test, "Output": "    a_test.go:3: no\n"},
    ]
    return "\n".join(map(json.dumps, [*run, {"Action": "fail", **test}] * n))


def some_targets(n: int) -> str:
    error = "make: *** [Makefile:3: m{0}.o] Error 1"
    lines = (f"cc -c m{i}.c\n{error.format(i)}" for i in range(5 * n + 3))  # the last 3 are the key
    return "\n".join([*lines, "make: Target 'all' not remade because of errors."])


def some_tables(n: int) -> str:
    return (a_table(1) + "\n") * n


def some_code(n: int) -> str:
    return "import os\n\n" + "".join(f"def f{i}(a):\n    return a\n\n\n" for i in range(9 * n))


COUNTS: dict[str, tuple[Callable[[int], str], dict[str, int]]] = {
    "log": (a_log, {r"ERROR db lost(?: \(x(\d+))?": 1, r"WARNING slow(?: \(x(\d+))?": 1}),
    "diff": (a_diff, {r"(\d+) files? changed": 3, r"\+(\d+) -": 6, r"-(\d+)\b": 3}),
    "json": (a_json, {r"list of (\d+)": 20, r"failed x(\d+)": 2, r"ok x(\d+)": 18}),
    "json lines": (some_json_lines, {r"list of (\d+)": 20}),
    "table": (a_table, {r"(\d+) rows": 30}),
    "listing": (a_listing, {r"(\d+) paths": 40, r"src/f0 x(\d+)": 8}),
    "messages": (some_messages, {r"(\d+) messages": 25, r"F821 x(\d+)": 25}),
    "junit": (a_junit, {r"(\d+) failed": 3, r"(\d+) passed": 9, r"of (\d+)": 12}),
    "go": (a_go_run, {r"(\d+) failed": 2, r"of (\d+)": 8}),
    "tap": (a_tap, {r"(\d+) failed": 2, r"of (\d+)": 10}),
    "runs of tap": (some_runs_of_tap, {r"(\d+) failed": 2, r"(\d+) passed": 8, r"of (\d+)": 10}),
    "reruns of go": (some_reruns_of_go, {r"(\d+) failed": 1, r"a_test.go:3: no(?: \(x(\d+))?": 1}),
    "targets": (some_targets, {r"Error 1 \(x(\d+)": 5}),
    "tables": (some_tables, {r"(\d+) rows": 30}),
    "code": (some_code, {r"(\d+) definitions": 9}),
}


@each("size", [*SIZES, *([700] if LONG else [])])
@each("kind", COUNTS)
def test_the_counts_of_many_copies_are_those_of_one_times_their_number(
    kind: str, size: int
) -> None:
    made, counts = COUNTS[kind]
    summary = said(made(size))
    for pattern, count in counts.items():
        found = re.search(pattern, summary)
        assert found and int(found[1] or 1) == count * size, (pattern, summary)


@each("size", [1, 7, 60])
def test_each_failed_test_of_a_run_that_was_cut_off_is_named_or_counted(size: int) -> None:
    summary = said(a_pytest(size))
    more = re.search(r"\+(\d+) more", summary)
    assert summary.count("FAILED") + int(more[1] if more else 0) == 3 * size


def bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A tenth of a text is as long as all of it is otherwise."""
    for bound in ("_LARGEST", "_HEAD", "_TAIL"):
        monkeypatch.setattr(outputs, bound, getattr(outputs, bound) // 10)


def test_what_is_counted_of_both_ends_only_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    bounded(monkeypatch)
    summary = said("x is fine on node\n" * 40_000)
    assert re.search(r"\(x\d{4,}\) \(or more\)", summary)
    assert re.search(r"lines \d+-\d+ are read for words of failure only", summary)


def test_failures_are_counted_over_the_whole_text_however_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bounded(monkeypatch)
    assert "(x20000)" in said("ERROR: no room on node\n" * 20_000)
    assert re.search(r"\+\d+ lines? with failure words", said("x ERROR\n" * 60_000))


@each("at", [10, 15_000, 20_000, 25_000, 39_990])
@each("bounds", [("_LARGEST", "_HEAD", "_TAIL"), ("_MOST_LINES",)])
def test_a_failure_is_found_wherever_in_a_very_long_text(
    at: int, bounds: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        for bound in bounds:
            patch.setattr(outputs, bound, getattr(outputs, bound) // 10)
        lines = [f"12:00:{n % 60:02} INFO request {n} took {n % 37} ms" for n in range(40_000)]
        lines[at] = "12:00:00 ERROR worker disk quota exceeded on /data"
        digest = engine.digest("\n".join(lines), 300)
    found = [row for row in digest.rows if "disk quota exceeded" in row.finding]
    assert found and found[0].line == at + 1


def test_failures_beyond_those_that_are_read_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    bounded(monkeypatch)
    monkeypatch.setattr(outputs, "_FOUND", 5)
    lines = [f"request {n} took {n % 37} ms" for n in range(40_000)]
    for n in range(20_000, 20_040):
        lines[n] = f"ERROR {'abcdefghij'[n % 10]}{n}: the disk of node n{n} is full"
    summary = said("\n".join(lines))
    assert "+35 lines with failure words, first at 20006" in summary


def test_a_line_without_end_is_read_at_both_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    bounded(monkeypatch)
    for text in ("x" * 900_000, "a\n" + "x" * 900_000, "x " * 450_000 + "\nERROR: no disk\n"):
        assert engine.digest(text, 200).rows


@each("size", SIZES)
def test_failures_that_are_not_shown_are_counted(size: int) -> None:
    lines = [f"FAILED tests/test_{n}.py::test_x - assert {n} == 0" for n in range(20 * size)]
    summary = said("\n".join([*lines, f"=== {20 * size} failed in 9.99s ==="]), 200)
    shown = summary.count("FAILED tests/")
    assert shown > 1 and f"+{20 * size - shown} more" in summary


NUMBERS = re.compile(r"\d+")
COUNTED = (  # what a digest counts itself
    r"\(x\d+\)|\bx\d+\b|\+\d+ (?:more|lines?)|^size: \d+ lines|first at (?:line )?\d+|\d+ lines?"
    r"|\d+ messages in \d+ files?|\d+ rows, \d+ columns|list of \d+: \d+ \w+|object of \d+ keys"
    r"|\d+ (?:PASSED|FAILED|ERROR|SKIPPED|WARNING|WARN|XFAIL|FATAL|CRITICAL)(?: of \d+)?|of \d+$"
    r"|\d+ HTTP|\d+ rows by|\d+ (?:failed|error|skipped|passed)(?: of \d+)?|line \d+"
)


@each("tool", OUTPUTS)
def test_no_number_is_told_that_is_neither_in_the_text_nor_counted(tool: str) -> None:
    line, end, _ = OUTPUTS[tool]
    text = "\n".join(line.format(n=n) for n in range(80)) + end
    rest = re.sub(COUNTED, " ", said(text), flags=re.M)
    assert set(NUMBERS.findall(rest)) <= set(NUMBERS.findall(text))


parts = st.lists(
    st.sampled_from(
        [
            "tests/a.py::test_one PASSED",
            "tests/a.py::test_two FAILED",
            "ERROR: no room on disk 7",
            "src/a.c:3:9: error: x is not y",
            "done in 2.5 s",
            "== 3 failed, 41 passed in 1.2s ==",
            "INFO step 4 of 9",
            "$ make all",
            "make: *** [Makefile:12: all] Error 2",
            "",
        ]
    ),
    min_size=3,
    max_size=60,
)


@given(lines=parts, cap=st.integers(40, 300))
@settings(max_examples=60, deadline=None)
def test_of_any_mixture_no_number_is_made_up(lines: list[str], cap: int) -> None:
    text = "\n".join(lines)
    rest = re.sub(COUNTED, " ", said(text, cap), flags=re.M)
    assert set(NUMBERS.findall(rest)) <= set(NUMBERS.findall(text))


def test_every_line_that_speaks_of_a_failure_is_told_or_counted() -> None:
    lines = [f"step {n}: fine" for n in range(400)]
    for n, name in ((96, "north"), (200, "south"), (300, "east"), (390, "west")):
        lines[n] = f"unable to reach {name} {f'because {name} is down, ' * 9}"
    summary = said("\n".join(lines), 100)
    shown = summary.count("unable to reach")
    assert 0 < shown < 4 and f"+{4 - shown} line" in summary and "first at " in summary


def test_lines_that_speak_of_a_failure_are_counted_however_many_there_are() -> None:
    letters = "bcdfghjklmnp"
    names = ["".join(five) for five in itertools.product(letters, repeat=4)][:4000]
    lines = [f"{name} rejected, as was {name[::-1]}" for name in names]
    text = said("\n".join(lines))
    more = re.search(r"\+(\d+) lines with failure words", text)
    assert more and int(more[1]) + text.count(" rejected, as was") == len(lines)


def test_the_last_word_of_a_tool_is_the_verdict_and_the_status_stands_before_it() -> None:
    vitest = "\n".join(
        [
            " FAIL  a.test.ts > adds",
            "AssertionError: expected 1 to be 2",
            " Test Files  2 failed (2)",
            "      Tests  4 failed | 31 passed (35)",
            "     Errors  1 error",
            "   Duration  1.93s",
        ]
    )
    assert engine.digest(vitest, 200).key.endswith(
        "Tests 4 failed | 31 passed (35); Errors 1 error"
    )
    assert engine.digest(vitest, 200, status=1).key.startswith("exit status 1; Test Files 2")
    crash = "10:00:01 INFO app exit status 0\nTraceback (most recent call last):\n"
    crash += '  File "src/run.py", line 3, in main\n    go()\nValueError: no config\n'
    assert engine.digest(crash, 200).key == "ValueError: no config (src/run.py:3)"
    assert "exit status 0" in engine.digest("nothing to say\n" * 3, 200, status=0).key


@each(
    "line",
    [
        "Successfully installed left-1.2 right-0.3",
        "Your code has been rated at 8.62/10 (previous run: 8.00/10, +0.62)",
        "added 645 packages in 3m",
        "All checks passed!",
        "Success: no issues found in 12 source files",
        "Apply complete! Resources: 3 added, 0 changed, 1 destroyed.",
        "BUILD SUCCESSFUL in 12s",
    ],
)
def test_the_end_of_a_run_is_its_verdict(line: str) -> None:
    assert engine.digest("\n".join([*(f"step {n}" for n in range(50)), line]), 200).key == line


def test_a_message_of_go_stays_with_its_test() -> None:
    lines = ["=== RUN   TestFine", "    a_test.go:3: only said", "--- PASS: TestFine (0.00s)"]
    for name in ("One", "Two", "Three"):
        lines += [f"=== RUN   Test{name}", "    b_test.go:6: first", f"    b_test.go:7: why {name}"]
        lines += [f"--- FAIL: Test{name} (0.00s)"]
    summary = said("\n".join([*lines, "FAIL", "FAIL\tshop/a\t0.003s"]))
    for name in ("One", "Two", "Three"):
        assert f"Test{name}: first (b_test.go:6); why {name} (b_test.go:7)" in summary
    assert "only said" not in summary.split("failed: ")[1]


def test_messages_of_go_from_one_line_share_its_place() -> None:
    text = (
        "=== RUN   TestRow\n    row_test.go:8: cell 1\n    row_test.go:8: cell 2\n"
        "--- FAIL: TestRow (0.00s)\nFAIL\nFAIL\tgrid\t0.003s\n"
    )
    assert said(text) == "FAIL grid 0.003s\nfailed: TestRow: cell 1; cell 2 (row_test.go:8)"


def test_what_a_passing_test_of_vitest_printed_is_no_failure() -> None:
    text = (
        "stderr | a.spec.mjs > parse > ok\nError: the old key is still read\n\n"
        " ❯ a.spec.mjs (2 tests | 1 failed) 12ms\n     × two 7ms\n     ✓ ok 2ms\n\n"
        "⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯\n\n FAIL  a.spec.mjs > parse > two\n"
        "AssertionError: expected 3 to be 4 // Object.is equality\n ❯ a.spec.mjs:3:51\n\n"
        " Test Files  1 failed (1)\n      Tests  1 failed | 1 passed (2)\n"
    )
    summary = said(text, status=1)
    assert "expected 3 to be 4" in summary and "the old key" not in summary


JEST = """  console.warn
    deprecated: error handling

      at warn (src/a.js:3:9)

PASS src/green.test.js
FAIL src/red.test.js
  ● cart › fetches

    expect(received).resolves.toBe()

    Received promise rejected instead of resolved

      1 | await expect(store.get(4711)).resolves.toBe(3)
        |                               ^

      at Object.<anonymous> (src/red.test.js:6:49)

  ● Test suite failed to run

    Cannot find module './gone' from 'src/boom.test.js'

Tests:       1 failed, 2 passed, 3 total
"""


def test_what_a_passing_test_prints_is_no_failure_and_a_call_is_no_place() -> None:
    summary = said(JEST)
    failed = next(line for line in summary.split("\n") if line.startswith("failed: "))
    came = "Received promise rejected instead of resolved"
    assert f"cart › fetches: {came} (src/red.test.js:6:49)" in failed
    assert "deprecated" not in failed and "src/a.js" not in failed
    assert "toBe(3)" not in failed and "get(4711)" not in failed
    assert "src/red.test.js: Test suite failed to run: Cannot find module './gone'" in failed


def test_a_pending_test_of_rspec_is_no_failure_and_its_progress_is_none() -> None:
    text = """Cart
  halves (FAILED - 1)
  refunds (PENDING: later)

Pending: (Failures listed here are expected and do not affect your suite's status)

  1) Cart refunds
     # later
     Failure/Error: expect(1).to eq 2

Failures:

  1) Cart halves
     Failure/Error: expect(half(5)).to eq 2.5

       expected: 2.5
            got: 2
     # ./spec/cart_spec.rb:12:in `block'

2 examples, 1 failure, 1 pending
"""
    summary = said(text)
    failed = next(line for line in summary.split("\n") if line.startswith("failed: "))
    assert "Cart halves: expected: 2.5, got: 2 (./spec/cart_spec.rb:12)" in failed
    assert "refunds" not in failed and "FAILED - 1" not in failed


def test_the_number_of_tests_that_mocha_ran_is_no_message() -> None:
    text = """  Ledger
    ✓ opens
    1) sums

  35 passing (12ms)
  1 failing

  1) Ledger
       sums:
     AssertionError: expected 1 to equal 2
      at Context.<anonymous> (test/l.js:5:37)
"""
    assert "Ledger sums: AssertionError: expected 1 to equal 2 (test/l.js:5:37)" in said(text)
    assert "sums: 35 passing" not in said(text)


def test_an_error_of_make_has_no_place_of_another_file() -> None:
    text = """cc -c src/b.c
make: *** [<builtin>: src/a.o] Error 1
src/b.c: In function 'f':
src/b.c:6:11: warning: comparison of integers [-Wsign-compare]
/usr/bin/ld: src/m.o: in function `main': m.c:(.text+0x1f): undefined reference to `gone'
collect2: error: ld returned 1 exit status
make: Target 'app' not remade because of errors.
"""
    summary = said(text)
    assert "Error 1 (src/b.c" not in summary
    assert "undefined reference to `gone'" in summary and "not remade" in summary


def test_a_play_that_failed_is_no_diff() -> None:
    text = """PLAY [all] ****
TASK [copy] ****
--- before
+++ after: /etc/a.conf
@@ -0,0 +1,2 @@
+port=80
+workers=4

changed: [web-1]
TASK [wait] ****
fatal: [web-2]: FAILED! => {"msg": "Timeout when waiting for 127.0.0.1:9"}

PLAY RECAP ****
web-1 : ok=4 changed=3 unreachable=0 failed=0
web-2 : ok=2 changed=1 unreachable=0 failed=1
"""
    digest = engine.digest(text, 300)
    assert digest.kind == "log" and "files changed" not in digest.key
    assert "fatal: [web-2]: FAILED!" in digest.summary and "1 file changed, +2 -0" in digest.summary


def test_a_merge_that_failed_tells_its_conflicts_and_the_diff() -> None:
    text = """Auto-merging src/a.py
CONFLICT (content): Merge conflict in src/a.py
Automatic merge failed; fix conflicts and then commit the result.
diff --cc src/a.py
index 1,2..0
--- a/src/a.py
+++ b/src/a.py
@@@ -1,3 -1,3 +1,7 @@@
  x = 1
++ +y = 2
++


+ y = 3
++>>>>>>> other
"""
    summary = said(text)
    assert "CONFLICT (content): Merge conflict in src/a.py" in summary
    assert engine.digest(text, 300).key.startswith("Automatic merge failed")


def test_a_hunk_that_counts_wrongly_swallows_no_file() -> None:
    text = a_diff(1).replace("@@ -1,3 +1,4 @@", "@@ -1,90 +1,90 @@")
    assert "3 files changed, +6 -3" in said(text)


def test_a_hunk_of_a_merge_that_counts_wrongly_swallows_no_file() -> None:
    one = (
        "diff --{0} {1}.py\nindex 656f4f9,9e35a1c..0000000\n--- a/{1}.py\n+++ b/{1}.py\n"
        "@@@ -1,90 -1,90 +1,90 @@@\n++both\n +one\n++either\n+ two\n- three\n"
    )
    text = one.format("cc", "a") + one.format("combined", "b") + one.format("cc", "c")
    told = said(f"{text}@@@ -7,1 -7,1 +7,2 @@@\n++again\n")
    assert "3 files changed, +13 -3" in told and "c.py +5 -1" in told


def test_a_play_names_the_file_that_its_task_changed_and_not_a_temporary_one() -> None:
    play = (
        "TASK [proxy : render] ****\n--- before{0}\n+++ after: /root/.ansible/tmp/ansible-local-7/"
        "tmpx1/{1}\n@@ -1,2 +1,3 @@\n worker 1\n-a 2\n+b 3\n+c 4\n\nchanged: [web-1]\n"
    )
    made = play.format(": /etc/proxy/proxy.conf", "proxy.conf.j2") + play.format("", "site.j2")
    line = "--- before: /etc/hosts (content)\n+++ after: /etc/hosts (content)\n@@ -1 +1,2 @@\n"
    line += " a\n+b\n"
    told = said(f"{made}TASK [names] ****\n{line}\nchanged: [web-1]\n")
    assert "3 files changed, +5 -2" in told and "ansible/tmp" not in told
    for name in ("/etc/proxy/proxy.conf +2 -1", "site.j2 +2 -1", "/etc/hosts +1 -0"):
        assert name in told


def test_a_shell_session_is_told_command_by_command() -> None:
    diff = a_diff(1)
    text = f"$ git status\nOn branch main\nnothing to commit\n$ git diff\n{diff}$ ls\n" + "\n".join(
        f"src/f{n}.py" for n in range(9)
    )
    summary = said(text)
    assert "3 files changed, +6 -3" in summary and "9 paths in 1 folder" in summary


def test_a_failed_run_of_make_is_read_to_its_end() -> None:
    lines = [f"cc -O2 -c -o obj/mod{n}.o src/mod{n}.c" for n in range(1500)]
    lines += ["main.c:(.text+0x1f): undefined reference to `gone'"]
    lines += ["collect2: error: ld returned 1 exit status", "make: *** [Makefile:3: app] Error 1"]
    summary = said("\n".join(lines))
    assert "undefined reference to `gone'" in summary and "Makefile:3: app" in summary


def test_a_panic_is_told_with_its_message() -> None:
    text = """   Compiling app v0.1.0
thread 'settle' (7) panicked at src/main.rs:1:41:
index out of bounds: the len is 3 but the index is 7
note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace
"""
    assert "index out of bounds: the len is 3 but the index is 7" in said(text)


def test_a_prohibition_in_a_chat_is_told_before_small_talk() -> None:
    chat = [f"10:{n:02} ann: hello again, how was lunch {n}" for n in range(50)]
    chat[31] = "10:31 bob: please do not switch on settle_v2 before migration 0093 has run"
    assert "do not switch on settle_v2 before migration 0093" in said("\n".join(chat), 120)


def test_an_entity_in_xml_is_not_expanded() -> None:
    bomb = '<?xml version="1.0"?>\n<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n'
    text = bomb + '<testsuite><testcase name="t"><failure message="&b;"/></testcase></testsuite>\n'
    assert "aaaaaaaa" not in said(text)


def test_messages_of_linters_in_json_are_counted_by_rule() -> None:
    eslint = [
        {
            "filePath": "/app/a.js",
            "messages": [
                {"ruleId": "no-eval", "severity": 2, "message": "eval is bad.", "line": 17},
                *(
                    {"ruleId": "no-var", "severity": 1, "message": f"var {n}.", "line": n}
                    for n in range(1, 30)
                ),
            ],
        }
    ]
    summary = said(json.dumps(eslint))
    assert "30 messages in 1 file; 1 error, 29 warnings: no-var x29, no-eval x1" in summary
    assert "no-eval eval is bad. (/app/a.js:17)" in summary
    ruff = [
        {"code": "F821", "filename": "a.py", "location": {"row": 3}, "message": "no x"},
        {"code": "E501", "filename": "b.py", "location": {"row": 9}, "message": "long"},
    ]
    assert "a.py:3 F821 no x" in said(json.dumps(ruff))
    where = {"artifactLocation": {"uri": "c.go"}, "region": {"startLine": 4}}
    result = {
        "ruleId": "G101",
        "level": "error",
        "message": {"text": "a secret"},
        "locations": [{"physicalLocation": where}],
    }
    assert "c.go:4 G101 a secret" in said(json.dumps({"runs": [{"results": [result]}]}))


def test_json_that_is_cut_off_says_so() -> None:
    text = json.dumps({"name": "a", "packages": {f"p{n}": {"v": n} for n in range(50)}}, indent=2)
    digest = engine.digest(text[: len(text) // 2], 200)
    assert digest.kind == "json" and "cut off or invalid at line" in digest.summary


@each(
    "text",
    ["x" * 1500 + ":\n", "error: " * 9, "(((", "a.b:" * 300 + "\n",
     "y\n", "* [ ] x\n", "- [x] y\n`\n"],
)  # fmt: skip
def test_the_time_grows_with_the_length(text: str) -> None:
    import time

    def seconds(count: int) -> float:
        begun = time.process_time()
        engine.ParsedText(text * count)
        return time.process_time() - begun

    many = 200_000 // len(text)
    assert seconds(4 * many) < 12 * seconds(many) + 0.5


@each(
    "text",
    [
        lambda count: "[a]\nn = 1\n" + "".join(f"key{n} = {n}\n" for n in range(count)),
        lambda count: "[a]\nn = 1\nm = 1\n" + "a." * count + "b = 1\n",
        lambda count: json.dumps({f"\u00e4{n}": n for n in range(count)}, indent=1),
        lambda count: "{\n" + '"k": 1,\n' * 6 + '"a": "' + '\\"' * count,
    ],
)
def test_settings_and_names_are_read_in_time_that_grows_with_them(
    text: Callable[[int], str],
) -> None:
    def seconds(count: int) -> float:
        begun = time.process_time()
        engine.ParsedText(text(count))
        return time.process_time() - begun

    assert seconds(40_000) < 8 * seconds(10_000) + 0.3


def test_a_paragraph_of_many_lines_is_read_in_time_that_grows_with_it() -> None:
    def seconds(count: int) -> float:
        begun = time.process_time()
        reading.blocks("".join(f"{word}\n" for word in ("one:", "more words") * count))
        return time.process_time() - begun

    assert seconds(80_000) < 16 * seconds(10_000) + 0.2


def test_what_a_host_has_cut_out_is_not_told_as_the_whole() -> None:
    lines = [f"step {n} of the build" for n in range(40)]
    text = "\n".join([*lines[:20], "…26,962 tokens truncated…", *lines[20:]])
    summary = said(text)
    assert "lacks a part: 26,962 tokens truncated" in summary
    assert "41 lines" not in summary


def test_the_priority_of_a_report_is_no_finding() -> None:
    text = "# Audit of the store\n\n**Priority:** HIGH\n\n## Findings Index\n"
    text += (
        '- P1 | F-1 | "Store" | Writes are lost\n- P2 | F-2 | "Docs" | A typo\n\nVerdict: risky\n'
    )
    rows = engine.digest(text, 300).rows
    assert all("Audit of the store" not in row.finding for row in rows)
    assert any("Writes are lost" in row.finding for row in rows)


@each("cap", [220, 600])
def test_every_failure_has_its_message_and_place_while_there_is_room(cap: int) -> None:
    lines = []
    for n in range(6):
        lines += [f"____ test_{n} ____", f"E   assert {n} == 9", f"tests/a.py:{n + 3}: E", ""]
    lines += [f"FAILED tests/a.py::test_{n} - assert {n} == 9" for n in range(6)]
    summary = said("\n".join([*lines, "=== 6 failed, 90 passed in 1.00s ==="]), cap)
    for n in range(6):
        assert f"FAILED tests/a.py::test_{n} - assert {n} == 9 (tests/a.py:{n + 3})" in summary


@each(
    "finding", ["- {} | A{} | src/{}.py | {}", "### [{}] A{} (src/{}.py:3): {}\n\nIt has words.\n"]
)
@each("slight", ["INFO", "LOW"])
def test_a_remark_is_not_spelled_out_while_graver_findings_are_only_counted(
    finding: str, slight: str
) -> None:
    said = "the cache grows without bound under load and is never pruned by anybody"
    levels = ["HIGH", "MEDIUM", "MEDIUM", "MEDIUM", slight]
    rows = [finding.format(level, n, f"f{n}", said[n:]) for n, level in enumerate(levels)]
    rows[-1] = rows[-1].replace(said[4:], "split it")
    text = "# Review\n\n**Verdict:** NEEDS_CHANGES\n\n## Findings Index\n\n" + "\n".join(rows)
    for cap in range(50, 130, 10):
        summary = engine.digest(text, cap).summary
        assert "MEDIUM: +" not in summary or "split it" not in summary, cap


@each("gravest", ["HIGH", "MEDIUM"])
@each("count", [2, 6, 14, 40])
def test_a_remark_full_of_facts_waits_for_graver_findings_that_have_none(
    gravest: str, count: int
) -> None:
    levels = [gravest, *["MEDIUM"] * count, "INFO", "LOW"]
    words = "the pool is never closed when the caller gives up on it"
    rows = [f"- {level} | A-{n} | Pool | {words}" for n, level in enumerate(levels)]
    rows[-2:] = ["- INFO | I-1 | Util | src/util.py:44 takes 40 ms in 3.2.1, src/b.py:7 52 ms"]
    text = "# Review\n\n### Findings Index\n\n" + "\n".join(rows) + "\n\nVerdict: risky\n"
    for cap in range(60, 400, 20):
        summary = engine.digest(text, cap).summary
        assert not re.search(r"MEDIUM:? \+", summary) or "I-1 - " not in summary, cap


def test_a_finding_has_no_place_of_another_row_of_the_index() -> None:
    rows = ["- HIGH | H-1 | Login | any word opens it", "- LOW | L-1 | Util | src/util.py:44 waits"]
    text = "# Review\n\n### Findings Index\n\n" + "\n".join(rows) + "\n\nVerdict: risky\n"
    told = said(text)
    assert "any word opens it" in told and "any word opens it (src" not in told


def test_of_a_deadlock_postgres_tells_who_waits_for_whom() -> None:
    log = "2026-07-01 12:00:{:02}.123 UTC [{}] LOG:  statement: SELECT * FROM item WHERE id = {}"
    before = [log.format(n, 400 + n, n) for n in range(60)]
    deadlock = [
        "2026-07-01 12:01:01.482 UTC [4711] ERROR:  deadlock detected",
        "2026-07-01 12:01:01.482 UTC [4711] DETAIL:  Process 4711 waits for ShareLock on"
        " transaction 881; blocked by process 4712.",
        "\tProcess 4712 waits for ShareLock on transaction 880; blocked by process 4711.",
        "2026-07-01 12:01:01.482 UTC [4711] HINT:  See server log for query details.",
        "2026-07-01 12:01:01.482 UTC [4711] STATEMENT:  UPDATE account SET balance = 10;",
    ]
    told = engine.digest("\n".join([*before, *deadlock, *before]), 230)
    assert "ERROR: deadlock detected" in told.key
    for part in (
        "4711 waits for ShareLock on transaction 881; blocked by process 4712",
        deadlock[2],
    ):
        assert part.strip() in told.summary
    assert "STATEMENT: UPDATE account SET balance = 10" in told.summary


def test_a_deadlock_in_go_is_told() -> None:
    lines = [f"2026/07/01 12:00:{n:02} worker {n} started" for n in range(60)]
    lines += [
        "fatal error: all goroutines are asleep - deadlock!",
        "",
        "goroutine 1 [chan receive]:",
    ]
    lines += ["main.main()", "\t/home/me/src/app/main.go:14 +0x65", "exit status 2"]
    assert "fatal error: all goroutines are asleep - deadlock!" in said("\n".join(lines), 120)


TOX = """\
lint: commands[0]> ruff check src
lint: OK ✔ in 1.52 seconds
py311: commands[0]> pytest tests
tests/test_cart.py ....................F.                                 [ 51%]
=================================== FAILURES ===================================
__________________________________ test_total __________________________________
>       assert cart.total() == 4
E       assert 3 == 4

tests/test_cart.py:88: AssertionError
=============================== warnings summary ===============================
tests/test_store.py:12
  /home/me/app/tests/test_store.py:12: DeprecationWarning: open() is deprecated
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_total - assert 3 == 4
=================== 1 failed, 40 passed, 1 warning in 0.61s ====================
py311: exit 1 (1.02 seconds) /home/me/app> pytest tests pid=4242
py311: FAIL ✖ in 9.33 seconds
py312: commands[0]> pytest tests
Traceback (most recent call last):
  File "/home/me/app/.tox/py312/bin/pytest", line 5, in <module>
    from pytest import console_main
ModuleNotFoundError: No module named 'pytest'
py312: exit 1 (0.05 seconds) /home/me/app> pytest tests pid=4250
py312: FAIL ✖ in 1.21 seconds
  lint: OK (1.52=setup[0.31]+cmd[1.21] seconds)
  py311: FAIL code 1 (9.33=setup[8.31]+cmd[1.02] seconds)
  py312: FAIL code 1 (1.21=setup[1.16]+cmd[0.05] seconds)
  evaluation failed :( (14.42 seconds)
"""


def test_tox_tells_each_failed_environment_by_name_and_each_failure_with_its_own_place() -> None:
    told = said(TOX, 300, 1)
    assert "tests/test_cart.py::test_total - assert 3 == 4 (tests/test_cart.py:88)" in told
    assert "No module named 'pytest' (/home/me/app/.tox/py312/bin/pytest:5)" in told
    assert "py311: FAIL code 1 (9.33" in told
    assert "py312: FAIL code 1 (1.21" in told
    assert "seconds) (x2)" not in told
    assert "test_store.py:12" not in told.replace(
        "is deprecated (/home/me/app/tests/test_store", ""
    )


def test_a_line_that_is_told_with_the_one_above_is_not_told_again() -> None:
    text = "CMake Error at CMakeLists.txt:40:\n  FindWolfSSL.cmake is not there\n\ndone in 3 s\n"
    said = engine.digest(text, 220).summary
    assert said.count("FindWolfSSL.cmake is not there") == 1


def test_rules_and_titles_are_not_told() -> None:
    failed = "===== FAILURES =====\nFAILED tests/a.py::test_b - no\n"
    text = f"{failed}!!!!!! stopped after 1 !!!!!!\nFailures:\n\n1 failed\n"
    said = engine.digest(text, 220).summary
    assert "==" not in said and "!!" not in said and "stopped after 1" in said
    assert "Failures:" not in said and "test_b" in said


def test_a_heading_of_a_german_manual_is_no_failure() -> None:
    page = ["DD(1)  Dienstprogramme  DD(1)", "", "BEZEICHNUNG", "  dd - konvertiert eine Datei", ""]
    page += [f"       option{n}  setzt den Wert {n} der Ausgabe" for n in range(30)]
    told = engine.digest("\n".join([*page, "", "FEHLER MELDEN", "  An das Team bei GNU."]), 200)
    assert "failed" not in [row.aspect for row in told.rows]
    assert "FEHLER: Relation fehlt" in said("FEHLER:  Relation fehlt\n")


GTEST = """\
[==========] Running 12 tests from 3 test suites.
[ RUN      ] Ring.Wraps
/srv/ring/ring_test.cc:41: Failure
Expected equality of these values:
  r.size()
    Which is: 7
  8
[  FAILED  ] Ring.Wraps (0 ms)
[ RUN      ] Ring.Pop
[       OK ] Ring.Pop (0 ms)
[ RUN      ] Store.Saves
unknown file: Failure
C++ exception with description "disk full" thrown in the test body.
[  FAILED  ] Store.Saves (3 ms)
[----------] Global test environment tear-down
[==========] 12 tests from 3 test suites ran. (4 ms total)
[  PASSED  ] 10 tests.
[  FAILED  ] 2 tests, listed below:
[  FAILED  ] Ring.Wraps
[  FAILED  ] Store.Saves

 2 FAILED TESTS
"""
ABORTED = """\
[==========] Running 12 tests from 3 test suites.
[----------] 4 tests from Ring
[ RUN      ] Ring.Pop
=================================================================
==9121==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000118 at pc 0x55d
READ of size 4 at 0x602000000118 thread T0
    #0 0x55d1c3 in Ring::pop() /srv/ring/ring.cc:27:12

SUMMARY: AddressSanitizer: heap-buffer-overflow /srv/ring/ring.cc:27:12 in Ring::pop()
==9121==ABORTING
"""


def test_what_a_test_of_gtest_says_above_its_result_is_told_once_with_its_name() -> None:
    told = said(GTEST, 300)
    place = "(/srv/ring/ring_test.cc:41)"
    assert f"Ring.Wraps: Expected equality of these values: r.size() Which is: 7 8 {place}" in told
    assert (
        'Store.Saves: C++ exception with description "disk full" thrown in the test body.' in told
    )
    assert "Ring.Pop" not in told
    assert "2 FAILED TESTS" in told


def test_a_test_that_a_sanitizer_ended_tells_its_error_and_no_number_of_tests_as_the_end() -> None:
    digest = engine.digest(ABORTED, 300)
    assert "ERROR: AddressSanitizer: heap-buffer-overflow" in digest.summary
    assert "4 tests from Ring" not in digest.key and "Running" not in digest.key


LIKE = [
    f"2026-01-{n % 28 + 1:02} 71{n:04} root /srv/files/{a}{b}-core.so"
    for n, (a, b) in enumerate(itertools.product("abcdefgh", "stuvwxyz"))
]
SAID_BELOW = """\
Discount Is Applied | FAIL |
10 percent discount missing: 100.0 != 90.0
----
ERROR in ./src/admin.ts 1:0-34
Module not found: Error: Can't resolve 'lodash' in '/srv/web'

ERROR in ./src/admin.ts 2:0-34
Module not found: Error: Can't resolve './lib/csv' in '/srv/web'

webpack 5.1.2 compiled with 2 errors in 95 ms
"""
ARCHIVE = [f"-rw-r--r-- root/root {n * 7} 2026-01-02 10:00 lib/m{n}.py" for n in range(40)]
NODE = "✖ adds (1.5ms)\nℹ tests 21\nℹ pass 11\nℹ fail 6\nℹ todo 0\nℹ duration_ms 2228.6"


@each(
    ("text", "told"),
    [
        (
            SAID_BELOW,
            ["Applied | FAIL | 10 percent discount missing", "34 Module not found: Error"],
        ),
        (SAID_BELOW, ["Can't resolve 'lodash'", "Can't resolve './lib/csv'"]),
        (
            "\n".join([*ARCHIVE, "tar: Unexpected EOF in archive"]),
            ["tar: Unexpected EOF", "40 files"],
        ),
        (NODE, ["ℹ tests 21; ℹ pass 11; ℹ fail 6"]),
        ("\n".join([*["step 1 of 9"] * 30, "E: no", "no lock was taken"]), ["no lock was taken"]),
    ],
)
def test_what_stands_beside_a_failure_is_told_with_it(text: str, told: list[str]) -> None:
    said = engine.digest(text, 200).summary
    assert [one for one in told if one not in said] == [], said


def test_lines_that_differ_in_names_are_not_told_as_one_line_that_repeats() -> None:
    said = engine.digest("\n".join(LIKE), 150).summary
    assert "(x" not in said and "/srv/files/as-core.so" in said


def test_a_failed_test_is_listed_by_its_name_alone() -> None:
    cases = [
        f"FAIL: test_{name} (tests.A.test_{name})\n{'-' * 70}\nAssertionError: {'x' * 90}"
        for name in ("add", "sum", "cut", "put", "get")
    ]
    said = engine.digest("\n\n".join(cases), 60).summary
    assert "tests.A.test_add: AssertionError" in said and "test_get" in said
    assert not re.search(r"test_\w+\)", said)


ALIKE = {  # lines of one form whose values differ, and what is told of them
    "numbers": ("step {n} of 9 took its time", range(1, 9), "step 1…8 of 9 took its time (x8)"),
    "equal": ("nothing to do here", range(4), "nothing to do here (x4)"),
    "places": ("ERROR connect to 10.0.0.{n}:543{n} refused", range(1, 4),
               "connect to 10.0.0.1:5431…10.0.0.3:5433 refused (x3)"),
    "ends": ("restart counter is at {n}.", range(1, 9), "restart counter is at 1…8. (x8)"),
    "padded": ("L: {n:3} | P: 1 | LT09", range(5, 15), "L: 5…14 | P: 1 | LT09 (x10)"),
    "offsets": ("a.o:(.text+{n:#x}): multiple definition of `f'", (0x17, 0xC2, 0x218, 0xCA),
                "a.o:(.text+0x17…0xca): multiple definition of `f' (x4)"),
    "hashes": ("Task mail[{n:x}] raised: no disk", range(0xEF19F380, 0xEF19F384),
               "Task mail[ef19f380…ef19f383] raised: no disk (x4)"),
}  # fmt: skip


@each("case", ALIKE)
def test_lines_that_differ_in_values_are_told_with_the_first_and_the_last(case: str) -> None:
    line, values, wanted = ALIKE[case]
    assert wanted in said("\n".join(["begin", *(line.format(n=n) for n in values), "end of it"]))


def test_values_that_go_up_and_down_are_told_with_the_smallest_and_the_largest() -> None:
    jobs = [f"the job took {n * 7 % 93} ms on port 80" for n in range(1, 200)]
    assert "the job took 1…92 ms on port 80 (x197)" in said("\n".join(["begin", *jobs, "end"]))


def test_an_error_that_is_there_twice_is_counted() -> None:
    lines = ["ERROR: no room on disk 7", "step 4 is done", "ERROR: no room on disk 7", "step 5"]
    assert "ERROR: no room on disk 7 (x2)" in said("\n".join(lines))


@each("end", ["", "."])
def test_sentences_of_one_form_are_told_with_the_values_in_which_they_differ(end: str) -> None:
    title = "# The gates\n\nWhat the gates said in the night.\n\n"
    rows = "".join(f"- Gate {n} was shut after {n * 3} s of wind{end}\n" for n in range(30))
    assert f"Gate 0…29 was shut after 0…87 s of wind (x30){end}" in said(title + rows)
    same = f"- The gate was shut after 3 s of wind{end}\n" * 30
    assert f"The gate was shut after 3 s of wind (x30){end}" in said(title + same)


@pytest.mark.parametrize("mark", ["", "ERROR "])
def test_of_many_lines_the_one_with_another_value_is_seen(mark: str) -> None:
    lines = [f"{mark}batch of queue 7 was sent to 25 hosts"] * 400
    lines[203] = f"{mark}batch of queue 7 was sent to 91 hosts"
    text = said("\n".join(["begin", *lines, "end of it"]))
    assert f"{mark}batch of queue 7 was sent to 25 x399, 91 x1 hosts (x400)" in text


def test_lines_that_differ_in_their_number_of_words_are_not_told_as_equal() -> None:
    assert folding.alike(["took 5 s", "took 5 s", "took 5 s 3 ms"], 100) == "took 5 s …"
    failed = [f"*** [build/part_{n}.o] Error 1" for n in (222, 333, 444)]
    assert folding.alike(failed[:2], 100) == "*** [build/part_222.o, build/part_333.o] Error 1"
    assert folding.alike(failed, 100) == "*** [build/part_222…444.o] Error 1"


def test_a_line_that_leads_on_counts_with_the_next_one_as_it_is() -> None:
    names = ["web", "api", "auth", "cron"]
    said_of = said("\n".join(f"metadata:\n  name: {name}" for name in names))
    assert "metadata: name: web, api, auth, cron (x4)" in said_of


def test_a_status_that_is_rare_is_no_other_status() -> None:
    lines = [
        f"12:00:{n % 60:02} GET /a/{n} status={503 if n % 90 == 7 else 200}" for n in range(200)
    ]
    summary = said("\n".join(lines))
    assert "status=503 (x3)" in summary and "status=200 (x197)" in summary


def test_the_heading_of_a_hunk_is_no_change_unless_it_defines() -> None:
    diff = (
        "--- a/a.ini\n+++ b/a.ini\n@@ -9,2 +9,2 @@ option_48 = 84\n-old = 1 and a\n+new = 2\n x\n"
    )
    assert "option_48" not in said(diff) and "a.ini" in said(diff)


def test_the_last_row_of_a_table_is_its_total() -> None:
    rows = [f"core/m{n}.py  {n * 10}  {n}  {90 - n}%" for n in range(1, 30)]
    summary = said("\n".join(["Name  Stmts  Miss  Cover", *rows, "TOTAL  4350  435  76%"]), 120)
    assert "29 rows" in summary and "TOTAL - Stmts: 4350, Miss: 435, Cover: 76%" in summary


def test_a_line_of_the_verdict_is_not_counted_as_left_out() -> None:
    runs = "3 failed\n  a.ts:3 opens\n1 flaky\n2 skipped\n114 passed (4.6m)"
    assert "failure words" not in said("\n".join(["Running 120 tests", *["."] * 30, runs]))


def test_of_hits_those_that_define_come_first() -> None:
    hits = [f"./m{n}.py:{n}:    x = getaddr(host, {n})" for n in range(1, 200)]
    hits[150] = "./socket.py:945:def getaddr(host, port):"
    assert "def getaddr" in said("\n".join(hits), 100)


def test_warnings_come_before_remarks() -> None:
    lines = [f"a.sh:{n}:1: note: Use $(...) instead. [SC2006]" for n in range(20)]
    lines = [line.replace("note", "style") for line in lines]
    lines.append("a.sh:77:1: warning: Use ${var:?} so that this never expands to /* . [SC2115]")
    assert "SC2115" in said("\n".join(lines), 60)


def key_of(text: str) -> str:
    return engine.digest(text, 200).key


def test_an_exit_status_is_no_key_finding_where_a_failure_is_told() -> None:
    panic = "panic: runtime error: invalid memory address\n\ngoroutine 1:\nexit status 2\n"
    assert (
        key_of(f"{'batch done' * 9}\nbatch left\n\n{panic}\nexit status 2")
        == "panic: runtime error: invalid memory address"
    )


def test_a_text_of_no_run_is_told_by_the_line_that_sums_it_up() -> None:
    lines = ["Reading package lists...", *(f"Inst lib{name} (1.0)" for name in "abcdefghijkl")]
    total = "136 upgraded, 2 newly installed, 0 to remove and 0 not upgraded."
    assert key_of("\n".join([*lines, total, "Conf zip", "Conf unzip"])) == total


def test_a_remark_about_exit_codes_is_no_verdict() -> None:
    remark = "^-- SC2181 (style): Check exit code directly with if."
    assert remark not in key_of("\n".join(["In a.sh line 3:", "cmd", remark] * 9))


def test_a_test_that_passed_when_it_was_tried_again_is_no_failure() -> None:
    lines = [
        *(f"  ✓  {n} [c] › e2e/a.ts:{n}:7 › opens {n} (1.0s)" for n in range(30)),
        "  ✘  41 [c] › e2e/b.ts:42:7 › board › restores (30.1s)",
        "  ✘  41 [c] › e2e/b.ts:42:7 › board › restores (retry #1) (30.1s)",
        "  ✘  87 [c] › e2e/s.ts:19:7 › share › copies (5.2s)",
        "  ✓  87 [c] › e2e/s.ts:19:7 › share › copies (retry #1) (1.1s)",
        *("  1 failed", "  1 flaky", "  30 passed (4.6m)"),
    ]
    summary = said("\n".join(lines))
    assert "copies (5.2s)" not in summary and summary.count("restores") == 1


def test_a_suite_of_node_is_no_test_of_its_own() -> None:
    tests = "▶ totals\n  ✔ is empty (1ms)\n  ✖ adds (2ms)\n✖ totals (11ms)\n"
    summary = said(f"{tests}ℹ tests 2\nℹ pass 1\nℹ fail 1\n")
    assert "failed: ✖ adds (2ms)" in summary and "✖ totals" not in summary


def test_of_several_environments_each_has_its_word() -> None:
    run = "Ran 74 tests in 0.022s\n\nFAILED (failures=5)\n"
    ends = "  lint: OK (1.70 seconds)\n  py311: FAIL code 1 (0.45 seconds)\n  failed :(\n"
    assert "lint: OK; py311: FAIL" in key_of(run + ends)


def test_the_largest_shares_come_first_whatever_stands_between() -> None:
    shares = [(16.51, "strcmp"), (15.05, "mcount"), (13.58, "strtoll"), (8.26, "msort"),
              *((9 - n / 2, f"other_{n}") for n in range(2, 16))]  # fmt: skip
    rows = "".join(f"  {part:5.2f}%  hot  [.] {name}\n          |\n" for part, name in shares)
    summary = said(f"# To display the header info\n# Total Lost Samples: 0\n{rows}", 120)
    assert all(name in summary for name in ("strcmp", "mcount", "strtoll"))


def test_blanks_without_end_are_read_at_once() -> None:
    began = time.process_time()
    engine.digest("error: a" + " " * 1_000_000 + "b", 100)
    assert time.process_time() - began < 5


OF_ONE_RULE = (
    "depot/gates.py:7: error: \"Gate\" has no attribute \"opened_by\"  [attr-defined]\n"
    "depot/routes.py:2: error: Module \"depot.pallets\" has no attribute \"Missing\""
    "  [attr-defined]\n"
    + "".join(f"depot/g.py:{n}: error: Name \"x{n}\" is not defined  [name-defined]\n"
              for n in range(1, 15))
)  # fmt: skip
SEARCHED = "".join(
    f"/usr/lib/python3.11/m{n % 4}.py:{n}: raise TimeoutError: {n}\n" for n in range(1, 27)
)
COVERED = """\
=================================== FAILURES ===================================
____________________________________ test_a ____________________________________
E       assert 3 == 4
tests/test_a.py:8: AssertionError
================================ tests coverage ================================
______________ coverage: platform linux, python 3.11.7-final-0 _________________
FAILED tests/test_a.py::test_a - assert 3 == 4
1 failed, 40 passed in 0.61s
"""
PARENT = (
    "--- FAIL: TestPost (0.00s)\n    --- FAIL: TestPost/entry_0 (0.00s)\n"
    "        a_test.go:3: zero\n        a_test.go:3: zero\nFAIL\n"
)
EXPECTED = """\
error[E0308]: mismatched types
 --> src/main.rs:4:120
  |
4 |     let a: String = "x";
  |            ------   ^^^ expected `String`, found `&str`
"""
SANITIZED = """\
==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x604
READ of size 4 at 0x604 thread T0
    #0 0x55a in total /tmp/mk/a.c:5
    #1 0x55b in main /tmp/mk/a.c:11
"""
ISSUES = "".join(
    f">> Issue: [{code}:{name}] {said}\n   Severity: {level}   Confidence: High\n"
    f"   More Info: https://a.org/{name}.html\n   Location: shop/a.py:{n}:4\n{n}\tcode\n\n"
    for n, (code, name, said, level) in enumerate(
        [("B110", "pass", "Try, Except, Pass detected.", "Low")] * 14
        + [("B324", "hash", "Use of weak MD5 hash.", "High")]
    )
)
FREED = """\
==1== Invalid free() / delete / delete[] / realloc()
==1==    at 0x483: free (vg_replace_malloc.c:872)
==1==    by 0x109: main (a.c:14)
"""
CERTIFICATE = (
    "Certificate:\n    Issuer: CN = Depot CA\n        Not After : Dec 25 21:20:58 2026 GMT\n"
    "    Subject: CN = dock9.depot.test\n"
    + "".join(f"            {n:02x}:db:f9:59:c9:25:73:3e:96:31:bb:52:dd:00:71:\n" * 2
              for n in range(30))
    + "        X509v3 Subject Alternative Name:\n            DNS:gate.depot.test\n"
    + "".join(f"         {n:02x}:8c:6e:b2:51:90:79:e3:62:ad:18:db:f9:59:c9:\n" for n in range(30))
)  # fmt: skip


@each(
    ("text", "told", "not_told"),
    [
        (OF_ONE_RULE, ['"Gate" has no attribute', 'Module "depot.pallets"', '"x1…x14"'], "x2,"),
        (SEARCHED, ["26 lines in 4 files"], "failed"),
        (COVERED, ["1 failed, 40 passed"], "failed: coverage"),
        (PARENT, ["TestPost/entry_0: zero (a_test.go:3)"], "--- FAIL: TestPost ("),
        (EXPECTED, ["mismatched types: expected `String`, found `&str`"], "messages"),
        (SANITIZED, ["heap-buffer-overflow on address 0x604 (/tmp/mk/a.c:5)"], "+1"),
        (
            ISSUES,
            [
                "15 messages in 1 file; 1 High, 14 Low",
                "weak MD5 hash. (shop/a.py:14:4)",
                "detected. x14, first at shop/a.py:0:4",
            ],
            "14 High",
        ),
        (FREED, ["realloc() (a.c:14)"], "(vg_replace_malloc.c:872)\n"),
        (CERTIFICATE, ["dock9.depot.test", "Dec 25 21:20:58", "DNS:gate.depot.test"], "db:f9"),
    ],
)
def test_what_another_tool_says_is_told_as_it_is(text: str, told: list[str], not_told: str) -> None:
    summary = said(text, 200)
    assert [one for one in told if one not in summary] == [], summary
    assert not_told not in summary


def test_small_values_of_json_are_told_whatever_others_are_like_them() -> None:
    checks = {name: {"ok": name != "mail", "ms": 0} for name in ("db", "mail", "queue")}
    summary = said(json.dumps({"passed": 0, "retries": 0, "ready": False, **checks}))
    assert "passed: 0, retries: 0, ready: false" in summary
    assert "db: ok: true, ms: 0" in summary and "queue: ok: true, ms: 0" in summary
    assert "mail: ok: false, ms: 0" in summary


def test_a_few_lines_that_begin_as_definitions_do_are_no_code() -> None:
    text = "Module not found\nModule x not found\nmodule load gcc\n"
    assert engine.digest(text, 100).kind == "plain"


SHELLCHECK = (
    "In a.sh line 3:\ngrep ERROR log.txt | while read -r l; do n=1; done\n"
    "                                  ^-- SC2034 (warning): l appears unused.\n"
    "                                         ^-- SC2030 (info): n is local.\n\n"
    "Did you mean: \ngrep ERROR log.txt | other\n\n\n"
    'In b.sh line 13:\nrm -rf "$S/"*\n       ^---^ SC2115 (error): Use "${var:?}".\n'
)
OCAML = (
    'File "a.ml", line 4, characters 1-5:\n4 | let x = y\n        ^\n'
    "Error: This has type float but an expression was expected of type\n         int\nexit 2\n"
)


def test_what_is_said_below_a_place_that_stands_alone_is_of_that_place() -> None:
    said = engine.digest(SHELLCHECK, 300).summary
    assert "SC2034 (warning): l appears unused." in said and "a.sh:3" in said
    assert 'b.sh:13 SC2115 (error): Use "${var:?}".' in said
    assert "failed" not in said and "grep ERROR" not in said
    said = engine.digest(OCAML, 300).summary
    assert "a.ml:4 Error: This has type float but an expression was expected of type int" in said


def test_a_count_of_no_failures_and_a_test_s_name_are_no_failure() -> None:
    text = "number of failed transactions: 0 (0.000%)\nT#test_unknown = 0.00 s = .\n"
    assert not lines.Lines("latency average = 2.5 ms\n" + text * 3).failing
    for said in ("total: 34 (low: 27, critical: 0)", "errors: 0, warnings: 2", "0 failed"):
        assert not failure_words.is_failing(said)


def test_a_count_of_none_hides_no_other_count_of_its_line() -> None:
    for said in ("failures: 3, errors: 0", "tests: 4 failed, 0 errors", "critical: 1, high: 0",
                 "error: 0 files changed"):  # fmt: skip
        assert failure_words.is_failing(said)


def test_a_number_is_never_cut_apart_in_a_range() -> None:
    assert folding.between("0.114", "0.434") == "0.114…0.434"
    assert folding.between("1,000", "3,000") == "1,000…3,000"


def test_a_place_that_names_a_row_is_told_whole() -> None:
    folder = "example.com/fx/internal/money"
    rows = "".join(f"{folder}/money.go:{n}:\tF{n}\t\t{n * 7 % 48}.5%\n" for n in range(24, 48))
    assert "money.go:34)" in engine.digest(rows, 300).summary


def test_errors_are_told_above_warnings_and_words_are_no_range() -> None:
    lines = []
    for n in range(9):
        lines += [f"m{n}.c:3:9: warning: unused variable 'u' [-Wunused-variable]",
                  f"m{n}.c:4:9: error: '{'x' if n % 2 else 'missing'}' undeclared"]  # fmt: skip
    told = engine.digest("\n".join(lines), 400).summary
    assert told.index("error: ") < told.index("warning: ")
    assert "'missing' x5, 'x' x4 undeclared" in told
    assert folding.alike((f"no {name} yet" for name in "abcd"), 60) == "no a, b, c, d yet"
    assert folding.alike((f"no {name} yet" for name in "abcde"), 60) == "no a, b, c, +2 more yet"
    assert folding.alike(('no "db_a"', 'no "db_b"', 'no "db_cc"'), 60) == 'no "db_a, b, cc"'


def test_a_number_in_many_rows_names_none_of_them_and_an_id_is_no_measure() -> None:
    def told(shares: dict[int, float]) -> str:
        rows = [f"{n * 97 % 500 + 2} root {shares.get(n, n % 6 / 10)} cmd{n}" for n in range(60)]
        return engine.digest("\n".join(["PID USER %CPU COMMAND", *rows]), 300).summary

    assert "\n%CPU: 0.0 (x10) to 8.5 (cmd41)\n" in told({41: 8.5})
    assert "\n%CPU: 0.0 (x10) to 9.5 (cmd8, +1 more); next 8.5 (cmd40)" in told(
        {40: 8.5, 8: 9.5, 44: 9.5}
    )
    assert "\nPID: " not in told({})


def test_of_several_commands_the_failed_one_is_told_first_and_each_status() -> None:
    text = "$ npm ci\nnpm error code E1\nexit 1\n$ npm install\n\nadded 56 packages in 5s\nexit 0\n"
    digest = engine.digest(text, 200)
    assert digest.key == "npm error code E1"
    assert digest.summary.index("exit 1") < digest.summary.index("added 56 packages")


def test_the_diffs_of_one_file_in_two_commits_are_of_one_file() -> None:
    diff = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n"
    commit = "commit {}\nAuthor: A <a@b.c>\nDate:   now\n\n    Say {}\n\n" + diff + "\n"
    text = commit.format("ab6e689bea", 1) + commit.format("47acb3cbe4", 2)
    assert "1 file changed, +2 -2" in engine.digest(text, 300).summary


MOCHA = "  3 passing (1s)\n  1 pending\n  1 failing\n\n  1) Q\n       it:\n     Error: no\n" + (
    "      at T (test/q.js:3:4)\n" * 50
)
MINITEST = (
    "  1) Error:\nT#test_a:\nTypeError: nil\n    rb/t.rb:11:in `x'\n\n"
    "  2) Failure:\nT#test_b [rb/t.rb:41]:\nExpected: 0\n  Actual: 4.9\n\n"
    "2 runs, 1 failures, 1 errors\n"
)
GO = (
    "=== RUN   TestPut\n--- FAIL: TestPut (0.00s)\npanic: nil map [recovered]\n\ngoroutine 7:\n"
    "testing.tRunner()\n\t/usr/lib/go-1.19/src/testing/testing.go:1396 +0x24e\n"
    "store.Put(...)\n\t/src/store.go:22\nFAIL\tx/store\t0.015s\nFAIL\n"
)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (MOCHA, ["3 passing (1s); 1 pending; 1 failing", "test/q.js:3:4"]),
        (
            MINITEST,
            [
                "T#test_a: TypeError: nil (rb/t.rb:11)",
                "T#test_b: Expected: 0, Actual: 4.9 (rb/t.rb:41)",
            ],
        ),
        (GO, ["TestPut: panic: nil map [recovered] (/src/store.go:22)"]),
    ],
)
def test_a_runner_s_failure_has_its_message_and_its_place(text: str, wanted: list[str]) -> None:
    said = engine.digest(text, 300).summary
    assert [part for part in wanted if part not in said] == []


def test_a_message_that_is_wrapped_over_lines_has_its_code() -> None:
    wrapped = "".join(
        f"till.py:{n}: error: Incompatible return value (got int, expected\n"
        f"a coin)\n[return-value]\n    return {n}\n    ^\n"
        f"till.py:{n}: error: No annotation  [no-untyped-def]\n    def till(n):\n    ^\n"
        for n in range(1, 15)
    )
    told = said(f"{wrapped}Found 28 errors in 1 file\n")
    assert "return-value x14" in told and "no-untyped-def x14" in told
    assert "expected a coin) x14" in told


def test_a_message_about_a_library_has_the_place_that_led_to_it() -> None:
    text = (
        "/usr/include/till.h: In instantiation of 'bool less(const P&)':\n"
        "/usr/include/box.h:29:32:   required from 'add(const P&)'\n"
        "shop.cpp:6:95:   required from here\n"
        "/usr/include/till.h:40:20: error: no match for 'operator<'\n"
    )
    assert "shop.cpp:6:95: /usr/include/till.h:40:20: error: no match" in said(text)


def test_a_paragraph_below_a_line_that_leads_on_is_told_whole() -> None:
    text = (
        "-- Looking for till.h\n-- Looking for till.h - found\n"
        "Till Error at TillLists.txt:40 (find_till):\n"
        '  By not providing "FindTill.till" in TILL_PATH'
        " this project has asked\n  for a configuration file that is provided by a till, but none"
        " was to be\n  found.\n\n-- Configuring incomplete, errors occurred!\n"
    )
    wanted = "this project has asked for a configuration file that is provided by a till, but none"
    assert f"{wanted} was to be found." in said(text)
    assert "; found." not in said(text)


def test_a_hunk_that_counts_wrongly_does_not_swallow_the_next_file() -> None:
    one = "--- a/src/{0}.py\n+++ b/src/{0}.py\n@@ -1,90 +1,90 @@\n import os\n-x = 1\n+x = 2\n"
    told = said("".join(map(one.format, ("one", "two", "three"))))
    assert "3 files changed, +3 -3" in told
    assert "src/two.py +1 -1" in told and "src/three.py +1 -1" in told


def test_files_of_which_a_row_shows_lines_are_not_counted_as_left_out() -> None:
    one = (
        "diff --git a/src/m{0}.py b/src/m{0}.py\n--- a/src/m{0}.py\n+++ b/src/m{0}.py\n"
        "@@ -1,3 +1,4 @@\n import os\n-value_{0} = compute(2)\n+value_{0} = compute_all(3)\n"
        "+other = {0}\n w = 5\n"
    )
    for cap in range(100, 400, 20):
        told = said("".join(map(one.format, range(20))), cap)
        named = set(re.findall(r"src/m\d+\.py(?= \+2|:)", told))
        left = re.search(r"\+(\d+) more", told)
        assert len(named) + (int(left[1]) if left else 0) == 20, told


def test_a_file_that_several_diffs_change_is_told_once() -> None:
    one = (
        "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n"
        "@@ -1,2 +1,2 @@\n import os\n-x = {0}\n+x = 7\n"
    )
    text = "".join(f"commit {n}\n\n    Set x again\n\n{one.format(n)}" for n in range(3))
    assert said(text).count("a.py +3 -3") == 1


def test_the_place_of_a_warning_is_not_that_of_a_failure_above_it() -> None:
    text = (
        "FAIL: test_total (tests.sums.Sums.test_total)\n" + "-" * 70 + "\n"
        "Traceback (most recent call last):\nAssertionError: 3 != 4\n"
        "/srv/app/lib/dates.py:77: DeprecationWarning: utcnow is deprecated\n"
        "  return datetime.utcnow()\n\n"
        + "-" * 70
        + "\nRan 1 test in 0.001s\n\nFAILED (failures=1)\n"
    )
    told = said(text)
    assert "AssertionError: 3 != 4" in told
    assert "3 != 4 (/srv/app/lib/dates.py:77)" not in told


RECAP = "web{} : ok=3    changed=1    unreachable={}    failed=0    skipped=0\n"
PLAY = (
    "PLAY [web] ***************************************\n\n"
    "TASK [install a server] **************************\nchanged: [web8]\nchanged: [web9]\n\n"
    "PLAY RECAP ***************************************\n"
)


def test_counts_by_name_are_the_last_word_of_a_run() -> None:
    good = engine.digest(PLAY + RECAP.format(8, 0) + RECAP.format(9, 0), 200)
    assert good.key.startswith("web8 : ok=3") and not good.key.count("failed:")
    bad = engine.digest(PLAY + RECAP.format(8, 1) + RECAP.format(9, 0), 200)
    assert "unreachable=1" in bad.key and "web9" not in bad.key


def test_no_failures_are_not_taken_for_some() -> None:
    text = "suite a: ran\nsuite b: ran\n12 passed, 0 failed in 3 s\n"
    assert engine.digest(text + "error: could not write the report to /srv/r\n", 200).key != ""
    verdicts = [unit for unit in outputs.units(text)[1] if unit.group == "verdict"]
    assert [unit.text for unit in verdicts] == ["12 passed, 0 failed in 3 s"]


def test_what_failed_comes_before_a_last_word_that_names_nothing() -> None:
    text = (
        "-- Found threads\nTill Error at TillLists.txt:40 (find_till):\n"
        "  No till was found.\n\n-- Configuring incomplete, errors occurred!\n"
    )
    assert (
        engine.digest(text, 200).key
        == "Till Error at TillLists.txt:40 (find_till): No till was found."
    )


def test_what_a_passing_test_printed_with_its_place_is_not_its_failure() -> None:
    printed = "  console.warn src/config.js:{}\n    Warning: Failed to read option {}\n\n"
    text = "PASS src/config.test.js\n" + "".join(printed.format(n, n) for n in range(20))
    text += "\nTest Suites: 1 passed, 1 total\nTests:       41 passed, 41 total\n"
    assert "41 passed" in engine.digest(text, 200).key


def test_a_usage_over_several_lines_is_no_description() -> None:
    text = (
        "Usage\n\n  forge [options] <source>\n  forge [options] <build>\n\n"
        "Specify a source to make a build system for it in the\ncurrent folder.\n\nOptions\n"
    )
    text += "".join(f"  -{letter} <value>     Say what {letter} is for\n" for letter in "abcdefgh")
    key = engine.digest(text, 200).key
    assert key == "Specify a source to make a build system for it in the current folder."


def test_a_review_without_grave_findings_tells_the_middle_ones_before_the_slight() -> None:
    text = "# Review\n\n### INFO: The module has a long name\n\nThis is a matter of taste.\n\n"
    text += "".join(
        f"### MEDIUM: Batch {n} is read twice\n\nIn `src/b{n}.py:{n}` a batch is read again.\n\n"
        for n in range(12)
    )
    digest = engine.digest(text, 200)
    assert digest.kind == "review" and "Batch 0 is read twice" in digest.key
    left = int(re.findall(r"MEDIUM \+(\d+) more", digest.summary)[0])
    assert left + len(re.findall(r"read twice \(src", digest.summary)) == 12


def test_a_message_below_its_place_is_counted() -> None:
    warned = "src/P{0}.hs:3:7: warning: [-Wunused]\n    The import of {0} is redundant\n"
    failed = "src/M{0}.hs:7:4: error:\n    Couldn't match type {0}\n"
    text = "".join(map(warned.format, range(9))) + "".join(map(failed.format, range(5)))
    told = said(text)
    assert "14 messages in 14 files; 5 errors, 9 warnings" in told


def test_the_last_row_with_a_colon_behind_its_name_is_the_total() -> None:
    rows = "".join(f"L{n}      {n + 2}     {n * 7 + 3}     {n * 90 + 11}\n" for n in range(8))
    total = sum(n * 90 + 11 for n in range(8))
    told = said(f"Language  files  blank  code\n{rows}SUM:    44     220     {total}\n")
    assert "8 rows" in told and f"to {total}" not in told


def test_failed_files_that_are_no_range_are_named() -> None:
    rows = "".join(f"t/{n:02}_part.t (exited 1) Failed: 1\n" for n in range(0, 30, 3))
    text = "".join(f"t/{n:02}_part.t .. ok\n" for n in range(31) if n % 3) + rows
    assert "t/00_part.t, t/03_part.t, t/06_part.t, t/09_part.t, t/12_part.t, t/15_part.t" in said(
        text
    )


def test_what_is_joined_to_a_row_of_another_aspect_is_not_told_as_of_it() -> None:
    rows = [engine.Row(f"aspect {n}", "word " * 20, n) for n in range(6)]
    rows += [engine.Row("removed", "a.py", 7), engine.Row("", "Add a tax", 8)]
    *_, last = engine._few(rows, 7)
    assert (last.aspect, last.finding) == ("", "removed: a.py; Add a tax")


def test_passed_tests_with_long_names_are_no_prose() -> None:
    rows = "".join(
        f"test_{word}_of_a_ship (fleet.test_harbor.HarborTest.test_{word}_of_a_ship) ... ok\n"
        for word in ("crew", "mast", "sail", "keel", "deck", "rope", "flag", "hull") * 9
    )
    text = f"{rows}\n{'-' * 70}\nRan 72 tests in 0.044s\n\nOK (skipped=4)\n"
    assert engine.digest(text, 200).key == "Ran 72 tests in 0.044s; OK (skipped=4)"


def test_a_session_with_tables_of_bars_is_no_report() -> None:
    rows = "".join(f"| berths | {n * 17} | ship |\n" for n in range(40))
    text = (
        "select * from berths;\nRuntime error near line 15: CHECK failed: length > 0 (19)\n"
        f"pragma key_check;\n+--------+----+------+\n{rows}+--------+----+------+\n"
    )
    digest = engine.digest(text, 200)
    assert digest.kind != "report"
    assert digest.key == "Runtime error near line 15: CHECK failed: length > 0 (19)"


def test_what_a_process_says_of_its_end_comes_before_what_is_refused_to_strangers() -> None:
    guests = "".join(
        f"Nov 24 20:{n:02}:01 pier sshd[{n * 31 + 900}]: Invalid user {name} from 198.51.100.{n}\n"
        for n, name in enumerate(("ada", "root", "test", "git", "oracle", "pi") * 8)
    )
    text = (
        f"{guests}Nov 24 22:11:43 pier kernel: Out of memory: Killed process 31 (crane)\n"
        'Nov 24 22:11:51 pier crane[88]: level=fatal msg="cannot bind" addr=:8080\n'
        "Nov 24 22:12:17 pier systemd[1]: Failed to start crane.service - Crane.\n"
    )
    told = said(text, 150)
    assert "Out of memory: Killed process 31 (crane)" in told
    assert 'level=fatal msg="cannot bind" addr=:8080' in told
    assert "Failed to start crane.service" in told


def test_the_status_of_an_answer_and_what_has_expired_are_failures() -> None:
    head = "".join(f"< X-Header-{n}: {n * 7}\n" for n in range(60))
    text = (
        "client: (60) certificate problem: certificate has expired\n"
        f"> GET /berths HTTP/1.1\n< HTTP/1.1 401 Unauthorized\n{head}< HTTP/1.1 200 OK\n"
    )
    told = said(text)
    assert "certificate has expired" in told and "HTTP/1.1 401 Unauthorized" in told


def test_a_panic_is_told_with_what_its_test_printed_above_it() -> None:
    text = (
        "=== RUN   TestLoad\n    load_test.go:6: loading a ship of no size\n"
        "--- FAIL: TestLoad (0.00s)\npanic: runtime error: index out of range [0]\n"
        "goroutine 7 [running]:\n=== RUN   TestSail\n==================\nWARNING: DATA RACE\n"
        "==================\n    sail_test.go:9: race detected during execution of test\n"
        "--- FAIL: TestSail (0.00s)\nFAIL\nexit status 2\n"
    )
    told = said(text)
    assert "loading a ship of no size (load_test.go:6); panic: runtime error: index out" in told
    assert "TestSail: race detected during execution of test" in told


def test_a_row_that_failed_is_told_with_the_failures_around_its_table() -> None:
    rows = "".join(
        f'{{"at":"10:00:{n:02}","level":"info","msg":"loaded berth {n}"}}\n' for n in range(30)
    )
    text = (
        f'$ crane logs\n{rows}{{"at":"10:00:31","level":"fatal","msg":"no key in vault"}}\n'
        "$ crane wait\nerror: timed out waiting for the crane\n"
    )
    told = said(text, 120)
    assert "level: fatal, msg: no key in vault" in told and "error: timed out" in told


def test_a_mark_in_brackets_says_what_failed() -> None:
    text = "".join(f"remote: chunk {n} of {n * 7}\n" for n in range(40))
    text += " ! [rejected]        main -> main (non-fast-forward)\nhint: fetch first\n"
    assert "! [rejected] main -> main (non-fast-forward)" in engine.digest(text, 100).key


def test_the_count_below_a_table_is_no_row_of_it() -> None:
    rows = "".join(f"  {n} | berth{n} | {n * 7}\n" for n in range(1, 91))
    told = said(f" id | name | length\n----+------+--------\n{rows}(90 rows)\n\n")
    assert "90 rows, 3 columns" in told and "91" not in told


MONTHLY = "\n\n".join([
    "1. Summary", "The depot shipped nothing for three hours on Monday, and 6,214 orders were late"
    " by a day or more. No order was lost, and no payment was taken twice from anyone. The shop was"
    " up all the time, which is why it took nearly three hours until somebody noticed.",
    "2. Root cause", "The client of the broker changed publish() to a coroutine, never awaited"
    " here. Nothing was sent, and nothing failed: no alert could have been raised of it. The"
    " tests of the router put a stand-in in its place, and that takes any call as it comes.",
    "3. Costs", "Two hundred vouchers of ten euros were sent to those whose parcels came too late."
    " Eight people of the depot stayed for two more hours in the evening to pack what was left. The"
    " level that was agreed on with the partners was kept, since it counts the shop alone.",
])  # fmt: skip
MINUTES = "".join(f"07:{n:02}  12  {8812 + n * 31}  {8810 + n * 7}  {n % 3}\n" for n in range(60))


def test_what_stands_below_a_numbered_title_is_of_that_title_although_a_table_follows() -> None:
    for text in (MONTHLY, f"{MONTHLY}\n\nFigures\n\ntime   pods  sent  got  bad\n{MINUTES}"):
        digest = engine.digest(text, 300)
        said = {row.aspect: row.finding for row in digest.rows}
        assert digest.kind == "plain" and "6,214 orders" in f"{digest.key} {said['Summary']}"
        assert "never awaited" in said["Root cause"] and "2. Root cause" not in digest.summary


def test_rows_of_figures_that_begin_with_a_time_are_a_table() -> None:
    digest = engine.digest(f"time   pods  sent  got  bad\n{MINUTES}", 200)
    assert digest.kind == "table" and "60 rows, 5 columns: time, pods, sent, got, bad" in digest.key
    log = "".join(f"07:{n:02}:01 worker {n} took 3 jobs and 4 more\n" for n in range(60))
    assert engine.digest(log, 200).kind != "table"


def test_messages_among_the_source_that_was_run_are_told() -> None:
    rows = "".join(f"INSERT INTO site VALUES ({n}, 'S{n}');\nINSERT 0 1\n" for n in range(900))
    failed = 'psql:load.sql:900: ERROR:  duplicate key value violates "site_key"\n'
    made = "BEGIN;\nBEGIN\nCREATE TABLE site(id int, code text unique);\nCREATE TABLE\n"
    text = f"{made}{rows}{failed}"
    digest = engine.digest(text, 200)
    assert digest.kind == "log" and "load.sql:900" in digest.key and "site_key" in digest.key


def test_of_the_jobs_in_one_log_the_one_that_failed_is_told_alone() -> None:
    def job(name: str, last: str) -> str:
        lines = (*(f"step {n} of the job is done" for n in range(30)), last)
        return "".join(
            f"{name}\tUpload\t2026-11-24T08:14:{n:02}.2440001Z {line}\n"
            for n, line in enumerate(lines)
        )

    arm = job("build (arm64)", "##[error]upload refused")
    digest = engine.digest(job("build (x64)", "Artifact uploaded") + arm, 200)
    assert all(part in f"{digest.key} {digest.summary}" for part in ("upload refused", "(arm64)"))
    assert digest.kind == "log" and "uploaded" not in digest.summary


@each("text", [a_junit(2), a_go_run(2), a_tap(2), "Traceback (most recent call last):\nKeyError"])
def test_the_last_line_of_what_failed_is_told_only_if_nothing_says_why(text: str) -> None:
    assert "last line" not in said(text, status=1)
    assert "last line: b" in said("a\nb\n", status=1)


def test_of_two_runs_of_mocha_the_tests_listed_by_the_second_are_no_blocks_of_the_first() -> None:
    run = (
        "  {0}\n    ✔ is fine\n    1) {0} sums\n    - waits\n    2) {0} rounds\n\n"
        "  1 passing (3ms)\n  1 pending\n  2 failing\n\n"
        "  1) {0}\n       sums:\n     RangeError: no rate in {0}\n      at {0}.js:5:28\n\n"
        "  2) {0}\n       rounds:\n     TypeError: no digits in {0}\n      at {0}.js:9:3\n\n\n"
    )
    summary = said(run.format("cart") + run.format("tax"))
    for name in ("cart", "tax"):
        assert f"{name} sums: RangeError: no rate in {name}" in summary
        assert f"{name} rounds: TypeError: no digits in {name}" in summary
    assert "waits (" not in summary and summary.startswith(
        "1 passing (3ms); 1 pending; 2 failing\n"
    )


def test_a_file_in_conflict_in_two_diffs_is_one_file() -> None:
    diff = (
        "diff --cc f.txt\nindex a5d2a7c,179377d..0000000\n--- a/f.txt\n+++ b/f.txt\n"
        "@@@ -1,3 -1,3 +1,7 @@@\n  a\n++<<<<<<< HEAD\n +mine\n++=======\n+ other\n++>>>>>>> other\n"
    )
    assert "1 file in conflict" in said(diff * 2)


def test_javac_says_which_symbol_it_cannot_find() -> None:
    text = (
        "src/A.java:3: error: incompatible types: String cannot be converted to int\n"
        "  int f(String s) { return s; }\n                           ^\n"
        "src/B.java:4: error: cannot find symbol\n    gone();\n    ^\n"
        "  symbol:   method gone()\n  location: class B\n2 errors\n"
    )
    of_maven = (
        "[ERROR] /srv/A.java:[3,5] incompatible types\n"
        "[ERROR] /srv/B.java:[4,7] cannot find symbol\n"
        "[ERROR]   symbol:   class Gone\n[ERROR]   location: package b\n"
    )
    assert "to int; src/B.java:4: error: cannot find symbol: method gone()" in said(text)
    assert "cannot find symbol: class Gone" in said(of_maven)
    assert "types: class" not in said(of_maven)


def test_source_that_a_tool_quotes_or_points_at_is_no_failure() -> None:
    quoted = (
        ">> Issue: [B110:try_except_pass] Try, Except, Pass detected.\n"
        "   Severity: Low   Confidence: High\n   Location: ./src/a.py:12:4\n"
        "11\t        read()\n12\t    except OSError as error:\n13\t        pass\n"
    )
    assert "failed: " not in said(quoted)
    pointed = "Error: in prepare, no such column: nope\n  select nope;\n    ^--- error here\n"
    assert engine.digest(pointed, 200).key == "Error: in prepare, no such column: nope"


def test_an_exception_at_the_end_is_the_key_even_if_others_failed_before() -> None:
    text = (
        "10:01 ERROR no lease for batch 7\nTraceback (most recent call last):\n"
        '  File "shop.py", line 7, in <module>\n    load()\nConfigError: no config at shop.json\n'
    )
    assert engine.digest(text, 200).key == "ConfigError: no config at shop.json (shop.py:7)"


@each("word", ["[warn] ", "would reformat ", ""])
def test_what_a_command_lists_before_it_fails_is_told_with_its_last_line(word: str) -> None:
    files = "".join(f"{word}src/view_{n}.ts\n" for n in range(90))
    summary = said(f"Checking formatting...\n{files}Style issues in 90 files.\n", status=1)
    assert "src/view_0" in summary and summary.count("Style issues in 90 files.") == 1

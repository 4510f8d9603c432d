"""A run of tests is told as one, by what its runner prints itself, whatever source it quotes."""

from __future__ import annotations

from conftest import each
from contextkit.text.digests import engine, outputs

CASE = '''\
{banner}

self = <test_till.TestTill object at 0x7f01>, till = {{'name': 'a'}}, n = {n}

    @pytest.mark.parametrize("n", range(9))
    def test_sum(self, till, n):
        """A till adds up.

        # What it adds

        - coins
        - notes
        """
        if n < 20:
            for at in range(3):
                till[at] = n
        def deeper(at):
            return deeper(at - 1) if at else n
>       assert deeper(2) == n + 1
E       assert {n} == ({n} + 1)

shop/test_till.py:{line}: AssertionError
'''
NAMED = "FAILED shop/test_till.py::TestTill::test_sum[{n}] - assert {n} == ({n} + 1)\n"
DOTS = "F" * 30 + " [100%]\n"
BEGUN = "================ test session starts ================\ncollected 30 items\n\n"


def a_run(cases: int, ending: str, begun: str = "") -> str:
    """What a runner prints of tests that all failed: each with its source."""
    banners = [f"________________ TestTill.test_sum[{n}] ________________" for n in range(cases)]
    told = "".join(CASE.format(banner=b, n=n, line=17 + n) for n, b in enumerate(banners))
    named = "".join(NAMED.format(n=n) for n in range(cases))
    title = "\n======================= FAILURES =======================\n"
    summary = "=============== short test summary info ===============\n"
    return f"{begun}{DOTS}{title}{told}{summary}{named}{ending}\n"


QUOTING = {
    "a count between rules": a_run(
        20, "=========== 20 failed, 4 passed in 0.12s ===========", BEGUN
    ),
    "a bare count": a_run(5, "5 failed, 4 passed in 0.12s"),
    "nothing, since it was killed": a_run(8, "", BEGUN),
}


@each("name", QUOTING)
@each("cap", [150, 260, 600])
def test_a_run_that_quotes_source_is_a_log_with_its_verdict_and_failures(
    name: str, cap: int
) -> None:
    text = QUOTING[name]
    digest = engine.digest(text, cap)
    assert digest.kind == "log"
    if "4 passed" in text:
        assert "failed, 4 passed in 0.12s" in digest.key
    assert "test_sum[0…" in digest.summary and "shop/test_till.py:17" in digest.summary
    assert "definitions" not in digest.summary


def test_lines_that_name_failed_tests_are_no_rows_of_a_table() -> None:
    for ending in ("", "============== 40 failed, 1000 passed in 3.03s =============="):
        text = f"{BEGUN}{DOTS}{''.join(NAMED.format(n=n) for n in range(40))}{ending}\n"
        digest = engine.digest(text, 260)
        assert "rows" not in digest.summary and "column" not in digest.summary
        assert "outlier" not in digest.summary and (not ending or ending.strip("= ") == digest.key)


RUST = """\
---- till::tests::adds_{n} stdout ----
fn adds_{n}() {{
    let till = Till::new();
    use till::Coin;
    for coin in coins() {{
        till.add(coin);
    }}
}}
thread 'till::tests::adds_{n}' panicked at src/till.rs:{n}:9:
assertion failed
"""
WORDS = [
    "test result: FAILED. 3 passed; 6 failed; 0 ignored; finished in 0.21s",
    "Tests:       6 failed, 3 passed, 9 total",
    "  3 passing (20ms)\n  6 failing",
    "9 examples, 6 failures",
    "Tests: 9, Assertions: 12, Failures: 6.",
    "9 runs, 12 assertions, 6 failures, 0 errors, 0 skips",
    "Tests run: 9, Failures: 6, Errors: 0, Skipped: 0",
    "Ran 9 tests in 0.004s\n\nFAILED (failures=6)",
    "Failed!  - Failed:     6, Passed:     3, Skipped:     0, Total:     9, Duration: 1 s",
    "Executed 9 tests, with 6 failures (0 unexpected) in 0.1 seconds",
    "FAIL\nFAIL\tshop/till\t0.004s\nFAIL",
    "Files=2, Tests=9,  1 wallclock secs\nResult: FAIL",
    "67% tests passed, 6 tests failed out of 9",
]


@each("ending", WORDS)
def test_a_run_is_known_by_its_last_word_whatever_the_runner(ending: str) -> None:
    text = "".join(RUST.format(n=n) for n in range(6)) + "\n" + ending + "\n"
    kind, units = outputs.units(text)
    assert kind != "code" and not any(unit.aspect == "defines" for unit in units)


SOURCE = '''\
"""What runners print, and what is told of it."""

from __future__ import annotations

import re

ENDS = """
___________ test_sum ___________
=========== 1 failed, 2 passed in 0.12s ===========
Tests: 1 failed, 2 passed
"""


def first(text: str) -> str:
    """The first word."""
    return re.split(" ", text)[0]


def last(text: str) -> str:
    if not text:
        return ""
    return re.split(" ", text)[-1]


def count(text: str) -> dict[str, int]:
    return {"passed": 2, "failed": 1}
'''


def test_source_that_quotes_a_run_is_source() -> None:
    assert engine.digest(SOURCE, 200).kind == "code"


TRACE = """\
======================================================================
FAIL: test_{n} (__main__.Till.test_{n})
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/srv/shop/till.py", line 7, in test_{n}
    self.check({n})
AssertionError: {n} != {m}
"""


def test_of_tests_whose_results_stand_above_their_messages_each_has_its_own() -> None:
    above = "".join(f"test_{n} (__main__.Till.test_{n}) ... FAIL\n" for n in range(40))
    below = "".join(TRACE.format(n=n, m=n + 1) for n in range(40))
    text = f"{above}\n{below}\nRan 40 tests in 0.003s\n\nFAILED (failures=40)\n"
    digest = engine.digest(text, 300)
    failed = next(row.finding for row in digest.rows if row.aspect == "failed")
    assert "test_0: AssertionError: 0 != 1 (/srv/shop/till.py:7)" in failed
    assert "test_3: AssertionError: 3 != 4" in failed and "..." not in failed


DOTNET = """\
  Failed Shop.Till.Sums(n: {n}) [2 ms]
  Error Message:
   Assert.Equal() Failure: Values differ
Expected: {m}
Actual:   {n}
  Stack Trace:
     at Shop.Till.Sums(Int32 n) in /srv/Till.cs:line 1{n}
"""
NUMBERED = """
  {m}) test sums {n} (TillTest)
     test/till_test.exs:1{n}
     Assertion with == failed
     code:  assert Till.sum({n}) == {m}
     left:  {n}
     right: {m}
"""
DRAWN = """
  {m}) [chromium] › tests/till.spec.ts:1{n}:5 › sums {n} ──────────

    Error: expect(locator).toHaveText(expected) failed

    Expected: "{m}"
    Received: "{n}"

        at /srv/tests/till.spec.ts:1{n}:38
"""
BLOCKS = [
    (DOTNET, "Failed!  - Failed:     6, Passed:     3, Skipped:     0, Total:     9",
     "Sums(n: {n}): Assert.Equal() Failure: Values differ, Expected: {m}, Actual: {n}"
     " (/srv/Till.cs:1{n})"),
    (NUMBERED, "\n9 tests, 6 failures",
     "test sums {n} (TillTest): left: {n}, right: {m} (test/till_test.exs:1{n})"),
    (DRAWN, "  6 failed\n" + "".join(f"    [chromium] › tests/till.spec.ts:1{n}:5 › sums {n} ───\n"
                                    for n in range(6)) + "  3 passed (12.3s)",
     "till.spec.ts:1{n}:5 › sums {n}: Error: expect(locator).toHaveText(expected) failed,"
     ' Expected: "{m}", Received: "{n}"'),
]  # fmt: skip


@each(("block", "ending", "wanted"), BLOCKS)
def test_a_failed_test_has_its_name_its_values_and_its_place(
    block: str, ending: str, wanted: str
) -> None:
    text = "".join(block.format(n=n, m=n + 1) for n in range(6)) + f"{ending}\n"
    digest = engine.digest(f"Running 9 tests\n×××F××\n{text}", 450)
    failed = next(row.finding for row in digest.rows if row.aspect == "failed")
    assert all(wanted.format(n=n, m=n + 1) in failed for n in range(6))
    assert "with failure words" not in digest.summary and "×F" not in digest.summary


def test_a_list_of_steps_is_no_list_of_failed_tests() -> None:
    steps = "".join(f"  {n}) Stop node {n}\n     if it cannot be reached\n" for n in range(1, 9))
    units = outputs.units(f"How to drain the queue\n{steps}")[1]
    assert not any(unit.group == "failed" for unit in units)


def test_the_result_of_one_test_is_no_verdict_of_the_run() -> None:
    cases = "".join(
        f"Test Case 'Till.sums{n}' started.\nTest Case 'Till.sums{n}' failed (0.00{n} seconds)\n"
        for n in range(9)
    )
    digest = engine.digest(f"{cases}Executed 9 tests, with 9 failures in 0.1 seconds\n", 200)
    assert digest.key == "Executed 9 tests, with 9 failures in 0.1 seconds"
    assert "sums0…sums8' failed (0.000…0.008 seconds) (x9)" in digest.summary


def test_a_part_that_a_tool_cuts_out_of_a_message_is_no_part_that_the_text_lacks() -> None:
    cut = "E       ...Full output truncated (5 lines hidden), use '-vv' to show\n"
    text = a_run(2, "2 failed in 0.12s", BEGUN).replace("\nshop", f"\n{cut}shop", 1)
    assert "lacks a part" not in engine.digest(text, 300).summary
    for cut in ("[Output truncated]", "... output was truncated ...", "…9000 tokens truncated…"):
        assert "lacks a part" in engine.digest(f"{text}{cut}\n", 300).summary


def test_a_cut_is_looked_for_once_in_each_line() -> None:
    text = "---\n" * 250_000 + "one is omitted"
    assert "lacks a part" not in engine.digest(text, 300).summary  # it took hours


QUOTED = "".join(
    f"""
In bin/till.sh line {n}:
  echo 'till:' $total "exited with unknown exit code" "($ret)" >&2
                    ^-- SC2086 (info): Double quote to prevent splitting.
"""
    for n in (7, 9, 12)
)


def test_source_that_a_linter_quotes_is_not_its_last_word() -> None:
    digest = engine.digest(f"{QUOTED}\nFor more information:\n  https://lint.example/SC2086\n", 200)
    assert "exited with" not in digest.key and "SC2086" in digest.summary


def a_drawing(n: int) -> str:
    """A message above an arrow, with its source and how to mend it."""
    return f"""\
Q{n % 3:03} Bad quotes are used in part {n}
  --> shop/till_{n}.py:{n}:5
   |
 {n} | try:
   |     ^^^^ here
13 |     except OSError: raise ValueError('no coins, an error of part {n}')
   |
help: Use the others
   |
   -     except OSError: raise ValueError('no coins, an error of part {n}')
13 +     except OSError: raise ValueError("no coins, an error of part {n}")
   |

"""


def test_source_that_is_drawn_below_a_message_is_no_failure() -> None:
    text = "".join(map(a_drawing, range(1, 200))) + "Found 199 errors.\n"
    digest = engine.digest(text, 300)
    assert digest.key == "Found 199 errors."
    assert "except OSError" not in digest.summary and "failing" not in digest.summary
    assert not any(row.aspect == "failed" for row in digest.rows)
    assert "199 messages" in digest.summary and "Q000 x66" in digest.summary


TAP = """\
TAP version 13
not ok 1 - sums
  ---
  location: '/srv/till.mjs:2:1'
  error: |-
    Expected values to be strictly equal:
    + actual - expected

    + 0.30000000000000004
    - 0.3
  expected: 0.3
  actual: 0.30000000000000004
  ...
not ok 2 - lists
  ---
  error: |-
    Expected values to be strictly deep-equal:
    + actual - expected

      {
    +   coins: 1
    -   coins: 2
  expected:
    coins: 2
  ...
not ok 3 - names
  ---
  error: 'The input did not match /x/. Input:'

  'abc'
  ...
ok 4 - counts
1..4
"""


def test_a_message_that_ends_in_a_colon_goes_on_with_the_values() -> None:
    told = engine.digest(TAP, 300).summary
    assert "strictly equal: expected: 0.3, actual: 0.30000000000000004 (/srv/till.mjs:2:1)" in told
    assert "strictly deep-equal: + coins: 1, - coins: 2" in told
    assert "Input: 'abc'" in told


@each(
    ("below", "told"),
    [
        ("  at:\n    line: 12\n    column: 3\n    file: test/a.js", "deep: no (test/a.js:12)"),
        ("  file: 't/a.t'\n  line: 77", "deep: no (t/a.t:77)"),
        ("  at: Test.<anonymous> (file:///w/a.mjs:5:7)", "deep: no (/w/a.mjs:5:7)"),
        ("  found:\n    file: b.txt\n    line: 1\n  at: t/a.js:4", "deep: no (t/a.js:4)"),
        ("  stack: |-\n" + "    at: b.js:1:2\n" * 60 + "  at: t/a.js:4", "deep: no (t/a.js:4)"),
        ("  found:\n    at: b.js:1:2", "deep: no"),
        ("  file: b.txt\n  line: last", "deep: no"),
        ("  ...\nat: b.js:3:4\nfile: c.js\nline: 5", "deep: no"),
    ],
)  # fmt: skip
def test_where_a_test_failed_is_told_from_its_own_block(below: str, told: str) -> None:
    text = f"TAP version 13\nnot ok 1 - deep\n  ---\n  message: 'no'\n{below}\n  ...\n"
    rest = "".join(f"ok {n} - case\n" for n in range(2, 9))
    assert [row.finding for row in engine.digest(text + rest, 300).rows if row.line == 2] == [told]


def test_a_place_below_a_test_without_a_block_is_not_its_own() -> None:
    text = "TAP version 13\n1..2\nnot ok 1 - deep\nat: b.js:3:4\nnot ok 2 - other\n"
    after = "  ---\n  at: t/a.js:4\n  ...\n"
    told = engine.digest(text + after, 300).summary
    assert "b.js" not in told and "other: (t/a.js:4)" in told


def test_runs_that_a_runner_names_alike_are_no_report() -> None:
    one = """\
Run options: --seed 1

# Running:

E.

Finished in 0.0007s, 4076.3030 runs/s, 2717.5353 assertions/s.

  1) Error:
TillTest#test_boom:
RuntimeError: no till
    till.rb:4:in `test_boom'

2 runs, 1 assertions, 0 failures, 1 errors, 0 skips
"""
    digest = engine.digest(one * 12, 150)
    assert (
        digest.kind == "log" and digest.key == "2 runs, 1 assertions, 0 failures, 1 errors, 0 skips"
    )
    assert "TillTest#test_boom: RuntimeError: no till (till.rb:4)" in digest.summary


def test_a_warning_that_is_raised_is_the_last_word() -> None:
    text = 'File "<string>", line 1, in <module>\n  warn("old", DeprecationWarning)\n'
    text += "DeprecationWarning: old\n"
    assert engine.digest(text, 100, status=1).key.startswith(
        "exit status 1; DeprecationWarning: old"
    )


GO = """\
=== RUN   TestPanic
--- FAIL: TestPanic (0.00s)
panic: assignment to entry in nil map [recovered]
	panic: assignment to entry in nil map

goroutine 20 [running]:
till.TestPanic(0xc0000a3520?)
	/srv/till_test.go:5 +0x2e
created by testing.(*T).Run
	/usr/lib/go-1.19/src/testing/testing.go:1493 +0x35f
FAIL	till	0.030s
FAIL
"""


def test_the_line_with_which_a_test_begins_is_no_failure_and_a_frame_no_last_word() -> None:
    digest = engine.digest(f"=== RUN   TestError\n--- PASS: TestError (0.00s)\n{GO}", 200)
    assert "RUN" not in digest.summary and "created by" not in digest.summary
    assert "TestPanic: panic: assignment to entry in nil map" in digest.summary


def test_a_text_of_lines_of_one_form_is_told_by_it() -> None:
    told = engine.digest("".join(f"line {n} ok\n" for n in range(3000)), 200).summary
    assert "line 1…2999 ok (x2999)" in told


LISTED = """\
Till
  adds coins
  halves odd totals (FAILED - 1)
  weighs notes (FAILED - 2)

Failures:

  1) Till halves odd totals
     Failure/Error: expect(till.half).to eq 2.5

       expected: 2.5
            got: 2
     # ./spec/till_spec.rb:12:in `block'

  2) Till weighs notes
     Failure/Error: till.weigh

     KeyError:
       note 7 unknown
     # ./spec/till_spec.rb:19:in `block'

3 examples, 2 failures

Failed examples:

rspec ./spec/till_spec.rb:10 # Till halves odd totals
rspec ./spec/till_spec.rb:18 # Till weighs notes
"""


def test_lines_that_name_a_failed_test_again_are_neither_told_nor_counted() -> None:
    digest = engine.digest(LISTED, 250)
    assert "Till halves odd totals: expected: 2.5, got: 2" in digest.summary
    assert "rspec ./spec" not in digest.summary and "failure words" not in digest.summary


def test_two_failures_are_never_one_sentence() -> None:
    text = "till.c:3: main: Assertion `coins' failed.\n\n3/3 Test  #3: flood ...***Timeout\n"
    text += "90% tests passed, 2 tests failed out of 3\n\nThe following tests FAILED:\n"
    text += "\t  2 - lease (Subprocess aborted)\n\t  3 - flood (Timeout)\n"
    failed = [row.finding for row in engine.digest(text, 250).rows if row.aspect == "failed"]
    assert (
        "failed; " in failed[0]
        and "2 - lease (Subprocess aborted); 3 - flood (Timeout)" in failed[0]
    )


def test_fields_without_a_value_do_not_take_the_place_of_the_cause() -> None:
    long = ", ".join(f'"f{n}": "a long value that says little"' for n in range(4))
    line = f'fatal: [db]: FAILED! => {{{long}, "msg": "no coins", "rc": 7, "out": "", "lines": [], '
    text = f'{line}"err": "", "stdout": "", "stdout_lines": []}}\n'
    told = engine.digest(f"TASK [count]\n{text}ok: [web]\n", 200).summary
    assert "[db]: FAILED! => msg: no coins, rc: 7" in told and '""' not in told


def test_the_header_of_a_table_and_a_bare_level_are_no_failures() -> None:
    text = "till.ts:3:1 - error TS2322: No coin.\n\nFound 1 error.\n\n"
    text += "Errors  Files\n     1  till.ts:3\n"
    told = engine.digest(f"{text}[ERROR]\n[ERROR] \n", 200)
    assert "Errors Files" not in told.summary and "[ERROR]" not in told.summary
    assert "failing" not in told.summary

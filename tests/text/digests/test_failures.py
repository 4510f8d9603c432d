"""The output of common tools: it is recognized, and each failure is shown with its cause."""

from __future__ import annotations

from conftest import each
from contextkit.text.digests import diagnostics, engine, failed_tests, failures
from contextkit.text.digests.lines import Lines
from tool_outputs import OUTPUTS


def failed(lines: list[str], told: set[int] | None = None) -> list[failures.Failure]:
    return failed_tests.find(Lines("\n".join(lines)), told or set())[0]


def output(tool: str) -> str:
    progress, end, _ = OUTPUTS[tool]
    return "\n".join(progress.format(n=n) for n in range(80)) + end


def summary_of(text: str, cap: int = 200) -> str:
    return " ".join(engine.digest(text, cap).summary.replace("`", "").split())


@each("tool", OUTPUTS)
def test_the_output_of_a_tool_is_a_log_with_its_failures_and_their_causes(tool: str) -> None:
    assert engine.digest(output(tool), 200).kind in ("log", "results")
    said = summary_of(output(tool))
    for part in OUTPUTS[tool][2]:
        assert " ".join(part.replace("`", "").split()) in said


def test_a_failed_test_is_one_failure_however_often_it_is_named() -> None:
    for tool in ("pytest", "jest", "vitest", "mocha", "cargo test", "unittest", "dotnet", "rspec"):
        lines = output(tool).split("\n")
        summary = {n for n, line in enumerate(lines) if "1 failed" in line or "error: " in line}
        assert len(failed(lines, summary)) == 1, tool


def test_tests_of_one_name_in_several_files_are_failures_each_with_its_own_message() -> None:
    lines = [f"tests/test_{n}.py::test_it FAILED" for n in range(3)]
    for n in range(3):
        lines += [
            "______ test_it ______",
            f"E   assert {n} == 7",
            f"tests/test_{n}.py:{n + 3}: E",
            "",
        ]
    said = summary_of("\n".join([f"tests/test_{n}.py::test_ok PASSED" for n in range(99)] + lines))
    assert "tests/test_0.py::test_it: assert 0 == 7 (tests/test_0.py:3)" in said
    assert "tests/test_1.py::test_it: assert 1 == 7 (tests/test_1.py:4)" in said
    assert "tests/test_2.py::test_it: assert 2 == 7 (tests/test_2.py:5)" in said


def test_many_messages_of_a_compiler_are_told_by_code_with_how_often_and_where_first() -> None:
    lines = [f"src/f{n}.ts({n},5): error TS2322: Type 'a' is not a 'b'." for n in range(1, 91)]
    lines[40] = "src/g.ts(7,5): error TS2304: Cannot find name 'x'."
    said = summary_of("\n".join(lines))
    assert "90 messages in 90 files: TS2322 x89, TS2304 x1" in said
    assert "TS2322 Type 'a' is not a 'b'. x89, first at src/f1.ts(1,5)" in said
    assert "TS2304 Cannot find name 'x'. (src/g.ts(7,5))" in said


def test_colors_are_left_out() -> None:
    text = output("jest").replace("✕", "\x1b[31m✕\x1b[0m").replace("●", "\x1b[1m●\x1b[22m")
    text = text.replace("1 failed", "\x1b[1m\x1b[31m1 failed\x1b[39m\x1b[22m")
    assert summary_of(text) == summary_of(output("jest")) and "\x1b" not in summary_of(text)


def test_a_text_about_errors_is_no_log() -> None:
    lines = ["## Errors", "", "The service says `ERROR: no room` and", "then it stops.", ""] * 30
    assert engine.digest("\n".join(lines), 200).kind != "log"
    lines = ["def check(name):", "    raise ValueError(name)", "", "error: str = ''", ""] * 30
    assert engine.digest("\n".join(lines), 200).kind != "log"


@each("part", ["a.", "a/", "aGVsbG8", "not ok ", "1) ", "_"])
def test_very_long_lines_are_read_in_part(part: str) -> None:
    long = part * (100_000 // len(part))
    found = failed([long, "error: no room", f"FAILED {long}"])
    assert "error: no room" in [failure.said for failure in found]
    assert all(len(failure.said) < 300 for failure in found)


@each(
    "line",
    [
        "error: the argument passed to open() is no path",
        "ERROR: 3 steps were skipped: Passed deadline",
        "TypeError: no errors attribute on Result",
        "src/a.c:3:1: error: parameter 'PASS' redeclared",
    ],
)
def test_an_error_that_speaks_of_a_success_is_an_error(line: str) -> None:
    assert [failure.said for failure in failed(["running", line])] == [line]


def test_what_passed_or_was_skipped_is_no_failure() -> None:
    lines = [
        "tests/test_a.py::test_error PASSED [ 1%]",
        "tests/test_a.py::test_b SKIPPED (no network: error) [ 2%]",
        "SKIPPED [1] tests/test_a.py:17: no network: error",
        "--- PASS: TestError: error (0.00s)",
        "Passed App.Tests.Error: error [1 ms]",
    ]
    assert not failed(lines)


def test_the_sections_of_pytest_about_what_did_not_fail_are_not_searched() -> None:
    lines = [
        "=================== warnings summary ===================",
        "tests/test_a.py:3: Warning: error: old",
        "======================== PASSES ========================",
        "_______________________ test_ok ________________________",
        "ERROR: printed by a test that passed",
        "=============== short test summary info ================",
        "FAILED tests/test_a.py::test_b - assert 0",
    ]
    assert [failure.line for failure in failed(lines)] == [6]


def test_a_failure_named_by_a_worker_of_pytest_is_not_counted_again() -> None:
    lines = [
        "[gw1] [  8%] FAILED tests/test_a.py::test_b ",
        "________________________ test_b ________________________",
        "[gw1] linux -- Python 3.11",
        "E   assert 0",
        "tests/test_a.py:3: AssertionError",
        "FAILED tests/test_a.py::test_b - assert 0",
    ]
    said = [failure.said for failure in failed(lines)]
    assert said == ["FAILED tests/test_a.py::test_b - assert 0 (tests/test_a.py:3)"]


def test_a_failed_subtest_is_one_failure() -> None:
    lines = [
        "__________________ T.test_sub (i=2) ____________________",
        "E   AssertionError: 2 == 2",
        "tests/test_a.py:7: AssertionError",
        "SUBFAILED(i=2) tests/test_a.py::T::test_sub - AssertionError: 2 == 2",
    ]
    found = [failure.said for failure in failed(lines)]
    assert found == [f"{lines[3]} (tests/test_a.py:7)"]
    lines = [
        "test_sub (tests.a.T.test_sub) (i=2) ... FAIL",
        "FAIL: test_sub (tests.a.T.test_sub) (i=2)",
        "AssertionError: 2 == 2",
    ]
    found = [failure.said for failure in failed(lines)]
    assert found == ["test_sub (tests.a.T.test_sub) (i=2): AssertionError: 2 == 2"]


def test_a_long_message_of_pytest_is_one_failure() -> None:
    lines = ["____ test_b ____", "E   AssertionError: lists differ", *["E     - error: x"] * 99]
    lines += ["tests/test_a.py:3: AssertionError", "FAILED tests/test_a.py::test_b - Assert..."]
    said = [failure.said for failure in failed(lines)]
    test = "FAILED tests/test_a.py::test_b"
    assert said == [f"{test} - AssertionError: lists differ (tests/test_a.py:3)"]


def test_a_module_that_could_not_be_collected_is_shown_with_its_error() -> None:
    lines = [
        "__________________ ERROR collecting tests/test_d.py __________________",
        ".venv/lib/python3.11/site-packages/_pytest/python.py:5: in parse",
        'E     File "tests/test_d.py", line 4',
        "E       def test_a(:",
        "E                  ^",
        "E   SyntaxError: invalid syntax",
        "=============== short test summary info ================",
        "ERROR tests/test_d.py",
        "1 error in 0.86s",
    ]
    said = [failure.said for failure in failed(lines, {8})]
    assert said == ["tests/test_d.py: SyntaxError: invalid syntax (tests/test_d.py:4)"]
    assert engine.ParsedText("\n".join(lines)).kind == "log"


def test_a_printed_ok_is_not_the_verdict() -> None:
    text = "\n".join(["FAILED tests/test_a.py::test_b - assert 0"] * 3 + ["", "ok"])
    assert "FAILED" in engine.digest(text, 200).key


def test_the_conflicts_of_git_are_shown_one_by_one() -> None:
    lines = [f"Auto-merging f{n}\nCONFLICT (content): Merge conflict in f{n}" for n in range(3)]
    said = summary_of("\n".join([*lines, "Automatic merge failed; fix conflicts."]))
    assert all(f"f{n}" in said for n in range(3))


def test_errors_that_differ_in_a_number_are_counted() -> None:
    lines = ["ERROR: port 8080 is in use", "ERROR: port 8081 is in use"]
    assert [failure.said for failure in failed(lines)] == ["ERROR: port 8080…8081 is in use (x2)"]


def test_the_values_of_a_parameter_may_contain_spaces_and_dashes() -> None:
    lines = [
        "tests/test_a.py::test_p[a - b] FAILED [ 8%]",
        "tests/test_a.py::test_p[x y] FAILED [ 9%]",
        "____ test_p[a - b] ____",
        "E   AssertionError: got a - b, which is no c",
        "____ test_p[x y] ____",
        "E   AssertionError: got x",
        "FAILED tests/test_a.py::test_p[a - b] - AssertionError: got a ...",
        "FAILED tests/test_a.py::test_p[x y] - AssertionError: got x",
    ]
    assert [failure.said for failure in failed(lines)] == [
        "FAILED tests/test_a.py::test_p[a - b] - AssertionError: got a - b, which is no c",
        lines[7],
    ]


def test_a_group_of_exceptions_is_one_failure() -> None:
    lines = [
        "____ test_group ____",
        "  + Exception Group Traceback (most recent call last):",
        "  | ExceptionGroup: several (2 sub-exceptions)",
        "  +-+---------------- 1 ----------------",
        "    | ValueError: a",
        "    +---------------- 2 ----------------",
        "    | TypeError: b",
        "FAILED tests/test_a.py::test_group - ExceptionGroup: several (2 sub-exceptions)",
    ]
    assert [failure.said for failure in failed(lines)] == [lines[7]]


def test_the_beginning_and_the_end_of_a_run_of_pytest_are_logs() -> None:
    begin = ["F.", "=========== FAILURES ===========", "____ test_b ____", "", "    def test_b():"]
    begin += [f"        value{n} = {n}" for n in range(20)] + ["E       assert 1 == 2"]
    assert engine.ParsedText("\n".join(begin)).kind == "log"
    end = ["E       assert 'one'", "E         + two", "=== short test summary info ===="]
    end += ["FAILED tests/test_a.py::test_b - assert 1 == 2"]
    assert engine.ParsedText("\n".join(end)).kind == "log"
    assert [failure.line for failure in failed(end)] == [0, 3]


def test_of_some_hundred_lines_every_failed_test_is_read() -> None:
    tests = [(file, n) for file in "abcdef" for n in range(1, 10)]
    lines = ["=== FAILURES ==="]
    for file, n in tests:
        lines += [f"____ test_{file}[{n}] ____", "", f">       assert {n} < 0",
                  f"E       assert {n} < 0", "", f"t/{file}.py:6: AssertionError",
                  "----- Captured stdout call -----", f"loading {n}"]  # fmt: skip
    lines += ["=== short test summary info ==="]
    lines += [f"FAILED t/{file}.py::test_{file}[{n}] - assert {n} < 0" for file, n in tests]
    told = summary_of("\n".join([*lines, "54 failed in 0.92s"]), 400)
    for file in "abcdef":
        assert f"t/{file}.py::test_{file}[1…9] - assert 1…9 < 0 (t/{file}.py:6) (x9)" in told
    assert "more" not in told and "loading" not in told.replace("loading 1…9 (x54)", "")


def test_a_failure_of_an_earlier_run_is_in_the_verdict() -> None:
    lines = [f"tests/a.py::t{n} PASSED" for n in range(9)] + ["=== 1 failed, 8 passed in 2.0s ==="]
    lines += [f"tests/b.py::t{n} PASSED" for n in range(60)] + ["=== 60 passed in 2.0s ==="]
    assert "1 failed, 8 passed" in summary_of("\n".join(lines))


def test_prose_that_ends_with_a_result_is_no_log() -> None:
    prose = "The service must not log errors, which was decided on Monday.\n" * 30
    assert engine.ParsedText(f"{prose}12 passed in 3.2s\n").kind != "log"


def test_a_place_below_the_summary_is_of_no_failure_in_it() -> None:
    lines = ["FAILED tests/a.py::test_b - assert 1", "1 failed in 1.2s", "", "src/a.py:3 is new"]
    assert [failure.said for failure in failed(lines, {1})] == [lines[0]]


def found(*lines: str) -> list[str]:
    return [failure.said for failure in failed(list(lines))]


@each("before", range(9))
def test_the_place_of_an_exception_is_in_the_trace_right_above_it(before: int) -> None:
    running = ["running"] * before
    place = 'File "src/a.py", line 3, in f'
    assert found(*running, place, "go()", "ValueError: no") == ["ValueError: no (src/a.py:3)"]
    assert found(*running, place, "", "ValueError: no") == ["ValueError: no"]
    assert found(*running, place, "src/b.py:7 is next", "ValueError: no") == [
        "ValueError: no (src/a.py:3)"
    ]
    assert found(*running, "E   assert 1", "E   + error: two") == ["E assert 1"]


def test_the_place_of_an_error_is_in_the_next_line_if_that_is_there_to_tell_it() -> None:
    assert found("error: no", "  at src/a.py:3") == ["error: no (src/a.py:3)"]
    assert found("error: no", "src/a.py:3") == ["error: no (src/a.py:3)"]
    assert found("make: *** [x.o] Error 1", "cc -c src/b.c", "src/b.c:3:1: warning: y") == [
        "make: *** [x.o] Error 1"
    ]
    assert found("error: no", "expect(x).toBe(3)") == ["error: no"]
    assert found("error: no", "store.get(4711)") == ["error: no"]


def test_what_go_prints_between_run_and_result_is_the_message_of_that_test() -> None:
    lines = (
        "=== RUN   TestA",
        "    a_test.go:3: got 1",
        "--- FAIL: TestA (0.00s)",
        "=== RUN   TestB",
        "    b_test.go:9: got 2",
        "--- FAIL: TestB (0.00s)",
    )
    assert found(*lines) == ["TestA: got 1 (a_test.go:3)", "TestB: got 2 (b_test.go:9)"]
    assert found("--- FAIL: TestA (0.00s)", lines[1], "--- FAIL: TestB (0.00s)", lines[4]) == [
        "TestA: got 1 (a_test.go:3)",
        "TestB: got 2 (b_test.go:9)",
    ]
    assert found(lines[1], lines[2]) == [lines[2]]


def test_the_name_of_a_numbered_failure_goes_on_only_in_deeper_lines() -> None:
    said = found("Failures:", "1) logs in", "The page says:", "Error: no such user")
    assert said == ["logs in: Error: no such user"]
    for first, second, name in (
        ("1) Login", "    logs in:", "Login logs in"),
        ("  1) Login", "    logs in:", "Login logs in"),
        ("  1) Login", "   logs in:", "Login logs in"),
        ("  1) Login", "  logs in:", "Login"),
        ("  1) Login", " logs in:", "Login"),
        ("   1) Sign in", "    works:", "Sign in works"),
        ("   1) Sign in", "   works:", "Sign in"),
        ("            1) A", "      b:", "A"),
    ):
        said = found("1 failing", first, second, "  Error: no such user")
        assert said == [f"{name}: Error: no such user"]
    said = found("1 failing", "1) Login", " logs in", "back", " Error: no such user:")
    assert said == ["Login: Error: no such user:"]
    said = found("1 failing", "1) Login", " a", " b", " c", " d:", " Error: no such user")
    assert said == ["Login: Error: no such user"]


def test_of_the_values_that_were_compared_two_are_told() -> None:
    said = found("FAIL: test_a (m.T)", "expected: 1", "received: 2", "got: 3")
    assert said == ["test_a (m.T): expected: 1, received: 2"]
    values = ("expected: 1", "got: 2", "want: 3")
    said = found("Failures:", "1) A", "Failure/Error: expect(x).to eq 1", *values)
    assert said == ["A: expected: 1, got: 2"]


def test_a_test_without_a_message_is_told_by_its_first_line_with_the_whole_name() -> None:
    for name in ("test_b", "xyz"):
        (failure,) = failed([f"____ {name} ____", "", f"tests/a.py::{name} FAILED"])
        assert (failure.line, failure.said) == (0, f"tests/a.py::{name} FAILED")
    (failure,) = failed(["tests/a.py::test_b FAILED", "x"] * 2)
    assert failure.line == 0


def test_a_message_that_pytest_did_not_cut_is_told_as_it_stands() -> None:
    summed = "FAILED tests/a.py::test_b - assert 0"
    assert found("____ test_b ____", "E   AssertionError: why", summed) == [summed]


def test_the_shorter_of_two_errors_that_are_one_is_told() -> None:
    assert found("error: code " + "9" * 300, "error: code 7") == ["error: code 7… (x2)"]


def test_a_row_whose_last_number_ends_in_zero_may_have_failed() -> None:
    row = "web20 61 44 2.0 FAILED health check, no answer"
    assert found("web19 57 43 1.9 ok, was checked", row) == [row]
    assert found("web19 57 43 1.9 ok, was checked", "web20: 0 failed health checks") == []


def test_an_error_that_ends_in_a_question_is_told() -> None:
    asked = "Failed to lock /var/lib/dpkg/lock-frontend, is another process using it?"
    assert found("reading the list of packages", asked) == [asked]


@each("step", ["TASK [proxy : restart]", "RUNNING HANDLER [proxy : restart]"])
def test_a_failed_host_is_told_with_the_step_that_failed(step: str) -> None:
    lost = 'fatal: [web-2]: UNREACHABLE! => {"changed": false, "unreachable": true}'
    other = ["TASK [proxy : render] ****", "changed: [web-1]", ""]
    assert found(*other, f"{step} ****", "changed: [web-1]", lost) == [f"proxy : restart: {lost}"]


def test_errors_of_one_form_are_told_with_the_values_in_which_they_differ() -> None:
    units = [row for n in range(1, 6)
             for row in (f"error in unit {n}:", f"limit of {n}0 MB", "")]  # fmt: skip
    assert found(*units) == ["error in unit 1…5: limit of 10…50 MB (x5)"]
    long = [f"error: request {n} of {'the day ' * 50}" for n in range(1, 6)]
    assert found(*long)[0].startswith("error: request 1…5 of the day")


def test_an_error_is_counted_if_it_is_there_more_than_once_or_in_two_forms() -> None:
    assert found("error: no") == ["error: no"]
    assert found("error: no", "error: no") == ["error: no (x2)"]
    assert found("error: no", "error: no", "error: no") == ["error: no (x3)"]
    assert found("error: no 1", "error: no 2") == ["error: no 1…2 (x2)"]


def messages(*lines: str) -> list[str]:
    return [one.quoted for one in diagnostics.find(Lines("\n".join(lines)))[0]]


def test_an_error_listed_below_its_file_is_told_with_it() -> None:
    assert messages("src/a.js", "  3:5  error  no room") == ["src/a.js:3:5 no room"]
    assert messages("src/a.js", "x", "src/b.js", "  3:5  error  no") == ["src/b.js:3:5 no"]


@each("before", range(3))
def test_a_line_above_an_arrow_to_its_place_is_a_message(before: int) -> None:
    said = messages(*["running"] * before, "cannot find value `x`", "--> src/a.rs:3:5")
    assert said == ["cannot find value `x` (src/a.rs:3:5)"]


def test_a_place_below_a_note_of_a_message_is_no_message() -> None:
    note = ("  = note: `u32` implements `Add`", " --> /rustc/59/core/src/ops/arith.rs:99:8")
    said = messages("error[E0277]: cannot add", " --> src/a.rs:3:5", "  |", *note)
    assert said == ["error[E0277]: cannot add (src/a.rs:3:5)"]


def test_an_error_that_only_says_what_a_test_says_is_not_told_again() -> None:
    summed = "FAILED tests/a.py::test_b - no room"
    assert found(summed, "x", "error: no room") == [summed]
    assert found(summed, "x", "src/a.c:3: error: no room") == [f"{summed} (src/a.c:3)"]


def test_an_error_is_listed_by_its_place_or_else_by_what_it_says() -> None:
    (failure,) = failed(["error: no room"])
    assert failure.name == "error: no room"
    (failure,) = failed(["error: no room", "at src/a.py:3"])
    assert failure.name == "src/a.py:3"


def test_of_thousands_of_failed_tests_all_are_counted_and_an_error_among_them_is_told() -> None:
    tests = [f"--- FAIL: TestA{n} (0.00s)\n    a_test.go:{n}: got {n}, want 3" for n in range(3000)]
    tests[2500] += "\npanic: no space left on device"
    said = summary_of("\n".join(tests), 400)
    shown = [name for name in range(3000) if f"TestA{name}: got {name}, want 3" in said]
    assert shown[:3] == [0, 1, 2] and len(shown) >= 9
    assert f"+{3000 - len(shown)} more" in said
    assert said.count("TestA") == len(shown)
    assert "panic: no space left on device" in said


def test_rspec_tells_the_cause_below_the_source_of_a_failure_whatever_its_class() -> None:
    lines = ["Failures:", "", "  1) Order is found", "     Failure/Error: Order.find(9)", ""]
    lines += ["     ActiveRecord::RecordNotFound:", "       Couldn't find Order with 'id'=9"]
    lines += ["     # ./spec/order_spec.rb:5:in `block (2 levels) in <top (required)>'", ""]
    lines += ["  2) Order lists them", "     Failure/Error: expect(Order.new).to respond_to(:all)"]
    lines += ["       expected #<Order @l=[]> to respond to :all", "     # ./spec/o_spec.rb:8:in"]
    said = summary_of("\n".join([*lines, "", "2 examples, 2 failures"]))
    cause = "ActiveRecord::RecordNotFound: Couldn't find Order with 'id'=9"
    assert f"Order is found: {cause} (./spec/order_spec.rb:5)" in said
    assert "Order lists them: expected #<Order @l=[]> to respond to :all" in said


SIGNED = """\
  1) Ledger
       closes
         the day:

      AssertionError [ERR_ASSERTION]: Expected values to be strictly equal:
{legend}

+ 'open'
- 'closed'
      at Context.<anonymous> (test/ledger.js:5:37)
"""


@each("legend", ("+ actual - expected", "- Expected  - 1\n+ Actual  + 1"))
def test_values_behind_signs_are_told_as_what_the_signs_mean(legend: str) -> None:
    text = f"  3 passing (9ms)\n  1 failing\n\n{SIGNED.format(legend=legend)}"
    failed = summary_of(text)
    assert "expected 'closed'" in failed and "actual 'open'" in failed
    assert legend.split()[0] not in failed


def test_messages_above_their_source_are_no_paragraphs() -> None:
    messages = (
        f"src/parser/{name}.c:{number}:9: the type of '{name}' differs from its first declaration\n"
        f"  {number} |     {name} = read({name});\n    |            ^~~~\n"
        for number, name in enumerate(("alpha", "beta", "gamma", "delta"), start=3)
    )
    assert not Lines("".join(messages)).prose

"""The output of common tools: it is recognized, and each failure is told with its cause."""

from __future__ import annotations

import pytest
from contextkit.base.digests import engine, failures
from tool_outputs import OUTPUTS


def output(tool: str) -> str:
    progress, end, _ = OUTPUTS[tool]
    return "\n".join(progress.format(n=n) for n in range(80)) + end


def told(text: str, cap: int = 200) -> str:
    return " ".join(engine.digest(text, cap).summary.replace("`", "").split())


@pytest.mark.parametrize("tool", OUTPUTS)
def test_the_output_of_a_tool_is_a_log_with_its_failures_and_their_causes(tool: str) -> None:
    assert engine.digest(output(tool), 200).kind == "log"
    said = told(output(tool))
    for part in OUTPUTS[tool][2]:
        assert " ".join(part.replace("`", "").split()) in said


def test_a_failed_test_is_one_failure_however_often_it_is_named() -> None:
    for tool in ("pytest", "jest", "vitest", "mocha", "cargo test", "unittest", "dotnet", "rspec"):
        lines = output(tool).split("\n")
        summary = {n for n, line in enumerate(lines) if "1 failed" in line or "error: " in line}
        assert len(failures.find(lines, summary)) == 1, tool


def test_tests_of_one_name_in_two_files_are_two_failures_each_with_its_own_message() -> None:
    lines = [f"tests/test_{n}.py::test_it FAILED" for n in range(2)]
    for n in range(2):
        lines += [
            "______ test_it ______",
            f"E   assert {n} == 2",
            f"tests/test_{n}.py:{n + 3}: E",
            "",
        ]
    said = told("\n".join([f"tests/test_{n}.py::test_ok PASSED" for n in range(99)] + lines))
    assert "tests/test_0.py::test_it: assert 0 == 2 (tests/test_0.py:3)" in said
    assert "tests/test_1.py::test_it: assert 1 == 2 (tests/test_1.py:4)" in said


def test_errors_that_begin_with_their_place_are_counted_one_by_one() -> None:
    lines = [f"src/f{n}.ts({n},5): error TS2322: Type 'a' is not a 'b'." for n in range(90)]
    shown = told("\n".join(lines)).count("TS2322")
    assert shown > 1 and f"+{90 - shown} more" in told("\n".join(lines))


def test_colors_are_left_out() -> None:
    text = output("jest").replace("✕", "\x1b[31m✕\x1b[0m").replace("●", "\x1b[1m●\x1b[22m")
    text = text.replace("1 failed", "\x1b[1m\x1b[31m1 failed\x1b[39m\x1b[22m")
    assert told(text) == told(output("jest")) and "\x1b" not in told(text)


def test_a_text_about_errors_is_no_log() -> None:
    lines = ["## Errors", "", "The service says `ERROR: no room` and", "then it stops.", ""] * 30
    assert engine.digest("\n".join(lines), 200).kind != "log"
    lines = ["def check(name):", "    raise ValueError(name)", "", "error: str = ''", ""] * 30
    assert engine.digest("\n".join(lines), 200).kind != "log"


@pytest.mark.parametrize("part", ["a.", "a/", "aGVsbG8", "not ok ", "1) ", "_"])
def test_very_long_lines_are_read_in_part(part: str) -> None:
    long = part * (100_000 // len(part))
    found = failures.find([long, "error: no room", f"FAILED {long}"], set())
    assert "error: no room" in [failure.said for failure in found]
    assert all(len(failure.said) < 300 for failure in found)

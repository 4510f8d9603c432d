"""Very many failed tests: all are counted, and what stands below one is no error of its own."""

from __future__ import annotations

from contextkit.text.digests import engine


def test_thousands_of_failed_tests_are_counted() -> None:
    text = "".join(f"--- FAIL: Test{n} (0.00s)\n    a_test.go:{n}: got {n}\n" for n in range(3000))
    digest = engine.digest(text, 220)
    told = sum(row.finding.count("Test") for row in digest.rows) + ("Test" in digest.key)
    more = next(row.finding for row in digest.rows if "more" in row.finding)
    assert f"+{3000 - told} more" in more.replace(",", ""), digest

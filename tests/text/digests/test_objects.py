"""Findings and results in JSON and XML, whatever the names that a tool has for their parts."""

from __future__ import annotations

import json
from typing import Any

from conftest import each
from contextkit.text import objects
from contextkit.text.digests import engine
from contextkit.text.digests.kinds import results

FINDINGS: dict[str, tuple[Any, tuple[str, str, str, str]]] = {
    "the parts are its own": (
        [{"check_name": "Eval", "warning_type": "Dangerous Eval", "confidence": "High",
          "message": "User input in eval", "file": "app/user.rb", "line": 7}],
        ("app/user.rb:7", "High", "Dangerous Eval", "User input in eval"),
    ),
    "the severity is one object deeper": (
        {"results": [{"check_id": "java.sql-string", "path": "J.java", "start": {"line": 33},
                      "extra": {"severity": "ERROR", "message": "A formatted string"}}]},
        ("J.java:33", "ERROR", "java.sql-string", "A formatted string"),
    ),
    "of a package": (
        {"matches": [{"vulnerability": {"id": "CVE-1", "severity": "High", "description": "Bad."},
                      "relatedVulnerabilities": [{"id": "CVE-1", "severity": "High"}],
                      "artifact": {"id": "f00", "name": "tomcat", "version": "8.0"}}]},
        ("tomcat 8.0", "High", "CVE-1", "Bad."),
    ),
    "the package is around it": (
        {"packages": [{"package": {"name": "lodash", "version": "4.1"}, "vulnerabilities": [
            {"id": "GHSA-1", "summary": "Pollution", "database_specific": {"severity": "HIGH"}},
        ]}]},
        ("lodash 4.1", "HIGH", "GHSA-1", "Pollution"),
    ),
    "a name is that of the package": (
        {"vulnerabilities": {"ssri": {"name": "ssri", "severity": "critical",
                                      "via": [{"title": "ReDoS", "severity": "moderate"}]}}},
        ("ssri", "critical", "", "ReDoS"),
    ),
    "the place is in a list": (
        {"queries": [{"query_name": "Public bucket", "query_id": "k-1", "severity": "HIGH",
                      "files": [{"file_name": "main.tf", "line": 8}, {"file_name": "b.tf"}]}]},
        ("main.tf:8", "HIGH", "", "Public bucket"),
    ),
}  # fmt: skip


@each("case", FINDINGS)
def test_a_finding_is_known_by_its_parts(case: str) -> None:
    tree, (place, severity, code, said) = FINDINGS[case]
    (found,) = results.findings(tree)
    assert (found.place, found.severity, found.code, found.said) == (place, severity, code, said)


def test_a_review_in_json_may_say_when() -> None:
    one = {"timestamp": "2026-01-01", "severity": "high", "title": "Lost update", "file": "a.py"}
    for tree in ([one], {"runs": [{"findings": [one]}]}):
        (found,) = objects.findings(tree, lambda key, word: word if key == "severity" else "")
        assert (found.grade, found.title) == ("high", "Lost update")


def test_a_linter_s_xml_is_read_as_its_json() -> None:
    checkstyle = (
        '\ufeff<?xml version="1.0"?><checkstyle><file name="src/A.java">'
        '<error line="3" severity="error" message="Line is too long." source="LineLength"/>'
        '<error line="9" severity="warning" message="Missing Javadoc."/></file></checkstyle>\n'
    )
    summary = engine.digest(checkstyle, 200).summary
    assert "src/A.java:3 Line is too long." in summary and "1 error" in summary


@each(
    "tree",
    [
        [{"time": n, "level": "error", "msg": "lost", "file": "a.py", "line": n} for n in range(9)],
        {"runs": [{"tool": {"rules": [{"id": "R1", "level": "error", "message": "x"}]}}]},
        [{"title": "Start", "level": 2, "line": 5, "path": "manual.md"}],
        [{"name": "web", "severity": "high"}],
        [{"severity": "high", "message": "no place and no rule"}],
    ],
)
def test_what_is_no_finding(tree: Any) -> None:
    assert results.findings(tree) == []


def test_a_place_is_never_that_of_a_neighbor() -> None:
    one = {"severity": "high", "rule": "R1", "message": "lost", "file": "a.py", "line": 1}
    found = results.findings(
        {"results": [one, {"severity": "low", "rule": "R2", "message": "last"}]}
    )
    assert [(x.place, x.said) for x in found] == [("a.py:1", "lost")]


def test_the_worst_come_first_and_are_counted_in_the_tool_s_words() -> None:
    grades = ["low", "moderate", "critical", "high", "low"]
    tree = [{"id": f"C-{n}", "severity": grade, "title": f"thing {n}", "package": f"p{n}"}
            for n, grade in enumerate(grades)]  # fmt: skip
    digest = engine.digest(json.dumps(tree), 200)
    assert digest.key == "5 messages in 5 places; 1 critical, 1 high, 1 moderate, 2 low"
    assert "critical: p2 C-2 thing 2" in digest.summary


RESULTS = {
    "mocha": json.dumps({
        "stats": {"tests": 3},
        "tests": [{"title": t, "fullTitle": f"sum {t}"} for t in ("adds", "waits", "breaks")],
        "pending": [{"title": "waits", "fullTitle": "sum waits", "err": {}}],
        "failures": [{"title": "breaks", "fullTitle": "sum breaks",
                      "err": {"message": "expected 2, got 3"}}],
        "passes": [{"title": "adds", "fullTitle": "sum adds", "err": {}}],
    }),
    "jest": json.dumps({"testResults": [{"name": "a.test.js", "status": "failed",
        "assertionResults": [
            {"fullName": "sum breaks", "status": "failed",
             "failureMessages": ["expected 2, got 3"]},
            {"fullName": "sum adds", "status": "passed", "failureMessages": []},
            {"fullName": "sum waits", "status": "pending", "failureMessages": []},
        ]}]}),
    "trx": '<TestRun xmlns="http://t"><ResultSummary outcome="Failed"/><Results>'
           '<UnitTestResult testName="sum breaks" outcome="Failed"><Output><ErrorInfo>'
           '<Message>expected 2, got 3</Message></ErrorInfo></Output></UnitTestResult>'
           '<UnitTestResult testName="sum adds" outcome="Passed"/>'
           '<UnitTestResult testName="sum waits" outcome="NotExecuted"/></Results></TestRun>',
    "nunit": '<test-run result="Failed"><test-suite fullname="S" result="Failed">'
             '<failure><message>One or more child tests had errors</message></failure>'
             '<test-case fullname="sum breaks" result="Failed"><failure>'
             '<message>expected 2, got 3</message></failure></test-case>'
             '<test-case fullname="sum adds" result="Passed"/>'
             '<test-case fullname="sum waits" result="Skipped"/></test-suite></test-run>',
    "junit": '<testsuite name="S"><testcase name="sum breaks">'
             '<failure message="expected 2, got 3">at x\n--- a\n+++ b\n@@ -1 +1 @@\n-3\n+2\n'
             '</failure></testcase><testcase name="sum adds"/>'
             '<testcase name="sum waits"><skipped/></testcase></testsuite>',
}  # fmt: skip


@each("tool", RESULTS)
def test_the_results_of_a_run(tool: str) -> None:
    digest = engine.digest(RESULTS[tool], 200)
    assert (digest.kind, digest.key) == ("results", "1 failed, 1 skipped, 1 passed of 3")
    assert "sum breaks: expected 2, got 3" in digest.summary


def test_jobs_are_no_tests() -> None:
    jobs = json.dumps([{"name": f"job-{n}", "status": "ok", "seconds": n} for n in range(9)])
    assert results.units(jobs) == []


def test_texts_are_looked_for_as_deep_as_findings_are() -> None:
    value: object = "one\ntwo"
    for _ in range(39):
        value = [value]
    assert list(objects.told(value)) == ["one\ntwo"]
    for _ in range(5000):
        value = [value]
    assert list(objects.told(value)) == []


def test_a_comment_in_xml_moves_no_line() -> None:
    (outer,) = objects.elements(
        "<run>\n<!-- one\ntwo <x>\n-->\n<note>c</note>\n<case e='1'/>\n</run>\n"
    )
    assert outer["case"][0][objects.LINES] == (6, 6) and outer["note"] == ["c"]

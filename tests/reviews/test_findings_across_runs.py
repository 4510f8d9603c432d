"""Findings across runs: new, still there, fixed, dismissed; and where they are exported to."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sarif
from conftest import Script, each, git
from signing import sign, signed

OUT = Path(".clavain/reviews/current")
SCHEMA = os.environ.get("CONTEXTKIT_SARIF_SCHEMA", "")  # before `sealed` empties the environment


@pytest.fixture(autouse=True)
def branch(repo: Path) -> Path:
    git("branch", "main")
    Path("app.py").write_text("".join(f"line {n}\n" for n in range(1, 21)), encoding="utf-8")
    return repo


def review(*found: tuple[str, str, str, int]) -> str:
    """A file with these findings: severity, id, title, line of app.py."""
    rows = "".join(f'- {s} | {i} | "Code" | {title}\n' for s, i, title, _ in found)
    worst = min((s for s, *_ in found), default="P3")
    verdict = {"P0": "risky", "P1": "needs-changes"}.get(worst, "safe")
    parts = "".join(
        f"#### {i}. {s}: {title}\n`app.py:{line}` does it.\n\n" for s, i, title, line in found
    )
    return (f"### Findings Index\n{rows}Verdict: {verdict}\n\n### Summary\nRead.\n\n"
            f"### Issues Found\n{parts}<!-- flux-drive:complete -->\n")  # fmt: skip


LOST = ("P1", "P1-1", "The batch is lost", 5)
SLOW = ("P2", "P2-1", "The loop is slow", 10)
SAFE = ("P0", "P0-1", "The token is logged", 15)


def a_run(run: Script, *found: tuple[str, str, str, int]) -> str:
    assert run("verdict", "start", "--process=review", "--agents=a", "--json") == 0
    identity: str = json.loads(run.out)["run"]
    (OUT / "a.md").write_text(review(*found), encoding="utf-8")
    sign(OUT, "a.md")
    assert run("verdict", "ingest", f"--run={identity}") == 0
    return identity


def synthesized(run: Script, identity: str) -> dict[str, Any]:
    assert run("verdict", "synthesize", f"--run={identity}", "--json") == 0
    found: dict[str, Any] = json.loads(run.out)["data"]
    return found


def gate(run: Script, identity: str) -> str:
    run("verdict", "gate", f"--run={identity}")
    return run.out.split(" ")[0].split("\n")[0]


def test_the_next_run_says_what_is_new_still_there_and_fixed(run: Script) -> None:
    first = synthesized(run, a_run(run, LOST, SLOW))
    assert {one["since"] for one in first["findings"]} == {"new"} and first["fixed"] == []
    Path("app.py").write_text("# two\n# more\n" + Path("app.py").read_text("utf-8"), "utf-8")
    moved = ("P1", "P1-7", "The batch is lost.", 7)
    second = synthesized(run, a_run(run, moved, SAFE))
    since = {one["title"]: one["since"] for one in second["findings"]}
    assert since == {"The token is logged": "new", "The batch is lost.": "still"}
    assert [one["title"] for one in second["fixed"]] == ["The loop is slow"]
    before = {one["title"]: one["identity"] for one in first["findings"]}
    assert before["The batch is lost"] in {one["identity"] for one in second["findings"]}


def test_the_report_says_what_is_new_still_there_fixed_and_dismissed(run: Script) -> None:
    first = a_run(run, LOST, SLOW)
    synthesized(run, first)
    report = OUT / "synthesis.md"
    assert "Since the last run" not in report.read_text("utf-8")
    dismiss(run, first, "a/P1-1")
    Path("new.py").write_text("new\n", encoding="utf-8")
    second = a_run(run, SAFE, LOST)
    assert run("verdict", "synthesize", f"--run={second}") == 0
    lines = run.out.splitlines()
    assert "1 new, 1 still there, 1 fixed" in lines
    assert "do not merge: 1 P0, 1 P1 (1 dismissed)" in lines
    assert "P1 a/P1-1 app.py:5 (dismissed) The batch is lost" in lines
    text = report.read_text("utf-8")
    assert "**Findings:** 1 P0, 1 P1 (1 dismissed)\n" in text
    assert "- **The token is logged** (a; confidence low; new)" in text
    assert "- **The batch is lost** (a; confidence low; still there; dismissed: it is repl" in text
    assert "- [ ] **P0** | a/P0-1 | The token is logged\n" in text
    assert "- [x] **P1** | a/P1-1 | The batch is lost\n" in text
    assert "## Since the last run\n\n1 new, 1 still there, 1 fixed.\n" in text
    assert "- fixed: **P2** The loop is slow (a)\n" in text


def dismiss(run: Script, identity: str, finding: str, *more: str) -> int:
    given = ("--reason=it is replayed", *more)
    status = run("verdict", "dismiss", f"--run={identity}", f"--finding={finding}", *given)
    if status == 0:
        git("add", "--", run.out.strip())
        git("commit", "-qm", "dismissed")
    return status


def test_a_dismissed_finding_no_longer_fails_the_gate_of_this_run_or_the_next(run: Script) -> None:
    identity = a_run(run, LOST)
    assert gate(run, identity) == "FAIL"
    assert dismiss(run, identity, "a/P1-1") == 0
    document = Path(run.out.strip())
    assert document.suffixes == [".dismissed", ".json"] and document.is_file()
    assert gate(run, identity) == "PASS" and "1 dismissed" in run.out
    who = git("log", "-1", "--format=%an, %h").strip()
    said = f"dismissed\ta/P1-1 P1 The batch is lost: it is replayed (committed by {who})"
    assert said in run.out.splitlines()
    run("verdict", "index", f"--run={identity}", "--json")
    assert [row["status"] for row in json.loads(run.out) if row["kind"] == "finding"] == [
        "dismissed"
    ]
    git("add", "-A")
    git("commit", "-qm", "work")  # the document is in git, and makes nothing stale
    assert str(document) in git("ls-files") and gate(run, identity) == "PASS"
    Path("new.py").write_text("new\n", encoding="utf-8")
    again = a_run(run, LOST)
    [one] = synthesized(run, again)["findings"]
    assert (one["since"], one["dismissed"]) == ("still", "it is replayed")
    assert gate(run, again) == "PASS"


def test_a_dismissed_finding_is_shown_as_such(run: Script) -> None:
    identity = a_run(run, LOST)
    assert dismiss(run, identity, "a/P1-1", "--by=Mara") == 0
    mark = "(dismissed by Mara: it is replayed)"
    run("verdict", "show", f"--run={identity}")
    assert run.out.splitlines()[:2] == ["P1 a/P1-1 app.py:5 The batch is lost", mark]
    run("verdict", "show", f"--run={identity}", "--json")
    assert json.loads(run.out)[0]["dismissed"] == mark.strip("()")
    for more in ((), ("--finding=P1-1",)):
        run("verdict", "show", f"--run={identity}", "--agent=a", *more)
        assert run.out.splitlines()[0] == mark


def test_dismissing_what_is_not_there_says_what_is(run: Script) -> None:
    assert dismiss(run, a_run(run, LOST), "a/P9-1") == 1
    assert run.err.endswith("'a/P9-1' does not exist: give one of a/P1-1\n")
    Path("new.py").write_text("new\n", encoding="utf-8")
    identity = a_run(run)
    assert dismiss(run, identity, "a/P1-1") == 1
    assert run.err.endswith(f"does not exist: the run {identity} has no findings\n")


def test_commands_name_the_root_if_it_was_given(
    run: Script, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    identity, root = a_run(run, LOST), Path.cwd()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    run("verdict", "gate", f"--run={identity}", f"--root={root}")
    steps = [line for line in run.out.splitlines() if line.startswith("next: make")]
    assert steps and all(line.endswith(f" run={identity} root={root}") for line in steps)


def test_an_uncommitted_dismissal_is_listed_and_does_not_count(run: Script) -> None:
    identity = a_run(run, LOST)
    given = ("--finding=a/P1-1", "--reason=it is replayed")
    assert run("verdict", "dismiss", f"--run={identity}", *given) == 0
    assert gate(run, identity) == "FAIL"
    lines = run.out.splitlines()
    said = "a/P1-1 P1 The batch is lost: it is replayed (not committed)"
    assert f"does not count\t{said}" in lines
    assert "next: commit the dismissals, so that they count" in lines


def test_a_dismissal_expires_when_its_lines_change_and_not_when_they_move(run: Script) -> None:
    identity = a_run(run, LOST)
    assert dismiss(run, identity, "a/P1-1") == 0
    text = Path("app.py").read_text(encoding="utf-8")
    Path("app.py").write_text("# above\n" + text, encoding="utf-8")
    moved = ("P1", "P1-1", "The batch is lost", 6)
    assert gate(run, a_run(run, moved)) == "PASS"
    Path("app.py").write_text(text.replace("line 5", "line five"), encoding="utf-8")
    assert gate(run, a_run(run, LOST)) == "FAIL"


def test_a_dismissed_finding_is_known_again_when_it_is_reworded_and_not_made_stricter(
    run: Script,
) -> None:
    assert dismiss(run, a_run(run, LOST, SLOW), "a/P1-1") == 0
    reworded = ("P1", "P1-4", "A batch gets lost", 6)
    again = a_run(run, reworded)
    run("verdict", "index", f"--run={again}", "--json")
    assert [row["status"] for row in json.loads(run.out) if row["kind"] == "finding"] == [
        "dismissed"
    ]
    [one] = synthesized(run, again)["findings"]
    assert (one["since"], one["dismissed"]) == ("still", "it is replayed")
    assert gate(run, again) == "PASS"
    for other in (
        ("P0", "P0-4", "A batch gets lost", 6),  # stricter than what was dismissed
        ("P1", "P1-4", "A batch gets lost", 15),  # elsewhere
        ("P1", "P1-4", "The token is logged", 6),  # of something else
    ):
        assert gate(run, a_run(run, other)) == "FAIL", other


def test_one_dismissal_hides_one_reworded_finding(run: Script) -> None:
    assert dismiss(run, a_run(run, LOST), "a/P1-1", "--by=ada") == 0
    both = [("P1", "P1-4", "A batch gets lost", 6), ("P1", "P1-5", "One batch gets lost", 5)]
    assert gate(run, a_run(run, *both)) == "FAIL"


def test_a_p0_is_never_hidden_without_somebody_who_decided_it(run: Script) -> None:
    identity = a_run(run, SAFE)
    assert dismiss(run, identity, "a/P0-1") == 0
    assert "by=" in run.err and gate(run, identity) == "FAIL"
    assert dismiss(run, identity, "a/P0-1", "--by=ada") == 0
    assert gate(run, identity) == "PASS"
    [document] = Path("docs/reviews").glob("*.dismissed.json")
    [one] = json.loads(document.read_text(encoding="utf-8"))["dismissed"]
    assert (one["by"], one["severity"], one["file"], one["line"]) == ("ada", "P0", "app.py", 15)


def test_other_findings_of_the_agent_still_fail(run: Script) -> None:
    other = ("P1", "P1-2", "The lock is held", 12)
    identity = a_run(run, LOST, other)
    assert dismiss(run, identity, "P1-1") == 0
    assert gate(run, identity) == "FAIL" and "1 P1: The lock is held" in run.out


def test_what_cannot_be_dismissed_is_said_and_writes_nothing(run: Script) -> None:
    identity = a_run(run, LOST)
    assert dismiss(run, identity, "a/P9-9") == 1
    assert "a/P1-1" in run.err
    assert run("verdict", "dismiss", identity, "--finding=a/P1-1", "--reason= ") == 2
    assert not Path("docs").exists()


def test_a_finding_with_the_id_of_another_is_dismissed_by_its_key(run: Script) -> None:
    identity = a_run(run, LOST, ("P1", "P1-1", "The lock is never freed", 12))
    assert run("verdict", "show", f"--run={identity}") == 0
    assert "P1 a/P1-1(2) app.py:12 The lock is never freed" in run.out
    assert run("verdict", "show", "a", f"--run={identity}") == 0
    assert "The lock is never freed" in run.out
    assert run("verdict", "show", "a", f"--run={identity}", "--finding=X") == 1
    assert "available: P1-1, P1-1(2)" in run.err
    assert dismiss(run, identity, "a/P1-1(2)") == 0
    assert "a/P1-1(2) is dismissed" in run.err
    assert gate(run, identity) == "FAIL" and "The lock is never freed: it is replayed" in run.out
    assert dismiss(run, identity, "P1-1") == 0
    assert gate(run, identity) == "PASS"


def test_of_a_document_the_dismissals_lie_beside_it(run: Script) -> None:
    Path("plan.md").write_text("# Plan\n\nWe log the token.\n", encoding="utf-8")
    call = ("verdict", "start", "--process=flux-drive", "--target=plan.md", "--agents=a", "--json")
    assert run(*call) == 0
    found = json.loads(run.out)
    text = review(("P1", "P1-1", "The token is logged", 3)).replace("app.py:3", "plan.md:3")
    Path(found["agents"][0]["path"]).write_text(signed(text, found["run"]), encoding="utf-8")
    run("verdict", "ingest", f"--run={found['run']}")
    assert dismiss(run, found["run"], "a/P1-1") == 0
    assert run.out == "plan.md.dismissed.json\n" and gate(run, found["run"]) == "PASS"


# where reviews are read


def test_sarif_has_what_code_scanning_reads(run: Script) -> None:
    identity = a_run(run, SAFE, LOST, SLOW)
    dismiss(run, identity, "a/P1-1")
    assert run("verdict", "export", f"--run={identity}", "--format=sarif") == 0
    document = json.loads(run.out)
    assert document["version"] == "2.1.0" and document["$schema"].endswith("sarif-2.1.0.json")
    [only] = document["runs"]
    driver = only["tool"]["driver"]
    assert driver["name"] == "contextkit" and driver["informationUri"].startswith("https://")
    rules = [rule["id"] for rule in driver["rules"]]
    assert len(set(rules)) == len(rules)
    for result in only["results"]:
        assert rules[result["ruleIndex"]] == result["ruleId"]
        assert result["level"] in ("error", "warning", "note") and result["message"]["text"]
        [place] = result["locations"]
        physical = place["physicalLocation"]
        assert physical["artifactLocation"] == {"uri": "app.py"}
        assert physical["region"]["startLine"] >= 1
        assert all(isinstance(v, str) for v in result["partialFingerprints"].values())
    assert [(one["ruleId"], one["level"]) for one in only["results"]] == [
        ("P0", "error"), ("P1", "error"), ("P2", "warning"),
    ]  # fmt: skip
    assert only["results"][1]["suppressions"] == [
        {"kind": "external", "justification": "it is replayed"}
    ]


def exports(run: Script) -> list[dict[str, Any]]:
    """SARIF of a run without findings, and of one with some of every kind."""
    odd = ("P1", "P1-3", "100% of <b>\u2028lost</b> ", 3)
    made = []
    for found in ((), (SAFE, LOST, SLOW, odd, ("IMP", "IMP-1", "Say more", 0))):
        identity = a_run(run, *found)
        if found:
            dismiss(run, identity, "a/P1-1")
        assert run("verdict", "export", f"--run={identity}", "--format=sarif") == 0
        made.append(json.loads(run.out))
    return made


@pytest.fixture
def whole(run: Script) -> dict[str, Any]:
    """The SARIF of a run with findings of every kind."""
    return exports(run)[1]


def test_sarif_is_valid_by_the_types_of_the_published_schema(run: Script) -> None:
    for document in exports(run):
        assert sarif.faults(document) == []


@each(
    ("change", "fault"),
    [
        (lambda log: log.update(version="2.0.0"), "$.version: '2.0.0' is not a word for it"),
        (lambda log: log.update(run=[]), "$: has no run"),
        (lambda log: log.pop("runs"), "$: lacks runs"),
        (lambda log: log["runs"][0].pop("tool"), "$.runs[0]: lacks tool"),
        (lambda log: driver(log).pop("name"), "$.runs[0].tool.driver: lacks name"),
        (lambda log: driver(log)["rules"].append(driver(log)["rules"][0]),
         "$.runs[0].tool.driver.rules: says something twice"),
        (lambda log: driver(log)["rules"][0]["shortDescription"].pop("text"),
         "$.runs[0].tool.driver.rules[0].shortDescription: lacks text"),
        (lambda log: result(log).update(level="fatal"),
         "$.runs[0].results[0].level: 'fatal' is not a word for it"),
        (lambda log: result(log).pop("message"), "$.runs[0].results[0]: lacks message"),
        (lambda log: result(log)["message"].clear(), "$.runs[0].results[0].message: lacks text"),
        (lambda log: result(log).update(message="lost"),
         "$.runs[0].results[0].message: must be an object"),
        (lambda log: result(log).update(severity="P1"), "$.runs[0].results[0]: has no severity"),
        (lambda log: result(log).update(ruleIndex="0"),
         "$.runs[0].results[0].ruleIndex: '0' is not int"),
        (lambda log: result(log).update(ruleIndex=True),
         "$.runs[0].results[0].ruleIndex: True is not int"),
        (lambda log: result(log).update(locations={}),
         "$.runs[0].results[0].locations: must be an array"),
        (lambda log: place(log)["region"].update(startLine=0),
         "$.runs[0].results[0].locations[0].physicalLocation.region.startLine: 0 is less than 1"),
        (lambda log: place(log)["artifactLocation"].update(uri=None),
         "$.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri:"
         " None is not str"),
        (lambda log: result(log).update(suppressions=[{"kind": "said"}]),
         "$.runs[0].results[0].suppressions[0].kind: 'said' is not a word for it"),
    ],
)  # fmt: skip
def test_those_types_refuse_what_the_schema_refuses(
    whole: dict[str, Any], change: Callable[[dict[str, Any]], object], fault: str
) -> None:
    document = copy.deepcopy(whole)
    change(document)
    assert sarif.faults(document) == [fault]
    if SCHEMA:
        assert by_schema(document)


def driver(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["runs"][0]["tool"]["driver"]
    return found


def result(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["runs"][0]["results"][0]
    return found


def place(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = result(document)["locations"][0]["physicalLocation"]
    return found


def by_schema(document: dict[str, Any]) -> list[str]:
    """What the schema itself refuses."""
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(Path(SCHEMA).read_text(encoding="utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    valid = kind(schema, format_checker=kind.FORMAT_CHECKER)
    return [error.message for error in valid.iter_errors(document)]


@pytest.mark.skipif(not SCHEMA, reason="CONTEXTKIT_SARIF_SCHEMA names no copy of OASIS's schema")
def test_sarif_is_valid_by_the_published_schema(run: Script) -> None:
    for document in exports(run):
        assert by_schema(document) == []


def test_annotations_are_a_line_for_each_finding_whatever_it_says(run: Script) -> None:
    odd = ("P2", "P2-2", "100% of a::b, c are\u2028lost", 3)
    identity = a_run(run, LOST, odd)
    assert run("verdict", "export", identity, "--format=github") == 0
    lines = run.out.splitlines()
    assert lines[0].startswith("::error file=app.py,line=5,title=P1 a::The batch is lost")
    assert lines[1].startswith("::warning file=app.py,line=3,title=P2 a::100%25 of a::b")
    assert len(lines) == 2 and all(line.startswith("::") for line in lines)


@each("form", ["github", "sarif", "markdown"])
def test_the_end_of_a_line_makes_no_secret_of_its_last_word(run: Script, form: str) -> None:
    identity = a_run(run, ("P1", "P1-1", "An empty password is accepted", 5))
    assert run("verdict", "export", identity, f"--format={form}") == 0
    assert "password is accepted" in run.out and "redacted" not in run.out
    assert run("verdict", "end", identity) == 0


def test_the_comment_is_short_enough_and_starts_no_mention(run: Script) -> None:
    many = [("P2", f"P2-{n}", f"@team <b>finding {n}</b> " + "word " * 30, 3) for n in range(450)]
    identity = a_run(run, LOST, *many)
    assert run("verdict", "export", identity, "--format=markdown") == 0
    assert len(run.out) <= 65_000 and run.out.startswith("## Review: needs-changes\n")
    assert "- **P1** `app.py:5` The batch is lost (a, new)" in run.out
    assert "@team" not in run.out and "<b>" not in run.out.replace("\\<", "")
    assert run.out.splitlines()[-1].startswith("… ")
    assert run("verdict", "export", identity, "--format=pdf") == 2

"""payload_store.py as its users call it, in this process."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from bisect import bisect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import planted
import pytest
import toon_format
from conftest import CHECKOUT, Script, each, git
from contextkit.base import sessions, tokens
from contextkit.base.layout import Layout
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.flows import retention

STORE = Path("shared/payloads")
CALL = ("--topic=NSW Strata Legislation", "--source=research")
REPORT = """\
# NSW Strata Legislation

## Executive Summary

Two acts and two regulations govern strata in NSW. Reform is in phase 2 of 5.

## Primary Acts

The Strata Schemes Management Act 2015 is the main one, see `acts/ssma.md:12`.

---

## Sources

- not ours
"""
FINDINGS = (
    "--finding=Primary Acts=Strata Schemes Management Act 2015, Development Act 2015",
    "--finding=Regulator=NSW Fair Trading",
    "--finding=Reform Status=Phase 2 of 5 reforms in progress",
)
SAID = ("--summary=Two acts govern it. A third is coming.", "--confidence=high", *FINDINGS)


def words(count: int) -> str:
    """A text of exactly `count` estimated tokens."""
    text = "word " * (count * 3)
    size = bisect(range(len(text)), count, key=lambda n: tokens.estimate(text[:n]))
    assert tokens.estimate(text[: size - 1]) == count
    return text[: size - 1]


@pytest.fixture
def call(repo: Path, run: Script) -> Callable[..., Any]:
    """`call(text, "--force")` stores in session s; gives the decoded receipt."""

    def store(text: str, *options: str, session: str = "s", status: int = 0) -> Any:
        assert run("payload_store", *CALL, f"--session={session}", *options, stdin=text) == status
        return toon_format.decode(run.out, strict=True) if status == 0 else None

    return store


def manifest(session: str = "s") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((STORE / session / "manifest.json").read_text("utf-8"))
    return found


def stock(folder: str | Path = ".") -> dict[str, bytes]:
    below = [path for path in Path(folder).rglob("*") if ".git" not in path.parts]
    return {str(path): path.read_bytes() for path in below if path.is_file()}


# Store


@pytest.mark.golden
def test_file_manifest_and_receipt_read_as_documented(
    call: Callable[..., Any], run: Script, golden: Callable[[str, str], None]
) -> None:
    call(
        REPORT, "--force", *SAID, "--cite=https://legislation.nsw.gov.au", "--cite=NSW Fair Trading"
    )
    golden("payload_receipt.toon", run.out)
    call(REPORT, "--force")
    golden("payload_receipt_extracted.toon", run.out)
    path = STORE / "s/20251023-180500-nsw-strata-legislation.md"
    golden("payload.md", path.read_bytes().decode())
    golden("payload_manifest.json", (STORE / "s/manifest.json").read_text("utf-8"))
    payloads.document_store(Layout())
    golden("payload_readme.md", (STORE / "README.md").read_text("utf-8"))
    run("payload_store", "list", "--session=s")
    golden("payload_list.txt", run.out)
    run("payload_store", "show", "latest", "--part=facts")
    golden("payload_facts.txt", run.out)
    run("payload_store", "find", "2015")
    golden("payload_find.txt", run.out)


def test_an_id_in_a_list_opens_its_payload_however_alike_the_topics_are(run: Script) -> None:
    topic = "The output of a command with a long name"
    for text in ("one " * 900, "two " * 900):
        told = (f"--topic={topic}", "--source=run", "--session=s-1")
        assert run("payload_store", "store", *told, stdin=text) == 0
    run("payload_store", "list", "--session=s-1")
    ids = [line.split()[0] for line in run.out.splitlines()[1:]]
    for identity, word in zip(ids, ("one", "two"), strict=True):
        assert run("payload_store", "show", identity, "--session=s-1", "--part=content") == 0
        assert run.out.startswith(word)


def test_the_receipt_has_the_seeds_keys_in_their_order_and_not_the_body(
    call: Callable[..., Any], run: Script
) -> None:
    text = words(600)
    found = call(text, *SAID)
    keys = ["@stored", "summary", "keyFindings", "confidence", "tokens_stored"]
    assert list(found) == [*keys, "tokens", "kind", "grounded", "not in the report", "more"]
    assert found["confidence"] == "High" and found["tokens_stored"] == 600
    assert manifest()["payloads"][0]["tokens"] == 600
    assert found["@stored"] == "shared/payloads/s/20251023-180500-nsw-strata-legislation.md"
    assert Path(found["@stored"]).is_file()
    assert found["summary"][0]["finding"].endswith("Act 2015, Development Act 2015")
    assert text not in run.out and tokens.within(run.out, 300)
    assert run.out.startswith("@stored: shared/") and "\n  Regulator,NSW Fair Trading\n" in run.out


@pytest.mark.parametrize(
    ("count", "options", "stored"),
    [
        (500, (), False),
        (501, (), True),
        (10, ("--force",), True),
        (1500, ("--budget=2000",), False),
        (2000, ("--budget=2000",), False),
        (150, ("--budget=100",), True),
        (900, ("--inline",), False),
        (100, ("--tokens=501",), True),
        (900, ("--tokens=500",), False),
        (100, ("--force=0",), False),
    ],
)
def test_a_text_above_the_budget_is_stored_and_any_other_passed_through(
    call: Callable[..., Any], run: Script, count: int, options: tuple[str, ...], stored: bool
) -> None:
    text = words(count)
    assert run("payload_store", *CALL, "--session=s", *options, stdin=text) == 0
    assert (STORE / "s/manifest.json").exists() == stored
    assert (run.out == text) != stored
    shown = next((option[9:] for option in options if "tokens" in option), str(count))
    assert f"~{shown} tokens" in run.err and ("stored" in run.err)
    if not stored:
        assert stock() == {} and "passed through, nothing stored" in run.err


def test_the_budget_is_a_setting(repo: Path, run: Script) -> None:
    Path("contextkit.yaml").write_text("payload_budget: 100\n", "utf-8")
    assert run("payload_store", *CALL, stdin=words(101)) == 0
    assert run.out.startswith("@stored: ") and "above 100" in run.err


@each("text", ["short", "no end\n\n\n", "a\r\nb\r", "é\n", "\x00"])
def test_what_is_passed_through_is_byte_identical(repo: Path, run: Script, text: str) -> None:
    assert run("payload_store", *CALL, stdin=text) == 0
    assert run.out == text


@each(
    "text",
    [
        "{{ 7*7 }} {% raw %}",
        "# T\n\n---\n\n## Summary\n\nx\n\n---\n\n## Full Content\n\nx\n\n---\n\n## Sources\n\n- x",
        "```\n## Sources\n```\n",
        "no final newline",
        "a\r\nb\rc\n\n\n",
        "\ufeffbom",
        "<!-- contextkit: bytes=1 sha256=0 -->",
    ],
)
@each("options", [(), ("--sources=a | b",)])
def test_the_content_comes_back_byte_identical(
    call: Callable[..., Any], run: Script, text: str, options: tuple[str, ...]
) -> None:
    identity = Path(call(text, "--force", *options)["@stored"]).stem
    assert run("payload_store", "show", identity, "--part=content") == 0
    assert run.out == text
    assert text in Path(STORE, "s", f"{identity}.md").read_bytes().decode()


def test_the_file_has_its_parts_in_order(call: Callable[..., Any]) -> None:
    path = call(REPORT, "--force", "--cite=https://x.y", "--topic=日本語の調査")["@stored"]
    assert path.endswith("-payload.md")
    text = Path(path).read_text("utf-8")
    head, body = text.split("## Full Content\n\n" + REPORT)
    assert head == (
        "# 日本語の調査\n\n**Generated:** 2025-10-23T18:05:00Z\n**Source:** research\n"
        f"**Tokens:** {tokens.estimate(REPORT)}\n\n---\n\n## Summary\n\n"
        "Two acts and two regulations govern strata in NSW. Reform is in phase 2 of 5.\n\n---\n\n"
    )
    assert body.startswith("\n\n---\n\n## Sources\n\n- https://x.y\n\n<!-- contextkit: bytes=")


def test_without_sources_the_section_is_absent(call: Callable[..., Any]) -> None:
    text = Path(call("hello", "--force", "--sources= | ")["@stored"]).read_text("utf-8")
    assert "## Sources" not in text and text.count("\n---\n") == 2


@each("cell", ["a,b", 'say "x"', "a: b", "# x", "- x", "two\nlines", "true", "1.0"])
def test_a_finding_comes_back_equal(call: Callable[..., Any], cell: str) -> None:
    assert call("text", "--force", f"--finding={cell}={cell}")["summary"] == [
        {"aspect": cell, "finding": cell}
    ]


def test_findings_and_sources_in_one_piece_are_taken_apart(call: Callable[..., Any]) -> None:
    found = call("text", "--force", "--findings=A=1 | B=2\nC=3", "--sources=a | b")
    assert [row["aspect"] for row in found["summary"]] == ["A", "B", "C"]
    assert Path(found["@stored"]).read_text("utf-8").count("\n- ") == 2


def test_a_confidence_that_nobody_gave_is_not_invented(call: Callable[..., Any]) -> None:
    assert "confidence" not in call("text", "--force")
    assert call("Confidence: low\n", "--force")["confidence"] == "Low"


def test_a_summary_of_one_sentence_is_warned_about(call: Callable[..., Any], run: Script) -> None:
    call("text", "--force", "--summary=One.")
    assert "should be two to three sentences, not 1" in run.err


def test_after_a_store_git_sees_nothing_of_it_and_after_init_what_belongs_in_it(
    call: Callable[..., Any], repo: Path, layout: Layout
) -> None:
    call("text", "--force")
    assert git("status", "--porcelain", "-uall") == ""
    payloads.document_store(layout)
    seen = git("status", "--porcelain", "-uall").split("\n")
    ours = [f"?? shared/payloads/{name}" for name in (".gitignore", ".gitkeep", "README.md")]
    assert sorted(filter(None, seen)) == ours
    git("add", "shared")
    git("commit", "-qm", "store")
    call("text", "--force")
    assert git("status", "--porcelain") == ""


def test_every_time_is_utc_whatever_the_time_zone(
    call: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    monkeypatch.setenv("CONTEXT_NOW", "2025-10-23T14:05:00-04:00")
    time.tzset()
    path = call("text", "--force")["@stored"]
    monkeypatch.delenv("TZ")
    time.tzset()
    assert path.endswith("/20251023-180500-nsw-strata-legislation.md")
    assert (
        manifest()["createdAt"] == manifest()["payloads"][0]["createdAt"] == "2025-10-23T18:05:00Z"
    )


def test_where_no_session_is_named_one_is_made_up_and_said(repo: Path, run: Script) -> None:
    run("payload_store", *CALL, "--force", stdin="one")
    session = run.out.split("/")[2]
    assert f"no session is named: using {session} from now on" in run.err
    run("payload_store", *CALL, "--force", stdin="two")
    assert run.out.split("/")[2] == session and "no session" not in run.err
    run("payload_store", "list", "--json")
    assert len(json.loads(run.out)["payloads"]) == 2
    assert run("payload_store", "end", f"--session={session}") == 0
    run("payload_store", *CALL, "--force", stdin="three")
    assert run.out.split("/")[2] != session


def test_ten_megabytes_are_stored(call: Callable[..., Any], run: Script) -> None:
    text = (REPORT + "Some prose of the usual kind, with 52 ms and `src/app.py` in it.\n") * 32_000
    assert len(text) > 10_000_000
    found = call(text)
    assert tokens.within(run.out, 300)
    run("payload_store", "show", Path(found["@stored"]).stem, "--part=content")
    assert run.out == text


# Refusals


@each(
    ("options", "complaint"),
    [
        (("--confidence=maybe",), "confidence=maybe: must be High, Medium or Low"),
        (("--finding=no sign",), "Aspect=Finding"),
        (("--session=..",), "session: '..'"),
        (("--session=a/b",), "session: 'a/b'"),
        (("--session=.",), "session: '.'"),
        (("--session=/tmp/x",), "session: '/tmp/x'"),
        (("--session=" + "x" * 200,), "must be 1 to 64"),
        (("--session= ",), "session: ' '"),
        (("--topic= ",), "topic: "),
        (("--topic=a\nb",), "topic: "),
        (("--topic=" + "x" * 300,), "topic: "),
        (("--source=",), "source: "),
        (("--source=a\x1b[0m",), "source: "),
        (("--budget=many",), "budget=many"),
        (("--budget=-1",), "budget=-1"),
        (("--tokens=1.5",), "tokens=1.5"),
        (("--force=perhaps",), "force=perhaps"),
        (("--path=../x.md",), "path: "),
        (("--path=x.py",), "path: "),
        (("--topik=x",), "--topik"),
        (("surplus",), "surplus"),
    ],
)
@each("text", [REPORT, words(600)])
def test_bad_input_is_refused_and_nothing_is_written(
    repo: Path, run: Script, options: tuple[str, ...], complaint: str, text: str
) -> None:
    assert run("payload_store", *CALL, *options, stdin=text) == 2
    assert run.out == "" and complaint in run.err and "Traceback" not in run.err
    assert stock() == {}


@each(("name", "value"), [("topic", "two\nlines"), ("session", "a b"), ("status", "many")])
def test_a_piped_text_is_not_lost_when_what_comes_with_it_is_refused(
    repo: Path, name: str, value: str
) -> None:
    script = str(CHECKOUT / "scripts" / "payload_store.py")
    words = [sys.executable, script, *CALL, f"--{name}={value}"]
    done = subprocess.run(words, input=REPORT, capture_output=True, encoding="utf-8")
    assert (done.returncode, done.stdout) == (2, REPORT)
    assert name in done.stderr and done.stderr.endswith(": the whole text follows on stdout\n")
    assert stock() == {}


@each("words", [["--topic=t"], ["--source=s"], ["--topic=t", "--sorce=s"],
                [*CALL, "--budget=perhaps"], [*CALL, "surplus"]])  # fmt: skip
def test_a_piped_text_is_not_lost_when_the_call_is_refused_before_it_is_read(
    repo: Path, words: list[str]
) -> None:
    script = str(CHECKOUT / "scripts" / "payload_store.py")
    done = subprocess.run(
        [sys.executable, script, *words], input=REPORT, capture_output=True, encoding="utf-8"
    )
    assert (done.returncode, done.stdout) == (2, REPORT)
    assert "the text that was piped in follows on stdout" in done.stderr
    assert len(done.stderr.splitlines()) >= 2 and stock() == {}
    named = subprocess.run(
        [sys.executable, script, *words, "--file=x.md"], input=b"x", capture_output=True
    )
    assert (named.returncode, named.stdout) == (2, b"")


@each("options", [(), ("--force",), ("--budget=1",), ("--inline",)])
@each("text", ["", "  \r\n\t\n"])
def test_blank_content_is_refused(
    repo: Path, run: Script, text: str, options: tuple[str, ...]
) -> None:
    assert run("payload_store", *CALL, *options, stdin=text) == 2
    assert run.out == "" and "the content is empty" in run.err
    assert stock() == {}


@each("command", ["end", "sweep", "repair", "list", "show", "find"])
def test_no_command_takes_a_session_that_is_no_name(
    call: Callable[..., Any], run: Script, command: str
) -> None:
    call("text", "--force")
    before = stock()
    options = {"show": ["latest"], "find": ["text"], "sweep": ["--max-idle=soon"]}.get(command, [])
    session = [] if command == "sweep" else ["--session=../s"]
    assert run("payload_store", command, *options, *session) == 2
    assert run.out == "" and run.err
    assert stock() == before


def test_a_session_in_the_environment_is_refused_for_storing_and_ignored_for_reading(
    call: Callable[..., Any], run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SESSION_ID", "../up")
    assert run("payload_store", *CALL, "--force", stdin="text") == 2
    assert run.out == "" and stock() == {}
    path = call("text", "--force")["@stored"]
    for ref in (path, Path(path).stem, "latest"):
        assert run("payload_store", "show", ref, "--part=content") == 0
        assert run.out == "text"
    assert run("payload_store", "list") == 0 and Path(path).stem in run.out


@pytest.mark.parametrize("way", ["session", "store", "file", "session file"])
def test_where_storing_is_not_possible_the_text_is_not_lost(
    repo: Path, run: Script, tmp_path: Path, way: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if way == "file":
        Path("shared").write_text("in the way", "utf-8")
    else:
        STORE.parent.mkdir()
    if way == "store":
        STORE.symlink_to(elsewhere)
    if way.startswith("session"):
        STORE.mkdir()
        if way == "session":
            (STORE / "s").symlink_to(elsewhere)
        else:
            (STORE / "s").write_text("in the way", "utf-8")
    text = words(600) + "no final newline"
    before = stock()
    assert run("payload_store", *CALL, "--session=s", stdin=text) == 1
    assert run.out == text
    assert way == "session file" or stock() == before
    assert "storing failed (" in run.err and "the whole text follows on stdout" in run.err
    assert os.listdir(elsewhere) == [] and not list(Path().rglob("*.tmp"))
    assert not list(STORE.rglob("*nsw*"))


def test_a_sweep_that_fails_does_not_make_the_store_fail(
    call: Callable[..., Any], run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError("no more")

    monkeypatch.setattr(retention, "sweep", refuse)
    call("text", "--force")
    assert "the sweep of idle sessions failed: no more" in run.err


# Keeping


def test_a_text_is_kept_at_a_path_without_any_session(
    call: Callable[..., Any], run: Script
) -> None:
    found = call("short text", "--path=docs/x.md")
    assert found["@stored"] == "docs/x.md" and list(stock()) == ["docs/x.md"]
    assert run("payload_store", "show", "docs/x.md", "--part=content") == 0
    assert run.out == "short text"
    assert run("payload_store", *CALL, "--path=docs/x.md", stdin="other") == 2
    assert "overwrite=1" in run.err and run.out == ""
    call("other", "--path=docs/x.md", "--overwrite")
    run("payload_store", "show", "docs/x.md", "--part=content")
    assert run.out == "other"


# Reading


def test_each_part_of_a_payload_is_shown(call: Callable[..., Any], run: Script) -> None:
    line = "@stored: " + call(REPORT, "--force", *SAID, "--cite=https://x.y")["@stored"]

    def part(name: str) -> str:
        assert run("payload_store", "show", line, f"--part={name}") == 0
        return run.out

    assert part("file") == Path(line[9:]).read_text("utf-8") == part("")
    assert part("content") == REPORT
    assert part("summary") == "Two acts govern it. A third is coming.\n"
    assert part("sources") == "https://x.y\n"
    size = tokens.estimate(REPORT)
    assert part("head") == f"NSW Strata Legislation\n2025-10-23T18:05:00Z  research  ~{size}\n"
    assert run("payload_store", "show", line, "--json") == 0
    shown = json.loads(run.out)
    assert (shown["content"], shown["id"]) == (REPORT, Path(line).stem)


def test_each_fact_is_shown_with_its_line_in_the_file(
    call: Callable[..., Any], run: Script
) -> None:
    path = call("See `src/a.py:42`.\n\nIt takes 52 ms.\n", "--force")["@stored"]
    assert run("payload_store", "show", "latest", "--part=facts", "--json") == 0
    lines = Path(path).read_text("utf-8").split("\n")
    for fact in json.loads(run.out):
        assert fact["fact"] in lines[int(fact["id"].rpartition(":")[2]) - 1].replace("`", "")
        assert lines[int(fact["id"].rpartition(":")[2]) - 1] in (
            "See `src/a.py:42`.",
            "It takes 52 ms.",
        )
    call("nothing", "--force")
    run("payload_store", "show", "latest", "--part=facts")
    assert run.out == "No hard facts.\n"


def test_facts_are_counted_from_the_content_where_the_summary_says_the_same(
    call: Callable[..., Any], run: Script
) -> None:
    path = call("It takes 52 ms.", "--force")["@stored"]
    run("payload_store", "show", "latest", "--part=facts", "--json")
    (fact,) = json.loads(run.out)
    content = Path(path).read_text("utf-8").split("\n").index("## Full Content") + 3
    assert fact["id"].endswith(f":{content}")


def test_a_changed_file_is_shown_whole_and_not_as_what_was_stored(
    call: Callable[..., Any], run: Script
) -> None:
    path = Path(call("the original text", "--force")["@stored"])
    path.write_text(path.read_text("utf-8").replace("original", "forged"), "utf-8")
    assert run("payload_store", "show", "latest", "--part=content") == 1
    assert run.out == "" and "the file was changed" in run.err
    assert run("payload_store", "show", "latest") == 0 and "forged" in run.out


def test_find_looks_into_one_session_or_all(call: Callable[..., Any], run: Script) -> None:
    call("one needle here", "--force", session="a")
    call("x" * 5000 + " NEEDLE " + "y" * 5000, "--force", session="b")
    assert run("payload_store", "find", "needle") == 0
    lines = [line for line in run.out.splitlines() if "Content" not in line]
    assert any(line.endswith(": one needle here") for line in lines)
    assert max(map(len, lines)) < 300 and any(
        "… NEEDLE" in line or "x NEEDLE y" in line for line in lines
    )
    assert run("payload_store", "find", "--query=needle", "--session=a", "--json") == 0
    assert {hit["text"] for hit in json.loads(run.out)} == {"one needle here", "one needle here."}
    assert run("payload_store", "find", "haystack") == 1
    assert run.out == "" and "'haystack' occurs in no payload" in run.err
    assert run("payload_store", "find", "haystack", "--json") == 1
    assert json.loads(run.out) == []


def test_an_empty_list_says_what_of_other_sessions_can_come_back(
    call: Callable[..., Any], run: Script
) -> None:
    call("text", "--force", session="friday")
    path = next(Path("shared/payloads/friday").glob("*.md"))
    assert run("payload_store", "end", "--session=friday") == 0
    assert run("payload_store", "list", "--session=monday") == 0 and run.out == "No payloads.\n"
    assert "1 payload of ended sessions can come back" in run.err
    assert f"make payload_show ref={path.stem}" in run.err
    assert run("payload_store", "show", "latest") == 1
    assert "latest: no such payload; 1 payload of ended sessions can come back" in run.err
    assert run("payload_store", "show", path.stem) == 0
    assert path.exists()


def test_an_empty_list_says_that_other_sessions_have_payloads(
    call: Callable[..., Any], run: Script
) -> None:
    call("text", "--force", session="friday")
    assert run("payload_store", "list", "--session=monday") == 0 and run.out == "No payloads.\n"
    assert "session monday has none: all=1 lists every session's" in run.err


def test_list_shows_one_session_or_all_and_what_is_missing(
    call: Callable[..., Any], run: Script
) -> None:
    assert run("payload_store", "list") == 0
    assert run.out == "No payloads.\n" and stock() == {}
    gone = Path(call("one", "--force", session="a")["@stored"])
    Path(call("two", "--force", session="b")["@stored"])
    gone.unlink()
    extra = STORE / "b" / "20251023-180500-extra.md"
    extra.write_text("x", "utf-8")
    run("payload_store", "list", "--session=a")
    assert len(run.out.splitlines()) == 2 and "missing" in run.out
    run("payload_store", "list", "--all")
    assert len(run.out.splitlines()) == 3
    assert "1 file is not listed: make context_doctor mend=1" in run.err
    run("payload_store", "list", "--session=a", "--json")
    assert json.loads(run.out) == manifest("a")
    run("payload_store", "list", "--all", "--json")
    assert json.loads(run.out) == [manifest("a"), manifest("b")]
    run("payload_store", "list", "--session=c", "--json")
    assert json.loads(run.out) == {
        "sessionId": "c",
        "createdAt": "2025-10-23T18:05:00Z",
        "payloads": [],
        "totalTokensStored": 0,
    }
    assert not (STORE / "c").exists()


@pytest.mark.parametrize(
    "options", [("--session=s",), ("--all",), ("--session=s", "--json"), ("--all", "--json")]
)
def test_a_broken_manifest_is_named_with_its_mend(
    call: Callable[..., Any], run: Script, options: tuple[str, ...]
) -> None:
    call("text", "--force")
    (STORE / "s/manifest.json").write_text("{", "utf-8")
    assert run("payload_store", "list", *options) == 1
    assert run.out == "" and "fix it with make context_doctor mend=1" in run.err
    assert run("payload_store", "repair", "--session=s") == 0
    assert "kept as manifest.json.broken-" in run.out
    assert run("payload_store", "list", *options) == 0


# Ending


def test_ending_a_session_twice_is_noted_once(call: Callable[..., Any], run: Script) -> None:
    call("text", "--force")
    call("text", "--force", session="other")
    before = stock(STORE / "other")
    assert run("payload_store", "end", "--session=s") == 0
    assert run.out == "session s: 1 payload, 1 token removed (session_end)\n"
    assert "can be resumed for 24h: run `make payload_list` in that session" in run.err
    assert not (STORE / "s").exists() and stock(STORE / "other") == before
    assert run("payload_store", "end", "--session=s") == 0
    assert run.out == "session s: nothing to remove\n"
    assert (STORE / "cleanup.log").read_text("utf-8").count("\n") == 1
    assert {".gitignore", "cleanup.log"} < set(os.listdir(STORE))


@pytest.mark.parametrize("command", [("list",), ("show", "latest"), ("store", *CALL, "--force")])
def test_the_next_use_of_an_ended_session_brings_it_back(
    call: Callable[..., Any], run: Script, command: tuple[str, ...]
) -> None:
    path = Path(call("text", "--force")["@stored"])
    run("payload_store", "end", "--session=s")
    assert not path.exists()
    assert run("payload_store", *command, "--session=s", stdin="more") == 0
    assert path.exists() and manifest()["payloads"][0]["path"] == path.name
    assert len(manifest()["payloads"]) == (2 if command[0] == "store" else 1)


def test_purging_removes_for_good(call: Callable[..., Any], run: Script) -> None:
    call("text", "--force")
    assert run("payload_store", "end", "--session=s", "--purge") == 0
    assert "removed (session_end)" in run.out and "resumed" not in run.err
    assert os.listdir(".contextkit/ended") == []
    call("text", "--force")
    run("payload_store", "end", "--session=s")
    assert run("payload_store", "end", "--session=s", "--purge") == 0
    assert run.out == "session s: removed for good\n"
    assert run("payload_store", "show", "latest", "--session=s") == 1
    assert "session s has ended and its payloads are gone (2025-10-23T18:05:00Z" in run.err


def test_a_sweep_ends_what_nobody_used_for_a_day(
    call: Callable[..., Any], run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("text", "--force")
    monkeypatch.setenv("CONTEXT_NOW", "2025-10-24T18:04:00Z")
    assert run("payload_store", "sweep") == 0 and run.out == "nothing to remove\n"
    monkeypatch.setenv("CONTEXT_NOW", "2025-10-24T14:05:00Z")
    run("payload_store", "show", "latest")
    monkeypatch.setenv("CONTEXT_NOW", "2025-10-25T14:05:00Z")
    assert run("payload_store", "sweep") == 0 and run.out == "nothing to remove\n"
    monkeypatch.setenv("CONTEXT_NOW", "2025-10-25T14:06:00Z")
    assert run("payload_store", "sweep") == 0
    assert run.out == "session s: 1 payload, 1 token removed (inactive_24h)\n"
    assert run("payload_store", "list", "--session=t") == 0


@pytest.mark.parametrize(
    "command", [("list", "--session=t"), ("store", *CALL, "--force", "--session=t")]
)
def test_store_and_list_sweep_other_sessions_on_the_way(
    call: Callable[..., Any], run: Script, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    call("text", "--force")
    monkeypatch.setenv("CONTEXT_NOW", "2025-10-24T18:06:00Z")
    assert run("payload_store", *command, stdin="text") == 0
    assert "session s: 1 payload, 1 token removed (inactive_24h)" in run.err
    assert "what was removed as inactive can come back for 24h: make payload_show ref=ID" in run.err
    assert not (STORE / "s").exists()


def test_how_long_is_idle_can_be_said(
    call: Callable[..., Any], run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    call("text", "--force")
    monkeypatch.setenv("CONTEXT_NOW", "2025-10-23T20:05:00Z")
    run("payload_store", "sweep", "--max-idle=2h")
    assert run.out == "nothing to remove\n"
    run("payload_store", "sweep", "--max-idle=1h")
    assert "session s: " in run.out


def test_the_end_is_noted_where_it_was_asked_for(call: Callable[..., Any], run: Script) -> None:
    call("text", "--force")
    Path("notes.md").write_text("# Session", "utf-8")
    run("payload_store", "end", "--session=s", "--summary-file=notes.md")
    line = "2025-10-23T18:05:00Z session s: 1 payload, 1 token removed (session_end)"
    assert Path("notes.md").read_text("utf-8") == f"# Session\n- {line}\n"


def test_a_file_deleted_by_hand_is_mended(call: Callable[..., Any], run: Script) -> None:
    gone = Path(call("one", "--force", "--tokens=40")["@stored"])
    call("two", "--force", "--tokens=2")
    gone.unlink()
    assert run("payload_store", "repair", "--session=s") == 0
    assert run.out == f"{gone.stem}: its file is gone: no longer listed\n"
    assert manifest()["totalTokensStored"] == 2
    assert run("payload_store", "repair", "--session=s") == 0
    assert run.out == "nothing to fix\n"


def test_a_launcher_sets_the_budget_of_its_subagents(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = ("payload_store", "--topic=t", "--source=s", "--session=s-1")
    text = "A sentence of some words. " * 20
    monkeypatch.setenv("PAYLOAD_BUDGET", "50")
    assert run(*call, stdin=text) == 0 and run.out.startswith("@stored: ")
    assert run(*call, "--budget=900", stdin=text) == 0 and run.out == text
    monkeypatch.setenv("PAYLOAD_BUDGET", "many")
    assert run(*call, stdin=text) == 2 and "PAYLOAD_BUDGET=many" in run.err


def test_what_travels_on_carries_no_secret_and_the_stored_text_stays(
    repo: Path, run: Script
) -> None:
    token = planted.secrets()["github-classic"][".env"].partition("=")[2]
    text = (
        f"# Report\n\nThe deploy uses {token} for now, which is wrong. It must go.\n" + "x " * 900
    )
    said = (f"--finding=Key={token} leaks", f"--summary=It uses {token} now.")
    run("payload_store", "store", "--force", "--topic=t", "--source=s", *said, stdin=text)
    assert token not in run.out + run.err and "(redacted github-token) leaks" in run.out
    assert "redacted in what is passed on: " in run.err
    run("payload_store", "list", "--json")
    assert token not in run.out
    run("payload_store", "show", "latest", "--part=content")
    assert run.out == text


@each("kind", ["uuid-token", "api-key", "aws-secret", "password-word"])
def test_a_value_that_only_its_name_makes_a_secret_is_not_in_a_row_of_its_own(
    repo: Path, run: Script, kind: str
) -> None:
    text = planted.secrets()[kind]["JSON"]
    value = list(json.loads(text).values())[-1]
    run("payload_store", "store", "--force", "--topic=t", "--source=s", stdin=text)
    assert value not in run.out + run.err and "(redacted" in run.out


def test_no_payload_leaks_where_a_branch_without_the_store_is_checked_out(
    repo: Path, run: Script
) -> None:
    git("branch", "other")
    exclude = repo / ".git" / "info" / "exclude"
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("# mine", encoding="utf-8")
    for topic in ("one", "two"):
        done = run("payload_store", "store", f"--topic={topic}", "--source=dev", "--session=s",
                   "--force", stdin="words\n")  # fmt: skip
        assert done == 0
    assert run("context", "init") == 0
    git("add", "-A")
    git("commit", "-q", "-m", "the store")
    assert "shared/payloads/README.md" in git("ls-files")
    git("checkout", "-q", "other")
    assert git("status", "--porcelain", "--untracked-files=all") == ""
    assert exclude.read_text(encoding="utf-8") == "# mine\n/shared/payloads/*/\n"


def test_a_disk_that_hides_the_session_loses_no_text(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(layout: Layout) -> str:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(sessions, "named", lambda *given: broken(given[0]))
    text = "line after line\n" * 900
    assert run("payload_store", "store", "--topic=t", "--source=s", stdin=text) == 1
    assert run.out == text and "storing failed" in run.err


KINDS: dict[str, str | Path] = {
    "report": Path(__file__).parent.parent / "examples" / "report.md",
    "review": "### Findings Index\n" + "".join(
        f'- {("P0", "P1", "P2")[n % 3]} | F-{n} | "Part {n}" | Reader {n} opens src/r{n}.py:{n}\n'
        for n in range(12)
    ) + "Verdict: risky\n\n### Issues Found\n" + "".join(
        f"#### F-{n}. Reader {n}\n`src/r{n}.py:{n}` is opened {n + 2} times, which costs {n} ms.\n"
        for n in range(12)
    ),
    "log": "".join(f"tests/test_{n}.py::test_it PASSED\n" for n in range(200))
    + "tests/test_login.py::test_rate FAILED - assert 200 == 429\n",
    "diff": "".join(
        f"diff --git a/src/f{n}.py b/src/f{n}.py\n--- a/src/f{n}.py\n+++ b/src/f{n}.py\n"
        f"@@ -1,2 +1,3 @@\n import os\n+import sys{n}\n-old = {n}\n+new = {n}\n"
        for n in range(30)
    ),
    "json": json.dumps([{"id": n, "ms": 9000 if n == 77 else 20} for n in range(200)]),
    "table": "name,ms,state\n" + "".join(f"row{n},{n % 7},ok\n" for n in range(200)),
    "code": "".join(
        f"def reader_{n}(path: str, size: int = {n}) -> bytes:\n    return open(path).read()\n\n\n"
        for n in range(60)
    ),
    "trace": "Traceback (most recent call last):\n" + "".join(
        f'  File "src/app/part{n}.py", line {n + 3}, in step_{n}\n    step_{n + 1}(value)\n'
        for n in range(40)
    ) + "ValueError: 429 is no status that is known here\n",
    "plain": " ".join(
        f"The reader number {n} opens the file and closes it after {n} ms." for n in range(90)
    ),
}  # fmt: skip


@pytest.mark.golden
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("repo")
def test_a_receipt_of_each_kind(kind: str, run: Script, golden: Callable[[str, str], None]) -> None:
    given = KINDS[kind]
    text = given.read_text(encoding="utf-8") if isinstance(given, Path) else given
    call = ("payload_store", "store", "--topic=t", "--source=s", "--session=s", "--force")
    assert run(*call, stdin=text) == 0
    assert f"kind: {kind}\n" in run.out
    golden(f"receipt_{kind}.toon", run.out)


def test_the_exit_status_of_what_wrote_the_text_is_in_the_receipt(call: Callable[..., Any]) -> None:
    text = "\n".join(f"step {n}" for n in range(400))
    assert call(text, "--force", "--status=3")["keyFindings"] == "exit status 3"
    call(text, "--force", "--status=x", status=2)


def test_a_command_in_a_stored_text_stays_as_it_is_written_however_ours_are_called(
    call: Callable[..., Any], run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "Then run `make handoff_list` or make context_trust here."
    call(f"{REPORT}\n{said}\n" + "A line.\n" * 900, "--force")
    monkeypatch.setenv("CONTEXTKIT_COMMAND", "/opt/contextkit")
    for how in ("--around=Then run", "--part=content", "--part=file", "--lines=17-25"):
        assert run("payload_store", "show", "--ref=latest", how) == 0
        assert said in run.out, how
    assert run("payload_store", "show", "--ref=latest", "--around=Then run", "--json") == 0
    assert said in json.loads(run.out)["text"]
    assert run("payload_store", "find", "make context_trust") == 0, run.err
    assert said in run.out
    assert run("context", "show", "--ref=latest") == 0 or run("context", "search", "--q=trust") == 0
    assert "make context_trust" in run.out
    assert run("payload_store", "show", "--ref=latest", "--lines=1-99", "--max-tokens=20") == 0
    assert "/opt/contextkit payload_show" in run.err  # our own word of how to go on


def test_a_command_in_a_receipt_is_the_texts_own(
    run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONTEXTKIT_COMMAND", "/opt/contextkit")
    said = "Run make handoff_list first, then `make reminders`."
    text = f"# Report\n\n## Summary\n\n{said}\n\n" + "Words of a report. " * 900
    assert run("payload_store", *CALL, stdin=text) == 0
    assert said in run.out


def test_a_summary_that_is_given_is_told_first_and_its_claims_are_checked(
    call: Callable[..., Any],
) -> None:
    said = "The reform is at risk. It needs 14 weeks, see `acts/other.md:7`."
    receipt = call(REPORT + "A line.\n" * 900, "--force", f"--summary={said}")
    assert receipt["keyFindings"].startswith("The reform is at risk.")
    assert receipt["grounded"] == "0/2"
    assert "acts/other.md:7" in receipt["not in the report"]

"""The report: the numbers of the ledger in a page that text of agents cannot do anything in."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from conftest import Script
from contextkit.base import ledger, names
from contextkit.base.layout import Layout
from contextkit.evaluation.documents import marks
from contextkit.history.flows import report, traces
from hypothesis import given
from hypothesis import strategies as st
from test_ledger import TOKEN
from test_search import finding


def page(run: Script) -> str:
    assert run("context", "report") == 0
    assert run.out == ".contextkit/report.html\n"
    return Path(".contextkit/report.html").read_text(encoding="utf-8")


def data_of(html: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found.group(1))
    return data


def test_the_policy_names_the_pages_own_script_and_style(repo: Path, run: Script) -> None:
    html = page(run)
    for tag, name in (("script", "script-src"), ("style", "style-src")):
        inside = html.partition(f"<{tag}>")[2].partition(f"</{tag}>")[0]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{name} 'sha256-{digest}'" in html
    assert "default-src 'none'" in html
    assert "{{" not in html.partition("<script")[0]
    assert not re.findall(r'(?:src|href)="(?!#)', html)


def test_the_data_cannot_leave_its_block(repo: Path, run: Script) -> None:
    evil = "</script><script>alert(1)</script><!-- & \u2028"
    finding("a_20251001T000000", f"# {evil}\n")
    run("remember_later", f"--message={evil}")
    html = page(run)
    assert html.count("<script") == 2
    assert html.count("</script>") == 2
    assert "alert(1)<" not in html
    data = data_of(html)
    assert any("</script><script>alert(1)" in str(item[5]) for item in data["items"])


def rows_of(html: str, caption: str) -> list[list[str]]:
    """The cells of the table behind a picture."""
    body = html.partition(f"<caption>{caption}")[2].partition("</tbody>")[0]
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in body.split("</tr>")[1:-1]]


def test_the_numbers_are_those_of_the_ledger(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    finding("a_20251001T000000", "# A\n")
    layout = Layout()
    ref = "finding:a_20251001T000000"
    ledger.note(layout, "stored", ref, tokens=1000, session="s", agent="ui")
    ledger.note(layout, "injected", ref, tokens=100, session="s", to="subagent:x", kind="log")
    ledger.note(layout, "asked", ref, tokens=30, session="s")
    monkeypatch.setenv("CONTEXT_NOW", "2025-10-24T18:05:00Z")
    ledger.note(layout, "shown", ref, tokens=200, session="s")
    html = page(run)
    assert "<b>670</b> tokens, net, stayed out of contexts: 67% of the 1,000" in html
    assert rows_of(html, "Tokens by day") == [
        ["2025-10-23", "1,000", "100", "30", "0", "870"],
        ["2025-10-24", "0", "0", "0", "200", "670"],
    ]
    assert rows_of(html, "What was opened again") == [["log", "1", "1", "1,000", "200"]]
    assert rows_of(html, "From who wrote") == [
        ["ui", "opened again", "200"], ["ui", "subagents", "100"], ["ui", "second turns", "30"],
        ["ui", "on disk only", "670"],
    ]  # fmt: skip
    assert data_of(html)["items"] == [[ref, "finding", "2025-10-23T18:05:00Z", 1000, "opened", "A"]]
    assert run("context", "report", "--text") == 0
    assert "       670  net\n" in run.out


def test_what_cost_more_than_it_kept_out_is_said(repo: Path, run: Script) -> None:
    layout = Layout()
    ledger.note(layout, "stored", "payload:s/x", tokens=1000)
    ledger.note(layout, "shown", "payload:s/x", tokens=1500)
    assert "<b>500</b> tokens more went into contexts than agents wrote" in page(run)


def test_a_capsule_that_nobody_got_has_saved_nothing(repo: Path, run: Script) -> None:
    ledger.note(Layout(), "stored", "capsule:main/x", tokens=1000)
    assert run("context", "report", "--json") == 0
    found = json.loads(run.out)
    assert (found["spent"]["stored"], found["spent"]["net"]) == (0, 0)


def test_what_needs_me_comes_with_its_commands(repo: Path, run: Script) -> None:
    assert "Nothing needs you." in page(run)
    run("verdict", "write", "--agent=db", "--status=FAILED", "--summary=no <index>")
    run("handoff", "write", "--from=a", "--to=b", "--no-story", "--next-action=Go on.")
    html = page(run)
    needs = html.partition('id="attention"')[2].partition("</section>")[0]
    commands = re.findall(r"<code[^>]*>(.*?)</code>", needs)
    assert commands[0].startswith("make handoff_show ref=handoff:")
    assert commands[2:] == ["make verdict_table view=attention", "make context_show ref=verdict:db"]
    assert "FAILED no &lt;index&gt;" in needs


def test_a_gap_does_not_name_the_agents_that_failed(repo: Path) -> None:
    failed = {"ref": "subagent:1-ui", "why": "failed"}
    facts = {"id": "subagents", "failed": 1, "gaps": 2, "which": [failed]}
    capsules = {"id": "capsules", "count": 0}
    first, second = report._needs(Layout(), [facts, capsules])
    assert [row["what"] for row in first["which"]] == ["subagent:1-ui"]
    assert second["said"] == "2 found missing from the capsule" and second["which"] == []


def test_an_evaluation_that_ran_is_shown(repo: Path, run: Script) -> None:
    assert "Not measured here." in page(run)
    one = marks.Sheet("a.md", "report", "receipt", 200, ("right", "half", "wrong", "unknown"))
    marks.save(Layout(), marks.scores([one], ["receipt"]))
    html = page(run)
    assert "37.5 % · 1 wrong" in html
    assert rows_of(html, "Questions answered") == [
        ["receipt", "1", "4", "37.5", "37.5", "37.5", "1", "200"]
    ]


def test_sessions_stand_where_they_were_at_work(
    repo: Path, run: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two hours of work, a day apart, a handoff in the middle of the first; the second one died."""
    layout = Layout()
    for at, event, ref, session in (
        ("20T09:00", "stored", "payload:a/x", "a"), ("20T09:30", "stored", "handoff:h", "a"),
        ("20T10:00", "stored", "payload:a/y", "a"), ("21T09:00", "stored", "payload:b/x", "b"),
        ("21T10:00", "stored", "snapshot:s", "b"), ("22T09:00", "died", "session:b", "b"),
    ):  # fmt: skip
        monkeypatch.setenv("CONTEXT_NOW", f"2025-10-{at}:00Z")
        ledger.note(layout, event, ref, tokens=9, session=session)
    drawn = report.timeline(list(ledger.read(layout)))
    spans = [(row["name"], row["begin"], row["end"]) for row in drawn["rows"]]
    assert spans == [("a", 0, 48.75), ("b", 51.25, 100)]
    marks = [(one["mark"], one["at"]) for row in drawn["rows"] for one in row["marks"]]
    assert marks == [("handoff", 24.375), ("saved", 100), ("died", 100)]
    assert [time["label"] for time in drawn["times"]] == ["10-20 09:00", "10-21 09:00"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(ledger.EVENTS),
            st.sampled_from(["payload:a", "finding:b", "handoff:c"]),
            st.integers(0, 10_000), st.sampled_from(["", "s", "t"]), st.integers(0, 10**6),
            st.sampled_from(["", "agent:x", "subagent:y", "session:s"]),
        ),
    )
)  # fmt: skip
def test_every_token_is_drawn_once_and_inside_the_picture(
    drawn: list[tuple[str, str, int, str, int, str]],
) -> None:
    events = [
        {"event": event, "ref": ref, "tokens": size, "session": session, "from": [], "to": to,
         "at": names.iso(1_760_000_000 + at)}
        for event, ref, size, session, at, to in sorted(drawn, key=lambda one: one[4])
    ]  # fmt: skip
    known = traces.of_documents(events)
    flow = report.flow(known, events)
    for ends in (flow["writers"], flow["readers"]):
        assert sum(e["tokens"] for e in ends) == sum(b["tokens"] for b in flow["bands"])
        assert all(0 <= e["top"] <= e["top"] + e["height"] <= flow["tall"] for e in ends)
    for row in report.timeline(events)["rows"]:
        assert -1e-6 <= row["begin"] <= row["end"] <= 100 + 1e-6
    days, spent = report.days(known, events), traces.spent(known.values(), 0)
    assert all(0 <= row["high"] <= 100 for row in days["rows"])
    assert spent["net"] == spent["stored"] - sum(spent[n] for n in ("receipts", "asked", "shown"))


def test_secrets_do_not_get_into_it(repo: Path, run: Script) -> None:
    finding("a_20251001T000000", f"# the token {TOKEN}\n")
    assert TOKEN[5:25] not in page(run)


def test_it_goes_where_it_is_asked_to(repo: Path, run: Script) -> None:
    assert run("context", "report", "--file=out.html") == 0
    assert Path("out.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    for refused in ("../out.html", "out.py"):
        assert run("context", "report", f"--file={refused}") == 2
    assert not Path("../out.html").exists()


def test_broken_documents_do_not_stop_it(repo: Path, run: Script) -> None:
    for path in (
        "parallelus/manuals/subagent-registry.json", ".contextkit/runs/x.json",
        "parallelus/manuals/capsules/main/20251001T000000Z.md", ".clavain/verdicts/a.json",
        ".aios/handoffs/handoff-a-to-b-20251001T000000Z.yaml", ".temp/memory/checkpoints/cp_x.json",
    ):  # fmt: skip
        place = Path(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(b"\xff{[: broken")
    data_of(page(run))


def test_long_lists_are_cut_and_counted(repo: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(report, "MOST_ITEMS", 3)
    for number in range(5):
        finding(f"a_2025100{number + 1}T000000", "x")
    found = report.facts(Layout())
    assert [item[0] for item in found["items"]] == [
        f"finding:a_2025100{number}T000000" for number in (5, 4, 3)
    ]
    assert found["left_out"] == 2


def test_a_command_in_it_can_be_pasted_whatever_a_document_is_called() -> None:
    ref = "capsule:feature/$(touch evil)'s/20251023T000000Z"
    said = names.call("context_why", ref=ref)
    assert shlex.split(said) == ["make", "context_why", f"ref={ref}"]
    command = names.call("context_show", ref="payload:s-1/x", part="")
    assert command == "make context_show ref=payload:s-1/x"

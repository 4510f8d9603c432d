"""The report: the numbers of the ledger in a page that text of agents cannot do anything in."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shlex
from pathlib import Path
from typing import Any

from conftest import Script
from contextkit.base import ledger
from contextkit.base.layout import Layout
from contextkit.history.flows import report
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
    assert not re.findall(r'(?:src|href)="(?!#main)', html)


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


def test_the_numbers_are_those_of_the_ledger(repo: Path, run: Script) -> None:
    finding("a_20251001T000000", "# A\n")
    layout = Layout()
    ref = "finding:a_20251001T000000"
    ledger.note(layout, "stored", ref, tokens=1000, session="s")
    ledger.note(layout, "injected", ref, tokens=100, session="s", to="subagent:x")
    data = data_of(page(run))
    assert dict(map(tuple, data["cards"]))["tokens saved"] == 900
    assert data["days"] == [{"day": "2025-10-23", "stored": 1000, "injected": 100}]
    assert data["items"] == [[ref, "finding", "2025-10-23T18:05:00Z", 1000, "delivered", "A"]]
    (row,) = data["systems"]
    assert (row["system"], row["never_opened"], row["never_delivered"]) == ("memory", 1, 0)
    assert run("context", "report", "--text") == 0
    assert "900  tokens saved" in run.out


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
    said = report._call("context_why", ref=ref)
    assert shlex.split(said) == ["make", "context_why", f"ref={ref}"]
    assert (
        report._call("context_show", ref="payload:s-1/x") == "make context_show ref=payload:s-1/x"
    )

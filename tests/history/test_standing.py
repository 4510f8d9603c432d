"""What the card and the skill cost in every request."""

from __future__ import annotations

from pathlib import Path

from contextkit.base import files, tokens
from contextkit.base.layout import Layout
from contextkit.history.flows import overview
from contextkit.hosts.flows import changes

CARD = "## Carrying context\n\nBy itself: long reports come as receipts."


def test_the_card_counts_in_each_request_that_a_transcript_has(
    layout: Layout, tmp_path: Path
) -> None:
    assert overview.standing_cost(layout) == {} and overview.tokens_a_request(layout) == 0
    block = changes.with_block("# Rules\n", CARD, changes.COMMENT)
    files.write(layout.join("AGENTS.md"), block)
    files.write(layout.join(".claude/skills/contextkit/SKILL.md"), "---\nname: x\n---\n# More\n")
    each = overview.tokens_a_request(layout)
    assert each == tokens.estimate(changes.block_in(block)) + tokens.estimate("name: x")
    transcript = tmp_path / "t.jsonl"
    transcript.write_text('{"type":"assistant"}\n' * 5, encoding="utf-8")
    files.write(f"{layout.running}/s", f"1\n{transcript}\n")
    cost = round(each * (1.25 + 4 * 0.1))
    stated = {"card_tokens": each, "requests": 5, "card_cost": cost}
    assert overview.standing_cost(layout) == stated
    rows = overview.status(layout)
    (hosts,) = [row for row in rows if row["id"] == "hosts"]
    assert f"card and skill ~{each} tokens a request, 5 requests seen" in str(hosts["status"])
    (net,) = [row for row in rows if row["id"] == "net"]
    assert net["card"] and net["net"] == -int(str(net["card"]))
    assert "went in instead: card and skill ~" in str(net["status"])

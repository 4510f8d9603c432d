"""make site: the manuals as a website."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import website
from conftest import CHECKOUT


def test_the_site(tmp_path: Path) -> None:
    """It is built once; a link or an anchor that leads nowhere would have ended that."""
    site = website.build(tmp_path)
    every_manual_is_a_page_that_can_be_searched(site)
    reading_it_fetches_nothing_from_elsewhere(site)
    agents_get_an_index_whose_pages_are_there(site)
    pages_are_named_by_their_headings(site)


def every_manual_is_a_page_that_can_be_searched(site: Path) -> None:
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    for page in (CHECKOUT / "manuals").rglob("*.md"):
        name = page.relative_to(CHECKOUT).with_suffix(".html")
        shown = name.with_name("index.html") if page.name == "README.md" else name
        assert (site / shown).exists(), shown
        assert f'"location":"{shown}' in index, shown


def reading_it_fetches_nothing_from_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert not re.search(r'<(?:link|script|img)[^>]+(?:href|src)="https?://', text), page


def agents_get_an_index_whose_pages_are_there(site: Path) -> None:
    text = (site / "llms.txt").read_text(encoding="utf-8")
    assert text.startswith("# contextkit\n\n> ")
    links = re.findall(r"^- \[.+?\]\((\S+?)\): .+$", text, re.M)
    assert len(links) > 15 and all((site / link).exists() for link in links)


def test_a_link_that_leads_nowhere_ends_the_build(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heading = "index"

    def sources(folder: Path) -> None:
        (folder / "manuals").mkdir()
        for name in (*website.PAGES, "manuals/README.md"):
            (folder / name).write_text(f"# Index\n\n[it](README.md#{heading})\n", "utf-8")

    monkeypatch.setattr(website, "sources", sources)
    monkeypatch.setattr(website, "rows", list)
    website.build(tmp_path / "whole")
    heading = "no-such-heading"
    with pytest.raises(BaseException, match="strict mode"):
        website.build(tmp_path / "broken")


def pages_are_named_by_their_headings(site: Path) -> None:
    text = (site / "manuals" / "structure.html").read_text(encoding="utf-8")
    names = re.findall(r'<span class="md-ellipsis">\s*([^<]+?)\s*(?:</span>|<)', text)
    assert {"A tour in ten minutes", "Structure"} <= set(names)
    assert not [name for name in names if name.endswith(".md")]

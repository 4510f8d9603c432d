"""make site: the manuals as a website, with search, by mkdocs-material; a dead link fails.

    python tests/website.py [DIR]      where the site goes (default: .site in the checkout)

Beside the pages lies `llms.txt` (llmstxt.org): the index with a line for each page, for agents.
"""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
ABOUT = (
    "Carries context from one agent to the next: it stores the long text and passes on a short one"
)
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE")
# Headings as dark as their text, and room for the 80 columns of an example.
STYLE = """\
.md-typeset h1, .md-typeset h2, .md-typeset h3 { color: inherit; font-weight: 600; }
.md-typeset h1 { margin-bottom: 0.8em; }
.md-grid { max-width: 74rem; }
.md-typeset pre > code { font-size: 0.68rem; }
"""
_ROW = re.compile(r"^\| \[([^\]]+)\]\(([^)]+\.md)\) \| (.+?) \|$", re.M)
_OUTSIDE = re.compile(
    r"\]\((?:\.\./)+(?!manuals|README|CHANGELOG|CONTRIBUTING|SECURITY|LICENSE)[^)]*\)"
)


def rows() -> list[tuple[str, str, str]]:
    """Each page of the index in manuals/README.md: title, path below manuals/, what it is about."""
    return _ROW.findall((CHECKOUT / "manuals" / "README.md").read_text(encoding="utf-8"))


def sources(folder: Path) -> None:
    """Lay the pages out as in the repository, so that their links hold."""
    for name in PAGES:
        shutil.copy2(CHECKOUT / name, folder / name)
    shutil.copytree(CHECKOUT / "manuals", folder / "manuals")
    (folder / "LICENSE").rename(folder / "LICENSE.txt")
    (folder / "style.css").write_text(STYLE, encoding="utf-8")
    for page in folder.rglob("*.md"):
        text = page.read_text(encoding="utf-8").replace("(LICENSE)", "(LICENSE.txt)")
        page.write_text(_OUTSIDE.sub("](#)", text), encoding="utf-8")


def settings(docs: Path, site: Path) -> dict[str, object]:
    """What mkdocs is told; nothing is fetched from anywhere when the site is read."""
    paths = [f"manuals/{path}" for _, path, _ in rows()]
    pages = [{_title(path): path} for path in paths if "/decisions/" not in path]
    decided = [{_title(path): path} for path in paths if "/decisions/" in path]
    palette = [
        {"media": f"(prefers-color-scheme: {mode})", "scheme": scheme,
         "toggle": {"icon": f"material/weather-{icon}", "name": f"{other} mode"}}
        for mode, scheme, icon, other in (
            ("light", "default", "night", "Dark"), ("dark", "slate", "sunny", "Light"))
    ]  # fmt: skip
    return {
        "site_name": "contextkit",
        "site_description": ABOUT,
        "docs_dir": str(docs),
        "site_dir": str(site),
        "use_directory_urls": False,
        "strict": True,
        "validation": {"links": {"not_found": "warn", "anchors": "warn", "absolute_links": "warn",
                                 "unrecognized_links": "warn"}},
        "theme": {"name": "material", "font": False, "palette": palette,
                  "features": ["navigation.indexes", "navigation.top", "content.code.copy",
                               "search.suggest", "search.highlight"]},
        "plugins": ["search"],
        "extra_css": ["style.css"],
        "markdown_extensions": [
            "tables", "attr_list", "md_in_html", "sane_lists", "pymdownx.superfences",
            {"toc": {"permalink": True}}, {"pymdownx.highlight": {"use_pygments": True}},
        ],
        "nav": [{"Start": "README.md"}, {"Manuals": ["manuals/README.md", *pages]},
                {"Decisions": decided},
                {"Project": [{"Changes": "CHANGELOG.md"}, {"Contributing": "CONTRIBUTING.md"},
                             {"Security": "SECURITY.md"}]}],
    }  # fmt: skip


def _title(path: str) -> str:
    """The heading of a page, without marks."""
    first = (CHECKOUT / path).read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("# ").replace("`", "")


def llms() -> str:
    """The index for agents: a line for each page."""
    lines = ["# contextkit", "", f"> {ABOUT}.", "", "## Manuals", ""]
    lines += [
        f"- [{title}](manuals/{Path(path).with_suffix('.html')}): {about}"
        for title, path, about in rows()
    ]
    return "\n".join(lines) + "\n"


def build(site: Path) -> Path:
    """Build the site into `site`; raises SystemExit for a link or anchor that leads nowhere."""
    import logging

    import yaml
    from mkdocs.commands.build import build as mkdocs_build
    from mkdocs.config import load_config

    logging.basicConfig(format="%(levelname)s: %(message)s", level=logging.WARNING)
    with tempfile.TemporaryDirectory() as scratch:
        docs = Path(scratch, "docs")
        docs.mkdir()
        sources(docs)
        file = Path(scratch, "mkdocs.yml")
        file.write_text(yaml.safe_dump(settings(docs, site.resolve())), encoding="utf-8")
        mkdocs_build(load_config(str(file)))
    (site / "llms.txt").write_text(llms(), encoding="utf-8")
    return site


if __name__ == "__main__":
    print(build(Path(sys.argv[1] if sys.argv[1:] and sys.argv[1] else CHECKOUT / ".site")))

"""A page of HTML as Markdown: headings, items and paragraphs, each on the line where it begins."""

from __future__ import annotations

import re

from contextkit.base.expressions import Pattern

_IS_PAGE = Pattern(r"\s*(?:<\?xml[^>]*>\s*)?(?:<!doctype html|<html)\b", re.I)
_UNREAD = Pattern(r"<(script|style|svg|nav|template)\b(?:(?!<\1\b).)*?</\1\s*>", re.I | re.S)
_LINES = Pattern(r"<pre\b(?:(?!<pre\b).)*?</pre\s*>", re.I | re.S)
_HEADING = Pattern(r"<h([1-6])\b[^<>]*>", re.I)
_ITEM = Pattern(r"<(?:li|dt)\b[^<>]*>", re.I)
_BLOCK = Pattern(
    r"</?(?:address|article|aside|blockquote|body|br|caption|dd|div|dl|dt|fieldset|figure|footer"
    r"|form|h[1-6]|head|header|hr|html|li|link|main|meta|ol|p|pre|section|table|tbody|thead|title"
    r"|tr|ul)\b[^<>]*>",
    re.I,
)
_CELL = Pattern(r"</t[dh]\s*>", re.I)
_TAG = Pattern(r"<[^<>]*>")
_BREAK = "\x1e"


def is_page(text: str) -> bool:
    """Whether a text begins as a page does."""
    return text[:200].lstrip()[:1] == "<" and bool(_IS_PAGE.match(text))


def as_markdown(page: str) -> str:
    """The page without tags, scripts and navigation; it has as many lines as before."""
    import html

    text = _UNREAD.sub(lambda match: "\n" * match[0].count("\n"), page.replace(_BREAK, ""))
    text = _LINES.sub(lambda match: match[0].replace("\n", f"{_BREAK}\n"), text)
    text = _HEADING.sub(lambda match: f"{_BREAK}{'#' * int(match[1])} ", text)
    text = _BLOCK.sub(_BREAK, _ITEM.sub(f"{_BREAK}- ", text))
    text = _TAG.sub(lambda match: "\n" * match[0].count("\n"), _CELL.sub("  ", text))
    lines: list[list[str]] = [[]]
    for block in html.unescape(text).replace("\xa0", " ").split(_BREAK):
        skipped = block[: len(block) - len(block.lstrip())].count("\n")
        lines += [[] for _ in range(skipped)]
        lines[-1] += block.split()
        lines += [[] for _ in range(block.count("\n") - skipped)]
    return "\n".join(map(" ".join, lines))

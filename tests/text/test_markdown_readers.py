"""Markdown is read by base/markdown.py, text/blocks.py and text/sections.py, and by nobody else.

A module that looks for a heading or a fence by itself has its own idea of what code is.
"""

from __future__ import annotations

import ast
import re

from conftest import SCRIPTS

_MARK = re.compile(r"#{1,6} |#{2,6}|`{3,}|~{3,}")  # one `#` alone is a comment elsewhere
_SHOWN = re.compile(r"""["'](?:\\n)*(?:# |##|```|~~~)""")  # else there is nothing to take apart
_METHODS = ("startswith", "lstrip", "strip", "removeprefix", "partition", "split", "find")
READERS = {"base/markdown.py", "text/blocks.py", "text/sections.py"}
# What is left, and why. A module that no longer does it must go from here.
OTHERS = {
    "base/secret_search.py": "### is how a secret is masked",
    "capsules/documents/reminders.py": "the inbox is read without what else Markdown has",
    "memory/documents/findings.py": "hot: ten thousand summaries are listed, few of them parsed",
    "memory/flows/recovery_report.py": "makes headings deeper and closes fences that were cut",
    "payloads/documents/store.py": "the title of a payload, which stands in its first line",
    "text/digests/reading.py": "hot: splits a text of any size",
}


def looks_for_marks(text: str) -> bool:
    """Whether a module compares text with the mark of a heading or fence."""
    for node in ast.walk(ast.parse(text)) if _SHOWN.search(text) else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            sought = node.args if node.func.attr in _METHODS else []
        elif isinstance(node, ast.Compare):
            sought = [node.left, *node.comparators]
        else:
            continue
        for one in (part for arg in sought for part in ast.walk(arg)):
            if isinstance(one, ast.Constant) and isinstance(one.value, str):
                if _MARK.fullmatch(one.value.rstrip("\n").lstrip("\n")):
                    return True
    return False


def test_markdown_is_read_by_the_readers_alone() -> None:
    folder = SCRIPTS / "contextkit"
    found = {
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*.py")
        if "compiled" not in path.parts and looks_for_marks(path.read_text("utf-8"))
    }
    assert found - READERS == OTHERS.keys()

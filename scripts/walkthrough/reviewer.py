#!/usr/bin/env python3
"""A scripted reviewer for the demo: reads a diff, writes its review as the contract says.

    reviewer.py todo|length|docstrings DIFF OUTPUT RUN

Three real processes stand in for agents. Each keeps to what an agent is asked for: everything
goes into its own file, under a `.partial` name until it is finished, and one line is replied.
"""

from __future__ import annotations

import ast
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Found = tuple[str, str, str, str]  # severity, path:line, title, evidence

_LONG, _TOO_LONG = 30, 50  # lines of a function
_EVIDENCE = 15  # of them are quoted


def added(diff: str) -> Iterator[tuple[str, int, str]]:
    """Path, line number and text of every line that a diff adds."""
    path, number = "", 0
    for line in diff.splitlines():
        if line.startswith("+++ "):
            path = line[4:].removeprefix("b/")
        elif line.startswith("@@ "):
            number = int(line.partition("+")[2].partition(" ")[0].partition(",")[0]) - 1
        elif line[:1] in ("+", " "):
            number += 1
            if line[0] == "+":
                yield path, number, line[1:]


def todo(diff: str) -> Iterator[Found]:
    """Added lines that put something off."""
    for path, number, line in added(diff):
        for word in ("TODO", "FIXME"):
            if f"# {word}" in line:
                yield "P2", f"{path}:{number}", f"{word} is left in the change", line.strip()


def length(diff: str) -> Iterator[Found]:
    """Functions in changed files that are long."""
    for path, node in _functions(diff):
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > _LONG:
            severity = "P1" if lines > _TOO_LONG else "P3"
            title = f"{node.name} has {lines} lines"
            yield severity, f"{path}:{node.lineno}", title, _quoted(path, node)


def docstrings(diff: str) -> Iterator[Found]:
    """Public functions in changed files that say nothing about themselves."""
    for path, node in _functions(diff):
        if not node.name.startswith(("_", "test_")) and not ast.get_docstring(node):
            title = f"{node.name} has no docstring"
            yield "P3", f"{path}:{node.lineno}", title, _quoted(path, node)


def _functions(diff: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for path in sorted({path for path, _, _ in added(diff) if path.endswith(".py")}):
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                tree = ast.parse(file.read())
            yield from ((path, n) for n in ast.walk(tree) if isinstance(n, ast.FunctionDef))


def _quoted(path: str, node: ast.FunctionDef) -> str:
    """The beginning of a function, as evidence."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()[node.lineno - 1 : node.end_lineno][:_EVIDENCE]
    return "\n".join(["", "~~~python", *lines, "~~~"])


def review(found: list[Found], run: str) -> str:
    """A review in the form of the contract."""
    rows, issues, counts = [], [], {"P1": 0, "P2": 0, "P3": 0}
    for severity, place, title, evidence in found:
        counts[severity] += 1
        identity = f"{severity}-{counts[severity]}"
        rows.append(f'- {severity} | {identity} | "{place}" | {title}')
        issues.append(f"#### {identity}. {title}\n`{place}`: {evidence}\n")
    verdict = "needs-changes" if counts["P1"] else "safe"
    index = "\n".join(["### Findings Index", *rows, f"Verdict: {verdict}"])
    said = f"{len(found)} findings."
    body = "\n".join(issues) or "None.\n"
    head = f"<!-- run-uuid: {run} -->\n{index}\n\n### Summary\n{said}\n\n### Issues Found\n{body}"
    return f"{head}\n### Improvements\nNone.\n\n<!-- flux-drive:complete -->\n"


def main(kind: str, diff_path: str, output: str, run: str) -> None:
    with open(diff_path, encoding="utf-8", errors="replace") as file:
        diff = file.read()
    look = {"todo": todo, "length": length, "docstrings": docstrings}[kind]
    with open(output + ".partial", "w", encoding="utf-8") as file:
        file.write(review(list(look(diff)), run))
    os.rename(output + ".partial", output)
    sys.stdout.write(f"Findings written to {output}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

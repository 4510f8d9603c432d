"""Reviews: many agents write to disk, one table is read."""

from __future__ import annotations

import os

from contextkit import tokens

from walkthrough.walk import Walk, indent, show, write_file


def act(walk: Walk) -> None:
    """Three reviewers: one that measures, one that only talks, one that never came back."""
    folder = os.path.join(walk.scratch, "out")
    os.makedirs(folder)
    write_file(folder, "fd-length.md", length_review(walk))
    write_file(folder, "fd-prose.md", "I read everything and it looks fine to me.\n" * 40)
    show("\n   (reviewers would write out/<name>.md now; here a small script measures functions)")
    table = walk.step("Their files as verdicts", "verdict_ingest", "dir=out",
                      "agents=fd-length fd-prose fd-gone")  # fmt: skip
    show(indent(table))
    full = 0
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            full += tokens.estimate(file.read())
    show(f"   ~{full} tokens of reviews stay on disk, ~{tokens.estimate(table)} are read")
    show(indent(walk.step("What to look at", "verdict_attention")))
    show(indent(walk.step("One of them, as far as it matters", "verdict_show", "agent=fd-length",
                           "max_tokens=80")))  # fmt: skip


def length_review(walk: Walk) -> str:
    """A review in the form of the contract: this checkout's ten longest functions."""
    import ast

    found = []
    for path in walk.git("ls-files", "scripts/*.py", "scripts/contextkit/*.py").splitlines():
        with open(os.path.join(walk.scratch, path), encoding="utf-8") as file:
            tree = ast.parse(file.read())
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.end_lineno:
                found.append((node.end_lineno - node.lineno + 1, path, node.name, node.lineno))
    rows, issues = [], []
    for number, (length, path, name, line) in enumerate(sorted(found, reverse=True)[:10], 1):
        severity = "P1" if length > 50 else "P3"
        title = f"{name} has {length} lines"
        rows.append(f'- {severity} | {severity}-{number} | "{path}" | {title}')
        issues.append(f"#### {severity}-{number}. {title}\n`{path}:{line}`: read it in one go?\n")
    verdict = "needs-changes" if any("| P1-" in row for row in rows) else "safe"
    index = "\n".join(["### Findings Index", *rows, f"Verdict: {verdict}"])
    return f"{index}\n\n### Summary\nLengths.\n\n### Issues Found\n" + "\n".join(issues)

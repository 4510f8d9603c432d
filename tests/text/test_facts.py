"""facts.py: what counts as a hard fact, and that each one stands where it is said to stand."""

from __future__ import annotations

import json

from conftest import each
from contextkit.text import facts
from growth import is_in_proportion
from hypothesis import example, given
from hypothesis import strategies as st

PIECES = (
    *"src/app.py:42 `setup.cfg`. https://a.example/x?y=(z) 80ea710 33% never ENOENT".split(),
    *"TypeError: Error: [label](docs/a.md) word 7. $5 İ “never” | a/b ~ ** ` … { ://".split(),
    *("**52 ms**,", "Do not", "must not", "`fatal: no`", "- ", "\t", "\n", "\r\n", " ", ". "),
)
texts = st.lists(st.sampled_from(PIECES) | st.text(max_size=5)).map("".join)


def found(text: str) -> list[tuple[str, str]]:
    return [(kind, value) for kind, value, _ in facts.find(text)]


@each(
    ("text", "kind", "value"),
    [
        ("see src/app.py.", "path", "src/app.py"),
        ("in `setup.cfg`.", "path", "setup.cfg"),
        ("(**docs/a.md**),", "path", "docs/a.md"),
        ("[the page](docs/a.md)", "path", "docs/a.md"),
        ("start ./run now", "path", "./run"),
        ("~/.codex/config.yaml", "path", "~/.codex/config.yaml"),
        (".claude/settings.json", "path", ".claude/settings.json"),
        ("src/__init__.py", "path", "src/__init__.py"),
        ("__init__.py", "path", "__init__.py"),
        ("all **/*.ts files", "path", "**/*.ts"),
        ("`app.py:42`:", "location", "app.py:42"),
        ("src/app.py:10-20", "location", "src/app.py:10-20"),
        ("src/app.py#L42", "location", "src/app.py#L42"),
        ("(https://example.org/x).", "url", "https://example.org/x"),
        ("[a](https://example.org/x), b", "url", "https://example.org/x"),
        ("since 80ea710, slow", "commit", "80ea710"),
        ("takes 52 ms.", "number", "52 ms"),
        ("takes **52** ms", "number", "52 ms"),
        ("~9.4KB here", "number", "~9.4KB"),
        ("33%", "number", "33%"),
        ("4,500 tokens", "number", "4,500 tokens"),
        ("30-50ms", "number", "30-50ms"),
        ("costs $5", "number", "$5"),
        ("got ENOENT.", "error", "ENOENT"),
        ("raises TypeError here", "error", "TypeError"),
        ("it says `fatal: not a git repository`.", "error", "fatal: not a git repository"),
        ("  - **Error:** no such file", "error", "Error: no such file"),
        ("TypeError: x is not a function", "error", "TypeError: x is not a function"),
        ("Do NOT use it. Fine.", "prohibition", "Do NOT use it"),
        ("Fine. It **must not** block. Fine.", "prohibition", "It must not block"),
        ("| a | never do this | b |", "prohibition", "never do this"),
        ("You don’t.", "prohibition", "You don’t"),
    ],
)
def test_a_hard_fact_is_found_without_its_decoration(text: str, kind: str, value: str) -> None:
    assert (kind, value) in found(text)


@each(
    "text",
    ["", "and/or", "Node.js", "TypeScript/Node.js", "e.g. this", "I/O", "7. Tokens", "1) files",
     "12 apples", "Whenever it rains", "never-ending", "defaced facade", "1234567", "10.5",
     "Error:", "an error: once", "Terror", "2025-10-23", "v1", "//", "...", "…", "http", "x y"],
)  # fmt: skip
def test_what_is_no_hard_fact_is_not_counted(text: str) -> None:
    assert found(text) == []


def test_every_forbidding_sentence_of_a_line_counts() -> None:
    text = "Never push. Then rest. You must not merge. Do not ask! Go on."
    assert found(text) == [("prohibition", said) for said in
                           ("You must not merge", "Never push", "Do not ask")]  # fmt: skip


def test_a_fact_has_the_line_where_it_stands_first_and_counts_once() -> None:
    assert facts.find("\n33%\r\n\r\na.py\n33%\n") == [("number", "33%", 2), ("path", "a.py", 4)]


@given(texts)
@example("commit 80ea710, İ never x")
def test_every_fact_stands_on_its_line(text: str) -> None:
    lines = text.split("\n")
    for kind, value, number in facts.find(text):
        line = lines[number - 1]
        bare = line.replace("**", "").replace("`", "")
        assert value and (value in line or value in bare or kind == "number")
        assert all(word in line for word in value.split()) or value in bare


@given(texts, texts)
def test_a_text_keeps_all_its_own_facts_and_a_part_keeps_no_more(one: str, other: str) -> None:
    mine = facts.find(one)
    assert facts.kept(mine, one) == len(mine)
    assert facts.kept(mine, "") == 0
    assert facts.kept(mine, f"{one}\n{other}") >= facts.kept(mine, other)


def test_a_fact_that_was_cut_short_is_not_kept() -> None:
    mine = facts.find("docs/report.md takes 4,500 tokens. Never delete the old one by hand.")
    assert len(mine) == 3
    assert facts.kept(mine, "docs/report.m… takes 4,500 tok…\nNever delete the old…") == 0
    assert facts.kept(mine, "docs/report.md.bak takes 14,500 tokens") == 0
    assert facts.kept(mine, "docs/report.md,4,500 tokens\nNever delete the old one by hand") == 1


@each(
    "unit",
    ["x ", "a never. ", "error: b ", "`", "src/a.py ", "http://", "[a](b) ", "\n", "never ",
     "| do not |", "{", "a.b:", "0", "Exception"],
)  # fmt: skip
def test_time_grows_with_the_length_and_no_faster(unit: str) -> None:
    assert is_in_proportion(facts.find, unit)


def test_the_paths_of_a_diff_are_those_of_its_files() -> None:
    diff = (
        "diff --git a/src/one.py b/src/one.py\n--- a/src/one.py\n+++ b/src/one.py\n@@ -1 +1 @@\n"
        "-x = 1\n+x = 2\ndiff --git a/new.py b/new.py\n--- /dev/null\n+++ b/new.py\n"
    )
    assert facts.find(diff) == [("path", "src/one.py", 1), ("path", "new.py", 7)]


def test_the_strings_of_json_are_read_one_by_one() -> None:
    report = json.dumps([
        {"filePath": "/srv/app/m1.js", "message": "'a' is never used", "line": 1},
        {"trace": "TypeError: no quantity\n    at total (lib/cart.js:7:32)\n"},
    ])  # fmt: skip
    assert facts.find(report) == [
        ("prohibition", "'a' is never used", 1),
        ("error", "TypeError: no quantity", 1),
        ("path", "/srv/app/m1.js", 1),
        ("error", "TypeError", 1),
        ("location", "lib/cart.js:7:32", 1),
    ]

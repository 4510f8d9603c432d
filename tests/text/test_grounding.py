"""grounding.py: what an answer says is looked up in its report."""

from __future__ import annotations

from conftest import each
from contextkit.text import grounding

REPORT = """\
# What was found

The cache in `src/a.py:40-52` takes 1.5 s for 4,500 lines; src/b.py (line 9) opens it.
It costs 3.2 MB and 33 % of the run, says P1-2: "never read a file twice".

pytest: 3 failed, 40 passed in 2.1 s
The login test fails with TypeError.
Deploying is not safe before the migration.

Verdict: needs-changes
"""


@each(
    "said",
    ["1,500 ms", "1.5 seconds", "p. 7", "4500 lines", "3,200 KB", "33%", "src/a.py:42", "a.py",
     "src/b.py:9", "lines 3-4", "P1-2",
     '"never read a file twice"', "`TypeError`", "40 passed", "5 reasons",
     "The login test fails.", "Verdict: needs-changes, two P1s", "lines 1-10", "Nothing else.",
     "Verdict: needs-changes (two P1s)", "L3-5, L9",
     "needs-changes/login/run", "The Shift-Work login test."],
)  # fmt: skip
def test_what_stands_there_in_other_words_is_found(said: str) -> None:
    assert grounding.check(f"It is so: {said}\n\n{said}", REPORT).missing == ()


@each(
    ("said", "missing"),
    [
        ("It takes 1,800 ms.", "1,800 ms"),
        ("It takes 1.5 ms.", "1.5 ms"),
        ("See src/a.py:53.", "src/a.py:53"),
        ("See src/b.py:10.", "src/b.py:10"),
        ("See src/c.py.", "src/c.py"),
        ("It is P1-3.", "P1-3"),
        ('It says "read every file twice".', '"read every file twice"'),
        ("It ends with `ENOENT`.", "ENOENT"),
        ("Open lines 90-120.", "lines 90-120"),
        ("Open L90-120.", "L90-120"),
        ("Tag it login/test/bad_tag.", "login/test/bad_tag"),
        ("It cost 77 calls.", "77"),
        ("The login test passes.", '"The login test passes."'),
        ("All tests pass.", '"All tests pass."'),
        ("Deploying is safe before the migration.", '"Deploying is safe before the migration."'),
        ("Verdict: safe", "Verdict: safe"),
    ],
)
def test_what_does_not_stand_there_is_named(said: str, missing: str) -> None:
    checked = grounding.check(said, REPORT)
    assert checked.missing == (missing,)
    assert checked.said == f"{checked.total - 1}/{checked.total}"


def test_a_long_report_and_answer_take_time_in_proportion() -> None:
    report = "".join(f"src/p{n}.py:{n} takes {n} ms.\n" for n in range(20_000))
    assert grounding.check("src/p777.py:777 takes 777 ms, src/p1.py:2 does not.", report).missing

"""make bench_reviews: how many clean reviews are flagged without need, and serious ones that pass.

    make bench_reviews [folder=DIR]

Without a folder, the 30 clean and 32 serious reviews in tests/reviews are read, in many styles and
languages. With one, each Markdown file below it that is a review with a verdict: as it is, if its
index has neither P0 nor P1 and its verdict is safe; and rewritten, with every severity turned into
a mild one and the verdict into `safe`, so that nothing serious is left for a person to read.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "reviews"), str(TESTS.parent / "scripts")]

import review_styles  # noqa: E402
from contextkit.reviews.documents import agent_review, wide_reading  # noqa: E402
from contextkit.reviews.documents.vocabulary import SERIOUS  # noqa: E402

_MILD = {
    "critical": "minor", "high": "low", "major": "minor", "blocker": "nit", "must fix": "consider",
    "must-fix": "consider", "blocking": "optional", "severe": "small", "fatal": "small",
}  # fmt: skip
_NOUN = (
    r"(?=[ -](?:issues?|findings?|bugs?|severity|priority|violations?|problems?|risks?|vulnerabilit"
    r"|flaw|defect|security|gap))"
)
_SAID = (  # judgments in prose
    (r"must(?:[ -]be)?[ -]fix(?:ed)?", "could be improved"),
    (r"(?:is|are) (?:the )?(?:block(?:ing|ers?))\b[^.]*", "are small"),
    (r"block(?:s|ing)? (?:the )?(?:merge|ship|release|deploy)\w*", "can wait"),
    (r"\w+[ -]blockers?\b", "nits"),
    (r"blockers\b", "nits"),
    (r"(?:do|must) not (?:be )?(?:merge|ship|deploy|release)\w*", "merge"),
    (r"critical(?= (?:[\w-]+ ){0,2}(?:issues?|defects?|bugs?|gaps?|errors?))", "small"),
)  # fmt: skip
_LABEL = re.compile(
    r"\s*(?:#|\*\*|[-*|] *\*\*|\||- \[|\d+\. \*\*|\[)|.*(?:severity|priority)", re.IGNORECASE
)
_MOST = 5  # flagged reviews that are named


def is_clean(text: str) -> bool:
    return agent_review.effective_status(agent_review.parse(text))[0] == "CLEAN"


def is_mild(text: str) -> bool:
    """Whether a review says in its index and its verdict that nothing is serious."""
    review = agent_review.parse(text)
    serious = any(finding.severity in SERIOUS for finding in review.findings)
    return review.stated == "safe" and not serious


def rewritten(text: str) -> str:
    """The review with mild words in place of serious ones, wherever these are severities."""
    text = re.sub(r"\bP0(?!\d)", "P2", text)
    text = re.sub(r"\bP1(?!\d)", "P3", text)
    for pattern, mild in _SAID:
        text = re.sub(pattern, mild, text, flags=re.IGNORECASE)
    return "\n".join(map(_milder, text.split("\n")))


def _milder(line: str) -> str:
    is_label = _LABEL.match(line)
    for word, mild in _MILD.items():
        line = re.sub(rf"\b{word.upper()}\b", mild.upper(), line)
        line = re.sub(rf"(?i)\b{word}{'' if is_label else _NOUN}\b", mild, line)
    return line


def of_folder(folder: Path) -> str:
    texts = {
        path: path.read_bytes().decode("utf-8", "replace")
        for path in sorted(folder.rglob("*.md"))
        if path.is_file()
    }
    reviews = {
        path: text for path, text in texts.items() if agent_review.is_read(agent_review.parse(text))
    }
    mild = {path: text for path, text in reviews.items() if is_mild(text)}
    flagged = [path for path, text in mild.items() if wide_reading.standing(text)]
    changed = {path: wide_reading.standing(rewritten(text)) for path, text in reviews.items()}
    doubted = {path: lines for path, lines in changed.items() if lines}
    return "\n".join([
        f"clean as they are: {len(flagged)} of {len(mild)} flagged",
        *(f"    {path.name}" for path in flagged[:_MOST]),
        f"rewritten: {len(doubted)} of {len(reviews)} flagged",
        *(f"    {path.name}:{lines[0].line}" for path, lines in list(doubted.items())[:_MOST]),
    ])  # fmt: skip


def main() -> int:
    if len(sys.argv) > 1 and sys.argv[1]:
        print(of_folder(Path(sys.argv[1])))
        return 0
    clean, serious = review_styles.clean(), review_styles.serious()
    flagged = [name for name, text in clean.items() if not is_clean(text)]
    passed = [name for name, text in serious.items() if is_clean(text)]
    print(f"clean: {len(flagged)} of {len(clean)} flagged")
    print(*(f"    {name}" for name in flagged), sep="\n")
    print(f"serious: {len(passed)} of {len(serious)} come out clean")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

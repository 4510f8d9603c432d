"""make bench_reviews: what is read of reviews, and what is doubted of clean ones.

    make bench_reviews [folder=DIR]

Without a folder, the reviews in tests/reviews are read, in the shapes of many tools and in many
languages. With one, each folder below it that has an `expected.json` is read as well: for each file
its serious findings, as severity and patterns of the title, the place and a phrase of the body; and
the verdict that a person would give: attention, clean or any. A file that it does not name counts
only for its own index: each of its rows must open.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS / "reviews"), str(TESTS.parent / "scripts")]

import review_styles  # noqa: E402
from contextkit.reviews.documents import agent_review, sections  # noqa: E402
from contextkit.reviews.documents.index import Finding, Terms  # noqa: E402
from contextkit.reviews.documents.vocabulary import SERIOUS  # noqa: E402
from contextkit.reviews.flows import synthesis  # noqa: E402


class Rates:
    """Counts of what was expected and what came out, and the first misses."""

    def __init__(self) -> None:
        self.counts: dict[str, list[int]] = {}
        self.misses: list[str] = []

    def take(self, name: str, held: bool, said: str) -> None:
        count = self.counts.setdefault(name, [0, 0])
        count[0] += held
        count[1] += 1
        if not held:
            self.misses.append(f"{name}: {said}")

    def lines(self) -> list[str]:
        said = [f"{name}: {held} of {every}" for name, (held, every) in self.counts.items()]
        return [*said, *(f"    {line}"[:160] for line in self.misses)]


def is_clean(text: str, terms: Terms | None = None) -> bool:
    return agent_review.effective_status(agent_review.parse(text, terms=terms))[0] == "CLEAN"


def of_file(name: str, text: str, wanted: dict[str, object], rates: Rates) -> None:
    """Compare what is read of one file with what it holds."""
    review = agent_review.parse(text)
    serious = [one for one in review.findings if one.severity in SERIOUS]
    opened = _opened(text, review)
    expected = list(wanted.get("serious", []))  # type: ignore[call-overload]
    free = list(serious)
    for one in expected:
        match = next((row for row in free if _is_meant(row, one, opened)), None)
        listed = match is not None and match.severity == one["severity"]
        rates.take("serious findings listed", listed, f"{name}: {one['title']}")
        if match is None:
            continue
        free.remove(match)
        body = opened.get(match.line, "")
        if one.get("place"):
            file, line, _ = synthesis.place(match, body)
            held = bool(re.search(one["place"], f"{file}:{line}"))
            rates.take("places", held, f"{name}: {one['place']}, not {file}:{line}")
        if one.get("body"):
            held = bool(re.search(one["body"], body, re.DOTALL))
            rates.take("bodies that open", held, f"{name}: {one['title']} opens {body[:60]!r}")
    for row in serious:
        rates.take("serious rows that are one", row not in free, f"{name}:{row.line}: {row.title}")
    if wanted.get("verdict") == "attention":
        rates.take("not clean", not is_clean(text), name)


def _opened(text: str, review: agent_review.Review) -> dict[int, str]:
    found = sections.of_findings(text, review)
    return {row.line: body for row, body in zip(review.findings, found, strict=True)}


def _is_meant(row: Finding, one: dict[str, str], opened: dict[int, str]) -> bool:
    said = f"{row.title}\n{opened.get(row.line, '').partition(chr(10))[0]}"
    return bool(re.search(one["title"], said, re.IGNORECASE))


def of_rows(name: str, text: str, rates: Rates) -> None:
    """Whether each serious row of an index opens a section that is its own."""
    review = agent_review.parse(text)
    opened = _opened(text, review)
    for row in review.findings:
        body = opened.get(row.line, "")
        first = body.partition("\n")[0].upper()
        others = {one.id.upper() for one in review.findings if one.id and one.id != row.id}
        wrong = any(re.search(rf"(?<![\w-]){re.escape(other)}(?![\w-])", first) for other in others)
        own = row.id.upper() in first
        rates.take(
            "rows that open no other's section", own or not wrong, f"{name}: {row.id}: {first}"
        )


def of_folder(folder: Path, rates: Rates) -> None:
    for path in sorted(folder.rglob("expected.json")):
        wanted = json.loads(path.read_text(encoding="utf-8"))
        for name, one in wanted.items():
            text = (path.parent / name).read_bytes().decode("utf-8", "replace")
            of_file(name, text, one, rates)
    for path in sorted(folder.rglob("*.md")):
        if not (path.parent / "expected.json").exists() and path.name != "README.md":
            of_rows(path.name, path.read_bytes().decode("utf-8", "replace"), rates)


def main() -> int:
    rates = Rates()
    for name, text, serious in review_styles.tools():
        of_file(name, text, {"verdict": "attention", "serious": serious}, rates)
    for name, text in review_styles.clean().items():
        rates.take("clean of free form, not doubted", is_clean(text), name)
    for name, (text, terms) in review_styles.by_contract().items():
        rates.take("clean by contract, not doubted", is_clean(text, terms), name)
    for name, text in review_styles.serious().items():
        rates.take("serious, not clean", not is_clean(text), name)
    if folder := "".join(sys.argv[1:2]).removeprefix("--folder="):
        rates = Rates()
        of_folder(Path(folder), rates)
    print(*rates.lines(), sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

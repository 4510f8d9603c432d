"""make bench_tokens: the token estimator against an exact o200k counter, over any folder.

    python tests/bench/estimator.py [--folder=DIR]      this checkout by default

Counts every UTF-8 text file up to 1 MiB that git tracks there (outside a repository: every
file), and prints for each rule the median and the 95th percentile of the absolute error, by kind.
"""

from __future__ import annotations

import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(CHECKOUT / "scripts"), str(CHECKOUT / "tests" / "base")]

import cap_cases  # noqa: E402
from contextkit.base import tokens  # noqa: E402
from splintr import Tokenizer  # noqa: E402

LARGEST = 1 << 20
RULES: dict[str, Callable[[str], float]] = {
    "chars/4": lambda text: len(text) / 4,
    "chars/3.75": lambda text: len(text) / 3.75,
    "words*1.3": lambda text: len(text.split()) * 1.3,
    "estimate": tokens.estimate,
}
KINDS = {".md": "Markdown", ".py": "Python", ".json": "JSON", ".yaml": "YAML", ".yml": "YAML"}


def texts(folder: Path) -> Iterator[tuple[str, str]]:
    """(kind, text) of each readable text file."""
    for path in tracked(folder):
        if not path.is_file() or path.stat().st_size > LARGEST:
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if len(text) >= 100:  # in a shorter one a single token is a percent
            kind = KINDS.get(path.suffix, "other")
            letters = sum(char > "\u024f" for char in text)
            yield ("non-Latin" if letters > len(text) / 4 else kind), text


def tracked(folder: Path) -> list[Path]:
    listed = subprocess.run(
        ["git", "-C", str(folder), "ls-files", "-z"], capture_output=True, encoding="utf-8"
    )
    names = [name for name in listed.stdout.split("\0") if name]
    if listed.returncode or not names:
        return sorted(folder.rglob("*"))
    return [folder / name for name in names]


def main(folder: Path) -> int:
    exact = Tokenizer.from_pretrained("o200k_base")
    errors: dict[str, dict[str, list[float]]] = {rule: {} for rule in RULES}
    characters = spent = 0.0
    for kind, text in texts(folder):
        count = len(exact.encode(text))
        for rule, guess in RULES.items():
            error = abs(guess(text) - count) / count * 100
            for column in (kind, "all"):
                errors[rule].setdefault(column, []).append(error)
        start = time.perf_counter()
        tokens.estimate(text)
        spent += time.perf_counter() - start
        characters += len(text)
    kinds = sorted(errors["estimate"], key=lambda kind: (kind == "all", kind))
    if not kinds:
        print(f"{folder}: no text file of 100 characters or more", file=sys.stderr)
        return 1
    files = {kind: len(errors["estimate"][kind]) for kind in kinds}
    print("absolute error against o200k, % (median / 95th percentile)\n")
    print("| rule | " + " | ".join(f"{kind} ({files[kind]})" for kind in kinds) + " |")
    print("|---" * (len(kinds) + 1) + "|")
    for rule in RULES:
        cells = [
            f"{statistics.median(e):.0f} / {late(e):.0f}" for e in map(errors[rule].get, kinds) if e
        ]
        print(f"| {rule} | " + " | ".join(cells) + " |")
    print(f"\n{characters / spent / 1e6:.0f} million characters a second")
    by_tokenizer()
    return 0


def by_tokenizer() -> None:
    """The error of the estimate by tokenizer and kind, over texts made from a fixed seed.

    Positive where the estimate is too high. Claude's tokenizer is not public: it has no column.
    """
    chance = random.Random(7)
    known = [name for name, vocabulary in tokens.TOKENIZERS.items() if vocabulary]
    print("\nestimate against the exact count, % (median / lowest / highest of 20 texts)\n")
    print("| kind | " + " | ".join(known) + " |")
    print("|---" * (len(known) + 1) + "|")
    for kind in cap_cases.KINDS:
        made = [cap_cases.report([kind], chance) for _ in range(20)]
        cells = []
        for name in known:
            counts = [(tokens.estimate(text, name), tokens.count(text, name)) for text in made]
            errors = [100 * (guess - exact) / exact for guess, exact in counts]
            cells.append(
                f"{statistics.median(errors):+.0f} / {min(errors):+.0f} / {max(errors):+.0f}"
            )
        print(f"| {kind} | " + " | ".join(cells) + " |")


def late(values: list[float]) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * 0.95))]


if __name__ == "__main__":
    given = "".join(sys.argv[1:2]).removeprefix("--folder=")
    raise SystemExit(main(Path(given or CHECKOUT)))

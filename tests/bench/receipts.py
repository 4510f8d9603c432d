"""make bench_receipts: what receipts keep of the facts of real texts, beside other ways.

    python tests/bench/receipts.py [--folder=DIR]      every text file below DIR; ours by default

For each text: its facts, how many its receipt keeps, and how many the same number of tokens keep
as the first 100 words, the first sentences, the sentences that TF-IDF or TextRank put first, and
those that add most new facts a token (the ceiling: it reads badly, and nothing can be better by
much). For reviews also the P0 and P1 findings that are named or counted, for logs the failures. At
the end: how many sentences of the texts' own summaries stand whole in their receipts.
"""

from __future__ import annotations

import math
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(CHECKOUT / "scripts"))

from contextkit.base import tokens  # noqa: E402
from contextkit.base.layout import Layout  # noqa: E402
from contextkit.payloads.flows import storing  # noqa: E402
from contextkit.text import authored, facts  # noqa: E402
from contextkit.text.digests import reading  # noqa: E402

WAYS = ("receipt", "100 words", "lead", "TF-IDF", "TextRank", "ceiling")
SHORTEST = 500  # tokens of a text that gets a receipt
ENDINGS = (".md", ".txt", ".log", ".json", ".jsonl", ".csv", ".tsv", ".diff", ".patch", ".py")
DAMPING, STEPS = 0.85, 30  # of TextRank, as in its paper


def sentences(text: str) -> list[str]:
    """What can be chosen: sentences, items, rows."""
    found = []
    for block in reading.blocks(text):
        said = block.text if block.kind == "code" else reading.plain(block.text)
        found += [said] if block.kind == "row" else list(reading.sentences(said))
    return [one for one in found if one.strip()]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def by_tfidf(given: list[str]) -> list[str]:
    """Best mean TF-IDF weight of its words first."""
    bags = [Counter(words(one)) for one in given]
    spread = Counter(word for bag in bags for word in bag)

    def score(bag: Counter[str]) -> float:
        total = sum(n * math.log((1 + len(bags)) / (1 + spread[w])) for w, n in bag.items())
        return total / math.sqrt(sum(bag.values()) or 1)

    order = sorted(range(len(given)), key=lambda i: -score(bags[i]))
    return [given[i] for i in order]


def by_textrank(given: list[str]) -> list[str]:
    """By PageRank over the words that sentences share (Mihalcea and Tarau, 2004)."""
    bags = [set(words(one)) for one in given]
    logs = [math.log(len(bag) + 1) or 1.0 for bag in bags]
    near = [
        [len(a & b) / (logs[i] + logs[j]) if i != j and a & b else 0.0 for j, b in enumerate(bags)]
        for i, a in enumerate(bags)
    ]
    sums = [sum(row) or 1.0 for row in near]
    rank = [1.0] * len(given)
    for _ in range(STEPS):
        shares = [r / s for r, s in zip(rank, sums, strict=True)]
        rank = [
            1 - DAMPING + DAMPING * sum(w * s for w, s in zip(row, shares, strict=True) if w)
            for row in near
        ]
    order = sorted(range(len(given)), key=lambda i: -rank[i])
    return [given[i] for i in order]


def by_new_facts(given: list[str], known: list[facts.Fact], room: int) -> str:
    """The ceiling: at each step the sentence that adds most new facts a token."""
    carried = facts.carried(given, known)
    costs = [tokens.estimate(one) + 1 for one in given]
    covered: set[tuple[str, str]] = set()
    said: list[str] = []
    left = list(range(len(given)))
    while left:
        best = max(left, key=lambda i: len(carried[i] - covered) / costs[i])
        left.remove(best)
        if not carried[best] - covered:
            break
        if costs[best] <= room:
            room -= costs[best]
            said.append(given[best])
            covered |= carried[best]
    return "\n".join(said)


def first(given: Iterable[str], room: int) -> str:
    """As many of the sentences, in their order, as have room."""
    said = []
    for one in given:
        cost = tokens.estimate(one) + 1
        if cost <= room:
            room -= cost
            said.append(one)
    return "\n".join(said)


def lead(given: list[str], room: int) -> str:
    said = []
    for one in given:
        room -= tokens.estimate(one) + 1
        if room < 0:
            break
        said.append(one)
    return "\n".join(said)


def receipt_of(text: str, name: str) -> str:
    """The receipt as `payload_store` prints it."""
    with tempfile.TemporaryDirectory() as folder:
        output = storing.Output(
            topic=name, source="bench", content=text, tokens=tokens.estimate(text)
        )
        return storing.store(Layout(folder), "bench", output, 1_767_225_600).receipt


def severe(text: str) -> set[str]:
    """The ids of the P0 and P1 findings of a review, of its index rows and its headings."""
    rows = re.findall(r"^\s*[-*]\s*\W{0,4}(P[01])\W{0,4}\s*\|\s*(\S+)", text, re.M)
    heads = re.findall(r"^#{2,6} .*?\b((?:P[01])-\d+)\b", text, re.M)
    return {identity for _, identity in rows} | set(heads)


def all_severe_covered(text: str, receipt: str) -> bool:
    """Whether each P0 and P1 is named in the receipt, by id or in words, or is counted in it."""
    said = set(words(receipt))
    titles = dict(re.findall(r"^\W*P[01]\W+(P[01]-\d+)\W(.*)$", text, re.M))
    unnamed = [one for one in severe(text) if one not in receipt]
    told = [one for one in unnamed if mostly(set(words(titles.get(one, one))), said)]
    more = sum(int(n) for n in re.findall(r"P[01](?: left out)?\W.*?\+(\d+) more", receipt))
    return len(unnamed) - len(told) <= more


def mostly(wanted: set[str], said: set[str]) -> bool:
    return len(wanted & said) >= len(wanted) / 2


def summed_up(text: str, receipt: str) -> tuple[int, int]:
    """How many sentences of the text's own summary a receipt has whole, and how many there are."""
    found = [one.text for one in authored.read(text).statements if one.role == "summary"]
    said = " ".join(words(receipt))
    return sum(" ".join(words(one)) in said for one in found), len(found)


def measure(text: str, name: str) -> tuple[int, int, list[int], str]:
    """(facts, tokens of the receipt, facts that each way keeps, the receipt)."""
    known = facts.find(text)
    receipt = receipt_of(text, name)
    room = max(tokens.count(receipt), tokens.estimate(receipt))
    given = sentences(text)
    ways = [
        receipt,
        " ".join(text.split()[:100]),
        lead(given, room),
        first(by_tfidf(given), room),
        first(by_textrank(given), room),
        by_new_facts(given, known, room),
    ]
    return len(known), room, [facts.kept(known, said) for said in ways], receipt


def texts(folder: Path) -> list[Path]:
    found = [path for path in sorted(folder.rglob("*")) if path.suffix in ENDINGS]
    return [path for path in found if path.is_file() and ".venv" not in path.parts]


def main(folder: Path) -> int:
    print(f"{'text':<38} {'kind':<7} {'tokens':>6} {'facts':>5}", end="")
    print("".join(f"{way:>10}" for way in WAYS))
    totals: dict[str, list[list[float]]] = {}
    own: list[tuple[int, int]] = []
    for path in texts(folder):
        text = path.read_text(encoding="utf-8", errors="replace")
        if tokens.estimate(text) <= SHORTEST:
            continue
        count, room, kept, receipt = measure(text, path.stem)
        own.append(summed_up(text, receipt))
        kind = re.findall(r"^kind: (\w+)", receipt, re.M)[0]
        shares = [100 * one / count if count else 100.0 for one in kept]
        totals.setdefault(kind, []).append(shares)
        lack = "" if all_severe_covered(text, receipt) else "  P0 or P1 missing"
        name = path.stem if len(path.stem) <= 38 else path.stem[:37] + "…"
        print(f"{name:<38} {kind:<7} {room:>6} {count:>5}", end="")
        print("".join(f"{share:>9.1f}%" for share in shares) + lack)
    if not totals:
        print(f"{folder}: no text of more than {SHORTEST} tokens", file=sys.stderr)
        return 1
    everything = [shares for kind in totals.values() for shares in kind]
    for kind, rows in [*sorted(totals.items()), ("all", everything)]:
        means = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
        print(f"{f'mean of {len(rows)} ({kind})':<59}" + "".join(f"{m:>9.1f}%" for m in means))
    whole, count = (sum(column) for column in zip(*own, strict=True))
    print(f"sentences of their own summaries: {whole} of {count} whole")
    return 0


if __name__ == "__main__":
    chosen = "".join(sys.argv[1:2]).removeprefix("--folder=")
    raise SystemExit(main(Path(chosen or os.fspath(CHECKOUT / "manuals"))))

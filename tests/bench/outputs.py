"""make bench_outputs: what receipts of tools' outputs keep of what an agent needs first.

    python tests/bench/outputs.py [--folder=DIR] [--show=NAME]

DIR holds NAME.txt and `facts.json`: for each NAME its `kind` and `facts`, each with what it `says`
and the patterns that must `all` match. Without a folder, the outputs of the tests are read. Beside
the receipt stand head and tail of the same size, and what Codex (256 lines and 10 KiB) and Claude
Code (30,000 characters) leave of an output. `--show=NAME` prints a receipt, `--show=all` all.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from receipts import CHECKOUT, receipt_of

sys.path.insert(0, str(CHECKOUT / "tests" / "text"))

from contextkit.base import tokens

WAYS = ("receipt", "head+tail", "Codex", "Claude")
CODEX_BYTES, CODEX_LINES = 10 * 1024, 256
CLAUDE_CHARACTERS = 30_000
ASIDE = ("@stored", "more:", "tokens_stored", "facts_kept")  # lines that are not about the text


def both_ends(text: str, most: int) -> str:
    """The first and the last half of `most` characters."""
    return text if len(text) <= most else text[: most // 2] + "\n…\n" + text[-(most // 2) :]


def head_and_tail(text: str, room: int) -> str:
    """Both ends of a text in at most `room` tokens."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        fits = tokens.count(both_ends(text, middle)) <= room
        low, high = (middle, high) if fits else (low, middle - 1)
    return both_ends(text, low)


def codex(text: str) -> str:
    """As Codex cuts it: 128 lines of each end, then 10 KiB."""
    lines, half = text.split("\n"), CODEX_LINES // 2
    if len(lines) > CODEX_LINES:
        text = "\n".join([*lines[:half], "…", *lines[-half:]])
    return both_ends(text, CODEX_BYTES)


def kept(fact: dict[str, Any], said: str) -> bool:
    """Whether all patterns of a fact match what an agent is given."""
    lines = [line for line in said.split("\n") if not line.strip().startswith(ASIDE)]
    one_line = " ".join(" ".join(lines).split())
    return all(re.search(pattern, one_line) for pattern in fact["all"])


def cases(folder: str) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """(name, text, facts) of each output."""
    if not folder:
        from tool_outputs import OUTPUTS  # of the tests

        for name, (line, end, wanted) in OUTPUTS.items():
            text = "\n".join(line.format(n=n) for n in range(80)) + end
            yield name, text, [{"says": one, "all": [re.escape(one)]} for one in wanted]
        return
    for name, case in json.loads((Path(folder) / "facts.json").read_text("utf-8")).items():
        path = Path(folder) / f"{name}.txt"
        yield name, path.read_text("utf-8", errors="surrogateescape"), case["facts"]


def measure(name: str, text: str) -> dict[str, str]:
    """What each way leaves of a text."""
    receipt = receipt_of(text, f"{name} output")
    given = (receipt, head_and_tail(text, tokens.count(receipt)))
    return dict(zip(WAYS, (*given, codex(text), both_ends(text, CLAUDE_CHARACTERS)), strict=True))


def main(folder: str, show: str) -> int:
    print(f"{'output':<22} {'kind':<8} {'tokens':>7} " + "".join(f"{way:>11}" for way in WAYS))
    totals: dict[str, list[list[int]]] = defaultdict(list)
    behind = 0
    for name, text, facts in cases(folder):
        said = measure(name, text)
        kind = re.findall(r"^kind: (\w+)", said["receipt"], re.M)[0]
        hits = [[kept(fact, one) for fact in facts] for one in said.values()]
        sizes = [tokens.count(one) for one in said.values()]
        totals[kind].append([len(facts), *map(sum, hits), *sizes])
        behind += sum(hits[0]) < sum(hits[1])
        lack = [fact["says"] for fact, there in zip(facts, hits[0], strict=True) if not there]
        row = "".join(f"{sum(hit)}/{len(facts)}".rjust(11) for hit in hits)
        print(f"{name:<22} {kind:<8} {tokens.count(text):>7} {row}  {'; '.join(lack)}")
        if show in (name, "all"):
            print("\n".join(f"    {line}" for line in said["receipt"].split("\n")))
    everything = [row for rows in totals.values() for row in rows]
    for kind, rows in [*sorted(totals.items()), ("all", everything)]:
        count, *rest = [sum(column) for column in zip(*rows, strict=True)]
        shares = "".join(f"{100 * one / count:>10.1f}%" for one in rest[: len(WAYS)])
        print(f"{f'{len(rows)} {kind}':<39}{shares}")
    sizes = [sum(column) / len(everything) for column in zip(*everything, strict=True)]
    print(f"{'tokens on average':<39}" + "".join(f"{one:>11.0f}" for one in sizes[-len(WAYS) :]))
    print(f"behind head+tail: {behind} of {len(everything)}")
    return 0


if __name__ == "__main__":
    given = dict(one.removeprefix("--").split("=", 1) for one in sys.argv[1:])
    raise SystemExit(main(given.get("folder", ""), given.get("show", "")))

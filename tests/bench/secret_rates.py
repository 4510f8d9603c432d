"""make bench_secrets: how much of what is planted is found, and what is flagged that is none.

The planted fakes are ours (tests/planted.py), so their rate says that no rule is broken, not how
well strangers' secrets are found. For that, `folder=DIR` takes any folder: it prints how many
findings of each kind its files have, never a value; and `folder=FILE.toml` takes the rules of
gitleaks (its `config/gitleaks.toml`) and makes values from them. Where detect-secrets can be
imported it gets the same texts: `.venv/bin/python -m pip install detect-secrets==1.5.0`.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(TESTS), str(TESTS.parent / "scripts")]

import gitleaks_rules  # noqa: E402
import planted  # noqa: E402
from contextkit.base import redaction  # noqa: E402

Scanner = Callable[[str], int]


def ours(text: str) -> int:
    return len(redaction.found(text))


def detect_secrets() -> Scanner | None:
    """detect-secrets with all its rules but those that flag whatever is random, or None."""
    try:
        from detect_secrets.core import scan  # type: ignore[import-not-found]
        from detect_secrets.settings import default_settings  # type: ignore[import-not-found]
    except ImportError:
        return None

    def scanner(text: str) -> int:
        with default_settings() as settings:
            settings.disable_plugins("Base64HighEntropyString", "HexHighEntropyString")
            return len({s.secret_hash for line in text.split("\n") for s in scan.scan_line(line)})

    return scanner


def rates(scanner: Scanner) -> list[str]:
    texts = planted.secrets()
    contexts = ("prose", ".env", "JSON")
    found = {c: sum(bool(scanner(texts[kind][c])) for kind in texts) for c in contexts}
    innocent = planted.look_alikes()
    flagged = sum(bool(scanner(text)) for text in innocent)
    return [*(f"{found[c]} of {len(texts)}" for c in contexts), f"{flagged} of {len(innocent)}"]


def cost(scanner: Scanner) -> str:
    text = "\n".join(planted.look_alikes()) * 2
    start = time.perf_counter()
    for _ in range(20):
        scanner(text)
    return f"{(time.perf_counter() - start) / 20 * 1000:.1f} ms for {len(text) // 1000} kB"


def of_folder(folder: str) -> str:
    kinds: Counter[str] = Counter()
    files = 0
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file() and path.stat().st_size < 1 << 20:
            files += 1
            text = path.read_bytes().decode("utf-8", "replace")
            kinds.update(secret.kind for secret in redaction.found(text))
    lines = [f"{files} files, {sum(kinds.values())} findings"]
    return "\n".join([*lines, *(f"{kind}: {count}" for kind, count in kinds.most_common())])


def of_rules(path: str) -> str:
    """How many values made from the rules of gitleaks are found, and what redaction leaves."""
    count = assigned = alone = left = 0
    missed: Counter[str] = Counter()
    for rule, named, sentence in gitleaks_rules.samples(path):
        count += 1
        assigned += bool(redaction.found(named))
        alone += bool(redaction.found(sentence))
        if not redaction.found(sentence):
            missed[rule] += 1
        once = redaction.redacted(sentence)[0]
        left += redaction.redacted(once)[0] != once
    return "\n".join([
        f"{count} values of {path}",
        f"assigned to a name: {assigned} found ({assigned / count:.0%})",
        f"alone in a sentence: {alone} found ({alone / count:.0%})",
        f"found again in what redaction left: {left}",
        f"never found alone: {', '.join(sorted(rule for rule in missed if missed[rule] == 3))}",
    ])  # fmt: skip


def main() -> int:
    if len(sys.argv) > 1 and sys.argv[1].endswith(".toml"):
        print(of_rules(sys.argv[1]))
        return 0
    if len(sys.argv) > 1 and sys.argv[1]:
        print(of_folder(sys.argv[1]))
        return 0
    print("| scanner | in prose | in .env | in JSON | look-alikes flagged | cost |")
    print("|---|---|---|---|---|---|")
    theirs = detect_secrets()
    for name, scanner in (("contextkit", ours), ("detect-secrets 1.5.0", theirs)):
        if scanner:
            print("| " + " | ".join([name, *rates(scanner), cost(scanner)]) + " |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

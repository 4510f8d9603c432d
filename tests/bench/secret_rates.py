"""make bench_secrets: how many planted secrets are found, and what is flagged by mistake.

The planted fakes are ours (tests/planted.py), so their rate says that no rule is broken, not how
well strangers' secrets are found. For that, `folder=DIR` takes any folder: it prints how many
findings of each kind its files have, never a value; a checkout of gitleaks or trufflehog as
`folder=` gives the rates for values made by the rules of the one (or of `folder=FILE.toml`) and for
those in the tests of the other. Where detect-secrets can be imported it gets the same texts:
`.venv/bin/python -m pip install detect-secrets==1.5.0`.
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
import scanner_tests  # noqa: E402
from contextkit.base import redaction  # noqa: E402

Scanner = Callable[[str], int]
LEFT = 12  # characters of a secret that are too many to be left


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
    """The processor time of the fastest of twenty searches."""
    text = "\n".join(planted.look_alikes()) * 2

    def once() -> float:
        start = time.process_time()
        scanner(text)
        return time.process_time() - start

    return f"{min(once() for _ in range(20)) * 1000:.1f} ms for {len(text) // 1000} kB"


def of(given: Path) -> str:
    if given.suffix == ".toml":
        return of_rules(str(given))
    if (given / scanner_tests.RULES).is_dir():
        return of_gitleaks(given)
    if (given / scanner_tests.DETECTORS).is_dir():
        return of_trufflehog(given)
    return of_folder(str(given))


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


def of_gitleaks(folder: Path) -> str:
    """What is found of values made by the rules of gitleaks, and flagged of its harmless ones."""
    harmless = scanner_tests.harmless(folder)
    flagged = sum(bool(redaction.found(text)) for text in harmless)
    return "\n".join([
        of_rules(str(folder / "config" / "gitleaks.toml")),
        f"harmless by its tests: {flagged} of {len(harmless)} flagged"
        f" ({flagged / len(harmless):.1%})",
    ])  # fmt: skip


def of_rules(path: str) -> str:
    samples = list(gitleaks_rules.samples(path))
    lines = found_of([(one.secret, one.assigned, one.alone) for one in samples])
    alone = Counter(one.rule for one in samples if redaction.found(one.alone))
    never = sorted({one.rule for one in samples} - set(alone))
    return "\n".join([*lines, f"never found alone: {', '.join(never)}"])


def of_trufflehog(folder: Path) -> str:
    """What is found of the values that trufflehog's tests want found."""
    return "\n".join(found_of([
        (value, f'{name}_token = "{value}"', gitleaks_rules.in_a_sentence(value))
        for name, value in scanner_tests.wanted(folder)
    ]))  # fmt: skip


def found_of(texts: list[tuple[str, str, str]]) -> list[str]:
    """The rates of secrets assigned and alone, and what redaction leaves of them."""
    assigned = sum(bool(redaction.found(named)) for _, named, _ in texts)
    alone = sum(bool(redaction.found(sentence)) for _, _, sentence in texts)
    left = again = 0
    for secret, *both in texts:
        for text in both:
            once, found = redaction.redacted(text)
            left += bool(found) and is_left(secret, once)
            again += redaction.redacted(once)[0] != once
    return [
        f"{len(texts)} values",
        f"assigned to a name: {assigned} found ({assigned / len(texts):.1%})",
        f"alone in a sentence: {alone} found ({alone / len(texts):.1%})",
        f"{LEFT} characters or more left after redaction: {left}",
        f"found again in what redaction left: {again}",
    ]


def is_left(secret: str, text: str) -> bool:
    return any(secret[at : at + LEFT] in text for at in range(len(secret) - LEFT + 1))


def main() -> int:
    if folder := "".join(sys.argv[1:2]).removeprefix("--folder="):
        print(of(Path(folder)))
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

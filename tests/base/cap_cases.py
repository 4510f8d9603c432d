"""Whether receipts and handoffs keep their caps in the reader's tokenizer, and use their room.

    python tests/base/cap_cases.py [--n=1000]      the suite tries fewer

Texts are made from a fixed seed: fourteen languages, base64, hexadecimal digits, ids, emoji and
code, alone and mixed, as reports with headings, lists and tables. Each is told in a receipt and
handed over in an artifact; both are counted exactly, where the tokenizer is public.
"""

from __future__ import annotations

import base64
import random
import statistics
import sys
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

CHECKOUT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(CHECKOUT / "scripts"))

from contextkit.base import tokens  # noqa: E402
from contextkit.base.layout import Layout  # noqa: E402
from contextkit.base.settings import Limits  # noqa: E402
from contextkit.handoffs.documents import artifacts  # noqa: E402
from contextkit.handoffs.flows import fitting  # noqa: E402
from contextkit.payloads.flows import storing  # noqa: E402

LANGUAGES = {
    "English": "The cache must not grow beyond what it holds while readers wait for the lock",
    "German": "Die Datenbankverbindungswiederherstellung darf den Zwischenspeicher nicht leeren",
    "French": "Le cache ne doit jamais dépasser la taille prévue quand un lecteur attend",
    "Spanish": "La memoria intermedia no debe crecer más allá de lo permitido por el ajuste",
    "Portuguese": "A memória não deve crescer além do que a configuração permite aos leitores",
    "Polish": "Pamięć podręczna nie powinna rosnąć ponad to, na co pozwala ustawienie czytelników",
    "Turkish": "Önbellek izin verilenden fazla büyümemeli ve okuyucular kilidi beklememelidir",
    "Russian": "Кэш не должен расти больше чем разрешено настройкой пока читатели ждут замок",
    "Arabic": "لا يجوز أن يكبر المخبأ أكثر من المسموح به بينما ينتظر القراء القفل",
    "Hindi": "कैश बहुत धीमा है और उसे अनुमति से अधिक नहीं बढ़ना चाहिए जबकि पाठक ताले की राह देखते हैं",
    "Tibetan": "བོད་ཡིག་གི་ཚིག་འདི་ནི་ཧ་ཅང་རིང་པོ་ཡིན་པས་གྲངས་མང་པོ་དགོས་པ་ཡིན",
    "Chinese": "缓存不得超过配置允许的大小 读者在等待锁时必须能够继续读取数据",
    "Japanese": "キャッシュは設定で許された大きさを超えてはならないと決定した 読み手は待たない",
    "Korean": "캐시는 설정이 허용하는 크기를 넘어서는 안 되며 읽는 사람은 잠금을 기다리지 않는다",
}
KINDS = (*LANGUAGES, "base64", "hex", "ids", "emoji", "code")
_EMOJI = "😀 🚀 👩‍👩‍👧 🏳️‍🌈 ✅ ❌ 🧪 🇩🇪 👍🏽 🔥".split(" ")
_CODE = (
    "if (!map.has(key)) { return table[i]->next; }", "for (int i = 0; i < n; ++i) sum += a[i];",
    "x = [f(y) for y in zs if y is not None]", "assert response.status_code == 429, response.text",
    "fn main() -> Result<(), Box<dyn Error>> { Ok(()) }", "SELECT id, name FROM t WHERE x <> 'y';",
)  # fmt: skip


class Made(NamedTuple):
    """One text that was told: of which kind, what was made of it, and whether it had to be cut."""

    kind: str
    what: str
    text: str
    cap: int
    cut: bool


def sentence(kind: str, chance: random.Random) -> str:
    """A few words, digits or signs of a kind."""
    if kind == "base64":
        return base64.b64encode(chance.randbytes(chance.randrange(12, 60))).decode()
    if kind == "hex":
        return chance.randbytes(chance.randrange(8, 32)).hex()
    if kind == "ids":
        return " ".join(str(uuid.UUID(bytes=chance.randbytes(16))) for _ in range(2))
    if kind == "emoji":
        return " ".join(chance.choices(_EMOJI, k=chance.randrange(4, 14)))
    if kind == "code":
        return chance.choice(_CODE) + f"  // {chance.randrange(900)}"
    words = LANGUAGES[kind].split()
    if len(words) > 4:
        chance.shuffle(words)
        words = words[: chance.randrange(4, len(words) + 1)]
    place = f" src/a{chance.randrange(99)}.py:{chance.randrange(400)}"
    return " ".join(words) + chance.choice(("", "", place, f" {chance.randrange(900)} ms"))


def report(kinds: list[str], chance: random.Random) -> str:
    """A text of 600 tokens and more with headings, sentences, items and a table."""

    def said() -> str:
        return sentence(chance.choice(kinds), chance)

    parts = [f"# {said()[:60]}"]
    while tokens.estimate("\n".join(parts)) < 900:
        parts.append(f"\n## {said()[:40]}\n")
        form = chance.randrange(3)
        if form == 0:
            parts.append(". ".join(said() for _ in range(4)) + ".")
        elif form == 1:
            parts += [f"- {said()}" for _ in range(5)]
        else:
            parts += ["| a | b |", "|---|---|", *(f"| {said()} | {said()} |" for _ in range(3))]
    return "\n".join(parts) + "\n"


def made(number: int, tokenizer: str, seed: int = 16) -> Iterator[Made]:
    """`number` texts as a receipt each and as an artifact each."""
    chance = random.Random(seed)
    limits = Limits(tokenizer=tokenizer)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "contextkit.yaml").write_text(f"tokenizer: {tokenizer}\n", encoding="utf-8")
        layout = Layout(folder)
        assert layout.limits.tokenizer == tokenizer
        for index in range(number):
            kind = KINDS[index % len(KINDS)]
            kinds = [kind] if index % 3 else [kind, chance.choice(KINDS)]
            text = report(kinds, chance)
            output = storing.Output(
                topic=kind, source="bench", content=text, tokens=tokens.estimate(text)
            )
            told = storing.store_at(layout, f"{folder}/x.md", output, 1_767_225_600, True)
            yield Made(kind, "receipt", told.receipt, limits.payload_receipt_tokens, True)
            handoff = artifacts.make(_fields(kinds, chance))
            short, cut = fitting.clipped(handoff, limits)
            most = limits.handoff_max_tokens
            yield Made(kind, "handoff", artifacts.render(short), most, bool(cut))


def _fields(kinds: list[str], chance: random.Random) -> dict[str, object]:

    def said() -> str:
        return sentence(chance.choice(kinds), chance)

    lists = {
        name: tuple(f"{n} {said()} {said()}" for n in range(chance.randrange(1, most + 1)))
        for name, most in (("decisions", 5), ("blockers", 3), ("rejected", 3))
    }
    files = tuple(f"src/part{chance.randrange(99)}/file{n}.py" for n in range(8))
    return {
        "from_agent": "dev", "to_agent": "qa", "timestamp": "2026-01-01T00:00:00Z",
        "story_id": "7.1", "branch": "main", "current_task": "look at the cache",
        "files_modified": files, "next_action": f"{said()}. {said()}. {said()}", **lists,
    }  # fmt: skip


def main(number: int) -> int:
    """A row for each tokenizer and form; 1 where one is above its cap."""
    print(f"{number} receipts and {number} artifacts, from seed 16\n")
    print("| tokenizer | form | above the cap | had to be cut | room used, median | lowest tenth |")
    print("|---|---|---|---|---|---|")
    worst = 0
    for tokenizer in tokens.TOKENIZERS:
        found: dict[str, list[Made]] = {}
        for one in made(number, tokenizer):
            found.setdefault(one.what, []).append(one)
            shown = sum(map(len, found.values()))
            if sys.stderr.isatty():
                sys.stderr.write(f"\r{tokenizer}: {shown} of {2 * number} ")
        if sys.stderr.isatty():
            sys.stderr.write("\r" + " " * 40 + "\r")
        for what, all_made in found.items():
            sizes = [(size(one.text, tokenizer), one) for one in all_made]
            above = sum(count > one.cap for count, one in sizes)
            used = sorted(100 * count / one.cap for count, one in sizes if one.cut)
            worst = max(worst, above)
            room = f"{statistics.median(used):.0f} % | {used[len(used) // 10]:.0f} %"
            print(f"| {tokenizer} | {what} | {above} of {len(all_made)} | {len(used)} | {room} |")
            if not tokens.TOKENIZERS[tokenizer]:
                used = sorted(
                    100 * tokens.size(x.text, tokenizer) / x.cap for _, x in sizes if x.cut
                )
                room = f"{statistics.median(used):.0f} % | {used[len(used) // 10]:.0f} %"
                print(f"| | with its margin | | | {room} |")
    return 1 if worst else 0


def size(text: str, tokenizer: str) -> int:
    """Exactly, or as estimated where nobody can count."""
    exact = tokens.count(text, tokenizer)
    return exact if exact >= 0 else tokens.estimate(text, tokenizer)


if __name__ == "__main__":
    given = "".join(sys.argv[1:2]).removeprefix("--n=")
    raise SystemExit(main(int(given or 1000)))

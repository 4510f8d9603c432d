"""An agent that is a script: it works on a prompt and writes a transcript of Claude Code.

    python worker.py KIND       KIND: able, told, fails

`able` mends the shop by the decisions of the morning, in every session; `told` does as an agent
that follows the card: it keeps them in a plan, and knows at noon what it is told then.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import uuid
from pathlib import Path

ORDERS = """
from decimal import ROUND_HALF_EVEN, Decimal


def parse(text):
    found = []
    for line in filter(None, text.split("\\n")):
        identity, customer, country, amount, kind = line.split(";")
        sign = -1 if kind == "refund" else 1
        found.append({"id": identity, "customer": customer, "country": country or "XX",
                      "cents": sign * cents(amount), "kind": kind})
    return found


def cents(amount):
    point = max(amount.rfind("."), amount.rfind(","))
    whole = "".join(filter(str.isdigit, amount[:point]))
    plain = Decimal(f"{whole}.{amount[point + 1:]}") * 100
    return int(plain.quantize(Decimal(1), ROUND_HALF_EVEN))


def total(orders):
    return sum(order["cents"] for order in orders)
"""
REPORT = """
from shop import orders


def by_country(text):
    found = {}
    for order in orders.parse(text):
        found[order["country"]] = found.get(order["country"], 0) + order["cents"]
    return dict(sorted(found.items()))
"""


def kept(prompt: str) -> str:
    """What an agent knows that keeps decisions as the card says and reads what it is told."""
    if not Path("CLAUDE.md").exists():  # ours is the only one
        return ""
    said = hooked()
    decided = re.findall(r"^- (.*(?:\n  .*)*)", prompt, re.M)
    if decided:
        words = [f"constraints={' | '.join(' '.join(one.split()) for one in decided)}"]
        return make("memory_plan", "task=orders", "objective=Mend the orders", *words)
    return said + make("memory_recover")


def make(*words: str) -> str:
    done = subprocess.run(["make", "-s", *words], capture_output=True, encoding="utf-8")
    return done.stdout + done.stderr


def hooked() -> str:
    """What the hooks of the project answer when a session starts."""
    said = ""
    given = {"session_id": uuid.uuid4().hex, "cwd": os.getcwd(), "source": "startup",
             "hook_event_name": "SessionStart"}  # fmt: skip
    settings = json.loads(Path(".claude/settings.json").read_text(encoding="utf-8"))
    for group in settings["hooks"]["SessionStart"]:
        for hook in group["hooks"]:
            words = [one.replace("${CLAUDE_PROJECT_DIR}", os.getcwd())
                     for one in (hook["command"], *hook.get("args", ()))]  # fmt: skip
            done = subprocess.run(
                words if hook.get("args") else ["/bin/sh", "-c", words[0]],
                input=json.dumps(given), capture_output=True, encoding="utf-8",
                env={**os.environ, "CLAUDE_PROJECT_DIR": os.getcwd()},
            )  # fmt: skip
            said += done.stdout
    return said


def transcript(prompt: str) -> None:
    dashed = re.sub(r"[^A-Za-z0-9]", "-", os.getcwd())
    folder = Path(os.environ["CLAUDE_CONFIG_DIR"]) / "projects" / dashed
    folder.mkdir(parents=True, exist_ok=True)
    session = uuid.uuid4().hex
    frame = {"cwd": os.getcwd(), "sessionId": session, "timestamp": "2026-11-23T09:00:00.000Z"}
    usage = {"input_tokens": 10, "cache_creation_input_tokens": 100,
             "cache_read_input_tokens": 1000, "output_tokens": 20}  # fmt: skip
    asked = {"type": "user", "uuid": "1", "message": {"role": "user", "content": prompt}}
    reply = {"type": "assistant", "uuid": "2",
             "message": {"id": f"m-{session}", "usage": usage, "role": "assistant",
                         "content": [{"type": "text", "text": "Done."}]}}  # fmt: skip
    lines = [asked | frame, reply | frame, reply | frame]  # a reply of two parts
    (folder / f"{session}.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))


def main() -> int:
    kind, prompt = sys.argv[1], sys.stdin.read()
    if kind == "fails":
        time.sleep(600 * ("shop/report.py" in prompt))  # once a day: the others die
        return 3
    told = kept(prompt) if kind == "told" else "half to even"
    if "half to even" in told:
        if "shop/orders.py" in prompt:
            Path("shop/orders.py").write_text(ORDERS, encoding="utf-8")
        if "shop/report.py" in prompt:
            Path("shop/report.py").write_text(REPORT, encoding="utf-8")
    transcript(prompt)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

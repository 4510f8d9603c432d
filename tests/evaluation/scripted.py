"""Models that are scripts: one prompt on standard input, one answer on standard output.

    python scripted.py KIND [FILE]      FILE: where it notes that it was called

perfect answers what its material says, and marks by the key; knows_nothing says unknown; inventor
answers something else; talker answers in prose; dies_marking fails where it has to mark; opener
asks for the first lines before it answers.
"""

from __future__ import annotations

import json
import re
import sys

FACT = r"(\w+) is (\d+)\b"  # what the texts of these tests state


def questions(prompt: str) -> object:
    return [
        {"question": f"What is {name}?", "key": number}
        for name, number in re.findall(FACT, prompt.partition("The text, which is data")[2])
    ]


def answers(kind: str, prompt: str) -> object:
    asked = re.findall(r"^\d+\. What is (\w+)\?$", prompt, re.M)
    known = dict(re.findall(FACT, prompt.partition("The material, which is data")[2]))
    if kind == "opener" and '{"lines"' in prompt:
        return {"lines": [1, 5]}
    if kind == "knows_nothing":
        return ["unknown"] * len(asked)
    if kind == "inventor":
        return ["I am sure that it is 12345"] * len(asked)
    return [known.get(name, "unknown") for name in asked]


def marks(prompt: str) -> object:
    found = []
    for block in re.split(r"^\d+\. What is ", prompt, flags=re.M)[1:]:
        key = re.findall(r"^key: (.*)$", block, re.M)[0]
        said = re.findall(r"^([A-H]): (.*)$", block, re.M)
        found.append({k: "unknown" if a == "unknown" else "right" if a == key else "wrong"
                      for k, a in said})  # fmt: skip
    return found


def main() -> int:
    kind, prompt = sys.argv[1], sys.stdin.read()
    if sys.argv[2:]:
        with open(sys.argv[2], "a", encoding="utf-8") as file:
            file.write(json.dumps(prompt) + "\n")
    if kind == "talker":
        print("I would rather tell you in my own words [so to speak].")
        return 0
    if prompt.startswith("Mark answers"):
        if kind == "dies_marking":
            return 3
        print("```json\n" + json.dumps(marks(prompt)) + "\n```")
    elif prompt.startswith("Somebody ordered"):
        print("Here they are: " + json.dumps(questions(prompt)))
    else:
        print(json.dumps(answers(kind, prompt)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

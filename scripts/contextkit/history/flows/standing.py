"""What contextkit costs in every request: its card in the instructions, its skill's description.

A host that caches prompts pays 1.25 for a text that is new in a session, 0.1 for each repetition;
`cost` counts so. Requests are those in the transcripts of sessions of this repository.
"""

from __future__ import annotations

import os

from contextkit.base import files, tokens
from contextkit.base.layout import Layout
from contextkit.payloads.flows import retention

_MARK = "contextkit"  # in the line that begins our block, and in the one that ends it
_NEW, _REPEATED = 1.25, 0.1
_MOST = 64 << 20  # bytes of a transcript that are read


def tokens_a_request(layout: Layout) -> int:
    """The tokens of the card and of the skill's description; 0 if neither is installed here."""
    from contextkit.hosts.documents.contracts import every

    cards = {_card(layout, name) for name in {host.instructions for host in every()}}
    skills = {_description(layout, name) for name in {host.skills for host in every()}}
    return max(map(tokens.estimate, cards), default=0) + max(
        map(tokens.estimate, skills), default=0
    )


def _card(layout: Layout, name: str) -> str:
    from contextkit.hosts.flows import changes

    return changes.block_in(files.read_if_there(layout.join(name)) or "")


def _description(layout: Layout, folder: str) -> str:
    """The front matter of the skill, which a host lists in each request."""
    text = files.read_if_there(os.path.join(layout.join(folder), _MARK, "SKILL.md")) or ""
    return text.removeprefix("---\n").partition("\n---\n")[0] if text.startswith("---\n") else ""


def requests(layout: Layout) -> int:
    """How many answers of the model the known transcripts hold."""
    return sum(map(_answers, retention.transcripts(layout)))


def _answers(path: str) -> int:
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST)
    except OSError:
        return 0
    return data.count(b'"type":"assistant"') or data.count(b'"token_count"')


def cost(layout: Layout) -> int:
    """What the card and the skill have cost so far, in tokens at the price of new input."""
    each, seen = tokens_a_request(layout), retention.transcripts(layout)
    if not (each and seen):
        return 0
    new = len(seen)
    return round(each * (_NEW * new + _REPEATED * max(0, requests(layout) - new)))

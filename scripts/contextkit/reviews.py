"""Reviews: what an agent's file says, and what follows from it.

    agent.md  ->  parse  ->  Review  ->  status  ->  CLEAN, NEEDS_ATTENTION, ERROR …, and why

The agent wrote the file, not we: it may be cut off, contradict itself, quote another review or
try to be believed. The status follows from the findings; what the agent states can only make it
stricter; what is not understood is never clean. The table is in manuals/verdicts.md.
"""

from __future__ import annotations

from contextkit import review_index, review_lines
from contextkit.records import Record
from contextkit.review_index import Block
from contextkit.review_lines import SERIOUS, UNCLOSED, VERDICTS, Finding
from contextkit.review_sections import Issue, Issues, derived

TYPE_CHECKING = False
if TYPE_CHECKING:
    Status = tuple[str, tuple[str, ...]]

# What may be wrong and still leave a review clean.
_HARMLESS = frozenset(["late_index", "two_indexes", "no_verdict", "severity_conflict"])
_RESEARCH = ("sources", "findings", "confidence", "gaps")
_RESEARCH_DONE = "flux-research:complete"
...

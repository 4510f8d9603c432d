"""The flow of a tool's long output: whole on disk, its receipt in the context.

What a tool returns has a form of its own in each host, and the host takes nothing but that form:
each long text in it is replaced where it stands, and all the rest is left as it is.
"""

from __future__ import annotations

from contextkit.base import names, tokens
from contextkit.base.layout import Layout
from contextkit.hosts.documents.contracts import NOTHING, Answer, HookInput
from contextkit.hosts.flows import outputs

_ENCODED = ("data", "blob")  # keys of what is not text: images, sound, files
_MOST = 120  # characters of a topic


def shorten(layout: Layout, given: HookInput) -> Answer:
    """The tool's result with a receipt for each text above `hook_tool_output_tokens`."""
    response = given.passed.get("tool_response")
    shortened = _shortened(layout, given, response)
    return NOTHING if shortened == response else Answer(result=shortened)


def _shortened(layout: Layout, given: HookInput, found: object) -> object:
    if isinstance(found, str):
        most = layout.limits.hook_tool_output_tokens
        if len(found) <= most or tokens.estimate(found) <= most or "@stored: " in found:
            return found
        tool = names.one_line(given.text("tool_name"))[:_MOST]
        return outputs.store(layout, given, _topic(given, tool), tool, found)[1]
    if isinstance(found, list):
        return [_shortened(layout, given, one) for one in found]
    if isinstance(found, dict) and not found.get("isImage"):
        return {
            key: one if key in _ENCODED else _shortened(layout, given, one)
            for key, one in found.items()
        }
    return found


def _topic(given: HookInput, tool: str) -> str:
    """The tool, with the command or address that it was called with."""
    asked = given.passed.get("tool_input")
    texts = asked.values() if isinstance(asked, dict) else ()
    first = next((text for text in texts if isinstance(text, str)), "")
    plain = "".join(char for char in names.one_line(first) if char.isprintable())
    return f"{tool}: {plain}".removesuffix(": ")[:_MOST].strip()

"""The text is safe before anything reads it, and no digest makes a host wait."""

from __future__ import annotations

import time
from typing import Any

import pytest
from contextkit.base.layout import Layout
from contextkit.payloads.documents import store as payloads
from contextkit.payloads.flows import telling
from contextkit.text.digests import engine

from hooks import answer

LONG = "# Report\n\n" + "The cache takes 52 ms. " * 900


def handed(text: str) -> str:
    response = {"status": "completed", "content": [{"type": "text", "text": text}]}
    said = answer("PostToolUse", tool_name="Agent", tool_response=response)
    return str(said["hookSpecificOutput"]["updatedToolOutput"]["content"][0]["text"])


def test_a_digest_that_takes_too_long_is_given_up_and_said(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(*_: Any) -> None:
        while True:
            time.sleep(0.01)

    monkeypatch.setattr("contextkit.hosts.flows.outputs._SECONDS", 0.2)
    monkeypatch.setattr(engine, "ParsedText", endless)
    receipt = handed(LONG)
    assert "note: not digested within 0.2 s; the text is stored whole" in receipt
    (path,) = payloads.documents(layout, "s-1")
    assert payloads.load(path, path).content == LONG and layout.shown(path) in receipt


def test_the_text_is_on_disk_before_anything_reads_it(
    layout: Layout, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def looks(*_: Any) -> None:
        seen.extend(payloads.documents(layout, "s-1"))
        raise KeyError("a bug in a digest")

    monkeypatch.setattr(telling, "tell", looks)
    receipt = handed(LONG)
    (path,) = seen
    assert payloads.load(path, path).content == LONG
    assert "note: could not be digested; the text is stored whole" in receipt

"""The receipt's author where a text has none: a command of the user's, `receipt_writer`.

It reads a prompt with the redacted text on standard input and prints an answer, which is checked as
any author's is. Its own hooks and stores do nothing of this kind again. Off by default: it costs
what the command costs.
"""

from __future__ import annotations

import os
import signal
import subprocess

from contextkit.base import ledger, redaction, tokens
from contextkit.base.layout import Layout
from contextkit.payloads.documents import answers

MARK = "CONTEXTKIT_RECEIPT_WRITER"  # set for the command, so that it starts no other
AGENT = "receipt_writer"  # in the ledger
_SECONDS = 60.0  # for the command, unless a hook's host waits
_MOST = 400_000  # characters of a text that are handed over


def answer(layout: Layout, text: str, ref: str, seconds: float = 0) -> str:
    """What the user's writer says about a text; '' without one, or without an answer in time."""
    command = layout.limits.receipt_writer
    if not command or os.environ.get(MARK):
        return ""
    clean, _ = redaction.redacted(text[:_MOST], layout.limits.secrets_allow)
    prompt = answers.task(clean)
    said = _said(command, prompt, seconds or _SECONDS)
    if said:
        size = tokens.estimate(prompt) + tokens.estimate(said)
        ledger.note(layout, ledger.ASKED, ref, tokens=size, agent=AGENT)
    return said


def _said(command: str, prompt: str, seconds: float) -> str:
    """The output of a command with status 0; it is killed with its children when time is up."""
    environment = {**os.environ, MARK: "1"}
    try:
        process = subprocess.Popen(
            ["/bin/sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, cwd=os.path.expanduser("~"), env=environment,
            start_new_session=True,
        )  # fmt: skip
    except OSError:
        return ""
    try:
        out, _ = process.communicate(prompt.encode("utf-8", "replace"), timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return ""
    return out.decode("utf-8", "replace").strip() if process.returncode == 0 else ""

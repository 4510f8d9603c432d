"""Ask a host which of our hooks it would start; nothing is sent to a model.

`codex app-server` speaks JSON-RPC on standard input and output, one message per line; its method
`hooks/list` returns the trust of each hook of a folder.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import time

from contextkit.hosts.documents import settings
from contextkit.hosts.documents.contracts import Host

_SECONDS = 10.0  # of waiting for an answer
_MESSAGES = (
    {"id": 1, "method": "initialize",
     "params": {"clientInfo": {"name": "contextkit", "version": "1"}}},
    {"method": "initialized"},
)  # fmt: skip


def untrusted(host: Host, project: str) -> list[str] | None:
    """Return the events whose hooks of ours the host would not start; None if it does not say."""
    listed = _listed(host, project)
    if listed is None:
        return None
    ours = [one for one in listed if settings.LAUNCHER in str(one.get("command"))]
    found = [one for one in ours if one.get("trustStatus") not in ("trusted", "managed")]
    return sorted({str(one.get("eventName")) for one in found})


def _listed(host: Host, project: str) -> list[dict[str, object]] | None:
    asked = {"id": 2, "method": "hooks/list", "params": {"cwds": [project]}}
    try:
        process = subprocess.Popen(
            [host.command, *host.tells_trust], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, cwd=project,
        )  # fmt: skip
    except OSError:
        return None
    try:
        assert process.stdin and process.stdout
        lines = "".join(json.dumps(one) + "\n" for one in (*_MESSAGES, asked))
        process.stdin.write(lines.encode("utf-8"))
        process.stdin.flush()
        answer = _answer(process.stdout.fileno(), 2)
    except OSError:
        return None
    finally:
        process.kill()
        process.communicate()
    data = answer.get("data") if isinstance(answer, dict) else None
    folders = data if isinstance(data, list) else []
    return [one for folder in folders for one in folder.get("hooks", [])] if folders else None


def _answer(stream: int, identity: int) -> object:
    """Return the result of the message `identity`; None if none arrives in time."""
    end = time.monotonic() + _SECONDS
    rest = b""
    with selectors.DefaultSelector() as waiting:
        waiting.register(stream, selectors.EVENT_READ)
        while (left := end - time.monotonic()) > 0 and waiting.select(left):
            piece = os.read(stream, 1 << 16)
            if not piece:
                return None
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                try:
                    found = json.loads(line)
                except ValueError:
                    continue
                if isinstance(found, dict) and found.get("id") == identity:
                    return found.get("result")
    return None

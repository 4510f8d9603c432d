"""A model service for real hosts, on the loopback interface: it answers what a test scripts.

Anthropic Messages, OpenAI Responses and Gemini, as server-sent events, as far as the hosts use
them.
A test gives a function `(Request) -> list of Say and Use`; every request is kept, so that a test
can count what reached the model.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any


@dataclass(frozen=True)
class Say:
    """Text that the model says."""

    text: str


@dataclass(frozen=True)
class Use:
    """A tool that the model calls."""

    tool: str  # with its namespace before a dot, where it has one
    given: dict[str, Any]


Reply = list[Say | Use]


@dataclass(frozen=True)
class Message:
    """One entry of a conversation as the model reads it: who said it, and its text."""

    role: str
    text: str


@dataclass
class Request:
    """What a host asked: `messages` are the conversation without the system's part."""

    path: str
    body: dict[str, Any]
    number: int = 0

    @property
    def messages(self) -> list[Message]:
        given = self.body.get("messages") or self.body.get("input") or self.body.get("contents")
        given = given or []
        if isinstance(given, str):
            return [Message("user", given)]
        return [Message(str(one.get("role") or one.get("type")), _text(one)) for one in given]

    @property
    def text(self) -> str:
        """All that the model reads of the conversation."""
        return "\n".join(message.text for message in self.messages)

    @property
    def last(self) -> str:
        """What came in since the model spoke last."""
        said = self.messages
        spoken = [i for i, one in enumerate(said) if one.role in _SPOKEN]
        return "\n".join(one.text for one in said[(spoken[-1] + 1 if spoken else 0) :])

    @property
    def tools(self) -> list[str]:
        found: list[dict[str, Any]] = []
        for tool in self.body.get("tools") or []:
            found += tool.get("functionDeclarations") or [tool]
        return [str(tool.get("name") or tool.get("type")) for tool in found]


_SPOKEN = ("assistant", "model", "function_call", "reasoning", "custom_tool_call")


def _text(found: Any) -> str:
    """Every text in an entry of a conversation, whatever its shape."""
    if isinstance(found, str):
        return found
    if isinstance(found, list):
        return "\n".join(map(_text, found))
    if isinstance(found, dict):
        keys = ("text", "content", "output", "arguments", "input", "parts", "functionResponse",
                "response", "error")  # fmt: skip
        return "\n".join(_text(found[key]) for key in keys if key in found)
    return ""


Script = Callable[[Request], Reply]


@dataclass
class Models:
    """The service while it runs: `address` is its beginning of a URL."""

    script: Script
    tokens: int = 900  # that each reply says the context holds
    requests: list[Request] = field(default_factory=list)
    address: str = ""
    problems: list[str] = field(default_factory=list)

    def __enter__(self) -> Models:
        self._server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (_Handler,), {"models": self})
        )
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._numbers = count(1)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: Request) -> Reply:
        request.number = next(self._numbers)
        self.requests.append(request)
        try:
            return self.script(request)
        except Exception as error:
            self.problems.append(repr(error))
            return [Say(f"THE SCRIPT FAILED: {error!r}")]

    def of(self, mark: str) -> list[Request]:
        """The requests of the agent in whose first message `mark` stands."""
        return [one for one in self.requests if any(mark in m.text for m in one.messages[:4])]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    models: Models

    def log_message(self, *_: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._send(b"", "text/plain")

    def do_GET(self) -> None:
        self._send(b'{"data": [], "models": []}', "application/json")

    def do_POST(self) -> None:
        data = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            request = Request(self.path, json.loads(data or b"{}"))
        except ValueError:
            request = Request(self.path, {})
        if "count_tokens" in self.path:
            self._send(_counted("input_tokens", data), "application/json")
        elif "/messages" in self.path:
            reply = self.models.answer(request)
            if request.body.get("stream"):
                self._events(_anthropic(reply, self.models.tokens))
            else:
                whole = _whole(reply, self.models.tokens)
                self._send(json.dumps(whole).encode(), "application/json")
        elif self.path.endswith("/responses"):
            self._events(_openai(self.models.answer(request), self.models.tokens))
        elif "countTokens" in self.path:
            self._send(_counted("totalTokens", data), "application/json")
        elif "enerateContent" in self.path:
            answer = json.dumps(_gemini(self.models.answer(request), self.models.tokens))
            if "stream" in self.path:
                self._send(f"data: {answer}\n\n".encode(), "text/event-stream")
            else:
                self._send(answer.encode(), "application/json")
        else:
            self._send(b"{}", "application/json")

    def _events(self, events: Iterator[dict[str, Any]]) -> None:
        text = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)
        self._send(text.encode(), "text/event-stream")

    def _send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        try:
            self.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the host has gone


def _counted(name: str, data: bytes) -> bytes:
    """Four bytes a token: a client asks before it attaches a file, and leaves a large one out."""
    return json.dumps({name: len(data) // 4}).encode()


_IDS = count(1)


def _usage(tokens: int) -> dict[str, int]:
    return {"input_tokens": tokens, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0, "output_tokens": 20}  # fmt: skip


def _blocks(reply: Reply) -> list[dict[str, Any]]:
    return [
        {"type": "text", "text": one.text} if isinstance(one, Say) else _tool_use(one)
        for one in reply
    ]  # fmt: skip


def _tool_use(one: Use) -> dict[str, Any]:
    return {"type": "tool_use", "id": f"toolu_{next(_IDS):08}", "name": one.tool,
            "input": one.given}  # fmt: skip


def _stop(reply: Reply) -> str:
    return "tool_use" if any(isinstance(one, Use) for one in reply) else "end_turn"


def _whole(reply: Reply, tokens: int) -> dict[str, Any]:
    """A reply of Anthropic Messages in one."""
    return {"id": f"msg_{next(_IDS):08}", "type": "message", "role": "assistant",
            "model": "claude-sonnet-4-5", "content": _blocks(reply), "stop_reason": _stop(reply),
            "stop_sequence": None, "usage": _usage(tokens)}  # fmt: skip


def _anthropic(reply: Reply, tokens: int) -> Iterator[dict[str, Any]]:
    whole = _whole([], tokens)
    yield {"type": "message_start", "message": {**whole, "stop_reason": None}}
    for index, block in enumerate(_blocks(reply)):
        if block["type"] == "text":
            begin: dict[str, Any] = {"type": "text", "text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        else:
            begin = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield {"type": "content_block_start", "index": index, "content_block": begin}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": _stop(reply), "stop_sequence": None},
           "usage": {"output_tokens": 20}}  # fmt: skip
    yield {"type": "message_stop"}


def _openai(reply: Reply, tokens: int) -> Iterator[dict[str, Any]]:
    response = {"id": f"resp_{next(_IDS):08}"}
    yield {"type": "response.created", "response": response}
    for index, one in enumerate(reply):
        name = f"item_{next(_IDS):08}"
        if isinstance(one, Say):
            content = [{"type": "output_text", "text": one.text}]
            item: dict[str, Any] = {
                "type": "message",
                "role": "assistant",
                "id": name,
                "content": content,
            }
        else:
            space, _, tool = one.tool.rpartition(".")
            item = {
                "type": "function_call",
                "id": name,
                "call_id": f"call_{name}",
                "name": tool,
                "arguments": json.dumps(one.given),
            } | ({"namespace": space} if space else {})
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    usage = {"input_tokens": tokens, "input_tokens_details": {"cached_tokens": 0},
             "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 0},
             "total_tokens": tokens + 20}  # fmt: skip
    yield {"type": "response.completed", "response": {**response, "usage": usage}}


def _gemini(reply: Reply, tokens: int) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [
        {"text": one.text}
        if isinstance(one, Say)
        else {"functionCall": {"name": one.tool, "args": one.given}}
        for one in reply
    ]
    candidate = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
    usage = {"promptTokenCount": tokens, "candidatesTokenCount": 20, "totalTokenCount": tokens + 20}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "gemini-2.5-flash"}

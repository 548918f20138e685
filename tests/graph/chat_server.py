"""A server on this machine that answers from a script: over Chat Completions, Anthropic's Messages or Gemini's wire."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from langchain_anthropic import ChatAnthropic
from langchain_core.messages import AIMessage
from langchain_google_genai import ChatGoogleGenerativeAI
from langchain_openai import ChatOpenAI

from researchdesk.state.envelopes import open_envelope

from . import gemini_wire
from .scripted_model import View


@dataclass(frozen=True, kw_only=True)
class Call:
    """A tool call as it goes over the wire; ``arguments`` is sent as it stands."""

    name: str
    arguments: str
    id: str | None = "call_1"


@dataclass(frozen=True, kw_only=True)
class Reply:
    """A model's answer as it goes over the wire."""

    content: str = ""
    calls: tuple[Call, ...] = ()
    finish: str = ""
    read: int = 1_000
    written: int = 100
    cached: int = 0
    stored: int = 0
    """Input that went into the provider's cache; Anthropic alone says so."""
    reasoning: int = 0


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Anything but an answer; ``status`` 0 closes the connection without a word, or after half of ``half``."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: str = '{"error": {"message": "no", "type": "server_error"}}'
    half: Reply | None = None


Script = Callable[[View], AIMessage | Reply | Fault]


class ChatServer:
    """Serves ``script`` on a port of its own; a context manager.

    ``requests`` holds the bodies of all requests, in order; those that met a fault are among them. The script gets
    the view of the run that a request carries; ``view["asked"]`` is the number of requests before it, and
    ``view["request"]`` the request itself.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.requests: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def model(self, **more: Any) -> ChatOpenAI:
        """A model whose requests come here, once each."""
        given = {
            "model": "gpt-wire",
            "api_key": "none",
            "max_retries": 0,
            "stream_usage": True,
            "timeout": 20,
        }
        return ChatOpenAI(base_url=self.url, **{**given, **more})

    def anthropic_model(self, **more: Any) -> ChatAnthropic:
        """A model of Anthropic's whose requests come here, once each."""
        given = {
            "model": "claude-wire",
            "api_key": "none",
            "max_retries": 0,
            "timeout": 20,
            "max_tokens": 4_000,
        }
        return ChatAnthropic(base_url=self.url.removesuffix("/v1"), **{**given, **more})

    def gemini_model(self, **more: Any) -> ChatGoogleGenerativeAI:
        """A model of Google's whose requests come here, once each."""
        given = {"model": "gemini-wire", "api_key": "none", "max_retries": 1, "timeout": 20}
        return ChatGoogleGenerativeAI(base_url=self.url.removesuffix("/v1"), **{**given, **more})

    def reply(self, request: dict[str, Any]) -> Reply | Fault:
        """The script's reply to a request."""
        is_gemini = "contents" in request
        asked = gemini_wire.asked(request) if is_gemini else str(request["messages"][-1]["content"])
        opened = open_envelope(asked)
        assert opened is not None
        with self._lock:
            view = {**json.loads(opened.body), "asked": len(self.requests), "request": request}
            self.requests.append(request)
        answer = self.script(view)
        return over_the_wire(answer) if isinstance(answer, AIMessage) else answer

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def over_the_wire(message: AIMessage) -> Reply:
    """What a provider sends for a message."""
    calls = (Call(id=c["id"], name=c["name"], arguments=json.dumps(c["args"])) for c in message.tool_calls)
    return Reply(content=str(message.content), calls=tuple(calls))


def _handler(server: ChatServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            reply = server.reply(request)
            if isinstance(reply, Fault):
                self._fail(reply, request)
            else:
                self._send(200, *self._answer(reply, request))

        def _answer(self, reply: Reply, request: dict[str, Any]) -> tuple[str, str]:
            """Media type and body."""
            if self.path.endswith(":generateContent"):
                return "application/json", json.dumps(gemini_wire.answered(reply))
            if ":streamGenerateContent" in self.path:
                return "text/event-stream", f"data: {json.dumps(gemini_wire.answered(reply))}\n\n"
            if self.path.endswith("/messages"):
                return "application/json", json.dumps(message(reply))
            if request.get("stream"):
                usage = bool(request.get("stream_options", {}).get("include_usage"))
                return "text/event-stream", "".join(
                    f"data: {event}\n\n" for event in streamed(reply, usage=usage)
                )
            return "application/json", json.dumps(whole(reply))

        def _fail(self, fault: Fault, request: dict[str, Any]) -> None:
            if fault.status:
                self._send(fault.status, "application/json", fault.body, fault.headers)
                return
            self.close_connection = True
            if fault.half:
                kind, text = self._answer(fault.half, request)
                self._send(200, kind, text[: len(text) // 2], {"content-length": str(len(text))})
            self.connection.close()

        def _send(self, status: int, kind: str, text: str, headers: dict[str, str] | None = None) -> None:
            body = text.encode()
            self.send_response(status)
            for name, value in {
                "content-type": kind,
                "content-length": str(len(body)),
                **(headers or {}),
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler


def whole(reply: Reply) -> dict[str, Any]:
    """The answer in one document."""
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in reply.calls
    ]
    message = {"role": "assistant", "content": reply.content, **({"tool_calls": calls} if calls else {})}
    choice = {"index": 0, "message": message, "finish_reason": _finish(reply), "logprobs": None}
    return {**_envelope("chat.completion"), "choices": [choice], "usage": _usage(reply)}


def message(reply: Reply) -> dict[str, Any]:
    """The answer as Anthropic's Messages give it; its input counts without what was cached."""
    text = [{"type": "text", "text": reply.content}] if reply.content else []
    calls = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments)}
        for call in reply.calls
    ]
    usage = {
        "input_tokens": reply.read - reply.cached - reply.stored,
        "cache_read_input_tokens": reply.cached,
        "cache_creation_input_tokens": reply.stored,
        "cache_creation": {"ephemeral_5m_input_tokens": reply.stored, "ephemeral_1h_input_tokens": 0},
        "output_tokens": reply.written,
    }
    stop = {"length": "max_tokens", "stop": "end_turn", "tool_calls": "tool_use"}[_finish(reply)]
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-wire"}
    return {**head, "content": text + calls, "stop_reason": stop, "stop_sequence": None, "usage": usage}


def streamed(reply: Reply, *, usage: bool) -> Iterator[str]:
    """The answer in pieces: text in words, each call's arguments in two halves."""
    yield _chunk({"role": "assistant", "content": ""})
    for word in reply.content.split(" ") if reply.content else ():
        yield _chunk({"content": f"{word} "})
    for index, call in enumerate(reply.calls):
        half = len(call.arguments) // 2
        head = {"name": call.name, "arguments": call.arguments[:half]}
        yield _chunk({"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": head}]})
        rest = {"arguments": call.arguments[half:]}
        yield _chunk({"tool_calls": [{"index": index, "function": rest}]})
    yield _chunk({}, finish=_finish(reply))
    if usage:
        last = {**_envelope("chat.completion.chunk"), "choices": [], "usage": _usage(reply)}
        yield json.dumps(last)
    yield "[DONE]"


def _chunk(delta: dict[str, Any], *, finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return json.dumps({**_envelope("chat.completion.chunk"), "choices": [choice]})


def _envelope(kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-1", "object": kind, "created": 1_700_000_000, "model": "gpt-wire"}


def _finish(reply: Reply) -> str:
    return reply.finish or ("tool_calls" if reply.calls else "stop")


def _usage(reply: Reply) -> dict[str, Any]:
    return {
        "prompt_tokens": reply.read,
        "completion_tokens": reply.written,
        "total_tokens": reply.read + reply.written,
        "prompt_tokens_details": {"cached_tokens": reply.cached},
        "completion_tokens_details": {"reasoning_tokens": reply.reasoning},
    }

"""Google's ``generateContent`` as it goes over the wire: what a request asks, and an answer in its form."""

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .chat_server import Reply

_FINISH = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}


def asked(request: dict[str, Any]) -> str:
    """The text of a request's last message."""
    return str(request["contents"][-1]["parts"][-1]["text"])


def answered(reply: "Reply") -> dict[str, Any]:
    """The answer in one document; its calls have no ids, and thinking is counted beside the answer."""
    text = [{"text": reply.content}] if reply.content else []
    calls = [{"functionCall": {"name": c.name, "args": json.loads(c.arguments)}} for c in reply.calls]
    candidate = {
        "content": {"role": "model", "parts": text + calls},
        "finishReason": _FINISH[reply.finish or "stop"],
        "index": 0,
    }
    usage = {
        "promptTokenCount": reply.read,
        "cachedContentTokenCount": reply.cached,
        "candidatesTokenCount": reply.written - reply.reasoning,
        "thoughtsTokenCount": reply.reasoning,
        "totalTokenCount": reply.read + reply.written,
    }
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": "gemini-wire",
        "responseId": "answer-1",
    }

"""From what a user names to a chat model: the embedded one, a LangChain model, or an `init_chat_model` string."""

import logging
from typing import Any

from langchain_core.language_models import BaseChatModel

from researchdesk.state.errors import Unavailable, UsageError
from researchdesk.tools.spec import ToolSpec

OFFLINE = "offline"
_HOW = (
    "There are: offline (rules, no key, no network) and provider:model, such as openai:gpt-5 or "
    "anthropic:claude-sonnet-4-5"
)
_GEMINI = "chat-google-generative-ai"
_NO_RETRIES = {
    "openai-chat": 0,
    "azure-openai-chat": 0,
    "anthropic-chat": 0,
    "groq-chat": 0,
    _GEMINI: 1,  # it counts the first try
}


def resolve_model(model: str | BaseChatModel) -> BaseChatModel:
    """The chat model that ``model`` names.

    Args:
        model: ``offline``, a string such as ``openai:gpt-5`` for `init_chat_model`, or a model.

    Raises:
        UsageError: the string names no model, or the model cannot call tools.
        Unavailable: what the model needs is not installed or not configured.
    """
    if isinstance(model, BaseChatModel):
        return _calling_tools(model)
    if not model or model == OFFLINE:
        from researchdesk.graph.offline.model import OfflineChatModel

        return OfflineChatModel()
    return _from_string(model)


def _calling_tools(model: BaseChatModel) -> BaseChatModel:
    if type(model).bind_tools is BaseChatModel.bind_tools:
        raise UsageError(
            f"this model cannot call tools (no bind_tools): {type(model).__name__}. A run works by tool calls alone; "
            "give a chat model that can, or the name offline"
        )
    if model._llm_type == _GEMINI:
        logging.getLogger("langchain_google_genai._function_utils").addFilter(_is_news)
    return model


def _is_news(record: logging.LogRecord) -> bool:
    """Whether a record of Google's client is not the one of a key in every tool's schema that Gemini does without."""
    return "'additionalProperties' is not supported in schema" not in record.getMessage()


def _from_string(name: str) -> BaseChatModel:
    try:
        from langchain.chat_models import init_chat_model
    except ImportError:
        raise Unavailable(
            f"model '{name}' needs LangChain: pip install 'researchdesk[models]' and the provider's package. {_HOW}"
        ) from None
    try:
        model: BaseChatModel = init_chat_model(name)
    except ImportError as problem:
        raise Unavailable(f"model '{name}': {problem}") from None
    except ValueError as problem:
        raise UsageError(f"no model '{name}': {str(problem).splitlines()[0].rstrip('.')}. {_HOW}") from None
    except Exception as problem:  # the provider's own class refuses its settings, a missing key most often
        raise Unavailable(f"model '{name}' cannot be set up: {str(problem).splitlines()[0]}") from None
    return _calling_tools(_trying_once(name, model))


def _trying_once(name: str, model: BaseChatModel) -> BaseChatModel:
    """The model without tries of its own: this program tries again itself, counts each request and says so."""
    from langchain.chat_models import init_chat_model

    retries = _NO_RETRIES.get(model._llm_type)
    again: BaseChatModel = model if retries is None else init_chat_model(name, max_retries=retries)
    return again


def max_output_of(model: BaseChatModel) -> int:
    """Tokens to which a model's own setting limits an answer; 0 where it has none."""
    for field in ("max_tokens", "max_completion_tokens", "max_output_tokens"):
        limit = getattr(model, field, None)
        if isinstance(limit, int) and limit > 0:
            return limit
    return 0


def model_name(model: str | BaseChatModel) -> str:
    """The name under which a model is recorded."""
    if isinstance(model, str):
        return model or OFFLINE
    if model._llm_type == "researchdesk-offline":
        return OFFLINE
    for field in ("model_name", "model", "model_id"):
        name = getattr(model, field, None)
        if isinstance(name, str) and name:
            return f"{model._llm_type}:{name}"
    return str(model._llm_type)


def tool_schema(spec: ToolSpec) -> dict[str, Any]:
    """The tool in the form that every provider's `bind_tools` takes."""
    return {
        "type": "function",
        "function": {"name": spec.name, "description": spec.description, "parameters": spec.schema()},
    }

"""A tool call as it is read: cleaned, redacted, and checked against the tool's schema."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from researchdesk.state.cleaning import CleanedArguments, clean_arguments, clean_text
from researchdesk.state.errors import Refusal
from researchdesk.state.ids import CallId
from researchdesk.state.redaction import is_plain, redact
from researchdesk.tools.spec import ToolSpec
from researchdesk.tools.validation import checked, filled, input_digest

TOOL_NAME_CHARS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that was cleaned and checked, as far as that went; ``spec`` is None where there is no such tool."""

    id: CallId
    name: str
    digest: str
    arguments: Mapping[str, Any]
    redactions: int
    spec: ToolSpec | None = None
    parsed: Any = None
    refusal: Refusal | None = None


def read_call(
    identity: CallId, name: str, arguments: Mapping[str, Any], specs: Mapping[str, ToolSpec]
) -> Call:
    """Clean and redact the arguments, then check them against the tool's schema; never raises."""
    name = clean_tool_name(name)
    spec = specs.get(name)
    try:
        cleaned = clean_arguments(dict(arguments))
    except Refusal as unreadable:
        digest = input_digest(name, {"unreadable": unreadable.text})
        return Call(id=identity, name=name, digest=digest, arguments={}, redactions=0, refusal=unreadable)
    plain, redactions = redacted_arguments(cleaned)
    parsed: Any = None
    refusal: Refusal | None = None
    if spec is not None:
        plain = filled(spec, plain)
        try:
            parsed = checked(spec, plain)
        except Refusal as problem:
            refusal = problem
    return Call(
        id=identity,
        name=name,
        digest=input_digest(name, plain),
        arguments=plain,
        redactions=redactions,
        spec=spec,
        parsed=parsed,
        refusal=refusal,
    )


def clean_tool_name(name: str) -> str:
    """The name of a tool as it may be recorded, whatever a model made of it."""
    return redact(clean_text(name).text).text[:TOOL_NAME_CHARS]


def redacted_arguments(cleaned: CleanedArguments) -> tuple[dict[str, Any], int]:
    """The arguments without secrets, and how many were taken out."""
    arguments: dict[str, Any] = cleaned.value
    if is_plain(cleaned.text):
        return arguments, 0
    count = 0

    def clean(value: Any) -> Any:
        nonlocal count
        if isinstance(value, str):
            redacted = redact(value)
            count += redacted.count
            return redacted.text
        if isinstance(value, list):
            return [clean(item) for item in value]
        if isinstance(value, dict):
            return {clean(key): clean(item) for key, item in value.items()}
        return value

    return {clean(key): clean(value) for key, value in arguments.items()}, count

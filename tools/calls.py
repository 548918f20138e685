"""A tool call as it is read: cleaned and redacted, then checked against the tool's schema where it is new."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from researchdesk.state.cleaning import CleanedArguments, clean_arguments, clean_text
from researchdesk.state.copying import changed
from researchdesk.state.errors import Refusal
from researchdesk.state.ids import CallId
from researchdesk.state.redaction import is_plain, redact
from researchdesk.tools.spec import ToolSpec
from researchdesk.tools.validation import checked, filled, input_digest

TOOL_NAME_CHARS = 64
_RAW = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that was cleaned, and checked as far as that went; ``spec`` is None where there is no such tool."""

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
    """The call with its arguments cleaned and redacted, which is all that a look-up needs; never raises."""
    spec = specs.get(name)
    if spec is None:
        name = clean_tool_name(name)
        spec = specs.get(name)
    try:
        cleaned = clean_arguments(dict(arguments))
    except Refusal as unreadable:
        digest = input_digest(name, {"unreadable": unreadable.text})
        return Call(id=identity, name=name, digest=digest, arguments={}, redactions=0, refusal=unreadable)
    plain, redactions = redacted_arguments(cleaned)
    if spec is not None:
        plain = filled(spec, plain)
    digest = input_digest(name, plain)
    return Call(id=identity, name=name, digest=digest, arguments=plain, redactions=redactions, spec=spec)


def raw_digest(name: str, arguments: Mapping[str, Any]) -> str:
    """A hash of a call as it came, equal for two of the same JSON; empty where it is none."""
    try:
        return hashlib.sha256(orjson.dumps([name, arguments], option=_RAW)).hexdigest()
    except TypeError:
        return ""


def checked_call(call: Call) -> Call:
    """The call with its arguments checked against the tool's schema: ``parsed``, or a ``refusal``; never raises."""
    if call.spec is None or call.refusal is not None:
        return call
    try:
        return changed(call, parsed=checked(call.spec, call.arguments))
    except Refusal as problem:
        return changed(call, refusal=problem)


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

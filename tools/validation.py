"""Checking a call's arguments: zero values filled in, one precise message per field."""

import functools
import hashlib
from collections.abc import Mapping
from typing import Any

import orjson
from pydantic import ValidationError

from researchdesk.state.errors import Refusal
from researchdesk.tools.spec import Arguments, ToolSpec

ZERO = {"string": "", "integer": 0, "boolean": False, "array": [], "object": {}}
SHOWN_PROBLEMS = 8


def input_digest(name: str, arguments: Mapping[str, Any]) -> str:
    """The hash that two calls share when they ask the same of the same tool."""
    canonical = orjson.dumps({"arguments": arguments, "tool": name}, option=orjson.OPT_SORT_KEYS)
    return hashlib.sha256(canonical).hexdigest()


def filled(spec: ToolSpec, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments with "", 0, false or [] for each property that is missing."""
    return {**_zeros(spec.arguments), **arguments}


@functools.cache
def _zeros(arguments: type[Arguments]) -> Mapping[str, Any]:
    properties = arguments.model_json_schema().get("properties", {})
    # A property whose schema stands elsewhere ("$ref") is an object; closed vocabularies are written in place.
    return {name: ZERO[node.get("type", "object")] for name, node in properties.items()}


def checked(spec: ToolSpec, arguments: Mapping[str, Any]) -> Arguments:
    """The arguments as the tool's own class.

    Raises:
        Refusal: ``invalid_arguments`` with a line for each field that is wrong.
    """
    try:
        return spec.arguments.model_validate_json(orjson.dumps(arguments), strict=True)
    except ValidationError as problem:
        lines = [_line(error) for error in problem.errors(include_url=False)[:SHOWN_PROBLEMS]]
        raise Refusal("invalid_arguments", "\n".join(lines)) from None


def _line(error: Any) -> str:
    field = ".".join(str(part) for part in error["loc"]) or "arguments"
    match error["type"]:
        case "extra_forbidden":
            return f"{field}: there is no such argument."
        case "value_error":
            return f"{field}: {error['ctx']['error']}."
        case _:
            shown = repr(error["input"])
            given = shown if len(shown) <= 60 else f"{shown[:57]}…"
            return f"{field}: {error['msg']}, given {given}."

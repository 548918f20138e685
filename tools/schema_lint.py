"""A lint over tool schemas: what OpenAI (strict), Anthropic and Gemini all take."""

from collections.abc import Iterator
from typing import Any

FORBIDDEN = frozenset(
    {
        "$ref",
        "$defs",
        "oneOf",
        "anyOf",
        "allOf",
        "not",
        "const",
        "default",
        "pattern",
        "format",
        "prefixItems",
    }
    | {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength"}
    | {"minItems", "maxItems", "uniqueItems", "patternProperties", "propertyNames", "minProperties"}
)
TYPES = frozenset({"string", "integer", "boolean", "array", "object"})


def lint_schema(schema: dict[str, Any]) -> list[str]:
    """What is wrong with a tool's argument schema, each with its path; empty when all three providers take it."""
    return list(_problems(schema, "$"))


def _problems(node: dict[str, Any], path: str) -> Iterator[str]:
    for key in sorted(FORBIDDEN & node.keys()):
        yield f"{path}: '{key}' is not taken by all providers"
    kind = node.get("type")
    if kind not in TYPES:
        yield f"{path}: type {kind!r} is not one of {', '.join(sorted(TYPES))}"
    if "enum" in node and (len(node["enum"]) < 2 or not all(node["enum"])):
        yield f"{path}: an enum needs two or more values, none of them empty"
    if kind == "array":
        yield from _problems(node.get("items") or {}, f"{path}[]")
    if kind == "object":
        yield from _object_problems(node, path)


def _object_problems(node: dict[str, Any], path: str) -> Iterator[str]:
    properties = node.get("properties", {})
    if node.get("additionalProperties") is not False:
        yield f"{path}: additionalProperties has to be false"
    optional = sorted(properties.keys() - set(node.get("required", ())))
    if optional:
        yield f"{path}: optional properties {', '.join(optional)}; all have to be required"
    for name, child in properties.items():
        if path == "$" and not child.get("description") and child.get("type") != "object":
            yield f"{path}.{name}: a description is missing"
        yield from _problems(child, f"{path}.{name}")

"""The schemas of all tools: plain enough for OpenAI strict, Anthropic and Gemini."""

from typing import Any

import pytest

from researchdesk.tools.registry import REGISTRY
from researchdesk.tools.schema_lint import lint_schema
from researchdesk.tools.spec import ToolSpec

SPECS = REGISTRY.every_tool
EVERY_TOOL = pytest.mark.parametrize("spec", list(SPECS.values()), ids=list(SPECS))


def bound(spec: ToolSpec) -> dict[str, Any]:
    """The tool as it is bound to a model."""
    function = {"name": spec.name, "description": spec.description, "parameters": spec.schema()}
    return {"type": "function", "function": function}


@EVERY_TOOL
def test_every_provider_takes_the_schema(spec: ToolSpec) -> None:
    assert lint_schema(spec.schema()) == []


@EVERY_TOOL
def test_every_tool_says_what_it_does_and_takes_only_its_own_arguments(spec: ToolSpec) -> None:
    assert 20 < len(spec.description) < 1_024
    schema = spec.schema()
    assert schema["additionalProperties"] is False
    assert (
        set(schema.get("required", ())) == schema["properties"].keys() == spec.arguments.model_fields.keys()
    )


@EVERY_TOOL
def test_openai_takes_the_tool_in_strict_mode(spec: ToolSpec) -> None:
    from langchain_core.utils.function_calling import convert_to_openai_tool

    function: dict[str, Any] = convert_to_openai_tool(bound(spec)["function"], strict=True)["function"]
    assert (function["name"], function["strict"]) == (spec.name, True)
    assert lint_schema(function["parameters"]) == []
    assert function["parameters"]["properties"].keys() == spec.arguments.model_fields.keys()


@EVERY_TOOL
def test_anthropic_takes_the_tool(spec: ToolSpec) -> None:
    anthropic = pytest.importorskip("langchain_anthropic.chat_models")
    tool = anthropic.convert_to_anthropic_tool(bound(spec))
    assert (tool["name"], tool["description"]) == (spec.name, spec.description)
    assert tool["input_schema"]["properties"].keys() == spec.arguments.model_fields.keys()


@EVERY_TOOL
def test_gemini_takes_the_tool_and_loses_nothing_of_it(spec: ToolSpec) -> None:
    gemini = pytest.importorskip("langchain_google_genai._function_utils")
    (tool,) = gemini.convert_to_genai_function_declarations([bound(spec)])
    (declaration,) = tool.function_declarations
    assert declaration.name == spec.name
    parameters = declaration.parameters
    names = set(parameters.properties or {}) if parameters else set()
    assert names == spec.arguments.model_fields.keys()
    assert set((parameters.required or ()) if parameters else ()) == names


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "object", "properties": {}, "additionalProperties": True}, "additionalProperties"),
        (
            {"type": "object", "additionalProperties": False, "properties": {"a": {"type": "string"}}},
            "optional",
        ),
        (
            {
                "type": "object",
                "additionalProperties": False,
                "required": [],
                "properties": {"cells": {"type": "array", "items": {"type": "string"}, "description": "d"}},
            },
            "optional properties cells",
        ),
        ({"anyOf": []}, "anyOf"),
        ({"type": "number"}, "number"),
        ({"type": "string", "enum": ["one"]}, "enum"),
        ({"type": "string", "enum": ["", "b"]}, "enum"),
        ({"type": "array", "items": {"type": "string", "maxLength": 3}}, r"maxLength"),
    ],
)
def test_the_lint_names_what_a_provider_would_refuse(schema: dict[str, Any], problem: str) -> None:
    assert problem in "\n".join(lint_schema(schema))

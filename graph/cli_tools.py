"""The command that lists what a model may call: `tools`."""

from typing import Annotated, Any, Literal

import typer

from researchdesk.graph.console import result, result_json


def tools(
    form: Annotated[
        Literal["text", "json", "openai"],
        typer.Option(
            "--format", help="text, json (name, description, parameters), or openai (function tools)."
        ),
    ] = "text",
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """List the tools with their arguments."""
    from researchdesk.tools.workspace import SPECS

    functions = [
        {"name": spec.name, "description": spec.description, "parameters": spec.schema()}
        for spec in SPECS.values()
    ]
    if form == "openai":
        result_json([{"type": "function", "function": function} for function in functions])
    elif form == "json" or json:
        result_json(functions)
    else:
        result("\n\n".join(_text(function) for function in functions))


def _text(function: dict[str, Any]) -> str:
    lines = [function["name"], f"  {function['description']}"]
    for name, schema in function["parameters"].get("properties", {}).items():
        lines.append(f"  - {name}: {schema.get('description', '')}".rstrip(": "))
    return "\n".join(lines)

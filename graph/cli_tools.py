"""The command that lists what a model may call: `tools`."""

from typing import Annotated, Any, Literal

import typer

from researchdesk.graph.console import result, result_json


def tools(
    form: Annotated[
        Literal["text", "json", "openai"],
        typer.Option(
            "--format", help="text, json (family, name, description, parameters), or openai (function tools)."
        ),
    ] = "text",
    json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """List the tools with their arguments: of the sources, of a research run, of its investigation, of the desk."""
    from researchdesk.tools.registry import REGISTRY

    listed = [
        (family, {"name": spec.name, "description": spec.description, "parameters": spec.schema()})
        for family, specs in REGISTRY.families().items()
        for spec in specs
    ]
    if form == "openai":
        result_json([{"type": "function", "function": function} for _, function in listed])
    elif form == "json" or json:
        result_json([{"family": family, **function} for family, function in listed])
    else:
        result("\n\n".join(_text(family, function) for family, function in listed))


def _text(family: str, function: dict[str, Any]) -> str:
    lines = [f"{function['name']} ({family})", f"  {function['description']}"]
    for name, schema in function["parameters"].get("properties", {}).items():
        lines.append(f"  - {name}: {schema.get('description', '')}".rstrip(": "))
    return "\n".join(lines)

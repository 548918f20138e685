"""Who may use which tool: the session's profile, its label and whether it is a root session."""

from collections.abc import Iterable

from researchdesk.state.errors import Refusal
from researchdesk.state.vocabulary import INVESTIGATION_LABEL, PROFILES
from researchdesk.state.workspace import Workspace
from researchdesk.tools.spec import ToolSpec


def permitted(specs: Iterable[ToolSpec], workspace: Workspace) -> list[ToolSpec]:
    """The tools that this session may use, in their order."""
    return [spec for spec in specs if forbidden(spec, workspace) is None]


def alike(name: str, specs: Iterable[ToolSpec]) -> list[str]:
    """The names of the tools that whoever asked for ``name`` may have meant: those of the desk, or all others."""
    permitted_names = {spec.name: spec.on_desk for spec in specs if not spec.is_alias}
    of_desk = name.startswith("desk_")
    return [known for known, on_desk in permitted_names.items() if on_desk == of_desk] or list(
        permitted_names
    )


def forbidden(spec: ToolSpec, workspace: Workspace) -> Refusal | None:
    """Why this session may not use the tool, or None when it may."""
    session = workspace.session
    assert session is not None
    if spec.capability not in PROFILES[session.profile]:
        return Refusal(
            "not_permitted",
            f"{spec.name} needs the right to {spec.capability}, which profile "
            f"'{session.profile}' does not give.",
        )
    if spec.root_only and (session.parent or not _is_labelled(spec, workspace)):
        return Refusal("not_permitted", f"{spec.name} belongs to a root session with the label {spec.label}.")
    return None


def _is_labelled(spec: ToolSpec, workspace: Workspace) -> bool:
    assert workspace.session is not None
    begun = spec.label == INVESTIGATION_LABEL and workspace.investigation is not None
    return begun or spec.label in workspace.session.labels

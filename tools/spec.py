"""What a tool is: its name, arguments and rights, and two pure functions that decide what it does.

`needs` says what must be gathered before the decision can be made, `decide` turns that into events and a
result. Neither touches the world; both may raise `Refusal`.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict

from researchdesk.state import events as ev
from researchdesk.state.desk.desk_state import DeskState
from researchdesk.state.desk.effects import DeskEffect, Making
from researchdesk.state.desk.events import DeskEvent
from researchdesk.state.desk.hits import DeskHit
from researchdesk.state.desk.panels import PANEL_TYPES, PanelType
from researchdesk.state.desk.policies import NO_POLICIES, Policies
from researchdesk.state.ids import CallId
from researchdesk.state.vocabulary import RESEARCH_LABEL, ActionClass, CallStatus, Capability
from researchdesk.state.workspace import Workspace


class Arguments(BaseModel):
    """Base of all argument schemas: every property is required for a model, none may be added."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bodies:
    """The whole texts of these artifacts are needed, each checked against its hash."""

    artifact_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """A search has to run."""

    query: str
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch:
    """A document has to be read from the world."""

    locator: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskRead:
    """The desk as it stands."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskSearch:
    """The desk's files have to be searched."""

    query: str
    folder: str
    limit: int


Need = Bodies | Search | Fetch | DeskRead | DeskSearch
NOTHING = Bodies()


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A fetched document as the decision sees it: the text is in the blob store under ``content_hash``."""

    receipt: ev.Receipt
    canonical: str
    domain: str
    origin: str
    origin_reason: str
    content_hash: str
    chars: int
    head: str
    """The text's first characters."""
    signature: str = ""
    """Of the whole text, by `state.independence.signature`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskView:
    """The desk as a decision sees it; its events will follow this very state, or the decision is made again."""

    state: DeskState
    read: Callable[[str], str]
    """The text of a body, by its hash."""
    now: str
    policies: Policies = NO_POLICIES
    hits: tuple[DeskHit, ...] = ()
    panel_types: tuple[PanelType, ...] = PANEL_TYPES


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """What was gathered for one call; only the part that was needed is filled."""

    boundary: str
    """A random word for the envelopes of this call's result."""
    token: str = ""
    """32 random hex digits, for what has to be named by chance."""
    texts: Mapping[str, str] = field(default_factory=dict)
    redactions: int = 0
    """Secrets that were taken out of the call's arguments."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """Artifacts whose body cannot be trusted, with the reason."""
    search: ev.SearchRecorded | None = None
    page: Page | None = None
    failure: tuple[str, str] | None = None
    """Code and text of a failed search or fetch."""
    desk: DeskView | None = None
    broken_way: bool = False
    """Whether a failed fetch says nothing about the document, as its server or its reader broke."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What a call leads to: events, the text for the model, data for programs, bodies to keep."""

    text: str
    events: tuple[ev.Event, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    bodies: Mapping[str, bytes] = field(default_factory=dict)
    adopts: tuple[str, ...] = ()
    """Staged bodies to keep."""
    entity_type: str = ""
    entity_id: str = ""
    status: CallStatus = "success"
    desk_events: tuple[DeskEvent, ...] = ()
    """What happens to the desk; written together with the session's events or not at all."""
    code: str = ""
    """Why a call failed that leaves events all the same; one that leaves none raises `Refusal` instead."""


def no_subject(arguments: Any) -> tuple[str, str]:
    """The `subject` of a tool whose refusals concern nothing in particular."""
    return "", ""


def needs_nothing(workspace: Workspace, arguments: Any, call: CallId) -> Need:
    """The `needs` of a tool that decides from the workspace alone."""
    return NOTHING


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """One tool.

    ``arguments`` is an `Arguments` class; ``needs`` and ``decide`` get an instance of it.
    """

    name: str
    description: str
    arguments: type[Arguments]
    capability: Capability
    decide: Callable[[Workspace, Any, Gathered, CallId], Decision]
    needs: Callable[[Workspace, Any, CallId], Need] = needs_nothing
    subject: Callable[[Any], tuple[str, str]] = no_subject
    """Type and id of what a call is about; it stands in the record of a refused call."""
    action_class: ActionClass = "additive"
    on_desk: bool = False
    """Whether it works on the desk's files and panels."""
    effects: Callable[[Making], Iterable[DeskEffect]] | None = None
    """What a call of a tool that is none of ours makes visible; ours are told by `state.desk.effects`."""
    is_alias: bool = False
    """The work of another tool under a narrower name; it is offered only where it is asked for."""
    root_only: bool = True
    """Only a root session with the tool's label may use it."""
    label: str = RESEARCH_LABEL
    stows: tuple[str, ...] = ()
    """Arguments that always rest in the blob store, so that a purge can remove them."""
    stows_result: bool = False
    """The result holds archived text and rests in the blob store for the same reason."""

    proves: bool = False
    """The whole stream is read and checked again first, so that a change on disk since is found."""

    @property
    def gated(self) -> bool:
        """Whether a person decides before it runs."""
        return self.action_class == "destructive" or (
            self.capability == "write" and self.action_class != "navigational"
        )

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments, without titles; every property is required."""
        return _without_titles(self.arguments.model_json_schema())


def _without_titles(schema: dict[str, Any]) -> dict[str, Any]:
    definitions = schema.pop("$defs", {})
    return _inlined(schema, definitions)  # type: ignore[no-any-return]


def _inlined(node: Any, definitions: dict[str, Any]) -> Any:
    """The schema without ``title`` and ``$ref``, which some providers do not take."""
    if isinstance(node, list):
        return [_inlined(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        target = definitions[str(node["$ref"]).rsplit("/", 1)[-1]]
        extra = {key: value for key, value in node.items() if key != "$ref"}
        return _inlined({**target, **extra}, definitions)
    # A property may be called "title": only a text under that key is the annotation.
    return {
        key: _inlined(value, definitions)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
    }

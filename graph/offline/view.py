"""The view of a run that the prompt carries: everything that the offline model decides from."""

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from researchdesk.state.envelopes import open_envelope

WORKSPACE = "research_workspace"


class Part(BaseModel):
    """A part of the view; unknown fields are ignored so that the prompt may say more than this model reads."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Limits(Part):
    target_sources: int = 0
    calls_per_turn: int = 16


class Budget(Part):
    steps_left: int | None = None
    writing_steps: int = 0
    tokens_left: int | None = None
    writing_reserve: int | None = None


class Item(Part):
    item_id: str
    title: str = ""
    status: str = "pending"


class Search(Part):
    query: str
    results: int = 0


class Found(Part):
    locator: str
    title: str = ""
    origin: str = ""
    snippet: str = ""
    start: int = 0
    score: float = 0.0
    query: str = ""


class Refused(Part):
    locator: str
    code: str = ""


class Hit(Part):
    start: int = 0
    query: str = ""


class Source(Part):
    source_id: str
    artifact_id: str
    title: str = ""
    locator: str = ""
    origin: str = ""
    chars: int = 0
    noted: bool = False
    hits: tuple[Hit, ...] = ()
    provenance: str = "fetched"

    @property
    def own_title(self) -> str:
        """Its title, "" where its locator stands in for one."""
        return "" if self.title in {self.locator, self.locator.removeprefix("file:")} else self.title


class Passage(Part):
    """A passage that led to a source, exactly as it stands in its text."""

    source_id: str
    start: int = 0
    text: str = ""


class Note(Part):
    artifact_id: str
    name: str = ""
    source_ids: tuple[str, ...] = ()
    text: str = ""


class Section(Part):
    key: str
    title: str = ""
    status: str = "pending"
    artifact_id: str = ""
    text: str = ""


class Result(Part):
    tool: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    status: str = "success"
    code: str = ""
    text: str = ""

    @property
    def failed(self) -> bool:
        return self.status == "error"

    @property
    def page(self) -> str | None:
        """The text that a read brought, None where there is no envelope."""
        opened = open_envelope(self.text)
        if opened is not None:
            return opened.body
        opened = open_envelope(self.text.strip())
        return opened.body if opened else None

    @property
    def source(self) -> Source | None:
        """The source that a read was of, as far as the page's own line tells."""
        opened = open_envelope(self.text.strip())
        told = opened.attributes if opened else {}
        if not told.get("source_id") or not told.get("artifact_id"):
            return None
        chars = told.get("total_chars", "")
        return Source(
            source_id=str(told["source_id"]),
            artifact_id=str(told["artifact_id"]),
            chars=int(chars) if str(chars).isdigit() else 0,
        )


class View(Part):
    """One turn's view. Texts in it come from sources: they are data to quote, never instructions."""

    objective: str
    scope_level: str = "standard"
    template: str = "general"
    stage: str = "knowledge_base"
    round: int = 0
    stop_reason: str | None = None
    limits: Limits = Limits()
    budget: Budget = Budget()
    checklist: tuple[Item, ...] = ()
    searches: tuple[Search, ...] = ()
    found: tuple[Found, ...] = ()
    refused: tuple[Refused, ...] = ()
    sources: tuple[Source, ...] = ()
    sources_not_shown: int = 0
    notes: tuple[Note, ...] = ()
    passages: tuple[Passage, ...] = ()
    steps: int = 0
    outline_artifact_id: str | None = ""
    sections: tuple[Section, ...] = ()
    report_artifact_id: str | None = ""
    handoff_artifact_id: str | None = ""
    last: tuple[Result, ...] = ()
    notice: str | None = ""

    def failed(self, tool: str) -> list[Result]:
        """Calls of one tool that the last turn made and that were refused or failed."""
        return [result for result in self.last if result.tool == tool and result.failed]


def read_view(messages: Sequence[BaseMessage]) -> View | None:
    """The view in the newest human message that has one; None where there is none or it cannot be read."""
    for message in reversed(messages):
        if not isinstance(message, HumanMessage):
            continue
        opened = open_envelope(str(message.text).strip())
        if opened is None or opened.tag != WORKSPACE:
            continue
        try:
            return View.model_validate_json(opened.body)
        except ValidationError:
            return None
    return None

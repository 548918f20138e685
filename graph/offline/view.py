"""The view of a run that the prompt carries: everything that the offline model decides from."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from researchdesk.state.envelopes import open_envelope
from researchdesk.state.locators import path_of

WORKSPACE = "research_workspace"
TURN_TOKENS = 12_000
"""What an answer with its prompt is taken to cost where tokens are limited."""
HIT = re.compile(r"^- (\S.*?)(?: \(archived as (s_\d+)\))? \| (.*) \| (.*)\n  (.*)$", re.MULTILINE)
"""A line of a search's result with its document, and the line with the passage under it."""


class Part(BaseModel):
    """A part of the view; unknown fields are ignored so that the prompt may say more than this model reads."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Limits(Part):
    target_sources: int = 0
    calls_per_turn: int = 16
    min_domains: int = 1
    max_attempts: int = 4
    max_questions: int = 40
    max_depth: int = 3


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
    readable: bool = True

    @property
    def own_title(self) -> str:
        """Its title, "" where its locator stands in for one."""
        return "" if self.title in {self.locator, path_of(self.locator)} else self.title


class Passage(Part):
    """A passage that led to a source, exactly as it stands in its text."""

    source_id: str
    start: int = 0
    text: str = ""


class Attempt(Part):
    """Something that was tried for the question in progress."""

    kind: str = "search"
    query: str = ""
    results: int | None = None
    cause: str = ""


class Working(Part):
    """The question in progress; the objective where no other is."""

    id: str = "q_001"
    text: str = ""
    depth: int = 0
    searches_left: int = 0
    attempts: tuple[Attempt, ...] = ()


class Asked(Part):
    """One question of the frontier; its answer is cut."""

    id: str
    parent_id: str = ""
    text: str = ""
    kind: str = "question"
    status: str = "pending"
    depth: int = 0
    depends_on: tuple[str, ...] = ()
    answer: str = ""
    claim_ids: tuple[str, ...] = ()

    @property
    def is_settled(self) -> bool:
        return self.status in {"resolved", "unresolvable", "pruned"}


class Link(Part):
    source_id: str
    stance: str = "supports"
    quote: str = ""
    start: int = 0


class Claim(Part):
    id: str
    text: str = ""
    kind: str = "quote"
    value: str = ""
    unit: str = ""
    status: str = "UNVERIFIED"
    question_id: str = ""
    scope: str = ""
    challenged: bool = False
    verifiable: bool = False
    lacks: str = ""
    links: tuple[Link, ...] = ()

    @property
    def supports(self) -> tuple[Link, ...]:
        """Its links to sources that say it, those with words of theirs alone."""
        return tuple(link for link in self.links if link.stance == "supports" and link.quote)


class Contradiction(Part):
    id: str
    claim_id: str = ""
    other_id: str = ""
    differs: str = ""
    status: str = "open"


class Datapoint(Part):
    id: str
    label: str = ""
    value: str = ""
    unit: str = ""
    about: str = ""


class Remark(Part):
    """An assumption or a gap of the notes."""

    id: str
    text: str = ""
    question_id: str = ""


class OpenChallenge(Part):
    id: str
    target_kind: str = "claim"
    target_id: str = ""
    query: str = ""
    search: str = "waiting"
    results: int = 0


class Coverage(Part):
    challenged: int = 0
    total: int = 0
    verified: int = 0


class Write(Part):
    """What a turn of the writing is for."""

    part: str = "outline"
    key: str = ""
    title: str = ""


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
        opened = open_envelope(self.text.strip())
        return opened.body if opened else None

    @property
    def offset(self) -> int:
        """Where in its source the text of a read begins."""
        told = self._attribute("offset_chars") or str(self.arguments.get("offset_chars", ""))
        return int(told) if told.isdigit() else 0

    @property
    def source(self) -> Source | None:
        """The source that a read was of, as far as the page's own line tells."""
        source_id, artifact_id = self._attribute("source_id"), self._attribute("artifact_id")
        if not source_id or not artifact_id:
            return None
        chars = self._attribute("total_chars")
        return Source(
            source_id=source_id, artifact_id=artifact_id, chars=int(chars) if chars.isdigit() else 0
        )

    def _attribute(self, name: str) -> str:
        opened = open_envelope(self.text.strip())
        return str(opened.attributes.get(name, "")) if opened else ""

    @property
    def passages(self) -> list["Told"]:
        """The passages that a search brought, as its text shows them."""
        return [Told(*found) for found in HIT.findall(self.text)]


@dataclass(frozen=True, slots=True)
class Told:
    """A passage in the text of a search's result; ``source_id`` is "" where its document is no source yet."""

    locator: str
    source_id: str
    title: str
    origin: str
    text: str


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
    passages: tuple[Passage, ...] = ()
    question: Working | None = None
    questions: tuple[Asked, ...] = ()
    claims: tuple[Claim, ...] = ()
    claims_not_shown: int = 0
    contradictions: tuple[Contradiction, ...] = ()
    datapoints: tuple[Datapoint, ...] = ()
    assumptions: tuple[Remark, ...] = ()
    gaps: tuple[Remark, ...] = ()
    challenges: tuple[OpenChallenge, ...] = ()
    challenge_next: tuple[str, ...] = ()
    coverage: Coverage = Coverage()
    unmet: tuple[str, ...] = ()
    must_note: bool = False
    write: Write = Write()
    outline_artifact_id: str | None = ""
    sections: tuple[Section, ...] = ()
    report_artifact_id: str | None = ""
    handoff_artifact_id: str | None = ""
    last: tuple[Result, ...] = ()
    notice: str | None = ""

    def failed(self, tool: str) -> list[Result]:
        """Calls of one tool that the last turn made and that were refused or failed."""
        return [result for result in self.last if result.tool == tool and result.failed]

    @property
    def working(self) -> Working:
        """The question in progress."""
        return self.question or Working(text=self.objective)

    @property
    def standing(self) -> tuple[Claim, ...]:
        """The claims that have not fallen."""
        return tuple(claim for claim in self.claims if claim.status in {"UNVERIFIED", "VERIFIED"})


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

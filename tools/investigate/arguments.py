"""The argument schemas of the investigative tools; "", [] and 0 mean that a property is not used."""

from typing import Annotated, Any, Literal, get_origin

from pydantic import AfterValidator, Field, model_validator

from researchdesk.state.limits import LIST_ITEMS, NOTE_CHARS, QUESTION_CHARS, QUOTE_CHARS, SCRATCH_CHARS
from researchdesk.state.questions import DEFAULT_PRIORITY, TOP_PRIORITY
from researchdesk.state.vocabulary import NotesSection, Outcome, Stance, Strategy, TargetKind
from researchdesk.tools.fields import Id, Ids, Query, StepText, at_most, body_at_most, items_at_most
from researchdesk.tools.spec import Arguments

ENTRIES = 20
QuestionText = Annotated[str, AfterValidator(at_most(QUESTION_CHARS))]
NoteText = Annotated[str, AfterValidator(at_most(NOTE_CHARS))]
Quote = Annotated[str, AfterValidator(at_most(QUOTE_CHARS))]
Scratch = Annotated[str, AfterValidator(body_at_most(SCRATCH_CHARS))]
_PRIORITY = f"What is asked first, 1 to {TOP_PRIORITY}; 0 for {DEFAULT_PRIORITY}."


class Part(Arguments):
    """An object among the arguments; as in a whole call, a text or a list that is missing is an unused one."""

    @model_validator(mode="before")
    @classmethod
    def _whole(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        kinds = {name: get_origin(f.annotation) or f.annotation for name, f in cls.model_fields.items()}
        return {name: kind() for name, kind in kinds.items() if kind in (str, list)} | given


class FrontierNext(Arguments):
    atomic_reason: StepText = Field(
        description="Why the objective needs no questions under it; empty where it has some."
    )


class FrontierView(Arguments):
    pass


class AddQuestion(Arguments):
    parent_id: Id = Field(description="The question it belongs to (q_...); empty for the objective.")
    text: QuestionText = Field(description="The question, in one sentence that can be answered.")
    kind: Literal["question", "hypothesis"] = Field(
        description="A hypothesis needs a search that could confirm it and one that could refute it."
    )
    why: StepText = Field(description="What its answer is needed for.")
    priority: int = Field(description=_PRIORITY)
    depends_on: Ids = Field(description="Questions that have to be resolved first.")
    blocks_parent: bool = Field(description="Whether the parent waits until this one is resolved.")


class RetryQuestion(Arguments):
    question_id: Id = Field(description="The question in progress.")
    new_query: Query = Field(description="The query to search for next, not used for this question before.")
    why: StepText = Field(description="What the last search lacked.")
    assumption: StepText = Field(
        description="What to go on with when no further search is allowed, else empty."
    )


class ResolveQuestion(Arguments):
    question_id: Id = Field(description="The question in progress.")
    answer: NoteText = Field(description="What was found, in a few sentences.")
    claim_ids: Ids = Field(description="The claims that it stands on (c_...).")
    reason: StepText = Field(
        description="Why a search or a challenge that is due was not made; empty where none is missing."
    )


class ReopenQuestion(Arguments):
    question_id: Id = Field(description="A settled question.")
    why: StepText = Field(description="What is new.")
    priority: int = Field(description=_PRIORITY)


class SetPriority(Arguments):
    question_id: Id = Field(description="The question.")
    priority: int = Field(description=f"Its new priority, 0 to {TOP_PRIORITY}.")
    why: StepText = Field(description="Why it changes.")


class PruneBranch(Arguments):
    question_id: Id = Field(
        description="The question that is dropped with all under it that is not begun or settled."
    )
    reason: StepText = Field(description="Why.")


class NotesRead(Arguments):
    section: NoteText = Field(
        description="Verified, Unverified, Contradictions, Datapoints, Sources, Assumptions & gaps, Scratch, or the id "
        "of one record (c_001); empty for an overview."
    )


class Link(Part):
    source_id: Id = Field(description="The archived source (s_...).")
    stance: Stance = Field(description="What it does to the claim.")
    quote: Quote = Field(
        description="Its words, exactly as they stand in the archived text; only a mention may leave it empty."
    )
    quotes_other_source: NoteText = Field(
        description="What it only repeats: another source's id or name; empty where it speaks for itself."
    )


Links = Annotated[list[Link], AfterValidator(items_at_most(LIST_ITEMS))]


class Entry(Part):
    kind: Literal["claim", "datapoint", "contradiction", "assumption", "gap", "source"] = Field(
        description="What is noted; source is a note on an archived source."
    )
    text: NoteText = Field(
        description="The claim, the datapoint's label, what differs, the assumption, the gap, or the note."
    )
    claim_kind: str = Field(description="Of a claim: fact, figure, quote or inference; empty: fact.")
    value: NoteText = Field(description="Of a figure or a datapoint: the number, else empty.")
    unit: NoteText = Field(description="The number's unit, or empty.")
    as_of: NoteText = Field(description="Of a datapoint: the date that it holds for, or empty.")
    question_id: Id = Field(description="The question it belongs to, or empty.")
    about: Ids = Field(
        description="Of a datapoint: its claim or source. Of a contradiction: the claim, then the claim or source "
        "against it. Of a note on a source: the source. Else empty."
    )
    links: Links = Field(description="Of a claim: what the sources say, word for word. Else empty.")


class NotesAppend(Arguments):
    section: NotesSection = Field(
        description="Where the entries belong: Unverified, Contradictions, Datapoints, Sources or Assumptions & gaps."
    )
    entries: Annotated[list[Entry], AfterValidator(items_at_most(ENTRIES))] = Field(
        description=f"1 to {ENTRIES} entries; all are taken or none."
    )


class Change(Part):
    status: str = Field(
        description="Of a claim: VERIFIED, REFUTED, RETRACTED or UNVERIFIED. Of a contradiction: explained or open. "
        "Empty: as it is."
    )
    text: NoteText = Field(description="New wording; empty: as it is.")
    scope: NoteText = Field(description="Where a claim still holds; empty: as it is.")
    add_links: Links = Field(description="Further links of a claim.")
    reason: NoteText = Field(description="Why; required with REFUTED, RETRACTED and explained.")


class NotesUpdate(Arguments):
    id: Id = Field(description="The record: c_..., d_..., con_..., as_..., gap_... or s_....")
    change: Change = Field(description="What becomes of it; what is empty stays.")


class NotesScratch(Arguments):
    text: Scratch = Field(description=f"The whole scratch text, at most {SCRATCH_CHARS:,} characters.")


class OpenChallenge(Arguments):
    target_kind: TargetKind = Field(description="What is challenged.")
    target_id: Id = Field(description="The claim (c_...) or the question (q_...); empty with conclusion.")
    strategy: Strategy = Field(description="How; each once for a target.")
    negation: NoteText = Field(description="The opposite of the target, in words.")
    expected_if_false: NoteText = Field(description="What could be found if the target were false.")
    query: Query = Field(description="The search that could find it; make it with search_sources afterwards.")


class RecordChallengeResult(Arguments):
    challenge_id: Id = Field(description="The open challenge (ch_...).")
    outcome: Outcome = Field(
        description="survived needs a search that found something; weakened and refuted need sources and evidence."
    )
    evidence: NoteText = Field(description="What was found; with weakened: where the claim still holds.")
    source_ids: Ids = Field(description="The archived sources that weaken or refute the target.")
    result_claim_id: Id = Field(description="The claim that holds instead, or empty.")


class ChallengesView(Arguments):
    target_id: Id = Field(description="A claim, a question, or conclusion; empty for all that are open.")

"""What can happen to an investigation: its questions, claims, notes and challenges, each record whole."""

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from researchdesk.state.challenges import Challenge
from researchdesk.state.claims import Assumption, Claim, Contradiction, Datapoint, Gap, Link
from researchdesk.state.questions import Attempt, Question, Transition
from researchdesk.state.vocabulary import NotesReason

STRICT = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class QuestionRecorded:
    """A question came up or changed: as it is now, and the transition that led there; the first is the objective."""

    question: Question
    transition: Transition


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class DependencyRecorded:
    """A question that is there already has to wait for another one too."""

    question_id: str
    depends_on: str


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class AttemptRecorded:
    """Something was tried for a question, or an announced attempt ran."""

    attempt: Attempt


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ClaimRecorded:
    """A claim was noted or changed; its links have events of their own, so that here it has none."""

    claim: Claim


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ClaimSourceRecorded:
    """A claim got a further link to a source."""

    claim_id: str
    link: Link


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class DatapointRecorded:
    """A datapoint was noted or changed."""

    datapoint: Datapoint


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ContradictionRecorded:
    """A contradiction was noted or explained."""

    contradiction: Contradiction


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class AssumptionRecorded:
    """An assumption was noted or changed."""

    assumption: Assumption


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class GapRecorded:
    """A gap was noted or changed."""

    gap: Gap


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class SourceNoted:
    """A source got another note."""

    source_id: str
    note: str


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ScratchSet:
    """The scratch text was replaced."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class ChallengeRecorded:
    """A challenge was opened, searched or closed: as it is now."""

    challenge: Challenge


@dataclass(frozen=True, slots=True, kw_only=True, config=STRICT)
class NotesVersionRecorded:
    """The notes changed; their text at this point is rendered from the state, ``text_hash`` is its address."""

    reason: NotesReason
    text_hash: str


InvestigationEvent = (
    QuestionRecorded
    | DependencyRecorded
    | AttemptRecorded
    | ClaimRecorded
    | ClaimSourceRecorded
    | DatapointRecorded
    | ContradictionRecorded
    | AssumptionRecorded
    | GapRecorded
    | SourceNoted
    | ScratchSet
    | ChallengeRecorded
    | NotesVersionRecorded
)

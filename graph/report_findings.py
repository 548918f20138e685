"""What a report tells of its investigation: what was asked, claimed, contradicted and checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from researchdesk.state.challenges import Challenge
from researchdesk.state.claims import Assumption, Claim, Contradiction, Gap
from researchdesk.state.frontier import ROOT
from researchdesk.state.ids import numbered
from researchdesk.state.independence import Cluster
from researchdesk.state.investigation import Investigation
from researchdesk.state.investigation_views import Checked, checked, checked_by_question, outcomes
from researchdesk.state.limits import Limits
from researchdesk.state.questions import Question
from researchdesk.state.verification import clusters, lacks


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundClaim:
    """A claim with what it stands on; ``cited`` says whether the report cites it by its id."""

    claim: Claim
    cited: bool
    lacks: tuple[str, ...]
    """What it needs to be VERIFIED; empty for one that is."""
    independent: tuple[Cluster, ...]
    challenges: tuple[Challenge, ...]

    @property
    def verified(self) -> bool:
        return self.claim.status == "VERIFIED"

    @property
    def source_ids(self) -> tuple[str, ...]:
        """The sources of its links, each once."""
        return tuple(dict.fromkeys(link.source_id for link in self.claim.links))


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question with the reason of its last change of status, and how far its claims were checked."""

    question: Question
    status_reason: str
    waits_for: tuple[str, ...]
    checked: Checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The investigation behind a report; claims and contradictions in the order of their ids, questions as a tree."""

    claims: Mapping[str, FoundClaim]
    questions: tuple[AskedQuestion, ...]
    contradictions: tuple[Contradiction, ...]
    assumptions: tuple[Assumption, ...]
    gaps: tuple[Gap, ...]
    checked: Checked
    outcomes: Mapping[str, int]
    """Challenges by outcome; ``infrastructure`` are those whose search failed, ``open`` those without an outcome."""
    min_sources: int
    """Independent sources that a claim needs to be VERIFIED."""
    min_challenges: int

    def unverified(self, claim_id: str) -> bool:
        """Whether that is a claim of the run, and not a VERIFIED one."""
        found = self.claims.get(claim_id)
        return found is not None and not found.verified


NO_FINDINGS = Findings(
    claims={},
    questions=(),
    contradictions=(),
    assumptions=(),
    gaps=(),
    checked=Checked(challenged=0, total=0, verified=0),
    outcomes={},
    min_sources=0,
    min_challenges=0,
)
"""Those of a run that keeps no questions and claims."""


def findings(
    investigation: Investigation, limits: Limits, *, cited: Collection[str], reasons: Mapping[str, str]
) -> Findings:
    """What a report tells of an investigation.

    Args:
        cited: the ids that the report cites.
        reasons: why each question last changed its status, where that is known.
    """
    notes = investigation.notes
    by_question = checked_by_question(investigation)
    nothing = Checked(challenged=0, total=0, verified=0)
    frontier = investigation.frontier
    asked = (frontier.root, *frontier.descendants(ROOT)) if ROOT in frontier.questions else ()
    return Findings(
        claims={c.id: _claim(investigation, c, limits, cited=c.id in cited) for c in notes.all_claims},
        questions=tuple(
            AskedQuestion(
                question=question,
                status_reason=reasons.get(question.id, ""),
                waits_for=tuple(other.id for other in frontier.waits_for(question)),
                checked=by_question.get(question.id, nothing),
            )
            for question in asked
        ),
        contradictions=tuple(notes.contradictions[key] for key in _ids("con", len(notes.contradictions))),
        assumptions=tuple(notes.assumptions[key] for key in _ids("as", len(notes.assumptions))),
        gaps=tuple(notes.gaps[key] for key in _ids("gap", len(notes.gaps))),
        checked=checked(investigation),
        outcomes=outcomes(investigation.challenges),
        min_sources=limits.min_independent_sources,
        min_challenges=limits.min_challenges,
    )


def _claim(investigation: Investigation, claim: Claim, limits: Limits, *, cited: bool) -> FoundClaim:
    sources, challenges = investigation.notes.sources, investigation.challenges
    missing = () if claim.status == "VERIFIED" else lacks(claim, sources, challenges, limits)
    return FoundClaim(
        claim=claim,
        cited=cited,
        lacks=missing,
        independent=clusters(claim, sources),
        challenges=challenges.of(claim.id),
    )


def _ids(prefix: str, count: int) -> list[str]:
    return [numbered(prefix, n) for n in range(1, count + 1)]

"""What a report tells of its investigation: what was asked, claimed, contradicted and checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from researchdesk.state.challenges import Challenge
from researchdesk.state.citing import cited_sources
from researchdesk.state.claims import Assumption, Claim, Contradiction, Gap
from researchdesk.state.frontier import ROOT
from researchdesk.state.ids import numbered
from researchdesk.state.independence import Cluster
from researchdesk.state.investigation import Investigation
from researchdesk.state.investigation_views import (
    Checked,
    Lacking,
    checked,
    checked_by_question,
    checked_with_parts,
    lacking,
    outcomes,
    unchecked,
)
from researchdesk.state.questions import Question
from researchdesk.state.run import ResearchRun
from researchdesk.state.verification import clusters, lacks


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundClaim:
    """A claim with what it stands on; ``cited`` says whether the report cites it by its id."""

    claim: Claim
    cited: bool
    source_ids: tuple[str, ...]
    """The sources that stand for it where it is cited, as `state.citing` finds them."""
    lacks: tuple[str, ...]
    """What it needs to be VERIFIED; empty for one that is."""
    independent: tuple[Cluster, ...]
    challenges: tuple[Challenge, ...]

    @property
    def verified(self) -> bool:
        return self.claim.status == "VERIFIED"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question with the reason of its last change of status, and how far its claims were checked.

    ``with_parts`` counts the claims of the questions under it too.
    """

    question: Question
    status_reason: str
    waits_for: tuple[str, ...]
    checked: Checked
    with_parts: Checked


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """The investigation behind a report; claims and contradictions in the order of their ids, questions as a tree."""

    claims: Mapping[str, FoundClaim]
    questions: tuple[AskedQuestion, ...]
    contradictions: tuple[Contradiction, ...]
    assumptions: tuple[Assumption, ...]
    gaps: tuple[Gap, ...]
    checked: Checked
    unchecked: Mapping[str, int]
    """Claims that were not checked, by why, as in `state.investigation_views.unchecked`."""
    lacking: Lacking
    outcomes: Mapping[str, int]
    """Challenges by outcome; ``infrastructure`` are those whose search failed, ``open`` those without an outcome."""
    min_sources: int
    """Independent sources that a claim needs to be VERIFIED."""
    min_challenges: int

    def unverified(self, claim_id: str) -> bool:
        """Whether that is a claim of the run, and not a VERIFIED one."""
        found = self.claims.get(claim_id)
        return found is not None and not found.verified


NOTHING = Checked(challenged=0, total=0, verified=0)
NO_FINDINGS = Findings(
    claims={},
    questions=(),
    contradictions=(),
    assumptions=(),
    gaps=(),
    checked=NOTHING,
    unchecked={},
    lacking=Lacking(total=0, sources=0, challenges=0),
    outcomes={},
    min_sources=0,
    min_challenges=0,
)
"""Those of a run that keeps no questions and claims."""


def findings(
    investigation: Investigation, run: ResearchRun, *, cited: Collection[str], reasons: Mapping[str, str]
) -> Findings:
    """What a report tells of an investigation.

    Args:
        cited: the ids that the report cites.
        reasons: why each question last changed its status, where that is known.
    """
    notes, frontier, limits = investigation.notes, investigation.frontier, run.limits
    by_question, with_parts = checked_by_question(investigation), checked_with_parts(investigation)
    asked = (frontier.root, *frontier.descendants(ROOT)) if ROOT in frontier.questions else ()
    return Findings(
        claims={c.id: _claim(investigation, c, run, cited=c.id in cited) for c in notes.all_claims},
        questions=tuple(
            AskedQuestion(
                question=question,
                status_reason=reasons.get(question.id, ""),
                waits_for=tuple(other.id for other in frontier.waits_for(question)),
                checked=by_question.get(question.id, NOTHING),
                with_parts=with_parts[question.id],
            )
            for question in asked
        ),
        contradictions=tuple(notes.contradictions[key] for key in _ids("con", len(notes.contradictions))),
        assumptions=tuple(notes.assumptions[key] for key in _ids("as", len(notes.assumptions))),
        gaps=tuple(notes.gaps[key] for key in _ids("gap", len(notes.gaps))),
        checked=checked(investigation),
        unchecked=unchecked(investigation),
        lacking=lacking(investigation, limits),
        outcomes=outcomes(investigation.challenges),
        min_sources=limits.min_independent_sources,
        min_challenges=limits.min_challenges,
    )


def _claim(investigation: Investigation, claim: Claim, run: ResearchRun, *, cited: bool) -> FoundClaim:
    sources, challenges = investigation.notes.sources, investigation.challenges
    missing = () if claim.status == "VERIFIED" else lacks(claim, sources, challenges, run.limits)
    return FoundClaim(
        claim=claim,
        cited=cited,
        source_ids=cited_sources([claim.id], investigation.notes, run),
        lacks=missing,
        independent=clusters(claim, sources),
        challenges=challenges.of(claim.id),
    )


def _ids(prefix: str, count: int) -> list[str]:
    return [numbered(prefix, n) for n in range(1, count + 1)]

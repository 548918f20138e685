"""The three tools of the challenges: trying to break a claim, an answer or the conclusion, and how it came out."""

from dataclasses import replace

from researchdesk.state.challenge_coverage import coverage
from researchdesk.state.challenge_opening import NewChallenge, open_challenge
from researchdesk.state.challenges import CONCLUSION, Challenge, Result, challenge_of
from researchdesk.state.envelopes import seal
from researchdesk.state.frontier import question_of
from researchdesk.state.ids import CallId
from researchdesk.state.investigation import Changed, Investigation
from researchdesk.state.investigation_views import outcome
from researchdesk.state.limits import Limits
from researchdesk.state.notes import claim_of
from researchdesk.state.outcomes import record_result
from researchdesk.state.verification import lacks
from researchdesk.state.workspace import Workspace
from researchdesk.tools.investigate import arguments as args
from researchdesk.tools.investigate.deciding import decided, opened, seen
from researchdesk.tools.spec import Decision, Gathered

CHALLENGES_SHOWN = 20
TEXT_SHOWN = 300


def decide_challenge(
    workspace: Workspace, a: args.OpenChallenge, gathered: Gathered, call: CallId
) -> Decision:
    """Open a challenge; its search is made afterwards, as any search."""
    now, limits = opened(workspace)
    new = NewChallenge(
        target_kind=a.target_kind,
        target_id=a.target_id,
        strategy=a.strategy,
        negation=a.negation,
        expected_if_false=a.expected_if_false,
        query=a.query,
    )
    made = open_challenge(now.challenges, new, frontier=now.frontier, notes=now.notes, limits=limits)
    key = made.challenge.id
    told = f'{key} is open on {made.challenge.target_id}. Search for "{made.challenge.query}", then record its result'
    return decided(
        now,
        Changed(investigation=replace(now, challenges=made.challenges), told=(told,)),
        kind="challenge",
        key=key,
        data={"challenge_id": key, "query": made.challenge.query},
    )


def decide_result(
    workspace: Workspace, a: args.RecordChallengeResult, gathered: Gathered, call: CallId
) -> Decision:
    """Close a challenge, with all that its outcome brings."""
    now, limits = opened(workspace)
    result = Result(
        outcome=a.outcome,
        evidence=a.evidence,
        source_ids=tuple(a.source_ids),
        result_claim_id=a.result_claim_id,
    )
    changed = record_result(now, a.challenge_id, result, limits=limits)
    challenge = challenge_of(changed.investigation.challenges, a.challenge_id)
    told = (
        f"{challenge.id} is closed: {outcome(challenge)}",
        *_verifiable(changed.investigation, challenge, limits),
    )
    return decided(
        now,
        changed,
        kind="challenge",
        key=challenge.id,
        told=told,
        data={"outcome": challenge.outcome, "cause": challenge.cause},
        reason="notes_update",
    )


def _verifiable(now: Investigation, challenge: Challenge, limits: Limits) -> tuple[str, ...]:
    claim = now.notes.claims.get(challenge.target_id)
    if claim is None or claim.status != "UNVERIFIED" or challenge.outcome != "survived":
        return ()
    missing = lacks(claim, now.notes.sources, now.challenges, limits)
    return (f"{claim.id} still {'; it '.join(missing)}" if missing else f"{claim.id} may be VERIFIED now",)


def decide_challenges_view(
    workspace: Workspace, a: args.ChallengesView, gathered: Gathered, call: CallId
) -> Decision:
    """Show the challenges of a target, or those that are open, and how far challenging has come."""
    now, _ = seen(workspace)
    found = _of_target(now, a.target_id) if a.target_id else now.challenges.open
    covered = coverage(now.challenges, now.notes)
    lines = [line for challenge in found[-CHALLENGES_SHOWN:] for line in _lines(challenge)]
    if len(found) > CHALLENGES_SHOWN:
        lines.append(f"and {len(found) - CHALLENGES_SHOWN} earlier ones")
    whose = f"of {a.target_id}" if a.target_id else "open"
    head = f"{len(found)} challenges {whose}; {covered.challenged} of {covered.total} claims are challenged."
    body = seal("\n".join(lines), tag="investigation_workspace", boundary=gathered.boundary) if lines else ""
    return Decision(
        text=f"{head}\n{body}".strip(),
        data={"challenges": [c.id for c in found], "challenged": covered.challenged, "total": covered.total},
        entity_type="challenge",
        entity_id=a.target_id,
    )


def _of_target(now: Investigation, target_id: str) -> tuple[Challenge, ...]:
    if target_id.startswith("q_"):
        question_of(now.frontier, target_id)
    elif target_id != CONCLUSION:
        claim_of(now.notes, target_id)
    return now.challenges.of(target_id)


def _lines(challenge: Challenge) -> list[str]:
    state = outcome(challenge)
    lines = [
        f'{challenge.id} on {challenge.target_id} ({challenge.strategy}, {state}): "{challenge.query}"',
        f"  if false: {challenge.expected_if_false[:TEXT_SHOWN]}",
    ]
    if challenge.evidence:
        named = f" ({', '.join(challenge.source_ids)})" if challenge.source_ids else ""
        lines.append(f"  found: {challenge.evidence[:TEXT_SHOWN]}{named}")
    return lines

"""How far challenging has come: which claims were challenged, question by question, and which come next."""

from dataclasses import dataclass

from researchdesk.state.challenges import Challenges
from researchdesk.state.frontier import ROOT
from researchdesk.state.notes import Notes


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """How many claims were challenged, of how many; ``by_question`` gives both for each question with claims."""

    challenged: int
    total: int
    by_question: tuple[tuple[str, int, int], ...]


def coverage(challenges: Challenges, notes: Notes) -> Coverage:
    """Coverage over all claims that are not retracted; a challenge whose search failed covers nothing."""
    counted: dict[str, list[bool]] = {}
    for claim in notes.all_claims:
        if claim.status != "RETRACTED":
            ran = any(challenge.ran for challenge in challenges.of(claim.id))
            counted.setdefault(claim.question_id or ROOT, []).append(ran)
    rows = tuple((key, sum(ran), len(ran)) for key, ran in sorted(counted.items()))
    return Coverage(challenged=sum(r[1] for r in rows), total=sum(r[2] for r in rows), by_question=rows)


def next_to_challenge(challenges: Challenges, notes: Notes) -> tuple[str, ...]:
    """The unchallenged claims in the order to take them: every question gets a check before any gets a second."""
    done = {key: challenged for key, challenged, _ in coverage(challenges, notes).by_question}
    waiting: list[tuple[int, str]] = []
    for claim in notes.all_claims:
        question = claim.question_id or ROOT
        live = claim.status in ("UNVERIFIED", "VERIFIED")
        if live and not any(not c.failed for c in challenges.of(claim.id)):
            waiting.append((done[question], claim.id))
            done[question] += 1
    return tuple(key for _, key in sorted(waiting, key=lambda item: item[0]))

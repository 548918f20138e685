"""Opening a challenge: what it has to bring, checked in a fixed order."""

from dataclasses import dataclass
from typing import get_args

from researchdesk.state.challenges import (
    CONCLUSION,
    STRATEGIES,
    Challenge,
    Challenged,
    Challenges,
    put_challenge,
)
from researchdesk.state.errors import Refusal
from researchdesk.state.frontier import ROOT, Frontier, question_of
from researchdesk.state.ids import numbered
from researchdesk.state.limits import Limits
from researchdesk.state.notes import Notes, claim_of
from researchdesk.state.sameness import UNSPACED, content_words, folded, same_query
from researchdesk.state.vocabulary import TargetKind

# Words by which a query follows a strategy even where it takes none from the negation.
STRATEGY_TERMS: dict[str, str] = {
    "direct_negation": "direct negation not no false wrong myth",
    "counterexample": "counterexample counter example exception except failure case",
    "alternative_explanation": "alternative explanation cause instead confounder because",
    "boundary_condition": "boundary condition limit limitation exception only except scope",
    "primary_source": "primary source original standard official specification study",
    "newer_evidence": "newer evidence new latest recent update revised superseded withdrawn",
    "method_critique": "method critique criticism limitation bias flaw replication",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class NewChallenge:
    """A challenge as somebody asks for it."""

    target_kind: str
    target_id: str
    strategy: str
    negation: str
    expected_if_false: str
    query: str


def open_challenge(
    challenges: Challenges, new: NewChallenge, *, frontier: Frontier, notes: Notes, limits: Limits
) -> Challenged:
    """A new challenge, checked in a fixed order; it runs nothing.

    Raises:
        Refusal: ``unknown_target``, ``unknown_strategy``, ``invalid_arguments``, ``repeated_query``,
            ``strategy_used``, ``challenge_cap`` or ``query_adds_nothing``.
    """
    target = _target(new, frontier, notes)
    if new.strategy not in STRATEGIES:
        raise Refusal("unknown_strategy", f"no strategy '{new.strategy}'; there are {', '.join(STRATEGIES)}")
    for name in ("negation", "expected_if_false"):
        if not getattr(new, name).strip():
            raise Refusal(
                "invalid_arguments", f"{name}: it is empty; a challenge says what would break the target"
            )
    earlier = tuple(c for c in challenges.of(target.id) if not c.failed)
    _check_query(new.query, target, earlier, frontier)
    used = next((c for c in earlier if c.strategy == new.strategy), None)
    if used is not None:
        left = [name for name in STRATEGIES if name not in {c.strategy for c in earlier}]
        raise Refusal(
            "strategy_used",
            f"{new.strategy} was used on {target.id} ({used.id}); there are left: {', '.join(left) or 'none'}",
        )
    if len(earlier) >= limits.max_challenges_per_target:
        raise Refusal(
            "challenge_cap",
            f"{target.id} has {len(earlier)} challenges, the limit is {limits.max_challenges_per_target}",
        )
    _check_terms(new, target)
    challenge = Challenge(
        id=numbered("ch", len(challenges.by_id) + 1),
        target_kind=target.kind,
        target_id=target.id,
        strategy=new.strategy,  # type: ignore[arg-type]
        negation=new.negation.strip(),
        expected_if_false=new.expected_if_false.strip(),
        query=new.query.strip(),
    )
    return Challenged(challenges=put_challenge(challenges, challenge), challenge=challenge)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    kind: TargetKind
    id: str
    text: str
    question_id: str


def _target(new: NewChallenge, frontier: Frontier, notes: Notes) -> _Target:
    match new.target_kind:
        case "claim":
            claim = claim_of(notes, new.target_id)
            return _Target(kind="claim", id=claim.id, text=claim.text, question_id=claim.question_id or ROOT)
        case "question_answer":
            question = question_of(frontier, new.target_id)
            text = f"{question.text} {question.answer}"
            return _Target(kind="question_answer", id=question.id, text=text, question_id=question.id)
        case "conclusion":
            text = f"{frontier.root.text} {frontier.root.answer}"
            return _Target(kind="conclusion", id=CONCLUSION, text=text, question_id=ROOT)
    raise Refusal(
        "unknown_target",
        f"no target kind '{new.target_kind}'; there are {', '.join(get_args(TargetKind))}",
    )


def _check_query(query: str, target: _Target, earlier: tuple[Challenge, ...], frontier: Frontier) -> None:
    if not query.strip():
        raise Refusal("invalid_arguments", "query: it is empty; a challenge needs a search of its own")
    tried = (
        a for a in frontier.tried(target.question_id) if a.kind != "fetch" and a.cause != "infrastructure"
    )
    made = [(a.id, a.query) for a in tried] + [(c.id, c.query) for c in earlier]
    for key, known in made:
        if same_query(known, query):
            raise Refusal(
                "repeated_query",
                f'"{query}" was asked before ({key}); a challenge needs a query that could find the opposite',
            )


def _check_terms(new: NewChallenge, target: _Target) -> None:
    offered = _terms(f"{new.negation} {STRATEGY_TERMS[new.strategy]}") - _terms(target.text)
    if not offered & _terms(new.query):
        some = ", ".join(sorted(offered)[:6])
        raise Refusal(
            "query_adds_nothing",
            f"the query holds no term of the negation or the strategy that {target.id} does not hold itself; "
            f"use one of: {some}",
        )


def _terms(text: str) -> set[str]:
    if not UNSPACED.search(text):
        return set(content_words(text))
    joined = folded(text).replace(" ", "")
    return set(content_words(text)) | {joined[n : n + 2] for n in range(len(joined) - 1)}

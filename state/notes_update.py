"""Changing a record of the notes: the only way to another status, wording, scope or further links."""

from __future__ import annotations  # the persistent maps are generic for type checkers only

from dataclasses import dataclass, replace
from typing import get_args

from researchdesk.state.challenges import Challenges
from researchdesk.state.claims import (
    Assumption,
    Claim,
    Contradiction,
    Datapoint,
    Gap,
    Link,
    check_figure,
    refute,
    retract,
    support,
    weaken,
)
from researchdesk.state.errors import Refusal
from researchdesk.state.limits import NOTE_CHARS, Limits
from researchdesk.state.notes import Notes, claim_of, put
from researchdesk.state.verification import can_verify, verify_claim
from researchdesk.state.vocabulary import ClaimStatus, ContradictionStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What to change of a record; what is empty stays."""

    status: str = ""
    text: str = ""
    scope: str = ""
    add_links: tuple[Link, ...] = ()
    reason: str = ""


def update(notes: Notes, key: str, change: Change, *, challenges: Challenges, limits: Limits) -> Notes:
    """The notes with one record changed. What follows from a refuted claim is `state.outcomes`' part.

    Raises:
        Refusal: ``unknown_record``, ``unknown_claim``, ``unknown_source``, ``unknown_status``, ``wrong_status``,
            ``not_verified``, ``figure_not_quoted`` or ``invalid_arguments``.
    """
    if not (change.status or change.text.strip() or change.scope.strip() or change.add_links):
        raise Refusal(
            "invalid_arguments", f"nothing to change of {key}: give a status, a text, a scope or links"
        )
    if len(change.text) > NOTE_CHARS or len(change.scope) > NOTE_CHARS or len(change.reason) > NOTE_CHARS:
        raise Refusal("invalid_arguments", f"text, scope and reason have at most {NOTE_CHARS:,} characters")
    if key.startswith("c_"):
        claim = _update_claim(notes, claim_of(notes, key), change, challenges=challenges, limits=limits)
        return put(notes, claim)
    return _update_other(notes, key, change)


def _update_claim(
    notes: Notes, claim: Claim, change: Change, *, challenges: Challenges, limits: Limits
) -> Claim:
    for link in change.add_links:
        if link.source_id not in notes.sources:
            raise Refusal("unknown_source", f"no source '{link.source_id}' in this run; archive it first")
    if change.add_links:
        claim = support(claim, change.add_links)
    if change.text.strip():
        claim = _reword(claim, change.text.strip(), challenges)
    if change.scope.strip():
        claim = weaken(claim, change.scope)
    if change.status:
        return _move(notes, claim, change, challenges=challenges, limits=limits)
    if claim.status == "VERIFIED" and not can_verify(claim, notes.sources, challenges, limits):
        return replace(claim, status="UNVERIFIED")  # a new link showed that its sources depend on each other
    return claim


def _reword(claim: Claim, text: str, challenges: Challenges) -> Claim:
    if claim.status != "UNVERIFIED" or challenges.of(claim.id):
        raise Refusal(
            "wrong_status",
            f"{claim.id} is {claim.status} and its wording was challenged or settled; write a new claim instead",
        )
    changed = replace(claim, text=text)
    check_figure(changed)
    return changed


def _move(notes: Notes, claim: Claim, change: Change, *, challenges: Challenges, limits: Limits) -> Claim:
    match change.status:
        case "VERIFIED":
            return verify_claim(claim, notes.sources, challenges, limits)
        case "REFUTED":
            return refute(claim, change.reason)
        case "RETRACTED":
            return retract(claim, change.reason)
        case "UNVERIFIED":
            if claim.status in ("REFUTED", "RETRACTED"):
                raise Refusal("wrong_status", f"{claim.id} is {claim.status}; write a new claim instead")
            return replace(claim, status="UNVERIFIED")
    raise Refusal(
        "unknown_status", f"no claim status '{change.status}'; there are {', '.join(get_args(ClaimStatus))}"
    )


def _update_other(notes: Notes, key: str, change: Change) -> Notes:
    record = (
        notes.datapoints.get(key)
        or notes.contradictions.get(key)
        or notes.assumptions.get(key)
        or notes.gaps.get(key)
        or notes.sources.get(key)
    )
    if record is None:
        raise Refusal(
            "unknown_record", f"no record '{key}' in the notes; ids begin with c_, d_, con_, as_, gap_ or s_"
        )
    if change.scope or change.add_links or (change.status and not isinstance(record, Contradiction)):
        raise Refusal("invalid_arguments", f"{key}: only claims have a scope, links and most statuses")
    text = change.text.strip()
    match record:
        case Contradiction():
            return put(notes, _update_contradiction(record, change))
        case Datapoint():
            return put(notes, replace(record, label=text))
        case Assumption() | Gap():
            return put(notes, replace(record, text=text))
        case _:
            return put(notes, replace(record, note=text))


def _update_contradiction(record: Contradiction, change: Change) -> Contradiction:
    if change.status and change.status not in get_args(ContradictionStatus):
        raise Refusal(
            "unknown_status",
            f"no contradiction status '{change.status}'; there are {', '.join(get_args(ContradictionStatus))}",
        )
    if change.status == "explained" and not change.reason.strip():
        raise Refusal("invalid_arguments", f"reason: say what explains {record.id}")
    return replace(
        record,
        status=change.status or record.status,  # type: ignore[arg-type]
        differs=change.text.strip() or record.differs,
        note=change.reason.strip() or record.note,
    )

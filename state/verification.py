"""The only way to VERIFIED: enough independent sources, and enough challenges survived."""

from __future__ import annotations  # the persistent maps are generic for type checkers only

from collections.abc import Mapping
from dataclasses import replace

from researchdesk.state.challenges import Challenges
from researchdesk.state.claims import Claim, Source, check_figure, repeats
from researchdesk.state.errors import Refusal
from researchdesk.state.independence import Cluster, independence
from researchdesk.state.limits import Limits


def supporting(claim: Claim, sources: Mapping[str, Source]) -> tuple[Source, ...]:
    """The sources whose support counts: fetched, readable, of one mind, each once, in the order of their links."""
    keys = dict.fromkeys(link.source_id for link in claim.links if link.stance == "supports")
    torn = _refuting(claim)
    return tuple(sources[key] for key in keys if key in sources and sources[key].counts and key not in torn)


def _refuting(claim: Claim) -> frozenset[str]:
    return frozenset(link.source_id for link in claim.links if link.stance == "refutes")


def clusters(claim: Claim, sources: Mapping[str, Source]) -> tuple[Cluster, ...]:
    """The independent clusters among the sources that support a claim."""
    return independence(supporting(claim, sources), repeats(claim.links))


def lacks(
    claim: Claim, sources: Mapping[str, Source], challenges: Challenges, limits: Limits
) -> tuple[str, ...]:
    """What a claim lacks to be VERIFIED, each with how much and why; empty when it lacks nothing."""
    found = [
        _sources_lacking(claim, sources, limits.min_independent_sources),
        _challenges_lacking(claim, challenges, limits.min_challenges),
    ]
    try:
        check_figure(claim)
    except Refusal as refusal:
        found.append(refusal.text)
    if claim.status in ("REFUTED", "RETRACTED"):
        found.append(f"it is {claim.status}")
    return tuple(item for item in found if item)


def _sources_lacking(claim: Claim, sources: Mapping[str, Source], wanted: int) -> str:
    have = clusters(claim, sources)
    missing = wanted - len(have)
    if missing <= 0:
        return ""
    why = [reason for cluster in have for reason in cluster.reasons]
    named = dict.fromkeys(link.source_id for link in claim.links if link.stance == "supports")
    counted = {source.id for source in supporting(claim, sources)}
    why += [_why_uncounted(key, sources) for key in named if key not in counted]
    told = "; ".join(why) or f"it has {len(have)}"
    return f"needs {missing} more independent supporting source{'s' if missing > 1 else ''}; {told}"


def _why_uncounted(key: str, sources: Mapping[str, Source]) -> str:
    source = sources.get(key)
    if source is None:
        return f"{key} is no archived source"
    if not source.fetched:
        return f"{key} was supplied, not fetched"
    return f"{key} refutes it too" if source.readable else f"{key} is unreadable"


def _challenges_lacking(claim: Claim, challenges: Challenges, wanted: int) -> str:
    missing = wanted - challenges.survived(claim.id)
    if missing <= 0:
        return ""
    still_open = [c.id for c in challenges.of(claim.id) if c.status == "open"]
    told = f"; open: {', '.join(still_open)}" if still_open else ""
    return f"needs {missing} more survived challenge{'s' if missing > 1 else ''}{told}"


def can_verify(claim: Claim, sources: Mapping[str, Source], challenges: Challenges, limits: Limits) -> bool:
    """Whether the claim may be VERIFIED."""
    return not lacks(claim, sources, challenges, limits)


def verify_claim(
    claim: Claim, sources: Mapping[str, Source], challenges: Challenges, limits: Limits
) -> Claim:
    """The claim as VERIFIED.

    Raises:
        Refusal: ``not_verified``, with everything that lacks.
    """
    missing = lacks(claim, sources, challenges, limits)
    if missing:
        raise Refusal("not_verified", f"{claim.id} cannot be VERIFIED: {'; '.join(missing)}")
    return replace(claim, status="VERIFIED")

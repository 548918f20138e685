"""What the notes hold: claims with their links to sources, and the other records beside them.

A link's quote is exactly the stretch ``quote_start:quote_end`` (code points) of its artifact. Claims change their
status only through `support`, `refute`, `retract`, `weaken` and `verify`; whether a claim may be VERIFIED is decided
in `state.verification`.
"""

from dataclasses import replace

from pydantic import ConfigDict
from pydantic.dataclasses import dataclass

from researchdesk.state.errors import Refusal
from researchdesk.state.figures import states_figure
from researchdesk.state.limits import QUOTE_CHARS
from researchdesk.state.quotes import find_quote, nearest_passage, says_something
from researchdesk.state.vocabulary import ClaimKind, ClaimStatus, ContradictionStatus, Stance

_RECORD = ConfigDict(extra="forbid")
SHOWN = 160


@dataclass(frozen=True, slots=True, kw_only=True, config=_RECORD)
class Source:
    """An archived source as the notes know it; ``readable`` and ``fetched`` decide whether it can support."""

    id: str
    artifact_id: str
    url: str
    domain: str
    origin: str
    title: str = ""
    note: str = ""
    fetched: bool
    readable: bool
    near_duplicates: tuple[str, ...] = ()

    @property
    def counts(self) -> bool:
        """Its bytes were fetched and can be read; a supplied or unreadable one supports nothing."""
        return self.fetched and self.readable


@dataclass(frozen=True, slots=True, kw_only=True, config=_RECORD)
class Link:
    """What one source says about a claim, word for word; a mere mention may stand without a quote.

    ``quotes_other_source`` is the declaration that the source only repeats another: its id, or the name of something
    that is not archived here; "" where it speaks for itself.
    """

    source_id: str
    artifact_id: str
    stance: Stance
    quote: str = ""
    quote_start: int = 0
    quote_end: int = 0
    quotes_other_source: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, config=_RECORD)
class Claim:
    """A statement of the investigation. ``value`` and ``unit`` are those of a figure; ``scope`` bounds it."""

    id: str
    text: str
    kind: ClaimKind
    value: str = ""
    unit: str = ""
    status: ClaimStatus = "UNVERIFIED"
    question_id: str = ""
    scope: str = ""
    check: str = ""
    note: str = ""
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, config=_RECORD)
class Datapoint:
    """A number worth a table, tied to a claim or a source (``about``)."""

    id: str
    label: str
    value: str
    unit: str = ""
    as_of: str = ""
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, config=_RECORD)
class Contradiction:
    """Two claims, or a claim and a source, that do not go together."""

    id: str
    claim_id: str
    other_id: str
    differs: str
    status: ContradictionStatus = "open"
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, config=_RECORD)
class Assumption:
    """What is taken for granted because a question could not be answered."""

    id: str
    text: str
    question_id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, config=_RECORD)
class Gap:
    """What stays open, with the question it belongs to, where there is one."""

    id: str
    text: str
    question_id: str = ""


def quoted(source: Source, text: str, quote: str, *, stance: Stance, quotes_other_source: str = "") -> Link:
    """A link to the place where the quote stands in the archived text of the source.

    Raises:
        Refusal: ``quote_not_found`` with the nearest passage, ``source_unreadable`` or ``invalid_arguments``.
    """
    declared = " ".join(quotes_other_source.split())
    if declared == source.id:
        raise Refusal(
            "invalid_arguments", f"quotes_other_source: {source.id} cannot be declared to repeat itself"
        )
    if not quote.strip() and stance == "mentions":
        return Link(
            source_id=source.id, artifact_id=source.artifact_id, stance=stance, quotes_other_source=declared
        )
    if not source.readable:
        raise Refusal("source_unreadable", f"{source.id} is mostly unreadable and supports nothing")
    if not quote.strip() or len(quote) > QUOTE_CHARS:
        raise Refusal(
            "invalid_arguments", f"quote: a quote of {source.id} has 2 to {QUOTE_CHARS:,} characters"
        )
    _require_statement(quote)
    span = find_quote(text, quote)
    if span is None:
        near = nearest_passage(text, quote)
        hint = f' The nearest passage there: "{near[:SHOWN]}".' if near else ""
        raise Refusal(
            "quote_not_found",
            f'"{quote[:SHOWN]}" does not stand in {source.id}.{hint} Quote the source exactly.',
        )
    return Link(
        source_id=source.id,
        artifact_id=source.artifact_id,
        stance=stance,
        quote=text[span.start : span.end],
        quote_start=span.start,
        quote_end=span.end,
        quotes_other_source=declared,
    )


def _require_statement(quote: str) -> None:
    """A scrap that stands in any text supports nothing."""
    if says_something(quote):
        return
    raise Refusal(
        "invalid_arguments",
        f'quote: "{quote.strip()[:SHOWN]}" is too short to say anything; quote a whole clause of the source',
    )


def check_figure(claim: Claim) -> None:
    """Refuse a figure none of whose quotes holds its number.

    Raises:
        Refusal: ``figure_not_quoted``.
    """
    if claim.kind != "figure":
        return
    if not claim.value.strip():
        raise Refusal("invalid_arguments", "value: a figure needs its number here, and its unit beside it")
    if not any(states_figure(link.quote, claim.value, claim.unit) for link in claim.links):
        told = f"{claim.value} {claim.unit}".strip()
        quotes = "; ".join(f'{link.source_id}: "{link.quote[:SHOWN]}"' for link in claim.links) or "none"
        raise Refusal(
            "figure_not_quoted",
            f"{told} stands in no quote of this claim ({quotes}). Quote the passage with the number, in its unit.",
        )


def support(claim: Claim, links: tuple[Link, ...]) -> Claim:
    """The claim with further links, whatever their stance; one that is there already changes nothing.

    Raises:
        Refusal: ``wrong_status`` for a retracted claim.
    """
    if claim.status == "RETRACTED":
        raise Refusal("wrong_status", f"{claim.id} is RETRACTED; write a new claim instead")
    return replace(claim, links=tuple(dict.fromkeys((*claim.links, *links))))


def refute(claim: Claim, reason: str) -> Claim:
    """The claim as REFUTED, with the reason as its note.

    Raises:
        Refusal: ``wrong_status`` when it is REFUTED or RETRACTED already; ``invalid_arguments`` without a reason.
    """
    return _fallen(claim, "REFUTED", reason)


def retract(claim: Claim, reason: str) -> Claim:
    """The claim as RETRACTED, for good; errors as `refute`, but a refuted claim may be retracted."""
    return _fallen(claim, "RETRACTED", reason)


def _fallen(claim: Claim, status: ClaimStatus, reason: str) -> Claim:
    if claim.status == "RETRACTED" or claim.status == status:
        raise Refusal("wrong_status", f"{claim.id} is {claim.status} already")
    if not reason.strip():
        raise Refusal("invalid_arguments", f"reason: say why {claim.id} is {status}")
    return replace(claim, status=status, note=reason.strip())


def weaken(claim: Claim, scope: str) -> Claim:
    """The claim with a narrower scope; one that was VERIFIED has to be verified anew.

    Raises:
        Refusal: ``wrong_status`` for a claim that has fallen; ``invalid_arguments`` without a scope.
    """
    if claim.status in ("REFUTED", "RETRACTED"):
        raise Refusal("wrong_status", f"{claim.id} is {claim.status}; its scope does not matter any more")
    if not scope.strip():
        raise Refusal("invalid_arguments", f"scope: say where {claim.id} still holds")
    return replace(claim, status="UNVERIFIED", scope=scope.strip())


def repeats(links: tuple[Link, ...]) -> tuple[tuple[str, str], ...]:
    """The declarations among links: which source repeats what."""
    return tuple((link.source_id, link.quotes_other_source) for link in links if link.quotes_other_source)

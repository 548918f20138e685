"""What falls when a source is taken away or a challenge comes out otherwise: claims, answers and sentences.

Nothing is written: the state of a run is asked what would be left of it. A claim falls when its status gets worse, or
when no source supports it any more; an answer or a sentence falls when everything that it stands on has fallen.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from researchdesk.state.challenges import Challenges, put_challenge
from researchdesk.state.citations import cited_ids
from researchdesk.state.claims import Claim, Source
from researchdesk.state.desk.markup import table
from researchdesk.state.errors import NotFound, UsageError
from researchdesk.state.investigation import Investigation
from researchdesk.state.limits import Limits
from researchdesk.state.prose import sentences
from researchdesk.state.verification import can_verify, clusters, supporting
from researchdesk.state.vocabulary import ClaimStatus, Outcome

Loss = Literal["falls", "weakens"]
_WORTH: dict[ClaimStatus, int] = {"VERIFIED": 2, "UNVERIFIED": 1, "REFUTED": 0, "RETRACTED": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class FallingClaim:
    """A claim that loses something: its status and its independent supporting origins, before and after."""

    id: str
    text: str
    loss: Loss
    before: ClaimStatus
    after: ClaimStatus
    origins_before: int
    origins_after: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FallingQuestion:
    """An answered question some or all of whose claims fall, or whose answer is broken."""

    id: str
    text: str
    loss: Loss
    claim_ids: tuple[str, ...]
    """The claims under its answer that fall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FallingSentence:
    """A sentence of the report some or all of whose citations fall."""

    section: str
    text: str
    loss: Loss
    cites: tuple[str, ...]
    """Those of its citations that fall."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Falling:
    """Everything that loses support, in the order of the ids and of the report."""

    claims: tuple[FallingClaim, ...] = ()
    questions: tuple[FallingQuestion, ...] = ()
    sentences: tuple[FallingSentence, ...] = ()

    def _repr_html_(self) -> str:
        claims = (
            (
                one.id,
                one.loss,
                f"{one.before} → {one.after}",
                f"{one.origins_before} → {one.origins_after}",
                one.text,
            )
            for one in self.claims
        )
        answers = ((one.id, one.loss, ", ".join(one.claim_ids), one.text) for one in self.questions)
        written = ((one.section, one.loss, ", ".join(one.cites), one.text) for one in self.sentences)
        return "".join(
            (
                table(
                    ("claim", "loss", "status", "origins", "text"),
                    claims,
                    caption=f"Claims: {len(self.claims)}",
                ),
                table(
                    ("question", "loss", "claims", "text"), answers, caption=f"Answers: {len(self.questions)}"
                ),
                table(
                    ("section", "loss", "cites", "text"), written, caption=f"Sentences: {len(self.sentences)}"
                ),
            )
        )


def what_falls(
    investigation: Investigation,
    limits: Limits,
    *,
    without: Iterable[str] = (),
    flipped: Mapping[str, Outcome] | None = None,
    texts: Mapping[str, str] | None = None,
) -> Falling:
    """What falls without some sources, and with other outcomes of some challenges.

    Args:
        investigation: the run's questions, notes and challenges.
        limits: what VERIFIED takes in this run.
        without: the id of a source that is taken away, or several.
        flipped: another outcome for each challenge, by its id.
        texts: the texts of the report, by the key of their section.

    Raises:
        NotFound: there is no such source or challenge.
        UsageError: there is no such outcome.
    """
    gone = frozenset([without] if isinstance(without, str) else without)
    _check_known(gone, investigation.notes.sources, "source")
    flipped = flipped or {}
    _check_known(flipped, investigation.challenges.by_id, "challenge")
    _check_outcomes(flipped.values())
    challenges = investigation.challenges
    for key, outcome in flipped.items():
        closed = replace(challenges.by_id[key], status="closed", outcome=outcome, cause="")
        challenges = put_challenge(challenges, closed)
    left = {key: source for key, source in investigation.notes.sources.items() if key not in gone}
    asking = _Asking(investigation, limits, gone, left, challenges)
    claims = tuple(asking.claims())
    fallen = {claim.id for claim in claims if claim.loss == "falls"}
    return Falling(
        claims=claims,
        questions=tuple(asking.questions(fallen)),
        sentences=tuple(_sentences(texts or {}, gone | fallen)),
    )


@dataclass(frozen=True, slots=True)
class _Asking:
    """A run, and what of it is left."""

    investigation: Investigation
    limits: Limits
    gone: frozenset[str]
    sources: Mapping[str, Source]
    challenges: Challenges

    def claims(self) -> Iterator[FallingClaim]:
        notes = self.investigation.notes
        for claim in notes.all_claims:
            left = replace(claim, links=tuple(k for k in claim.links if k.source_id not in self.gone))
            after = self._status(claim, left)
            before_origins = len(clusters(claim, notes.sources))
            origins = len(clusters(left, self.sources))
            unsupported = bool(supporting(claim, notes.sources)) and not supporting(left, self.sources)
            if _WORTH[after] < _WORTH[claim.status] or unsupported:
                loss: Loss = "falls"
            elif origins < before_origins:
                loss = "weakens"
            else:
                continue
            yield FallingClaim(
                id=claim.id,
                text=claim.text,
                loss=loss,
                before=claim.status,
                after=after,
                origins_before=before_origins,
                origins_after=origins,
            )

    def _status(self, claim: Claim, left: Claim) -> ClaimStatus:
        """The status that is left of a claim's; one that nobody verified is not verified by this."""
        refuted = any(challenge.outcome == "refuted" for challenge in self.challenges.of(claim.id))
        if claim.status == "RETRACTED" or refuted:
            return "RETRACTED" if claim.status == "RETRACTED" else "REFUTED"
        if claim.status == "VERIFIED" and not can_verify(left, self.sources, self.challenges, self.limits):
            return "UNVERIFIED"
        return claim.status

    def questions(self, fallen: set[str]) -> Iterator[FallingQuestion]:
        asked = sorted(self.investigation.frontier.questions.values(), key=lambda one: one.created_seq)
        for question in asked:
            if question.status != "resolved":
                continue
            lost = tuple(key for key in question.claim_ids if key in fallen)
            broken = any(c.outcome == "refuted" for c in self.challenges.of(question.id))
            if not lost and not broken:
                continue
            whole = broken or len(lost) == len(question.claim_ids)
            loss: Loss = "falls" if whole else "weakens"
            yield FallingQuestion(id=question.id, text=question.text, loss=loss, claim_ids=lost)


def _sentences(texts: Mapping[str, str], lost: frozenset[str]) -> Iterator[FallingSentence]:
    for section, text in texts.items():
        for sentence in sentences(text):
            cites = cited_ids(sentence.text)
            falling = tuple(key for key in cites if key in lost)
            if falling:
                loss: Loss = "falls" if len(falling) == len(cites) else "weakens"
                told = " ".join(sentence.text.split())
                yield FallingSentence(section=section, text=told, loss=loss, cites=falling)


def _check_known(wanted: Iterable[str], known: Mapping[str, object], what: str) -> None:
    for key in wanted:
        if key not in known:
            ids = sorted(known)
            there = f"it has {ids[0]}..{ids[-1]}" if ids else "it has none"
            raise NotFound(f"no {what} '{key!s:.80}' in this run; {there}")


def _check_outcomes(wanted: Iterable[str]) -> None:
    known = get_args(Outcome)
    for outcome in wanted:
        if outcome not in known:
            raise UsageError(f"no outcome '{outcome!s:.80}'; there are {', '.join(known)}")

"""Consolidation: the scratch gives way to the records, but not altogether."""

from rpds import HashTrieMap

from researchdesk.state.claims import Claim
from researchdesk.state.consolidation import LEAST_SHARE, consolidated
from researchdesk.state.ids import numbered
from researchdesk.state.notes import Notes
from researchdesk.state.settling import ATOMIC
from researchdesk.state.tokens import estimate_tokens

MOST = 1_000


def notes(*, claims: int, scratch: str) -> Notes:
    made = (Claim(id=numbered("c", n), text=f"Claim {n} of many.", kind="fact") for n in range(1, claims + 1))
    return Notes(claims=HashTrieMap({claim.id: claim for claim in made}), scratch=scratch)


def test_notes_within_their_size_stay_as_they_are() -> None:
    small = notes(claims=2, scratch="look at table 3")
    assert consolidated(small, MOST) is small


def test_a_short_scratch_outlives_any_number_of_records() -> None:
    large = notes(claims=200, scratch=f"{ATOMIC}It is one.\nlook at table 3")
    assert consolidated(large, MOST) == large


def test_of_a_long_scratch_the_newest_lines_stay_and_that_the_objective_is_atomic() -> None:
    lines = [f"{ATOMIC}It is one.", *(f"thought number {n}" for n in range(400))]
    large = notes(claims=200, scratch="\n".join(lines))
    kept = consolidated(large, MOST)
    assert kept.claims == large.claims
    first, *others = kept.scratch.splitlines()
    assert first == lines[0] and others == lines[-len(others) :] and len(others) > 5
    assert estimate_tokens("\n".join(others)) <= MOST // LEAST_SHARE
    assert consolidated(kept, MOST) == kept

"""The claims of a run in a list, each with what it stands on and what it lacks."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

from researchdesk.state.claims import Claim
from researchdesk.state.desk.markup import table
from researchdesk.state.frontier import ROOT
from researchdesk.state.investigation import Investigation
from researchdesk.state.investigation_texts import checked_text, independence_text
from researchdesk.state.investigation_views import checked, claim_view
from researchdesk.state.limits import Limits

CLAIM_COLUMNS: Final = (
    *("claim", "question", "status", "sources"),
    *("independence", "challenges", "lacks", "text"),
)


class Claims(tuple[Claim, ...]):
    """Claims in the order of their ids, which a notebook shows as a table."""

    _of: tuple[Investigation, Limits] | None = None

    @classmethod
    def of(cls, investigation: Investigation, limits: Limits) -> "Claims":
        """The claims of an investigation under the limits of its run."""
        found = cls(investigation.notes.all_claims)
        found._of = (investigation, limits)
        return found

    def _repr_html_(self) -> str:
        if self._of is None:
            return table(CLAIM_COLUMNS, (), caption="Claims: 0")
        investigation, limits = self._of
        rows = (claim_row(claim_view(investigation, claim, limits)) for claim in self)
        told = checked_text(asdict(checked(investigation)))
        return table(CLAIM_COLUMNS, rows, caption=f"Claims: {len(self)}; {told}")


def claim_row(claim: dict[str, Any]) -> tuple[str, ...]:
    """A claim in the form of `claims_view` as texts under `CLAIM_COLUMNS`."""
    scope = f" [only: {claim['scope']}]" if claim["scope"] else ""
    return (
        claim["id"],
        claim["question_id"] or ROOT,
        claim["status"],
        ", ".join(dict.fromkeys(link["source_id"] for link in claim["links"])) or "none",
        independence_text(len(claim["links"]), [cluster["reasons"] for cluster in claim["independent"]]),
        ", ".join(_challenges(claim["challenges"])) or "none",
        "; ".join(claim["lacks"]),
        f"{claim['text']}{scope}",
    )


def _challenges(found: list[dict[str, Any]]) -> Iterator[str]:
    for challenge in found:
        cause = f"/{challenge['cause']}" if challenge["cause"] else ""
        evidence = f" ({challenge['evidence']})" if challenge["evidence"] else ""
        yield f"{challenge['id']} {challenge['strategy']}: {challenge['outcome'] or 'open'}{cause}{evidence}"

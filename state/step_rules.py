"""What a recorded step and a checklist status have to bring along, for tools and for whatever the ledger holds."""

from researchdesk.state.errors import Refusal
from researchdesk.state.events import ChecklistUpdated, StepRecorded


def require_whole_step(step: StepRecorded) -> None:
    """A step is bounded: where it looked, what ended it, what it was to bring, and what came of it.

    Raises:
        Refusal: ``invalid_arguments``, ``no_evidence`` or ``no_reason``.
    """
    field = "roots" if step.kind == "local_exploration" else "keywords"
    if not getattr(step, field):
        raise Refusal("invalid_arguments", f"{field}: a {step.kind} step names at least one.")
    for name in ("objective", "summary", "stopping_condition", "expected_evidence"):
        if not getattr(step, name):
            raise Refusal("invalid_arguments", f"{name}: it is empty; a step needs it.")
    if not all(ref.locator for ref in step.inspected_refs):
        raise Refusal("invalid_arguments", "inspected_refs: an item has no locator.")
    if step.status == "completed" and not step.evidence_artifact_ids:
        raise Refusal(
            "no_evidence", "evidence_artifact_ids: a completed step names the artifacts it brought."
        )
    _match_reason(step.status, step.blocked_reason, needs=("blocked",))


def require_whole_update(update: ChecklistUpdated) -> None:
    """A completed item names its evidence, a blocked or skipped one its reason.

    Raises:
        Refusal: ``no_evidence``, ``no_reason``, or ``invalid_arguments`` for a reason that has no place.
    """
    if update.status == "completed" and not update.evidence_artifact_ids:
        raise Refusal(
            "no_evidence", "evidence_artifact_ids: a completed item names the artifacts that settle it."
        )
    _match_reason(update.status, update.blocked_reason, needs=("blocked", "skipped"))


def _match_reason(status: str, reason: str, *, needs: tuple[str, ...]) -> None:
    if status in needs and not reason:
        raise Refusal("no_reason", f"blocked_reason: status {status} needs a reason.")
    if status not in needs and reason:
        raise Refusal(
            "invalid_arguments", f"blocked_reason: status {status} takes no reason; leave it empty."
        )

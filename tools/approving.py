"""What a desk shows and does of its files and of the proposals that wait for a person."""

from collections.abc import Mapping
from typing import Any, get_args

from researchdesk.state.desk.judging import Choice
from researchdesk.state.desk.layout import PanelLayout
from researchdesk.state.desk.proposals import Proposal, Proposals, ProposalStatus
from researchdesk.state.vocabulary import one_of
from researchdesk.tools.deciding import Decided, Preview, decide, preview, proposal_of
from researchdesk.tools.files import Files
from researchdesk.tools.records import Records


class Approving:
    """The part of a desk that concerns its files; what is shown is immutable and stands as of now."""

    records: Records

    @property
    def files(self) -> Files:
        """The documents and spreadsheets of this desk, for a person's hand."""
        return Files(self.records)

    def proposals(self, *, status: ProposalStatus | None = None, session_id: str = "") -> Proposals:
        """The proposals of this desk, oldest first.

        Args:
            status: only those that stand so; ``pending`` are the ones that wait.
            session_id: only those of this session.

        Raises:
            UsageError: there is no such status.
        """
        if status is not None:
            one_of("status", status, get_args(ProposalStatus))
        found = sorted(self.records.desk().desk.proposals.values(), key=lambda made: made.created_seq)
        return Proposals(
            made
            for made in found
            if status in (None, made.status) and session_id in ("", made.cause.session_id)
        )

    def proposal(self, proposal_id: str) -> Proposal:
        """One proposal.

        Raises:
            NotFound: there is none of that id.
        """
        return proposal_of(self.records.desk().desk, proposal_id)

    def preview(self, proposal_id: str, edited_args: Mapping[str, Any] | None = None) -> Preview:
        """The whole diff of a proposal, or of the same call with other arguments, and the hash to decide it with.

        Raises:
            NotFound: there is no such proposal.
            Refusal: ``invalid_arguments``.
        """
        return preview(self.records, proposal_id, edited_args)

    def decide(
        self,
        proposal_id: str,
        decision: Choice,
        *,
        actor: str,
        proposal_hash: str,
        reason: str = "",
        edited_args: Mapping[str, Any] | None = None,
    ) -> Decided:
        """Approve or reject a proposal, once: the decision, the change and the log of both are one transaction.

        Args:
            decision: ``approve`` or ``reject``.
            actor: ``human:<name>`` or ``policy:<name>``.
            proposal_hash: names what was shown: `Proposal.hash`, or the hash of a `preview` with ``edited_args``.
            reason: why not; a refused deletion needs one.
            edited_args: arguments to run instead, for the same tool and file.

        Returns:
            What came of it: the status is ``executed``, ``rejected`` or ``failed``, or ``stale`` or ``expired`` where
            it could not run any more. The same decision by the same actor again gives the same.

        Raises:
            NotFound: there is no such proposal.
            Refusal: ``already_decided``, ``proposal_changed``, ``dependency_pending``, ``forbidden`` or
                ``invalid_arguments``; nothing was written.
            UsageError: the decision is neither of the two, or the actor has not that form.
        """
        one_of("decision", decision, get_args(Choice))
        return decide(
            self.records,
            proposal_id,
            decision,
            actor=actor,
            proposal_hash=proposal_hash,
            reason=reason,
            edited_args=edited_args,
        )

    def panels(self, session_id: str) -> PanelLayout:
        """The panels that stand open for a session."""
        return self.records.desk().desk.layout(session_id)

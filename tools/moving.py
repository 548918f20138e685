"""Copying a whole desk into another one: all that its ledger holds, proven afterwards.

What lies beside a ledger is derived from it. Working copies of notes are written anew, rendered reports and indexes
are made when somebody asks for them, LangGraph's checkpoints are not needed to go on, and a copy has no driver.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

from researchdesk.state.errors import IntegrityError, UsageError
from researchdesk.stores.transfer import Copied, CopyProgress, OnCopy, copy_ledger

if TYPE_CHECKING:
    from researchdesk.tools.workspace import Desk

SHOWN = 10


def copy_desk(source: "Desk", target: "Desk", *, on_progress: OnCopy | None = None) -> Copied:
    """Bring the target to where the source stands, and verify all of it.

    Raises:
        UsageError: both are the same desk; or as `copy_ledger`.
        LedgerCorrupt: as `copy_ledger`.
        IntegrityError: the target does not verify afterwards.
    """
    if _place(source) == _place(target):
        raise UsageError(
            f"source and target are the same desk, {target.where}; name another folder or schema to copy to"
        )
    copied = copy_ledger(source.ledger, target.ledger, on_progress=on_progress)
    if on_progress:
        on_progress(CopyProgress(stage="verifying"))
    report = target.verify()
    if not report.ok:
        raise IntegrityError(
            f"the copy in {target.where} is not sound, keep the source: {'; '.join(report.problems[:SHOWN])}"
        )
    _restore_notes(source, target)
    return replace(copied, checked=report.checked)


def _place(desk: "Desk") -> tuple[object, ...]:
    """What two desks have in common only where they are one, however they were named."""
    if desk.address is None:
        file = (desk.home / "ledger.sqlite").stat()
        return file.st_dev, file.st_ino
    found = desk.ledger.query(
        "SELECT pg_postmaster_start_time()::text AS started, current_database() AS database, "
        "current_schema() AS schema"
    )
    return tuple(found[0].values())


def _restore_notes(source: "Desk", target: "Desk") -> None:
    """Write the working copies of the notes that came along."""
    sessions = [
        {str(row["session_id"]) for row in desk.ledger.query("SELECT session_id FROM research_runs")}
        for desk in (source, target)
    ]
    for session in sorted(set.intersection(*sessions)):
        target.records.keep_notes(session)
        target.records.forget(session)

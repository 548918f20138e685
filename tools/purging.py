"""Removing texts for good: of the named artifacts, with everything that repeats them."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from researchdesk.state import events as ev
from researchdesk.state.bodies import releasable, release
from researchdesk.state.errors import NotFound
from researchdesk.state.workspace import Workspace
from researchdesk.tools.door import Session


def purge(session: Session, artifact_ids: Sequence[str], *, actor: str, reason: str) -> int:
    """Record the purge of the named artifacts, or of all, and remove the bodies that nobody else stands on.

    Returns:
        How many bodies went.

    Raises:
        NotFound: no such artifact; nothing was changed.
    """
    let_go: list[str] = []

    def decide(workspace: Workspace) -> tuple[ev.Event, ...]:
        keys = tuple(dict.fromkeys(artifact_ids)) or tuple(workspace.run.artifacts if workspace.run else ())
        events = tuple(purged_events(workspace, session.id, keys, actor=actor, reason=reason))
        let_go[:] = [key for event in events for key in event.hashes]
        return events

    session.record_decided(decide)
    ledger = session.records.ledger
    return sum(not ledger.query("SELECT 1 AS here FROM blobs WHERE hash = ?", (key,)) for key in let_go)


def purged_events(
    workspace: Workspace, session_id: str, artifact_ids: Sequence[str], *, actor: str, reason: str
) -> Iterator[ev.ArtifactPurged]:
    """An event for each artifact, with the bodies that it is the last of the session to stand on."""
    bodies, purged = workspace.bodies, workspace.purged_artifacts
    owned = defaultdict(list)
    for key, body in bodies.items():
        for owner in body.owners:
            owned[owner].append(key)
    for artifact_id in artifact_ids:
        if workspace.run is None or artifact_id not in workspace.run.artifacts:
            raise NotFound(f"no artifact '{artifact_id}' in session '{session_id}'")
        known, purged = artifact_id in purged, purged.insert(artifact_id)
        hashes = tuple(sorted(key for key in owned[artifact_id] if releasable(bodies, key, purged=purged)))
        bodies = release(bodies, hashes, seq=workspace.seq + 1)
        if hashes or not known:
            yield ev.ArtifactPurged(artifact_id=artifact_id, hashes=hashes, actor=actor, reason=reason)

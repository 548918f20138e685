"""What a call needs before it is decided: texts of the session, or what the world gives, staged and taken once."""

import secrets
from collections.abc import Sequence
from dataclasses import replace

from researchdesk.state.desk.naming import named_folder
from researchdesk.state.envelopes import boundary_of
from researchdesk.state.errors import IntegrityError, NotFound
from researchdesk.state.ids import session_stream
from researchdesk.state.workspace import Workspace
from researchdesk.stores.ledger import HeadMoved
from researchdesk.tools.calls import Call
from researchdesk.tools.desk.searching import search_desk
from researchdesk.tools.records import Records
from researchdesk.tools.sources.gathering import TAKEN, Sources, Taken, gather
from researchdesk.tools.spec import Bodies, DeskRead, DeskSearch, DeskView, Fetch, Gathered, Need, Search

BOUNDARY_BITS = 128
TOKEN_BYTES = 16


def supply(
    call: Call, need: Need, workspace: Workspace, *, records: Records, sources: Sources, desk: DeskView | None
) -> Gathered:
    """What the decision on a call needs; errors as `take`.

    Args:
        desk: the desk as it stands, for a tool that works on it.
    """
    given = Gathered(
        boundary=new_boundary(), token=secrets.token_hex(TOKEN_BYTES), redactions=call.redactions
    )
    if isinstance(need, Bodies):
        texts, problems = _texts(need.artifact_ids, workspace, records)
        return replace(given, texts=texts, problems=problems)
    if isinstance(need, DeskRead | DeskSearch):
        assert desk is not None
        return replace(given, desk=_searched(need, desk, records) if isinstance(need, DeskSearch) else desk)
    taken = take(call, need, records=records, sources=sources)
    return replace(
        given,
        search=taken.search,
        page=taken.page,
        failure=taken.failure,
        broken_way=taken.broken_way,
    )


def take(call: Call, need: Search | Fetch, *, records: Records, sources: Sources) -> Taken:
    """What was staged for this call, or what the world gives now, staged before it is used.

    Raises:
        HeadMoved: another thread recorded the call meanwhile.
    """
    with records.alone(call.id):
        staged = records.ledger.staged(call.id)
        if staged is not None and staged.input_digest == call.digest:
            return TAKEN.validate_json(staged.receipt)
        if records.ledger.call_row(call.id) is not None:
            raise HeadMoved(session_stream(call.id.session))
        haul = gather(need, sources)
        receipt = TAKEN.dump_json(haul.taken).decode()
        records.ledger.stage(call.id, input_digest=call.digest, receipt=receipt, bodies=haul.bodies)
        return haul.taken


def _texts(
    artifact_ids: Sequence[str], workspace: Workspace, records: Records
) -> tuple[dict[str, str], dict[str, str]]:
    """Bodies of the session's own artifacts, and why those that cannot be trusted cannot."""
    texts: dict[str, str] = {}
    problems: dict[str, str] = {}
    for key in artifact_ids:
        assert workspace.run is not None
        if key in workspace.purged_artifacts:  # its bytes may still be there for another one
            problems[key] = f"Artifact {key}: its body was purged."
            continue
        try:
            texts[key] = records.text(workspace.run.artifacts[key].content_hash)
        except IntegrityError as problem:
            problems[key] = f"Artifact {key}: {problem}."
        except NotFound:
            problems[key] = f"Artifact {key}: its body is missing from the ledger."
    return texts, problems


def _searched(need: DeskSearch, desk: DeskView, records: Records) -> DeskView:
    folder = named_folder(desk.state, need.folder)
    hits = search_desk(records.ledger, desk.state, records.text, need.query, folder=folder, limit=need.limit)
    return replace(desk, hits=tuple(hits))


def new_boundary() -> str:
    """A random boundary for an envelope."""
    return boundary_of(secrets.randbits(BOUNDARY_BITS))

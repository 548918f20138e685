"""Following a stream without its rows gives the same state as folding it with them."""

from pathlib import Path

import researchdesk as rd
from researchdesk.stores.replay import Projection, follow, replay

from ..desks import SKY, Caller


def test_a_desk_that_is_opened_anew_stands_where_the_events_lead_with_the_digest_of_their_rows(
    tmp_path: Path,
) -> None:
    with rd.open_desk(tmp_path) as desk:
        caller = Caller(desk.session("s"))
        caller.start()
        caller.source(SKY)
    with rd.open_desk(tmp_path) as desk:
        stored = desk.ledger.read("session:s")
        whole = replay(Projection(), stored)
        assert desk.records.projection("s") == whole
        followed = follow(follow(Projection(), stored[:2]), stored[2:])
        assert (followed.workspace, followed.last_ts) == (whole.workspace, whole.last_ts)
        assert (followed.head.count, followed.head.hash) == (whole.head.count, whole.head.hash)
        Caller(desk.session("s")).session.call("deep_research_status", {}, tool_call_id="later")
        assert desk.verify().ok

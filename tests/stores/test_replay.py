"""Following a stream without its rows gives the same state as folding it with them."""

from dataclasses import replace
from pathlib import Path

import pytest

import researchdesk as rd
from researchdesk.state.errors import LedgerCorrupt
from researchdesk.stores.codec import StoredEvent, chain_hash, link
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


def renamed(item: StoredEvent, *, type: str, linked: bool = True) -> StoredEvent:
    """An event of another type, with the hash that it has as such."""
    item = replace(item, type=type)
    return replace(item, hash=chain_hash(item)) if linked else item


def test_of_several_faults_the_first_is_named_whatever_their_kind(tmp_path: Path) -> None:
    with rd.open_desk(tmp_path) as desk:
        Caller(desk.session("s")).start()
        for n in range(4):
            desk.session("s").call("deep_research_status", {}, tool_call_id=f"status{n}")
        first, *_, last = stored = desk.ledger.read("session:s")
    before, third = stored[:2], stored[2]
    broken = replace(last, prev_hash="0" * 64)
    shapeless = renamed(third, type="research_blocked")
    illegal = link(
        [first.event()], stream="session:s", after_seq=2, after_hash=before[-1].hash, ts="t", refs="{}"
    )
    for wrong, message in (
        (list(illegal), "event 3: 'session_opened' cannot follow"),
        ([shapeless], "event 3: payload of 'research_blocked' has not its shape"),
        ([renamed(third, type="research_blocked", linked=False)], "event 3: its bytes do not have"),
        ([*stored[2:-1], broken], f"event {last.seq}: the hash chain is broken"),
    ):
        for walk in (follow, replay):
            with pytest.raises(LedgerCorrupt, match=message):
                walk(Projection(), [*before, *wrong, broken])

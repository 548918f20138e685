"""Stored events of other versions: older ones are read in today's shape, newer ones are refused by name."""

from dataclasses import replace
from typing import Any

import pytest

from researchdesk.state import events as ev
from researchdesk.state.errors import LedgerCorrupt
from researchdesk.stores import codec
from researchdesk.stores.codec import GENESIS, StoredEvent, chain_hash, link

BLOCKED = ev.ResearchBlocked(reason="no power")


def stored(payload: str, *, version: int) -> StoredEvent:
    """An event as that version stored it, with the hash that it had then."""
    (item,) = link([BLOCKED], stream="session:s1", after_seq=0, after_hash=GENESIS, ts="t", refs="{}")
    item = replace(item, payload=payload, schema_version=version)
    return replace(item, hash=chain_hash(item))


def test_an_older_payload_is_read_in_the_shape_of_today(monkeypatch: pytest.MonkeyPatch) -> None:
    def renamed(payload: dict[str, Any]) -> dict[str, Any]:
        return {"why": payload["because"]}

    def renamed_again(payload: dict[str, Any]) -> dict[str, Any]:
        return {"reason": payload["why"]}

    monkeypatch.setattr(ev, "SCHEMA_VERSION", 4)
    monkeypatch.setitem(codec.UPCASTS, ("research_blocked", 1), renamed)
    monkeypatch.setitem(codec.UPCASTS, ("research_blocked", 3), renamed_again)
    payloads = {1: '{"because":"no power"}', 2: '{"why":"no power"}', 3: '{"why":"no power"}'}
    for version, payload in {**payloads, 4: '{"reason":"no power"}'}.items():
        item = stored(payload, version=version)
        codec.check_link(item, after_seq=0, after_hash=GENESIS)
        assert item.event() == BLOCKED


def test_an_older_payload_without_its_shape_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ev, "SCHEMA_VERSION", 2)
    monkeypatch.setitem(
        codec.UPCASTS, ("research_blocked", 1), lambda payload: {"reason": payload["because"]}
    )
    for payload in ('{"reason":"x"}', "[]", "{", '{"because":7}'):
        with pytest.raises(
            LedgerCorrupt, match=r"stream 'session:s1', event 1: payload of 'research_blocked'"
        ):
            stored(payload, version=1).event()


def test_an_event_of_a_newer_version_is_refused_with_the_way_out() -> None:
    item = stored('{"reason":"no power"}', version=ev.SCHEMA_VERSION + 1)
    with pytest.raises(
        LedgerCorrupt, match=r"event 1: it was written by a newer version \(schema 2.*upgrade"
    ):
        item.event()

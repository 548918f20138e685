"""Which sources of a claim count as one: the one table of a mirror that no table of the ledger holds."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from researchdesk.state.claims import Claim, Link, Source
from researchdesk.state.row_changes import Row, json_text
from researchdesk.state.tables import TABLES
from researchdesk.state.verification import clusters
from researchdesk.stores.ledger import Ledger
from researchdesk.stores.mirror.news import ASKED, in_parts, rows_at

_LINK = ("session_id", "claim_id", "position", "source_id", "artifact_id", "stance", "quotes_other_source")
_SOURCE = ("session_id", "id", "artifact_id", "url", "domain", "origin", "near_duplicates")
_RECEIPT = ("session_id", "source_id", "readable")


def cluster_rows(ledger: Ledger, claims: Iterable[Row]) -> Iterator[Row]:
    """The rows of these claims, each named by session and id."""
    for some in in_parts(claims, ASKED):
        links: dict[Row, list[Link]] = defaultdict(list)
        for row in sorted(rows_at(ledger, TABLES["claim_sources"], some, columns=_LINK)):
            links[row[:2]].append(_link(row))
        named = {(session_id, link.source_id) for (session_id, _), own in links.items() for link in own}
        sources = _sources(ledger, named)
        for (session_id, claim_id), own in links.items():
            known = {link.source_id: sources[session_id, link.source_id] for link in own}
            claim = Claim(id=str(claim_id), text="", kind="fact", links=tuple(own))
            for cluster in clusters(claim, known):
                first, reasons = cluster.source_ids[0], json_text(cluster.reasons)
                yield from ((session_id, claim_id, key, first, reasons) for key in cluster.source_ids)


def _sources(ledger: Ledger, keys: Iterable[Row]) -> dict[Row, Source]:
    found: dict[Row, Source] = {}
    for some in in_parts(keys, ASKED):
        receipts = rows_at(ledger, TABLES["receipts"], some, columns=_RECEIPT)
        readable = {row[:2]: bool(row[2]) for row in receipts}
        for row in rows_at(ledger, TABLES["sources"], some, columns=_SOURCE):
            found[row[:2]] = _source(row, readable.get(row[:2]))
    return found


def _link(row: tuple[Any, ...]) -> Link:
    _, _, _, source_id, artifact_id, stance, repeated = row
    return Link(source_id=source_id, artifact_id=artifact_id, stance=stance, quotes_other_source=repeated)


def _source(row: tuple[Any, ...], readable: bool | None) -> Source:
    """``readable`` is None where nothing was fetched."""
    _, key, artifact_id, url, domain, origin, twins = row
    return Source(
        id=key,
        artifact_id=artifact_id,
        url=url,
        domain=domain,
        origin=origin,
        fetched=readable is not None,
        readable=readable is not False,
        near_duplicates=tuple(orjson.loads(twins)),
    )

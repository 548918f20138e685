"""Which sources of a claim count as one: the one table of a mirror that no table of the ledger holds."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Any

import orjson

from researchdesk.state.claims import Claim, Link, Source
from researchdesk.state.row_changes import Row, json_text
from researchdesk.state.tables import TABLES
from researchdesk.state.verification import clusters
from researchdesk.stores.ledger import Ledger
from researchdesk.stores.mirror.news import ASKED, in_parts, rows_at


def cluster_rows(ledger: Ledger, claims: Iterable[Row]) -> Iterator[Row]:
    """The rows of these claims, each named by session and id."""
    for some in in_parts(claims, ASKED):
        links: dict[Row, list[Link]] = defaultdict(list)
        for row in sorted(rows_at(ledger, TABLES["claim_sources"], some), key=itemgetter(0, 1, 2)):
            links[row[:2]].append(_link(_named("claim_sources", row)))
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
        receipts = {row[:2]: _named("receipts", row) for row in rows_at(ledger, TABLES["receipts"], some)}
        for row in rows_at(ledger, TABLES["sources"], some):
            found[row[:2]] = _source(_named("sources", row), receipts.get(row[:2]))
    return found


def _named(table: str, row: Row) -> dict[str, Any]:
    return dict(zip(TABLES[table].columns, row, strict=True))


def _link(row: dict[str, Any]) -> Link:
    names = ("source_id", "artifact_id", "stance", "quotes_other_source")
    return Link(**{name: row[name] for name in names})


def _source(row: dict[str, Any], receipt: dict[str, Any] | None) -> Source:
    names = ("id", "artifact_id", "url", "domain", "origin")
    return Source(
        **{name: row[name] for name in names},
        fetched=receipt is not None,
        readable=receipt is None or bool(receipt["readable"]),
        near_duplicates=tuple(orjson.loads(row["near_duplicates"])),
    )

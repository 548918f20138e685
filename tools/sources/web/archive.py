"""The desk's ledger as what was read before: pages of all its sessions, by the URL that they came from."""

import json
from dataclasses import dataclass

from researchdesk.state.errors import IntegrityError
from researchdesk.state.locators import canonical_url
from researchdesk.stores.ledger import Ledger
from researchdesk.tools.sources.ports import Known

# By the canonical URL first, which is the shorter way; the receipt then has to name exactly the URL that is asked.
_NEWEST = (
    "SELECT r.media_type, r.charset, r.fetched_at, r.raw_hash, e.payload FROM sources s "
    "JOIN receipts r ON r.session_id = s.session_id AND r.source_id = s.id "
    "JOIN events e ON e.stream = 'session:' || s.session_id AND e.seq = s.seq "
    "WHERE s.url = ? AND r.locator = ? AND r.raw_kept = 1 ORDER BY r.fetched_at DESC LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class LedgerArchive:
    """Looks pages up in a ledger; bytes that were purged, or not kept because of a secret in them, are not there."""

    ledger: Ledger

    def known(self, locator: str) -> Known | None:
        """The newest archived bytes of exactly this URL that a server may call unchanged, or None."""
        rows = self.ledger.query(_NEWEST, (canonical_url(locator), locator))
        if not rows:
            return None
        row = rows[0]
        receipt = json.loads(str(row["payload"]))["receipt"]
        etag, last_modified = receipt.get("etag", ""), receipt.get("last_modified", "")
        raw = self._body(str(row["raw_hash"])) if etag or last_modified else None
        if raw is None:
            return None
        charset = f"; charset={row['charset']}" if row["charset"] else ""
        return Known(
            raw=raw,
            content_type=f"{row['media_type']}{charset}",
            etag=etag,
            last_modified=last_modified,
            fetched_at=str(row["fetched_at"]),
        )

    def _body(self, content_hash: str) -> bytes | None:
        try:
            return self.ledger.body(content_hash)
        except IntegrityError:
            return None  # damaged bytes are no answer; `verify` names them

"""What a desk shows in SQL: a mirror of its ledger in DuckDB, brought up to date when it is asked."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from researchdesk.state.errors import Unavailable, UsageError
from researchdesk.tools.records import Records

if TYPE_CHECKING:
    from duckdb import DuckDBPyRelation

    from researchdesk.stores.mirror.mirror import Mirror, Synced

MIRROR_FILE = "mirror.duckdb"


ANSWER_SECONDS = 60
"""What a query may take unless it is allowed another time."""


def mirror_in(home: Path) -> "Mirror":
    """The mirror in a home folder, whether it is there yet or not; the ledger is not needed to ask it.

    Raises:
        UsageError: the extra is not installed.
    """
    try:
        from researchdesk.stores.mirror.mirror import Mirror
    except ImportError as problem:
        raise UsageError(
            f"the mirror needs DuckDB ({problem}); install it with: pip install 'researchdesk[mirror]'"
        ) from None
    return Mirror(home / MIRROR_FILE)


class Mirroring:
    """The part of a desk that concerns its mirror; no run depends on it, and nothing is lost with it."""

    home: Path
    records: Records

    @property
    def mirror(self) -> "Mirror":
        """The mirror in the home folder, whether it is there yet or not.

        Raises:
            UsageError: the extra is not installed.
        """
        return mirror_in(self.home)

    def sync_mirror(self, *, rebuild: bool = False) -> "Synced":
        """Bring the mirror to where the ledger stands; what is wrong with the mirror is told, never raised.

        Args:
            rebuild: make it anew.

        Raises:
            UsageError: the extra is not installed.
            Unavailable, LedgerCorrupt: the ledger cannot be read.
        """
        return self.mirror.sync(self.records.ledger, rebuild=rebuild)

    def sql(
        self, query: str, *, sync: bool = True, seconds: float | None = ANSWER_SECONDS
    ) -> "DuckDBPyRelation":
        """The rows of one SELECT over the mirror, as a DuckDB relation in memory.

        ``.df()``, ``.pl()``, ``.arrow()`` and ``.fetchall()`` turn it into what they say, and `filter`, `aggregate` and
        the like go on from it. The query can neither change the mirror nor reach files or the network.

        Args:
            sync: bring the mirror up to date before; where that cannot be done, a warning says how far it is behind.
            seconds: how long the query may take; None for any time. An interrupt from the keyboard stops it too.

        Raises:
            UsageError: it is not one SELECT, it cannot be answered, it took too long, or the extra is not installed.
            Unavailable: there is no mirror and none can be made, or another process has it open.
        """
        late = self.late(self.sync_mirror()) if sync else ""
        found = self.mirror.relation(query, seconds=seconds)
        if late:
            warnings.warn(late, stacklevel=2)
        return found

    def late(self, synced: "Synced") -> str:
        """How far an answer after this sync is behind the ledger, and why; empty where it is not.

        Raises:
            Unavailable: there is no mirror.
        """
        if synced.ok:
            return ""
        try:
            behind = self.mirror.behind(self.records.ledger)
        except Unavailable as problem:
            raise Unavailable(f"{synced.note}; {problem}") from None
        return f"{synced.note}; this is {behind:,} events behind" if behind else ""

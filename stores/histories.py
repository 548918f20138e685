"""Whether two ledgers hold the same history under a stream's name, and where it parts."""

from collections.abc import Mapping

from researchdesk.state.errors import UsageError
from researchdesk.stores.ledger import Head, Ledger

SHOWN = 10


def check_histories(
    source: Ledger, target: Ledger, ends: Mapping[str, Head], there: Mapping[str, Head]
) -> None:
    """Refuse a target that holds something else under a stream's name than the beginning of the source's.

    Args:
        ends: the streams of the source, and where each ends.
        there: the same streams in the target.

    Raises:
        UsageError: the message names each such stream and the event from which on they differ.
    """
    problems = [
        f"{stream}: {problem}"
        for stream, end in ends.items()
        if (problem := _difference(source, target, stream, end=end, there=there[stream]))
    ]
    if problems:
        more = f" and {len(problems) - SHOWN} more" if len(problems) > SHOWN else ""
        raise UsageError(
            "the target holds another history than the source; nothing was copied. Copy into another home, or the "
            f"other way round where the target went on: {'; '.join(problems[:SHOWN])}{more}"
        )


def _difference(source: Ledger, target: Ledger, stream: str, *, end: Head, there: Head) -> str:
    """How the target's stream is no beginning of the source's; empty where it is one."""
    shared = min(end.count, there.count)
    if not shared or _event_hash(source, stream, shared) == _event_hash(target, stream, shared):
        ahead = there.count > end.count > 0
        return f"the target goes on to event {there.count}, the source ends at {end.count}" if ahead else ""
    equal, parted = 0, shared  # hashes are chained: where one is the same, so are all before it
    while parted - equal > 1:
        middle = (equal + parted) // 2
        if _event_hash(source, stream, middle) == _event_hash(target, stream, middle):
            equal = middle
        else:
            parted = middle
    return f"from event {parted} on they differ ({_shown(source, stream, parted)}, {_shown(target, stream, parted)})"


def _event_hash(ledger: Ledger, stream: str, seq: int) -> object:
    found = ledger.query("SELECT hash FROM events WHERE stream = ? AND seq = ?", (stream, seq))
    return found[0]["hash"] if found else None


def _shown(ledger: Ledger, stream: str, seq: int) -> str:
    found = ledger.query("SELECT type, ts FROM events WHERE stream = ? AND seq = ?", (stream, seq))
    return f"{found[0]['type']} of {found[0]['ts']}" if found else "no such event"

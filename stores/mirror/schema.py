"""What stands in a mirror: the ledger's tables with types, one derived table, and views."""

import hashlib
from collections.abc import Iterator
from importlib.resources import files
from typing import Final

from researchdesk.state.tables import TABLES, Table

EVENTS: Final = Table(
    name="events",
    columns=(
        *("global_seq", "stream", "seq", "event_id", "type", "schema_version"),
        *("ts", "refs", "payload", "prev_hash", "hash"),
    ),
    key_size=1,
)
CLUSTERS: Final = Table(
    name="claim_clusters", columns=("session_id", "claim_id", "source_id", "cluster", "reasons"), key_size=3
)
"""Of each source whose support counts for a claim: the first source of those that count as one with it, and why."""
MIRRORED: Final[dict[str, Table]] = {EVENTS.name: EVENTS, **TABLES}
ALL: Final[dict[str, Table]] = {**MIRRORED, CLUSTERS.name: CLUSTERS}
VIEWS: Final = (
    *("io_log", "question_timeline", "question_times"),
    *("claim_support", "challenge_outcomes", "verification_by_question", "verification_by_run"),
    *("source_concentration", "orphans", "dead_ends"),
    *("forks", "model_requests", "usage_by_stage", "usage_by_model", "usage_by_tool"),
    *("tool_health", "approvals"),
    *("runs", "model_comparison"),
)
"""In an order in which each one stands on those before it."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NUMBERS = _names(
    "attempts_before chars created_seq depth duration_ms global_seq hits input_tokens named_seq ordinal output_tokens "
    "position priority quote_end quote_start raw_bytes redactions released_seq reopens results rev round "
    "schema_version seq state_seq step total trans_seq updated_seq receipts.status"
)
_FLAGS = _names("deleted destructive focused raw_kept readable usage_reported")
_TIMES = _names("approved_at created_at decided_at executed_at expires_at fetched_at ts updated_at")
_JSON = _names(
    "approved_arguments arguments artifact_ids claim_ids context corpus data hashes ignored_paths keywords labels "
    "meta near_duplicates next_steps open_questions payload reasons redirects refs roots sections task_ids "
    "worker_run_ids checklist_items.evidence research_steps.evidence"
)


def column_type(table: str, column: str) -> str:
    """The type of a column here: ISO times, JSON texts and flags are such, other texts are VARCHAR."""
    names = {column, f"{table}.{column}"}
    for known, kind in (
        (_NUMBERS, "BIGINT"),
        (_FLAGS, "BOOLEAN"),
        (_TIMES, "TIMESTAMPTZ"),
        (_JSON, "JSON"),
    ):
        if names & known:
            return kind
    return "VARCHAR"


def stored_type(table: str, column: str) -> str:
    """What the ledger hands out for a column: a number or a text."""
    return "BIGINT" if column_type(table, column) in ("BIGINT", "BOOLEAN") else "VARCHAR"


def quoted(name: str) -> str:
    """A column's name; ``user`` is a word of the language."""
    return f'"{name}"'


def typed(table: str, column: str) -> str:
    """The SQL from what the ledger hands out to a column's value here; what is empty or no such value is NULL."""
    kind, name = column_type(table, column), quoted(column)
    if kind in ("TIMESTAMPTZ", "JSON"):
        return f"TRY_CAST({name} AS {kind})"
    return f"{name}::BOOLEAN" if kind == "BOOLEAN" else name


def statements() -> Iterator[str]:
    """What makes an empty mirror. No keys and no indexes: they would cost more than loading itself."""
    for table in ALL.values():
        columns = (f"{quoted(name)} {column_type(table.name, name)}" for name in table.columns)
        yield f"CREATE TABLE {table.name} ({', '.join(columns)})"
    yield "CREATE TABLE mirror_info (schema VARCHAR)"
    yield from view_statements()


def view_statements() -> Iterator[str]:
    """What makes the views."""
    folder = files("researchdesk.stores.mirror") / "views"
    for name in VIEWS:
        yield (folder / f"{name}.sql").read_text(encoding="utf-8")


def version() -> str:
    """A digest of all that makes a mirror: one with another was made by another version and is made anew."""
    return hashlib.sha256("\n".join(statements()).encode()).hexdigest()[:16]

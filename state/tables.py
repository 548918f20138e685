"""The relational tables that the events of sessions and desks fill: their columns, in order, and their keys.

The DDL of each database repeats these names; a test holds them together. Values are str, int, float or None.
"""

from dataclasses import dataclass

Value = str | int | float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table: its name, its columns in order, and how many of the first ones are the key.

    ``added`` are the defaults of the last columns, those that a later schema step added to it.
    """

    name: str
    columns: tuple[str, ...]
    key_size: int
    added: tuple[Value, ...] = ()

    @property
    def owner(self) -> str:
        """The column that says which session or desk a row belongs to."""
        return self.columns[0]

    @property
    def key(self) -> tuple[str, ...]:
        """The key columns."""
        return self.columns[: self.key_size]


def _table(name: str, key: str, rest: str, *, added: tuple[Value, ...] = ()) -> Table:
    keys = tuple(key.split())
    return Table(name=name, columns=keys + tuple(rest.split()), key_size=len(keys), added=added)


# In an order in which foreign keys hold when rows are written from the first to the last.
TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        _table("sessions", "session_id", "labels user parent profile continues created_at"),
        _table(
            "research_runs",
            "session_id",
            "objective scope_level template stage status round stop_reason blocked_reason report_artifact_id "
            "handoff_artifact_id corpus model created_seq notes_id",
            added=("",),
        ),
        _table("messages", "session_id id", "turn_id role content content_hash context seq created_at"),
        _table(
            "tool_calls",
            "session_id turn_id id",
            "message_id name arguments result result_hash data entity_type entity_id status code input_digest "
            "duration_ms seq created_at",
        ),
        _table(
            "artifacts",
            "session_id id",
            "role name summary locator content_hash chars provenance section_key section_status redactions "
            "seq created_at",
        ),
        _table("artifact_sources", "session_id artifact_id source_artifact_id", "position"),
        _table(
            "sources",
            "session_id id",
            "artifact_id url domain origin origin_reason title seq created_at signature near_duplicates",
            added=("", "[]"),
        ),
        _table(
            "receipts",
            "session_id source_id",
            "requested locator redirects status media_type charset extractor extractor_version fetched_at raw_hash "
            "raw_bytes raw_kept text_hash title sections redactions readable note",
        ),
        _table("artifact_quotes", "session_id artifact_id position", "source_id quote_start quote_end"),
        _table("searches", "session_id seq", "query provider hits total created_at"),
        _table(
            "checklist_items", "session_id id", "position title status evidence blocked_reason updated_seq"
        ),
        _table(
            "research_steps",
            "session_id step",
            "kind status objective summary roots keywords ignored_paths stopping_condition expected_evidence "
            "evidence worker_run_ids blocked_reason seq created_at",
        ),
        _table("inspected_refs", "session_id step position", "kind locator label source_artifact_id"),
        _table(
            "checkpoints",
            "session_id seq",
            "round stage status summary open_questions next_steps artifact_ids task_ids created_at",
        ),
        _table("report_sections", "session_id key", "position title status artifact_id updated_seq"),
        _table(
            "model_calls",
            "session_id ordinal",
            "turn_id model stage status request_digest input_tokens output_tokens usage_reported finish_reason "
            "detail seq",
        ),
        _table("session_bodies", "session_id hash", "named_seq released_seq"),
        _table("purges", "session_id seq", "artifact_id hashes actor reason created_at"),
        _table("drafts", "session_id", "id from_session prompt created_at"),
        _table(
            "frontier_questions",
            "session_id id",
            "parent_id depth kind text why status priority answer claim_ids assumption reopens attempts_before "
            "created_seq trans_seq updated_seq",
        ),
        _table("frontier_deps", "session_id question_id depends_on", "state_seq"),
        _table(
            "frontier_transitions",
            "session_id question_id seq",
            "from_status to_status trigger actor reason priority state_seq created_at",
        ),
        _table(
            "frontier_attempts",
            "session_id question_id seq",
            "id kind query outcome results challenge_id under cause updated_seq",
        ),
        _table(
            "claims",
            "session_id id",
            "question_id text kind value unit status scope check_text note updated_seq",
        ),
        _table(
            "claim_sources",
            "session_id claim_id position",
            "source_id artifact_id stance quote quote_start quote_end quotes_other_source state_seq created_at",
        ),
        _table(
            "challenges",
            "session_id id",
            "target_kind target_id strategy negation expected_if_false query status outcome evidence "
            "result_claim_id attempt_id cause updated_seq",
        ),
        _table("challenge_sources", "session_id challenge_id source_id", "position"),
        _table("datapoints", "session_id id", "label value unit as_of about updated_seq"),
        _table("contradictions", "session_id id", "claim_id other_id differs status note updated_seq"),
        _table("open_points", "session_id id", "kind text question_id updated_seq"),
        _table("source_notes", "session_id source_id", "note updated_seq"),
        _table("notes_versions", "session_id seq", "state_seq reason text text_hash created_at"),
        _table(
            "desk_files",
            "desk_id id",
            "path kind content_hash chars rev deleted session_id turn_id tool_call_id "
            "created_by created_at created_seq updated_by updated_at updated_seq",
        ),
        _table(
            "file_revisions",
            "desk_id id",
            "file_id rev path kind content_hash chars deleted op actor proposal_id seq created_at",
        ),
        _table(
            "proposals",
            "desk_id id",
            "session_id turn_id tool_call_id tool arguments approved_arguments file_id path verb destructive guard "
            "base_hash after_hash diff proposal_hash depends_on supersedes shadow status decided_by decided_at reason "
            "approved_by approved_at executed_at error expires_at created_at created_seq updated_seq",
        ),
        _table(
            "panels",
            "desk_id session_id id",
            "position type title file_id focused indicator meta",
        ),
        _table("desk_bodies", "desk_id hash", "named_seq"),
    )
}


def tables_of(stream: str) -> dict[str, Table]:
    """The tables that a stream of that name fills."""
    owner = f"{stream.partition(':')[0]}_id"
    return {name: table for name, table in TABLES.items() if table.owner == owner}

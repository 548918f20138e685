-- The ledger: append-only events, their heads, the bodies they name, and the rows that they imply.

CREATE TABLE events (
    global_seq     INTEGER PRIMARY KEY,
    stream         TEXT NOT NULL,
    seq            INTEGER NOT NULL CHECK (seq >= 1),
    event_id       TEXT NOT NULL UNIQUE,
    type           TEXT NOT NULL,
    schema_version INTEGER NOT NULL CHECK (schema_version >= 1),
    ts             TEXT NOT NULL,
    refs           TEXT NOT NULL,
    payload        TEXT NOT NULL,
    prev_hash      TEXT NOT NULL,
    hash           TEXT NOT NULL CHECK (length(hash) = 64),
    UNIQUE (stream, seq)
) STRICT;

-- Outside the events table, so that a cut tail is found too.
CREATE TABLE heads (
    stream      TEXT PRIMARY KEY,
    count       INTEGER NOT NULL CHECK (count >= 1),
    hash        TEXT NOT NULL CHECK (length(hash) = 64),
    rows_digest TEXT NOT NULL CHECK (length(rows_digest) = 64)
) STRICT, WITHOUT ROWID;

CREATE TABLE blobs (
    hash  TEXT PRIMARY KEY CHECK (hash GLOB 'sha256:*'),
    bytes BLOB NOT NULL
) STRICT;

CREATE TABLE leases (
    session_id  TEXT PRIMARY KEY,
    epoch       INTEGER NOT NULL CHECK (epoch >= 1),
    holder      TEXT NOT NULL,
    acquired_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What a call fetched from the world before it was decided; gone when the call has its record.
CREATE TABLE gathered (
    session_id   TEXT NOT NULL,
    turn_id      TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    input_digest TEXT NOT NULL,
    receipt      TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    PRIMARY KEY (session_id, turn_id, tool_call_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE gathered_bodies (
    session_id   TEXT NOT NULL,
    turn_id      TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    hash         TEXT NOT NULL,
    bytes        BLOB NOT NULL,
    PRIMARY KEY (session_id, turn_id, tool_call_id, hash),
    FOREIGN KEY (session_id, turn_id, tool_call_id) REFERENCES gathered ON DELETE CASCADE
) STRICT;

CREATE TABLE sessions (
    session_id TEXT PRIMARY KEY,
    labels     TEXT NOT NULL CHECK (json_valid(labels)),
    user       TEXT NOT NULL,
    parent     TEXT NOT NULL,
    profile    TEXT NOT NULL CHECK (profile IN ('explore', 'desk')),
    continues  TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE research_runs (
    session_id          TEXT PRIMARY KEY REFERENCES sessions DEFERRABLE INITIALLY DEFERRED,
    objective           TEXT NOT NULL CHECK (length(objective) BETWEEN 1 AND 2000),
    scope_level         TEXT NOT NULL CHECK (scope_level IN ('quick', 'standard', 'deep')),
    template            TEXT NOT NULL,
    stage               TEXT NOT NULL CHECK (stage IN ('knowledge_base', 'report_writing', 'completed')),
    status              TEXT NOT NULL CHECK (status IN ('active', 'blocked', 'completed')),
    round               INTEGER NOT NULL CHECK (round >= 0),
    stop_reason         TEXT CHECK (stop_reason IN ('budget_tokens', 'budget_usd', 'wall_time', 'step_cap',
                                                    'no_progress', 'loop', 'model_unavailable', 'user_stopped')),
    blocked_reason      TEXT NOT NULL,
    report_artifact_id  TEXT,
    handoff_artifact_id TEXT,
    corpus              TEXT NOT NULL CHECK (json_valid(corpus)),
    model               TEXT NOT NULL,
    created_seq         INTEGER NOT NULL,
    CHECK ((stage = 'completed') = (status = 'completed')),
    FOREIGN KEY (session_id, report_artifact_id) REFERENCES artifacts (session_id, id)
        DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, handoff_artifact_id) REFERENCES artifacts (session_id, id)
        DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE messages (
    session_id   TEXT NOT NULL REFERENCES sessions DEFERRABLE INITIALLY DEFERRED,
    id           TEXT NOT NULL,
    turn_id      TEXT NOT NULL,
    role         TEXT NOT NULL CHECK (role IN ('user', 'assistant', 'caller')),
    content      TEXT NOT NULL,
    content_hash TEXT NOT NULL,
    context      TEXT NOT NULL,
    seq          INTEGER NOT NULL,
    created_at   TEXT NOT NULL,
    PRIMARY KEY (session_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE tool_calls (
    session_id   TEXT NOT NULL,
    turn_id      TEXT NOT NULL,
    id           TEXT NOT NULL,
    message_id   TEXT NOT NULL,
    name         TEXT NOT NULL,
    arguments    TEXT NOT NULL,
    result       TEXT NOT NULL,
    result_hash  TEXT NOT NULL,
    data         TEXT NOT NULL CHECK (json_valid(data)),
    entity_type  TEXT NOT NULL,
    entity_id    TEXT NOT NULL,
    status       TEXT NOT NULL CHECK (status IN ('success', 'pending', 'error')),
    code         TEXT NOT NULL,
    input_digest TEXT NOT NULL,
    duration_ms  INTEGER NOT NULL CHECK (duration_ms >= 0),
    seq          INTEGER NOT NULL,
    created_at   TEXT NOT NULL,
    PRIMARY KEY (session_id, turn_id, id),
    FOREIGN KEY (session_id, message_id) REFERENCES messages (session_id, id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE artifacts (
    session_id     TEXT NOT NULL REFERENCES sessions DEFERRABLE INITIALLY DEFERRED,
    id             TEXT NOT NULL,
    role           TEXT NOT NULL
        CHECK (role IN ('source', 'evidence_note', 'outline', 'report_section', 'report', 'handoff')),
    name           TEXT NOT NULL CHECK (length(name) BETWEEN 1 AND 240),
    summary        TEXT NOT NULL,
    locator        TEXT NOT NULL CHECK (length(locator) <= 4096),
    content_hash   TEXT NOT NULL CHECK (content_hash GLOB 'sha256:*'),
    chars          INTEGER NOT NULL CHECK (chars >= 0),
    provenance     TEXT NOT NULL CHECK (provenance IN ('fetched', 'supplied', 'written', 'code')),
    section_key    TEXT NOT NULL,
    section_status TEXT NOT NULL CHECK (section_status IN ('', 'pending', 'drafted', 'completed')),
    redactions     INTEGER NOT NULL CHECK (redactions >= 0),
    seq            INTEGER NOT NULL,
    created_at     TEXT NOT NULL,
    PRIMARY KEY (session_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE artifact_sources (
    session_id         TEXT NOT NULL,
    artifact_id        TEXT NOT NULL,
    source_artifact_id TEXT NOT NULL,
    position           INTEGER NOT NULL,
    PRIMARY KEY (session_id, artifact_id, source_artifact_id),
    FOREIGN KEY (session_id, artifact_id) REFERENCES artifacts (session_id, id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, source_artifact_id) REFERENCES artifacts (session_id, id)
        DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE sources (
    session_id    TEXT NOT NULL,
    id            TEXT NOT NULL,
    artifact_id   TEXT NOT NULL,
    url           TEXT NOT NULL,
    domain        TEXT NOT NULL,
    origin        TEXT NOT NULL,
    origin_reason TEXT NOT NULL,
    title         TEXT,
    seq           INTEGER NOT NULL,
    created_at    TEXT NOT NULL,
    PRIMARY KEY (session_id, id),
    UNIQUE (session_id, artifact_id),
    FOREIGN KEY (session_id, artifact_id) REFERENCES artifacts (session_id, id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE receipts (
    session_id        TEXT NOT NULL,
    source_id         TEXT NOT NULL,
    requested         TEXT NOT NULL,
    locator           TEXT NOT NULL,
    redirects         TEXT NOT NULL CHECK (json_valid(redirects)),
    status            INTEGER NOT NULL,
    media_type        TEXT NOT NULL,
    charset           TEXT NOT NULL,
    extractor         TEXT NOT NULL,
    extractor_version TEXT NOT NULL,
    fetched_at        TEXT NOT NULL,
    raw_hash          TEXT NOT NULL CHECK (raw_hash GLOB 'sha256:*'),
    raw_bytes         INTEGER NOT NULL CHECK (raw_bytes >= 0),
    raw_kept          INTEGER NOT NULL CHECK (raw_kept IN (0, 1)),
    text_hash         TEXT NOT NULL CHECK (text_hash GLOB 'sha256:*'),
    title             TEXT,
    sections          TEXT NOT NULL CHECK (json_valid(sections)),
    redactions        INTEGER NOT NULL,
    readable          INTEGER NOT NULL CHECK (readable IN (0, 1)),
    note              TEXT NOT NULL,
    PRIMARY KEY (session_id, source_id),
    FOREIGN KEY (session_id, source_id) REFERENCES sources (session_id, id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE artifact_quotes (
    session_id  TEXT NOT NULL,
    artifact_id TEXT NOT NULL,
    position    INTEGER NOT NULL,
    source_id   TEXT NOT NULL,
    quote_start INTEGER NOT NULL CHECK (quote_start >= 0),
    quote_end   INTEGER NOT NULL CHECK (quote_end > quote_start),
    PRIMARY KEY (session_id, artifact_id, position),
    FOREIGN KEY (session_id, artifact_id) REFERENCES artifacts (session_id, id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, source_id) REFERENCES sources (session_id, id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE searches (
    session_id TEXT NOT NULL REFERENCES sessions DEFERRABLE INITIALLY DEFERRED,
    seq        INTEGER NOT NULL,
    query      TEXT NOT NULL,
    provider   TEXT NOT NULL,
    hits       INTEGER NOT NULL CHECK (hits >= 0),
    total      INTEGER NOT NULL CHECK (total >= hits),
    created_at TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE checklist_items (
    session_id     TEXT NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    id             TEXT NOT NULL,
    position       INTEGER NOT NULL,
    title          TEXT NOT NULL,
    status         TEXT NOT NULL CHECK (status IN ('pending', 'in_progress', 'blocked', 'completed', 'skipped')),
    evidence       TEXT NOT NULL CHECK (json_valid(evidence)),
    blocked_reason TEXT NOT NULL,
    updated_seq    INTEGER NOT NULL,
    PRIMARY KEY (session_id, id),
    CHECK (status <> 'completed' OR evidence <> '[]'),
    CHECK ((status IN ('blocked', 'skipped')) = (blocked_reason <> ''))
) STRICT, WITHOUT ROWID;

CREATE TABLE research_steps (
    session_id         TEXT NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    step               INTEGER NOT NULL CHECK (step BETWEEN 1 AND 500),
    kind               TEXT NOT NULL CHECK (kind IN ('local_exploration', 'web_research')),
    status             TEXT NOT NULL CHECK (status IN ('completed', 'blocked', 'stopped')),
    objective          TEXT NOT NULL,
    summary            TEXT NOT NULL,
    roots              TEXT NOT NULL CHECK (json_valid(roots)),
    keywords           TEXT NOT NULL CHECK (json_valid(keywords)),
    ignored_paths      TEXT NOT NULL CHECK (json_valid(ignored_paths)),
    stopping_condition TEXT NOT NULL CHECK (stopping_condition <> ''),
    expected_evidence  TEXT NOT NULL CHECK (expected_evidence <> ''),
    evidence           TEXT NOT NULL CHECK (json_valid(evidence)),
    worker_run_ids     TEXT NOT NULL CHECK (json_valid(worker_run_ids)),
    blocked_reason     TEXT NOT NULL,
    seq                INTEGER NOT NULL,
    created_at         TEXT NOT NULL,
    PRIMARY KEY (session_id, step),
    CHECK (kind <> 'local_exploration' OR roots <> '[]'),
    CHECK (kind <> 'web_research' OR keywords <> '[]'),
    CHECK (status <> 'completed' OR evidence <> '[]'),
    CHECK (status <> 'blocked' OR blocked_reason <> '')
) STRICT, WITHOUT ROWID;

CREATE TABLE inspected_refs (
    session_id         TEXT NOT NULL,
    step               INTEGER NOT NULL,
    position           INTEGER NOT NULL,
    kind               TEXT NOT NULL CHECK (kind IN ('file', 'symbol', 'config', 'test', 'runtime', 'url')),
    locator            TEXT NOT NULL CHECK (locator <> ''),
    label              TEXT NOT NULL,
    source_artifact_id TEXT,
    PRIMARY KEY (session_id, step, position),
    FOREIGN KEY (session_id, step) REFERENCES research_steps (session_id, step) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, source_artifact_id) REFERENCES artifacts (session_id, id)
        DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE checkpoints (
    session_id     TEXT NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    seq            INTEGER NOT NULL,
    round          INTEGER NOT NULL CHECK (round >= 0),
    stage          TEXT NOT NULL CHECK (stage IN ('knowledge_base', 'report_writing')),
    status         TEXT NOT NULL CHECK (status IN ('active', 'blocked')),
    summary        TEXT NOT NULL,
    open_questions TEXT NOT NULL CHECK (json_valid(open_questions)),
    next_steps     TEXT NOT NULL CHECK (json_valid(next_steps)),
    artifact_ids   TEXT NOT NULL CHECK (json_valid(artifact_ids)),
    task_ids       TEXT NOT NULL CHECK (json_valid(task_ids)),
    created_at     TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE report_sections (
    session_id  TEXT NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    key         TEXT NOT NULL,
    position    INTEGER NOT NULL,
    title       TEXT NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('pending', 'drafted', 'completed')),
    artifact_id TEXT,
    updated_seq INTEGER NOT NULL,
    PRIMARY KEY (session_id, key),
    CHECK ((status = 'pending') = (artifact_id IS NULL)),
    FOREIGN KEY (session_id, artifact_id) REFERENCES artifacts (session_id, id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE model_calls (
    session_id     TEXT NOT NULL REFERENCES sessions DEFERRABLE INITIALLY DEFERRED,
    ordinal        INTEGER NOT NULL CHECK (ordinal >= 1),
    turn_id        TEXT NOT NULL,
    model          TEXT NOT NULL,
    stage          TEXT NOT NULL CHECK (stage IN ('knowledge_base', 'report_writing', 'completed')),
    status         TEXT NOT NULL CHECK (status IN ('asked', 'answered', 'failed')),
    request_digest TEXT NOT NULL,
    input_tokens   INTEGER NOT NULL CHECK (input_tokens >= 0),
    output_tokens  INTEGER NOT NULL CHECK (output_tokens >= 0),
    usage_reported INTEGER NOT NULL CHECK (usage_reported IN (0, 1)),
    finish_reason  TEXT NOT NULL,
    detail         TEXT NOT NULL,
    seq            INTEGER NOT NULL,
    PRIMARY KEY (session_id, ordinal)
) STRICT, WITHOUT ROWID;

-- The bodies that a session's events name; one with a released_seq is no longer needed by this session.
CREATE TABLE session_bodies (
    session_id   TEXT NOT NULL REFERENCES sessions DEFERRABLE INITIALLY DEFERRED,
    hash         TEXT NOT NULL CHECK (hash GLOB 'sha256:*'),
    named_seq    INTEGER NOT NULL,
    released_seq INTEGER CHECK (released_seq > named_seq),
    PRIMARY KEY (session_id, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_bodies_by_hash ON session_bodies (hash, released_seq);

CREATE TABLE purges (
    session_id  TEXT NOT NULL REFERENCES sessions DEFERRABLE INITIALLY DEFERRED,
    seq         INTEGER NOT NULL,
    artifact_id TEXT NOT NULL,
    hashes      TEXT NOT NULL CHECK (json_valid(hashes)),
    actor       TEXT NOT NULL,
    reason      TEXT NOT NULL,
    created_at  TEXT NOT NULL,
    PRIMARY KEY (session_id, seq),
    FOREIGN KEY (session_id, artifact_id) REFERENCES artifacts (session_id, id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE drafts (
    session_id   TEXT PRIMARY KEY REFERENCES sessions DEFERRABLE INITIALLY DEFERRED,
    id           TEXT NOT NULL,
    from_session TEXT NOT NULL,
    prompt       TEXT NOT NULL CHECK (length(prompt) <= 12000),
    created_at   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE VIEW io_log AS
SELECT m.session_id, m.id AS message_id, m.turn_id, m.role, m.content, m.content_hash, m.seq AS message_seq,
       m.created_at, t.id AS tool_call_id, t.name, t.arguments, t.result, t.result_hash, t.entity_type,
       t.entity_id, t.status, t.code, t.duration_ms, t.seq AS tool_seq, t.created_at AS tool_created_at
FROM messages m
LEFT JOIN tool_calls t ON t.session_id = m.session_id AND t.message_id = m.id;

CREATE TRIGGER events_keep_update BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_keep_delete BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are append-only'); END;
CREATE TRIGGER artifacts_keep_update BEFORE UPDATE ON artifacts
BEGIN SELECT RAISE(ABORT, 'artifacts are append-only'); END;
CREATE TRIGGER artifacts_keep_delete BEFORE DELETE ON artifacts
BEGIN SELECT RAISE(ABORT, 'artifacts are append-only'); END;
CREATE TRIGGER blobs_keep_update BEFORE UPDATE ON blobs
BEGIN SELECT RAISE(ABORT, 'blobs are append-only'); END;
-- Only a recorded purge may remove a body, and only when no session stands on it any more.
CREATE TRIGGER blobs_keep_delete BEFORE DELETE ON blobs
WHEN NOT EXISTS (SELECT 1 FROM session_bodies WHERE hash = OLD.hash)
    OR EXISTS (SELECT 1 FROM session_bodies WHERE hash = OLD.hash AND released_seq IS NULL)
BEGIN SELECT RAISE(ABORT, 'blobs are append-only; only a recorded purge removes one'); END;

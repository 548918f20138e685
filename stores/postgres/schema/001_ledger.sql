-- The ledger: append-only events, their heads, the bodies they name, and the rows that they imply.

CREATE TABLE events (
    global_seq     BIGINT PRIMARY KEY CHECK (global_seq >= 1),
    stream         TEXT COLLATE "C" NOT NULL,
    seq            BIGINT NOT NULL CHECK (seq >= 1),
    event_id       TEXT COLLATE "C" NOT NULL UNIQUE,
    type           TEXT COLLATE "C" NOT NULL,
    schema_version BIGINT NOT NULL CHECK (schema_version >= 1),
    ts             TEXT COLLATE "C" NOT NULL,
    refs           TEXT COLLATE "C" NOT NULL,
    payload        TEXT COLLATE "C" NOT NULL,
    prev_hash      TEXT COLLATE "C" NOT NULL,
    hash           TEXT COLLATE "C" NOT NULL CHECK (length(hash) = 64),
    UNIQUE (stream, seq)
);

-- Outside the events table, so that a cut tail is found too.
CREATE TABLE heads (
    stream      TEXT COLLATE "C" PRIMARY KEY,
    count       BIGINT NOT NULL CHECK (count >= 1),
    hash        TEXT COLLATE "C" NOT NULL CHECK (length(hash) = 64),
    rows_digest TEXT COLLATE "C" NOT NULL CHECK (length(rows_digest) = 64)
);

CREATE TABLE blobs (
    hash  TEXT COLLATE "C" PRIMARY KEY CHECK (hash LIKE 'sha256:%'),
    bytes BYTEA NOT NULL
);

CREATE TABLE leases (
    session_id  TEXT COLLATE "C" PRIMARY KEY,
    epoch       BIGINT NOT NULL CHECK (epoch >= 1),
    holder      TEXT COLLATE "C" NOT NULL,
    acquired_at TEXT COLLATE "C" NOT NULL
);

-- What a call fetched from the world before it was decided; gone when the call has its record.
CREATE TABLE gathered (
    session_id   TEXT COLLATE "C" NOT NULL,
    turn_id      TEXT COLLATE "C" NOT NULL,
    tool_call_id TEXT COLLATE "C" NOT NULL,
    input_digest TEXT COLLATE "C" NOT NULL,
    receipt      TEXT COLLATE "C" NOT NULL,
    created_at   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session_id, turn_id, tool_call_id)
);

CREATE TABLE gathered_bodies (
    session_id   TEXT COLLATE "C" NOT NULL,
    turn_id      TEXT COLLATE "C" NOT NULL,
    tool_call_id TEXT COLLATE "C" NOT NULL,
    hash         TEXT COLLATE "C" NOT NULL,
    bytes        BYTEA NOT NULL,
    PRIMARY KEY (session_id, turn_id, tool_call_id, hash),
    FOREIGN KEY (session_id, turn_id, tool_call_id) REFERENCES gathered ON DELETE CASCADE
);

CREATE TABLE sessions (
    session_id TEXT COLLATE "C" PRIMARY KEY,
    labels     TEXT COLLATE "C" NOT NULL CHECK (labels::json IS NOT NULL),
    "user"       TEXT COLLATE "C" NOT NULL,
    parent     TEXT COLLATE "C" NOT NULL,
    profile    TEXT COLLATE "C" NOT NULL CHECK (profile IN ('explore', 'desk')),
    continues  TEXT COLLATE "C" NOT NULL,
    created_at TEXT COLLATE "C" NOT NULL
);

CREATE TABLE research_runs (
    session_id          TEXT COLLATE "C" PRIMARY KEY REFERENCES sessions DEFERRABLE INITIALLY DEFERRED,
    objective           TEXT COLLATE "C" NOT NULL CHECK (length(objective) BETWEEN 1 AND 2000),
    scope_level         TEXT COLLATE "C" NOT NULL CHECK (scope_level IN ('quick', 'standard', 'deep')),
    template            TEXT COLLATE "C" NOT NULL,
    stage               TEXT COLLATE "C" NOT NULL CHECK (stage IN ('knowledge_base', 'report_writing', 'completed')),
    status              TEXT COLLATE "C" NOT NULL CHECK (status IN ('active', 'blocked', 'completed')),
    round               BIGINT NOT NULL CHECK (round >= 0),
    stop_reason         TEXT COLLATE "C" CHECK (stop_reason IN ('budget_tokens', 'budget_usd', 'wall_time', 'step_cap',
                                                    'no_progress', 'loop', 'model_unavailable', 'user_stopped')),
    blocked_reason      TEXT COLLATE "C" NOT NULL,
    report_artifact_id  TEXT COLLATE "C",
    handoff_artifact_id TEXT COLLATE "C",
    corpus              TEXT COLLATE "C" NOT NULL CHECK (corpus::json IS NOT NULL),
    model               TEXT COLLATE "C" NOT NULL,
    created_seq         BIGINT NOT NULL,
    CHECK ((stage = 'completed') = (status = 'completed'))
);

CREATE TABLE messages (
    session_id   TEXT COLLATE "C" NOT NULL REFERENCES sessions DEFERRABLE INITIALLY DEFERRED,
    id           TEXT COLLATE "C" NOT NULL,
    turn_id      TEXT COLLATE "C" NOT NULL,
    role         TEXT COLLATE "C" NOT NULL CHECK (role IN ('user', 'assistant', 'caller')),
    content      TEXT COLLATE "C" NOT NULL,
    content_hash TEXT COLLATE "C" NOT NULL,
    context      TEXT COLLATE "C" NOT NULL,
    seq          BIGINT NOT NULL,
    created_at   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session_id, id)
);

CREATE TABLE tool_calls (
    session_id   TEXT COLLATE "C" NOT NULL,
    turn_id      TEXT COLLATE "C" NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    message_id   TEXT COLLATE "C" NOT NULL,
    name         TEXT COLLATE "C" NOT NULL,
    arguments    TEXT COLLATE "C" NOT NULL,
    result       TEXT COLLATE "C" NOT NULL,
    result_hash  TEXT COLLATE "C" NOT NULL,
    data         TEXT COLLATE "C" NOT NULL CHECK (data::json IS NOT NULL),
    entity_type  TEXT COLLATE "C" NOT NULL,
    entity_id    TEXT COLLATE "C" NOT NULL,
    status       TEXT COLLATE "C" NOT NULL CHECK (status IN ('success', 'pending', 'error')),
    code         TEXT COLLATE "C" NOT NULL,
    input_digest TEXT COLLATE "C" NOT NULL,
    duration_ms  BIGINT NOT NULL CHECK (duration_ms >= 0),
    seq          BIGINT NOT NULL,
    created_at   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session_id, turn_id, id),
    FOREIGN KEY (session_id, message_id) REFERENCES messages (session_id, id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE artifacts (
    session_id     TEXT COLLATE "C" NOT NULL REFERENCES sessions DEFERRABLE INITIALLY DEFERRED,
    id             TEXT COLLATE "C" NOT NULL,
    role           TEXT COLLATE "C" NOT NULL
        CHECK (role IN ('source', 'evidence_note', 'outline', 'report_section', 'report', 'handoff')),
    name           TEXT COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 240),
    summary        TEXT COLLATE "C" NOT NULL,
    locator        TEXT COLLATE "C" NOT NULL CHECK (length(locator) <= 4096),
    content_hash   TEXT COLLATE "C" NOT NULL CHECK (content_hash LIKE 'sha256:%'),
    chars          BIGINT NOT NULL CHECK (chars >= 0),
    provenance     TEXT COLLATE "C" NOT NULL CHECK (provenance IN ('fetched', 'supplied', 'written', 'code')),
    section_key    TEXT COLLATE "C" NOT NULL,
    section_status TEXT COLLATE "C" NOT NULL CHECK (section_status IN ('', 'pending', 'drafted', 'completed')),
    redactions     BIGINT NOT NULL CHECK (redactions >= 0),
    seq            BIGINT NOT NULL,
    created_at     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session_id, id)
);

CREATE TABLE artifact_sources (
    session_id         TEXT COLLATE "C" NOT NULL,
    artifact_id        TEXT COLLATE "C" NOT NULL,
    source_artifact_id TEXT COLLATE "C" NOT NULL,
    position           BIGINT NOT NULL,
    PRIMARY KEY (session_id, artifact_id, source_artifact_id),
    FOREIGN KEY (session_id, artifact_id) REFERENCES artifacts (session_id, id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, source_artifact_id) REFERENCES artifacts (session_id, id)
        DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE sources (
    session_id    TEXT COLLATE "C" NOT NULL,
    id            TEXT COLLATE "C" NOT NULL,
    artifact_id   TEXT COLLATE "C" NOT NULL,
    url           TEXT COLLATE "C" NOT NULL,
    domain        TEXT COLLATE "C" NOT NULL,
    origin        TEXT COLLATE "C" NOT NULL,
    origin_reason TEXT COLLATE "C" NOT NULL,
    title         TEXT COLLATE "C",
    seq           BIGINT NOT NULL,
    created_at    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session_id, id),
    UNIQUE (session_id, artifact_id),
    FOREIGN KEY (session_id, artifact_id) REFERENCES artifacts (session_id, id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE receipts (
    session_id        TEXT COLLATE "C" NOT NULL,
    source_id         TEXT COLLATE "C" NOT NULL,
    requested         TEXT COLLATE "C" NOT NULL,
    locator           TEXT COLLATE "C" NOT NULL,
    redirects         TEXT COLLATE "C" NOT NULL CHECK (redirects::json IS NOT NULL),
    status            BIGINT NOT NULL,
    media_type        TEXT COLLATE "C" NOT NULL,
    charset           TEXT COLLATE "C" NOT NULL,
    extractor         TEXT COLLATE "C" NOT NULL,
    extractor_version TEXT COLLATE "C" NOT NULL,
    fetched_at        TEXT COLLATE "C" NOT NULL,
    raw_hash          TEXT COLLATE "C" NOT NULL CHECK (raw_hash LIKE 'sha256:%'),
    raw_bytes         BIGINT NOT NULL CHECK (raw_bytes >= 0),
    raw_kept          BIGINT NOT NULL CHECK (raw_kept IN (0, 1)),
    text_hash         TEXT COLLATE "C" NOT NULL CHECK (text_hash LIKE 'sha256:%'),
    title             TEXT COLLATE "C",
    sections          TEXT COLLATE "C" NOT NULL CHECK (sections::json IS NOT NULL),
    redactions        BIGINT NOT NULL,
    readable          BIGINT NOT NULL CHECK (readable IN (0, 1)),
    note              TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session_id, source_id),
    FOREIGN KEY (session_id, source_id) REFERENCES sources (session_id, id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE artifact_quotes (
    session_id  TEXT COLLATE "C" NOT NULL,
    artifact_id TEXT COLLATE "C" NOT NULL,
    position    BIGINT NOT NULL,
    source_id   TEXT COLLATE "C" NOT NULL,
    quote_start BIGINT NOT NULL CHECK (quote_start >= 0),
    quote_end   BIGINT NOT NULL CHECK (quote_end > quote_start),
    PRIMARY KEY (session_id, artifact_id, position),
    FOREIGN KEY (session_id, artifact_id) REFERENCES artifacts (session_id, id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, source_id) REFERENCES sources (session_id, id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE searches (
    session_id TEXT COLLATE "C" NOT NULL REFERENCES sessions DEFERRABLE INITIALLY DEFERRED,
    seq        BIGINT NOT NULL,
    query      TEXT COLLATE "C" NOT NULL,
    provider   TEXT COLLATE "C" NOT NULL,
    hits       BIGINT NOT NULL CHECK (hits >= 0),
    total      BIGINT NOT NULL CHECK (total >= hits),
    created_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session_id, seq)
);

CREATE TABLE checklist_items (
    session_id     TEXT COLLATE "C" NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    id             TEXT COLLATE "C" NOT NULL,
    position       BIGINT NOT NULL,
    title          TEXT COLLATE "C" NOT NULL,
    status         TEXT COLLATE "C" NOT NULL
        CHECK (status IN ('pending', 'in_progress', 'blocked', 'completed', 'skipped')),
    evidence       TEXT COLLATE "C" NOT NULL CHECK (evidence::json IS NOT NULL),
    blocked_reason TEXT COLLATE "C" NOT NULL,
    updated_seq    BIGINT NOT NULL,
    PRIMARY KEY (session_id, id),
    CHECK (status <> 'completed' OR evidence <> '[]'),
    CHECK ((status IN ('blocked', 'skipped')) = (blocked_reason <> ''))
);

CREATE TABLE research_steps (
    session_id         TEXT COLLATE "C" NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    step               BIGINT NOT NULL CHECK (step BETWEEN 1 AND 500),
    kind               TEXT COLLATE "C" NOT NULL CHECK (kind IN ('local_exploration', 'web_research')),
    status             TEXT COLLATE "C" NOT NULL CHECK (status IN ('completed', 'blocked', 'stopped')),
    objective          TEXT COLLATE "C" NOT NULL,
    summary            TEXT COLLATE "C" NOT NULL,
    roots              TEXT COLLATE "C" NOT NULL CHECK (roots::json IS NOT NULL),
    keywords           TEXT COLLATE "C" NOT NULL CHECK (keywords::json IS NOT NULL),
    ignored_paths      TEXT COLLATE "C" NOT NULL CHECK (ignored_paths::json IS NOT NULL),
    stopping_condition TEXT COLLATE "C" NOT NULL CHECK (stopping_condition <> ''),
    expected_evidence  TEXT COLLATE "C" NOT NULL CHECK (expected_evidence <> ''),
    evidence           TEXT COLLATE "C" NOT NULL CHECK (evidence::json IS NOT NULL),
    worker_run_ids     TEXT COLLATE "C" NOT NULL CHECK (worker_run_ids::json IS NOT NULL),
    blocked_reason     TEXT COLLATE "C" NOT NULL,
    seq                BIGINT NOT NULL,
    created_at         TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session_id, step),
    CHECK (kind <> 'local_exploration' OR roots <> '[]'),
    CHECK (kind <> 'web_research' OR keywords <> '[]'),
    CHECK (status <> 'completed' OR evidence <> '[]'),
    CHECK (status <> 'blocked' OR blocked_reason <> '')
);

CREATE TABLE inspected_refs (
    session_id         TEXT COLLATE "C" NOT NULL,
    step               BIGINT NOT NULL,
    position           BIGINT NOT NULL,
    kind               TEXT COLLATE "C" NOT NULL CHECK (kind IN ('file', 'symbol', 'config', 'test', 'runtime', 'url')),
    locator            TEXT COLLATE "C" NOT NULL CHECK (locator <> ''),
    label              TEXT COLLATE "C" NOT NULL,
    source_artifact_id TEXT COLLATE "C",
    PRIMARY KEY (session_id, step, position),
    FOREIGN KEY (session_id, step) REFERENCES research_steps (session_id, step) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, source_artifact_id) REFERENCES artifacts (session_id, id)
        DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE checkpoints (
    session_id     TEXT COLLATE "C" NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    seq            BIGINT NOT NULL,
    round          BIGINT NOT NULL CHECK (round >= 0),
    stage          TEXT COLLATE "C" NOT NULL CHECK (stage IN ('knowledge_base', 'report_writing')),
    status         TEXT COLLATE "C" NOT NULL CHECK (status IN ('active', 'blocked')),
    summary        TEXT COLLATE "C" NOT NULL,
    open_questions TEXT COLLATE "C" NOT NULL CHECK (open_questions::json IS NOT NULL),
    next_steps     TEXT COLLATE "C" NOT NULL CHECK (next_steps::json IS NOT NULL),
    artifact_ids   TEXT COLLATE "C" NOT NULL CHECK (artifact_ids::json IS NOT NULL),
    task_ids       TEXT COLLATE "C" NOT NULL CHECK (task_ids::json IS NOT NULL),
    created_at     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session_id, seq)
);

CREATE TABLE report_sections (
    session_id  TEXT COLLATE "C" NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    key         TEXT COLLATE "C" NOT NULL,
    position    BIGINT NOT NULL,
    title       TEXT COLLATE "C" NOT NULL,
    status      TEXT COLLATE "C" NOT NULL CHECK (status IN ('pending', 'drafted', 'completed')),
    artifact_id TEXT COLLATE "C",
    updated_seq BIGINT NOT NULL,
    PRIMARY KEY (session_id, key),
    CHECK ((status = 'pending') = (artifact_id IS NULL)),
    FOREIGN KEY (session_id, artifact_id) REFERENCES artifacts (session_id, id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE model_calls (
    session_id     TEXT COLLATE "C" NOT NULL REFERENCES sessions DEFERRABLE INITIALLY DEFERRED,
    ordinal        BIGINT NOT NULL CHECK (ordinal >= 1),
    turn_id        TEXT COLLATE "C" NOT NULL,
    model          TEXT COLLATE "C" NOT NULL,
    stage          TEXT COLLATE "C" NOT NULL CHECK (stage IN ('knowledge_base', 'report_writing', 'completed')),
    status         TEXT COLLATE "C" NOT NULL CHECK (status IN ('asked', 'answered', 'failed')),
    request_digest TEXT COLLATE "C" NOT NULL,
    input_tokens   BIGINT NOT NULL CHECK (input_tokens >= 0),
    output_tokens  BIGINT NOT NULL CHECK (output_tokens >= 0),
    usage_reported BIGINT NOT NULL CHECK (usage_reported IN (0, 1)),
    finish_reason  TEXT COLLATE "C" NOT NULL,
    detail         TEXT COLLATE "C" NOT NULL,
    seq            BIGINT NOT NULL,
    PRIMARY KEY (session_id, ordinal)
);

-- The bodies that a session's events name; one with a released_seq is no longer needed by this session.
CREATE TABLE session_bodies (
    session_id   TEXT COLLATE "C" NOT NULL REFERENCES sessions DEFERRABLE INITIALLY DEFERRED,
    hash         TEXT COLLATE "C" NOT NULL CHECK (hash LIKE 'sha256:%'),
    named_seq    BIGINT NOT NULL,
    released_seq BIGINT CHECK (released_seq > named_seq),
    PRIMARY KEY (session_id, hash)
);
CREATE INDEX session_bodies_by_hash ON session_bodies (hash, released_seq);

CREATE TABLE purges (
    session_id  TEXT COLLATE "C" NOT NULL REFERENCES sessions DEFERRABLE INITIALLY DEFERRED,
    seq         BIGINT NOT NULL,
    artifact_id TEXT COLLATE "C" NOT NULL,
    hashes      TEXT COLLATE "C" NOT NULL CHECK (hashes::json IS NOT NULL),
    actor       TEXT COLLATE "C" NOT NULL,
    reason      TEXT COLLATE "C" NOT NULL,
    created_at  TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session_id, seq),
    FOREIGN KEY (session_id, artifact_id) REFERENCES artifacts (session_id, id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE drafts (
    session_id   TEXT COLLATE "C" PRIMARY KEY REFERENCES sessions DEFERRABLE INITIALLY DEFERRED,
    id           TEXT COLLATE "C" NOT NULL,
    from_session TEXT COLLATE "C" NOT NULL,
    prompt       TEXT COLLATE "C" NOT NULL CHECK (length(prompt) <= 12000),
    created_at   TEXT COLLATE "C" NOT NULL
);

CREATE VIEW io_log AS
SELECT m.session_id, m.id AS message_id, m.turn_id, m.role, m.content, m.content_hash, m.seq AS message_seq,
       m.created_at, t.id AS tool_call_id, t.name, t.arguments, t.result, t.result_hash, t.entity_type,
       t.entity_id, t.status, t.code, t.duration_ms, t.seq AS tool_seq, t.created_at AS tool_created_at
FROM messages m
LEFT JOIN tool_calls t ON t.session_id = m.session_id AND t.message_id = m.id;

-- Runs and artifacts refer to each other.
ALTER TABLE research_runs
    ADD FOREIGN KEY (session_id, report_artifact_id) REFERENCES artifacts (session_id, id)
        DEFERRABLE INITIALLY DEFERRED,
    ADD FOREIGN KEY (session_id, handoff_artifact_id) REFERENCES artifacts (session_id, id)
        DEFERRABLE INITIALLY DEFERRED;

-- The newest global_seq: every append takes the next ones under this row's lock and holds it until its commit, so that
-- numbers have no gap, become visible in their order, and no two appends run at the same time.
CREATE TABLE counter (
    one        BOOLEAN PRIMARY KEY DEFAULT true CHECK (one),
    global_seq BIGINT NOT NULL CHECK (global_seq >= 0)
) WITH (fillfactor = 50);
INSERT INTO counter (global_seq) VALUES (0);

CREATE TABLE schema_steps (
    number BIGINT PRIMARY KEY
);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING ERRCODE = 'restrict_violation', MESSAGE = TG_TABLE_NAME || ' are append-only';
END $$;

-- Only a recorded purge may remove a body, and only when no session stands on it any more.
CREATE FUNCTION refuse_unrecorded_purge() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM session_bodies WHERE hash = OLD.hash)
        OR EXISTS (SELECT 1 FROM session_bodies WHERE hash = OLD.hash AND released_seq IS NULL) THEN
        RAISE EXCEPTION USING ERRCODE = 'restrict_violation',
            MESSAGE = 'blobs are append-only; only a recorded purge removes one';
    END IF;
    RETURN OLD;
END $$;

CREATE TRIGGER events_keep_rows BEFORE UPDATE OR DELETE ON events
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_keep_all BEFORE TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
-- Rows are derived, and a rebuild derives them anew; it says so for its own transaction.
CREATE TRIGGER artifacts_keep_rows BEFORE UPDATE OR DELETE ON artifacts
    FOR EACH ROW WHEN (current_setting('researchdesk.rebuilds', true) IS DISTINCT FROM 'yes')
    EXECUTE FUNCTION refuse_change();
CREATE TRIGGER artifacts_keep_all BEFORE TRUNCATE ON artifacts
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER blobs_keep_update BEFORE UPDATE ON blobs
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER blobs_keep_delete BEFORE DELETE ON blobs
    FOR EACH ROW EXECUTE FUNCTION refuse_unrecorded_purge();
CREATE TRIGGER blobs_keep_all BEFORE TRUNCATE ON blobs
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- The codes of what these raise are known to the client: RD001 the head moved, RD002 the lease is lost, RD003 a body is
-- not staged.
CREATE FUNCTION refuse_append(of_stream text, lease_session text, lease_epoch bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    now_driving leases;
BEGIN
    SELECT * INTO now_driving FROM leases WHERE session_id = lease_session;
    IF lease_session IS NOT NULL AND now_driving.epoch IS DISTINCT FROM lease_epoch THEN
        RAISE EXCEPTION USING ERRCODE = 'RD002',
            MESSAGE = format('session ''%s'' was taken over by %s', lease_session, coalesce(now_driving.holder, 'nobody'));
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'RD001', MESSAGE = of_stream;
END $$;

-- Of what the call gathered, the named bodies are kept and the rest goes; of the bodies that a purge let go, those go
-- that no session stands on.
CREATE FUNCTION settle(of_call text[], adopts text[], drops text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    missing text;
BEGIN
    INSERT INTO blobs (hash, bytes)
    SELECT hash, bytes FROM gathered_bodies
    WHERE session_id = of_call[1] AND turn_id = of_call[2] AND tool_call_id = of_call[3] AND hash = ANY (adopts)
    ON CONFLICT DO NOTHING;
    SELECT named INTO missing FROM unnest(adopts) AS named
    WHERE NOT EXISTS (SELECT 1 FROM blobs WHERE hash = named) LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION USING ERRCODE = 'RD003',
            MESSAGE = format('the body %s that call ''%s'' stands on is not staged', missing, of_call[3]);
    END IF;
    DELETE FROM gathered WHERE session_id = of_call[1] AND turn_id = of_call[2] AND tool_call_id = of_call[3];
    DELETE FROM blobs WHERE hash = ANY (drops) AND NOT EXISTS (
        SELECT 1 FROM session_bodies AS used WHERE used.hash = blobs.hash AND used.released_seq IS NULL
    );
END $$;

CREATE FUNCTION stage(
    of_session text, of_turn text, of_call text, input text, what text, at text, hashes text[], bodies bytea[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM gathered
    WHERE session_id = of_session AND turn_id = of_turn AND tool_call_id = of_call AND input_digest <> input;
    INSERT INTO gathered (session_id, turn_id, tool_call_id, input_digest, receipt, created_at)
    VALUES (of_session, of_turn, of_call, input, what, at) ON CONFLICT DO NOTHING;
    IF FOUND THEN
        INSERT INTO gathered_bodies (session_id, turn_id, tool_call_id, hash, bytes)
        SELECT of_session, of_turn, of_call, staged.* FROM unnest(hashes, bodies) AS staged;
    END IF;
END $$;

-- It takes its turn among the appends: one that was checked against the old epoch is through before the new one begins.
CREATE FUNCTION take_lease(of_session text, by_holder text, at text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    taken bigint;
BEGIN
    PERFORM 1 FROM counter FOR UPDATE;
    INSERT INTO leases AS old (session_id, epoch, holder, acquired_at) VALUES (of_session, 1, by_holder, at)
    ON CONFLICT (session_id) DO UPDATE
        SET epoch = old.epoch + 1, holder = excluded.holder, acquired_at = excluded.acquired_at
    RETURNING epoch INTO taken;
    RETURN taken;
END $$;

-- The desk: files with what they were before, proposals that wait for a person, and each session's panels.

CREATE TABLE desk_files (
    desk_id      TEXT COLLATE "C" NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    path         TEXT COLLATE "C" NOT NULL CHECK (length(path) BETWEEN 1 AND 240),
    kind         TEXT COLLATE "C" NOT NULL CHECK (kind IN ('folder', 'markdown', 'spreadsheet')),
    content_hash TEXT COLLATE "C" NOT NULL CHECK (content_hash LIKE 'sha256:%'),
    chars        BIGINT NOT NULL CHECK (chars >= 0),
    rev          BIGINT NOT NULL CHECK (rev >= 1),
    deleted      BIGINT NOT NULL CHECK (deleted IN (0, 1)),
    session_id   TEXT COLLATE "C" NOT NULL,
    turn_id      TEXT COLLATE "C" NOT NULL,
    tool_call_id TEXT COLLATE "C" NOT NULL,
    created_by   TEXT COLLATE "C" NOT NULL CHECK (created_by <> ''),
    created_at   TEXT COLLATE "C" NOT NULL,
    created_seq  BIGINT NOT NULL CHECK (created_seq >= 1),
    updated_by   TEXT COLLATE "C" NOT NULL CHECK (updated_by <> ''),
    updated_at   TEXT COLLATE "C" NOT NULL,
    updated_seq  BIGINT NOT NULL CHECK (updated_seq >= created_seq),
    PRIMARY KEY (desk_id, id)
);
CREATE UNIQUE INDEX desk_files_by_call ON desk_files (session_id, turn_id, tool_call_id) WHERE tool_call_id <> '';

CREATE TABLE file_revisions (
    desk_id      TEXT COLLATE "C" NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    file_id      TEXT COLLATE "C" NOT NULL,
    rev          BIGINT NOT NULL CHECK (rev >= 1),
    path         TEXT COLLATE "C" NOT NULL,
    kind         TEXT COLLATE "C" NOT NULL CHECK (kind IN ('folder', 'markdown', 'spreadsheet')),
    content_hash TEXT COLLATE "C" NOT NULL CHECK (content_hash LIKE 'sha256:%'),
    chars        BIGINT NOT NULL CHECK (chars >= 0),
    deleted      BIGINT NOT NULL CHECK (deleted IN (0, 1)),
    op           TEXT COLLATE "C" NOT NULL CHECK (op IN ('update', 'rename', 'delete', 'restore', 'human_edit')),
    actor        TEXT COLLATE "C" NOT NULL,
    proposal_id  TEXT COLLATE "C" NOT NULL,
    seq          BIGINT NOT NULL,
    created_at   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (desk_id, id),
    UNIQUE (desk_id, file_id, rev),
    FOREIGN KEY (desk_id, file_id) REFERENCES desk_files (desk_id, id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE proposals (
    desk_id            TEXT COLLATE "C" NOT NULL,
    id                 TEXT COLLATE "C" NOT NULL,
    session_id         TEXT COLLATE "C" NOT NULL,
    turn_id            TEXT COLLATE "C" NOT NULL,
    tool_call_id       TEXT COLLATE "C" NOT NULL,
    tool               TEXT COLLATE "C" NOT NULL,
    arguments          TEXT COLLATE "C" NOT NULL CHECK (arguments::json IS NOT NULL),
    approved_arguments TEXT COLLATE "C" NOT NULL
        CHECK (CASE WHEN approved_arguments <> '' THEN approved_arguments::json IS NOT NULL ELSE true END),
    file_id            TEXT COLLATE "C" NOT NULL,
    path               TEXT COLLATE "C" NOT NULL,
    verb               TEXT COLLATE "C" NOT NULL CHECK (verb IN ('change', 'rename', 'delete')),
    destructive        BIGINT NOT NULL CHECK (destructive IN (0, 1)),
    guard              TEXT COLLATE "C" NOT NULL CHECK (guard IN ('file', 'cells')),
    base_hash          TEXT COLLATE "C" NOT NULL,
    after_hash         TEXT COLLATE "C" NOT NULL,
    diff               TEXT COLLATE "C" NOT NULL,
    proposal_hash      TEXT COLLATE "C" NOT NULL CHECK (proposal_hash LIKE 'sha256:%'),
    depends_on         TEXT COLLATE "C" NOT NULL,
    supersedes         TEXT COLLATE "C" NOT NULL,
    shadow             TEXT COLLATE "C" NOT NULL,
    status             TEXT COLLATE "C" NOT NULL CHECK (status IN
        ('pending', 'approved', 'rejected', 'expired', 'stale', 'executed', 'failed')),
    decided_by         TEXT COLLATE "C" NOT NULL,
    decided_at         TEXT COLLATE "C" NOT NULL,
    reason             TEXT COLLATE "C" NOT NULL,
    approved_by        TEXT COLLATE "C",
    approved_at        TEXT COLLATE "C",
    executed_at        TEXT COLLATE "C" NOT NULL,
    error              TEXT COLLATE "C" NOT NULL,
    expires_at         TEXT COLLATE "C" NOT NULL,
    created_at         TEXT COLLATE "C" NOT NULL,
    created_seq        BIGINT NOT NULL CHECK (created_seq >= 1),
    updated_seq        BIGINT NOT NULL CHECK (updated_seq >= created_seq),
    PRIMARY KEY (desk_id, id),
    UNIQUE (session_id, turn_id, tool_call_id),
    CHECK ((status IN ('approved', 'executed', 'failed')) = (approved_by IS NOT NULL)),
    CHECK ((approved_by IS NULL) = (approved_at IS NULL)),
    CHECK ((status = 'pending') = (decided_by = '')),
    CHECK ((status = 'executed') = (executed_at <> '')),
    CHECK ((status = 'failed') = (error <> '')),
    CHECK (substr(approved_by, 1, 6) <> 'agent:'),
    FOREIGN KEY (desk_id, file_id) REFERENCES desk_files (desk_id, id) DEFERRABLE INITIALLY DEFERRED
);
CREATE INDEX proposals_by_status ON proposals (desk_id, status, created_seq);

CREATE TABLE panels (
    desk_id    TEXT COLLATE "C" NOT NULL,
    session_id TEXT COLLATE "C" NOT NULL,
    id         TEXT COLLATE "C" NOT NULL,
    position   BIGINT NOT NULL CHECK (position >= 0),
    type       TEXT COLLATE "C" NOT NULL,
    title      TEXT COLLATE "C" NOT NULL,
    file_id    TEXT COLLATE "C" NOT NULL,
    focused    BIGINT NOT NULL CHECK (focused IN (0, 1)),
    indicator  TEXT COLLATE "C" NOT NULL
        CHECK (indicator IN ('none', 'unsaved', 'saving', 'error', 'ai-active', 'ai-modified')),
    meta       TEXT COLLATE "C" NOT NULL CHECK (meta::json IS NOT NULL),
    PRIMARY KEY (desk_id, session_id, id)
);

-- The bodies that the desk stands on: a purge of a session leaves them.
CREATE TABLE desk_bodies (
    desk_id   TEXT COLLATE "C" NOT NULL,
    hash      TEXT COLLATE "C" NOT NULL CHECK (hash LIKE 'sha256:%'),
    named_seq BIGINT NOT NULL,
    PRIMARY KEY (desk_id, hash)
);
CREATE INDEX desk_bodies_by_hash ON desk_bodies (hash);

-- Only a recorded purge may remove a body, and only when no session and no desk stands on it any more.
CREATE OR REPLACE FUNCTION refuse_unrecorded_purge() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NOT EXISTS (SELECT 1 FROM session_bodies WHERE hash = OLD.hash)
        OR EXISTS (SELECT 1 FROM session_bodies WHERE hash = OLD.hash AND released_seq IS NULL)
        OR EXISTS (SELECT 1 FROM desk_bodies WHERE hash = OLD.hash) THEN
        RAISE EXCEPTION USING ERRCODE = 'restrict_violation',
            MESSAGE = 'blobs are append-only; only a recorded purge removes one';
    END IF;
    RETURN OLD;
END $$;

-- Of what the call gathered, the named bodies are kept and the rest goes; of the bodies that a purge let go, those go
-- that no session and no desk stands on.
CREATE OR REPLACE FUNCTION settle(of_call text[], adopts text[], drops text[]) RETURNS void LANGUAGE plpgsql AS $$
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
    DELETE FROM blobs WHERE hash = ANY (drops)
        AND NOT EXISTS (SELECT 1 FROM session_bodies AS used WHERE used.hash = blobs.hash AND used.released_seq IS NULL)
        AND NOT EXISTS (SELECT 1 FROM desk_bodies AS used WHERE used.hash = blobs.hash);
END $$;

-- A model is also asked in a chat, in which no research runs.
ALTER TABLE model_calls DROP CONSTRAINT model_calls_stage_check;
ALTER TABLE model_calls ADD CONSTRAINT model_calls_stage_check
    CHECK (stage IN ('knowledge_base', 'report_writing', 'completed', 'chat'));

DROP VIEW io_log;
CREATE VIEW io_log AS
SELECT m.session_id, m.id AS message_id, m.turn_id, m.role, m.content, m.content_hash, m.context, m.seq AS message_seq,
       m.created_at, t.id AS tool_call_id, t.name, t.arguments, t.result, t.result_hash, t.entity_type,
       t.entity_id, t.status, t.code, t.duration_ms, t.seq AS tool_seq, t.created_at AS tool_created_at,
       p.id AS proposal_id, p.status AS proposal_status, p.path AS proposal_path, p.approved_by, p.approved_at,
       p.decided_by, p.decided_at, p.reason
FROM messages m
LEFT JOIN tool_calls t ON t.session_id = m.session_id AND t.message_id = m.id
LEFT JOIN proposals p ON p.session_id = t.session_id AND p.turn_id = t.turn_id AND p.tool_call_id = t.id;

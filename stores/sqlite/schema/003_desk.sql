-- The desk: files with what they were before, proposals that wait for a person, and each session's panels.

CREATE TABLE desk_files (
    desk_id      TEXT NOT NULL,
    id           TEXT NOT NULL,
    path         TEXT NOT NULL CHECK (length(path) BETWEEN 1 AND 240),
    kind         TEXT NOT NULL CHECK (kind IN ('folder', 'markdown', 'spreadsheet')),
    content_hash TEXT NOT NULL CHECK (content_hash GLOB 'sha256:*'),
    chars        INTEGER NOT NULL CHECK (chars >= 0),
    rev          INTEGER NOT NULL CHECK (rev >= 1),
    deleted      INTEGER NOT NULL CHECK (deleted IN (0, 1)),
    session_id   TEXT NOT NULL,
    turn_id      TEXT NOT NULL,
    tool_call_id TEXT NOT NULL,
    created_by   TEXT NOT NULL CHECK (created_by <> ''),
    created_at   TEXT NOT NULL,
    created_seq  INTEGER NOT NULL CHECK (created_seq >= 1),
    updated_by   TEXT NOT NULL CHECK (updated_by <> ''),
    updated_at   TEXT NOT NULL,
    updated_seq  INTEGER NOT NULL CHECK (updated_seq >= created_seq),
    PRIMARY KEY (desk_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX desk_files_by_call ON desk_files (session_id, turn_id, tool_call_id) WHERE tool_call_id <> '';

CREATE TABLE file_revisions (
    desk_id      TEXT NOT NULL,
    id           TEXT NOT NULL,
    file_id      TEXT NOT NULL,
    rev          INTEGER NOT NULL CHECK (rev >= 1),
    path         TEXT NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('folder', 'markdown', 'spreadsheet')),
    content_hash TEXT NOT NULL CHECK (content_hash GLOB 'sha256:*'),
    chars        INTEGER NOT NULL CHECK (chars >= 0),
    deleted      INTEGER NOT NULL CHECK (deleted IN (0, 1)),
    op           TEXT NOT NULL CHECK (op IN ('update', 'rename', 'delete', 'restore', 'human_edit')),
    actor        TEXT NOT NULL,
    proposal_id  TEXT NOT NULL,
    seq          INTEGER NOT NULL,
    created_at   TEXT NOT NULL,
    PRIMARY KEY (desk_id, id),
    UNIQUE (desk_id, file_id, rev),
    FOREIGN KEY (desk_id, file_id) REFERENCES desk_files (desk_id, id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE proposals (
    desk_id            TEXT NOT NULL,
    id                 TEXT NOT NULL,
    session_id         TEXT NOT NULL,
    turn_id            TEXT NOT NULL,
    tool_call_id       TEXT NOT NULL,
    tool               TEXT NOT NULL,
    arguments          TEXT NOT NULL CHECK (json_valid(arguments)),
    approved_arguments TEXT NOT NULL
        CHECK (CASE WHEN approved_arguments <> '' THEN json_valid(approved_arguments) ELSE true END),
    file_id            TEXT NOT NULL,
    path               TEXT NOT NULL,
    verb               TEXT NOT NULL CHECK (verb IN ('change', 'rename', 'delete')),
    destructive        INTEGER NOT NULL CHECK (destructive IN (0, 1)),
    guard              TEXT NOT NULL CHECK (guard IN ('file', 'cells')),
    base_hash          TEXT NOT NULL,
    after_hash         TEXT NOT NULL,
    diff               TEXT NOT NULL,
    proposal_hash      TEXT NOT NULL CHECK (proposal_hash GLOB 'sha256:*'),
    depends_on         TEXT NOT NULL,
    supersedes         TEXT NOT NULL,
    shadow             TEXT NOT NULL,
    status             TEXT NOT NULL CHECK (status IN
        ('pending', 'approved', 'rejected', 'expired', 'stale', 'executed', 'failed')),
    decided_by         TEXT NOT NULL,
    decided_at         TEXT NOT NULL,
    reason             TEXT NOT NULL,
    approved_by        TEXT,
    approved_at        TEXT,
    executed_at        TEXT NOT NULL,
    error              TEXT NOT NULL,
    expires_at         TEXT NOT NULL,
    created_at         TEXT NOT NULL,
    created_seq        INTEGER NOT NULL CHECK (created_seq >= 1),
    updated_seq        INTEGER NOT NULL CHECK (updated_seq >= created_seq),
    PRIMARY KEY (desk_id, id),
    UNIQUE (session_id, turn_id, tool_call_id),
    CHECK ((status IN ('approved', 'executed', 'failed')) = (approved_by IS NOT NULL)),
    CHECK ((approved_by IS NULL) = (approved_at IS NULL)),
    CHECK ((status = 'pending') = (decided_by = '')),
    CHECK ((status = 'executed') = (executed_at <> '')),
    CHECK ((status = 'failed') = (error <> '')),
    CHECK (substr(approved_by, 1, 6) <> 'agent:'),
    FOREIGN KEY (desk_id, file_id) REFERENCES desk_files (desk_id, id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;
CREATE INDEX proposals_by_status ON proposals (desk_id, status, created_seq);

CREATE TABLE panels (
    desk_id    TEXT NOT NULL,
    session_id TEXT NOT NULL,
    id         TEXT NOT NULL,
    position   INTEGER NOT NULL CHECK (position >= 0),
    type       TEXT NOT NULL,
    title      TEXT NOT NULL,
    file_id    TEXT NOT NULL,
    focused    INTEGER NOT NULL CHECK (focused IN (0, 1)),
    indicator  TEXT NOT NULL
        CHECK (indicator IN ('none', 'unsaved', 'saving', 'error', 'ai-active', 'ai-modified')),
    meta       TEXT NOT NULL CHECK (json_valid(meta)),
    PRIMARY KEY (desk_id, session_id, id)
) STRICT, WITHOUT ROWID;

-- The bodies that the desk stands on: a purge of a session leaves them.
CREATE TABLE desk_bodies (
    desk_id   TEXT NOT NULL,
    hash      TEXT NOT NULL CHECK (hash GLOB 'sha256:*'),
    named_seq INTEGER NOT NULL,
    PRIMARY KEY (desk_id, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX desk_bodies_by_hash ON desk_bodies (hash);

DROP TRIGGER blobs_keep_delete;
-- Only a recorded purge may remove a body, and only when no session and no desk stands on it any more.
CREATE TRIGGER blobs_keep_delete BEFORE DELETE ON blobs
WHEN NOT EXISTS (SELECT 1 FROM session_bodies WHERE hash = OLD.hash)
    OR EXISTS (SELECT 1 FROM session_bodies WHERE hash = OLD.hash AND released_seq IS NULL)
    OR EXISTS (SELECT 1 FROM desk_bodies WHERE hash = OLD.hash)
BEGIN SELECT RAISE(ABORT, 'blobs are append-only; only a recorded purge removes one'); END;

-- A model is also asked in a chat, in which no research runs.
CREATE TABLE model_calls_with_chats (
    session_id     TEXT NOT NULL REFERENCES sessions DEFERRABLE INITIALLY DEFERRED,
    ordinal        INTEGER NOT NULL CHECK (ordinal >= 1),
    turn_id        TEXT NOT NULL,
    model          TEXT NOT NULL,
    stage          TEXT NOT NULL CHECK (stage IN ('knowledge_base', 'report_writing', 'completed', 'chat')),
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
INSERT INTO model_calls_with_chats SELECT * FROM model_calls;
DROP TABLE model_calls;
ALTER TABLE model_calls_with_chats RENAME TO model_calls;

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

-- The investigation: questions, what was tried for them, claims with their sources, challenges, and the notes.

ALTER TABLE research_runs ADD COLUMN notes_id TEXT NOT NULL DEFAULT '';
ALTER TABLE sources ADD COLUMN signature TEXT NOT NULL DEFAULT '';
ALTER TABLE sources ADD COLUMN near_duplicates TEXT NOT NULL DEFAULT '[]';

CREATE TABLE frontier_questions (
    session_id      TEXT NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    id              TEXT NOT NULL,
    parent_id       TEXT,
    depth           INTEGER NOT NULL CHECK (depth >= 0),
    kind            TEXT NOT NULL CHECK (kind IN ('objective', 'question', 'hypothesis')),
    text            TEXT NOT NULL CHECK (text <> ''),
    why             TEXT NOT NULL,
    status          TEXT NOT NULL
        CHECK (status IN ('pending', 'in_progress', 'blocked', 'resolved', 'unresolvable', 'pruned')),
    priority        INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 100),
    answer          TEXT NOT NULL,
    claim_ids       TEXT NOT NULL CHECK (json_valid(claim_ids)),
    assumption      TEXT NOT NULL,
    reopens         INTEGER NOT NULL CHECK (reopens >= 0),
    attempts_before INTEGER NOT NULL CHECK (attempts_before >= 0),
    created_seq     INTEGER NOT NULL CHECK (created_seq >= 1),
    trans_seq       INTEGER NOT NULL CHECK (trans_seq >= 1),
    updated_seq     INTEGER NOT NULL,
    PRIMARY KEY (session_id, id),
    CHECK ((kind = 'objective') = (parent_id IS NULL)),
    CHECK ((kind = 'objective') = (depth = 0)),
    CHECK (status <> 'resolved' OR answer <> ''),
    CHECK (status <> 'unresolvable' OR assumption <> ''),
    FOREIGN KEY (session_id, parent_id) REFERENCES frontier_questions (session_id, id)
        DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE frontier_deps (
    session_id  TEXT NOT NULL,
    question_id TEXT NOT NULL,
    depends_on  TEXT NOT NULL CHECK (depends_on <> question_id),
    state_seq   INTEGER NOT NULL,
    PRIMARY KEY (session_id, question_id, depends_on),
    FOREIGN KEY (session_id, question_id) REFERENCES frontier_questions (session_id, id)
        DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, depends_on) REFERENCES frontier_questions (session_id, id)
        DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE frontier_transitions (
    session_id  TEXT NOT NULL,
    question_id TEXT NOT NULL,
    seq         INTEGER NOT NULL CHECK (seq >= 1),
    from_status TEXT CHECK (from_status IN ('pending', 'in_progress', 'blocked', 'resolved', 'unresolvable', 'pruned')),
    to_status   TEXT NOT NULL
        CHECK (to_status IN ('pending', 'in_progress', 'blocked', 'resolved', 'unresolvable', 'pruned')),
    trigger     TEXT NOT NULL
        CHECK (trigger IN ('created', 'selected', 'dependency_blocked', 'dependency_unblocked', 'dependency_added',
                           'resolved', 'attempts_exhausted', 'reopened', 'pruned', 'reprioritized')),
    actor       TEXT NOT NULL CHECK (actor IN ('agent', 'code', 'user')),
    reason      TEXT NOT NULL,
    priority    INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 100),
    state_seq   INTEGER NOT NULL,
    created_at  TEXT NOT NULL,
    PRIMARY KEY (session_id, question_id, seq),
    CHECK ((trigger = 'created') = (from_status IS NULL)),
    CHECK ((seq = 1) = (from_status IS NULL)),
    CHECK ((trigger = 'reprioritized') = (from_status IS NOT NULL AND from_status = to_status)),
    FOREIGN KEY (session_id, question_id) REFERENCES frontier_questions (session_id, id)
        DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

-- An attempt with no result count is announced and has not run yet.
CREATE TABLE frontier_attempts (
    session_id   TEXT NOT NULL,
    question_id  TEXT NOT NULL,
    seq          INTEGER NOT NULL CHECK (seq >= 1),
    id           TEXT NOT NULL,
    kind         TEXT NOT NULL CHECK (kind IN ('search', 'challenge', 'fetch')),
    query        TEXT NOT NULL CHECK (query <> ''),
    outcome      TEXT NOT NULL,
    results      INTEGER CHECK (results >= 0),
    challenge_id TEXT,
    under        TEXT,
    cause        TEXT CHECK (cause IN ('evidence', 'infrastructure')),
    updated_seq  INTEGER NOT NULL,
    PRIMARY KEY (session_id, question_id, seq),
    UNIQUE (session_id, id),
    CHECK ((kind = 'challenge') = (challenge_id IS NOT NULL)),
    FOREIGN KEY (session_id, question_id) REFERENCES frontier_questions (session_id, id)
        DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, challenge_id) REFERENCES challenges (session_id, id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, under) REFERENCES frontier_attempts (session_id, id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE claims (
    session_id  TEXT NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    id          TEXT NOT NULL,
    question_id TEXT,
    text        TEXT NOT NULL CHECK (text <> ''),
    kind        TEXT NOT NULL CHECK (kind IN ('fact', 'figure', 'quote', 'inference')),
    value       TEXT NOT NULL,
    unit        TEXT NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('UNVERIFIED', 'VERIFIED', 'REFUTED', 'RETRACTED')),
    scope       TEXT NOT NULL,
    check_text  TEXT NOT NULL,
    note        TEXT NOT NULL,
    updated_seq INTEGER NOT NULL,
    PRIMARY KEY (session_id, id),
    FOREIGN KEY (session_id, question_id) REFERENCES frontier_questions (session_id, id)
        DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE claim_sources (
    session_id          TEXT NOT NULL,
    claim_id            TEXT NOT NULL,
    position            INTEGER NOT NULL CHECK (position >= 0),
    source_id           TEXT NOT NULL,
    artifact_id         TEXT NOT NULL,
    stance              TEXT NOT NULL CHECK (stance IN ('supports', 'refutes', 'mentions')),
    quote               TEXT NOT NULL,
    quote_start         INTEGER NOT NULL CHECK (quote_start >= 0),
    quote_end           INTEGER NOT NULL CHECK (quote_end >= quote_start),
    quotes_other_source TEXT NOT NULL,
    state_seq           INTEGER NOT NULL,
    created_at          TEXT NOT NULL,
    PRIMARY KEY (session_id, claim_id, position),
    CHECK (quote <> '' OR stance = 'mentions'),
    FOREIGN KEY (session_id, claim_id) REFERENCES claims (session_id, id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, source_id) REFERENCES sources (session_id, id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, artifact_id) REFERENCES artifacts (session_id, id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE challenges (
    session_id        TEXT NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    id                TEXT NOT NULL,
    target_kind       TEXT NOT NULL CHECK (target_kind IN ('claim', 'question_answer', 'conclusion')),
    target_id         TEXT NOT NULL CHECK ((target_kind = 'conclusion') = (target_id = 'conclusion')),
    strategy          TEXT NOT NULL
        CHECK (strategy IN ('direct_negation', 'counterexample', 'alternative_explanation', 'boundary_condition',
                            'primary_source', 'newer_evidence', 'method_critique')),
    negation          TEXT NOT NULL CHECK (negation <> ''),
    expected_if_false TEXT NOT NULL CHECK (expected_if_false <> ''),
    query             TEXT NOT NULL CHECK (query <> ''),
    status            TEXT NOT NULL CHECK (status IN ('open', 'closed')),
    outcome           TEXT CHECK (outcome IN ('survived', 'weakened', 'refuted', 'inconclusive')),
    evidence          TEXT NOT NULL,
    result_claim_id   TEXT,
    attempt_id        TEXT,
    cause             TEXT CHECK (cause IN ('evidence', 'infrastructure')),
    updated_seq       INTEGER NOT NULL,
    PRIMARY KEY (session_id, id),
    CHECK ((status = 'open') = (outcome IS NULL)),
    CHECK (outcome IS NULL OR outcome <> 'survived' OR attempt_id IS NOT NULL),
    CHECK (outcome IS NULL OR outcome NOT IN ('weakened', 'refuted') OR evidence <> ''),
    CHECK (cause IS NULL OR outcome IS NOT NULL AND outcome = 'inconclusive'),
    FOREIGN KEY (session_id, result_claim_id) REFERENCES claims (session_id, id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, attempt_id) REFERENCES frontier_attempts (session_id, id)
        DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE challenge_sources (
    session_id   TEXT NOT NULL,
    challenge_id TEXT NOT NULL,
    source_id    TEXT NOT NULL,
    position     INTEGER NOT NULL CHECK (position >= 0),
    PRIMARY KEY (session_id, challenge_id, source_id),
    FOREIGN KEY (session_id, challenge_id) REFERENCES challenges (session_id, id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, source_id) REFERENCES sources (session_id, id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE datapoints (
    session_id  TEXT NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    id          TEXT NOT NULL,
    label       TEXT NOT NULL CHECK (label <> ''),
    value       TEXT NOT NULL CHECK (value <> ''),
    unit        TEXT NOT NULL,
    as_of       TEXT NOT NULL,
    about       TEXT NOT NULL,
    updated_seq INTEGER NOT NULL,
    PRIMARY KEY (session_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE contradictions (
    session_id  TEXT NOT NULL,
    id          TEXT NOT NULL,
    claim_id    TEXT NOT NULL,
    other_id    TEXT NOT NULL CHECK (other_id <> claim_id),
    differs     TEXT NOT NULL CHECK (differs <> ''),
    status      TEXT NOT NULL CHECK (status IN ('open', 'explained')),
    note        TEXT NOT NULL,
    updated_seq INTEGER NOT NULL,
    PRIMARY KEY (session_id, id),
    FOREIGN KEY (session_id, claim_id) REFERENCES claims (session_id, id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

-- Assumptions and gaps.
CREATE TABLE open_points (
    session_id  TEXT NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    id          TEXT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('assumption', 'gap')),
    text        TEXT NOT NULL CHECK (text <> ''),
    question_id TEXT,
    updated_seq INTEGER NOT NULL,
    PRIMARY KEY (session_id, id),
    FOREIGN KEY (session_id, question_id) REFERENCES frontier_questions (session_id, id)
        DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

CREATE TABLE source_notes (
    session_id  TEXT NOT NULL,
    source_id   TEXT NOT NULL,
    note        TEXT NOT NULL,
    updated_seq INTEGER NOT NULL,
    PRIMARY KEY (session_id, source_id),
    FOREIGN KEY (session_id, source_id) REFERENCES sources (session_id, id) DEFERRABLE INITIALLY DEFERRED
) STRICT, WITHOUT ROWID;

-- The whole text of the notes after each change; state_seq is the sequence of the event that says so.
CREATE TABLE notes_versions (
    session_id TEXT NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    seq        INTEGER NOT NULL CHECK (seq >= 1),
    state_seq  INTEGER NOT NULL CHECK (state_seq >= 1),
    reason     TEXT NOT NULL
        CHECK (reason IN ('notes_append', 'notes_update', 'notes_scratch', 'consolidation', 'restore')),
    text       TEXT NOT NULL,
    text_hash  TEXT NOT NULL CHECK (text_hash GLOB 'sha256:*'),
    created_at TEXT NOT NULL,
    PRIMARY KEY (session_id, seq)
) STRICT;

-- The investigation: questions, what was tried for them, claims with their sources, challenges, and the notes.

ALTER TABLE research_runs ADD COLUMN notes_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE sources ADD COLUMN signature TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE sources ADD COLUMN near_duplicates TEXT COLLATE "C" NOT NULL DEFAULT '[]';

CREATE TABLE frontier_questions (
    session_id      TEXT COLLATE "C" NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    id              TEXT COLLATE "C" NOT NULL,
    parent_id       TEXT COLLATE "C",
    depth           BIGINT NOT NULL CHECK (depth >= 0),
    kind            TEXT COLLATE "C" NOT NULL CHECK (kind IN ('objective', 'question', 'hypothesis')),
    text            TEXT COLLATE "C" NOT NULL CHECK (text <> ''),
    why             TEXT COLLATE "C" NOT NULL,
    status          TEXT COLLATE "C" NOT NULL
        CHECK (status IN ('pending', 'in_progress', 'blocked', 'resolved', 'unresolvable', 'pruned')),
    priority        BIGINT NOT NULL CHECK (priority BETWEEN 0 AND 100),
    answer          TEXT COLLATE "C" NOT NULL,
    claim_ids       TEXT COLLATE "C" NOT NULL CHECK (claim_ids::json IS NOT NULL),
    assumption      TEXT COLLATE "C" NOT NULL,
    reopens         BIGINT NOT NULL CHECK (reopens >= 0),
    attempts_before BIGINT NOT NULL CHECK (attempts_before >= 0),
    created_seq     BIGINT NOT NULL CHECK (created_seq >= 1),
    trans_seq       BIGINT NOT NULL CHECK (trans_seq >= 1),
    updated_seq     BIGINT NOT NULL,
    PRIMARY KEY (session_id, id),
    CHECK ((kind = 'objective') = (parent_id IS NULL)),
    CHECK ((kind = 'objective') = (depth = 0)),
    CHECK (status <> 'resolved' OR answer <> ''),
    CHECK (status <> 'unresolvable' OR assumption <> ''),
    FOREIGN KEY (session_id, parent_id) REFERENCES frontier_questions (session_id, id)
        DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE frontier_deps (
    session_id  TEXT COLLATE "C" NOT NULL,
    question_id TEXT COLLATE "C" NOT NULL,
    depends_on  TEXT COLLATE "C" NOT NULL CHECK (depends_on <> question_id),
    state_seq   BIGINT NOT NULL,
    PRIMARY KEY (session_id, question_id, depends_on),
    FOREIGN KEY (session_id, question_id) REFERENCES frontier_questions (session_id, id)
        DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, depends_on) REFERENCES frontier_questions (session_id, id)
        DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE frontier_transitions (
    session_id  TEXT COLLATE "C" NOT NULL,
    question_id TEXT COLLATE "C" NOT NULL,
    seq         BIGINT NOT NULL CHECK (seq >= 1),
    from_status TEXT COLLATE "C"
        CHECK (from_status IN ('pending', 'in_progress', 'blocked', 'resolved', 'unresolvable', 'pruned')),
    to_status   TEXT COLLATE "C" NOT NULL
        CHECK (to_status IN ('pending', 'in_progress', 'blocked', 'resolved', 'unresolvable', 'pruned')),
    trigger     TEXT COLLATE "C" NOT NULL
        CHECK (trigger IN ('created', 'selected', 'dependency_blocked', 'dependency_unblocked', 'dependency_added',
                           'resolved', 'attempts_exhausted', 'reopened', 'pruned', 'reprioritized')),
    actor       TEXT COLLATE "C" NOT NULL CHECK (actor IN ('agent', 'code', 'user')),
    reason      TEXT COLLATE "C" NOT NULL,
    priority    BIGINT NOT NULL CHECK (priority BETWEEN 0 AND 100),
    state_seq   BIGINT NOT NULL,
    created_at  TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session_id, question_id, seq),
    CHECK ((trigger = 'created') = (from_status IS NULL)),
    CHECK ((seq = 1) = (from_status IS NULL)),
    CHECK ((trigger = 'reprioritized') = (from_status IS NOT NULL AND from_status = to_status)),
    FOREIGN KEY (session_id, question_id) REFERENCES frontier_questions (session_id, id)
        DEFERRABLE INITIALLY DEFERRED
);

-- An attempt with no result count is announced and has not run yet.
CREATE TABLE frontier_attempts (
    session_id   TEXT COLLATE "C" NOT NULL,
    question_id  TEXT COLLATE "C" NOT NULL,
    seq          BIGINT NOT NULL CHECK (seq >= 1),
    id           TEXT COLLATE "C" NOT NULL,
    kind         TEXT COLLATE "C" NOT NULL CHECK (kind IN ('search', 'challenge', 'fetch')),
    query        TEXT COLLATE "C" NOT NULL CHECK (query <> ''),
    outcome      TEXT COLLATE "C" NOT NULL,
    results      BIGINT CHECK (results >= 0),
    challenge_id TEXT COLLATE "C",
    under        TEXT COLLATE "C",
    cause        TEXT COLLATE "C" CHECK (cause IN ('evidence', 'infrastructure')),
    updated_seq  BIGINT NOT NULL,
    PRIMARY KEY (session_id, question_id, seq),
    UNIQUE (session_id, id),
    CHECK ((kind = 'challenge') = (challenge_id IS NOT NULL)),
    FOREIGN KEY (session_id, question_id) REFERENCES frontier_questions (session_id, id)
        DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, under) REFERENCES frontier_attempts (session_id, id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE claims (
    session_id  TEXT COLLATE "C" NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    id          TEXT COLLATE "C" NOT NULL,
    question_id TEXT COLLATE "C",
    text        TEXT COLLATE "C" NOT NULL CHECK (text <> ''),
    kind        TEXT COLLATE "C" NOT NULL CHECK (kind IN ('fact', 'figure', 'quote', 'inference')),
    value       TEXT COLLATE "C" NOT NULL,
    unit        TEXT COLLATE "C" NOT NULL,
    status      TEXT COLLATE "C" NOT NULL CHECK (status IN ('UNVERIFIED', 'VERIFIED', 'REFUTED', 'RETRACTED')),
    scope       TEXT COLLATE "C" NOT NULL,
    check_text  TEXT COLLATE "C" NOT NULL,
    note        TEXT COLLATE "C" NOT NULL,
    updated_seq BIGINT NOT NULL,
    PRIMARY KEY (session_id, id),
    FOREIGN KEY (session_id, question_id) REFERENCES frontier_questions (session_id, id)
        DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE claim_sources (
    session_id          TEXT COLLATE "C" NOT NULL,
    claim_id            TEXT COLLATE "C" NOT NULL,
    position            BIGINT NOT NULL CHECK (position >= 0),
    source_id           TEXT COLLATE "C" NOT NULL,
    artifact_id         TEXT COLLATE "C" NOT NULL,
    stance              TEXT COLLATE "C" NOT NULL CHECK (stance IN ('supports', 'refutes', 'mentions')),
    quote               TEXT COLLATE "C" NOT NULL,
    quote_start         BIGINT NOT NULL CHECK (quote_start >= 0),
    quote_end           BIGINT NOT NULL CHECK (quote_end >= quote_start),
    quotes_other_source TEXT COLLATE "C" NOT NULL,
    state_seq           BIGINT NOT NULL,
    created_at          TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session_id, claim_id, position),
    CHECK (quote <> '' OR stance = 'mentions'),
    FOREIGN KEY (session_id, claim_id) REFERENCES claims (session_id, id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, source_id) REFERENCES sources (session_id, id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, artifact_id) REFERENCES artifacts (session_id, id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE challenges (
    session_id        TEXT COLLATE "C" NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    id                TEXT COLLATE "C" NOT NULL,
    target_kind       TEXT COLLATE "C" NOT NULL CHECK (target_kind IN ('claim', 'question_answer', 'conclusion')),
    target_id         TEXT COLLATE "C" NOT NULL CHECK ((target_kind = 'conclusion') = (target_id = 'conclusion')),
    strategy          TEXT COLLATE "C" NOT NULL
        CHECK (strategy IN ('direct_negation', 'counterexample', 'alternative_explanation', 'boundary_condition',
                            'primary_source', 'newer_evidence', 'method_critique')),
    negation          TEXT COLLATE "C" NOT NULL CHECK (negation <> ''),
    expected_if_false TEXT COLLATE "C" NOT NULL CHECK (expected_if_false <> ''),
    query             TEXT COLLATE "C" NOT NULL CHECK (query <> ''),
    status            TEXT COLLATE "C" NOT NULL CHECK (status IN ('open', 'closed')),
    outcome           TEXT COLLATE "C" CHECK (outcome IN ('survived', 'weakened', 'refuted', 'inconclusive')),
    evidence          TEXT COLLATE "C" NOT NULL,
    result_claim_id   TEXT COLLATE "C",
    attempt_id        TEXT COLLATE "C",
    cause             TEXT COLLATE "C" CHECK (cause IN ('evidence', 'infrastructure')),
    updated_seq       BIGINT NOT NULL,
    PRIMARY KEY (session_id, id),
    CHECK ((status = 'open') = (outcome IS NULL)),
    CHECK (outcome IS NULL OR outcome <> 'survived' OR attempt_id IS NOT NULL),
    CHECK (outcome IS NULL OR outcome NOT IN ('weakened', 'refuted') OR evidence <> ''),
    CHECK (cause IS NULL OR outcome IS NOT NULL AND outcome = 'inconclusive'),
    FOREIGN KEY (session_id, result_claim_id) REFERENCES claims (session_id, id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, attempt_id) REFERENCES frontier_attempts (session_id, id)
        DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE challenge_sources (
    session_id   TEXT COLLATE "C" NOT NULL,
    challenge_id TEXT COLLATE "C" NOT NULL,
    source_id    TEXT COLLATE "C" NOT NULL,
    position     BIGINT NOT NULL CHECK (position >= 0),
    PRIMARY KEY (session_id, challenge_id, source_id),
    FOREIGN KEY (session_id, challenge_id) REFERENCES challenges (session_id, id) DEFERRABLE INITIALLY DEFERRED,
    FOREIGN KEY (session_id, source_id) REFERENCES sources (session_id, id) DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE datapoints (
    session_id  TEXT COLLATE "C" NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    id          TEXT COLLATE "C" NOT NULL,
    label       TEXT COLLATE "C" NOT NULL CHECK (label <> ''),
    value       TEXT COLLATE "C" NOT NULL CHECK (value <> ''),
    unit        TEXT COLLATE "C" NOT NULL,
    as_of       TEXT COLLATE "C" NOT NULL,
    about       TEXT COLLATE "C" NOT NULL,
    updated_seq BIGINT NOT NULL,
    PRIMARY KEY (session_id, id)
);

CREATE TABLE contradictions (
    session_id  TEXT COLLATE "C" NOT NULL,
    id          TEXT COLLATE "C" NOT NULL,
    claim_id    TEXT COLLATE "C" NOT NULL,
    other_id    TEXT COLLATE "C" NOT NULL CHECK (other_id <> claim_id),
    differs     TEXT COLLATE "C" NOT NULL CHECK (differs <> ''),
    status      TEXT COLLATE "C" NOT NULL CHECK (status IN ('open', 'explained')),
    note        TEXT COLLATE "C" NOT NULL,
    updated_seq BIGINT NOT NULL,
    PRIMARY KEY (session_id, id),
    FOREIGN KEY (session_id, claim_id) REFERENCES claims (session_id, id) DEFERRABLE INITIALLY DEFERRED
);

-- Assumptions and gaps.
CREATE TABLE open_points (
    session_id  TEXT COLLATE "C" NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    id          TEXT COLLATE "C" NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL CHECK (kind IN ('assumption', 'gap')),
    text        TEXT COLLATE "C" NOT NULL CHECK (text <> ''),
    question_id TEXT COLLATE "C",
    updated_seq BIGINT NOT NULL,
    PRIMARY KEY (session_id, id),
    FOREIGN KEY (session_id, question_id) REFERENCES frontier_questions (session_id, id)
        DEFERRABLE INITIALLY DEFERRED
);

CREATE TABLE source_notes (
    session_id  TEXT COLLATE "C" NOT NULL,
    source_id   TEXT COLLATE "C" NOT NULL,
    note        TEXT COLLATE "C" NOT NULL,
    updated_seq BIGINT NOT NULL,
    PRIMARY KEY (session_id, source_id),
    FOREIGN KEY (session_id, source_id) REFERENCES sources (session_id, id) DEFERRABLE INITIALLY DEFERRED
);

-- The whole text of the notes after each change; state_seq is the sequence of the event that says so.
CREATE TABLE notes_versions (
    session_id TEXT COLLATE "C" NOT NULL REFERENCES research_runs DEFERRABLE INITIALLY DEFERRED,
    seq        BIGINT NOT NULL CHECK (seq >= 1),
    state_seq  BIGINT NOT NULL CHECK (state_seq >= 1),
    reason     TEXT COLLATE "C" NOT NULL
        CHECK (reason IN ('notes_append', 'notes_update', 'notes_scratch', 'consolidation', 'restore')),
    text       TEXT COLLATE "C" NOT NULL,
    text_hash  TEXT COLLATE "C" NOT NULL CHECK (text_hash LIKE 'sha256:%'),
    created_at TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (session_id, seq)
);

-- Attempts and challenges refer to each other.
ALTER TABLE frontier_attempts
    ADD FOREIGN KEY (session_id, challenge_id) REFERENCES challenges (session_id, id) DEFERRABLE INITIALLY DEFERRED;

-- The log joins each message with its calls without a look at all other calls of the session.
CREATE INDEX tool_calls_by_message ON tool_calls (session_id, message_id);

DROP VIEW io_log;
-- By itself SQLite would take the primary key, whose first column alone fits.
CREATE VIEW io_log AS
SELECT m.session_id, m.id AS message_id, m.turn_id, m.role, m.content, m.content_hash, m.context, m.seq AS message_seq,
       m.created_at, t.id AS tool_call_id, t.name, t.arguments, t.result, t.result_hash, t.entity_type,
       t.entity_id, t.status, t.code, t.duration_ms, t.seq AS tool_seq, t.created_at AS tool_created_at,
       p.id AS proposal_id, p.status AS proposal_status, p.path AS proposal_path, p.approved_by, p.approved_at,
       p.decided_by, p.decided_at, p.reason
FROM messages m
LEFT JOIN tool_calls t INDEXED BY tool_calls_by_message ON t.session_id = m.session_id AND t.message_id = m.id
LEFT JOIN proposals p ON p.session_id = t.session_id AND p.turn_id = t.turn_id AND p.tool_call_id = t.id;

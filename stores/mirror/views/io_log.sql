-- What was said and called, and what became of calls that a person had to approve; as the ledger's own view.
CREATE VIEW io_log AS
SELECT m.session_id, m.id AS message_id, m.turn_id, m.role, m.content, m.content_hash, m.context, m.seq AS message_seq,
       m.created_at, t.id AS tool_call_id, t.name, t.arguments, t.result, t.result_hash, t.entity_type,
       t.entity_id, t.status, t.code, t.duration_ms, t.seq AS tool_seq, t.created_at AS tool_created_at,
       p.id AS proposal_id, p.status AS proposal_status, p.path AS proposal_path, p.approved_by, p.approved_at,
       p.decided_by, p.decided_at, p.reason
FROM messages m
LEFT JOIN tool_calls t ON t.session_id = m.session_id AND t.message_id = m.id
LEFT JOIN proposals p ON p.session_id = t.session_id AND p.turn_id = t.turn_id AND p.tool_call_id = t.id;

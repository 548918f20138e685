-- What led nowhere: searches that ran and found nothing, pages that could not be used, questions without an answer, and
-- claims that fell. What merely failed, as by a lost network, is no dead end.
CREATE VIEW dead_ends AS
SELECT a.session_id, a.kind, a.question_id, a.id, a.query AS what, a.outcome AS why, a.updated_seq
FROM frontier_attempts a WHERE a.results = 0 AND a.cause = 'evidence'
UNION ALL
SELECT q.session_id, 'question', q.id, q.id, q.text,
       CASE q.status WHEN 'unresolvable' THEN q.assumption ELSE t.reason END, q.updated_seq
FROM frontier_questions q
LEFT JOIN frontier_transitions t ON t.session_id = q.session_id AND t.question_id = q.id AND t.seq = q.trans_seq
WHERE q.status IN ('unresolvable', 'pruned')
UNION ALL
SELECT c.session_id, 'claim', coalesce(c.question_id, 'q_001'), c.id, c.text, concat_ws(': ', c.status, nullif(c.note, '')),
       c.updated_seq
FROM claims c WHERE c.status IN ('REFUTED', 'RETRACTED');

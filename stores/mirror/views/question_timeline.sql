-- Every step of every question: the status it came to, why and by whom, and how long it stayed so. A question that is
-- still open is counted up to its session's last event; one that is settled has no further time.
CREATE VIEW question_timeline AS
WITH ends AS (
    SELECT stream, max(ts) AS ended_at FROM events GROUP BY stream
), steps AS (
    SELECT t.*, q.text AS question, q.kind AS question_kind, e.ended_at,
           lead(t.created_at) OVER (PARTITION BY t.session_id, t.question_id ORDER BY t.seq) AS next_at
    FROM frontier_transitions t
    JOIN frontier_questions q ON q.session_id = t.session_id AND q.id = t.question_id
    LEFT JOIN ends e ON e.stream = 'session:' || t.session_id
)
SELECT session_id, question_id, question, question_kind, seq, from_status, to_status, trigger, actor, reason, priority,
       created_at AS since, next_at AS until,
       epoch(coalesce(next_at, CASE WHEN to_status IN ('pending', 'in_progress', 'blocked') THEN ended_at END)
             - created_at) AS seconds
FROM steps;

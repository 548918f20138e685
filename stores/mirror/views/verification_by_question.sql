-- How many claims of each question were checked (coverage) beside how many are VERIFIED (rate). Retracted claims are
-- counted apart; a challenge whose search failed checks nothing; claims without a question belong to the objective.
CREATE VIEW verification_by_question AS
WITH checked AS (
    SELECT DISTINCT session_id, target_id FROM challenges
    WHERE target_kind = 'claim' AND status = 'closed' AND cause IS DISTINCT FROM 'infrastructure'
), counted AS (
    SELECT c.session_id, coalesce(c.question_id, 'q_001') AS question_id, c.status, k.target_id IS NOT NULL AS is_checked
    FROM claims c LEFT JOIN checked k ON k.session_id = c.session_id AND k.target_id = c.id
)
SELECT n.session_id, n.question_id, q.text AS question,
       count(*) FILTER (WHERE n.status <> 'RETRACTED') AS claims,
       count(*) FILTER (WHERE n.is_checked AND n.status <> 'RETRACTED') AS challenged,
       count(*) FILTER (WHERE n.status = 'VERIFIED') AS verified,
       count(*) FILTER (WHERE n.status = 'REFUTED') AS refuted,
       count(*) FILTER (WHERE n.status = 'RETRACTED') AS retracted,
       challenged / nullif(claims, 0) AS coverage,
       verified / nullif(claims, 0) AS rate
FROM counted n
LEFT JOIN frontier_questions q ON q.session_id = n.session_id AND q.id = n.question_id
GROUP BY n.session_id, n.question_id, q.text;

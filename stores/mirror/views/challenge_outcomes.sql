-- How challenges came out, by strategy. ``failed`` are those whose search never ran: they say nothing, and the shares
-- are of the others that were closed.
CREATE VIEW challenge_outcomes AS
SELECT session_id, strategy, count(*) AS challenges,
       count(*) FILTER (WHERE status = 'open') AS open,
       count(*) FILTER (WHERE outcome = 'survived') AS survived,
       count(*) FILTER (WHERE outcome = 'weakened') AS weakened,
       count(*) FILTER (WHERE outcome = 'refuted') AS refuted,
       count(*) FILTER (WHERE outcome = 'inconclusive' AND cause IS DISTINCT FROM 'infrastructure') AS inconclusive,
       count(*) FILTER (WHERE cause = 'infrastructure') AS failed,
       count(*) FILTER (WHERE outcome = 'survived')
           / nullif(count(*) FILTER (WHERE status = 'closed' AND cause IS DISTINCT FROM 'infrastructure'), 0)
           AS survived_share
FROM challenges GROUP BY session_id, strategy;

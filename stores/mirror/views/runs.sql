-- A line for each run: what it was asked, by which model, how it ended, what it holds, and what that took. Of a fork
-- the times, requests, tokens, dollars and calls are its own alone, without those of the events that it copied.
CREATE VIEW runs AS
WITH times AS (
    SELECT substr(e.stream, 9) AS session_id, count(*) AS events,
           min(e.ts) FILTER (WHERE e.seq > coalesce(f.forked_seq, 0)) AS began_at,
           max(e.ts) FILTER (WHERE e.seq > coalesce(f.forked_seq, 0)) AS ended_at
    FROM events e LEFT JOIN forks f ON e.stream = 'session:' || f.session_id
    WHERE starts_with(e.stream, 'session:') GROUP BY ALL
), found AS (
    SELECT session_id, count(*) AS sources, count(DISTINCT origin) AS origins FROM sources GROUP BY ALL
), called AS (
    SELECT t.session_id, count(*) AS tool_calls, count(*) FILTER (WHERE t.status = 'error') AS tool_errors
    FROM tool_calls t LEFT JOIN forks f ON f.session_id = t.session_id
    WHERE t.seq > coalesce(f.forked_seq, 0) GROUP BY ALL
), asked AS (
    SELECT session_id, count(*) AS requests, sum(input_tokens + output_tokens)::BIGINT AS tokens,
           CASE WHEN count(*) = count(cost_usd) THEN sum(cost_usd) END AS cost_usd
    FROM model_requests WHERE NOT inherited GROUP BY ALL
), challenged AS (
    SELECT session_id, count(*) AS challenges, count(*) FILTER (WHERE outcome = 'survived') AS survived
    FROM challenges GROUP BY ALL
), questions AS (
    SELECT session_id, count(*) AS questions, count(*) FILTER (WHERE status = 'resolved') AS resolved
    FROM frontier_questions GROUP BY ALL
)
SELECT r.session_id, r.objective, r.model, r.scope_level, r.template, r.status, r.stop_reason, t.began_at, t.ended_at,
       epoch(t.ended_at - t.began_at) AS seconds, t.events,
       coalesce(q.questions, 0) AS questions, coalesce(q.resolved, 0) AS resolved,
       coalesce(f.sources, 0) AS sources, coalesce(f.origins, 0) AS origins,
       v.claims, v.verified, v.refuted, v.coverage, v.rate,
       coalesce(h.challenges, 0) AS challenges, coalesce(h.survived, 0) AS survived,
       coalesce(a.requests, 0) AS requests, coalesce(a.tokens, 0) AS tokens,
       CASE WHEN a.session_id IS NULL THEN 0 ELSE a.cost_usd END AS cost_usd,
       coalesce(c.tool_calls, 0) AS tool_calls, coalesce(c.tool_errors, 0) AS tool_errors,
       k.forked_from, k.forked_seq
FROM research_runs r
LEFT JOIN times t ON t.session_id = r.session_id
LEFT JOIN found f ON f.session_id = r.session_id
LEFT JOIN called c ON c.session_id = r.session_id
LEFT JOIN asked a ON a.session_id = r.session_id
LEFT JOIN challenged h ON h.session_id = r.session_id
LEFT JOIN questions q ON q.session_id = r.session_id
LEFT JOIN forks k ON k.session_id = r.session_id
LEFT JOIN verification_by_run v ON v.session_id = r.session_id;

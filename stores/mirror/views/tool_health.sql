-- Which tools are slow, and which are refused or fail: over all sessions, with the code that came most often (of
-- several the first by name). A call that a fork copied is counted where it was made.
CREATE VIEW tool_health AS
SELECT t.name AS tool, count(*) AS calls, count(DISTINCT t.session_id) AS sessions,
       count(*) FILTER (WHERE t.status = 'error') AS errors,
       count(*) FILTER (WHERE t.status = 'error') / count(*) AS error_share,
       mode(t.code ORDER BY t.code) FILTER (WHERE t.code <> '') AS commonest_code,
       quantile_cont(t.duration_ms, 0.5) AS median_ms, quantile_cont(t.duration_ms, 0.95) AS p95_ms,
       max(t.duration_ms) AS max_ms, sum(t.duration_ms) / 1000 AS seconds
FROM tool_calls t LEFT JOIN forks f ON f.session_id = t.session_id
WHERE t.seq > coalesce(f.forked_seq, 0) GROUP BY t.name;

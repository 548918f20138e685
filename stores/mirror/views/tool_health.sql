-- Which tools are slow, and which are refused or fail: over all sessions, with the code that came most often.
CREATE VIEW tool_health AS
SELECT name AS tool, count(*) AS calls, count(DISTINCT session_id) AS sessions,
       count(*) FILTER (WHERE status = 'error') AS errors,
       count(*) FILTER (WHERE status = 'error') / count(*) AS error_share,
       mode(code) FILTER (WHERE code <> '') AS commonest_code,
       quantile_cont(duration_ms, 0.5) AS median_ms, quantile_cont(duration_ms, 0.95) AS p95_ms,
       max(duration_ms) AS max_ms, sum(duration_ms) / 1000 AS seconds
FROM tool_calls GROUP BY name;

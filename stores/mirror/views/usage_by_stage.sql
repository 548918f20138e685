-- Requests, tokens, time and US dollars of each stage of each run; dollars are NULL where one price is not known.
CREATE VIEW usage_by_stage AS
WITH called AS (
    SELECT t.session_id, m.stage, count(*) AS tool_calls, sum(t.duration_ms) / 1000 AS tool_seconds
    FROM tool_calls t JOIN model_calls m ON m.session_id = t.session_id AND m.turn_id = t.turn_id
    WHERE t.turn_id <> '' GROUP BY ALL
), asked AS (
    SELECT session_id, stage, count(*) AS requests, count(*) FILTER (WHERE status = 'failed') AS failed,
           sum(input_tokens)::BIGINT AS input_tokens, sum(output_tokens)::BIGINT AS output_tokens,
           sum(cached_tokens)::BIGINT AS cached_tokens, sum(reasoning_tokens)::BIGINT AS reasoning_tokens,
           CASE WHEN count(*) = count(cost_usd) THEN sum(cost_usd) END AS cost_usd, sum(seconds) AS model_seconds
    FROM model_requests GROUP BY ALL
)
SELECT a.*, coalesce(c.tool_calls, 0) AS tool_calls, coalesce(c.tool_seconds, 0) AS tool_seconds
FROM asked a LEFT JOIN called c ON c.session_id = a.session_id AND c.stage = a.stage;

-- Requests, tokens, time and US dollars of each stage of each run; dollars are NULL where one price is not known. What
-- a fork copied is not counted again; of an answer that it copied it may have made the calls.
CREATE VIEW usage_by_stage AS
WITH called AS (
    SELECT t.session_id, m.stage, count(*) AS tool_calls, sum(t.duration_ms) / 1000 AS tool_seconds
    FROM tool_calls t
    JOIN model_calls m ON m.session_id = t.session_id AND m.turn_id = t.turn_id
    LEFT JOIN forks f ON f.session_id = t.session_id
    WHERE t.turn_id <> '' AND t.seq > coalesce(f.forked_seq, 0) GROUP BY ALL
), asked AS (
    SELECT session_id, stage, count(*) AS requests, count(*) FILTER (WHERE status = 'failed') AS failed,
           sum(input_tokens)::BIGINT AS input_tokens, sum(output_tokens)::BIGINT AS output_tokens,
           sum(cached_tokens)::BIGINT AS cached_tokens, sum(reasoning_tokens)::BIGINT AS reasoning_tokens,
           CASE WHEN count(*) = count(cost_usd) THEN sum(cost_usd) END AS cost_usd, sum(seconds) AS model_seconds
    FROM model_requests WHERE NOT inherited GROUP BY ALL
)
SELECT session_id, stage, coalesce(a.requests, 0) AS requests, coalesce(a.failed, 0) AS failed,
       coalesce(a.input_tokens, 0) AS input_tokens, coalesce(a.output_tokens, 0) AS output_tokens,
       coalesce(a.cached_tokens, 0) AS cached_tokens, coalesce(a.reasoning_tokens, 0) AS reasoning_tokens,
       CASE WHEN a.requests IS NULL THEN 0 ELSE a.cost_usd END AS cost_usd,
       CASE WHEN a.requests IS NULL THEN 0 ELSE a.model_seconds END AS model_seconds,
       coalesce(c.tool_calls, 0) AS tool_calls, coalesce(c.tool_seconds, 0) AS tool_seconds
FROM asked a FULL JOIN called c USING (session_id, stage);

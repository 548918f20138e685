-- Requests, tokens, time and US dollars of each model in each run; dollars are NULL where one price is not known. What
-- a fork copied is not counted again.
CREATE VIEW usage_by_model AS
SELECT session_id, model, count(*) AS requests, count(*) FILTER (WHERE status = 'failed') AS failed,
       sum(input_tokens)::BIGINT AS input_tokens, sum(output_tokens)::BIGINT AS output_tokens,
       sum(cached_tokens)::BIGINT AS cached_tokens, sum(reasoning_tokens)::BIGINT AS reasoning_tokens,
       CASE WHEN count(*) = count(cost_usd) THEN sum(cost_usd) END AS cost_usd,
       sum(seconds) AS model_seconds, median(seconds) AS median_seconds
FROM model_requests WHERE NOT inherited GROUP BY session_id, model;

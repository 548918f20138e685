-- Every request to a model: tokens, seconds and US dollars. An answer that never came counts with its estimated prompt;
-- one that the provider refused costs nothing. Dollars are NULL where the price is not known, 0 for a model that runs in
-- the process itself.
CREATE VIEW model_requests AS
WITH asked AS (
    SELECT stream, seq, ts, payload->>'ordinal' AS ordinal, payload->>'model' AS model, payload->>'stage' AS stage,
           (payload->>'input_tokens')::BIGINT AS input_tokens,
           lead(seq, 1, 9223372036854775807) OVER (PARTITION BY stream ORDER BY seq) AS next_seq
    FROM events WHERE type = 'model_called'
), ended AS (
    SELECT stream, seq, ts, type, payload->>'ordinal' AS ordinal, payload
    FROM events WHERE type IN ('model_answered', 'model_failed')
), requests AS (
    SELECT a.stream, a.ordinal::BIGINT AS ordinal, a.model, a.stage, a.ts AS asked_at, e.ts AS ended_at, e.payload,
           coalesce(e.type, 'asked') AS ended, coalesce(e.seq, a.next_seq) AS counted_seq,
           e.type = 'model_failed' AND NOT (coalesce(e.payload->>'charged', 'true'))::BOOLEAN AS is_free,
           coalesce((e.payload->>'input_tokens')::BIGINT, a.input_tokens) AS input_tokens,
           coalesce((e.payload->>'output_tokens')::BIGINT, 0) AS output_tokens,
           coalesce((e.payload->>'cached_tokens')::BIGINT, 0) AS cached_tokens,
           coalesce((e.payload->>'written_tokens')::BIGINT, 0) AS written_tokens,
           coalesce((e.payload->>'reasoning_tokens')::BIGINT, 0) AS reasoning_tokens
    FROM asked a LEFT JOIN ended e ON e.stream = a.stream AND e.ordinal = a.ordinal AND e.seq > a.seq
), priced AS (
    SELECT r.*, least(r.cached_tokens, r.input_tokens) AS cached,
           least(r.written_tokens, r.input_tokens - least(r.cached_tokens, r.input_tokens)) AS written,
           -- US dollars per million tokens are as many millionths of a dollar per token: whole numbers from here on.
           ((p.payload->'price'->>'input')::DECIMAL(18, 6) * 1000000)::HUGEINT AS price,
           ((p.payload->'price'->>'output')::DECIMAL(18, 6) * 1000000)::HUGEINT AS output_price,
           ((nullif(p.payload->'price'->>'cached_input', ''))::DECIMAL(18, 6) * 1000000)::HUGEINT AS cached_price,
           ((nullif(p.payload->'price'->>'cache_write', ''))::DECIMAL(18, 6) * 1000000)::HUGEINT AS written_price
    FROM requests r
    ASOF LEFT JOIN (SELECT stream, seq, payload FROM events WHERE type = 'run_configured') p
        ON p.stream = r.stream AND p.seq < r.counted_seq
), costed AS (
    SELECT *, CASE WHEN is_free OR model = 'offline' THEN 0::HUGEINT
                   ELSE (input_tokens - cached - written) * price + cached * coalesce(cached_price, price)
                        + written * coalesce(written_price, price) + output_tokens * output_price
              END AS picodollars
    FROM priced
)
SELECT substr(stream, 9) AS session_id, ordinal, model, stage,
       CASE ended WHEN 'model_answered' THEN 'answered' WHEN 'model_failed' THEN 'failed' ELSE 'asked' END AS status,
       payload->>'turn_id' AS turn_id, asked_at, ended_at, epoch(ended_at - asked_at) AS seconds,
       CASE WHEN is_free THEN 0 ELSE input_tokens END AS input_tokens, output_tokens, cached_tokens, written_tokens,
       reasoning_tokens, picodollars,
       (picodollars::DECIMAL(26, 0) * 0.000000000001::DECIMAL(12, 12))::DECIMAL(38, 12) AS cost_usd,
       payload->'calls' AS calls
FROM costed;

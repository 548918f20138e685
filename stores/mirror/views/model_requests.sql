-- Every request to a model: tokens, seconds and US dollars. An answer that never came counts with its estimated prompt;
-- one that the provider refused costs nothing. Dollars are NULL where the price is not known, 0 for a model that runs
-- in the process itself. ``inherited`` are those that a fork copied: they were asked, and paid, in another session.
-- What is exact has a type that Parquet keeps too, which a HUGEINT is not.
CREATE VIEW model_requests AS
WITH happened AS (
    -- A session has one request under way at most: what follows it among these is its end, or the next request.
    SELECT stream, seq, ts, type, payload, lead(type, 1, 'model_called') OVER following AS next_type,
           lead(seq, 1, 9223372036854775807) OVER following AS counted_seq,
           lead(ts) OVER following AS next_ts, lead(payload) OVER following AS next_payload
    FROM events WHERE type IN ('model_called', 'model_answered', 'model_failed')
    WINDOW following AS (PARTITION BY stream ORDER BY seq)
), asked AS (
    SELECT stream, seq, ts AS asked_at, payload, counted_seq, next_type AS ended,
           CASE WHEN next_type <> 'model_called' THEN next_ts END AS ended_at,
           CASE WHEN next_type <> 'model_called' THEN next_payload END AS ending
    FROM happened WHERE type = 'model_called'
), requests AS (
    SELECT stream, seq, asked_at, ended_at, ended, ending, counted_seq, (payload->>'ordinal')::BIGINT AS ordinal,
           payload->>'model' AS model, payload->>'stage' AS stage,
           ended = 'model_failed' AND NOT (coalesce(ending->>'charged', 'true'))::BOOLEAN AS is_free,
           coalesce((ending->>'input_tokens')::BIGINT, (payload->>'input_tokens')::BIGINT) AS input_tokens,
           coalesce((ending->>'output_tokens')::BIGINT, 0) AS output_tokens,
           coalesce((ending->>'cached_tokens')::BIGINT, 0) AS cached_tokens,
           coalesce((ending->>'written_tokens')::BIGINT, 0) AS written_tokens,
           coalesce((ending->>'reasoning_tokens')::BIGINT, 0) AS reasoning_tokens
    FROM asked
), priced AS (
    SELECT r.*, least(r.cached_tokens, r.input_tokens) AS cached,
           least(r.written_tokens, r.input_tokens - least(r.cached_tokens, r.input_tokens)) AS written,
           -- Prices have up to 15 decimals and are of a million tokens: from here on, whole numbers of 1e-21 dollars.
           ((p.payload->'price'->>'input')::DECIMAL(38, 15) * 1000000000000000)::HUGEINT AS price,
           ((p.payload->'price'->>'output')::DECIMAL(38, 15) * 1000000000000000)::HUGEINT AS output_price,
           ((nullif(p.payload->'price'->>'cached_input', ''))::DECIMAL(38, 15) * 1000000000000000)::HUGEINT
               AS cached_price,
           ((nullif(p.payload->'price'->>'cache_write', ''))::DECIMAL(38, 15) * 1000000000000000)::HUGEINT
               AS written_price
    FROM requests r
    ASOF LEFT JOIN (SELECT stream, seq, payload FROM events WHERE type = 'run_configured') p
        ON p.stream = r.stream AND p.seq < r.counted_seq
), costed AS (
    SELECT *, CASE WHEN is_free OR model = 'offline' THEN 0::HUGEINT
                   ELSE (input_tokens - cached - written) * price + cached * coalesce(cached_price, price)
                        + written * coalesce(written_price, price) + output_tokens * output_price
              END AS zeptodollars
    FROM priced
)
SELECT substr(c.stream, 9) AS session_id, ordinal, model, stage,
       CASE ended WHEN 'model_answered' THEN 'answered' WHEN 'model_failed' THEN 'failed' ELSE 'asked' END AS status,
       ending->>'turn_id' AS turn_id, asked_at, ended_at, epoch(ended_at - asked_at) AS seconds,
       CASE WHEN is_free THEN 0 ELSE input_tokens END AS input_tokens, output_tokens, cached_tokens, written_tokens,
       reasoning_tokens, zeptodollars::DECIMAL(38, 0) AS zeptodollars,
       ((zeptodollars // 1000000000000000000000)::VARCHAR || '.'
           || lpad((zeptodollars % 1000000000000000000000)::VARCHAR, 21, '0'))::DECIMAL(38, 21) AS cost_usd,
       ending->'calls' AS calls, c.seq <= coalesce(f.forked_seq, 0) AS inherited
FROM costed c LEFT JOIN forks f ON c.stream = 'session:' || f.session_id;

-- What the requests whose answers called each tool used: a request is shared out among the calls of its answer by the
-- size of their arguments, and one that brought no call is put down to ''. So the sums are those of all requests, but
-- for those that a fork copied. ``tool_seconds`` is how long the calls themselves took; of an answer that a fork copied
-- it may have made the calls.
CREATE VIEW usage_by_tool AS
WITH calls AS (
    SELECT session_id, ordinal, input_tokens, output_tokens, cached_tokens, reasoning_tokens,
           zeptodollars::HUGEINT AS zeptodollars, generate_subscripts(list, 1) AS place, unnest(list) AS call
    FROM (SELECT *, CASE WHEN json_array_length(calls) > 0 THEN from_json(calls, '["JSON"]')
                         ELSE ['{"name": "", "chars": 0}'::JSON] END AS list
          FROM model_requests WHERE NOT inherited)
), weighed AS (
    SELECT *, call->>'name' AS tool, greatest(1, coalesce((call->>'chars')::BIGINT, 0)) AS weight FROM calls
), placed AS (
    SELECT *, sum(weight) OVER (PARTITION BY session_id, ordinal ORDER BY place) AS done,
           sum(weight) OVER (PARTITION BY session_id, ordinal) AS whole
    FROM weighed
), shared AS (
    SELECT session_id, tool,
           input_tokens * done // whole - input_tokens * (done - weight) // whole AS input_tokens,
           output_tokens * done // whole - output_tokens * (done - weight) // whole AS output_tokens,
           cached_tokens * done // whole - cached_tokens * (done - weight) // whole AS cached_tokens,
           reasoning_tokens * done // whole - reasoning_tokens * (done - weight) // whole AS reasoning_tokens,
           zeptodollars * done // whole - zeptodollars * (done - weight) // whole AS zeptodollars
    FROM placed
), summed AS (
    SELECT session_id, tool, count(*) AS calls, sum(input_tokens)::BIGINT AS input_tokens,
           sum(output_tokens)::BIGINT AS output_tokens, sum(cached_tokens)::BIGINT AS cached_tokens,
           sum(reasoning_tokens)::BIGINT AS reasoning_tokens,
           CASE WHEN count(*) = count(zeptodollars) THEN sum(zeptodollars)::HUGEINT END AS zeptodollars
    FROM shared GROUP BY session_id, tool
), took AS (
    SELECT t.session_id, t.name AS tool, sum(t.duration_ms) / 1000 AS tool_seconds
    FROM tool_calls t LEFT JOIN forks f ON f.session_id = t.session_id
    WHERE t.turn_id <> '' AND t.seq > coalesce(f.forked_seq, 0) GROUP BY ALL
)
SELECT session_id, tool, coalesce(s.calls, 0) AS calls, coalesce(s.input_tokens, 0) AS input_tokens,
       coalesce(s.output_tokens, 0) AS output_tokens, coalesce(s.cached_tokens, 0) AS cached_tokens,
       coalesce(s.reasoning_tokens, 0) AS reasoning_tokens,
       CASE WHEN s.calls IS NULL THEN 0 ELSE
           ((zeptodollars // 1000000000000000000000)::VARCHAR || '.'
               || lpad((zeptodollars % 1000000000000000000000)::VARCHAR, 21, '0'))::DECIMAL(38, 21) END AS cost_usd,
       coalesce(k.tool_seconds, 0) AS tool_seconds
FROM summed s FULL JOIN took k USING (session_id, tool);

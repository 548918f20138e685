-- What the requests whose answers called each tool used: a request is shared out among the calls of its answer by the
-- size of their arguments, and one that brought no call is put down to ''. So the sums are those of all requests, but
-- for those that a fork copied.
CREATE VIEW usage_by_tool AS
WITH calls AS (
    SELECT session_id, ordinal, input_tokens, output_tokens, cached_tokens, reasoning_tokens, zeptodollars,
           generate_subscripts(list, 1) AS place, unnest(list) AS call
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
)
SELECT * EXCLUDE zeptodollars,
       ((zeptodollars // 1000000000000000000000)::VARCHAR || '.'
           || lpad((zeptodollars % 1000000000000000000000)::VARCHAR, 21, '0'))::DECIMAL(38, 21) AS cost_usd
FROM summed;

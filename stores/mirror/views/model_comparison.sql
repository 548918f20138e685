-- The runs of each model beside those of the others: medians of a run, and shares over all of its runs. Forks are left
-- out: they share what they found with the run that they were forked from, so that they are no further runs.
CREATE VIEW model_comparison AS
SELECT model, scope_level, count(*) AS runs, count(*) FILTER (WHERE status = 'completed') AS completed,
       count(*) FILTER (WHERE stop_reason IS NOT NULL) AS stopped,
       median(sources) AS sources, median(origins) AS origins, median(claims) AS claims,
       sum(verified) / nullif(sum(claims), 0) AS rate,
       sum(coverage * claims) / nullif(sum(claims), 0) AS coverage,
       sum(survived) / nullif(sum(challenges), 0) AS survived_share,
       median(tokens) AS tokens, CASE WHEN count(*) = count(cost_usd) THEN avg(cost_usd) END AS mean_cost_usd,
       median(seconds) AS seconds, sum(tool_errors) / nullif(sum(tool_calls), 0) AS error_share
FROM runs WHERE forked_from IS NULL GROUP BY model, scope_level;

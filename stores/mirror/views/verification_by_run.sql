-- The same for whole runs, those without a claim included.
CREATE VIEW verification_by_run AS
SELECT r.session_id, r.objective,
       coalesce(sum(v.claims), 0)::BIGINT AS claims, coalesce(sum(v.challenged), 0)::BIGINT AS challenged,
       coalesce(sum(v.verified), 0)::BIGINT AS verified, coalesce(sum(v.refuted), 0)::BIGINT AS refuted,
       coalesce(sum(v.retracted), 0)::BIGINT AS retracted,
       sum(v.challenged) / nullif(sum(v.claims), 0) AS coverage,
       sum(v.verified) / nullif(sum(v.claims), 0) AS rate
FROM research_runs r LEFT JOIN verification_by_question v ON v.session_id = r.session_id
GROUP BY r.session_id, r.objective;

-- How much of a run stands on each publisher: its share of the sources, and of the quotes that claims are linked by.
CREATE VIEW source_concentration AS
WITH linked AS (
    SELECT session_id, source_id, count(*) AS links, count(DISTINCT claim_id) AS claims
    FROM claim_sources GROUP BY session_id, source_id
), claimed AS (
    SELECT l.session_id, s.origin, count(DISTINCT l.claim_id) AS claims
    FROM claim_sources l JOIN sources s ON s.session_id = l.session_id AND s.id = l.source_id GROUP BY ALL
)
SELECT s.session_id, s.origin, count(*) AS sources, coalesce(sum(l.links), 0)::BIGINT AS links,
       coalesce(any_value(c.claims), 0) AS claims,
       count(*) / sum(count(*)) OVER (PARTITION BY s.session_id) AS share_of_sources,
       coalesce(sum(l.links), 0) / nullif(sum(coalesce(sum(l.links), 0)) OVER (PARTITION BY s.session_id), 0)
           AS share_of_links
FROM sources s
LEFT JOIN linked l ON l.session_id = s.session_id AND l.source_id = s.id
LEFT JOIN claimed c ON c.session_id = s.session_id AND c.origin = s.origin
GROUP BY s.session_id, s.origin;

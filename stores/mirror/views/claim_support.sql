-- Each claim with each of its sources: what the source says about it, who published it, whether its support counts, and
-- the cluster of sources that count as one with it. ``independent_sources`` is how many clusters support the claim.
CREATE VIEW claim_support AS
WITH support AS (
    SELECT session_id, claim_id, count(DISTINCT cluster) AS clusters FROM claim_clusters GROUP BY ALL
)
SELECT c.session_id, c.id AS claim_id, c.text AS claim, c.kind, c.status, c.question_id, l.position, l.stance,
       l.source_id, s.domain, s.origin, s.url, s.title, l.quote, l.quotes_other_source,
       r.source_id IS NOT NULL AS fetched, coalesce(r.readable, true) AS readable,
       k.cluster IS NOT NULL AND l.stance = 'supports' AS counts, k.cluster,
       coalesce(n.clusters, 0) AS independent_sources
FROM claims c
JOIN claim_sources l ON l.session_id = c.session_id AND l.claim_id = c.id
JOIN sources s ON s.session_id = l.session_id AND s.id = l.source_id
LEFT JOIN receipts r ON r.session_id = l.session_id AND r.source_id = l.source_id
LEFT JOIN claim_clusters k
    ON k.session_id = l.session_id AND k.claim_id = l.claim_id AND k.source_id = l.source_id
LEFT JOIN support n ON n.session_id = c.session_id AND n.claim_id = c.id;

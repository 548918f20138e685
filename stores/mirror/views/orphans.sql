-- Sources that were archived and that no claim, challenge or report cites (never_cited), and what is cited or was looked at
-- but not archived (never_archived): what a source is declared to repeat, what a step inspected, and who names it.
CREATE VIEW orphans AS
WITH known AS (
    SELECT session_id, id AS name FROM sources
    UNION SELECT session_id, url FROM sources
    UNION SELECT session_id, artifact_id FROM sources
    UNION SELECT session_id, locator FROM receipts
    UNION SELECT session_id, requested FROM receipts
    UNION SELECT session_id, locator FROM artifacts WHERE role = 'source'
), cited AS (
    SELECT session_id, source_id FROM claim_sources
    UNION SELECT session_id, source_id FROM artifact_quotes
    UNION SELECT session_id, source_id FROM challenge_sources
    UNION SELECT p.session_id, s.id FROM artifact_sources p
          JOIN artifacts a ON a.session_id = p.session_id AND a.id = p.artifact_id
               AND a.role IN ('report_section', 'report')
          JOIN sources s ON s.session_id = p.session_id AND s.artifact_id = p.source_artifact_id
), named AS (
    SELECT session_id, quotes_other_source AS name, claim_id AS named_by FROM claim_sources
    WHERE quotes_other_source <> ''
    UNION SELECT session_id, locator, 'step ' || step FROM inspected_refs
          WHERE source_artifact_id IS NULL AND kind IN ('file', 'url')
)
SELECT s.session_id, 'never_cited' AS kind, s.id, coalesce(s.title, '') AS title, s.url AS locator, '' AS named_by
FROM sources s ANTI JOIN cited c ON c.session_id = s.session_id AND c.source_id = s.id
UNION ALL
SELECT n.session_id, 'never_archived', '', '', n.name, string_agg(n.named_by, ', ' ORDER BY n.named_by)
FROM named n ANTI JOIN known k ON k.session_id = n.session_id AND k.name = n.name
GROUP BY n.session_id, n.name;

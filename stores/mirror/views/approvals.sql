-- What agents asked to change, who decided and how long it waited; ``seconds`` runs on for nobody: it is NULL while a
-- proposal waits.
CREATE VIEW approvals AS
SELECT p.session_id, p.id AS proposal_id, p.tool, p.verb, p.path, p.destructive, p.status, p.created_at,
       p.decided_at, p.decided_by, split_part(p.decided_by, ':', 1) AS decided_by_kind,
       epoch(p.decided_at - p.created_at) AS seconds, p.executed_at, p.approved_arguments IS NOT NULL AS edited,
       p.reason, p.error
FROM proposals p;

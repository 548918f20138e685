-- Sessions that began as a copy: their first ``forked_seq`` events are those of another session, which did and paid
-- what they say.
CREATE VIEW forks AS
SELECT substr(stream, 9) AS session_id, payload->>'forked_from' AS forked_from,
       (payload->>'forked_seq')::BIGINT AS forked_seq
FROM events WHERE type = 'session_opened' AND payload->>'forked_from' <> '';

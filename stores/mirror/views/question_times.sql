-- How long each question stood in each status, and how often it came to it.
CREATE VIEW question_times AS
SELECT session_id, question_id, question, to_status AS status,
       count(*) FILTER (WHERE from_status IS DISTINCT FROM to_status) AS times, sum(seconds) AS seconds
FROM question_timeline GROUP BY ALL;

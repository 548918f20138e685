-- The calls of one message are found without a look at all other calls of the session.
CREATE INDEX tool_calls_by_message ON tool_calls (session_id, message_id);

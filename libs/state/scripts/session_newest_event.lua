-- session_newest_event: the seq of a session's newest event.
--
-- KEYS: session
-- Result: {OK, seq; 0: none}

--@idempotent
--@include lib_record

record(KEYS[1], SESSION_FORMAT)
return { RC_OK, tonumber(redis.call('HGET', KEYS[1], 'seq') or '') or 0 }

-- session_delete: delete a session with its messages, turns and events.
--
-- KEYS: session, messages, turns, idle, events, the user's sessions
-- ARGV: user:session (tokens)
-- Result: OK, NOENT

--@include lib_record
--@include lib_session_key

if not record(KEYS[1], SESSION_FORMAT) then
  return RC_NOENT
end
redis.call('ZREM', KEYS[4], ARGV[1])
redis.call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[5])
local _, session = split_session(ARGV[1])
redis.call('ZREM', KEYS[6], session)
return RC_OK

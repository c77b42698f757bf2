-- session_idle_done: a claimed session was dealt with.
--
-- KEYS: session, idle
-- ARGV: due, user:session (tokens)
-- Result: OK, also if an input has begun another idle period
--
-- A session claimed for its length, before it was idle, is due when it is.

--@include lib_now

local due = tonumber(redis.call('HGET', KEYS[1], 'due') or '')
if due ~= tonumber(ARGV[1]) then return RC_OK end
if due <= now then
  redis.call('ZREM', KEYS[2], ARGV[2])
else
  redis.call('ZADD', KEYS[2], 'XX', due, ARGV[2])
  redis.call('HSET', KEYS[1], 'claims', 0)
end
return RC_OK

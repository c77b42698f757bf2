-- session_idle_defer: keep a claim for longer.
--
-- KEYS: session, idle
-- ARGV: due, user:session (tokens), from now (ms)
-- Result: OK, CONFLICT if the claim is no longer valid

--@include lib_now

local call, idle, member = redis.call, KEYS[2], ARGV[2]
if tonumber(call('HGET', KEYS[1], 'due') or '') ~= tonumber(ARGV[1])
  or not call('ZSCORE', idle, member) then
  return RC_CONFLICT
end
call('ZADD', idle, now + tonumber(ARGV[3]), member)
return RC_OK

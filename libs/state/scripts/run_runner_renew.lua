-- run_runner_renew: a runner lives.
--
-- KEYS: runners, what they offer
-- ARGV: runner, for how long (ms), what it offers, the most runners
-- Result: OK, RETRY if there are too many

--@idempotent
--@include lib_now

local call, runners, offers = redis.call, KEYS[1], KEYS[2]
if not call('ZSCORE', runners, ARGV[1])
  and call('ZCARD', runners) >= tonumber(ARGV[4]) then
  return RC_RETRY
end
call('ZADD', runners, string.format('%d', now + ARGV[2]), ARGV[1])
call('HSET', offers, ARGV[1], ARGV[3])
local dead = call('ZRANGE', runners, 0, 0, 'WITHSCORES')
if tonumber(dead[2]) + RUNNER_FORGET_MS < now then
  call('ZREM', runners, dead[1])
  call('HDEL', offers, dead[1])
end
return RC_OK

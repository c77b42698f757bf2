-- run_runner_end: a runner does not live any more.
--
-- KEYS: runners
-- ARGV: runner
-- Result: OK

--@include lib_now

local score = redis.call('ZSCORE', KEYS[1], ARGV[1])
if score and tonumber(score) > now then
  redis.call('ZADD', KEYS[1], string.format('%d', now), ARGV[1])
end
return RC_OK

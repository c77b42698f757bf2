-- nav_end: a cycle has ended.
--
-- KEYS: nav, due
-- ARGV: user:soul (tokens), cycle, ms until the soul is idle (0: not before its
--       next turn), ms between two cycles
-- Result: {OK, when the next cycle is due (ms; 0: never)}

--@idempotent
--@include lib_now

local call, due = redis.call, KEYS[2]
local score = tonumber(call('ZSCORE', due, ARGV[1]) or '') or 0
local f = call('HMGET', KEYS[1], 'id', 'why', 'at')
if f[1] ~= ARGV[2] then return { RC_OK, score } end
call('HDEL', KEYS[1], 'id', 'run', 'tries', 'out')
score = 0
if (tonumber(f[2] or '') or 0) > 0 then
  score = math.max(now, (tonumber(f[3] or '') or 0) + ARGV[4])
elseif tonumber(ARGV[3]) > 0 then
  score = now + ARGV[3]
end
if score > 0 then
  call('ZADD', due, string.format('%d', score), ARGV[1])
else
  call('ZREM', due, ARGV[1])
end
return { RC_OK, score }

-- speech_count: a soul has spoken what it thought of itself.
--
-- KEYS: the user's speech record
-- ARGV: push, day
-- Result: {OK}

--@idempotent
--@include lib_now

local f = redis.call('HMGET', KEYS[1], 'push', 'day', 'n')
if f[1] ~= ARGV[1] then
  local n = f[2] == ARGV[2] and tonumber(f[3] or '') or 0
  redis.call('HSET', KEYS[1], 'push', ARGV[1], 'at', string.format('%d', now),
    'day', ARGV[2], 'n', string.format('%d', n + 1))
  redis.call('PEXPIRE', KEYS[1], "SPEECH_TTL_MS")
end
return { RC_OK }

-- alarm_wipe: delete a user's alarms or pushes.
--
-- KEYS: the user's list, due
-- ARGV: user (token), 'a' or 'p'
-- Result: {OK}
-- Computed keys: the records.

--@idempotent
--@include lib_bucket
--@include lib_read

local prefix = ARGV[2] == 'p' and KEY_PUSH_PRE or KEY_ALARM_PRE
local ids, keys = redis.call('ZRANGE', KEYS[1], 0, -1), {}
for i, id in ipairs(ids) do
  keys[i] = bucket_key(prefix, ARGV[1] .. ':' .. id)
  read('EXISTS', keys[i])
end
for i, id in ipairs(ids) do
  redis.call('DEL', keys[i])
  redis.call('ZREM', KEYS[2], ARGV[2] .. ':' .. ARGV[1] .. ':' .. id)
end
redis.call('DEL', KEYS[1])
return { RC_OK }

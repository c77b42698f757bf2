-- alarm_list: read a user's alarms or pushes.
--
-- KEYS: the user's list
-- ARGV: user (token), 'a' or 'p', least score, the most
-- Result: {OK, now, {version, record, …}}: those that are due next first, after
--         those that have ended
-- Computed keys: the records.

--@idempotent
--@include lib_bucket
--@include lib_now
--@include lib_read

local prefix, list = ARGV[2] == 'p' and KEY_PUSH_PRE or KEY_ALARM_PRE, {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], ARGV[3], '+inf',
  'LIMIT', 0, ARGV[4])) do
  local f = read('HMGET', bucket_key(prefix, ARGV[1] .. ':' .. id), 'v', 'ver',
    'json')
  if not f.err and f[1] == ALARM_FORMAT then
    list[#list + 1], list[#list + 2] = f[2], f[3]
  end
end
return { RC_OK, now, list }

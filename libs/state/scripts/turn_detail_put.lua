-- turn_detail_put: store what a turn did.
--
-- KEYS: turn's details, the user's list
-- ARGV: user, turn (tokens), started (ms), for how long (ms), turns at most,
--       summary, details
-- Result: {OK}
-- Computed keys: the details of turns that are removed.

--@include lib_bucket
--@include lib_read
--@include lib_record

local list, user, max = KEYS[2], ARGV[1], tonumber(ARGV[5])
record(KEYS[1], TURN_DETAIL_FORMAT)
local old = redis.call('ZRANGE', list, 0, -max)
for _, turn in ipairs(old) do
  read('EXISTS', bucket_key(KEY_TURN_DETAIL_PRE, user .. ':' .. turn))
end
redis.call('HSET', KEYS[1], 'v', TURN_DETAIL_FORMAT, 's', ARGV[6], 'd', ARGV[7])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('ZADD', list, ARGV[3], ARGV[2])
for _, turn in ipairs(old) do
  redis.call('DEL', bucket_key(KEY_TURN_DETAIL_PRE, user .. ':' .. turn))
  redis.call('ZREM', list, turn)
end
redis.call('ZREMRANGEBYSCORE', list, '-inf',
  string.format('(%.0f', tonumber(ARGV[3]) - tonumber(ARGV[4])))
redis.call('PEXPIRE', list, ARGV[4])
return { RC_OK }

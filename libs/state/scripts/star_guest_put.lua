-- star_guest_put: a guest knows a soul.  Its name may be that of another one.
--
-- KEYS: soul, its state, the user's souls
-- ARGV: user, soul (tokens), name, mbti, model, created (ms), state, the most
--       souls, owner (token)
-- Result: OK, RETRY if the guest knows too many

--@include lib_record

local call = redis.call
local known = record(KEYS[1], SOUL_FORMAT)
if known and call('EXISTS', KEYS[2]) == 1 then return RC_OK end
if not known and call('ZCARD', KEYS[3]) >= tonumber(ARGV[8]) then
  return RC_RETRY
end
call('HSET', KEYS[1], 'v', SOUL_FORMAT, 'u', ARGV[1], 'name', ARGV[3],
  'mbti', ARGV[4], 'model', ARGV[5], 'created', ARGV[6], 'o', ARGV[9])
call('SET', KEYS[2], ARGV[7])
call('ZADD', KEYS[3], ARGV[6], ARGV[2])
return RC_OK

-- star_release: a hub lets an identity go, which stays its user's for a while.
--
-- KEYS: client
-- ARGV: hub, generation
-- Result: OK, CONFLICT if it has been claimed since, NOENT

--@include lib_record

local key = KEYS[1]
if not record(key, STAR_FORMAT) then return RC_NOENT end
local fields = redis.call('HMGET', key, 'hub', 'gen')
if fields[2] ~= ARGV[2] or fields[1] and fields[1] ~= ARGV[1] then
  return RC_CONFLICT
end
redis.call('HDEL', key, 'hub', 'session')
redis.call('PEXPIRE', key, "STAR_OWNED_MS")
return RC_OK

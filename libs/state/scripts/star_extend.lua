-- star_extend: a hub still has an identity.
--
-- KEYS: client
-- ARGV: hub, generation
-- Result: OK, CONFLICT if it has been claimed since, NOENT

--@include lib_record

local key = KEYS[1]
if not record(key, STAR_FORMAT) then return RC_NOENT end
local fields = redis.call('HMGET', key, 'hub', 'gen')
if fields[1] ~= ARGV[1] or fields[2] ~= ARGV[2] then
  return RC_CONFLICT
end
redis.call('PEXPIRE', key, "STAR_CLAIM_MS")
return RC_OK

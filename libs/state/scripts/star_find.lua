-- star_find: which hub has an identity.
--
-- KEYS: client
-- Result: {OK, hub, generation}, NOENT

--@idempotent
--@include lib_record

if not record(KEYS[1], STAR_FORMAT) then return RC_NOENT end
local fields = redis.call('HMGET', KEYS[1], 'hub', 'gen')
if not fields[1] then return RC_NOENT end
return { RC_OK, fields[1], tonumber(fields[2] or '') or 0 }

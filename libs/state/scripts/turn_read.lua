-- turn_read: read a turn's record.
--
-- KEYS: turn
-- Result: {OK, known, lost, {user, session, instance, trace, at, end,
--         timeline, commit}}
-- Computed keys: the instance of the turn's process.

--@idempotent
--@include lib_bucket
--@include lib_record

local key = KEYS[1]
local known = record(key, TURN_FORMAT)
local fields = redis.call('HMGET', key, 'u', 's', 'i', 'trace', 'at', 'end',
  'tl', 'commit')
local lost = fields[6] == ''
if known and not fields[6] then
  lost = redis.call('EXISTS',
    bucket_key(KEY_INSTANCE_PRE, fields[3], KEY_INSTANCE_POST)) == 0
end
return { RC_OK, known and 1 or 0, lost and 1 or 0, fields }

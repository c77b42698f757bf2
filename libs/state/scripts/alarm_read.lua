-- alarm_read: read an alarm or a push.
--
-- KEYS: record
-- Result: {OK, now, version, record}, {NOENT}

--@idempotent
--@include lib_now
--@include lib_record

if not record(KEYS[1], ALARM_FORMAT) then return { RC_NOENT } end
local f = redis.call('HMGET', KEYS[1], 'ver', 'json')
return { RC_OK, now, f[1], f[2] }

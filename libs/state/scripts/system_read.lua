-- system_read: what is known of this deployment.
--
-- KEYS: system
-- Result: {OK, starts, version}, {NOENT}: none was counted

--@idempotent

local f = redis.call('HMGET', KEYS[1], 'boots', 'version')
if not f[1] or not f[2] then return { RC_NOENT } end
return { RC_OK, f[1], f[2] }

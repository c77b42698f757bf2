-- credential_revoke: revoke an identity and unbind its terminal.
--
-- KEYS: credential, terminal
-- ARGV: when it began (ms)
-- Result: {OK, the previous user or nil, its soul or nil, now (ms)}, NOENT,
--         AGAIN if it began too long ago

--@include lib_now
--@include lib_record
--@include lib_credential_change

local call, key = redis.call, KEYS[1]
if not record(key, CREDENTIAL_FORMAT) or call('HGET', key, 'gone') == '1' then
  return RC_NOENT
end
if is_late(ARGV[1]) then return RC_RETRY end
call('HSET', key, 'gone', '1', 'changed', now)
call('HDEL', key, 'h')
local user, soul = unbind_safely(KEYS[2])
local format = redis.pcall('HGET', KEYS[2], 'v')
if not format or format == TERMINAL_FORMAT then
  call('HSET', KEYS[2], 'v', TERMINAL_FORMAT, 'on', '0', 'gone', '1')
end
return { RC_OK, user, soul, now }

-- credential_revoke: revoke an identity and unbind its terminal.
--
-- KEYS: credential, version, terminal
-- ARGV: terminal (token)
-- Result: {OK, the previous user or nil}, NOENT
-- Computed keys: see lib_terminal_unbind.

--@include lib_clock
--@include lib_record
--@include lib_credential_unbind

local call, key = redis.call, KEYS[1]
if not record(key, CREDENTIAL_FORMAT) or call('HGET', key, 'gone') == '1' then
  return RC_NOENT
end
call('INCR', KEYS[2])
call('HSET', key, 'gone', '1', 'changed', now)
call('HDEL', key, 'h')
local from = unbind_safely(KEYS[3], ARGV[1])
local format = redis.pcall('HGET', KEYS[3], 'v')
if not format or format == TERMINAL_FORMAT then
  call('HSET', KEYS[3], 'v', TERMINAL_FORMAT, 'on', '0', 'gone', '1')
end
return { RC_OK, from }

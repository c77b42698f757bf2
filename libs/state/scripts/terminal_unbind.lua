-- terminal_unbind: unbind a terminal, in its record.
--
-- KEYS: terminal
-- ARGV: user, soul or '' (any) (tokens)
-- Result: {OK, the soul, now (ms)}, NOENT, DENIED, CONFLICT if it is bound to
--         another soul

--@include lib_now
--@include lib_record
--@include lib_terminal_binding

local key = KEYS[1]
record(key, TERMINAL_FORMAT)
local fields = redis.call('HMGET', key, 'u', 's')
if not fields[1] then return RC_NOENT end
if fields[1] ~= ARGV[1] then return RC_DENIED end
if ARGV[2] ~= '' and fields[2] ~= ARGV[2] then return RC_CONFLICT end
set_binding(key, false, false)
return { RC_OK, fields[2], now }

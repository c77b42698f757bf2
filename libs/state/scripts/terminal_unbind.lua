-- terminal_unbind: unbind a terminal.
--
-- KEYS: terminal
-- ARGV: user, terminal (tokens)
-- Result: OK, NOENT, DENIED
-- Computed keys: see lib_terminal_unbind.

--@include lib_record
--@include lib_terminal_unbind

local key = KEYS[1]
record(key, TERMINAL_FORMAT)
local user = redis.call('HGET', key, 'u')
if not user then return RC_NOENT end
if user ~= ARGV[1] then return RC_DENIED end
unbind(key, ARGV[2])
return RC_OK

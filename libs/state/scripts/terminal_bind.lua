-- terminal_bind: bind a terminal to a soul, in its record.
--
-- KEYS: terminal
-- ARGV: user, soul (tokens), when it began (ms), 1: only if it is not bound
-- Result: {OK, the previous soul or nil}, CONFLICT, AGAIN if it began too long
--         ago: then nobody may rely on what it has recorded before

--@include lib_now
--@include lib_record
--@include lib_terminal_binding

local key, user = KEYS[1], ARGV[1]
record(key, TERMINAL_FORMAT)
local bound_by = redis.call('HGET', key, 'u')
if bound_by and (bound_by ~= user or ARGV[4] == '1') then
  return RC_CONFLICT
end
if now - tonumber(ARGV[3]) > STEP_MAX_MS then return RC_RETRY end
local _, previous = set_binding(key, user, ARGV[2])
return { RC_OK, previous }

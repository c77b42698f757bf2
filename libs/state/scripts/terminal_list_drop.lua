-- terminal_list_drop: remove an entry of the user's terminals that no terminal
-- confirms, unless it has changed, or is so young that it may yet be confirmed.
--
-- KEYS: the user's terminals
-- ARGV: user, terminal (tokens), the entry
-- Result: OK
-- Computed keys: the terminals of the entry's soul.

--@include lib_bucket
--@include lib_now

local call, entry = redis.call, ARGV[3]
local soul, at = string.match(entry, '^(%S+) (%d+)$')
if call('HGET', KEYS[1], ARGV[2]) ~= entry
  or now - (tonumber(at or '') or 0) <= STEP_DEAD_MS then
  return RC_OK
end
if soul then
  call('HDEL', bucket_key(KEY_BODIES_PRE, ARGV[1] .. ':' .. soul,
    KEY_BODIES_POST), ARGV[2])
end
call('HDEL', KEYS[1], ARGV[2])
return RC_OK

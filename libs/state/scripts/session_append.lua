-- session_append: append messages, if a turn is given only while it is head.
--
-- KEYS: session, messages, turns
-- ARGV: entry (instance:turn) or '', the most messages, pending, JSON, …,
--       characters
-- Result: {OK, number of the first}, {CONFLICT}

--@include lib_session

if ARGV[1] ~= '' and redis.call('LINDEX', KEYS[3], 0) ~= ARGV[1] then
  return { RC_CONFLICT }
end
local s = open_session(KEYS[1])
local first = append(s, KEYS[2], ARGV[2], 4)
set_pending(s, ARGV[3])
save_session(s)
return { RC_OK, first }

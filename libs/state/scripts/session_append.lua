-- session_append: append messages, if a turn is given only while it is head.
--
-- KEYS: session, messages, turns
-- ARGV: entry (instance:turn) or '', the most messages, pending, JSON, …,
--       characters
-- Result: {OK, number of the first}, {CONFLICT}

--@include lib_record
--@include lib_session_append
--@include lib_session_pending

if ARGV[1] ~= '' and redis.call('LINDEX', KEYS[3], 0) ~= ARGV[1] then
  return { RC_CONFLICT }
end
local first = append(KEYS[1], KEYS[2], ARGV[2], 4)
set_pending(KEYS[1], ARGV[3])
return { RC_OK, first }

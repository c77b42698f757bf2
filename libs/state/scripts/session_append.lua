-- session_append: append messages, if a turn is given only while it is head.
--
-- KEYS: session, messages, turns
-- ARGV: entry (instance:turn) or '', the most messages, pending, characters,
--       JSON, …
-- Result: {OK, number of the first}, {CONFLICT}

--@include lib_session
--@include lib_turn_head

if ARGV[1] ~= '' and not is_head(KEYS[3], ARGV[1]) then
  return { RC_CONFLICT }
end
local s = open_session(KEYS[1])
local first = append(s, KEYS[2], tonumber(ARGV[2]), 5,
  tonumber(ARGV[4]))
set_open(s, 'late', ARGV[3])
save_session(s)
return { RC_OK, first }

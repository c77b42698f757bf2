-- turn_log_events: log events of a running turn.
--
-- KEYS: turns, session, events
-- ARGV: entry (instance:turn), events …
-- Result: {OK, seq of the last}, {CONFLICT}

--@include lib_session
--@include lib_turn_fence

local s = open_session(KEYS[2])
local seq = log_events(s, KEYS[3], 2, #ARGV - 1, clock())
save_session(s)
return { RC_OK, seq }

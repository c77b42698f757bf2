-- turn_log_events: log events of a running turn.
--
-- KEYS: turns, session, events
-- ARGV: entry (instance:turn), events …
-- Result: {OK, seq of the last}, {CONFLICT}

--@include lib_event_log
--@include lib_turn_fence

return { RC_OK, log_events(KEYS[2], KEYS[3], 2, #ARGV - 1) }

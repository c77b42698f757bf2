-- turn_input: append a user's input, make the session active, log events.
--
-- KEYS: turns, session, events, turn, messages, idle
-- ARGV: entry (instance:turn), the most messages, soul, terminal, idle after
--       (ms), user:session (tokens), pending, number of events, events …,
--       messages …, characters
-- Result: {OK, seq of the last event}, {CONFLICT}
-- Computed keys: see lib_session_active.
--
-- Without messages the input is stored already.

--@include lib_clock
--@include lib_record
--@include lib_session_append
--@include lib_session_pending
--@include lib_session_active
--@include lib_event_log
--@include lib_turn_fence

local n = tonumber(ARGV[8])
if #ARGV > 9 + n then append(KEYS[2], KEYS[5], ARGV[2], 9 + n) end
set_pending(KEYS[2], ARGV[7])
set_active(KEYS[2], KEYS[6], now, ARGV[3], ARGV[4], ARGV[5], ARGV[6])
if n > 0 and redis.call('EXISTS', KEYS[4]) == 1 then
  redis.call('HSET', KEYS[4], 'begun', '1')
end
return { RC_OK, log_events(KEYS[2], KEYS[3], 9, n) }

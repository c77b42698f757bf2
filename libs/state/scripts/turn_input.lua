-- turn_input: store the input of a turn that has become the head.
--
-- KEYS: turns, session, events, turn, messages, idle, the user's sessions, the
--       soul
-- ARGV: entry (instance:turn), the input (lib_turn_input)
-- Result: {OK, seq of the last event}, {CONFLICT}, {NOENT} if there is no such
--         soul
-- Computed keys: see lib_session_active.

--@include lib_clock
--@include lib_record
--@include lib_session_append
--@include lib_session_pending
--@include lib_session_active
--@include lib_event_log
--@include lib_turn_input
--@include lib_turn_fence

if redis.call('EXISTS', KEYS[8]) == 0 then return { RC_NOENT } end
return { RC_OK, store_input({ session = KEYS[2], events = KEYS[3],
  turn = KEYS[4], messages = KEYS[5], idle = KEYS[6],
  sessions = KEYS[7] }, 2) }

-- turn_input: store the input of a turn that has become the head.
--
-- KEYS: turns, session, events, turn, messages, idle, the user's sessions, the
--       soul
-- ARGV: entry (instance:turn), the input (lib_turn_input)
-- Result: {OK, seq of the last event, whether a client follows the session},
--         {CONFLICT}, {NOENT} if there is no such soul
-- Computed keys: see lib_session_active.

--@include lib_clock
--@include lib_session
--@include lib_session_active
--@include lib_turn_input
--@include lib_turn_fence

if redis.call('EXISTS', KEYS[8]) == 0 then return { RC_NOENT } end
local keys = { events = KEYS[3], messages = KEYS[5], idle = KEYS[6],
  sessions = KEYS[7] }
check_input(keys)
local s = open_session(KEYS[2])
local seq, begun = store_input(s, keys, 2)
if begun and redis.call('EXISTS', KEYS[4]) == 1 then
  redis.call('HSET', KEYS[4], 'begun', '1')
end
return { RC_OK, seq, is_followed(s) }

-- turn_input: store the input of a turn that has become the head.
--
-- KEYS: turns, session, events, turn, messages, idle, the user's sessions, the
--       soul
-- ARGV: entry (instance:turn), packed: max, soul, terminal, idle_ms, member, n,
--       chars (lib_turn_input); pending, events …, messages …
-- Result: {OK, seq of the last event, whether a client follows the session},
--         {CONFLICT}, {NOENT} if there is no such soul
-- Computed keys: see lib_session_active.

--@include lib_now
--@include lib_session
--@include lib_session_active
--@include lib_turn_input
--@include lib_turn_fence

if redis.call('EXISTS', KEYS[8]) == 0 then return { RC_NOENT } end
local max, soul, terminal, idle_ms, member, n, chars = cmsgpack.unpack(ARGV[2])
local input = { events = KEYS[3], messages = KEYS[5], idle = KEYS[6],
  sessions = KEYS[7], max = max, soul = soul, terminal = terminal,
  idle_ms = idle_ms, member = member, n = n, chars = chars, pending = ARGV[3],
  from = 4 }
local s = open_session(KEYS[2])
check_input(s, input)
local seq, begun = store_input(s, input)
if begun and redis.call('EXISTS', KEYS[4]) == 1 then
  redis.call('HSET', KEYS[4], 'begun', '1')
end
return { RC_OK, seq, is_followed(s) }

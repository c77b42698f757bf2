-- turn_enter: append a turn to its session's queue and begin its record; store
-- its input if it is the head at once.
--
-- KEYS: as lib_turn_queue, retry key (without the digest), messages, idle,
--       the user's sessions; with the input: its soul, that one's mind link
-- ARGV: packed: entry (instance:turn), turn, user, session, instance (tokens),
--       trace id, alive (ms), the most turns, acting (1: a terminal may act),
--       and, unless the input is stored later, max, soul, terminal, idle_ms,
--       member, n, chars (lib_turn_input); text that identifies the input or
--       ''; with the input: pending, events …, messages …
-- Result: {OK, turns ahead, the turn that stored the input or nil, and unless
--         the input is not stored yet: seq of the last event, whether a client
--         follows the session, its summary, what was left open before, the
--         call that waits for an approval, {JSON, …}: the notes of the
--         session's runs (lib_run_notes), the mind link, the inner voice of
--         the turn before},
--         {CONFLICT, the turn it repeats or nil}, {RETRY} if the queue is full,
--         {NOENT} if there is no such soul
-- Computed keys: the retry key, the record of the turn it repeats, the user's
-- notes, and those of lib_session_active.

--@include lib_now
--@include lib_turn_queue
--@include lib_session
--@include lib_session_active
--@include lib_turn_input
--@include lib_run_notes

local entry, turn_id, user_id, session_id, instance, trace, alive_ms, most,
  acting, max, soul, terminal, idle_ms, member, n, chars =
  cmsgpack.unpack(ARGV[1])
local retry, turn = KEYS[6] .. redis.sha1hex(ARGV[2]), KEYS[5]
if call('HEXISTS', turn, 'end') == 1 then return { RC_CONFLICT, false } end
local live, dead = scan_queue()
for _, queued in ipairs(live) do
  if turn_of(queued) == turn_id then return { RC_CONFLICT, false } end
end
local rejected = #live >= most and RC_RETRY
  or KEYS[10] and call('EXISTS', KEYS[10]) == 0 and RC_NOENT

local begins, s = #live == 0 and max
local input = begins and { events = KEYS[4], messages = KEYS[7], idle = KEYS[8],
  sessions = KEYS[9], max = max, soul = soul, terminal = terminal,
  idle_ms = idle_ms, member = member, n = n, chars = chars, pending = ARGV[3],
  from = 4 }
if begins then
  s = open_session(KEYS[3], 'sum', 'late', 'ask', 'voice')
  check_input(s, input)
end

-- The turn with the same input; one that is not rejected takes its place, if
-- there is none.
local first, stored = false, false
if ARGV[2] ~= '' and rejected then
  first = call('GET', retry)
elseif ARGV[2] ~= '' then
  first = call('SET', retry, turn_id, 'NX', 'GET', 'PX', "RETRY_TTL_MS")
end
-- It is a retry only if the turn before it had no effect.
if first then
  local fields = call('HMGET', turn_key(first), 'void', 'begun', 'input')
  if not fields[1] then return { RC_CONFLICT, first } end
  stored = fields[3] or (fields[2] and first)
end
if rejected then return { rejected } end

local notes = begins and read_notes(bucket_key(KEY_USER_RUN_NOTES_PRE, user_id,
  KEY_USER_RUN_NOTES_POST), session_id)
local link = begins and call('GET', KEYS[11])
local seq, begun = false, false
if begins then seq, begun = store_input(s, input, stored) end
-- A command that Redis rejects for lack of memory comes first: after another
-- write it would not.
save_queue(live, entry)
end_lost(dead)
stay_alive(alive_ms)
if first then call('SET', retry, turn_id, 'PX', "RETRY_TTL_MS") end
local marks = begun and acting == 1 and { 'begun', '1', 'acting', '1' }
  or begun and { 'begun', '1' } or begins and acting == 1 and { 'acting', '1' }
  or {}
if stored then
  marks[#marks + 1], marks[#marks + 2] = 'input', stored
end
if ARGV[2] ~= '' then
  marks[#marks + 1], marks[#marks + 2] = 'again', retry
end
call('HSET', turn, 'v', TURN_FORMAT, 'u', user_id, 's', session_id, 'i',
  instance, 'trace', trace, 'at', begins and s.active
  or string.format('%d', now), unpack(marks))
call('PEXPIRE', turn, "TURN_BEGUN_TTL_MS")
if not begins then return { RC_OK, #live, stored } end
return { RC_OK, #live, stored, seq, is_followed(s), s.fields[10],
  s.fields[11], s.fields[12], notes, link, s.fields[13] }

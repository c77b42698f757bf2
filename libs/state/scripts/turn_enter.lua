-- turn_enter: append a turn to its session's queue and begin its record; store
-- its input if it is the head at once.
--
-- KEYS: as lib_turn_queue, retry key (without the digest), messages, idle,
--       the user's sessions; with the input: its soul
-- ARGV: entry (instance:turn), turn, user, session, instance (tokens), trace
--       id, text that identifies the input or '', alive (ms), the most turns,
--       acting (0, 1: a terminal may act); unless the input is stored later:
--       the input (lib_turn_input)
-- Result: {OK, turns ahead, the turn that stored the input or nil, and unless
--         the input is not stored yet: seq of the last event, whether a client
--         follows the session, its summary, what was left open before},
--         {CONFLICT, the turn it repeats or nil}, {RETRY} if the queue is full,
--         {NOENT} if there is no such soul
-- Computed keys: the retry key, the record of the turn it repeats, and those of
-- lib_session_active.

--@include lib_turn_queue
--@include lib_session
--@include lib_session_active
--@include lib_turn_input

local retry, turn = KEYS[6] .. redis.sha1hex(ARGV[7]), KEYS[5]
local keys = { events = KEYS[4], messages = KEYS[7], idle = KEYS[8],
  sessions = KEYS[9] }
if #ARGV > 10 then check_input(keys) end
if call('HEXISTS', turn, 'end') == 1 then return { RC_CONFLICT, false } end
local live, dead = scan_queue()
for _, entry in ipairs(live) do
  if turn_of(entry) == ARGV[2] then return { RC_CONFLICT, false } end
end
local rejected = #live >= tonumber(ARGV[9]) and RC_RETRY
  or KEYS[10] and call('EXISTS', KEYS[10]) == 0 and RC_NOENT

-- The turn with the same input; one that is not rejected takes its place, if
-- there is none.
local first, input = false, false
if ARGV[7] ~= '' and rejected then
  first = call('GET', retry)
elseif ARGV[7] ~= '' then
  first = call('SET', retry, ARGV[2], 'NX', 'GET', 'PX', "RETRY_TTL_MS")
end
-- It is a retry only if the turn before it had no effect.
if first then
  local fields = call('HMGET', turn_key(first), 'void', 'begun', 'input')
  if not fields[1] then return { RC_CONFLICT, first } end
  input = fields[3] or (fields[2] and first)
end
if rejected then return { rejected } end

local begins = #live == 0 and #ARGV > 10
local s = begins and open_session(KEYS[3], 'sum', 'late') or {}
local fields = { 'v', TURN_FORMAT, 'u', ARGV[3], 's', ARGV[4], 'i', ARGV[5],
  'trace', ARGV[6], 'at', now_text }
local function field(name, value)
  fields[#fields + 1], fields[#fields + 2] = name, value
end
local seq, begun = false, false
if begins then
  seq, begun = store_input(s, keys, 11, input)
  if begun then field('begun', '1') end
  if ARGV[10] == '1' then field('acting', '1') end
end
-- A command that Redis rejects for lack of memory comes first: after another
-- write it would not.
call('RPUSH', queue, ARGV[1])
call('PEXPIRE', queue, "TURN_QUEUE_TTL_MS")
evict(dead)
stay_alive(ARGV[8])
if input then field('input', input) end
if ARGV[7] ~= '' then field('again', retry) end
if first then call('SET', retry, ARGV[2], 'PX', "RETRY_TTL_MS") end
call('HSET', turn, unpack(fields))
call('PEXPIRE', turn, "TURN_TTL_MS")
if not begins then return { RC_OK, #live, input } end
return { RC_OK, #live, input, seq, is_followed(s), s.more[1], s.more[2] }

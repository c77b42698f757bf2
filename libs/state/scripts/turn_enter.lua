-- turn_enter: append a turn to its session's queue and begin its record.
--
-- KEYS: as lib_turn_queue, retry key (without the digest)
-- ARGV: entry (instance:turn), turn, user, session, instance (tokens), trace
--       id, text that identifies the input or '', alive (ms), the most turns
-- Result: {OK, turns ahead, the turn that stored the input or nil},
--         {CONFLICT, the turn it repeats or nil}, {RETRY} if the queue is full
-- Computed keys: the retry key, and the record of the turn it repeats.

--@include lib_turn_queue

local retry, turn = KEYS[6] .. redis.sha1hex(ARGV[7]), KEYS[5]
-- A key of another type must fail before the first write.
call('LLEN', queue)
if call('HEXISTS', KEYS[5], 'end') == 1 then
  return { RC_CONFLICT, false }
end
stay_alive(ARGV[8])
local live = evict_dead()
for _, entry in ipairs(live) do
  if string.match(entry, ':(.+)$') == ARGV[2] then
    return { RC_CONFLICT, false }
  end
end
-- The same input is a retry only if the turn before it had no effect.
local first = ARGV[7] ~= '' and call('GET', retry)
local input = false
if first then
  local fields = call('HMGET', KEY_TURN_PRE .. first .. KEY_TURN_POST,
    'void', 'begun', 'input')
  if not fields[1] then return { RC_CONFLICT, first } end
  input = fields[3] or (fields[2] and first)
end
if #live >= tonumber(ARGV[9]) then return { RC_RETRY } end
call('RPUSH', queue, ARGV[1])
call('PEXPIRE', queue, TURN_QUEUE_TTL_MS)
call('HSET', turn, 'v', TURN_FORMAT, 'u', ARGV[3], 's', ARGV[4],
  'i', ARGV[5], 'trace', ARGV[6], 'at', now)
call('PEXPIRE', turn, TURN_TTL_MS)
if input then call('HSET', turn, 'input', input) end
if ARGV[7] ~= '' then
  call('HSET', turn, 'again', retry)
  call('SET', retry, ARGV[2], 'PX', RETRY_TTL_MS)
end
return { RC_OK, #live, input }

-- turn_abandon: end a turn from outside, known or not.
--
-- KEYS: as lib_turn_queue
-- ARGV: entry (caller's instance:turn), turn, user, session, caller's instance
--       (tokens), trace id, its end, its end if it may have acted
-- Result: {OK, the end it had or nil, acting (0, 1)}
--
-- The queue's entry names another process, so it is found by the turn.

--@include lib_turn_queue

local turn = KEYS[5]
local fields = call('HMGET', turn, 'end', 'acting', 'begun')
local acting = fields[2] and 1 or 0
local left, found = {}, false
for entry in string.gmatch(call('GET', queue) or '', '[^ ]+') do
  if turn_of(entry) == ARGV[2] then
    found = true
  else
    left[#left + 1] = entry
  end
end
if found then save_queue(left) end
if fields[1] then return { RC_OK, fields[1], acting } end
if call('EXISTS', turn) == 0 then
  call('HSET', turn, 'v', TURN_FORMAT, 'u', ARGV[3], 's', ARGV[4],
    'i', ARGV[5], 'trace', ARGV[6], 'at', string.format('%d', clock()))
end
call('HSET', turn, 'end', ARGV[7 + acting])
if acting == 0 then call('HSET', turn, 'void', '1') end
call('PEXPIRE', turn, TURN_TTL_MS)
if fields[3] then
  log_lost(KEYS[3], KEYS[4], ARGV[2], clock(), fields[2])
end
return { RC_OK, false, acting }

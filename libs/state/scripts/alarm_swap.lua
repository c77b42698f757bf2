-- alarm_swap: store an alarm or a push if nobody else has changed it.
--
-- KEYS: record, the user's list, due
-- ARGV: packed: version it had (0: it is new), its id in the list, its member
--       in due, when it is due (ms; 0: never), when it ended (ms; 0: it has
--       not), how long it is stored then (ms), the most that have not ended;
--       record (JSON)
-- Result: {OK, now}; {CONFLICT, version, record} of another change; {NOENT}: it
--         was deleted; {RETRY}: the user has too many
--
-- In the list those that have not ended have the time when they are due, the
-- others the negative time of their end.

--@idempotent
--@include lib_now
--@include lib_record

local call, list = redis.call, KEYS[2]
local had, id, member, due, ended, ttl, most = cmsgpack.unpack(ARGV[1])
local is = { false, false }

if record(KEYS[1], ALARM_FORMAT) then
  is = call('HMGET', KEYS[1], 'ver', 'json')
end
local version = tonumber(is[1] or 0)
if version == had + 1 and is[2] == ARGV[2] then return { RC_OK, now } end
if version ~= had then
  if version == 0 then return { RC_NOENT } end
  return { RC_CONFLICT, version, is[2] }
end
if had == 0 and call('ZCOUNT', list, '0', '+inf') >= most then
  return { RC_RETRY }
end

local function text(n) return string.format('%d', n) end

call('HSET', KEYS[1], 'v', ALARM_FORMAT, 'ver', text(had + 1), 'json', ARGV[2])
if ended > 0 then
  call('PEXPIRE', KEYS[1], text(ttl))
  call('ZADD', list, text(-ended), id)
else
  call('PERSIST', KEYS[1])
  call('ZADD', list, text(due), id)
end
call('ZREMRANGEBYSCORE', list, '(' .. text(ttl - now), '(0')
local over = call('ZCOUNT', list, '-inf', '(0') - ALARM_ENDED_MAX
if over > 0 then
  for _, old in ipairs(call('ZREVRANGEBYSCORE', list, '(0', '-inf', 'LIMIT', 0,
    over)) do
    call('ZREM', list, old)
  end
end
if due > 0 then
  call('ZADD', KEYS[3], text(due), member)
else
  call('ZREM', KEYS[3], member)
end
return { RC_OK, now }

-- webhook_end: an attempt to send an event to a webhook has ended.
--
-- KEYS: the user's webhooks, webhook, queue, dead, due
-- ARGV: packed: its id, its member in due (tokens), the event, what becomes of
--       it ("done", "retry", "dead", "drop"), status, error, how long until the
--       next attempt, of this event or another (ms)
-- Result: {OK}; {NOENT}: the webhook was deleted

--@include lib_now

local call, webhook, queue = redis.call, KEYS[2], KEYS[3]
local id, member, event, what, status, why, wait = cmsgpack.unpack(ARGV[1])
local function text(n) return string.format('%d', n) end

if call('HEXISTS', KEYS[1], id) == 0 then
  call('ZREM', KEYS[5], member)
  return { RC_NOENT }
end
if what == 'retry' then
  call('HINCRBY', webhook, 'tries', 1)
else
  call('ZREM', queue, text(event))
  call('HSET', webhook, 'tries', '0')
end
if what == 'dead' then
  call('ZADD', KEYS[4], text(event), text(event))
  call('ZREMRANGEBYRANK', KEYS[4], 0, -1 - WEBHOOK_DEAD_MAX)
elseif what == 'drop' then
  call('HINCRBY', webhook, 'dropped', 1)
end
if what ~= 'drop' then
  call('HSET', webhook, 'at', text(now), 'status', text(status), 'error', why)
end
if call('ZCARD', queue) == 0 then
  call('ZREM', KEYS[5], member)
else
  call('ZADD', KEYS[5], text(now + wait), member)
end
return { RC_OK }

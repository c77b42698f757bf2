-- webhook_enqueue: an event of a user is to be sent to webhooks that want it.
--
-- KEYS: the user's webhooks, due
-- ARGV: user (token), type, when it happened (ms), its number
-- Result: {OK, how many webhooks want it}
-- Computed keys: the queues and webhooks.  One that waits after a failure goes
-- on waiting.

--@idempotent
--@include lib_webhook
--@include lib_now
--@include lib_read

local call, wanted = redis.call, {}
local all = call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local created, types = string.match(all[i + 1], '^(%d+) ([^\n]*)\n')
  if created and tonumber(created) <= tonumber(ARGV[3]) and (types == '*' or
      string.find(types, ',' .. ARGV[2] .. ',', 1, true)) then
    wanted[#wanted + 1] = ARGV[1] .. ':' .. all[i]
    read('ZCARD', webhook_key(wanted[#wanted], KEY_WEBHOOK_QUEUE_POST))
    read('HMGET', webhook_key(wanted[#wanted], KEY_WEBHOOK_POST), 'tries')
  end
end
for _, ids in ipairs(wanted) do
  local queue = webhook_key(ids, KEY_WEBHOOK_QUEUE_POST)
  call('ZADD', queue, ARGV[4], ARGV[4])
  local dropped = call('ZREMRANGEBYRANK', queue, 0,
    -1 - WEBHOOK_QUEUE_MAX)
  if dropped > 0 then
    call('HINCRBY', webhook_key(ids, KEY_WEBHOOK_POST), 'dropped', dropped)
  end
  call('ZADD', KEYS[2], 'NX', string.format('%d', now), ids)
end
return { RC_OK, #wanted }

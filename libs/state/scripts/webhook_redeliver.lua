-- webhook_redeliver: send what was given up once more, and what waits at once.
--
-- KEYS: the user's webhooks, webhook, queue, dead, due
-- ARGV: its id, its member in due (tokens)
-- Result: {OK}, {NOENT}

--@idempotent
--@include lib_now

local call = redis.call
if call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return { RC_NOENT } end
for _, event in ipairs(call('ZRANGE', KEYS[4], 0, -1)) do
  call('ZADD', KEYS[3], event, event)
end
call('DEL', KEYS[4])
call('HSET', KEYS[2], 'tries', '0')
if call('ZCARD', KEYS[3]) > 0 then
  call('ZADD', KEYS[5], string.format('%d', now), ARGV[2])
end
return { RC_OK }

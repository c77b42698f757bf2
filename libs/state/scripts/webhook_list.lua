-- webhook_list: read the webhooks of a user.
--
-- KEYS: the user's webhooks
-- ARGV: user (token)
-- Result: {OK, {id, record, tries, at, status, error, dropped, pending, dead,
--         …}}
-- Computed keys: the webhooks and their events.

--@idempotent
--@include lib_webhook
--@include lib_read

local all, list = redis.call('HGETALL', KEYS[1]), {}
for i = 1, #all, 2 do
  local ids = ARGV[1] .. ':' .. all[i]
  local f = read('HMGET', webhook_key(ids, KEY_WEBHOOK_POST), 'tries', 'at',
    'status', 'error', 'dropped')
  if f.err then f = {} end
  local n = #list
  list[n + 1], list[n + 2] = all[i], all[i + 1]
  for j = 1, 5 do list[n + 2 + j] = f[j] or false end
  list[n + 8] = read('ZCARD', webhook_key(ids, KEY_WEBHOOK_QUEUE_POST))
  list[n + 9] = read('ZCARD', webhook_key(ids, KEY_WEBHOOK_DEAD_POST))
end
return { RC_OK, list }

-- webhook_claim: claim the webhooks of a bucket to which events are to be sent.
--
-- KEYS: due
-- ARGV: lease (ms), the most
-- Result: {OK, now, when the next one is due (ms; 0: there is none), {user:id,
--         record, tries, {event, …}, …}}
-- Computed keys: the users' webhooks, the webhooks and their queues.  What has
-- no webhook or no event is due no more.

--@include lib_webhook
--@include lib_now
--@include lib_read

local call, due, found, claimed = redis.call, KEYS[1], {}, {}
local members = call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, ARGV[2])
for i, ids in ipairs(members) do
  local user, id = string.match(ids, '^([^:]*):(.*)$')
  local all = read('HGETALL', bucket_key(KEY_USER_WEBHOOKS_PRE, user,
    KEY_USER_WEBHOOKS_POST))
  local record
  for j = 1, all.err and 0 or #all, 2 do
    if all[j] == id then record = all[j + 1] end
  end
  local state = read('HMGET', webhook_key(ids, KEY_WEBHOOK_POST), 'tries')
  local events = read('ZRANGE', webhook_key(ids, KEY_WEBHOOK_QUEUE_POST), 0,
    WEBHOOK_BATCH - 1)
  found[i] = record and not events.err and #events > 0 and
    { record, not state.err and state[1] or '0', events }
end
local lease = string.format('%d', now + ARGV[1])
for i, ids in ipairs(members) do
  if found[i] then
    call('ZADD', due, lease, ids)
    local n = #claimed
    claimed[n + 1], claimed[n + 2] = ids, found[i][1]
    claimed[n + 3], claimed[n + 4] = found[i][2], found[i][3]
  else
    call('ZREM', due, ids)
  end
end
local first = call('ZRANGE', due, 0, 0, 'WITHSCORES')
return { RC_OK, now, tonumber(first[2] or '') or 0, claimed }

-- alarm_due_claim: claim the alarms and pushes of a bucket that are due.
--
-- KEYS: due
-- ARGV: lease (ms), the most
-- Result: {OK, now, when the next one is due (ms; 0: there is none), {member,
--         when it was due, version, record, …}}
-- Computed keys: the records.  One that does not exist is no longer due.

--@include lib_bucket
--@include lib_now
--@include lib_read

local call, due, claimed = redis.call, KEYS[1], {}
local members = call('ZRANGEBYSCORE', due, '-inf', now, 'WITHSCORES', 'LIMIT',
  0, ARGV[2])
local fields = {}
for i = 1, #members, 2 do
  local kind, ids = string.match(members[i], '^(%a):(.*)$')
  fields[i] = read('HMGET', bucket_key(kind == 'p' and KEY_PUSH_PRE or
    KEY_ALARM_PRE, ids), 'v', 'ver', 'json')
end
local lease = string.format('%d', now + ARGV[1])
for i = 1, #members, 2 do
  local f = fields[i]
  if not f.err and f[1] == ALARM_FORMAT then
    call('ZADD', due, lease, members[i])
    local n = #claimed
    claimed[n + 1], claimed[n + 2] = members[i], members[i + 1]
    claimed[n + 3], claimed[n + 4] = f[2], f[3]
  else
    call('ZREM', due, members[i])
  end
end
local first = call('ZRANGE', due, 0, 0, 'WITHSCORES')
return { RC_OK, now, tonumber(first[2] or '') or 0, claimed }

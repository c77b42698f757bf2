-- evolution_claim: claim evolutions of a bucket with steps to be published.
--
-- KEYS: due
-- ARGV: lease (ms), the most
-- Result: {OK, now, when the next one is due (ms; 0: there is none),
--         {user:id, version, record, …}}
-- Computed keys: the users' evolutions.  One that is deleted is due no more.

--@include lib_bucket
--@include lib_now
--@include lib_read

local call, due, claimed, found = redis.call, KEYS[1], {}, {}
local members = call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, ARGV[2])
for i, member in ipairs(members) do
  local user, id = string.match(member, '^([^:]*):(.*)$')
  found[i] = read('HGET', bucket_key(KEY_USER_EVOLUTIONS_PRE, user,
    KEY_USER_EVOLUTIONS_POST), id)
end
local lease = string.format('%d', now + ARGV[1])
for i, member in ipairs(members) do
  local is = type(found[i]) == 'string' and found[i] or ''
  local version, record = string.match(is, '^(%d+) (.*)$')
  if version then
    call('ZADD', due, lease, member)
    local n = #claimed
    claimed[n + 1], claimed[n + 2], claimed[n + 3] = member, version, record
  else
    call('ZREM', due, member)
  end
end
local first = call('ZRANGE', due, 0, 0, 'WITHSCORES')
return { RC_OK, now, tonumber(first[2] or '') or 0, claimed }

-- session_idle_claim: claim sessions of a bucket that are due.
--
-- KEYS: idle
-- ARGV: lease (ms), the most sessions
-- Result: {OK, when the next one is due (ms; 0: there is none), {user:session,
--         due, claims, …}}
-- Computed keys: the sessions.  One not of our format is no longer due.

--@include lib_bucket
--@include lib_now

local idle, claimed = KEYS[1], {}
local members = redis.call('ZRANGEBYSCORE', idle, '-inf', now, 'LIMIT', 0,
  ARGV[2])
-- One that has moved to another server must not count as deleted.
for _, member in ipairs(members) do
  redis.call('EXISTS', bucket_key(KEY_SESSION_PRE, member))
end
for _, member in ipairs(members) do
  local session = bucket_key(KEY_SESSION_PRE, member)
  local fields = redis.pcall('HMGET', session, 'v', 'due')
  local due = not fields.err and fields[1] == SESSION_FORMAT
    and tonumber(fields[2] or '')
  if due then
    redis.call('ZADD', idle, now + tonumber(ARGV[1]), member)
    local claims = redis.pcall('HINCRBY', session, 'claims', 1)
    claimed[#claimed + 1] = member
    claimed[#claimed + 1] = due
    claimed[#claimed + 1] = type(claims) == 'number' and claims or 1
  else
    redis.call('ZREM', idle, member)
  end
end
local first = redis.call('ZRANGE', idle, 0, 0, 'WITHSCORES')
return { RC_OK, tonumber(first[2] or '') or 0, claimed }

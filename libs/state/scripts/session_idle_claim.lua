-- session_idle_claim: claim sessions that are due.
--
-- KEYS: idle
-- ARGV: lease (ms), the most sessions
-- Result: {OK, {user:session, due, claims, …}}
-- Computed keys: the sessions.  One not of our format is no longer due.

--@include lib_clock

local idle, claimed = KEYS[1], {}
local members = redis.call('ZRANGEBYSCORE', idle, '-inf', now, 'LIMIT', 0,
  ARGV[2])
for _, member in ipairs(members) do
  local fields = redis.pcall('HMGET',
    KEY_SESSION_PRE .. member .. KEY_SESSION_POST, 'v', 'due')
  local due = not fields.err and fields[1] == SESSION_FORMAT
    and tonumber(fields[2] or '')
  if due then
    redis.call('ZADD', idle, now + tonumber(ARGV[1]), member)
    local claims = redis.pcall('HINCRBY',
      KEY_SESSION_PRE .. member .. KEY_SESSION_POST, 'claims', 1)
    claimed[#claimed + 1] = member
    claimed[#claimed + 1] = due
    claimed[#claimed + 1] = type(claims) == 'number' and claims or 1
  else
    redis.call('ZREM', idle, member)
  end
end
return { RC_OK, claimed }

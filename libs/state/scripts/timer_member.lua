-- timer_member: renew or end a replica's membership, and list the members.
--
-- KEYS: the role's members
-- ARGV: member, for how long from now (ms; 0: end it)
-- Result: {OK, {members}}

--@include lib_now

local call, key, ttl = redis.call, KEYS[1], tonumber(ARGV[2])
call('ZADD', key, now + ttl, ARGV[1])
call('ZREMRANGEBYSCORE', key, '-inf', now)
-- Of before the clock was set back: all members have the same time.
if ttl > 0 then
  call('ZREMRANGEBYSCORE', key, string.format('(%d', now + ttl), '+inf')
end
call('PEXPIRE', key, TIMER_MEMBER_TTL_MS)
return { RC_OK, call('ZRANGE', key, 0, -1) }

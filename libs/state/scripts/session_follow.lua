-- session_follow: a client reads the events of a session as they come.
--
-- KEYS: session
-- ARGV: for how long (ms)
-- Result: {OK, seq of the newest event; 0: none}
--
-- Written when less than half of the time is left, because a script that only
-- reads costs no flush of the append-only file.

--@include lib_now
--@include lib_record

local key, ttl = KEYS[1], tonumber(ARGV[1])
if not record(key, SESSION_FORMAT) then return { RC_OK, 0 } end
local fields = redis.call('HMGET', key, 'seq', 'follow')
if (tonumber(fields[2] or '') or 0) < now + ttl / 2 then
  redis.call('HSET', key, 'follow', now + ttl)
end
return { RC_OK, tonumber(fields[1] or '') or 0 }

-- credential_version: the number of changes of identities.
--
-- KEYS: changing, version
-- Result: {OK, version or nil}
--
-- A change that has not ended for so long that it never will may have been
-- made: it counts.

--@include lib_now

local call = redis.call
local dead = call('ZRANGEBYSCORE', KEYS[1], '-inf',
  (now - STEP_DEAD_MS) * 1000, 'LIMIT', 0, 1000)
if #dead > 0 then
  call('INCR', KEYS[2])
  call('ZREM', KEYS[1], unpack(dead))
end
return { RC_OK, call('GET', KEYS[2]) }

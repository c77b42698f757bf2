-- star_outdate: a hub is to give up an identity that another one has claimed.
--
-- KEYS: outdated claims of the hub
-- ARGV: identity, generation of the newer claim

--@idempotent

local key = KEYS[1]
redis.call('ZADD', key, 'GT', ARGV[2], ARGV[1])
redis.call('PEXPIRE', key, "STAR_OUTDATED_MS")
return RC_OK

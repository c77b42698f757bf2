-- lease_acquire: acquire or extend a lease.
--
-- KEYS: lease, epoch
-- ARGV: owner, ttl (ms)
-- Result: {OK, the owner's epoch, or 0 while another owner holds it}

--@idempotent

local owner = redis.call('GET', KEYS[1])
local epoch = redis.call('GET', KEYS[2])
if owner and owner ~= ARGV[1] then return { RC_OK, 0 } end
if not owner or not epoch then epoch = redis.call('INCR', KEYS[2]) end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return { RC_OK, tonumber(epoch) }

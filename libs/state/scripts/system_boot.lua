-- system_boot: count the start of a lease's owner.
--
-- KEYS: system
-- ARGV: the owner's epoch, its version
-- Result: {OK}
--
-- Each epoch counts once.

--@idempotent

local call, key = redis.call, KEYS[1]
local epoch = tonumber(call('HGET', key, 'epoch') or '') or 0

if tonumber(ARGV[1]) > epoch then
  call('HINCRBY', key, 'boots', 1)
  call('HSET', key, 'epoch', ARGV[1], 'version', ARGV[2])
end
return { RC_OK }

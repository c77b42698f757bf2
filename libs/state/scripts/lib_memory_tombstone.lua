-- lib_memory_tombstone: forgotten ids stay forgotten for a while.
--
-- Needs lib_now and lib_memory.
--
-- add_tombstone(id, ttl, max): for ttl ms, and at most max of them.

local function add_tombstone(id, ttl, max)
  call('ZREMRANGEBYSCORE', KEYS[4], '-inf', now - ttl)
  call('ZADD', KEYS[4], now, id)
  call('ZREMRANGEBYRANK', KEYS[4], 0, -1 - max)
  call('PEXPIRE', KEYS[4], ttl)
end

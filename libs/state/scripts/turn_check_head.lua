-- turn_check_head: whether a turn is still the head of its session's queue.
--
-- KEYS: turns
-- ARGV: entry (instance:turn)
-- Result: OK, CONFLICT

--@idempotent

if redis.call('LINDEX', KEYS[1], 0) == ARGV[1] then return RC_OK end
return RC_CONFLICT

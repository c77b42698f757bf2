-- turn_check_head: whether a turn is still the head of its session's queue.
--
-- KEYS: turns
-- ARGV: entry (instance:turn)
-- Result: OK, {CONFLICT}

--@idempotent
--@include lib_turn_fence

return RC_OK

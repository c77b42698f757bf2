-- turn_mark_acting: mark a turn before a terminal may carry out an action.
--
-- KEYS: turns, instance, session, events, turn
-- ARGV: entry (instance:turn)
-- Result: OK, {CONFLICT} unless it is the head
--
-- The mark is written once, because a script that only reads costs no flush of
-- the append-only file.

--@include lib_turn_fence

local turn = KEYS[5]
if redis.call('EXISTS', turn) == 1
  and redis.call('HEXISTS', turn, 'acting') == 0 then
  redis.call('HSET', turn, 'acting', '1')
end
return RC_OK

-- turn_unmark_acting: no terminal has carried out an action of a turn so far.
--
-- KEYS: turns, instance, session, events, turn
-- ARGV: entry (instance:turn)
-- Result: OK, {CONFLICT} unless it is the head

--@include lib_turn_fence

redis.call('HDEL', KEYS[5], 'acting')
return RC_OK

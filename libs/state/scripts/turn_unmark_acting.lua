-- turn_unmark_acting: no terminal has carried out an action of a turn so far.
--
-- KEYS: turns, instance, session, events, turn
-- ARGV: entry (instance:turn)
-- Result: OK, CONFLICT unless it is the head

if redis.call('LINDEX', KEYS[1], 0) ~= ARGV[1] then return RC_CONFLICT end
redis.call('HDEL', KEYS[5], 'acting')
return RC_OK

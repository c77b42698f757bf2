-- turn_take_approval: a turn takes the call that waits for an approval before
-- it is sent, so that no other turn sends it; it may have acted from then on.
--
-- KEYS: turns, instance, session, events, turn
-- ARGV: entry (instance:turn), the call as the session has it
-- Result: OK, also if this turn has taken it before; {CONFLICT} unless it is
--         the head; {NOENT} if the session does not have this call

--@include lib_record
--@include lib_turn_fence

local session, turn = KEYS[3], KEYS[5]
local digest = redis.sha1hex(ARGV[2])
if redis.call('HGET', turn, 'took') == digest then return RC_OK end
if redis.call('HGET', session, 'ask') ~= ARGV[2]
  or not record(turn, TURN_FORMAT) then
  return { RC_NOENT }
end
redis.call('HSET', turn, 'acting', '1', 'took', digest)
redis.call('HDEL', session, 'ask')
return RC_OK

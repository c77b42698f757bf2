-- terminal_bind: bind a terminal to a soul.
--
-- KEYS: terminal, the user's terminals, soul, its terminals, ticks, interval
-- ARGV: user, soul, terminal (tokens), the most terminals, 1: only if it is not
--       bound
-- Result: OK, NOENT, DENIED, CONFLICT, AGAIN if the user has too many
-- Computed keys: the terminals of the soul it was bound to before.
--
-- Presence is not checked here: a soul without a present terminal stops ticking
-- at its next tick.

--@include lib_clock
--@include lib_record
--@include lib_tick

local key, user, soul, terminal = KEYS[1], ARGV[1], ARGV[2], ARGV[3]
if not record(KEYS[3], SOUL_FORMAT) then
  return RC_NOENT
end
if redis.call('HGET', KEYS[3], 'u') ~= user then
  return RC_DENIED
end
record(key, TERMINAL_FORMAT)
local fields = redis.call('HMGET', key, 'u', 's', 'on')
if fields[1] and (fields[1] ~= user or ARGV[5] == '1') then
  return RC_CONFLICT
end
local n = redis.call('SCARD', KEYS[2])
if not fields[1] and n >= tonumber(ARGV[4]) then return RC_RETRY end
-- A key of another type must fail before the first write.
redis.call('SCARD', KEYS[4])
if fields[3] == '1' then start_ticking(KEYS[5], KEYS[6], soul, now) end
if fields[2] and fields[2] ~= soul then
  redis.call('SREM', KEY_BODIES_PRE .. fields[2]
    .. KEY_BODIES_POST, terminal)
end
redis.call('SADD', KEYS[4], terminal)
redis.call('SADD', KEYS[2], terminal)
redis.call('HSET', key, 'v', TERMINAL_FORMAT, 'u', user, 's', soul)
return RC_OK

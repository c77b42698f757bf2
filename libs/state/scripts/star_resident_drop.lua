-- star_resident_drop: remove an entry of the residents of an environment.
--
-- KEYS: residents
-- ARGV: agent, user, soul (tokens), at (ms)
-- Result: OK, NOENT if there is no such entry

local call = redis.call
local entry = call('HGET', KEYS[1], ARGV[1])
if entry ~= ARGV[2] .. ' ' .. ARGV[3] .. ' ' .. ARGV[4] then
  return RC_NOENT
end
call('HDEL', KEYS[1], ARGV[1])
return RC_OK

-- star_resident_put: enter a soul among the residents of an environment.
--
-- KEYS: residents
-- ARGV: agent, user, soul (tokens), the most residents
-- Result: {OK, now (ms)}, {CONFLICT, user, soul, at (ms), 1 if it is old} of
--         the soul that is this agent, {RETRY} if there are too many

--@include lib_now

local call, residents, agent = redis.call, KEYS[1], ARGV[1]
local entry = call('HGET', residents, agent)
if entry then
  local user, soul, at = string.match(entry, '^(%S+) (%S+) (%d+)$')
  if user and (user ~= ARGV[2] or soul ~= ARGV[3]) then
    local is_old = now - tonumber(at) > STEP_DEAD_MS
    return { RC_CONFLICT, user, soul, tonumber(at), is_old and 1 or 0 }
  end
elseif call('HLEN', residents) >= tonumber(ARGV[4]) then
  return { RC_RETRY }
end
call('HSET', residents, agent,
  string.format('%s %s %d', ARGV[2], ARGV[3], now))
return { RC_OK, now }

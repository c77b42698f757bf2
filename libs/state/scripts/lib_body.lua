-- lib_body: what a soul's bucket says about its terminals.
--
-- put_body(keys, soul, terminal, seen): keys are those of the soul's terminals
-- and of the ticks, soul is user:soul (tokens), seen is {until, at, broker}.
-- What was seen later stays; so does what is known, if until is -1.  Returns 1
-- if the soul is the first of its bucket to tick, else 0.

--@include lib_tick

local function put_body(keys, soul, terminal, seen)
  local stored = redis.call('HGET', keys[1], terminal)
  local at = stored and tonumber(string.match(stored, '^%d+ (%d+) ') or '')
  if at and (at > tonumber(seen[2]) or seen[1] == '-1') then return 0 end
  if seen[1] == '-1' then seen[1] = '0' end
  redis.call('HSET', keys[1], terminal, table.concat(seen, ' '))
  if seen[1] == '0' then return 0 end
  return start_ticking(keys[2], soul)
end

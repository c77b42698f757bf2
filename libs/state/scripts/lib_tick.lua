-- lib_tick: souls start to tick.
--
-- start_ticking(ticks, soul): soul is user:soul, tokens.  The next claim gives
-- it its time.  Returns 1 if no soul of the bucket did tick, else 0.

local function start_ticking(ticks, soul)
  if redis.call('ZSCORE', ticks, soul) then return 0 end
  local first = redis.call('EXISTS', ticks) == 0
  redis.call('ZADD', ticks, 0, soul)
  return first and 1 or 0
end

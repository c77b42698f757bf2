-- lib_tick: souls start to tick.
--
-- start_ticking(ticks, interval_key, soul, now): does nothing if it does tick.

--@include lib_tick_grid

local function start_ticking(ticks, interval_key, soul, now)
  if redis.call('ZSCORE', ticks, soul) then return end
  local interval = tonumber(redis.call('GET', interval_key) or '')
    or TICK_INTERVAL_MS
  redis.call('ZADD', ticks, 'NX', next_tick(soul, interval, now), soul)
end

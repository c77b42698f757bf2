-- lib_tick_grid: when a soul ticks.
--
-- next_tick(soul, interval, now): each soul has its own offset within the
-- interval, which no delay shifts, so that ticks are spread evenly.

local function next_tick(soul, interval, now)
  local hash = tonumber(string.sub(redis.sha1hex(soul), 1, 8), 16)
  return now + interval - (now - hash) % interval
end

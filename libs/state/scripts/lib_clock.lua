-- lib_clock: the time by Redis' clock.
--
-- clock(): milliseconds since 1970.  As an argument of a command a text costs
--          less, string.format('%d', now).

local function clock()
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

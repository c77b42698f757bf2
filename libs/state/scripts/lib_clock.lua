-- lib_clock: the time by Redis' clock.
--
-- now: milliseconds since 1970.

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

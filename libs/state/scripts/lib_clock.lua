-- lib_clock: the time by Redis' clock.
--
-- now:      milliseconds since 1970.
-- now_text: the same as a string, which costs less as an argument of a command.

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local now_text = string.format('%d', now)

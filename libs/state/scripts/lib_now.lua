-- lib_now: the time by Redis' clock when the script began.
--
-- now: milliseconds since 1970.

--@include lib_clock

local now = clock()

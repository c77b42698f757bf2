-- lib_terminal_reachable: whether a terminal is present at a broker.
--
-- KEYS: terminal, …
-- ARGV: ttl (ms), broker or '' (any), …
-- reachable: true if it is.

--@include lib_now
--@include lib_record

local known = record(KEYS[1], TERMINAL_FORMAT)
local fields = redis.call('HMGET', KEYS[1], 'on', 'seen', 'b')
local seen = tonumber(fields[2] or '') or 0
local reachable = fields[1] == '1' and seen > 0
  and now - seen < tonumber(ARGV[1])
reachable = reachable and known and (ARGV[2] == '' or fields[3] == ARGV[2])

-- soul_tick_done: the souls of a claim are done.
--
-- KEYS: ticks
-- ARGV: when the claim would end (ms), their next tick (ms)
-- Result: OK
--
-- The souls are those that are due when the claim ends: naming each would make
-- the calls of many buckets so long that Redis reads them in several parts, and
-- flushes its append-only file after each.

local call, ticks = redis.call, KEYS[1]
local scores = {}
for _, soul in ipairs(call('ZRANGEBYSCORE', ticks, ARGV[1], ARGV[1])) do
  scores[#scores + 1] = ARGV[2]
  scores[#scores + 1] = soul
end
if #scores > 0 then call('ZADD', ticks, 'XX', unpack(scores)) end
return RC_OK

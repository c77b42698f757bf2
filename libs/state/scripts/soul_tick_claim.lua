-- soul_tick_claim: claim the souls of a bucket whose tick is due.
--
-- KEYS: ticks
-- ARGV: interval (ms), the bucket's offset within it (ms), the most souls
-- Result: {OK, ms until the next tick of the bucket or -1: none, {{user, soul,
--         next tick, state or nil, terminal, broker, …}, …}, when the claim
--         ends (ms)}
-- Computed keys: the terminals and states of the souls.
--
-- All souls of a bucket tick together, so that they are claimed together.  A
-- claim lasts half an interval.  A soul without a present terminal stops
-- ticking.

--@include lib_bucket
--@include lib_clock
--@include lib_read

local call, ticks, interval = redis.call, KEYS[1], tonumber(ARGV[1])
local next_tick = now + interval - (now - tonumber(ARGV[2])) % interval
local claim_end = now + math.floor(interval / 2)

local function claim(soul)
  local user, id = string.match(soul, '^([^:]*):([^:]*)$')
  local list = { user or '', id or '', next_tick, false }
  local bodies = read('HGETALL',
    bucket_key(KEY_BODIES_PRE, soul, KEY_BODIES_POST))
  if bodies.err then return list end
  for i = 1, #bodies, 2 do
    local ends, broker = string.match(bodies[i + 1], '^(%d+) %d+ (.+)$')
    if ends and tonumber(ends) > now then
      list[#list + 1] = bodies[i]
      list[#list + 1] = broker
    end
  end
  return list
end

local new = call('ZRANGEBYSCORE', ticks, 0, 0, 'LIMIT', 0, ARGV[3])
local claimed, size, claims, stopped = {}, 0, {}, {}
for _, soul in ipairs(call('ZRANGEBYSCORE', ticks, '(0', now,
  'LIMIT', 0, ARGV[3])) do
  local list = claim(soul)
  if #list == 4 then
    stopped[#stopped + 1] = soul
  else
    local state = read('GET', bucket_key(KEY_SOUL_STATE_PRE, soul))
    if type(state) == 'string' then list[4] = state end
    claims[#claims + 1] = claim_end
    claims[#claims + 1] = soul
    claimed[#claimed + 1] = list
    size = size + #list
  end
  if size > 2 * TICK_TERMINALS_MAX then break end
end
for _, soul in ipairs(new) do call('ZADD', ticks, next_tick, soul) end
if #stopped > 0 then call('ZREM', ticks, unpack(stopped)) end
if #claims > 0 then call('ZADD', ticks, unpack(claims)) end
-- What was claimed here is expected to be done by then.
local first = call('ZRANGEBYSCORE', ticks, '-inf', '(' .. claim_end,
  'WITHSCORES', 'LIMIT', 0, 1)[2]
if not first and call('EXISTS', ticks) == 1 then first = next_tick end
return { RC_OK, first and math.max(0, tonumber(first) - now) or -1, claimed,
  claim_end }

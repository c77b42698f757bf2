-- soul_tick_claim: claim the souls of a bucket whose tick is due.
--
-- KEYS: ticks
-- ARGV: interval (ms), the bucket's offset within it (ms), the most souls
-- Result: {OK, ms until the next tick of the bucket or -1: none, {{user:soul,
--         state or nil, terminal, broker, …}, …}, when the claim ends (ms),
--         their next tick (ms)}
-- Computed keys: the terminals and states of the souls.
--
-- All souls of a bucket tick together, so that they are claimed together.  A
-- claim lasts half an interval.  A soul without a present terminal stops
-- ticking.  Scores are texts, because Redis formats each number.

--@include lib_bucket
--@include lib_now
--@include lib_read

local call, match = redis.call, string.match
local ticks, interval = KEYS[1], tonumber(ARGV[1])
local next_tick = now + interval - (now - tonumber(ARGV[2])) % interval
local claim_end = now + math.floor(interval / 2)
local next_text = string.format('%.0f', next_tick)
local claim_text = string.format('%.0f', claim_end)
local bodies_key = bucket_key(KEY_BODIES_PRE, '')
local state_key = bucket_key(KEY_SOUL_STATE_PRE, '')

-- The soul, and its present terminals.
local function claim(soul)
  local list, n = { soul, false }, 2
  local bodies = read('HGETALL', bodies_key .. soul .. KEY_BODIES_POST)
  if bodies.err then return list, n end
  for i = 1, #bodies, 2 do
    local ends, broker = match(bodies[i + 1], '^(%d+) %d+ (.+)$')
    if ends and tonumber(ends) > now then
      list[n + 1] = bodies[i]
      list[n + 2] = broker
      n = n + 2
    end
  end
  return list, n
end

local new = call('ZRANGEBYSCORE', ticks, 0, 0, 'LIMIT', 0, ARGV[3])
local claimed, size, claims, stopped = {}, 0, {}, {}
for _, soul in ipairs(call('ZRANGEBYSCORE', ticks, '(0', now,
  'LIMIT', 0, ARGV[3])) do
  local list, n = claim(soul)
  if n == 2 then
    stopped[#stopped + 1] = soul
  else
    local state = read('GET', state_key .. soul)
    if type(state) == 'string' then list[2] = state end
    claims[#claims + 1] = claim_text
    claims[#claims + 1] = soul
    claimed[#claimed + 1] = list
    size = size + n
  end
  if size > 2 * TICK_TERMINALS_MAX then break end
end
for _, soul in ipairs(new) do call('ZADD', ticks, next_text, soul) end
if #stopped > 0 then call('ZREM', ticks, unpack(stopped)) end
if #claims > 0 then call('ZADD', ticks, unpack(claims)) end
-- What was claimed here is expected to be done by then.
local first = call('ZRANGEBYSCORE', ticks, '-inf', '(' .. claim_text,
  'WITHSCORES', 'LIMIT', 0, 1)[2]
if not first and call('EXISTS', ticks) == 1 then first = next_tick end
return { RC_OK, first and math.max(0, tonumber(first) - now) or -1, claimed,
  claim_end, next_tick }

-- soul_tick_claim: finish claimed ticks, and claim souls that are due.
--
-- KEYS: ticks, interval
-- ARGV: interval (ms), ttl of snapshots (ms), the most souls, then next tick
--       and token of each soul that is done
-- Result: {OK, souls that were due, {{soul, next tick, state or nil, terminal,
--         broker, …}, …}}
-- Computed keys: the terminals and states of the souls, and each terminal.
--
-- A claim lasts half an interval.  A soul without a present terminal stops
-- ticking.

--@include lib_clock
--@include lib_tick_grid

local call, ticks, interval = redis.call, KEYS[1], tonumber(ARGV[1])
local ttl = tonumber(ARGV[2])
if call('GET', KEYS[2]) ~= ARGV[1] then call('SET', KEYS[2], ARGV[1]) end
if ARGV[4] then call('ZADD', ticks, 'XX', unpack(ARGV, 4)) end

local function claim(soul)
  local list = { soul, next_tick(soul, interval, now), false }
  local terminals = redis.pcall('SMEMBERS',
    KEY_BODIES_PRE .. soul .. KEY_BODIES_POST)
  if terminals.err then return list end
  for _, terminal in ipairs(terminals) do
    local fields = redis.pcall('HMGET',
      KEY_TERMINAL_PRE .. terminal .. KEY_TERMINAL_POST,
      'on', 'seen', 'b', 's', 'v')
    if not fields.err and fields[1] == '1' and fields[3]
      and fields[4] == soul and fields[5] == TERMINAL_FORMAT
      and now - (tonumber(fields[2] or '') or 0) < ttl then
      list[#list + 1] = terminal
      list[#list + 1] = fields[3]
    end
  end
  return list
end

local due = call('ZRANGEBYSCORE', ticks, '-inf', now, 'LIMIT', 0, ARGV[3])
local claimed, size, claims = {}, 0, {}
local seen = 0
for _, soul in ipairs(due) do
  local list = claim(soul)
  if #list == 3 then
    call('ZREM', ticks, soul)
  else
    local state = redis.pcall('GET',
      KEY_SOUL_PRE .. soul .. KEY_SOUL_STATE_POST)
    if type(state) == 'string' then list[3] = state end
    claims[#claims + 1] = now + math.floor(interval / 2)
    claims[#claims + 1] = soul
    claimed[#claimed + 1] = list
    size = size + #list
  end
  seen = seen + 1
  if size > 2 * TICK_TERMINALS_MAX then break end
end
if #claims > 0 then call('ZADD', ticks, unpack(claims)) end
return { RC_OK, seen, claimed }

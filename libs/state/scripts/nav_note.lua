-- nav_note: something has happened that a soul may think about.
--
-- KEYS: nav, due, soul, mind link
-- ARGV: packed: event (token of its id), user:soul (tokens), session, terminal
--       ('': as before), turn (1: a turn was completed, else 0), trigger (0:
--       none), turns that are a trigger, ms until a soul is idle (0: never is),
--       ms between two cycles
-- Result: {OK, when the next cycle is due (ms; 0: never)}, {NOENT} if there is
--         no such soul
--
-- While a cycle runs the score is the end of its claim; nav_end sets the next.

--@idempotent
--@include lib_now
--@include lib_record

local call, key, due = redis.call, KEYS[1], KEYS[2]
local event, member, session, term, turn, trigger, most, idle, gap =
  cmsgpack.unpack(ARGV[1])
if call('EXISTS', KEYS[3]) == 0 then return { RC_NOENT } end
local f, seen = {}, ''
if record(key, NAV_FORMAT) then
  f = call('HMGET', key, 'turns', 'why', 'at', 'id', 'since', 'seen')
  seen = f[6] or ''
end
local score = tonumber(call('ZSCORE', due, member) or '') or 0
if string.find(' ' .. seen, ' ' .. event .. ' ', 1, true) then
  return { RC_OK, score }
end
-- A key of another type must fail before the first write.
call('GET', KEYS[4])

local function number(text) return tonumber(text or '') or 0 end

local turns, why, since = number(f[1]) + turn, number(f[2]), number(f[5]) + turn
if turn == 1 and turns >= most then
  trigger = math.max(trigger, NAV_TRIGGER_COUNT)
end
why = math.max(why, trigger)
if not f[4] and why > 0 then
  score = math.max(now, number(f[3]) + gap)
elseif not f[4] and turn == 1 and idle > 0 then
  score = now + idle
end
seen = seen .. event .. ' '
local _, n = string.gsub(seen, ' ', '')
if n > NAV_SEEN_MAX then seen = string.match(seen, '^%S* (.*)$') end

local function text(v) return string.format('%d', v) end

local fields = { 'v', NAV_FORMAT, 'turns', text(turns), 'why', text(why),
  'since', text(since), 'seen', seen }
for name, value in pairs({ session = session, term = term }) do
  if value ~= '' then
    fields[#fields + 1], fields[#fields + 2] = name, value
  end
end
call('HSET', key, unpack(fields))
call('PEXPIRE', key, "NAV_TTL_MS")
if score > 0 then call('ZADD', due, text(score), member) end
if turn == 1 and since >= MIND_LINK_TURNS then call('DEL', KEYS[4]) end
return { RC_OK, score }

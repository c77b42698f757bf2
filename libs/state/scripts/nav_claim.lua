-- nav_claim: claim the cycles of a bucket that are due.
--
-- KEYS: due
-- ARGV: lease (ms), the most, cycles of a soul and user on one day
-- Result: {OK, now, when the next is due (ms; 0: there is none), {user:soul,
--         id, trigger, tries, session or nil, terminal or nil, what it has
--         decided or nil, …}}
-- Computed keys: nav and the bodies of the souls.
--
-- A claim that has ended is claimed once more, with its id.  A soul without a
-- present body is not idle: its next turn sets when it is.

--@include lib_bucket
--@include lib_now
--@include lib_read

local call, due, claimed, found = redis.call, KEYS[1], {}, {}
local members = call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, ARGV[2])
local day = math.floor(now / NAV_DAY_MS)

local function text(v) return string.format('%d', v) end
local function number(v) return tonumber(v or '') or 0 end

local function is_present(member)
  local bodies = read('HGETALL', bucket_key(KEY_BODIES_PRE, member,
    KEY_BODIES_POST))
  for i = 2, bodies.err and 0 or #bodies, 2 do
    if number(string.match(bodies[i], '^%d+')) > now then return true end
  end
  return false
end

for i, member in ipairs(members) do
  local f = read('HMGET', bucket_key(KEY_NAV_PRE, member), 'v', 'id', 'run',
    'tries', 'session', 'term', 'out', 'why', 'n', 'day', 'used')
  found[i] = not f.err and f[1] == NAV_FORMAT and f
  if found[i] then
    f.trigger = math.max(number(f[8]), NAV_TRIGGER_IDLE)
    f.present = f[2] or f.trigger > NAV_TRIGGER_IDLE or is_present(member)
  end
end

local lease = text(now + ARGV[1])

-- Begin a cycle; false: not now.
local function begin(member, f)
  local used = number(f[10]) == day and number(f[11]) or 0
  if not f.present then
    call('ZREM', due, member)
    return false
  elseif used >= tonumber(ARGV[3]) then
    call('ZADD', due, text((day + 1) * NAV_DAY_MS), member)
    return false
  end
  local n = text(number(f[9]) + 1)
  f[2] = 'cyc_' .. redis.sha1hex(member .. ' ' .. n .. ' ' .. text(now))
  f[3], f[4] = text(f.trigger), '0'
  call('HSET', bucket_key(KEY_NAV_PRE, member), 'id', f[2], 'run', f[3],
    'why', '0', 'turns', '0', 'at', text(now), 'n', n, 'day', text(day),
    'used', text(used + 1))
  return true
end

for i, member in ipairs(members) do
  local f = found[i]
  if not f then
    call('ZREM', due, member)
  elseif f[2] or begin(member, f) then
    local tries = text(number(f[4]) + 1)
    call('HSET', bucket_key(KEY_NAV_PRE, member), 'tries', tries)
    call('ZADD', due, lease, member)
    local n = #claimed
    claimed[n + 1], claimed[n + 2], claimed[n + 3] = member, f[2], f[3]
    claimed[n + 4], claimed[n + 5], claimed[n + 6] = tries, f[5], f[6]
    claimed[n + 7] = f[7]
  end
end
local first = call('ZRANGE', due, 0, 0, 'WITHSCORES')
return { RC_OK, now, number(first[2]), claimed }

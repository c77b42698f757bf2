-- speech_read: what decides whether and where a soul speaks unasked.
--
-- KEYS: the user's sessions, its profile, its speech record, soul (its speech
--       record: none is named)
-- ARGV: user (token), soul (id) or ''
-- Result: {OK, now, zone (JSON) or nil, {quiet, proactive} of the soul, {ms of
--         the newest, its day, how many} of the speech record, session (token)
--         or nil, {soul, terminal} of that session, when a turn last began
--         (ms), 1 if one runs or waits, else 0}
-- Computed keys: the newest sessions, and their queues of turns.

--@idempotent
--@include lib_bucket
--@include lib_now
--@include lib_read

local call, user = redis.call, ARGV[1]
local zone = call('HGET', KEYS[2], '/user_profile/timezone')
local soul = { false, false }
if KEYS[4] ~= KEYS[3] then soul = call('HMGET', KEYS[4], 'quiet', 'pro') end
local best, of, active, busy = false, { false, false }, 0, 0
for _, session in ipairs(call('ZRANGE', KEYS[1], 0, SPEECH_LAST, 'REV'))
do
  local ids = user .. ':' .. session
  local f = read('HMGET', bucket_key(KEY_SESSION_PRE, ids), 'soul', 'term',
    'active')
  if not f.err and f[1] then
    if not best and (ARGV[2] == '' or ARGV[2] == f[1]) then
      best, of = session, { f[1], f[2] }
    end
    active = math.max(active, tonumber(f[3] or '') or 0)
    local queue = read('GET', bucket_key(KEY_TURNS_PRE, ids, KEY_TURNS_POST))
    if type(queue) == 'string' and queue ~= '' then busy = 1 end
  end
end
return { RC_OK, now, zone and string.match(zone, '^%S* (.+)$'), soul,
  call('HMGET', KEYS[3], 'at', 'day', 'n'), best, of, active, busy }

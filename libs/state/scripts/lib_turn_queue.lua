-- lib_turn_queue: a session's queue of turns, and the processes that run them.
--
-- KEYS: turns, instance (of the caller), session, events, turn, …
--
-- scan_queue(own, orphan): the entries (instance:turn) of live processes, as
--                  the caller is, those of dead ones and the entry orphan,
--                  without the entry own, and the head.  It only reads, so
--                  that what fails there (lib_bucket) does so before a write.
-- evict(dead):     remove those of dead ones and log them as lost.
-- stay_alive(ms):  the caller's process is alive for at least this long.
--
-- Computed keys: the instances and records of queued turns.

--@include lib_bucket
--@include lib_clock
--@include lib_event_log

local call, queue = redis.call, KEYS[1]
local user = string.match(KEYS[1], '}:([^:]+):')

local function turn_key(turn)
  return bucket_key(KEY_TURN_PRE, user .. ':' .. turn)
end

local function turn_of(entry)
  return string.match(entry, ':(.+)$') or ''
end

local function is_alive(entry)
  local instance = string.match(entry, '^([^:]+):')
  if not instance then return false end
  local key = bucket_key(KEY_INSTANCE_PRE, instance, KEY_INSTANCE_POST)
  return key == KEYS[2] or call('EXISTS', key) == 1
end

local function scan_queue(own, orphan)
  local live, dead, all = {}, {}, call('LRANGE', queue, 0, -1)
  for _, entry in ipairs(all) do
    if entry ~= own and entry ~= orphan and is_alive(entry) then
      live[#live + 1] = entry
    elseif entry ~= own then
      call('EXISTS', turn_key(turn_of(entry)))
      dead[#dead + 1] = entry
    end
  end
  return live, dead, all[1]
end

local function end_lost(turn)
  local key = turn_key(turn)
  if call('EXISTS', key) == 0 then return end
  if call('HSETNX', key, 'end', '') == 0 then return end
  local fields = call('HMGET', key, 'begun', 'acting')
  if fields[1] then
    log_lost(KEYS[3], KEYS[4], turn, now_text, fields[2])
  end
end

local function evict(dead)
  for _, entry in ipairs(dead) do
    call('LREM', queue, 1, entry)
    end_lost(turn_of(entry))
  end
end

local function stay_alive(ms)
  if call('PEXPIRE', KEYS[2], ms, 'GT') == 0 then
    call('SET', KEYS[2], '1', 'NX', 'PX', ms)
  end
end

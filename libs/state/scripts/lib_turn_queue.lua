-- lib_turn_queue: a session's queue of turns, and the processes that run them.
--
-- The queue is a string: entries (instance:turn) with a space after each, the
-- head first.  Most turns are alone in theirs, and a string with a lifetime is
-- one write.
--
-- KEYS: turns, instance (of the caller), session, events, turn, …
--
-- scan_queue(own, orphan): the entries of live processes, as the caller is,
--                  those of dead ones and the entry orphan, both without the
--                  entry own; the head; whether own is queued.  It only reads,
--                  so that what fails there (lib_bucket) does so before a
--                  write.
-- save_queue(live, entry): the queue has these entries, and at its end the
--                  entry, unless it is nil.
-- end_lost(dead):  end the turns of these entries, and log them as lost.
-- stay_alive(ms):  the caller's process is alive for at least two thirds of
--                  this; it says so itself every third (turn_alive()).
--
-- Computed keys: the instances and records of queued turns.

--@include lib_bucket
--@include lib_clock
--@include lib_event_log

local call, queue = redis.call, KEYS[1]

local function turn_of(entry)
  return string.match(entry, ':(.+)$') or ''
end

local function turn_key(turn)
  return bucket_key(KEY_TURN_PRE,
    string.match(queue, '}:([^:]+):') .. ':' .. turn)
end

local function is_alive(entry)
  local instance = string.match(entry, '^([^:]+):')
  if not instance then return false end
  local key = bucket_key(KEY_INSTANCE_PRE, instance, KEY_INSTANCE_POST)
  return key == KEYS[2] or call('EXISTS', key) == 1
end

local function scan_queue(own, orphan)
  local live, dead, head, queued = {}, {}, nil, false
  local text = call('GET', queue)
  if not text then return live, dead, head, queued end
  for entry in string.gmatch(text, '[^ ]+') do
    head = head or entry
    if entry == own then
      queued = true
    elseif entry ~= orphan and is_alive(entry) then
      live[#live + 1] = entry
    else
      call('EXISTS', turn_key(turn_of(entry)))
      dead[#dead + 1] = entry
    end
  end
  return live, dead, head, queued
end

local function save_queue(live, entry)
  local text = entry and entry .. ' ' or ''
  for i = #live, 1, -1 do text = live[i] .. ' ' .. text end
  if text ~= '' then
    call('SET', queue, text, 'PX', "TURN_QUEUE_TTL_MS")
  else
    call('DEL', queue)
  end
end

local function end_lost(dead)
  for _, entry in ipairs(dead) do
    local turn = turn_of(entry)
    local key = turn_key(turn)
    if call('EXISTS', key) == 1 and call('HSETNX', key, 'end', '') == 1 then
      local fields = call('HMGET', key, 'begun', 'acting')
      if fields[1] then
        log_lost(KEYS[3], KEYS[4], turn, clock(), fields[2])
      end
    end
  end
end

local function stay_alive(ms)
  if call('PTTL', KEYS[2]) < ms * 2 / 3 then
    call('SET', KEYS[2], '1', 'PX', ms)
  end
end

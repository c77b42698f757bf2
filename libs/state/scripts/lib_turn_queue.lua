-- lib_turn_queue: a session's queue of turns, and the processes that run them.
--
-- KEYS: turns, instance (of the caller), session, events, turn, …
--
-- evict_dead():   remove the turns of dead processes and log them as lost.
--                 Returns the entries (instance:turn) that are left.
-- stay_alive(ms): the caller's process is alive for at least this long.
--
-- Computed keys: the instances and records of queued turns.

--@include lib_clock
--@include lib_event_log

local call, queue = redis.call, KEYS[1]

local function end_lost(entry)
  local turn = string.match(entry, ':(.+)$') or ''
  local key = KEY_TURN_PRE .. turn .. KEY_TURN_POST
  if call('EXISTS', key) == 0 then return end
  if call('HSETNX', key, 'end', '') == 0 then return end
  if call('HGET', key, 'begun') and call('EXISTS', KEYS[3]) == 1 then
    log_event(KEYS[3], KEYS[4], call('HINCRBY', KEYS[3], 'seq', 1),
      'lost', turn, 'at', now)
  end
end

local function is_dead(instance)
  return not instance
    or call('EXISTS', KEY_INSTANCE_PRE .. instance .. KEY_INSTANCE_POST) == 0
end

local function evict_dead()
  local live = {}
  for _, entry in ipairs(call('LRANGE', queue, 0, -1)) do
    if is_dead(string.match(entry, '^([^:]+):')) then
      call('LREM', queue, 1, entry)
      end_lost(entry)
    else
      live[#live + 1] = entry
    end
  end
  return live
end

local function stay_alive(ms)
  if not call('SET', KEYS[2], '1', 'NX', 'PX', ms) then
    call('PEXPIRE', KEYS[2], ms, 'GT')
  end
end

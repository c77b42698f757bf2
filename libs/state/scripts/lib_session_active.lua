-- lib_session_active: a user's input makes a session active.
--
-- Needs lib_record.
--
-- set_active(session, idle, now, soul, terminal, idle_ms, member): member is
-- "user:session" (tokens).  The session becomes idle idle_ms from now.
--
-- Computed keys: the user's sessions, and of those that are deleted the
-- records, messages, events and turns.

--@include lib_session_key

-- Of too many sessions delete two that have been idle for long.
local function delete_excess(idle, sessions, user)
  local call, deleted = redis.call, 0
  local excess = call('ZCARD', sessions) - SESSIONS_MAX
  if excess <= 0 then return end
  for _, session in ipairs(call('ZRANGE', sessions, 0, 15)) do
    local member = user .. ':' .. session
    local prefix = KEY_SESSION_PRE .. member
    local hash = prefix .. KEY_SESSION_POST
    local turns = prefix .. KEY_TURNS_POST
    local unused = not call('ZSCORE', idle, member)
      and call('EXISTS', turns) == 0
      and redis.pcall('HEXISTS', hash, 'job') == 0
    if deleted < 2 and (unused or excess > SESSIONS_MAX) then
      deleted = deleted + 1
      call('DEL', hash, turns, prefix .. KEY_MESSAGES_POST,
        prefix .. KEY_EVENTS_POST)
      call('ZREM', idle, member)
      call('ZREM', sessions, session)
    end
  end
end

local function set_active(key, idle, now, soul, terminal, idle_ms, member)
  record(key, SESSION_FORMAT)
  local user, session = split_session(member)
  local sessions = KEY_USER_SESSIONS_PRE .. user .. KEY_USER_SESSIONS_POST
  local due = now + tonumber(idle_ms)
  -- Each idle period has its own due time, however many inputs come within a
  -- millisecond.
  local previous = tonumber(redis.call('HGET', key, 'due') or '') or 0
  if previous >= due and previous - due < 1000 then due = previous + 1 end
  redis.call('ZADD', idle, due, member)
  redis.call('ZADD', sessions, now, session)
  redis.call('HSET', key, 'v', SESSION_FORMAT, 'soul', soul, 'term', terminal,
    'active', now, 'due', due, 'claims', 0)
  delete_excess(idle, sessions, user)
end

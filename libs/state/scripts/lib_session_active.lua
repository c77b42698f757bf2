-- lib_session_active: a user's input makes a session active.
--
-- Needs lib_clock and lib_session.
--
-- set_active(s, keys, soul, terminal, idle_ms, member): of the open
-- session s; keys names idle and sessions (the user's); member is
-- "user:session" (tokens).  The session becomes idle idle_ms from now.  Its
-- first write fails if idle is of another type.
--
-- Computed keys: of sessions that are deleted the records, messages, events and
-- turns.

--@include lib_bucket
--@include lib_session_key

-- Whether it could be deleted.
local function delete_session(member)
  local n = redis.pcall('DEL', bucket_key(KEY_SESSION_PRE, member),
    bucket_key(KEY_TURNS_PRE, member, KEY_TURNS_POST),
    bucket_key(KEY_SESSION_MESSAGES_PRE, member),
    bucket_key(KEY_SESSION_EVENTS_PRE, member, KEY_SESSION_EVENTS_POST))
  return type(n) == 'number'
end

-- Of too many sessions delete two that have been idle for long.  What cannot be
-- deleted while the bucket moves is deleted when the user has one more.
local function delete_excess(idle, sessions, user)
  local call, deleted = redis.call, 0
  local excess = call('ZCARD', sessions) - SESSIONS_MAX
  if excess <= 0 then return end
  for _, session in ipairs(call('ZRANGE', sessions, 0, 15)) do
    local member = user .. ':' .. session
    local hash = bucket_key(KEY_SESSION_PRE, member)
    local turns = bucket_key(KEY_TURNS_PRE, member, KEY_TURNS_POST)
    local unused = not call('ZSCORE', idle, member)
      and redis.pcall('EXISTS', turns) == 0
      and redis.pcall('HEXISTS', hash, 'job') == 0
    if deleted < 2 and (unused or excess > SESSIONS_MAX)
      and delete_session(member) then
      deleted = deleted + 1
      call('ZREM', idle, member)
      call('ZREM', sessions, session)
    end
  end
end

local function set_active(s, keys, soul, terminal, idle_ms, member)
  local user, session = split_session(member)
  local due = now + tonumber(idle_ms)
  -- Each idle period has its own due time, however many inputs come within a
  -- millisecond.
  if s.due >= due and s.due - due < 1000 then due = s.due + 1 end
  redis.call('ZADD', keys.idle, string.format('%d', due), member)
  local added = redis.call('ZADD', keys.sessions, now_text, session)
  change(s, 'soul', soul)
  change(s, 'term', terminal)
  change(s, 'active', now)
  change(s, 'due', due)
  change(s, 'claims', 0)
  if added == 1 then delete_excess(keys.idle, keys.sessions, user) end
end

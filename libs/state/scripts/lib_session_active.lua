-- lib_session_active: a user's input makes a session active.
--
-- Needs lib_now and lib_session.
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
    -- An error is a table.
    local deleted_keys = deleted < 2 and (unused or excess > SESSIONS_MAX)
      and redis.pcall('DEL', hash, turns,
        bucket_key(KEY_SESSION_MESSAGES_PRE, member),
        bucket_key(KEY_SESSION_EVENTS_PRE, member, KEY_SESSION_EVENTS_POST))
    if type(deleted_keys) == 'number' then
      deleted = deleted + 1
      call('ZREM', idle, member)
      call('ZREM', sessions, session)
    end
  end
end

local function set_active(s, keys, soul, terminal, idle_ms, member)
  local user, session = split_session(member)
  local due, last_due = now + idle_ms, tonumber(s.due or 0) or 0
  -- Each idle period has its own due time, however many inputs come within a
  -- millisecond.
  if last_due >= due and last_due - due < 1000 then due = last_due + 1 end
  due = format('%d', due)
  s.active = format('%d', now)
  redis.call('ZADD', keys.idle, due, member)
  local added = redis.call('ZADD', keys.sessions, s.active, session)
  change(s, 'soul', soul)
  change(s, 'term', terminal)
  change(s, 'active', s.active)
  change(s, 'due', due)
  change(s, 'claims', '0')
  if added == 1 then delete_excess(keys.idle, keys.sessions, user) end
end

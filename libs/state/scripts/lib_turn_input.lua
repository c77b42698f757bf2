-- lib_turn_input: store a user's input.
--
-- Needs lib_now, lib_session, lib_session_active.
--
-- store_input(s, input, stored): in the open session s, which is saved.  input
-- names events, messages, idle and sessions (the user's), which are keys; soul,
-- terminal, idle_ms, member (user:session, tokens); pending; n, how many events
-- there are from ARGV[from] on, then messages: the most of them in the session
-- (max), their characters (chars).  With stored or without messages they are
-- stored already.  Returns the seq of the last event, and whether there is one:
-- the turn has begun.
--
-- check_input(s, input): what is of another type ends the script; to be called
-- before the first write.  The keys of a known session were made by scripts.
-- The type of idle is checked by store_input()'s first write.

local function check_input(s, input)
  if s.known then return end
  redis.call('LLEN', input.messages)
  redis.call('ZCARD', input.sessions)
end

local function store_input(s, input, stored)
  local messages = input.from + input.n
  set_active(s, input, input.soul, input.terminal, input.idle_ms, input.member)
  if #ARGV >= messages and not stored then
    append(s, input.messages, input.max, messages, input.chars)
  end
  set_open(s, 'late', input.pending)
  local seq = log_events(s, input.events, input.from, input.n, now)
  save_session(s)
  return seq, input.n > 0
end

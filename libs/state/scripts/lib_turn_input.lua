-- lib_turn_input: store a user's input.
--
-- Needs lib_clock, lib_session, lib_session_active.
--
-- store_input(s, keys, from, stored): in the open session s, which is saved.
-- keys names events, messages, idle and sessions (the user's).  ARGV[from], …:
-- the most messages, soul, terminal, idle after (ms), user:session (tokens),
-- pending, number of events, events …, messages …, characters.  With stored or
-- without messages they are stored already.  Returns the seq of the last event,
-- and whether there is one: the turn has begun.
--
-- check_input(keys): what is of another type ends the script; to be called
-- before the first write.  The type of idle is checked by store_input()'s first
-- write.

local function check_input(keys)
  redis.call('LLEN', keys.messages)
  redis.call('ZCARD', keys.sessions)
end

local function store_input(s, keys, from, stored)
  local n = tonumber(ARGV[from + 6])
  local messages = from + 7 + n
  set_active(s, keys, ARGV[from + 1], ARGV[from + 2], ARGV[from + 3],
    ARGV[from + 4])
  if #ARGV > messages and not stored then
    append(s, keys.messages, ARGV[from], messages)
  end
  set_pending(s, ARGV[from + 5])
  local seq = log_events(s, keys.events, from + 7, n)
  save_session(s)
  return seq, n > 0
end

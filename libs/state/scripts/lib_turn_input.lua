-- lib_turn_input: store a user's input.
--
-- Needs lib_clock, lib_record, lib_session_append, lib_session_pending,
-- lib_session_active, lib_event_log.
--
-- store_input(keys, from, stored): keys names session, events, turn, messages,
-- idle and sessions (the user's).  ARGV[from], …: the most messages, soul,
-- terminal, idle after (ms), user:session (tokens), pending, number of events,
-- events …, messages …, characters.  With stored or without messages they are stored already.
-- Returns the seq of the last event.
--
-- check_input(keys): what is of another type or format ends the script; to be
-- called before the first write.

local function check_input(keys)
  record(keys.session, SESSION_FORMAT)
  redis.call('LLEN', keys.messages)
  redis.call('ZCARD', keys.idle)
  redis.call('ZCARD', keys.sessions)
end

local function store_input(keys, from, stored)
  local n = tonumber(ARGV[from + 6])
  local messages = from + 7 + n
  if #ARGV > messages and not stored then
    append(keys.session, keys.messages, ARGV[from], messages)
  end
  set_pending(keys.session, ARGV[from + 5])
  set_active(keys, now, ARGV[from + 1], ARGV[from + 2], ARGV[from + 3],
    ARGV[from + 4])
  if n > 0 and redis.call('EXISTS', keys.turn) == 1 then
    redis.call('HSET', keys.turn, 'begun', '1')
  end
  return log_events(keys.session, keys.events, from + 7, n)
end

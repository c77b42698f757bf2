-- lib_event_log: a session's log of events.
--
-- log_event(session, events, seq, field, value, …): add one event.
-- log_events(session, events, from, n): add ARGV[from], … to it.  Returns the
-- seq of the last; 0 if there are none or the session does not exist.

local function log_event(session, events, seq, ...)
  redis.call('XADD', events, 'MAXLEN', '~', EVENTS_MAX, '0-' .. seq, ...)
  redis.call('PEXPIRE', events, EVENTS_TTL_MS)
end

local function log_events(session, events, from, n)
  if n == 0 or redis.call('EXISTS', session) == 0 then return 0 end
  local seq = redis.call('HINCRBY', session, 'seq', n)
  for i = 1, n do
    log_event(session, events, seq - n + i, 'e', ARGV[from + i - 1])
  end
  return seq
end

-- lib_event_log: a session's log of events.
--
-- log_event(events, seq, field, value, …): add one event; the caller sets when
--                                          the log expires.
-- log_lost(session, events, turn, at, acted): a turn was lost at that time (ms,
--                                      text), and may have acted ('1'), unless
--                                      there is no session.

local function log_event(events, seq, ...)
  redis.call('XADD', events, 'MAXLEN', '~', "EVENTS_MAX",
    string.format('0-%d', seq), ...)
end

local function log_lost(session, events, turn, at, acted)
  if redis.call('EXISTS', session) == 0 then return end
  log_event(events, redis.call('HINCRBY', session, 'seq', 1), 'lost', turn,
    'at', at, 'acted', acted or '0')
  redis.call('PEXPIRE', events, "EVENTS_TTL_MS")
end

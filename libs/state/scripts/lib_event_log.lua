-- lib_event_log: a session's log of events.
--
-- log_event(events, seq, n, field, value, …): add an entry of n events, the
--                                      last has this seq; the caller sets when
--                                      the log expires.
-- log_lost(session, events, turn, at, acted): a turn was lost at that time
--                                      (ms), and may have acted ('1'), unless
--                                      there is no session.

local function log_event(events, seq, n, ...)
  local id = string.format('0-%d', seq)
  -- It is trimmed now and then, which costs less than each time.
  if seq % 32 < n then
    redis.call('XADD', events, 'MINID',
      string.format('0-%d', math.max(seq - EVENTS_MAX + 1, 0)), id, ...)
  else
    redis.call('XADD', events, id, ...)
  end
end

local function log_lost(session, events, turn, at, acted)
  if redis.call('EXISTS', session) == 0 then return end
  log_event(events, redis.call('HINCRBY', session, 'seq', 1), 1, 'lost', turn,
    'at', string.format('%d', at), 'acted', acted or '0')
  redis.call('PEXPIRE', events, "EVENTS_TTL_MS")
end

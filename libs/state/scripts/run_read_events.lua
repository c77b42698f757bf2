-- run_read_events: one page of a run's events.
--
-- KEYS: events
-- ARGV: the seq before the page, the most events, the most bytes
-- Result: as of session_read_events

--@idempotent
--@include lib_run_log

local after, max, room = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local newest, page, n, more = run_log_newest(KEYS[1]), {}, 0, 0

local function read()
  repeat
    local chunk = redis.call('XRANGE', KEYS[1], string.format('(0-%d', after),
      '+', 'COUNT', RUN_EVENTS_CHUNK)
    for _, entry in ipairs(chunk) do
      local event = entry[2][2]
      room, more = room - #event, 1
      if n == max or room < 0 and n > 0 then return end
      n, after, more = n + 1, tonumber(string.match(entry[1], '-(%d+)$')), 0
      for _, value in ipairs({ after, event, false, 0, 0 }) do
        page[#page + 1] = value
      end
    end
  until #chunk < RUN_EVENTS_CHUNK
end
if newest > after then read() end
return { RC_OK, newest, more, page }

-- lib_run_log: a run's log of events, FCMP or RASP: a stream with an entry for
-- each event: its JSON, and the bytes of all events up to it.
--
-- run_log_newest(log): the seq of the newest event, and the bytes up to it; 0
--                      and 0: there is none.
-- run_log_append(log, seq, from, n): log n events, ARGV[from], …, the first one
--                      as seq; false, and nothing is logged, unless that
--                      follows the newest one.  The oldest are removed when
--                      there are RUN_EVENTS_MAX, or RUN_EVENTS_BYTES of them.

local function run_log_newest(log)
  local entry = redis.call('XREVRANGE', log, '+', '-', 'COUNT', 1)[1]
  if not entry then return 0, 0 end
  return tonumber(string.match(entry[1], '-(%d+)$')), tonumber(entry[2][4])
end

-- The first entry before which there are so many bytes.
local function run_log_find(log, bytes)
  local from = '-'
  repeat
    local chunk = redis.call('XRANGE', log, from, '+', 'COUNT',
      RUN_EVENTS_CHUNK)
    for _, entry in ipairs(chunk) do
      if tonumber(entry[2][4]) - #entry[2][2] >= bytes then
        return tonumber(string.match(entry[1], '-(%d+)$'))
      end
      from = '(' .. entry[1]
    end
  until #chunk < RUN_EVENTS_CHUNK
  return 0
end

-- To less than the limits, so that this is not done for each event.
local function run_log_trim(log, seq, bytes)
  local least = seq - RUN_EVENTS_MAX + RUN_EVENTS_TRIM_EVERY
  local excess = bytes - RUN_EVENTS_BYTES + RUN_EVENTS_TRIM_BYTES
  if excess > 0 then least = math.max(least, run_log_find(log, excess)) end
  if least > 1 then
    redis.call('XTRIM', log, 'MINID', string.format('0-%d', least))
  end
end

local function run_log_append(log, seq, from, n)
  local newest, bytes = run_log_newest(log)
  if seq ~= newest + 1 then return false end
  local before = bytes
  for i = from, from + n - 1 do
    bytes = bytes + #ARGV[i]
    redis.call('XADD', log, string.format('0-%d', seq), 'e', ARGV[i], 'b',
      string.format('%d', bytes))
    seq = seq + 1
  end
  local last, step = seq - 1, RUN_EVENTS_TRIM_BYTES
  if last % RUN_EVENTS_TRIM_EVERY < n
    or math.floor(bytes / step) > math.floor(before / step) then
    run_log_trim(log, last, bytes)
  end
  return true
end

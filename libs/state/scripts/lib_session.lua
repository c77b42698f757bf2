-- lib_session: a session's record, read with one command and written with one.
--
-- open_session(key, field, …): the record.  known: whether it exists;
--                    fields: those read, further ones from the tenth.
-- is_followed(s):    1, a client reads its events as they come; or 0.
-- save_session(s):   write what has changed.  Nothing else may have written to
--                    the record since.
--
-- append(s, messages, max, from, chars): appends ARGV[from], … all the rest,
-- which have so many characters (0: not counted).  Returns the number of the
-- first, and how many messages and characters there are since the summary (-1:
-- not known).  Over max messages or SESSION_BYTES_MAX the oldest are removed,
-- but one message always stays.
--
-- set_open(s, field, text): what turns have left open: late, calls without a
-- result; ask, a call that waits for an approval; voice, what the soul has said
-- to itself in the last one.  '-': leave it as it is, '': delete it.
--
-- log_events(s, events, from, n, now): add n events, ARGV[from], …, to the log.
-- Returns the seq of the last; 0 if there are none or the session does not
-- exist.  Without now it does not change when the log expires.

--@include lib_clock
--@include lib_record
--@include lib_event_log

local format = string.format

local function open_session(key, ...)
  local fields = redis.call('HMGET', key, 'v', 'last', 'sumn', 'bytes',
    'chars', 'seq', 'due', 'follow', 'refreshed', ...)
  local known = fields[1] == SESSION_FORMAT
  if not known then record(key, SESSION_FORMAT) end
  local last, summarised = fields[2] or '0', fields[3] or '0'
  -- All at once: a table that grows costs more than the rest of this function.
  return { key = key, known = known, fields = fields,
    last = tonumber(last) or 0, summarised = tonumber(summarised) or 0,
    counted = summarised .. ':' .. last .. ':',
    bytes = tonumber(fields[4] or 0) or 0, chars = fields[5],
    seq = tonumber(fields[6] or 0) or 0, due = fields[7], follow = fields[8],
    refreshed = fields[9], active = false, n = 0,
    changes = { nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil, nil,
      nil, nil, nil, nil, nil, nil, nil, nil, nil } }
end

local function is_followed(s)
  return s.follow and tonumber(s.follow) > clock() and 1 or 0
end

local function change(s, field, text)
  local changes, n = s.changes, s.n
  changes[n + 1], changes[n + 2] = field, text
  s.n, s.known = n + 2, true
end

local function save_session(s)
  if s.n > 0 then
    redis.call('HSET', s.key, 'v', SESSION_FORMAT, unpack(s.changes, 1, s.n))
  end
end

-- Update the count of characters since the summary, which is of the session as
-- it was opened, for n new messages.  A count that was not up to date becomes
-- empty; session_request_summary.lua counts again where it is needed.  Returns
-- both counts.
local function count_characters(s, n, chars)
  local since, count = s.last - s.summarised
  if s.last == n then
    count = s.summarised == 0 and 0
  elseif s.chars and string.sub(s.chars, 1, #s.counted) == s.counted then
    count = tonumber(string.sub(s.chars, #s.counted + 1))
  end
  if chars > 0 and count then
    change(s, 'chars',
      format('%d:%d:%d', s.summarised, s.last, count + chars))
    return since, count + chars
  end
  if s.chars then change(s, 'chars', '') end
  return since, -1
end

local function append(s, messages, max, from, added_chars)
  local call, n = redis.call, #ARGV - from + 1
  local length = call('RPUSH', messages, unpack(ARGV, from))
  local bytes = length > n and s.bytes or 0
  local excess = math.min(length - max, length - 1)
  for i = from, #ARGV do bytes = bytes + #ARGV[i] end
  if excess > 0 then
    for _, message in ipairs(call('LPOP', messages, excess)) do
      bytes = bytes - #message
    end
    length = length - excess
  end
  while length > 1 and bytes > SESSION_BYTES_MAX do
    bytes, length = bytes - #call('LPOP', messages), length - 1
  end
  s.last = s.last + n
  change(s, 'last', format('%d', s.last))
  change(s, 'bytes', format('%d', math.max(bytes, 0)))
  local since, chars = count_characters(s, n, added_chars)
  return s.last - n + 1, since, chars
end

local function set_open(s, field, text)
  if text == '' then
    redis.call('HDEL', s.key, field)
  elseif text ~= '-' then
    change(s, field, text)
  end
end

local function log_events(s, events, from, n, now)
  if n == 0 or not s.known then return 0 end
  s.seq = s.seq + n
  if n == 1 then
    log_event(events, s.seq, n, 'e', ARGV[from])
  elseif n == 2 then
    log_event(events, s.seq, n, 'e', ARGV[from], 'e', ARGV[from + 1])
  else
    local values = {}
    for i = from, from + n - 1 do
      values[#values + 1], values[#values + 2] = 'e', ARGV[i]
    end
    log_event(events, s.seq, n, unpack(values))
  end
  -- Once a minute is enough: a command less for most turns.
  if now and now - tonumber(s.refreshed or 0) > 60000 then
    redis.call('PEXPIRE', events, "EVENTS_TTL_MS")
    change(s, 'refreshed', format('%d', now))
  end
  change(s, 'seq', format('%d', s.seq))
  return s.seq
end

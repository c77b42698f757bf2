-- lib_session: a session's record, read with one command and written with one.
--
-- open_session(key, field, …): the record.  known: whether it exists;
--                    followed_until: ms, a client reads its events as they
--                    come; more: further fields.
-- is_followed(s):    1, or 0.
-- save_session(s):   write what has changed.  Nothing else may have written to
--                    the record since.
--
-- append(s, messages, max, from): appends ARGV[from], … but the last one, which
-- is how many characters they have (0: not counted).  Returns the number of the
-- first, and how many messages and characters there are since the summary (-1:
-- not known).  Over max messages or SESSION_BYTES_MAX the oldest are removed,
-- but one message always stays.
--
-- set_pending(s, text): what turns have left open (field late); '-': leave it
-- as it is, '': delete it.
--
-- log_events(s, events, from, n): add ARGV[from], … to the log.  Returns the
-- seq of the last; 0 if there are none or the session does not exist.

--@include lib_clock
--@include lib_record
--@include lib_event_log

local function open_session(key, ...)
  local fields = redis.call('HMGET', key, 'v', 'last', 'sumn', 'bytes',
    'chars', 'seq', 'due', 'follow', 'refreshed', ...)
  local s = { key = key, known = fields[1] == SESSION_FORMAT, changes = {} }
  if not s.known then record(key, SESSION_FORMAT) end
  s.last, s.summarised = tonumber(fields[2] or '') or 0,
    tonumber(fields[3] or '') or 0
  s.bytes, s.chars = tonumber(fields[4] or '') or 0, fields[5]
  s.seq, s.due = tonumber(fields[6] or '') or 0, tonumber(fields[7] or '') or 0
  s.followed_until = tonumber(fields[8] or '') or 0
  s.refreshed = tonumber(fields[9] or '') or 0
  s.more = { unpack(fields, 10) }
  return s
end

local function is_followed(s)
  return s.followed_until > now and 1 or 0
end

local function change(s, field, value)
  local text = type(value) == 'number' and string.format('%d', value) or value
  s.known = true
  s[field] = value
  s.changes[#s.changes + 1] = field
  s.changes[#s.changes + 1] = text
end

local function save_session(s)
  if #s.changes > 0 then
    redis.call('HSET', s.key, 'v', SESSION_FORMAT, unpack(s.changes))
  end
end

-- Update the count of characters since the summary, for n new messages.  A
-- count that was not up to date becomes empty; session_request_summary.lua
-- counts again where it is needed.  Returns both counts.
local function count_characters(s, n, chars)
  local from, to, count = string.match(s.chars or '', '^(%d+):(%d+):(%d+)$')
  if s.last == n then from, to, count = 0, 0, 0 end
  if chars > 0 and tonumber(from) == s.summarised
    and tonumber(to) == s.last - n then
    change(s, 'chars',
      string.format('%d:%d:%d', s.summarised, s.last, count + chars))
    return s.last - s.summarised, count + chars
  end
  if s.chars then change(s, 'chars', '') end
  return s.last - s.summarised, -1
end

local function append(s, messages, max, from)
  local call, n = redis.call, #ARGV - from
  local length = call('RPUSH', messages, unpack(ARGV, from, #ARGV - 1))
  local bytes = length > n and s.bytes or 0
  local excess = math.min(length - tonumber(max), length - 1)
  for i = from, #ARGV - 1 do bytes = bytes + #ARGV[i] end
  if excess > 0 then
    for _, message in ipairs(call('LPOP', messages, excess)) do
      bytes = bytes - #message
    end
    length = length - excess
  end
  while length > 1 and bytes > SESSION_BYTES_MAX do
    bytes, length = bytes - #call('LPOP', messages), length - 1
  end
  change(s, 'last', s.last + n)
  change(s, 'bytes', math.max(bytes, 0))
  local since, chars = count_characters(s, n, tonumber(ARGV[#ARGV]))
  return s.last - n + 1, since, chars
end

local function set_pending(s, text)
  if text == '' then
    redis.call('HDEL', s.key, 'late')
  elseif text ~= '-' then
    change(s, 'late', text)
  end
end

local function log_events(s, events, from, n)
  if n == 0 or not s.known then return 0 end
  for i = 1, n do
    log_event(events, s.seq + i, 'e', ARGV[from + i - 1])
  end
  -- Once a minute is enough: a command less for most turns.
  if now - s.refreshed > EVENTS_TTL_MS / 60 then
    redis.call('PEXPIRE', events, "EVENTS_TTL_MS")
    change(s, 'refreshed', now)
  end
  change(s, 'seq', s.seq + n)
  return s.seq
end

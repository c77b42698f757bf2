-- lib_session_append: append messages to a session.
--
-- Needs lib_record.
--
-- append(session, messages, max, from): appends ARGV[from], … but the last
-- one, which is how many characters they have (0: not counted).  Returns the
-- number of the first, and how many messages and characters there are since the
-- summary (-1: not known).  Over max messages or SESSION_BYTES_MAX the oldest
-- are removed, but one message always stays.

-- Update the count of characters since the summary, for n new messages.  A
-- count that was not up to date is dropped; session_request_summary.lua counts
-- again where it is needed.  Returns both counts.
local function count_characters(session, n, chars)
  local fields = redis.call('HMGET', session, 'chars', 'sumn', 'last')
  local summarised, last = tonumber(fields[2] or '') or 0, tonumber(fields[3])
  local from, to, count = string.match(fields[1] or '', '^(%d+):(%d+):(%d+)$')
  if last == n then from, to, count = 0, 0, 0 end
  if chars > 0 and tonumber(from) == summarised and tonumber(to) == last - n
  then
    redis.call('HSET', session, 'chars',
      string.format('%.0f:%.0f:%.0f', summarised, last, count + chars))
    return last - summarised, count + chars
  end
  if fields[1] then redis.call('HDEL', session, 'chars') end
  return last - summarised, -1
end

local function append(session, messages, max, from)
  local call, n = redis.call, #ARGV - from
  record(session, SESSION_FORMAT)
  local before = call('LLEN', messages)
  local excess, bytes = before + n - tonumber(max), 0
  if before > 0 then
    bytes = tonumber(call('HGET', session, 'bytes') or '') or 0
  end
  for i = from, #ARGV - 1 do bytes = bytes + #ARGV[i] end
  local last = call('HINCRBY', session, 'last', n)
  call('RPUSH', messages, unpack(ARGV, from, #ARGV - 1))
  while excess > 0 or bytes > SESSION_BYTES_MAX
    and call('LLEN', messages) > 1 do
    bytes = bytes - #call('LPOP', messages)
    excess = excess - 1
  end
  call('HSET', session, 'v', SESSION_FORMAT, 'bytes', math.max(bytes, 0))
  local since, chars = count_characters(session, n, tonumber(ARGV[#ARGV]))
  return last - n + 1, since, chars
end

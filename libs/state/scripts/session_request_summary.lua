-- session_request_summary: have a long session claimed now, as if it were idle.
--
-- KEYS: session, messages, idle
-- ARGV: messages, characters (either makes it long), user:session (tokens)
-- Result: {OK, 1 if it was requested, else 0}

--@include lib_now
--@include lib_record
--@include lib_session_early

local call, key, messages = redis.call, KEYS[1], KEYS[2]
if not record(key, SESSION_FORMAT) then return { RC_OK, 0 } end
local fields = call('HMGET', key, 'sumn', 'last', 'early', 'chars')
local summarised = tonumber(fields[1] or '') or 0
local last = tonumber(fields[2] or '') or 0
local n = math.min(last - summarised, call('LLEN', messages))

-- Code points of a message's content: bytes that do not continue one.
local function characters(json)
  local ok, message = pcall(cjson.decode, json)
  local content = ok and type(message) == 'table' and message.content
  if type(content) ~= 'string' then return 0 end
  local _, count = string.gsub(content, '[^\128-\191]', '')
  return count
end

-- The stored count is out of date if another version of the program has
-- appended, or a summary has left out some messages.
local function is_long()
  if n >= tonumber(ARGV[1]) then return true end
  local from, to, count = string.match(fields[4] or '', '^(%d+):(%d+):(%d+)$')
  if tonumber(from) ~= summarised or tonumber(to) ~= last then
    count = 0
    for _, json in ipairs(n > 0 and call('LRANGE', messages, -n, -1) or {}) do
      count = count + characters(json)
    end
    call('HSET', key, 'chars',
      string.format('%.0f:%.0f:%.0f', summarised, last, count))
  end
  count = tonumber(count)
  return count >= tonumber(ARGV[2])
end

if not is_long() then return { RC_OK, 0 } end
if fields[3] and is_requested(fields[3], summarised, now) then
  return { RC_OK, 0 }
end
call('HSET', key, 'early', string.format('%.0f:%.0f', summarised, now))
call('ZADD', KEYS[3], 'LT', now, ARGV[3])
return { RC_OK, 1 }

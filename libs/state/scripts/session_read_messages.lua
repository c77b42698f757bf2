-- session_read_messages: one page of messages.
--
-- KEYS: session, messages
-- ARGV: the number before the page (negative: the newest messages), the most
--       messages, the most bytes
-- Result: {OK, number of the first, {JSON, …}}
--
-- Read in chunks, so that large messages beyond the page are not copied.

--@idempotent
--@include lib_record

local call, messages = redis.call, KEYS[2]
record(KEYS[1], SESSION_FORMAT)
local after, max, room = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local last = tonumber(call('HGET', KEYS[1], 'last') or '') or 0
local first = last - call('LLEN', messages) + 1
local from, to = math.max(first, after + 1), last
if after < 0 then
  from = math.max(first, last - max + 1)
else
  to = math.min(last, from + max - 1)
end

local page = {}
local function add(message)
  room = room - #message
  if room < 0 and #page > 0 then return false end
  page[#page + 1] = message
  return true
end

if after >= 0 then
  for a = from, to, SESSION_CHUNK do
    local z = math.min(to, a + SESSION_CHUNK - 1)
    for _, message in ipairs(call('LRANGE', messages, a - first, z - first)) do
      if not add(message) then return { RC_OK, from, page } end
    end
  end
  return { RC_OK, from, page }
end

local function add_newest()
  for z = to, from, -SESSION_CHUNK do
    local a = math.max(from, z - SESSION_CHUNK + 1)
    local chunk = call('LRANGE', messages, a - first, z - first)
    for i = #chunk, 1, -1 do
      if not add(chunk[i]) then return end
    end
  end
end
add_newest()
local n, reversed = #page, {}
for i = 1, n do reversed[i] = page[n + 1 - i] end
return { RC_OK, to - n + 1, reversed }

-- session_read_events: one page of a session's events.
--
-- KEYS: session, events
-- ARGV: the seq before the page, the most events, the most bytes
-- Result: {OK, newest seq, more (0, 1), {seq, JSON or nil, lost turn or nil, at
--         (ms), acted (0, 1), …}}

--@idempotent
--@include lib_record

local call, events = redis.call, KEYS[2]
record(KEYS[1], SESSION_FORMAT)
local newest = tonumber(call('HGET', KEYS[1], 'seq') or '') or 0
local after, max, room = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local page, more, n = {}, 0, 0

local function add(entry)
  local fields = {}
  for i = 1, #entry[2], 2 do fields[entry[2][i]] = entry[2][i + 1] end
  room = room - #(fields.e or '')
  if n == max or room < 0 and n > 0 then
    more = 1
    return false
  end
  n = n + 1
  after = string.match(entry[1], '-(%d+)$')
  for _, value in ipairs({ tonumber(after), fields.e or false,
    fields.lost or false, tonumber(fields.at or '') or 0,
    fields.acted == '1' and 1 or 0 }) do
    page[#page + 1] = value
  end
  return true
end

local function read()
  repeat
    local chunk = call('XRANGE', events, '(0-' .. after, '+', 'COUNT',
      EVENTS_CHUNK)
    for _, entry in ipairs(chunk) do
      if not add(entry) then return end
    end
  until #chunk < EVENTS_CHUNK
end
read()
return { RC_OK, newest, more, page }

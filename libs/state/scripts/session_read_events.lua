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
local after, max, room = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local page, more, n = {}, 0, 0

local function add(seq, event, lost, at, acted)
  room = room - #(event or '')
  if n == max or room < 0 and n > 0 then
    more = 1
    return false
  end
  n, after = n + 1, seq
  for _, value in ipairs({ seq, event, lost, at, acted }) do
    page[#page + 1] = value
  end
  return true
end

-- An entry has a lost turn, or events of which its seq is the last one's.
local function add_entry(seq, values)
  if values[1] ~= 'e' then
    return add(seq, false, values[2], tonumber(values[4] or '') or 0,
      values[6] == '1' and 1 or 0)
  end
  for i = 2, #values, 2 do
    local number = seq - (#values - i) / 2
    if number > after and not add(number, values[i], false, 0, 0) then
      return false
    end
  end
  return true
end

local function read()
  repeat
    local chunk = call('XRANGE', events, string.format('(0-%d', after), '+',
      'COUNT', EVENTS_CHUNK)
    for _, entry in ipairs(chunk) do
      local seq = tonumber(string.match(entry[1], '-(%d+)$'))
      if not add_entry(seq, entry[2]) then return end
    end
  until #chunk < EVENTS_CHUNK
end
read()
return { RC_OK, newest, more, page }

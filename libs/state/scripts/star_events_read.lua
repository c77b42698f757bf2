-- star_events_read: one page of an environment's events.
--
-- KEYS: client (the environment), events
-- ARGV: the seq before the page, the most events, the most bytes
-- Result: {OK, newest seq, more (0, 1), {seq, generation, JSON, …}}

--@idempotent
--@include lib_record

local call, page, n, more = redis.call, {}, 0, 0
record(KEYS[1], STAR_FORMAT)
local newest = tonumber(call('HGET', KEYS[1], 'seq') or '') or 0
local after, max, room = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])

local function add(entry)
  local json = entry[2][4] or ''
  room = room - #json
  if n == max or room < 0 and n > 0 then
    more = 1
    return false
  end
  n, after = n + 1, string.match(entry[1], '-(%d+)$')
  page[#page + 1] = tonumber(after)
  page[#page + 1] = tonumber(entry[2][2] or '') or 0
  page[#page + 1] = json
  return true
end

local function read()
  repeat
    local chunk = call('XRANGE', KEYS[2], '(0-' .. after, '+', 'COUNT',
      STAR_EVENTS_CHUNK)
    for _, entry in ipairs(chunk) do
      if not add(entry) then return end
    end
  until #chunk < STAR_EVENTS_CHUNK
end
read()
return { RC_OK, newest, more, page }

-- terminal_read_binding: a terminal's binding, and what its soul must know.
--
-- KEYS: terminal
-- ARGV: ttl of snapshots (ms)
-- Result: {OK, user or nil, soul or nil, generation or nil, broker or nil,
--         until when it is present (ms; 0: it is not), now (ms), the user's
--         soul before or nil}

--@idempotent
--@include lib_now
--@include lib_record

record(KEYS[1], TERMINAL_FORMAT)
local fields = redis.call('HMGET', KEYS[1], 'u', 's', 'bg', 'b', 'on', 'seen',
  'ps')
local ends = (tonumber(fields[6] or '') or 0) + tonumber(ARGV[1])
if fields[5] ~= '1' or not fields[6] or ends <= now then ends = 0 end
return { RC_OK, fields[1], fields[2], fields[3], fields[4], ends, now,
  fields[7] }

-- terminal_read: read a terminal's record.
--
-- KEYS: terminal
-- ARGV: ttl of snapshots (ms), 'ct' to read the catalog, else ''
-- Result: {OK, known, present, {fields}, bytes of the catalog}

--@idempotent
--@include lib_now
--@include lib_record

local known = record(KEYS[1], TERMINAL_FORMAT)
local fields = redis.call('HMGET', KEYS[1], 'seen', 'b', 'sv', 'sk', 'cv',
  ARGV[2], 'ch', 'hint', 'u', 's', 'on',
  'ref:o', 'ref:h', 'ref:s', 'ref:c', 'ref:r')
local seen = tonumber(fields[1] or '') or 0
local present = fields[11] == '1' and seen > 0
  and now - seen < tonumber(ARGV[1])
return { RC_OK, known and 1 or 0, present and 1 or 0, fields,
  redis.call('HSTRLEN', KEYS[1], 'ct') }

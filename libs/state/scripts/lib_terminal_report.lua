-- lib_terminal_report: what all reports of terminals have in common.
--
-- KEYS: terminal
-- ARGV: broker, epoch, ttl (ms), replayed (0, 1), …
--
-- Ends the script with {NOENT} if the terminal's identity was revoked, and with
-- {DENIED} if a newer epoch of this broker has written.
--
-- was_present: before this report.
-- recent:      its last sign of life is younger than the ttl.
-- here:        no other broker has reported it.
-- touch(on):   record the epoch, and on ('0', '1') unless nil.
-- alive():     this report is a sign of life.
-- result(code, present, version, differs): what the script returns: {code,
--              presence changed, present, version, whether the snapshot
--              changed, user or nil, soul or nil, now, until when it is present
--              or 0, 1 if it is at this broker, else 0}.
--
-- Whatever may fail (a key of another type) comes before the first write.

--@include lib_now
--@include lib_record

local format = TERMINAL_FORMAT
local call, key, broker, epoch = redis.call, KEYS[1], ARGV[1], ARGV[2]
local epoch_field = 'e:' .. broker
local fields = call('HMGET', key, 'on', 'seen', 'b', 'u', epoch_field, 'v',
  'gone', 'ref:h', 's')
if fields[7] then return { RC_NOENT } end
if fields[6] ~= format then record(key, format) end
if fields[5] and (tonumber(fields[5]) or 0) > tonumber(epoch) then
  return { RC_DENIED }
end
local replayed = ARGV[4] == '1'
local here = not fields[3] or fields[3] == broker
local seen = tonumber(fields[2] or '') or 0
local recent = seen > 0 and now - seen < tonumber(ARGV[3])
local was_present = fields[1] == '1' and recent

local function touch(on)
  call('HSET', key, 'v', format, epoch_field, epoch)
  if not fields[3] then call('HSET', key, 'b', broker) end
  if on then call('HSET', key, 'on', on) end
end

local function alive()
  if fields[1] == '1' and fields[3] == broker and fields[5] == epoch then
    call('HSET', key, 'seen', now)
  else
    call('HSET', key, 'v', format, epoch_field, epoch, 'on', '1', 'seen', now,
      'b', broker)
  end
  seen, here = now, true
end

local function result(code, present, version, differs)
  return { code, was_present ~= present and 1 or 0, present and 1 or 0,
    version or 0, differs or 0, fields[4], fields[9], now,
    present and seen + tonumber(ARGV[3]) or 0, here and 1 or 0 }
end

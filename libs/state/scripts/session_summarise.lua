-- session_summarise: store a summary and the job that results from it.
--
-- KEYS: session
-- ARGV: summary, number of the last message in the previous summary, in this
--       one, job or ''
-- Result: OK, NOENT, CONFLICT if another summary was stored, the last job is
--         not done, or there is no such message

--@include lib_record

local call, key = redis.call, KEYS[1]
local after, number = tonumber(ARGV[2]), tonumber(ARGV[3])
if not record(key, SESSION_FORMAT) then return RC_NOENT end
local fields = call('HMGET', key, 'sumn', 'last', 'job')
if (tonumber(fields[1] or '') or 0) ~= after or fields[3]
  or (tonumber(fields[2] or '') or 0) < number then
  return RC_CONFLICT
end
call('HSET', key, 'sum', ARGV[1], 'sumn', ARGV[3])
if tonumber(fields[2]) == number then
  call('HSET', key, 'chars', string.format('%.0f:%.0f:0', number, number))
end
if ARGV[4] ~= '' then call('HSET', key, 'job', ARGV[4]) end
return RC_OK

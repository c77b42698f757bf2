-- run_assign: a queued run gets another runner.
--
-- KEYS: run, due
-- ARGV: the runner that it has, the other one
-- Result: OK, CONFLICT unless it is queued there for its first attempt, NOENT

--@include lib_now
--@include lib_record

local call, run = redis.call, KEYS[1]
if not record(run, RUN_FORMAT) then return RC_NOENT end
local f = call('HMGET', run, 'state', 'runner', 'attempt', 'resumes')
if f[1] ~= 'queued' or f[2] ~= ARGV[1] or f[3] ~= '0' or f[4] then
  return RC_CONFLICT
end
call('HSET', run, 'runner', ARGV[2])
call('ZADD', KEYS[2], string.format('%d', now + RUN_QUEUED_MS),
  string.match(run, '}:([^:]+)$'))
return RC_OK

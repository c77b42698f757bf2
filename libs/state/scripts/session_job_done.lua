-- session_job_done: delete a session's job, if it is this one.
--
-- KEYS: session
-- ARGV: job
-- Result: OK

if redis.call('HGET', KEYS[1], 'job') == ARGV[1] then
  redis.call('HDEL', KEYS[1], 'job')
end
return RC_OK

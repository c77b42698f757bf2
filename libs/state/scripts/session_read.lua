-- session_read: read a session's record.
--
-- KEYS: session
-- Result: {OK, known (0, 1), {soul, terminal, summary, number of its last
--         message, active, job, pending, approval}}

--@idempotent
--@include lib_record

local known = record(KEYS[1], SESSION_FORMAT)
return { RC_OK, known and 1 or 0, redis.call('HMGET', KEYS[1], 'soul', 'term',
  'sum', 'sumn', 'active', 'job', 'late', 'ask') }

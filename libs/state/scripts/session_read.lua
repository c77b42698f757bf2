-- session_read: read a session's record.
--
-- KEYS: session
-- Result: {OK, known (0, 1), {soul, terminal, summary, number of its last
--         message, active, job, pending, approval, inner voice}, {JSON, …}}:
--         the notes of its runs (lib_run_notes)
-- Computed keys: the user's notes.

--@idempotent
--@include lib_record
--@include lib_bucket
--@include lib_run_notes

local user, session = string.match(KEYS[1], '}:([^:]*):([^:]*)$')
local known = record(KEYS[1], SESSION_FORMAT)
return { RC_OK, known and 1 or 0, redis.call('HMGET', KEYS[1], 'soul', 'term',
  'sum', 'sumn', 'active', 'job', 'late', 'ask', 'voice'),
  read_notes(bucket_key(KEY_USER_RUN_NOTES_PRE, user, KEY_USER_RUN_NOTES_POST),
    session) }

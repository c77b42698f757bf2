-- run_notes_read: what has become of runs that a session is to report.
--
-- KEYS: the user's notes
-- ARGV: session (token)
-- Result: {OK, {JSON, …}}, the oldest run first

--@idempotent
--@include lib_run_notes

return { RC_OK, read_notes(KEYS[1], ARGV[1]) }

-- run_newest_event: the seq of a run's newest event.
--
-- KEYS: events
-- Result: {OK, seq; 0: none}

--@idempotent
--@include lib_run_log

return { RC_OK, (run_log_newest(KEYS[1])) }

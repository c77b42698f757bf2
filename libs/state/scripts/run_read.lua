-- run_read: a run's record.
--
-- KEYS: run, events, rasp
-- Result: {OK, {fields (lib_run)}}, {NOENT}

--@idempotent
--@include lib_run

if not record(run, RUN_FORMAT) then return { RC_NOENT } end
return { RC_OK, run_fields() }

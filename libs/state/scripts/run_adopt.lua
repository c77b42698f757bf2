-- run_adopt: a process becomes a run's writer.
--
-- KEYS: run, events, rasp
-- ARGV: the epoch that it had
-- Result: {OK, {fields (lib_run)}}, {CONFLICT} if it has another one, or has
--         ended, {NOENT}

--@include lib_run

if not record(run, RUN_FORMAT) then return { RC_NOENT } end
local f = call('HMGET', run, 'epoch', 'ended')
if f[1] ~= ARGV[1] or f[2] then return { RC_CONFLICT } end
call('HINCRBY', run, 'epoch', 1)
return { RC_OK, run_fields() }

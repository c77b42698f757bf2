-- run_claim: a runner begins the next attempt of a run.
--
-- KEYS: run, events, rasp, due
-- ARGV: runner
-- Result: {OK, {fields (lib_run)}}, {CONFLICT} unless it is queued there and
--         not to be canceled, {NOENT}

--@include lib_now
--@include lib_run

if not record(run, RUN_FORMAT) then return { RC_NOENT } end
local f = call('HMGET', run, 'state', 'runner', 'cancel')
if f[1] ~= 'queued' or f[2] ~= ARGV[1] or f[3] then return { RC_CONFLICT } end
call('HINCRBY', run, 'epoch', 1)
call('HINCRBY', run, 'attempt', 1)
call('HSET', run, 'state', 'running', 'pf', '0', 'pr', '0', 'changed',
  string.format('%d', now))
call('ZADD', KEYS[4], string.format('%d', now + RUN_RUNNING_MS), run_id)
return { RC_OK, run_fields() }

-- run_delete: delete a run, with its logs.
--
-- KEYS: run, events, rasp, due, the user's active runs, workspace, the user's
--       runs, their notes
-- ARGV: user (token), whether one that has not ended, too (0, 1)
-- Result: OK, CONFLICT if it has not ended, NOENT

--@include lib_run
--@include lib_run_note

if not run_is_of(ARGV[1]) then return RC_NOENT end
if ARGV[2] == '0' and not call('HGET', run, 'ended') then return RC_CONFLICT end
set_note(KEYS[8], false)
call('DEL', run, KEYS[2], KEYS[3])
call('ZREM', KEYS[4], run_id)
call('SREM', KEYS[5], run_id)
call('HDEL', KEYS[6], run_id)
call('ZREM', KEYS[7], run_id)
return RC_OK

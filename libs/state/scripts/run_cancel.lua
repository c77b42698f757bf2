-- run_cancel: it is requested that a run ends.
--
-- KEYS: run, events, rasp, due
-- ARGV: user (token)
-- Result: {OK, {fields (lib_run)}}, {NOENT}

--@idempotent
--@include lib_now
--@include lib_run

if not run_is_of(ARGV[1]) then return { RC_NOENT } end
local f = call('HMGET', run, 'ended', 'cancel')
if not f[1] and not f[2] then
  call('HSET', run, 'cancel', '1')
  call('ZADD', KEYS[4], string.format('%d', now), run_id)
end
return { RC_OK, run_fields() }

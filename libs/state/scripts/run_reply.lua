-- run_reply: the user answers a run's question.
--
-- KEYS: run, events, rasp, due, the user's active runs, the notes of the user's
--       runs
-- ARGV: user (token), question, idempotency key's token or "-", content
-- Result: {OK, {fields (lib_run)}, 1 if it was answered so before, else 0},
--         {CONFLICT, why}, {NOENT}

--@include lib_now
--@include lib_run
--@include lib_run_note

if not run_is_of(ARGV[1]) then return { RC_NOENT } end
local ix, key, content = ARGV[2], ARGV[3], ARGV[4]
local this = key .. ' ' .. redis.sha1hex(content)
local f = call('HMGET', run, 'state', 'ix', 'cancel', 'r:' .. ix, 'k:' .. key)
if key ~= '-' and f[5] then
  if f[5] ~= ix or f[4] ~= this then return { RC_CONFLICT, 'key_reused' } end
  return { RC_OK, run_fields(), 1 }
end
if f[4] then return { RC_CONFLICT, 'stale_interaction' } end
if f[1] ~= 'waiting_user' or f[3] then return { RC_CONFLICT, 'not_waiting' } end
if f[2] ~= ix then return { RC_CONFLICT, 'stale_interaction' } end
call('HSET', run, 'state', 'queued', 'reply', content, 'rix', ix, 'r:' .. ix,
  this, 'changed', string.format('%d', now))
if key ~= '-' then call('HSET', run, 'k:' .. key, ix) end
run_active(KEYS[5], 'queued')
set_note(KEYS[6], false)
call('ZADD', KEYS[4], string.format('%d', now + RUN_QUEUED_MS), run_id)
return { RC_OK, run_fields(), 0 }

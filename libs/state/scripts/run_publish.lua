-- run_publish: append events to a run's logs, and change its state.
--
-- KEYS: run, events, rasp, due, the user's active runs, workspace, the user's
--       runs, their notes
-- ARGV: packed: epoch, events of this attempt in each log before, how many
--       follow, state from now on, handle, question's id, ms to reply or to
--       store, whether there are facts (0, 1), a question, a reply, a note;
--       these texts; events …
-- Result: {OK, events of this attempt in each log}, {RETRY, the same} if there
--         were others before, {CONFLICT, the same} if the caller is not the
--         writer any more, {NOENT}
--
-- What was executed before is executed only once: the counts say so.

--@idempotent
--@include lib_now
--@include lib_run
--@include lib_run_note

if not record(run, RUN_FORMAT) then return { RC_NOENT } end
local epoch, pf, pr, nf, nr, state, handle, ix, ms, has_facts, has_question,
  has_reply, has_note = cmsgpack.unpack(ARGV[1])
local f = call('HMGET', run, 'epoch', 'state', 'pf', 'pr', 'cancel', 'ix')
local is_f, is_r = tonumber(f[3]), tonumber(f[4])

local function result(code) return { code, is_f, is_r } end

if tonumber(f[1]) ~= epoch then return result(RC_CONFLICT) end
local ends = run_is_end(state)
if is_f == pf + nf and is_r == pr + nr and f[2] == state
  and (ends or nf + nr > 0) then
  return result(RC_OK)
end
local before = f[2]
local follows = not run_is_end(before) and (ends or before == state
  or before == 'running' and state == 'waiting_user'
  or before == 'waiting_user' and state == 'queued' and has_reply == 1)
if not follows then return result(RC_CONFLICT) end
if is_f ~= pf or is_r ~= pr then return result(RC_RETRY) end

local texts = 2
local function text(has)
  if has == 0 then return false end
  texts = texts + 1
  return ARGV[texts - 1]
end
local facts, ask, reply = text(has_facts), text(has_question), text(has_reply)
local note = text(has_note)
local from = texts
local last_f, last_r = run_log_newest(KEYS[2]), run_log_newest(KEYS[3])
if nf > 0 then run_log_append(KEYS[2], last_f + 1, from, nf) end
if nr > 0 then run_log_append(KEYS[3], last_r + 1, from + nf, nr) end

local at = string.format('%d', now)
local change = { 'pf', pf + nf, 'pr', pr + nr }
local function set(field, value)
  if not value then return end
  change[#change + 1], change[#change + 2] = field, value
end
set('handle', handle ~= '' and handle)
set('facts', facts)
if before ~= state then
  set('state', state)
  set('changed', at)
  run_active(KEYS[5], state)
end
if state == 'waiting_user' and before ~= state then
  local deadline = string.format('%d', now + ms)
  set('ix', ix)
  set('ask', ask)
  set('until', deadline)
  call('ZADD', KEYS[4], f[5] and at or deadline, run_id)
elseif state == 'queued' and before ~= state then
  set('reply', reply)
  set('rix', f[6])
  set('r:' .. (f[6] or ''), '- ' .. redis.sha1hex(reply))
  call('ZADD', KEYS[4], string.format('%d', now + RUN_QUEUED_MS), run_id)
elseif ends then
  set('ended', at)
end
call('HSET', run, unpack(change))
if before ~= state then set_note(KEYS[8], note) end
if ends then
  call('ZREM', KEYS[4], run_id)
  call('HSET', KEYS[6], run_id, '0')
  for _, key in ipairs({ run, KEYS[2], KEYS[3], KEYS[6] }) do
    call('PEXPIRE', key, string.format('%d', ms))
  end
  call('PEXPIRE', KEYS[7], string.format('%d', ms + RUN_LIST_MORE_MS))
end
is_f, is_r = pf + nf, pr + nr
return result(RC_OK)

-- run_create: store a queued run.
--
-- KEYS: run, the user's runs, its active ones, due, workspace, the run to be
--       resumed (its own key: none), idempotency key (its own key: none)
-- ARGV: packed: user (token), tenant, engine, mode, title, runner, resumes,
--       workspace, the most active runs, the most stored ones, session
--       (token) or ''; spec
-- Result: {OK, id, 1 if the key had started it before, else 0},
--         {CONFLICT, why, id or nil; nil: there is a run of this id}, {NOENT}
--         if the run to be resumed is not the user's, {RETRY} if there are too
--         many
-- Computed keys: the run that the key has started, those that may have expired.

--@include lib_bucket
--@include lib_now
--@include lib_record

local call, run, runs = redis.call, KEYS[1], KEYS[2]
local run_id = string.match(run, '}:([^:]+)$')
local user, tenant, engine, mode, title, runner, resumes, ws, most_active,
  most_stored, session = cmsgpack.unpack(ARGV[1])
local digest = redis.sha1hex(ARGV[2])
local has_key, handle = KEYS[7] ~= run, false

if record(run, RUN_FORMAT) then return { RC_CONFLICT, false } end
if has_key then
  local first = call('GET', KEYS[7])
  local id, same = string.match(first or '', '^(%S+) (%S+)$')
  if id and call('EXISTS', bucket_key(KEY_RUN_PRE, id)) == 1 then
    if same ~= digest then return { RC_CONFLICT, 'key_reused' } end
    return { RC_OK, id, 1 }
  end
end
if resumes ~= '' then
  if not record(KEYS[6], RUN_FORMAT) then return { RC_NOENT } end
  local of = call('HMGET', KEYS[6], 'u', 'engine', 'ended', 'handle', 'runner',
    'ws')
  if of[1] ~= user then return { RC_NOENT } end
  if of[2] ~= engine or not of[3] or not of[4] or of[6] ~= ws then
    return { RC_CONFLICT, 'run_not_resumable' }
  end
  handle, runner = of[4], of[5] or runner
end
local uses = call('HGETALL', KEYS[5])
for i = 2, #uses, 2 do
  if uses[i] == '1' then return { RC_CONFLICT, 'run_busy', uses[i - 1] } end
end
if call('SCARD', KEYS[3]) >= most_active then return { RC_RETRY } end
local stored, expired = call('ZCARD', runs), {}
if stored >= most_stored then
  for _, id in ipairs(call('ZRANGEBYLEX', runs, '-', '+', 'LIMIT', 0, 100)) do
    if call('EXISTS', bucket_key(KEY_RUN_PRE, id)) == 0 then
      expired[#expired + 1] = id
    end
  end
  if stored - #expired >= most_stored then return { RC_RETRY } end
end

local at = string.format('%d', now)
call('HSET', run, 'v', RUN_FORMAT, 'u', user, 't', tenant, 'engine', engine,
  'mode', mode, 'title', title, 'spec', ARGV[2], 'state', 'queued', 'attempt',
  '0', 'runner', runner, 'epoch', '0', 'pf', '0', 'pr', '0', 'ws', ws,
  'created', at, 'changed', at)
if resumes ~= '' then
  call('HSET', run, 'resumes', resumes, 'handle', handle)
end
if session ~= '' then call('HSET', run, 's', session) end
if #expired > 0 then call('ZREM', runs, unpack(expired)) end
call('ZADD', runs, '0', run_id)
call('PERSIST', runs)
call('SADD', KEYS[3], run_id)
call('ZADD', KEYS[4], string.format('%d', now + RUN_QUEUED_MS), run_id)
call('HSET', KEYS[5], run_id, '1')
call('PERSIST', KEYS[5])
if has_key then
  call('SET', KEYS[7], run_id .. ' ' .. digest, 'PX', "RUN_KEY_TTL_MS")
end
return { RC_OK, run_id, 0 }

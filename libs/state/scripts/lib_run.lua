-- lib_run: a run's record.
--
-- KEYS: run, events, rasp, …
--
-- run_id:              the id, from the key.
-- run_fields():        all fields of the record, in the order of run.c, and the
--                      numbers of the newest events of both logs.
-- run_is_of(user):     whether it exists and is the user's (token).
-- run_is_end(state):   whether a run of this state has ended.
-- run_active(set, state): the set of the user's queued and running runs has it,
--                      or not.

--@include lib_record
--@include lib_run_log

local call, run = redis.call, KEYS[1]
local run_id = string.match(run, '}:([^:]+)$')

local function run_fields()
  local list = call('HMGET', run, 'u', 't', 'engine', 'mode', 'title', 'state',
    'attempt', 'runner', 'epoch', 'handle', 'pf', 'pr', 'ix', 'until', 'cancel',
    'facts', 'resumes', 'ws', 'created', 'changed', 'ended', 'spec', 'ask',
    'reply', 'rix', 's')
  list[27] = (run_log_newest(KEYS[2]))
  list[28] = (run_log_newest(KEYS[3]))
  return list
end

local function run_is_of(user)
  return record(run, RUN_FORMAT) and call('HGET', run, 'u') == user
end

local function run_is_end(state)
  return state == 'succeeded' or state == 'failed' or state == 'canceled'
end

local function run_active(set, state)
  if state == 'queued' or state == 'running' then
    call('SADD', set, run_id)
  else
    call('SREM', set, run_id)
  end
end

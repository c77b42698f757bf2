-- lib_run_note: what has become of a run, for the next turn of the session that
-- is to report it.
--
-- Needs lib_run.
--
-- set_note(notes, json): of this run, instead of the one before; false: none.
-- Of too many the oldest are removed: ids of runs begin with their time.

local function set_note(notes, json)
  local session = call('HGET', run, 's')
  if not session then return end
  local field = session .. ' ' .. run_id
  if not json then
    call('HDEL', notes, field)
    return
  end
  call('HSET', notes, field, json)
  call('PEXPIRE', notes, "RUN_NOTES_TTL_MS")
  if call('HLEN', notes) <= RUN_NOTES_MAX then return end
  local oldest, first
  for _, name in ipairs(call('HKEYS', notes)) do
    local id = string.match(name, ' (.*)$')
    if not first or id < first then oldest, first = name, id end
  end
  call('HDEL', notes, oldest)
end

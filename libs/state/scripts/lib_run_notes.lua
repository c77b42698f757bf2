-- lib_run_notes: what a session is to report of its runs.
--
-- read_notes(notes, session): those in notes (key) of the session (token), or
-- of any, '*', the oldest run first; none if they cannot be read now.

local function read_notes(notes, session)
  local all, ids, of = redis.pcall('HGETALL', notes), {}, {}
  for i = 1, #all, 2 do
    local name, id = string.match(all[i], '^(%S+) (.*)$')
    if name == session or name == '*' then
      ids[#ids + 1], of[id] = id, all[i + 1]
    end
  end
  table.sort(ids)
  local list = {}
  for i, id in ipairs(ids) do list[i] = of[id] end
  return list
end

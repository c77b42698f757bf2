-- run_notes_read: what has become of runs that a session is to report.
--
-- KEYS: the user's notes
-- ARGV: session (token)
-- Result: {OK, {JSON, …}}, the oldest run first

--@idempotent

local all, ids, of = redis.call('HGETALL', KEYS[1]), {}, {}
for i = 1, #all, 2 do
  local session, id = string.match(all[i], '^(%S+) (.*)$')
  if session == ARGV[1] then
    ids[#ids + 1], of[id] = id, all[i + 1]
  end
end
table.sort(ids)
local list = {}
for i, id in ipairs(ids) do list[i] = of[id] end
return { RC_OK, list }

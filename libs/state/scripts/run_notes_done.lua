-- run_notes_done: a session has reported what has become of its runs.
--
-- KEYS: the user's notes
-- ARGV: session (token), JSON …: as they were read; one that has changed since
--       stays
-- Result: OK

--@idempotent

local done = {}
for i = 2, #ARGV do done[ARGV[i]] = true end
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local session = string.match(all[i], '^%S+')
  if done[all[i + 1]] and (session == ARGV[1] or session == '*') then
    redis.call('HDEL', KEYS[1], all[i])
  end
end
return RC_OK

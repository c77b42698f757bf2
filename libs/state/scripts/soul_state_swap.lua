-- soul_state_swap: compare and set the states of many souls, and log changes.
--
-- KEYS: state, …, then the logs of those with an entry
-- ARGV: how many states, the most entries of a log, their lifetime (ms)
--       of each state the head it must have (format and version), new string,
--       entry or ''
-- Result: {1 if it was set, else 0, …}
--
-- One script for all, because Redis flushes its append-only file between the
-- parts of a pipeline; and two calls for all states, because each costs more
-- than what it does.  What is no string does not exist for MGET, and what is no
-- log is left as it is.

--@include lib_now

local call, sub, n = redis.call, string.sub, tonumber(ARGV[1])
local stored = call('MGET', unpack(KEYS, 1, n))
local swapped, set, changes, log = {}, {}, {}, n
local changed = {} -- by key, which may be there twice
for i = 1, n do
  local key, new, entry = KEYS[i], ARGV[3 * i + 2], ARGV[3 * i + 3]
  local state = changed[key] or stored[i]
  if entry ~= '' then log = log + 1 end
  if state and sub(state, 1, 9) == ARGV[3 * i + 1] then
    changed[key] = new
    set[#set + 1] = key
    set[#set + 1] = new
    if entry ~= '' then changes[#changes + 1] = { KEYS[log], entry } end
    swapped[i] = 1
  else
    swapped[i] = 0
  end
end
if #set > 0 then call('MSET', unpack(set)) end
local oldest = string.format('%.0f', now - tonumber(ARGV[3]))
for _, change in ipairs(changes) do
  local key = change[1]
  local id = redis.pcall('XADD', key, 'MAXLEN', ARGV[2], '*', 'e', change[2])
  if type(id) == 'string' then
    call('XTRIM', key, 'MINID', oldest)
    call('PEXPIRE', key, ARGV[3])
  end
end
return swapped

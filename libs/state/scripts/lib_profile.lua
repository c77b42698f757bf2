-- lib_profile: a profile as its leaves.
--
-- KEYS: profile
--
-- set_at, value: when a leaf was set (ms), and to what, by path.  The value ''
--                is a tombstone: here and below, nothing older.
-- below:         by path, the paths below it, some of them removed by now; so
--                that nothing has to scan all paths.
-- low:           changes older than this (ms) are ignored.
-- changed:       the paths that a script has changed.
-- parent(path):  nil at the top.
-- set(path, ms, value): nil, nil removes it.

--@include lib_now
--@include lib_record

local call, profile = redis.call, KEYS[1]
record(profile, PROFILE_FORMAT)
local set_at, value, below, low, changed = {}, {}, {}, 0, {}

local function parent(path)
  local up = string.match(path, '^(.+)/[^/]*$')
  return up
end

local function set(path, ms, new)
  local up = not set_at[path] and parent(path)
  while up do
    local list = below[up]
    if list then list[#list + 1] = path else below[up] = { path } end
    up = parent(up)
  end
  set_at[path] = ms
  value[path] = new
  changed[path] = true
end

local hash = call('HGETALL', profile)
for i = 1, #hash, 2 do
  if hash[i] == 'low' then
    low = tonumber(hash[i + 1])
  elseif hash[i] ~= 'v' then
    local ms, text = string.match(hash[i + 1], '^(%d+) (.*)$')
    if not ms then error({ err = 'FORMAT ' .. profile }) end
    set(hash[i], tonumber(ms), text)
  end
end
changed = {}

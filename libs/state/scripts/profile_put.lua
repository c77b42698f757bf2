-- profile_put: carry out changes of a profile's leaves.
--
-- KEYS: profile
-- ARGV: when the changes were made (ms; 0 or in the future: now), lifetime of
--       tombstones (ms), the most tombstones, the most leaves, the most bytes,
--       path, value ('': remove), …
-- Result: {OK, 1, or 0 if it would be too large; nothing is changed then}

--@include lib_profile
--@include lib_profile_save

local ms = tonumber(ARGV[1])
if ms == 0 or ms > now then ms = now end
if ms < low then return { RC_OK, 1 } end

-- False if something above the path is younger than the change.  Otherwise the
-- values above it become tombstones, as the path makes objects of them.
local function open_parents(path)
  local parents, up = {}, parent(path)
  while up do
    if set_at[up] and set_at[up] > ms then return false end
    if set_at[up] and value[up] ~= '' then parents[#parents + 1] = up end
    up = parent(up)
  end
  for _, up in ipairs(parents) do set(up, set_at[up], '') end
  return true
end

for i = 6, #ARGV, 2 do
  local path, new = ARGV[i], ARGV[i + 1]
  if open_parents(path) and (set_at[path] or 0) <= ms then
    -- Younger leaves below make an object of the path.
    if remove_below(path, ms) then new = '' end
    set(path, ms, new)
  end
end

local leaves, bytes = 0, 0
for path, text in pairs(value) do
  if text ~= '' then
    leaves = leaves + 1
    bytes = bytes + #path + #text
  end
end
if leaves > tonumber(ARGV[4]) or bytes > tonumber(ARGV[5]) then
  return { RC_OK, 0 }
end
save(tonumber(ARGV[2]), tonumber(ARGV[3]))
return { RC_OK, 1 }

-- lib_profile_save: change a profile and write it.
--
-- Needs lib_profile.
--
-- remove_below(path, ms): remove what lies below the path unless it is younger.
--                         Returns whether something is.
-- save(ttl, max): drop tombstones that are older than ttl ms or more than max,
--                 and write what has changed.

local function remove_below(path, ms)
  local younger = false
  for _, child in ipairs(below[path] or {}) do
    if set_at[child] and set_at[child] > ms then
      younger = true
    elseif set_at[child] then
      set(child, nil, nil)
    end
  end
  return younger
end

local function save(ttl, max)
  if not next(changed) then return end
  local tombstones, live = {}, false
  for path, text in pairs(value) do
    if text == '' then tombstones[#tombstones + 1] = path else live = true end
  end
  table.sort(tombstones, function(a, b) return set_at[a] > set_at[b] end)
  for i, path in ipairs(tombstones) do
    if i > max or set_at[path] < now - ttl then
      low = math.max(low, set_at[path])
      set(path, nil, nil)
    end
  end
  for path in pairs(changed) do
    if not value[path] then
      call('HDEL', profile, path)
    else
      call('HSET', profile, path,
        string.format('%.0f ', set_at[path]) .. value[path])
    end
  end
  call('HSET', profile, 'v', PROFILE_FORMAT)
  call('HSET', profile, 'low', string.format('%.0f', low))
  if live then call('PERSIST', profile) else call('PEXPIRE', profile, ttl) end
end

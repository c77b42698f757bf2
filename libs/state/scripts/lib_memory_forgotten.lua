-- lib_memory_forgotten: memories that must not come back.
--
-- Needs lib_memory.
--
-- is_forgotten(id, made): whether it was forgotten, alone or with all others,
-- since it was made (ms).

local function is_forgotten(id, made)
  local cleared = tonumber(call('HGET', memory, 'cleared') or '') or -1
  return tonumber(made) < cleared or call('ZSCORE', KEYS[4], id)
end

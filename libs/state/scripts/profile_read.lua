-- profile_read: all leaves of a profile.
--
-- KEYS: profile
-- Result: {OK, last change (ms), path, value, …}

--@idempotent
--@include lib_profile

local result = { RC_OK, 0 }
for path, text in pairs(value) do
  result[2] = math.max(result[2], set_at[path])
  if text ~= '' then
    result[#result + 1] = path
    result[#result + 1] = text
  end
end
return result

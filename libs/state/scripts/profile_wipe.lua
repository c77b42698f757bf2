-- profile_wipe: remove a path and all below, however recently they were set.
--
-- KEYS: profile
-- ARGV: path, lifetime of tombstones (ms), the most tombstones
-- Result: OK

--@include lib_profile
--@include lib_profile_save

local path, ms = ARGV[1], now
for _, child in ipairs(below[path] or {}) do
  ms = math.max(ms, set_at[child])
end
if set_at[path] then ms = math.max(ms, set_at[path]) end
remove_below(path, ms)
set(path, ms, '')
save(tonumber(ARGV[2]), tonumber(ARGV[3]))
return RC_OK

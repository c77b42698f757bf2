-- terminal_put_snapshot: store a snapshot, unless it is older than the stored.
--
-- KEYS, ARGV: as lib_terminal_report; then the field of its version, its
--       version, and further fields and values.  A field with the value '' is
--       deleted; one that does not change is not written.
-- Result: result() with OK or CONFLICT
--
-- A replayed snapshot may be older than the last rejected one, so it clears
-- that only if it changes something.

--@include lib_terminal_report

local version = tonumber(ARGV[6])
local stored = tonumber(call('HGET', key, ARGV[5]) or '') or 0
local present = was_present
if replayed then
  touch(nil)
else
  present = true
  alive()
end
if version < stored then
  return result(RC_CONFLICT, present, stored)
end
local differs = 0
for i = 5, #ARGV, 2 do
  local field, new = ARGV[i], ARGV[i + 1]
  if (call('HGET', key, field) or '') ~= new then
    differs = 1
    if new == '' then
      call('HDEL', key, field)
    else
      call('HSET', key, field, new)
    end
  end
end
if differs == 1 or not replayed then
  call('HDEL', key, ARGV[5] == 'sv' and 'ref:s' or 'ref:c')
end
return result(RC_OK, present, version, differs)

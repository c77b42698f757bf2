-- star_room_sweep: remove the members of a dead hub from a room.
--
-- KEYS: room
-- ARGV: hub
-- Result: {OK, {member, entry, …} that were removed}
--
-- Each member is in the result of one caller only.

local gone, all = {}, redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  if string.match(all[i + 1], '^([^ ]*) ') == ARGV[1] then
    redis.call('HDEL', KEYS[1], all[i])
    gone[#gone + 1], gone[#gone + 2] = all[i], all[i + 1]
  end
end
return { RC_OK, gone }

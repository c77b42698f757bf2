-- star_room_join: enter a member of a room.
--
-- KEYS: room
-- ARGV: member, hub, generation, the most members
-- Result: {OK, 1 if it is new, else 0}, CONFLICT if a newer claim has entered
--         it, AGAIN if the room is full

local call, room, member = redis.call, KEYS[1], ARGV[1]
local entry = call('HGET', room, member)
local gen = entry and tonumber(string.match(entry, ' (%d+)$')) or 0
if gen > tonumber(ARGV[3]) then return RC_CONFLICT end
if not entry and call('HLEN', room) >= tonumber(ARGV[4]) then
  return RC_RETRY
end
call('HSET', room, member, ARGV[2] .. ' ' .. ARGV[3])
return { RC_OK, entry and 0 or 1 }

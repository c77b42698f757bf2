-- star_room_leave: remove a member of a room.
--
-- KEYS: room
-- ARGV: member, hub, generation
-- Result: OK, NOENT if there is no such entry of this claim

if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] .. ' ' .. ARGV[3] then
  return RC_NOENT
end
redis.call('HDEL', KEYS[1], ARGV[1])
return RC_OK

-- star_room_read: the members of a room.
--
-- KEYS: room
-- Result: {OK, {member, entry, …}}

--@idempotent

return { RC_OK, redis.call('HGETALL', KEYS[1]) }

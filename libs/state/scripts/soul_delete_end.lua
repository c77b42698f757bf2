-- soul_delete_end: forget the terminals of a deleted soul, none of which is
-- bound to it any more.
--
-- KEYS: its terminals, the user's terminals, the user's deletions, its guests
-- ARGV: soul (token)
-- Result: OK

local call, soul = redis.call, ARGV[1]
local all = call('HGETALL', KEYS[2])
for i = 1, #all, 2 do
  if string.match(all[i + 1], '^%S+') == soul then
    call('HDEL', KEYS[2], all[i])
  end
end
call('DEL', KEYS[1], KEYS[4])
call('HDEL', KEYS[3], soul)
return RC_OK

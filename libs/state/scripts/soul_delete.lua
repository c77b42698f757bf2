-- soul_delete: delete a soul, but for its terminals.
--
-- KEYS: soul, its state, its log, its terminals, the user's souls, their names,
--       ticks, the user's terminals, the user's deletions, its home (state/
--       star_home.h), its cycles, its mind link, due cycles (state/nav.h)
-- ARGV: user, soul (tokens)
-- Result: {OK, {tokens of terminals that may be bound to it}}, NOENT
--
-- Repeated it is OK until the deletion was completed, which the entry of the
-- user's deletions stands for.

--@include lib_now
--@include lib_record

local call, soul = redis.call, ARGV[2]
local known = record(KEYS[1], SOUL_FORMAT)
local begun = call('HEXISTS', KEYS[9], soul) == 1
if not known and not begun then return RC_NOENT end
local terminals, all = call('HKEYS', KEYS[4]), call('HGETALL', KEYS[8])
local seen = {}
for _, terminal in ipairs(terminals) do seen[terminal] = true end
for i = 1, #all, 2 do
  if not seen[all[i]] and string.match(all[i + 1], '^%S+') == soul then
    terminals[#terminals + 1] = all[i]
  end
end
if not known then return { RC_OK, terminals } end
-- Keys of another type must fail before the first write.
call('ZCARD', KEYS[5])
call('ZCARD', KEYS[7])
call('ZCARD', KEYS[13])
local name = call('HGET', KEYS[1], 'name')
if name and call('HGET', KEYS[6], name) == soul then
  call('HDEL', KEYS[6], name)
end
call('ZREM', KEYS[5], soul)
call('ZREM', KEYS[7], ARGV[1] .. ':' .. soul)
call('ZREM', KEYS[13], ARGV[1] .. ':' .. soul)
call('HSET', KEYS[9], soul, now)
call('DEL', KEYS[1], KEYS[2], KEYS[3], KEYS[10], KEYS[11], KEYS[12])
return { RC_OK, terminals }

-- terminal_bind_begin: record that a terminal is about to be bound to a soul.
--
-- KEYS: the user's terminals, soul, the user's deletions
-- ARGV: soul, terminal (tokens), the most terminals
-- Result: {OK, now (ms), 1 if the terminal was among the user's before, else 0,
--         {souls whose deletion was not completed}}, NOENT, AGAIN if the user
--         has too many

--@include lib_now
--@include lib_record
--@include lib_soul_deleting

local call, terminals = redis.call, KEYS[1]
if not record(KEYS[2], SOUL_FORMAT) then return RC_NOENT end
local existed = call('HEXISTS', terminals, ARGV[2])
if existed == 0 and call('HLEN', terminals) >= tonumber(ARGV[3]) then
  return RC_RETRY
end
local left = deletions_left(KEYS[3])
call('HSET', terminals, ARGV[2], ARGV[1] .. ' ' .. now)
return { RC_OK, now, existed, left }
